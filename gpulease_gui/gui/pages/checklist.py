"""What is answered, open, waived and refuted in the checklist of an offer or contract, and how is it filled in?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.deal_picker import DealPicker
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.pages.checklist_bands import DealBand, Foot, ScorePane
from gpulease_gui.gui.pages.checklist_desk import ChecklistDesk
from gpulease_gui.gui.pages.checklist_inspector import ItemInspector, mixed_words
from gpulease_gui.gui.pages.checklist_parts import DimensionList, Legend, entries_of
from gpulease_gui.gui.pages.checklist_table import NOTE_COLUMN, ChecklistModel, ChecklistTable, lines_of
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, ThinSplitter, hairline
from gpulease_gui.gui.widgets.search import FilterBar
from gpulease_gui.services.checklist_edit import choose_template
from gpulease_gui.services.checklist_page import ChecklistSeen, first_deal, item_in, seen_in
from gpulease_gui.services.checklist_view import ChecklistRow, Outcome
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.store.deals import DealRow

if TYPE_CHECKING:
    import sqlite3

_WAIT_MS = 120
_KINDS = frozenset(["answer", "waiver", "attachment", "template", "weight", "claim", "terms", "price", "offer", "contract", "supplier", "node"])
_LEFT, _RIGHT = 228, 292
ALL, OPEN_MUSTS, UNKNOWN, FAILS, BY_HAND = "all", "open_musts", "unknown", "fails", "by_hand"
_CHIPS: tuple[tuple[str, Words], ...] = (
    (ALL, Text("All", "全部")), (OPEN_MUSTS, Text("Open musts", "未决必须项")), (UNKNOWN, Text("Unknown", "未知")),
    (FAILS, Text("Fail", "不符")), (BY_HAND, Text("By hand", "人工核对")),
)  # fmt: skip
_OPEN = (Outcome.FAIL, Outcome.UNKNOWN)
_VALUES = {"y": AnswerValue.YES, "p": AnswerValue.PARTLY, "n": AnswerValue.NO, "u": AnswerValue.UNKNOWN}


class ChecklistPage(Page):
    """Dimensions, items, the item; above them the deal, below them what is done to many."""

    narrow_navigation = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.seen: ChecklistSeen | None = None
        self._subject: Subject | None = None
        self._wanted_item = ""
        self._dimension = ""
        self.foot = Foot()
        self.bulk, self.undo = self.foot.bulk, self.foot.undo
        self.desk = ChecklistDesk(frame, self, self.foot)
        self.band, self.scores = DealBand(), ScorePane()
        self.dimensions, self.answered = DimensionList(), PlainLabel("", size="caption", level="3")
        self.chips = FilterBar(_CHIPS)
        self.notes = IconButton("columns", Text("Show or hide the notes", "显示或隐藏备注列"))
        self.model = ChecklistModel()
        self.table = ChecklistTable(self.model)
        self.inspector = ItemInspector()
        self.letter_button = Button(Text("Questions to ask…", "询问清单…"), icon="question")
        self.report_button = Button(Text("Evaluation report…", "生成评估报告…"), icon="nav-reports", kind="primary")
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        self._build()
        self._connect()

    def _build(self) -> None:
        """From the outside in: a widget that is moved into another window is styled again with all that it holds."""
        self.stack = QStackedWidget()
        self.column.addWidget(self.stack)
        self.waiting, self.empty, self.whole = Pane(2), self._empty(), Pane(2)
        for part in (self.waiting, self.empty, self.whole):
            self.stack.addWidget(part)
        self.split, left, centre = ThinSplitter(), Pane(1), Pane(2)
        self.whole.column.addWidget(self.band)
        self.whole.column.addWidget(self.split, 1)
        for pane in (left, centre, self.inspector):
            self.split.addWidget(pane)
        left.setMinimumWidth(200)
        self.split.setStretchFactor(1, 1)
        self.split.setSizes([_LEFT, 850, _RIGHT])
        head = QHBoxLayout()
        head.setContentsMargins(16, 9, 16, 9)
        head.addWidget(PlainLabel(Text("Dimensions", "维度"), size="dense", weight=600))
        head.addStretch()
        head.addWidget(self.answered)
        left.column.addLayout(head)
        self.chips.add_tool(self.notes)
        beside: tuple[QWidget, ...] = (hairline(), self.dimensions, Legend(), hairline(), self.scores)
        middle: tuple[QWidget, ...] = (self.chips, hairline(), self.table, hairline(), self.foot)
        for pane, widgets in ((left, beside), (centre, middle)):
            for widget in widgets:
                pane.column.addWidget(widget, 1 if widget in (self.dimensions, self.table) else 0)

    def _empty(self) -> EmptyState:
        add = Button(Text("Add an offer", "添加报价"), icon="add", kind="primary")
        add.clicked.connect(lambda: self.frame.go("suppliers"))
        return EmptyState(
            "nav-checklist", Text("No checklist yet", "还没有清单"),
            Text("Each offer and contract has one of 106 items. Write an offer down first, or paste a quote.",
                 "每份报价、每份合同都有一份 106 条的清单。请先添加报价或粘贴报价。"), primary=add,
        )  # fmt: skip

    def _connect(self) -> None:
        desk, inspector = self.desk, self.inspector
        self.band.pick.clicked.connect(self.pick_deal)
        self.band.used.connect(lambda use: self._set_up(self._template_id, use))
        self.band.patterned.connect(lambda template: self._set_up(template, self.band.use.current))
        self.band.edit.clicked.connect(self.edit_templates)
        self.scores.weights.clicked.connect(self.edit_weights)
        self.dimensions.picked.connect(self._pick_dimension)
        self.chips.filtered.connect(lambda _: self._filter())
        self.notes.clicked.connect(lambda: self.table.setColumnHidden(NOTE_COLUMN, not self.table.isColumnHidden(NOTE_COLUMN)))
        self.table.marked.connect(self._chosen)
        self.table.keyed.connect(self._keyed)
        self.table.opened.connect(lambda _: inspector.note.setFocus())
        inspector.valued.connect(lambda value: desk.enter(AnswerValue(value)))
        inspector.stated.connect(self._stated)
        inspector.noted.connect(desk.note)
        inspector.waive.connect(desk.ask_waiver)
        inspector.unwaive.connect(desk.end_waivers)
        inspector.dropped.connect(desk.attach)
        details = inspector.details
        details.attach.connect(desk.choose_file)
        details.copied.connect(inspector.copy_question)
        details.saved.connect(desk.save_copy)
        details.removed.connect(desk.detach)
        details.opened.connect(lambda node, check: self.frame.go("verification", node, check))
        self.bulk.not_applicable.clicked.connect(desk.ask_reason)
        self.bulk.waive.clicked.connect(desk.ask_waiver)
        self.bulk.asked.clicked.connect(lambda: desk.mark_asked())
        self.bulk.clear.clicked.connect(self.table.clearSelection)
        self.letter_button.clicked.connect(self.open_letter)
        self.report_button.clicked.connect(self._report)

    # -- reading ---------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the checklist anew on a worker; what is chosen stays chosen."""
        if not self.frame.is_open:
            return
        catalogue, wanted = self.frame.services.catalogue, self._subject
        day = utc_now().astimezone().date()

        def work(connection: sqlite3.Connection) -> ChecklistSeen | None:
            subject = wanted or first_deal(connection)
            return None if subject is None else seen_in(connection, subject, catalogue, day)

        self.frame.bridge.when_done(self.frame.services.query(work), lambda seen: self._show(wanted, seen), self._gone)

    def _gone(self, _trouble: UserFacing) -> None:
        """The deal was deleted meanwhile: another one is shown."""
        if self._subject is not None:
            self._subject = None
            self.refresh()

    def _show(self, wanted: Subject | None, seen: ChecklistSeen | None) -> None:
        if wanted != self._subject:
            return
        self.seen = seen
        if seen is None:
            self._show_part(self.empty)
            return
        view = seen.view
        self._subject = self.desk.subject = view.facts.row.subject
        self.desk.user = "" if seen.user == "me" else seen.user
        self.band.show_seen(seen)
        self.scores.show_seen(seen)
        self._show_counts(seen)
        lines = lines_of(view.rows, seen.files)
        self.model.renew_rows(lines)
        if self._wanted_item:
            self.table.choose(self._wanted_item)
            self._wanted_item = ""
        elif not self.table.selected_rows:
            self.table.choose_first()
        self._chosen()
        self._show_part(self.whole)

    def _show_counts(self, seen: ChecklistSeen) -> None:
        view = seen.view
        known = sum(row.known for row in view.rows)
        self.answered.set_words(Text(f"answered {known} / {len(view.rows)}", f"已答 {known} / {len(view.rows)}"))
        self.dimensions.show_entries(entries_of(view), self._dimension)
        for key, _ in _CHIPS:
            self.chips.set_count(key, sum(_keeps(key, row) for row in view.rows))
        unknown = view.totals.get(Outcome.UNKNOWN, 0)
        self.letter_button.set_words(Text(f"Questions to ask ({unknown})…", f"询问清单（{unknown} 项）…"))
        failed = bool(seen.score.score.failed_musts)
        self.frame.set_count("checklist", str(len(view.open_musts)) if view.open_musts else "", alarm=failed)

    def _show_part(self, part: QWidget) -> None:
        self.stack.setCurrentWidget(part)
        self.header_changed.emit()

    # -- choosing --------------------------------------------------------------------------------------------------------

    def _pick_dimension(self, key: str) -> None:
        self._dimension = key
        self._filter()

    def _filter(self) -> None:
        chip, dimension = self.chips.current, self._dimension
        self.model.only(lambda line: _keeps(chip, line.row) and dimension in ("", line.row.item.dimension))
        if not self.table.selected_rows:
            self.table.choose_first()
        self._chosen()

    def _chosen(self) -> None:
        """Show what is chosen; the details of one item are read on a worker."""
        rows = tuple(line.row for line in self.table.selected_rows)
        if rows != self.desk.rows:
            self.desk.rows = rows
            self.inspector.show_rows(rows)
            self.foot.show_chosen(self.desk.items, mixed_words(rows))
        if rows and self._subject is not None:
            self.inspector.open_draft(self.frame, " ".join((self._subject.kind, self._subject.id, *self.desk.items)))
        self._read_item()

    def _read_item(self) -> None:
        seen, rows = self.seen, self.desk.rows
        if seen is not None and len(rows) == 1:
            item = rows[0].item.id
            found = self.frame.services.query(lambda connection: item_in(connection, seen.view, item))
            self.frame.bridge.when_done(found, self.inspector.show_item)

    def _keyed(self, key: str) -> None:
        """Answer by a key; after a single answer the next item is current."""
        single = len(self.desk.rows) == 1
        if key in _VALUES:
            self.desk.enter(_VALUES[key])
            if single:
                self.table.go_next()
            return
        {"a": self.desk.mark_asked, "x": self.desk.ask_reason, "w": self.desk.ask_waiver, "e": self.desk.choose_file,
         "t": self.inspector.note.setFocus}[key]()  # fmt: skip

    def _stated(self, state: str) -> None:
        if state:
            self.desk.state(AnswerState(state))
        # A choice that first asks for a reason is not made yet.
        self.inspector.show_rows(self.desk.rows)

    # -- dialogs ---------------------------------------------------------------------------------------------------------

    def pick_deal(self) -> None:
        """Choose another offer or contract."""
        self.picker = DealPicker(self.frame, parent=self)
        self.picker.picked.connect(self._picked)
        open_dialog(self.picker)

    def _picked(self, row: DealRow) -> None:
        self._open(row.subject)

    def _open(self, subject: Subject) -> None:
        self.inspector.note.keep()
        self.foot.settle()
        self._subject = subject
        self.table.selectionModel().clear()
        self.refresh()

    @property
    def _template_id(self) -> str:
        return self.seen.view.template.id if self.seen is not None else ""

    def _set_up(self, template: str, use: str) -> None:
        subject = self._subject
        if subject is not None:
            self.frame.services.change(lambda db: choose_template(db, subject, template, use), "template")

    def edit_templates(self) -> None:
        """Hide, reword and add items."""
        from gpulease_gui.gui.forms.template_dialog import TemplateDialog

        if self.seen is not None:
            self.template_dialog = TemplateDialog(self.frame, self.seen.view.template.id, self.seen.scenarios, parent=self)
            self.template_dialog.saved.connect(lambda template: self._set_up(template, self.band.use.current))
            open_dialog(self.template_dialog)

    def edit_weights(self) -> None:
        """See and change how much each dimension counts."""
        from gpulease_gui.gui.forms.weights_dialog import WeightsDialog

        if self.seen is not None:
            self.weights_dialog = WeightsDialog(self.frame, self.seen, parent=self)
            open_dialog(self.weights_dialog)

    def open_letter(self) -> None:
        """Show the questions to the supplier."""
        from gpulease_gui.gui.forms.letter_dialog import LetterDialog

        if self.seen is not None:
            self.letter_dialog = LetterDialog(self.frame, self.seen.view, parent=self)
            self.letter_dialog.asked.connect(self.desk.mark_asked)
            open_dialog(self.letter_dialog)

    def _report(self) -> None:
        if self._subject is not None:
            self.frame.go("reports", self._subject.id)

    # -- what the window asks --------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The number of the deal."""
        row = self.seen.view.facts.row if self.seen is not None else None
        return (row.number or row.title or row.id,) if row is not None else ()

    def buttons(self) -> tuple[Button, ...]:
        """The letter, and the report of a contract."""
        if self.seen is None:
            return ()
        contract = self.seen.view.facts.row.kind is HolderOf.CONTRACT
        return (self.letter_button, self.report_button) if contract else (self.letter_button,)

    def doable(self) -> frozenset[str]:
        """Save keeps the note, Delete takes an answer away, Export opens the letter."""
        return frozenset(["save", "delete", "export", "inspector"] if self.seen is not None else [])

    def act(self, action: str) -> None:
        """Do one of them."""
        if action == "save":
            self.inspector.note.keep()
        elif action == "delete":
            self.desk.enter(AnswerValue.UNKNOWN)
        elif action == "export":
            self.open_letter()
        elif action == "inspector":
            self.inspector.setVisible(self.inspector.isHidden())

    def visit(self, path: tuple[str, ...]) -> None:
        """Kind and id of an offer or contract show its checklist, an item's id after them that item."""
        if len(path) >= 2 and path[0] in (HolderOf.OFFER, HolderOf.CONTRACT):
            self._wanted_item = path[2] if len(path) > 2 else ""
            self._open(Subject(HolderOf(path[0]), path[1]))
        else:
            self.refresh()
        self.table.setFocus()  # letters, Shift and arrows answer at once

    def search(self, words: str) -> None:
        """Narrow the items."""
        self.model.find(words)
        self._chosen()

    def handle(self, event: Event) -> None:
        """Answers, terms, runs: whatever moves items."""
        ours = isinstance(event, RunEnded) or (isinstance(event, RecordsChanged) and bool(event.kinds & _KINDS))
        if ours and not self._soon.isActive():
            self._soon.start()

    def may_leave(self) -> bool:
        """A typed note is kept first."""
        self.inspector.note.keep()
        return True


def _keeps(chip: str, row: ChecklistRow) -> bool:
    """Whether a chip lets a line through."""
    if chip == OPEN_MUSTS:
        return row.item.severity is Importance.MUST and row.outcome in _OPEN
    if chip == UNKNOWN:
        return row.outcome is Outcome.UNKNOWN
    if chip == FAILS:
        return row.outcome is Outcome.FAIL
    return chip != BY_HAND or not row.item.checks


PAGE = PageSpec("checklist", Text("Checklist", "清单"), "nav-checklist", NavGroup.SETTLE, 75, ChecklistPage)
