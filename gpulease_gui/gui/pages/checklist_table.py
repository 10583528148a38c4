"""How does the checklist stand in its table, and which keys answer it?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QItemSelection, QItemSelectionModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from gpulease_gui.catalog.checklist import DIMENSIONS, IMPORTANCE_WORDS, Importance
from gpulease_gui.domain.answer import ANSWER_WORDS, VALUE_WORDS, AnswerState, AnswerValue
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import Badge, ItemState, badge_of
from gpulease_gui.services.checklist_view import ChecklistRow, Outcome

_ASKED = Badge("clock", "inc", Text("Asked", "待答复"))
_BADGES: Mapping[Outcome, Badge] = {
    Outcome.FAIL: badge_of(Verdict.FAIL),
    Outcome.UNKNOWN: Badge("verdict-inconclusive", "inc", Text("Unknown", "未知")),
    Outcome.PARTLY: Badge("verdict-warn", "warn", Text("Partly", "部分符合"), loud=True),
    Outcome.WAIVED: badge_of(ItemState.WAIVED),
    Outcome.PASS: badge_of(Verdict.PASS),
    Outcome.NOT_APPLICABLE: badge_of(Verdict.NOT_APPLICABLE),
}
_STATE_ICONS = {
    AnswerState.ANSWERED: "flag", AnswerState.EVIDENCED: "attachment", AnswerState.IN_CONTRACT: "document",
    AnswerState.VERIFIED: "nav-verify", AnswerState.REFUTED: "nav-verify",
}  # fmt: skip
_WORST_FIRST = {outcome: place for place, outcome in enumerate(Outcome)}
_BEST_LAST = {AnswerValue.NO: 0, AnswerValue.UNKNOWN: 1, AnswerValue.PARTLY: 2, AnswerValue.YES: 3}
_HEAVIEST_FIRST = {severity: place for place, severity in enumerate(Importance)}
BOX, NOTE_COLUMN, BY_COLUMN = 0, 6, 7
_ROOMY = 700


def badge_of_outcome(outcome: Outcome, *, asked: bool = False) -> Badge:
    """The mark and word of what a line comes to; an unknown that was asked says so."""
    return _ASKED if asked and outcome is Outcome.UNKNOWN else _BADGES[outcome]


def badge_of_row(row: ChecklistRow) -> Badge:
    """The badge of a line."""
    return badge_of_outcome(row.outcome, asked=row.answer is not None and row.answer.state is AnswerState.ASKED)


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One line of the table with the names of the files that prove it."""

    row: ChecklistRow
    group: Group
    files: tuple[str, ...] = ()


def lines_of(rows: Iterable[ChecklistRow], files: Mapping[str, Attachment]) -> list[ItemLine]:
    """The lines of a checklist, each under the heading of its dimension."""
    rows = tuple(rows)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.item.dimension] = counts.get(row.item.dimension, 0) + 1
    groups = {name: _group(name, count) for name, count in counts.items()}
    return [ItemLine(row, groups[row.item.dimension], _names(row, files)) for row in rows]


def _group(dimension: str, count: int) -> Group:
    title = DIMENSIONS.get(dimension, foreign(dimension))
    return Group(dimension, title, Text("1 item" if count == 1 else f"{count} items", f"{count} 项"))


def _names(row: ChecklistRow, files: Mapping[str, Attachment]) -> tuple[str, ...]:
    held = row.answer.evidence if row.answer is not None else ()
    return tuple(files[id_].name for id_ in held if id_ in files)


class ChecklistModel(TableModel[ItemLine]):
    """Items by dimension. `marked` holds the ids whose boxes are ticked: those that are selected."""

    def __init__(self) -> None:
        self.marked: frozenset[str] = frozenset()
        super().__init__(self._all_columns(), lambda line: line.row.item.id, search=_hay, group=lambda line: line.group,
                         tally=_tally)  # fmt: skip

    def _all_columns(self) -> tuple[Column[ItemLine], ...]:
        return (
            Column("", lambda line: Cell(checked=line.row.item.id in self.marked), width=36),
            Column(Text("No.", "编号"), lambda line: Cell(foreign(line.row.item.id), tone="2"),
                   lambda line: line.row.item.id, width=60),
            Column(Text("Item", "条目"), lambda line: Cell(line.row.item.text), width=220, stretch=True),
            Column(Text("Level", "级别"), _severity, lambda line: _HEAVIEST_FIRST[line.row.item.severity], width=60),
            Column(Text("Answer", "答复"), _answer, lambda line: _BEST_LAST[_value(line)], width=62),
            Column(Text("Evidence", "证据"), _evidence, _proven, width=124),
            Column(Text("Note", "备注"), _note, width=150),
            Column(Text("By, when", "经手 / 时间"), _by, _when, width=98),
            Column(Text("Verdict", "判定"), lambda line: state_cell(badge_of_row(line.row)),
                   lambda line: _WORST_FIRST[line.row.outcome], width=108),
        )  # fmt: skip


def _hay(line: ItemLine) -> str:
    item, answer = line.row.item, line.row.answer
    note = answer.note if answer is not None else ""
    return " ".join((item.id, item.text.en, item.text.zh, item.evidence.en, item.evidence.zh, note, *line.files))


def _tally(line: ItemLine) -> Badge | None:
    loud = (Outcome.FAIL, Outcome.UNKNOWN, Outcome.PARTLY)
    return badge_of_outcome(line.row.outcome) if line.row.outcome in loud else None


def _severity(line: ItemLine) -> Cell:
    severity = line.row.item.severity
    must = severity is Importance.MUST
    word = IMPORTANCE_WORDS[severity] if severity is not Importance.NICE else Text("nice", "加分")
    return Cell(word, weight=600 if must else 400, tone="1" if must else "2")


