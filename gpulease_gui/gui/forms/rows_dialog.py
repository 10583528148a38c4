"""How is a term that is a list typed: volume steps, discounts, licences, contacts, nodes of an annex?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.commercial import Column, FieldKind
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.field_form import PlainChoice
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.services.fields_view import FieldRow
from gpulease_gui.services.typed_field import BadCell, read_rows, typed_text

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
MOST_ROWS = 2000


class RowsModel(QAbstractTableModel):
    """Typed words under the columns of a field; one empty line is always left at the end."""

    changed = Signal()

    def __init__(self, columns: Sequence[Column], cells: list[list[str]]) -> None:
        super().__init__()
        self.columns = tuple(columns)
        self._cells = cells
        self._leave_a_line()

    @property
    def cells(self) -> list[list[str]]:
        """All lines, the empty ones too."""
        return [list(line) for line in self._cells]

    def _leave_a_line(self) -> None:
        if (not self._cells or any(self._cells[-1])) and len(self._cells) < MOST_ROWS:
            self.beginInsertRows(QModelIndex(), len(self._cells), len(self._cells))
            self._cells.append([""] * len(self.columns))
            self.endInsertRows()

    def paste(self, row: int, column: int, block: Sequence[Sequence[str]]) -> int:
        """Write a block of words from a cell on; how many lines found room."""
        taken = 0
        for line, words in enumerate(block):
            if row + line >= MOST_ROWS:
                break
            while len(self._cells) <= row + line:
                self._cells.append([""] * len(self.columns))
            for place, said in enumerate(words[: len(self.columns) - column]):
                self._cells[row + line][column + place] = said.strip()
            taken += 1
        self.beginResetModel()
        self.endResetModel()
        self._leave_a_line()
        self.changed.emit()
        return taken

    def put(self, cells: list[list[str]]) -> None:
        """Show these lines instead."""
        self.beginResetModel()
        self._cells = cells[:MOST_ROWS]
        self.endResetModel()
        self._leave_a_line()

    def remove(self, places: set[int]) -> None:
        """Take lines out."""
        self.beginResetModel()
        self._cells = [line for place, line in enumerate(self._cells) if place not in places]
        self.endResetModel()
        self._leave_a_line()
        self.changed.emit()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """The lines."""
        return 0 if parent.isValid() else len(self._cells)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        """The columns of the field."""
        return 0 if parent.isValid() else len(self.columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every cell can be typed in."""
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words."""
        if index.isValid() and role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._cells[index.row()][index.column()]
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Other words."""
        if role != Qt.ItemDataRole.EditRole or not index.isValid():
            return False
        self._cells[index.row()][index.column()] = str(value or "").strip()
        self.dataChanged.emit(index, index)
        self._leave_a_line()
        self.changed.emit()
        return True

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Heads with their units; lines are counted."""
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if orientation is Qt.Orientation.Vertical:
            return str(section + 1)
        column = self.columns[section]
        return f"{say(column.label)} ({column.unit})" if column.unit else say(column.label)


class _Cells(QStyledItemDelegate):
    """A combo box where a column has choices."""

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        model = index.model()
        column = model.columns[index.column()] if isinstance(model, RowsModel) else None
        if column is None or column.kind not in (FieldKind.CHOICE, FieldKind.YES_NO):
            return super().createEditor(parent, option, index)
        words = [choice.label for choice in column.choices] or [Text("yes", "是"), Text("no", "否")]
        return PlainChoice([(None, ""), *((say(said), said) for said in words)], parent)

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, PlainChoice):
            editor.choose(index.data() or None)
        else:
            super().setEditorData(editor, index)

    def setModelData(self, editor: QWidget, model: Any, index: Index) -> None:
        if isinstance(editor, PlainChoice):
            model.setData(index, editor.key)
        else:
            super().setModelData(editor, model, index)


class RowsTable(QTableView):
    """Cells to type in: Delete empties, Ctrl+V takes a block from a spreadsheet."""

    def __init__(self, rows: RowsModel, name: Text) -> None:
        super().__init__()
        self.rows = rows
        rows.setParent(self)
        self.setModel(rows)
        self.setItemDelegate(_Cells(self))
        self.setAccessibleName(say(name))
        self.setTabKeyNavigation(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().setDefaultSectionSize(max(28, self.fontMetrics().height() + 10))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Paste and empty."""
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            for index in self.selectedIndexes():
                self.rows.setData(index, "")
        else:
            super().keyPressEvent(event)

    def paste(self) -> None:
        """Write the clipboard's block from the current cell on."""
        text = QGuiApplication.clipboard().text()[:2_000_000]
        block = [line.split("\t") for line in text.splitlines()[:MOST_ROWS]]
        at = self.currentIndex()
        self.rows.paste(max(0, at.row()), max(0, at.column()), block)


