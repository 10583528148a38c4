"""How many bytes did the interfaces of one end move while the program's own TCP test ran, by the kernel's counters?

The program that tells the rate has no part in this: the counters are read by another command, before and after the test.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.facts.keyed_lines import whole

COMMAND = Command("cat", "/proc/net/dev")
# A driver may count a second late; the test's own first second is counted, too.
LATE_S, _ROUNDING = 1.5, 1.02


@dataclass(frozen=True, slots=True)
class Moved:
    """By how much the busiest interface of the receiving and of the sending end grew, in bytes; None = not told."""

    came: int | None = None
    sent: int | None = None

    def speaks_against(self, arrived: int, seconds: float) -> bool:
        """Whether so many bytes in so many seconds can't have gone through them; silence speaks against nothing."""
        told = [one for one in (self.came, self.sent) if one is not None]
        least = arrived * max(0.0, 1 - LATE_S / seconds)
        return any(least > one * _ROUNDING for one in told)


def counters(output: CommandOutput) -> Mapping[str, tuple[int, int]]:
    """(received, sent) bytes by interface, of those rows that can be read; none of an output that failed."""
    found: dict[str, tuple[int, int]] = {}
    for row in output.text.splitlines() if output.exit_code == 0 else ():
        name, colon, figures = row.partition(":")
        words = figures.split()
        got, sent = (whole(words[0]), whole(words[8])) if colon and len(words) > 8 else (None, None)
        if got is not None and sent is not None:
            found[name.strip()] = got, sent
    return found


def grown(before: CommandOutput, after: CommandOutput) -> tuple[int | None, int | None]:
    """(received, sent) bytes of the interface that moved most each way; None where no counter is told twice or one fell."""
    first, last = counters(before), counters(after)
    both = [(last[name][0] - first[name][0], last[name][1] - first[name][1]) for name in first if name in last]
    if not both or any(step < 0 for pair in both for step in pair):
        return None, None
    return max(got for got, _ in both), max(sent for _, sent in both)
