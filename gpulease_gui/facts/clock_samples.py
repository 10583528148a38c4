"""What slowed the clocks of every GPU in the last ten seconds?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact

# Drivers before 535 know only the old name of the last column; the first look finds out which.
_SCRIPT = """\
columns=index,uuid,timestamp,utilization.gpu,power.draw,clocks.sm
field=clocks_event_reasons.active
look() { echo "round: $1"; nvidia-smi --query-gpu="$columns,$field" --format=csv,noheader,nounits; }
look 0 || { field=clocks_throttle_reasons.active; look 0; } || exit $?
end=$(($(date +%s) + 10)); n=1
while [ "$n" -le 10 ] && [ "$(date +%s)" -le "$end" ]; do
  sleep 1
  look "$n" || exit $?
  n=$((n + 1))
done
echo "end: yes"
"""

FACT = Fact(
    id="clock_samples", title=Text("Clock event reasons, 10 s", "频率限制原因（10 秒）"), command=Command(script=_SCRIPT),
    seconds=60, ok_codes=None,
)  # fmt: skip

_COLUMNS = 7
_MOST_ROWS = 20_000

_ROUND = re.compile(r"round: (\d{1,4})\s*")
_INDEX = re.compile(r"\d{1,4}")
_MASK = re.compile(r"0[xX][0-9a-fA-F]{1,16}")
_FIGURE = re.compile(r"-?\d{1,9}(\.\d{1,6})?")
_STAMP = re.compile(r"(\d{4})/(\d\d?)/(\d\d?) (\d\d?):(\d\d?):(\d\d?)\.(\d{1,6})", re.ASCII)


@dataclass(frozen=True, slots=True)
class ClockSample:
    """One look at one GPU. `round` counts looks, `at` is the node's clock; `mask` holds the reason bits."""

    index: int
    uuid: str | None
    round: int
    at: datetime | None
    util_percent: float | None
    power_w: float | None
    sm_mhz: float | None
    mask: int | None


@dataclass(frozen=True, slots=True)
class ClockSamples:
    """All looks in the order taken; `complete` False: the sampling broke off."""

    samples: tuple[ClockSample, ...]
    complete: bool

    def of(self, index: int, uuid: str | None) -> tuple[ClockSample, ...]:
        """The samples of one GPU, by UUID if both sides tell it."""
        return tuple(s for s in self.samples if (s.uuid == uuid if s.uuid and uuid else s.index == index))


def span_s(samples: Iterable[ClockSample]) -> float:
    """Seconds from the first to the last sample: by the node's clock, else by the rounds, one a second."""
    kept = list(samples)
    if not kept:
        return 0.0
    times = [s.at for s in kept if s.at]
    if len(times) == len(kept):
        return max(0.0, (times[-1] - times[0]).total_seconds())
    return float(kept[-1].round - kept[0].round)


def parse(output: CommandOutput) -> ClockSamples:
    """Read the rows. Raises Unreadable if there is none."""
    samples: list[ClockSample] = []
    lines, at_round = output.text.split("\n"), 0
    for line in lines[:_MOST_ROWS]:
        if mark := _ROUND.fullmatch(line):
            at_round = int(mark[1])
        elif sample := _sample(line, at_round):
            samples.append(sample)
    if not samples:
        raise smi_error.unreadable(output, "no sample of the clock reasons")
    return ClockSamples(tuple(samples), "end: yes" in (line.strip() for line in lines[-3:]))


def _sample(line: str, at_round: int) -> ClockSample | None:
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != _COLUMNS or not _INDEX.fullmatch(cells[0]):
        return None
    return ClockSample(
        int(cells[0]), cells[1] if cells[1].startswith("GPU-") else None, at_round, _time(cells[2]), _number(cells[3]),
        _number(cells[4]), _number(cells[5]), int(cells[6], 16) if _MASK.fullmatch(cells[6]) else None,
    )  # fmt: skip


def _time(cell: str) -> datetime | None:
    found = _STAMP.fullmatch(cell[:26])
    if found is None:
        return None
    *whole, parts = found.groups()
    year, month, day, hour, minute, second = map(int, whole)
    try:
        # The node's zone is not told; only differences count.
        return datetime(year, month, day, hour, minute, second, int(parts.ljust(6, "0")), UTC)
    except ValueError:
        return None


def _number(cell: str) -> float | None:
    if cell.lower() in NO_VALUES or not _FIGURE.fullmatch(cell):
        return None
    return float(cell)


def as_dict(reading: ClockSamples) -> dict[str, object]:
    """samples, rounds, complete, span_s, and per GPU (by index): indexes, masks seen, highest utilization."""
    indexes = sorted({s.index for s in reading.samples})
    own = [[s for s in reading.samples if s.index == index] for index in indexes]
    return {
        "samples": len(reading.samples),
        "rounds": len({s.round for s in reading.samples}),
        "complete": reading.complete,
        "span_s": span_s(reading.samples),
        "indexes": indexes,
        "masks": [[f"{mask:#x}" for mask in sorted({s.mask for s in gpu if s.mask is not None})] for gpu in own],
        "util_max_percent": [max((s.util_percent for s in gpu if s.util_percent is not None), default=None) for gpu in own],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 95 if re.match(r"round: 0\n", text) else 0