class RowsDialog(DraftDialog):
    """The list of one term. `kept` carries the row and its rows as a value (None = not stated, () = there are none)."""

    kept = Signal(object, object)

    def __init__(self, row: FieldRow, catalogue: Catalogue, *, parent: QWidget | None = None) -> None:
        lead = Text("One line each. A block from a spreadsheet can be pasted.", "每行一条；可直接粘贴表格中的一块单元格。")
        super().__init__(row.field.label, row.field.label, parent=parent)
        self._row, self._catalogue = row, catalogue
        self.rows = RowsModel(row.field.columns, cells_of(row))
        self.table = RowsTable(self.rows, row.field.label)
        self.table.setMinimumHeight(220)
        self.column.addWidget(PlainLabel(lead, size="dense", level="2", wrap=True))
        self.column.addWidget(self.table, 1)
        self.error = PlainLabel("", size="dense", level="fail", wrap=True)
        self.column.addWidget(self.error)
        tools = QHBoxLayout()
        remove = Button(Text("Remove lines", "删除所选行"), icon="delete", small=True)
        remove.clicked.connect(lambda: self.rows.remove({index.row() for index in self.table.selectedIndexes()}))
        tools.addWidget(remove)
        tools.addStretch()
        self.column.addLayout(tools)
        self.unstated = self.add_button(Button(Text("Not stated", "未约定"), kind="quiet"))
        self.unstated.clicked.connect(lambda: self._give(None))
        self.none = self.add_button(Button(Text("There are none", "明确为无"), kind="quiet"))
        self.none.clicked.connect(lambda: self._give(()))
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)
        self.setMinimumSize(620, 420)
        self.table.setFocus()
        self.table.setCurrentIndex(self.rows.index(0, 0))
        self.rows.changed.connect(self.touch)

    def words_now(self) -> tuple[str, ...]:
        """All cells, line after line; how many there are in a line comes first."""
        lines = [line for line in self.rows.cells if any(line)]
        return (str(len(self.rows.columns)), *(said for line in lines for said in line))

    def put_words(self, words: Sequence[str]) -> bool:
        """Put the cells back, unless the field has other columns by now."""
        width = len(self.rows.columns)
        if not words or words[0] != str(width) or (len(words) - 1) % width:
            return False
        self.rows.put([list(words[start : start + width]) for start in range(1, len(words), width)])
        return True

    def _save(self) -> None:
        found = read_rows(self._row.field, self.rows.cells, self._row.currency, self._catalogue)
        if isinstance(found, BadCell):
            head, words = self.rows.columns[found.column].label, found.words
            self.error.set_words(Text(f"Line {found.line + 1}, {head.en}: {words.en}", f"第 {found.line + 1} 行，{head.zh}：{words.zh}"))
            self.table.setCurrentIndex(self.rows.index(found.line, found.column))
            return
        self._give(found or None)

    def _give(self, value: object) -> None:
        self.kept.emit(self._row, value)
        self.accept()


def cells_of(row: FieldRow) -> list[list[str]]:
    """The rows of a term as words in the window's language."""
    if not isinstance(row.value, tuple):
        return []
    return [[say(typed_text(column, dict(line).get(column.key))) for column in row.field.columns] for line in row.value]


