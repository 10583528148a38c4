"""What do the cards do in a minute in which nobody asks anything of them?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines, whole
from gpulease_gui.facts.smi_values import number, word

# One unknown column spoils a whole query, so the driver's own list is asked first.
_SCRIPT = (
    SHELL
    + """\
known=$(nvidia-smi --help-query-gpu) || exit $?
columns=index,uuid
for name in utilization.gpu power.draw clocks.sm power.limit power.default_limit persistence_mode; do
  case $known in *"\\"$name\\""*) columns=$columns,$name;; esac
done
say watch "$columns"
said=$(nvidia-smi dmon -s t -c 10); say traffic_code "$?"
printf '%s\\n' "$said" | while IFS= read -r line; do say traffic "$line"; done
end=$(($(date +%s) + @SECONDS@)); n=0
while [ "$n" -eq 0 ] || [ "$(date +%s)" -lt "$end" ]; do
  said=$(nvidia-smi --query-gpu=$columns --format=csv,noheader,nounits); say smi_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
  n=$((n + 1))
  sleep 2
done
"""
    + END
)


def command(seconds: int) -> Command:
    """Ten looks at the bus, then a look at the cards every two seconds for `seconds`."""
    return Command(script=_SCRIPT.replace("@SECONDS@", str(int(seconds))))


FACT = Fact(
    id="idle_watch", title=Text("A minute of rest", "空闲一分钟"), command=command(60), seconds=150, impact=Impact.ACTIVE, lane="nvidia",
)  # fmt: skip

_MOST_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class IdleLook:
    """One look at one card; None = not told. Power in W, clock in MHz."""

    index: int
    uuid: str | None
    util_percent: float | None
    power_w: float | None
    sm_mhz: float | None
    limit_w: float | None
    default_limit_w: float | None
    persistence: str | None


@dataclass(frozen=True, slots=True)
class Traffic:
    """One look at the bus of one card, MB/s each way."""

    index: int
    rx_mb_s: float
    tx_mb_s: float


@dataclass(frozen=True, slots=True)
class IdleWatch:
    """Looks in the order taken; `traffic` is empty where the driver does not tell it."""

    looks: tuple[IdleLook, ...]
    traffic: tuple[Traffic, ...]

    def cards(self) -> tuple[tuple[IdleLook, ...], ...]:
        """The looks of each card, by index."""
        return tuple(tuple(x for x in self.looks if x.index == n) for n in sorted({x.index for x in self.looks}))

    def bus(self, index: int) -> tuple[Traffic, ...]:
        """What one card moved over the bus."""
        return tuple(t for t in self.traffic if t.index == index)


def parse(output: CommandOutput) -> IdleWatch:
    """Read the rows. Raises Unreadable if there is none."""
    lines = keyed_lines(output, "watch")
    columns = tuple(column.strip() for column in (lines.first("watch") or "").split(","))
    rows = [dict(zip(columns, [cell.strip() for cell in line.split(",")], strict=False)) for line in lines.all("row")[:_MOST_ROWS]]
    looks = tuple(look for row in rows if (look := _look(row)))
    if not looks:
        said = CommandOutput("\n".join(lines.all("row")).encode(), output.stderr, lines.number("smi_code"))
        raise smi_error.unreadable(said, "nvidia-smi answered no row")
    return IdleWatch(looks, tuple(_traffic(lines.all("traffic"))) if lines.number("traffic_code") == 0 else ())


def _look(row: dict[str, str]) -> IdleLook | None:
    index, uuid = whole(row.get("index")), row.get("uuid", "")
    if index is None or index < 0:
        return None
    return IdleLook(
        index, uuid if uuid.startswith("GPU-") else None, _not_negative(row.get("utilization.gpu")), _not_negative(row.get("power.draw")),
        _not_negative(row.get("clocks.sm")), _not_negative(row.get("power.limit")), _not_negative(row.get("power.default_limit")),
        word(row.get("persistence_mode")),
    )  # fmt: skip


def _not_negative(cell: str | None) -> float | None:
    found = number(cell)
    return found if found is not None and found >= 0 else None


def _traffic(lines: tuple[str, ...]) -> list[Traffic]:
    """Rows under the header that names rxpci and txpci."""
    names: list[str] = []
    found: list[Traffic] = []
    for line in lines:
        words = line.lstrip("# ").split()
        if line.startswith("#"):
            names = [w.lower() for w in words] if "rxpci" in line.lower() else names
        elif {"gpu", "rxpci", "txpci"} <= set(names) and len(words) == len(names):
            row = dict(zip(names, words, strict=True))
            if all(re.fullmatch(r"\d{1,7}", row[name], re.ASCII) for name in ("gpu", "rxpci", "txpci")):
                found.append(Traffic(int(row["gpu"]), float(row["rxpci"]), float(row["txpci"])))
    return found


def as_dict(reading: IdleWatch) -> dict[str, object]:
    """Lists over the cards: indexes, looks, util_max_percent, power_max_w, limits_w (first, last), persistence, bus_max_mb_s."""
    cards = reading.cards()
    return {
        "indexes": [looks[0].index for looks in cards],
        "looks": [len(looks) for looks in cards],
        "util_max_percent": [max((x.util_percent for x in looks if x.util_percent is not None), default=None) for looks in cards],
        "power_max_w": [max((x.power_w for x in looks if x.power_w is not None), default=None) for looks in cards],
        "limits_w": [[looks[0].limit_w, looks[-1].limit_w] for looks in cards],
        "persistence": [looks[-1].persistence for looks in cards],
        "bus_max_mb_s": [max((max(t.rx_mb_s, t.tx_mb_s) for t in reading.bus(looks[0].index)), default=None) for looks in cards],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("watch: index,uuid") else 0
