"""What does a line of a watched node change in what is looked at?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import visible
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series import Paces, Ring
from gpulease_gui.telemetry.source import LineReader, Point, sources

# A large node has some four hundred; a node that invents names must not fill the memory.
MOST_SERIES = 1024
_WORDS = 200

SeriesKey = tuple[str, str]


@dataclass(slots=True)
class GapSpan:
    """A stretch without samples (UTC seconds); `end_s` None while it lasts, `resumed` when samples ended it.

    `source`: only this one could not be read; "" = the whole node.
    """

    start_s: float
    reason: str
    end_s: float | None = None
    resumed: bool = False
    source: str = ""


@dataclass(slots=True)
class WatchView:
    """What a chart looks at: rings by (metric, subject), gaps, why a source can't be read. Only looked at.

    `unsaved` says why the newest samples could not be written to the store; empty while all is well. `lost` says by
    subject (GPU UUID) why one that was there is not read any more; `indexes` are the numbers that the node gives them.
    `by_agent`: whether the samples come from the agent or, on a node without Python, from the shell scripts. `paces`: since
    when how often it was asked, where that was not `interval_s` always.
    """

    node_id: str
    interval_s: float
    rings: dict[SeriesKey, Ring] = field(default_factory=dict)
    gaps: list[GapSpan] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    state: NodeState = NodeState.CONNECTING
    reason: str = ""
    unsaved: str = ""
    lost: dict[str, str] = field(default_factory=dict)
    indexes: dict[str, int] = field(default_factory=dict)
    by_agent: bool = False
    paces: Paces = ()
    source_gaps: list[GapSpan] = field(default_factory=list)


class Intake:
    """Turns the lines of one node into samples of its view and its recorder. Used by one thread at a time."""

    def __init__(self, view: WatchView, recorder: Recorder, most_series: int = MOST_SERIES) -> None:
        self._view, self._recorder, self._most = view, recorder, most_series
        self._readers: dict[str, LineReader] = {}
        self._metrics = {id_: frozenset(metric.id for metric in source.metrics) for id_, source in sources().items()}
        self.renew()

    def renew(self) -> None:
        """A new stream begins: no counter and no trouble of the one before counts."""
        self._readers = {id_: source.reader() for id_, source in sources().items()}
        self._view.troubles = {}

    def read(self, source_id: str, line: str) -> tuple[Point, ...] | None:
        """The points of a line; None if it is none, and why is then told. Nothing of a source in trouble is joined."""
        if line.startswith("!"):
            self._trouble(source_id, line[1:])
            return None
        try:
            return self._readers[source_id].read(line)
        except Unreadable as trouble:
            self._trouble(source_id, trouble.reason)
            return None
        except (ValueError, ArithmeticError, LookupError) as slip:  # what no reader foresaw is the line's fault, not the stream's
            self._trouble(source_id, f"the line has an unknown form ({type(slip).__name__})")
            return None

    def take(self, source_id: str, points: Iterable[Point], at_s: float) -> None:
        """Keep the samples of a line that came at `at_s` (UTC seconds)."""
        self._clear(source_id)
        for point in points:
            self._presence(point)
            ring = self._ring(point.metric, point.subject)
            if ring is None:
                self._say(source_id, f"more than {self._most} series: the rest is left out")
            elif not point.lost or _joins(ring):
                ring.append(at_s, point.value)
                self._recorder.add(point.metric, point.subject, at_s, point.value)

    def end_curves(self, source_id: str, at_s: float) -> None:
        """No curve of this source goes on without a break."""
        metrics = self._metrics[source_id]
        for (metric, _), ring in self._view.rings.items():
            if metric in metrics and _joins(ring):
                ring.append(at_s, None)

    def _presence(self, point: Point) -> None:
        if point.index is not None and self._view.indexes.get(point.subject) != point.index:
            self._view.indexes = {**self._view.indexes, point.subject: point.index}
        if point.lost and self._view.lost.get(point.subject) != point.lost:
            self._view.lost = {**self._view.lost, point.subject: point.lost}
        elif not point.lost and point.subject in self._view.lost:
            self._view.lost = {subject: why for subject, why in self._view.lost.items() if subject != point.subject}

    def _ring(self, metric: str, subject: str) -> Ring | None:
        """The ring of a series; None when a node names more of them than any machine has."""
        key = (metric, subject)
        ring = self._view.rings.get(key)
        if ring is None and len(self._view.rings) < self._most:
            # A chart on another thread may be walking over the rings: it gets a new mapping, not a changed one.
            ring = Ring()
            self._view.rings = {**self._view.rings, key: ring}
        return ring

    def _trouble(self, source_id: str, words: str) -> None:
        self._say(source_id, visible(words.strip())[:_WORDS])

    def _say(self, source_id: str, words: str) -> None:
        if self._view.troubles.get(source_id) != words:
            self._view.troubles = {**self._view.troubles, source_id: words}

    def _clear(self, source_id: str) -> None:
        if source_id in self._view.troubles:
            self._view.troubles = {id_: words for id_, words in self._view.troubles.items() if id_ != source_id}


def _joins(ring: Ring) -> bool:
    """Whether a next sample would be joined to the last one."""
    last = ring.last
    return last is not None and not math.isnan(last[1])
