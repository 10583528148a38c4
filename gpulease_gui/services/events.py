"""What happened, told to whoever listens?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.checks.machine import Change
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.finding import CheckState, Finding, Verdict
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.task import TaskProgress, TaskRun
from gpulease_gui.domain.text import NO_TEXT, Text


class NodeState(StrEnum):
    """How the connection to a node stands."""

    NEVER_SEEN = "never_seen"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    DEGRADED = "degraded"
    LOST = "lost"
    REFUSED = "refused"
    KEY_CHANGED = "key_changed"
    NOT_WATCHED = "not_watched"


@dataclass(frozen=True, slots=True)
class NodeStateChanged:
    """The connection of a node changed; `reason` in one sentence. What has a cause that we know is told in both languages, too."""

    node_id: str
    state: NodeState
    reason: str = ""
    next_step: str = ""
    reason_text: Text = NO_TEXT
    next_text: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class StatedKey:
    """A fingerprint (`SHA256:...`) that the supplier named, and where that stands."""

    fingerprint: str
    where: Text


@dataclass(frozen=True, slots=True)
class HostKeyQuestion:
    """A connect stopped at a host key: unknown (no pins) or changed (pins hold the known keys).

    `hop`: host:port of the jump host whose key it is, "" = the node's own. `others`: other nodes at its address, a
    sentence each. `stated`: fingerprints that the supplier named, those of other nodes of the contract among them.
    `replaced`: how many keys of the node were replaced in the last 30 days. `edited`: where the pinned key was met and where the
    record leads since it was edited, None = to the same place, or that is not known.
    """

    node: Node
    offered: tuple[HostKey, ...]
    pinned: tuple[HostKey, ...] = ()
    hop: str = ""
    others: tuple[Text, ...] = ()
    stated: tuple[StatedKey, ...] = ()
    replaced: int = 0
    edited: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class RunStarted:
    """A verification began; `checks` are planned in this order. `joins`: the whole run that these answers belong to."""

    run_id: str
    node_id: str
    checks: tuple[str, ...]
    joins: str | None = None


@dataclass(frozen=True, slots=True)
class CheckChanged:
    """A planned check changed its state; `detail` says why it was not run or broke."""

    run_id: str
    check: str
    state: CheckState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FindingSaved:
    """A finding and its evidence are in the database; only now may they be shown."""

    run_id: str
    node_id: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A verification is over; `cancelled` keeps the findings so far."""

    run_id: str
    node_id: str
    overall: Verdict
    cancelled: bool = False


@dataclass(frozen=True, slots=True)
class NodeDrifted:
    """A run saw its node changed since the accepted run `since`; the worst change comes first."""

    node_id: str
    run_id: str
    since: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class PairMeasured:
    """Two nodes (by their place in the measurement) were measured: Gbit/s of the slower direction, None = no rate."""

    pair: tuple[int, int]
    rate: float | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class JobChanged:
    """A line of the task strip. `done` of `total` steps (total 0 = unknown); ended when `ended`. A `title` that a user reads is a Text."""

    job_id: str
    title: Text | str
    done: int = 0
    total: int = 0
    ended: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class RecordsChanged:
    """Rows of these kinds changed: supplier, offer, contract, claim, node, report, setting."""

    kinds: frozenset[str]


@dataclass(frozen=True, slots=True)
class GapOpened:
    """The stream of a node stopped at `since_ms` (UTC milliseconds) for `reason`."""

    node_id: str
    since_ms: int
    reason: str


@dataclass(frozen=True, slots=True)
class GapClosed:
    """The stream of a node is back."""

    node_id: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class TaskProgressed:
    """A task on a node goes on; at most five times a second."""

    progress: TaskProgress


@dataclass(frozen=True, slots=True)
class TaskEnded:
    """A task on a node is over, its run and findings are saved."""

    task: TaskRun


@dataclass(frozen=True, slots=True)
class WatchAlarm:
    """A watch rule is broken, or (`ended_ms` set) no longer; UTC milliseconds. It is saved before it is told.

    `subject` is a card or line of the node, "" = the whole node. `disturb`: whether the user wants to see it now.
    `cut`: it may go on, but from its end on nobody could look any more.
    """

    node_id: str
    rule: str
    subject: str
    began_ms: int
    ended_ms: int | None
    words: Text
    disturb: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class SecretNotKept:
    """A secret of a node that was to go into the system's keyring did not; `words` say why in one sentence."""

    node_id: str
    words: Text


@dataclass(frozen=True, slots=True)
class ReadingsNotKept:
    """The readings of a run are not among its evidence yet; `words` say why, and when that is tried again."""

    node_id: str
    run_id: str
    words: Text


@dataclass(frozen=True, slots=True)
class ConfigDiffers:
    """The ssh config says something else of a node than its record, which counts; `words` say what."""

    node_id: str
    words: Text


@dataclass(frozen=True, slots=True)
class LinesSkipped:
    """Lines of known_hosts that can't be used, by file and line; `words` say them once for all nodes."""

    words: Text


@dataclass(frozen=True, slots=True)
class LoadChanged:
    """A test of ours that asks for all that a metric of a node gives begins (`runs`), or is over.

    `believed`: one that waits for it was not the limit itself.
    """

    node_id: str
    load: Load
    runs: bool
    believed: bool = False


Event = (
    NodeStateChanged | HostKeyQuestion | RunStarted | CheckChanged | FindingSaved | RunEnded | NodeDrifted | JobChanged
    | RecordsChanged | GapOpened | GapClosed | PairMeasured | WatchAlarm | TaskProgressed | TaskEnded
    | SecretNotKept | ReadingsNotKept | ConfigDiffers | LinesSkipped | LoadChanged
)  # fmt: skip


class Bus:
    """Hands every event to every listener, on the thread that publishes it."""

    __slots__ = ("_listeners", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[Callable[[Event], None], ...] = ()

    def subscribe(self, listener: Callable[[Event], None]) -> Callable[[], None]:
        """Call `listener` for each event from now on; the answer ends it."""
        with self._lock:
            self._listeners = (*self._listeners, listener)
        return lambda: self._forget(listener)

    def _forget(self, listener: Callable[[Event], None]) -> None:
        with self._lock:
            self._listeners = tuple(known for known in self._listeners if known is not listener)

    def publish(self, event: Event) -> None:
        """Tell all listeners; a listener must not block."""
        for listener in self._listeners:
            listener(event)
