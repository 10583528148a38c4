"""How do the chosen offers stand beside each other, in one currency, for one use and one workload?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.matrix import MatrixModel
from gpulease_gui.gui.pages.compare_bar import CompareBar
from gpulease_gui.gui.pages.compare_columns import CompareColumns
from gpulease_gui.gui.pages.compare_dialogs import CompareDialogs
from gpulease_gui.gui.pages.compare_export import CompareExport
from gpulease_gui.gui.pages.compare_inspector import CompareInspector
from gpulease_gui.gui.pages.compare_picker import PickList
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.matrix import Matrix
from gpulease_gui.gui.widgets.panes import EmptyState, Icon, Pane, hairline
from gpulease_gui.services.commerce_compare import CompareBy
from gpulease_gui.services.compare_kept import KeptChoice, keep_choice, kept_choice_in
from gpulease_gui.services.compare_page import Choices, CompareLook, choices_in, first_offers, look_in, look_of
from gpulease_gui.services.comparison import CompareHead
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.services.overview import local_day
from gpulease_gui.services.price_period import PricePer

if TYPE_CHECKING:
    import sqlite3

_WAIT_MS = 120
_PICKER_WIDTH, _INSPECTOR_FROM = 236, 150
_DEMO_OFFERS = 4
_Read = tuple[Choices, tuple[Subject, ...], KeptChoice]
_KINDS = frozenset(["supplier", "offer", "contract", "claim", "terms", "price", "answer", "waiver", "rate", "workload", "weight", "template", "market"])


def key_of(subject: Subject) -> str:
    """How a record is named in a path of the window, such as offer/abc."""
    return f"{subject.kind}/{subject.id}"


def subject_of(key: str) -> Subject | None:
    """The record of a path; None for another word."""
    kind, _, record = key.partition("/")
    return Subject(HolderOf(kind), record) if kind in (HolderOf.OFFER, HolderOf.CONTRACT) and record else None


class ComparePage(Page):
    """Ticks at the left (while offers are chosen), the matrix, and the inspector where there is room for it."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.choices: Choices | None = None
        self._asked = 0
        self._begun = False
        self._kept: KeptChoice | None = None
        self._shown: tuple[Subject, ...] = ()
        self._inspector_wanted: bool | None = None
        self.rows = MatrixModel()
        self.bar = CompareBar()
        self.matrix = Matrix(self.rows, Text("Comparison", "对比"), Text("Terms and pinned offers", "条款与固定的报价"))
        self.picker = PickList(frame)
        self.inspector = CompareInspector()
        self.choose = Button(Text("Choose offers…", "选择报价…"), icon="filter")
        self.questions = Button(Text("Questions to ask…", "询问清单…"), icon="question")
        self.copy_button = Button(Text("Copy", "复制"), icon="copy")
        self.export, self.columns, self.dialogs = CompareExport(self), CompareColumns(self), CompareDialogs(self)
        self.export_button = Button(Text("Export", "导出"), icon="export", kind="primary")
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        self._build()
        self._connect()

    def _build(self) -> None:
        self.pick_pane = Pane(1)
        self.pick_pane.setFixedWidth(_PICKER_WIDTH)
        self.pick_head = PlainLabel(Text("Tick two or more", "勾选两份以上"), size="dense", weight=600)
        self.pick_head.setContentsMargins(16, 10, 16, 10)
        for part in (self.pick_head, hairline(), self.picker):
            self.pick_pane.column.addWidget(part)
        self.stack = QStackedWidget()
        self.empty, self.full = self._empty(), Pane(2)
        self.full.column.addWidget(self.bar)
        self.full.column.addWidget(self.bar.rates)
        self.full.column.addWidget(self.matrix, 1)
        self.full.column.addWidget(hairline())
        self.full.column.addLayout(self._legend())
        self.stack.addWidget(self.empty)
        self.stack.addWidget(self.full)
        row = QHBoxLayout()
        row.setSpacing(0)
        self.pick_line, self.inspector_line = hairline(vertical=True), hairline(vertical=True)
        for widget in (self.pick_pane, self.pick_line, self.stack, self.inspector_line, self.inspector):
            row.addWidget(widget, 1 if widget is self.stack else 0)
        self.column.addLayout(row)
        self._show_sides()

    def _empty(self) -> EmptyState:
        self.first = Button(Text("Go to the suppliers", "前往供应商"), kind="primary")
        self.first.clicked.connect(lambda: self.frame.go("suppliers"))
        return EmptyState(
            "nav-compare", Text("Nothing is compared yet", "还没有对比"),
            Text("Tick two or more offers at the left.", "请在左侧勾选两份以上的报价。"), primary=self.first,
        )  # fmt: skip

    def _legend(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(16, 7, 16, 7)
        row.setSpacing(6)
        marks = (("verdict-pass", "pass", Text("measured", "已实测")), ("verdict-warn", "warn", Text("look closer", "需留意")),
                 ("verdict-fail", "fail", Text("promise struck out, measured beside it", "划去承诺，旁为实测")),
                 ("", "", Text("no mark: promise only", "无标记：仅承诺")))  # fmt: skip
        for icon, token, words in marks:
            if icon:
                row.addWidget(Icon(icon, token, 14))
            row.addWidget(PlainLabel(words, size="dense", level="2"))
            row.addSpacing(10)
        self.stability = ElidedLabel("", size="dense", level="2")
        self.stability.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.stability, 1)
        return row

    def _connect(self) -> None:
        self.picker.ticked.connect(lambda _subject, _on: self._ticked())
        self.bar.changed.connect(self.refresh)
        self.bar.filtered.connect(self._filter)
        self.bar.workloads_wanted.connect(lambda: self.frame.go("workloads"))
        self.matrix.chosen.connect(self._inspect)
        self.matrix.opened.connect(lambda: self._show_inspector(shown=True))
        self.matrix.copy_wanted.connect(self.export.copy)
        self.inspector.opened.connect(self.open_deal)
        self.choose.clicked.connect(self.toggle_picker)
        self.copy_button.clicked.connect(self.export.copy)
        self.export_button.clicked.connect(self.export_menu)

    # -- which offers ----------------------------------------------------------------------------------------------------------

    @property
    def look(self) -> CompareLook | None:
        """What is compared now."""
        return self.rows.look

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """The ticked offers and contracts."""
        return self.picker.chosen

    def compare(self, subjects: Iterable[Subject]) -> None:
        """Compare exactly these."""
        self._begun = True
        self.picker.choose(subjects)
        self._ticked()

    def _ticked(self) -> None:
        count = len(self.subjects)
        self.pick_head.set_words(Text(f"{count} ticked", f"已勾选 {count} 份") if count else Text("Tick two or more", "勾选两份以上"))
        self.frame.set_count("compare", str(count) if count else "")
        self.header_changed.emit()
        self.refresh()

    def toggle_picker(self) -> None:
        """Show or hide the list of offers."""
        self._show_picker(shown=self.pick_pane.isHidden())
        if not self.pick_pane.isHidden():
            self.picker.setFocus()

    def _show_picker(self, *, shown: bool) -> None:
        self.pick_pane.setVisible(shown)
        self.pick_line.setVisible(shown)
        self._show_sides()

    # -- reading ---------------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the comparison anew on a worker; an answer to an earlier choice is dropped."""
        if not self.frame.is_open:
            return
        self._asked += 1
        asked, subjects, services = self._asked, self.subjects, self.frame.services
        if len(subjects) < 2:
            self._show(asked, None)
            return
        day, by = local_day(utc_now()), self._by()
        order = {subject: place for place, subject in enumerate(self._shown)}
        subjects = tuple(sorted(subjects, key=lambda s: order.get(s, len(order))))
        future = services.query(lambda connection: look_in(connection, subjects, services.catalogue, day, by))
        self.frame.bridge.when_done(future, partial(self._show, asked), partial(self._failed, asked))

    def _by(self) -> CompareBy:
        known = self.choices
        scenario = next((s for s in known.scenarios if s.id == self.bar.scenario.current), None) if known else None
        saved = next((w for w in known.workloads if w.id == self.bar.workload.current), None) if known else None
        return CompareBy(scenario, saved.workload if saved else None, self.bar.chosen_currency, per=PricePer(self.bar.per.current))

    def _failed(self, asked: int, trouble: UserFacing) -> None:
        if asked == self._asked:
            self.frame.trouble(trouble.headline_text, trouble.rest_text)
            self._show(asked, None)

    def _show(self, asked: int, look: CompareLook | None) -> None:
        if asked != self._asked:
            return
        self.stack.setCurrentWidget(self.full if look is not None else self.empty)
        self.first.setVisible(not self.picker.rows.picks)
        if look is None:
            self.rows.show_look(None)
            self._show_picker(shown=True)
            self.header_changed.emit()
            return
        self.bar.show_comparison(look.comparison, [head.row.price_currency for head in look.comparison.heads if head.row.price_currency])
        self.take_look(self._in_place(look))
        self._show_sides()
        self.header_changed.emit()

    def _in_place(self, look: CompareLook) -> CompareLook:
        """A comparison with its columns where they are by now: they may have been moved while it was read."""
        last = len(self._shown)
        place = {subject: n for n, subject in enumerate(self._shown)}
        places = [place.get(head.row.subject, last) for head in look.comparison.heads]
        if places == sorted(places):
            return look
        order = sorted(range(len(places)), key=places.__getitem__)
        return look_of(look.comparison.arranged(order), self.frame.services.catalogue.gpus)

    def take_look(self, look: CompareLook) -> None:
        """Show a comparison that was read, or whose columns were moved."""
        self._shown = tuple(head.row.subject for head in look.comparison.heads)
        self.rows.show_look(look)
        self.matrix.fit()
        self.stability.set_words(look.stability)
        self.inspector.show_look(look)
        self._count()
        self._keep()
        if not self.matrix.main.currentIndex().isValid():
            self.matrix.choose_column(1)
        self._inspect()

    def _filter(self) -> None:
        self.rows.choose_rows(differences_only=self.bar.differences.isChecked(), with_unstated=self.bar.unstated.isChecked())
        self._count()
        self._keep()

    def _count(self) -> None:
        self.bar.tell_count(*self.rows.counts)

    def _read_choices(self, *, begin: bool) -> None:
        if not self.frame.is_open:
            return
        demo = self.frame.services.demo

        def work(connection: sqlite3.Connection) -> _Read:
            offers = first_offers(connection, _DEMO_OFFERS) if demo and begin else ()
            return choices_in(connection), offers, kept_choice_in(connection) or KeptChoice()

        self.frame.bridge.when_done(self.frame.services.query(work), self._choices_read)

    def _choices_read(self, read: _Read) -> None:
        (self.choices, offers, kept), unread, begun = read, self._kept is None, self._begun
        self.bar.show_choices(self.choices)
        if unread:
            self._kept = kept
            self.bar.show_kept(kept)
            self.rows.choose_rows(differences_only=kept.differences_only, with_unstated=kept.with_unstated)
        fresh = not begun and not self.subjects
        offers = kept.subjects if len(kept.subjects) > 1 and fresh and unread else offers
        first = fresh and offers
        if first and offers != kept.subjects and self.choices.workloads:
            self.bar.choose_workload(self.choices.workloads[0].id)
        if unread and not first and self.subjects:
            self.refresh()
        if first:
            self._show_picker(shown=False)
            self.compare(offers)
            self.matrix.setFocus()
        self._begun = True

    def _keep(self) -> None:
        """Keep what is compared and how, once the earlier choice was read."""
        choice = self.bar.choice(self._shown)
        if self._kept is not None and self._shown and choice != self._kept and self.frame.is_open:
            self._kept = choice
            self.frame.services.change(lambda db: keep_choice(db, choice), "compare")

    # -- at the sides ------------------------------------------------------------------------------------------------------------

    def open_deal(self, head: CompareHead) -> None:
        """Show the record behind a column."""
        self.frame.go("suppliers", str(head.row.kind), head.row.id)

    def _inspect(self) -> None:
        index, look = self.matrix.main.currentIndex(), self.look
        if look is not None and 0 < index.column() <= len(look.comparison.heads):
            self.inspector.show_offer(look, index.column() - 1, self.rows.line_at(index.row()))

    def _show_inspector(self, *, shown: bool) -> None:
        self._inspector_wanted = shown
        self._show_sides()

    def _show_sides(self) -> None:
        """The inspector stands there while the columns have room beside it, or as the user wants it."""
        columns = len(self._shown)
        picker = 0 if self.pick_pane.isHidden() else _PICKER_WIDTH
        roomy = self.width() - picker - self.inspector.width() >= 200 + _INSPECTOR_FROM * columns
        wanted = roomy if self._inspector_wanted is None else self._inspector_wanted
        shown = wanted and self.stack.currentWidget() is self.full
        self.inspector.setVisible(shown)
        self.inspector_line.setVisible(shown)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow window leaves the inspector out."""
        super().resizeEvent(event)
        self._show_sides()

    # -- what the window asks ------------------------------------------------------------------------------------------------------

    def export_menu(self) -> None:
        """Offer the kinds of files under the button."""
        if self.look is not None:
            self.export.menu.popup(self.export_button.mapToGlobal(QPoint(0, self.export_button.height())))

    def crumbs(self) -> tuple[Words, ...]:
        """How many are compared."""
        count = len(self.look.comparison.heads) if self.look is not None else 0
        return (Text(f"{count} offers", f"{count} 份报价"),) if count else ()

    def buttons(self) -> tuple[Button, ...]:
        """Choosing, copying, exporting."""
        return (self.choose, self.questions, self.copy_button, self.export_button) if self.look is not None else ()

    def doable(self) -> frozenset[str]:
        """Details, export, only what differs, and choosing anew."""
        return frozenset(["inspector", "export", "differences", "new"] if self.look is not None else ["new"])

    def act(self, action: str) -> None:
        """Do a menu action."""
        if action == "inspector":
            self._show_inspector(shown=self.inspector.isHidden())
        elif action == "export":
            self.export_menu()
        elif action == "differences":
            self.bar.differences.toggle()
        elif action == "new":
            self._show_picker(shown=True)
            self.picker.setFocus()

    def visit(self, path: Sequence[str]) -> None:
        """Records to compare, as `offer/ID` or `contract/ID`; without any the last ones."""
        subjects = tuple(subject for key in path if (subject := subject_of(key)) is not None)
        self.picker.refresh("")
        self._read_choices(begin=not subjects and not self._begun)
        if subjects:
            self._show_picker(shown=len(subjects) < 2)
            self.compare(subjects)
            self.matrix.setFocus()
        elif self.look is not None:
            self.refresh()
        else:
            self.picker.setFocus()

    def search(self, words: str) -> None:
        """Narrow the matrix, or the list while offers are chosen."""
        if self.look is not None and self.pick_pane.isHidden():
            self.rows.find(words)
            self._count()
        else:
            self.picker.refresh(words)

    def handle(self, event: Event) -> None:
        """Records changed, or a run ended."""
        if isinstance(event, RecordsChanged) and event.kinds & {"workload", "rate"}:
            self._read_choices(begin=False)
        if isinstance(event, RecordsChanged) and event.kinds & {"supplier", "offer", "contract"}:
            self.picker.refresh()
        mine = isinstance(event, RunEnded) or (isinstance(event, RecordsChanged) and bool(event.kinds & _KINDS))
        if mine and not self._soon.isActive():
            self._soon.start()

    def retranslate(self) -> None:
        """Lines are searched and drawn in the window's language."""
        self.rows.retranslate()


PAGE = PageSpec("compare", Text("Compare", "对比"), "nav-compare", NavGroup.CHOOSE, 26, ComparePage)
