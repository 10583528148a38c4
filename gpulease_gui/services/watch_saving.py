"""How are the readings and gaps of a watch written, and what is told when the disk refuses them?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.recall import unread
from gpulease_gui.services.source_gaps import open_gaps
from gpulease_gui.store.ahead import read_again
from gpulease_gui.store.card_names import CardNames, keep_names, keep_numbers
from gpulease_gui.store.doors import Database
from gpulease_gui.store.open_gaps import keep_open
from gpulease_gui.store.records import Gap, SampleBlock, new_id
from gpulease_gui.store.samples import append_blocks, append_gap
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.gpu_agent import UNHEARD

NOT_SAVED = "not_saved"
_WHY_MAX = 200
_SAME_S, _NS = 0.001, 1_000_000_000


class Saving:
    """What one watch writes. Used by its thread only."""

    def __init__(self, workspace: Workspace, view: WatchView) -> None:
        self._workspace, self._view = workspace, view
        self._going: list[tuple[Future[None], tuple[int, int]]] = []
        self._unsaved: tuple[int, int] | None = None
        self._names: CardNames = {}
        self._numbers: Mapping[str, int] = {}
        self._watch, self._begun_ns = new_id(), 0  # whose packs and gaps are, and where the newest of its packs begin
        self._held: tuple[Gap, ...] | None = ()  # the open gaps that the store knows; None = nobody knows
        self._last_s = 0.0
        self.ahead_s = 0.0  # up to when (UTC) a clock that was ahead wrote down readings

    def readings(self, blocks: Sequence[SampleBlock], last_s: float, names: CardNames) -> None:
        """Write blocks of what came up to `last_s` (UTC seconds), before them the `names` of chips that they are of; of those before
        it is looked which were written.
        """
        if blocks:
            if names != self._names:
                self._names = names
                self._workspace.submit(lambda db: keep_names(db, self._view.node_id, names))
            if (numbers := self._view.numbers) != self._numbers:
                self._numbers = numbers
                self._workspace.submit(lambda db: keep_numbers(db, self._view.node_id, numbers))
            span = min(b.start_ns for b in blocks), max(b.start_ns + b.step_ns * len(b.values) for b in blocks)
            self._going = [one for one in self._going if not self._over(*one)]
            if span[0] < self._begun_ns:  # our clock was set back: what is read now fills gaps of before
                self._watch, self._held = new_id(), None
            watch, self._begun_ns, self._last_s = self._watch, span[0], last_s
            given, keep = self._view.handed.add(blocks, last_s), self._keep_open()

            def work(db: Database) -> None:
                append_blocks(db, blocks, watch)
                keep(db)

            given.writing = self._workspace.submit(work)
            self._going.append((given.writing, span))
            if span[0] < self.ahead_s * _NS:
                self._workspace.submit(lambda db: read_again(db, self._view.node_id, *span))

    def gaps(self, gaps: tuple[Gap, ...]) -> None:
        """Write gaps."""
        if not gaps:
            return
        # Events that nobody hears are no hole in what is read; one of a source is one gap, though each of its metrics has it.
        self._view.holes += len({(gap.start_ns, gap.end_ns, gap.reason) for gap in gaps if not gap.reason.startswith(UNHEARD)})
        watch, keep = self._watch, self._keep_open()

        def work(db: Database) -> None:
            for gap in gaps:
                append_gap(db, gap, watch)
            keep(db)  # with that: a gap that ended does not last

        self._workspace.submit(work)

    def lost(self, at_s: float) -> None:
        """Leave word that the node is still not read (UTC seconds)."""
        self._workspace.submit(self._keep_open(at_s))

    def _keep_open(self, at_s: float = 0.0) -> Callable[[Database], None]:
        """What writes which gaps last now, if that is not what was written last: a program may be killed at any moment."""
        held, watch = open_gaps(self._view, max(self._last_s, at_s)), self._watch
        if held == self._held:
            return lambda db: None
        self._held = held
        return lambda db: keep_open(db, watch, held)

    def unread(self, last_s: float, now_s: float) -> tuple[tuple[float, float], ...]:
        """The parts of the time between two readings (UTC seconds) that nobody read; by a clock that was set back some of it was."""
        # The block of the last reading may be on its way to the store: whether it is there makes no difference.
        first_s = last_s + 2 * self._view.interval_s
        if first_s >= now_s:
            return ((last_s, now_s),)
        try:
            with self._workspace.read() as connection:
                found = unread(connection, self._view.node_id, first_s, now_s)
        except UserFacing:
            return ((last_s, now_s),)
        return tuple((last_s if begin_s - first_s < _SAME_S else begin_s, end_s) for begin_s, end_s in found)

    def _over(self, future: Future[None], span: tuple[int, int]) -> bool:
        """Whether a write is over; one that failed is told, and what it held is a gap of the store once one succeeds."""
        if not future.done():
            return False
        fault = None if future.cancelled() else future.exception()
        self._view.unsaved = _why(fault) if fault is not None else NO_TEXT
        if fault is not None:
            self._held = None
            before = self._unsaved or span
            self._unsaved = min(before[0], span[0]), max(before[1], span[1])
        elif self._unsaved is not None:
            self.gaps((Gap(self._view.node_id, *self._unsaved, NOT_SAVED),))
            self._unsaved = None
        return True


def _why(fault: BaseException) -> Text:
    """Why a write failed, 200 characters at most; a fault of ours has one language."""
    whole = fault.whole_text if isinstance(fault, UserFacing) else foreign(str(fault) or type(fault).__name__)
    return Text(whole.en[:_WHY_MAX], whole.zh[:_WHY_MAX])
