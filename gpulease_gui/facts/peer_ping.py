"""How long does a packet take to the peer and back, and how many are lost?"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.raw_runs import pack, unpack
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean, first_line

PER_SECOND = 5
_COUNTS = re.compile(r"^(\d{1,9}) packets transmitted, (\d{1,9})(?: packets)? received", re.MULTILINE)
_TIMES = re.compile(
    r"^(?:rtt|round-trip) min/avg/max(?:/(?:mdev|stddev))? = ([\d.]{1,12})/([\d.]{1,12})/([\d.]{1,12})(?:/([\d.]{1,12}))? ms",
    re.MULTILINE,
)

# What is printed: a run puts address and count in their places.
FACT = Fact(
    id="peer_ping",
    title=Text("Round trip to the peer", "到对端的往返时延"),
    command=Command("ping", "-c", "COUNT", "-i", "0.2", "-q", "PEER"),
    seconds=240,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class PingTest:
    """One run of ping; times in ms, None = not told (no answer came). `trouble` says why there are no counts."""

    sent: int | None = None
    received: int | None = None
    min_ms: float | None = None
    avg_ms: float | None = None
    max_ms: float | None = None
    mdev_ms: float | None = None
    trouble: str = ""
    code: str = ""

    @property
    def loss_percent(self) -> float | None:
        """Share of the packets without an answer; None when nothing was sent."""
        if not self.sent or self.received is None:
            return None
        return max(0.0, 100.0 * (1 - self.received / self.sent))


@dataclass(frozen=True, slots=True)
class PeerPing:
    """The runs of ping in the order run."""

    tests: tuple[PingTest, ...] = ()


def command(host: str, count: int) -> Command:
    """`count` packets, five a second. Raises ValueError for a host that ping would take for an option."""
    if not host or host.startswith("-"):
        raise ValueError(f"{host!r} is no address")
    return Command("ping", "-c", str(count), "-i", "0.2", "-q", host)


def combine(outputs: Sequence[CommandOutput]) -> CommandOutput:
    """One output that holds the runs."""
    return CommandOutput(json.dumps({"ping": [pack(output) for output in outputs]}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> PeerPing:
    """Read a combined output; a run without counts is a reading that says why. Raises Unreadable without any run."""
    found = document(output.text)
    if "ping" not in found:
        raise Unreadable("ping was not run", code=Reason.NOT_COLLECTED)
    return PeerPing(tuple(_test(run) for run in unpack(found.get("ping"))))


def _test(run: CommandOutput) -> PingTest:
    text = clean(run.text)
    counts, times = _COUNTS.search(text), _TIMES.search(text)
    if counts is None:
        return _silent(run, text)
    low, mean, high, spread = (_ms(word) for word in times.groups()) if times else (None,) * 4
    return PingTest(int(counts[1]), int(counts[2]), low, mean, high, spread)


def _ms(word: str | None) -> float | None:
    try:
        return float(word) if word is not None else None
    except ValueError:
        return None


def _silent(run: CommandOutput, text: str) -> PingTest:
    said = first_line(run.error_text) or first_line(text) or "ping printed no summary"
    codes: dict[int | None, str] = {127: Reason.MISSING_TOOL, 124: Reason.TIMEOUT, 137: Reason.TIMEOUT,
                                    126: Reason.DENIED, None: Reason.CONNECTION_LOST}  # fmt: skip
    code = codes.get(run.exit_code, Reason.UNREADABLE)
    if code is Reason.UNREADABLE and MISSING_TOOL_WORDS.search(said) and "ping" in said:
        code = Reason.MISSING_TOOL
    if "not permitted" in said or "ermission denied" in said:
        code = Reason.DENIED
    return PingTest(trouble=said[:200], code=str(code))


def as_dict(reading: PeerPing) -> dict[str, object]:
    """Per run: sent, received, loss in per cent, times in ms, trouble."""
    return {
        "sent": [test.sent for test in reading.tests],
        "received": [test.received for test in reading.tests],
        "loss_percent": [None if t.loss_percent is None else round(t.loss_percent, 3) for t in reading.tests],
        "min_ms": [test.min_ms for test in reading.tests],
        "avg_ms": [test.avg_ms for test in reading.tests],
        "max_ms": [test.max_ms for test in reading.tests],
        "mdev_ms": [test.mdev_ms for test in reading.tests],
        "troubles": [test.trouble or None for test in reading.tests],
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"ping": ') else 0
