"""What is known of a node and of its cards from earlier runs?

It comes into the rules as one frozen value of the promise: the rules stay pure, their findings are saved, printed and
judged again like all others, and only services read the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from gpulease_gui.checks.fleet import NO_FLEET, Fleet
from gpulease_gui.checks.machine import Machine
from gpulease_gui.domain.task import TaskRate
from gpulease_gui.domain.text import Text

# A card is not carried to another machine within a day; what was seen longer ago may have been moved.
SAME_TIME = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A mark of this node that another node showed: `kind` uuid, serial, boot_id or machine_id.

    `still_there`: that node's newest run showed it. `rented`: its contract is not over. `faulty`: the card failed a
    health check there.
    """

    kind: str
    value: str
    node: str
    seen_at: datetime
    still_there: bool = True
    rented: bool = True
    faulty: bool = False

    @property
    def day(self) -> str:
        """The day (UTC) on which it was seen."""
        return f"{self.seen_at:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class History:
    """What earlier runs say. `pinned` is the node as it was accepted at `pinned_at`; None = never accepted.

    `at` is the time of this run (UTC), `contracted` whether the node is rented under a contract, `host_key` what it
    answered with this time. `fleet` is what our other nodes measured, and which files of a tool they have. `same_task` are
    the speeds of earlier runs of the same task on this node, run in the same way, the newest first.
    """

    at: datetime
    pinned: Machine | None = None
    pinned_at: datetime | None = None
    contracted: bool = False
    host_key: str | None = None
    elsewhere: tuple[Elsewhere, ...] = ()
    fleet: Fleet = NO_FLEET
    same_task: tuple[tuple[TaskRate, ...], ...] = ()

    def at_the_same_time(self, seen: Elsewhere) -> bool:
        """Whether the other node has the card now, as far as anybody can know."""
        return seen.still_there and seen.rented and self.at - seen.seen_at <= SAME_TIME


NO_HISTORY = "no_history"
NO_BASELINE = "no_baseline"
NO_HISTORY_WORDS = Text("earlier runs are not at hand here", "此处没有以往的验收记录")
FIRST_RUN = Text("this node was never accepted before, so there is nothing to compare with", "该节点此前没有通过的验收记录，无从比较")
ACCEPT_FIRST = Text("when this run is accepted, later runs are compared with it", "本次验收通过后，以后的验收会与它比较")