def answer_words(row: ChecklistRow) -> Words:
    """Value and state of an answer, such as: yes · in the contract."""
    answer = row.answer
    if answer is None or answer.state is AnswerState.NOT_ASKED:
        return ANSWER_WORDS[AnswerState.NOT_ASKED]
    state, value = ANSWER_WORDS[answer.state], VALUE_WORDS[answer.value]
    if answer.value is AnswerValue.UNKNOWN or answer.state in (AnswerState.NOT_APPLICABLE, AnswerState.ASKED):
        return state
    return Text(f"{value.en} · {state.en}", f"{value.zh} · {state.zh}")


def _value(line: ItemLine) -> AnswerValue:
    answer = line.row.answer
    return answer.value if answer is not None and answer.known else AnswerValue.UNKNOWN


def _answer(line: ItemLine) -> Cell:
    value = _value(line)
    return NOTHING if value is AnswerValue.UNKNOWN else Cell(VALUE_WORDS[value], tone="2", tip=answer_words(line.row))


def _proven(line: ItemLine) -> int:
    answer = line.row.answer
    return list(AnswerState).index(answer.state) if answer is not None else 0


def _evidence(line: ItemLine) -> Cell:
    """What the answer rests on: the waiver that counts, files, the run, else how it is proven."""
    row, answer = line.row, line.row.answer
    if row.waiver is not None and row.waived:
        until = f"{row.waiver.expires:%m-%d}"
        return Cell(Text(f"waived to {until}", f"豁免 至 {until}"), tone="2", icon="flag", tip=foreign(row.waiver.reason))
    if line.files:
        more = f" +{len(line.files) - 1}" if len(line.files) > 1 else ""
        return Cell(foreign(f"{line.files[0]}{more}"), tone="2", icon="attachment", tip=foreign("\n".join(line.files)))
    if answer is None or answer.state is AnswerState.NOT_ASKED:
        return NOTHING
    words = Text("stated terms", "已填条款") if row.derived else ANSWER_WORDS[answer.state]
    return Cell(words, tone="2", icon=_STATE_ICONS.get(answer.state, ""), tip=foreign(answer.note) if answer.note else words)


def _note(line: ItemLine) -> Cell:
    answer = line.row.answer
    return Cell(foreign(answer.note), tone="2") if answer is not None and answer.note else NOTHING


def _by(line: ItemLine) -> Cell:
    answer = line.row.answer
    if answer is None or not answer.by:
        return NOTHING
    day = f"{answer.at.astimezone():%m-%d}"
    who = Text("auto", "自动") if answer.run_id is not None else foreign(answer.by)
    return Cell(Text(f"{who.en} {day}", f"{who.zh} {day}"), tone="2", tip=foreign(f"{answer.by} {answer.at.astimezone():%Y-%m-%d %H:%M}"))


def _when(line: ItemLine) -> float:
    answer = line.row.answer
    return answer.at.timestamp() if answer is not None and answer.by else 0.0


Index = QModelIndex | QPersistentModelIndex


class ChecklistTable(TableView):
    """Many items can be chosen; a box adds one to the choice. `keyed` carries the letter of a key that answers."""

    keyed = Signal(str)
    marked = Signal()
    KEYS: Mapping[int, str] = {
        Qt.Key.Key_Y: "y", Qt.Key.Key_P: "p", Qt.Key.Key_N: "n", Qt.Key.Key_U: "u", Qt.Key.Key_A: "a", Qt.Key.Key_X: "x",
        Qt.Key.Key_W: "w", Qt.Key.Key_E: "e", Qt.Key.Key_T: "t",
    }  # fmt: skip

    def __init__(self, items: ChecklistModel, *, parent: QWidget | None = None) -> None:
        super().__init__(items, Text("Checklist", "清单"), many=True, parent=parent)
        self._items = items
        self.setColumnHidden(NOTE_COLUMN, True)
        self.selectionModel().selectionChanged.connect(self._selected)
        items.layoutChanged.connect(self._mark)

    def _selected(self, _on: QItemSelection, _off: QItemSelection) -> None:
        self._mark()

    def _mark(self) -> None:
        ids = frozenset(line.row.item.id for line in self.selected_rows)
        if ids != self._items.marked:
            self._items.marked = ids  # the view draws the rows anew whose selection changed
            self.marked.emit()

    def selectionCommand(self, index: Index, event: QEvent | None = None) -> QItemSelectionModel.SelectionFlag:
        """A plain click into the column of boxes adds the row to the choice or takes it out."""
        flags = QItemSelectionModel.SelectionFlag
        plain = isinstance(event, QMouseEvent) and event.modifiers() == Qt.KeyboardModifier.NoModifier
        if plain and event is not None and event.type() is QEvent.Type.MouseButtonPress and index.isValid() and index.column() == BOX:
            return flags.Toggle | flags.Rows
        return super().selectionCommand(index, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Letters answer what is chosen; the rest is as in every table."""
        key = self.KEYS.get(event.key())
        if key is not None and event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier):
            self.keyed.emit(key)
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a small screen the words of the items need the room of who and when; both stand beside the table, too."""
        super().resizeEvent(event)
        least = _ROOMY * max(1.0, self.fontMetrics().height() / 18)
        self.setColumnHidden(BY_COLUMN, event.size().width() < least)

    def go_next(self) -> None:
        """Make the next item current; the last one stays."""
        for place in range(self.currentIndex().row() + 1, self._items.rowCount()):
            if self._items.row_at(place) is not None:
                self.setCurrentIndex(self._items.index(place, max(self.currentIndex().column(), 1)))
                return
