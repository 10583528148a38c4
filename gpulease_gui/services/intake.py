"""What does a line of a watched node change in what is looked at?"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gpulease_gui.checks.watch_rules import Judged
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import NO_TEXT, Text, visible
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.handed import Handed
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series import NAN, Paces, Ring
from gpulease_gui.services.tracks import Tracks
from gpulease_gui.services.waiting import END, Waiting
from gpulease_gui.services.watch_driver import why_dead
from gpulease_gui.telemetry.row import Form, Row, RowReader, form_of, row_of
from gpulease_gui.telemetry.source import LastingReader, LineReader, Point, metrics, sources

# A large node has some four hundred; a node that invents names must not fill the memory.
MOST_SERIES = 1024
_MOST_FORMS, _WORDS = 512, 200
LEFT_OUT = ": the rest is left out"

SeriesKey = tuple[str, str]
# What a line says: all at once where it looks like lines before it, else point by point.
Told = Row | tuple[Point, ...]
_Key = tuple[tuple[str, str, int | None, str], ...]


@dataclass(slots=True)
class GapSpan:
    """A stretch without samples (UTC seconds); `end_s` None while it lasts, `resumed` when samples ended it.

    `source`: only this one could not be read; "" = the whole node. `metric`: only a curve of it had no value. `imported`: another
    computer noted it, and it came in a file.
    """

    start_s: float
    reason: str
    end_s: float | None = None
    resumed: bool = False
    source: str = ""
    metric: str = ""
    imported: bool = False


def free_number(taken: Collection[int], wanted: int) -> int:
    """The wanted number, or the first one after all that are taken."""
    return wanted if wanted not in taken else max(taken) + 1


@dataclass(slots=True)
class WatchView:
    """What a chart looks at: rings by (metric, subject), gaps, why a source can't be read. Only looked at.

    `why` says why it was not reached, `unsaved` why the newest samples could not be written to the store; empty while all is well. `lost` says by
    subject (GPU UUID) why one that was there is not read any more; `indexes` are the numbers that the node gives them in this watch, `numbers`
    those by which they are called, also the ones that watches before it saw.
    `by_agent`: whether the samples come from the agent or, on a node without Python, from the shell scripts. `paces`: since
    when how often it was asked, where that was not `interval_s` always. `unjudged`: what lines carry that no test of ours asks for. `away`: cards
    that were taken away by agreement, since when (UTC seconds). `handed`: which of the samples are in which stored block.
    `missed`: gaps of curves whose card is or was lost. `lines` of readings came, and `holes` (gaps) were to be
    stored, since the watch began.
    """

    node_id: str
    interval_s: float
    rings: dict[SeriesKey, Ring] = field(default_factory=dict)
    gaps: list[GapSpan] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    state: NodeState = NodeState.CONNECTING
    reason: str = ""
    why: Text = NO_TEXT
    unsaved: Text = NO_TEXT
    lost: dict[str, str] = field(default_factory=dict)
    indexes: dict[str, int] = field(default_factory=dict)
    by_agent: bool = False
    paces: Paces = ()
    source_gaps: list[GapSpan] = field(default_factory=list)
    unjudged: tuple[Judged, ...] = ()
    away: Mapping[str, float] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    handed: Handed = field(default_factory=Handed)
    missed: tuple[GapSpan, ...] = ()
    lines: int = 0
    holes: int = 0

    @property
    def lasting(self) -> tuple[GapSpan, ...]:
        """The gaps that last now, which the store does not know yet."""
        return tuple(gap for gap in (*self.gaps, *self.source_gaps, *self.missed) if gap.end_s is None)

    def number(self, subject: str, index: int) -> None:
        """The node gives a card this number now; what it is called does not change any more."""
        self.indexes = {**self.indexes, subject: index}
        if subject not in self.numbers:
            self.numbers = {**self.numbers, subject: free_number(self.numbers.values(), index)}


class Intake:
    """Turns the lines of one node into samples of its view and its recorder. Used by one thread at a time."""

    def __init__(self, view: WatchView, recorder: Recorder, most_series: int = MOST_SERIES) -> None:
        self._view, self._recorder, self._most = view, recorder, most_series
        self._readers: dict[str, LineReader] = {}
        self._by_row: dict[str, RowReader] = {}
        self._metrics = {id_: frozenset(metric.id for metric in source.metrics) for id_, source in sources().items()}
        self._tracks = Tracks(view, most_series)
        self._forms: dict[_Key, Form] = {}
        self._waiting: Waiting | None = None
        self.renew()

    def renew(self) -> None:
        """A new stream begins: no counter and no trouble of the one before counts."""
        before = self._readers
        self._readers = {
            id_: reader.renewed() if isinstance(reader := before.get(id_), LastingReader) else source.reader() for id_, source in sources().items()
        }
        self._by_row = {id_: reader for id_, reader in self._readers.items() if isinstance(reader, RowReader)}
        self._view.troubles = {}
        self._forms = {}
        self._tracks.renew()

    @property
    def names(self) -> dict[str, Mapping[str, str]]:
        """By source: what it calls its subjects, by where they are on the node."""
        return {id_: reader.names for id_, reader in self._readers.items() if isinstance(reader, LastingReader) and reader.names}

    def recall(self, names: Mapping[str, Mapping[str, str]]) -> None:
        """What they were called by a program before."""
        for id_, told in names.items():
            if isinstance(reader := self._readers.get(id_), LastingReader):
                reader.recall(told)

    def read(self, source_id: str, line: str) -> Told | None:
        """The points of a line; None if it is none, and why is then told. Nothing of a source in trouble is joined."""
        if line.startswith("!"):
            self._trouble(source_id, line[1:])
            return None
        try:
            by_row = self._by_row.get(source_id)
            return self._readers[source_id].read(line) if by_row is None else by_row.look(line)
        except Unreadable as trouble:
            self._trouble(source_id, trouble.reason)
            return None
        except (ValueError, ArithmeticError, LookupError) as slip:  # what no reader foresaw is the line's fault, not the stream's
            self._trouble(source_id, f"the line has an unknown form ({type(slip).__name__})")
            return None

    def take(self, source_id: str, told: Told, at_s: float) -> None:
        """Keep the samples of a line that came at `at_s` (UTC seconds)."""
        if self._waiting is not None:
            if self._waiting.holds(source_id, told, at_s):
                return
            self.release()
        self._clear(source_id)
        if told:
            self._view.lines += 1
        if isinstance(told, Row):
            self._present(told.form)
            self._keep(source_id, told, at_s)
        elif told:
            key = tuple([(point.metric, point.subject, point.index, point.lost) for point in told])
            form = self._forms.get(key)
            if form is None:
                self._one_by_one(source_id, told, at_s)
                self._remember(key, told)
            else:
                self._present(form)
                self._keep(source_id, row_of(form, told), at_s)

    def _one_by_one(self, source_id: str, told: Sequence[Point], at_s: float) -> None:
        """Points that were never told together, or of which one is lost or told twice: a line may tell more than one Xid."""
        for point in told:
            self._presence(point)
        kept = [point for point in told if (not point.lost or self._goes_on(point)) and not self._is_no_event(point)]
        if len({(point.metric, point.subject) for point in kept}) == len(kept):
            self._keep(source_id, row_of(form_of(kept), kept), at_s)
        else:
            for point in kept:
                self._keep(source_id, row_of(form_of([point]), [point]), at_s)

    def _is_no_event(self, point: Point) -> bool:
        """Whether it only says that events are heard, or that they are not: no sample of a curve."""
        return point.value is None and metrics()[point.metric].apart

    def _remember(self, key: _Key, told: Sequence[Point]) -> None:
        """Lines that tell this, and nothing but what is there and once, have a form from now on."""
        if len({name[:2] for name in key}) == len(key) and not any(point.lost or self._is_no_event(point) for point in told):
            if len(self._forms) >= _MOST_FORMS:
                self._forms = {}
            self._forms[key] = form_of(told)

    def stood_still(self, begin_s: float, end_s: float) -> None:
        """This program took nothing in between (UTC seconds), after which comes what waited for it: it stands where it was taken."""
        self.release()
        self._waiting = Waiting(begin_s, end_s, self._view.interval_s)

    def release(self, now_s: float = math.inf) -> None:
        """Keep what waited, if nothing comes any more that did."""
        waiting = self._waiting
        if waiting is None or not waiting.is_over(now_s):
            return
        self._waiting = None
        for at_s, source_id, told in waiting.taken(self._view):
            if source_id == END:
                self.end_all(at_s)
            else:
                self.take(source_id, told, at_s)

    def end_curves(self, source_id: str, at_s: float) -> None:
        """No curve of this source goes on without a break."""
        self.release()
        metrics = self._metrics[source_id]
        ended = [Point(*key, None) for key, ring in self._view.rings.items() if key[0] in metrics and _joins(ring)]
        if ended:
            self._tracks.append(row_of(form_of(ended), ended), at_s)

    def end_all(self, at_s: float) -> None:
        """Nothing at all comes any more: every curve ends."""
        if self._waiting is not None and at_s < self._waiting.end_s:
            return  # where, shows when what waited is here
        self.release()
        for track in {ring.track for ring in self._view.rings.values()}:
            track.append(at_s, (NAN,) * track.width)

    def _keep(self, source_id: str, row: Row, at_s: float) -> None:
        kept = self._tracks.append(row, at_s)
        if kept is not row:
            self._say(source_id, f"more than {self._most} series{LEFT_OUT}")
        if kept.values:
            self._recorder.add(kept, at_s)

    def _goes_on(self, point: Point) -> bool:
        ring = self._view.rings.get((point.metric, point.subject))
        return ring is not None and _joins(ring)

    def _present(self, form: Form) -> None:
        """What a line tells figures of is there."""
        view = self._view
        for subject, index in form.indexes:
            if view.indexes.get(subject) != index:
                view.number(subject, index)
        if view.lost and not view.lost.keys().isdisjoint(subject for _, subject in form.keys):
            there = {subject for _, subject in form.keys}
            view.lost = {subject: why for subject, why in view.lost.items() if subject not in there}

    def _presence(self, point: Point) -> None:
        if point.index is not None and self._view.indexes.get(point.subject) != point.index:
            self._view.number(point.subject, point.index)
        if point.lost and point.subject not in self._view.away and self._view.lost.get(point.subject) != point.lost:
            self._view.lost = {**self._view.lost, point.subject: point.lost}
        elif not point.lost and point.subject in self._view.lost:
            self._view.lost = {subject: why for subject, why in self._view.lost.items() if subject != point.subject}

    def _trouble(self, source_id: str, words: str) -> None:
        self._say(source_id, why_dead(self._view.troubles.get(source_id, ""), visible(words.strip())[:_WORDS]))

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
