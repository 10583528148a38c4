"""How are the promises of an offer or contract read and typed, row by row?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QStyleOptionViewItem, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.gpu_picker import GpuPicker
from gpulease_gui.gui.forms.term_cells import SOURCE, VALUE, group_of_row, term_columns, term_words
from gpulease_gui.gui.forms.term_editors import Complaint, make_editor, read_value, show_value
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Group
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.cells import CellDelegate
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.claims_view import TermRow

Index = QModelIndex | QPersistentModelIndex


class TermsModel(TableModel[TermRow]):
    """The terms under their groups; value and source can be edited. Cells are kept until the rows change."""

    def __init__(self, catalogue: Catalogue, group: Callable[[TermRow], Group]) -> None:
        self._drawn: dict[tuple[int, int], Cell | None] = {}
        super().__init__(term_columns(catalogue), lambda row: row.term.key, search=term_words, group=group)

    def _arrange(self) -> None:
        self._drawn.clear()
        super()._arrange()

    def cell(self, index: Index) -> Cell | None:
        """What is drawn at `index`; made once, since each paint asks several times."""
        place = index.row(), index.column()
        if place not in self._drawn:
            self._drawn[place] = super().cell(index)
        return self._drawn[place]

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Two columns take an editor."""
        usual = super().flags(index)
        editable = self.row_at(index.row()) is not None and index.column() in (VALUE, SOURCE)
        return usual | Qt.ItemFlag.ItemIsEditable if editable else usual


class TermsDelegate(CellDelegate):
    """Opens the editor of a term's kind, and closes it only over a value that can be meant.

    `stated` carries a row and its new value (None = not stated), `sourced` a row and where it is written.
    """

    stated = Signal(object, object)
    sourced = Signal(object, str)

    def __init__(self, view: TermsView, catalogue: Catalogue) -> None:
        super().__init__(view)
        self._view, self._catalogue = view, catalogue
        self._rows: dict[int, tuple[QWidget, TermRow, int]] = {}
        self.complaint = Complaint(view.viewport())

    @property
    def open_editors(self) -> tuple[QWidget, ...]:
        """The editors that are open now."""
        return tuple(editor for editor, _, _ in self._rows.values())

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """An editor over the cell."""
        row = self._view.row_of(index.row())
        if row is None:
            return None  # type: ignore[return-value]
        editor: QWidget
        if index.column() == SOURCE:
            editor = QLineEdit(parent)
            editor.setPlaceholderText(say(Text("document and clause", "文件与条款")))
            editor.setAccessibleName(say(Text("Source", "出处")))
        else:
            editor = make_editor(row.term, self._catalogue, parent)
        self._rows[id(editor)] = (editor, row, index.column())
        if isinstance(editor, QComboBox):
            editor.activated.connect(lambda _, made=editor: self._finish(made))
        elif isinstance(editor, GpuPicker):
            editor.picked.connect(lambda _, made=editor: self._finish(made))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show what is written now, once: a refresh must not replace what is being typed."""
        known = self._rows.get(id(editor))
        if known is None or editor.property("filled"):
            return
        editor.setProperty("filled", True)
        _, row, column = known
        if column == SOURCE and isinstance(editor, QLineEdit):
            editor.setText(row.claim.source if row.claim is not None else "")
            editor.selectAll()
        else:
            show_value(editor, row.value)
        if isinstance(editor, QComboBox):
            QTimer.singleShot(0, editor, editor.showPopup)
        elif isinstance(editor, GpuPicker):
            QTimer.singleShot(0, editor, editor.show_all)

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        """Nothing: values go out by signal, and the model follows the store."""

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Over the cell, starting at its words."""
        rect: QRect = option.rect
        width = max(rect.width() - 6, 240 if isinstance(editor, GpuPicker) else 0)
        width = min(width, 220) if not isinstance(editor, GpuPicker) and index.column() == VALUE else width
        editor.setGeometry(rect.left() + 1, rect.top(), width, rect.height() - 1)

    def destroyEditor(self, editor: QWidget, index: Index) -> None:
        """Forget the editor and its list."""
        self._rows.pop(id(editor), None)
        self.complaint.hide()
        if isinstance(editor, GpuPicker):
            editor.close_drop()
        super().destroyEditor(editor, index)
        self._view.editing_ended.emit()

    def eventFilter(self, editor: QObject, event: QEvent) -> bool:
        """Enter and leaving finish, Esc takes back, Tab goes on."""
        if not isinstance(editor, QWidget) or id(editor) not in self._rows:
            return False
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(editor, event)
        if event.type() is QEvent.Type.FocusOut and isinstance(event, QFocusEvent):
            elsewhere = event.reason() in (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
            if not elsewhere:
                self._finish(editor)
        return False

    def _key(self, editor: QWidget, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self._close(editor)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            if isinstance(editor, GpuPicker):
                editor.take_current()
            self._finish(editor)
        else:
            return False
        return True

    def _finish(self, editor: QWidget) -> bool:
        """Send what was typed and close; False when it can't be meant, and then the editor stays."""
        known = self._rows.get(id(editor))
        if known is None:
            return True
        _, row, column = known
        if column == SOURCE and isinstance(editor, QLineEdit):
            self._close(editor)
            if editor.text().strip() != (row.claim.source if row.claim is not None else ""):
                self.sourced.emit(row, editor.text().strip())
            return True
        value = read_value(editor, row.term, self._catalogue)
        if isinstance(value, Text):
            self.complaint.tell(value, editor)
            return False
        self._close(editor)
        if not _same(value, row.value):
            self.stated.emit(row, value)
        return True

    def _close(self, editor: QWidget) -> None:
        if id(editor) in self._rows:
            self.closeEditor.emit(editor)


def _same(one: TermValue | None, other: TermValue | None) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


class TermsView(TableView):
    """The table of terms: reads as text, edits in place by F2, Enter or a click on the value."""

    editing_ended = Signal()

    def __init__(self, catalogue: Catalogue, *, parent: QWidget | None = None) -> None:
        self.rows = TermsModel(catalogue, lambda row: group_of_row(row, self._tally))
        self._tally: dict[str, str] = {}
        super().__init__(self.rows, Text("Terms", "条款"), parent=parent)
        self.editors = TermsDelegate(self, catalogue)
        self.editors.clicked.connect(self._clicked)
        self._cells = self.editors
        self.setItemDelegate(self.editors)
        self.opened.connect(lambda _: self.edit_column(VALUE))
        self._waiting: tuple[Sequence[TermRow], bool] | None = None
        self.editing_ended.connect(self._show_waiting, Qt.ConnectionType.QueuedConnection)

    def row_of(self, place: int) -> TermRow | None:
        """The row that is shown at `place`."""
        return self.rows.row_at(place)

    def show_rows(self, rows: Sequence[TermRow], *, findings: bool) -> None:
        """Show other terms; while something is being typed they wait. `findings` False hides what runs say."""
        if self.editors.open_editors:
            self._waiting = (rows, findings)
            return
        self._waiting = None
        self._tally = tallies(rows)
        for column in range(SOURCE + 3, len(self.rows.columns)):
            self.setColumnHidden(column, not findings)
        self.rows.set_rows(rows)

    def _show_waiting(self) -> None:
        if self._waiting is not None:
            self.show_rows(self._waiting[0], findings=self._waiting[1])

    def edit_column(self, column: int) -> None:
        """Open the editor of the current row."""
        place = self.currentIndex().row()
        if self.row_of(place) is not None:
            index = self.rows.index(place, column)
            self.setCurrentIndex(index)
            self.edit(index)

    @property
    def unfinished(self) -> bool:
        """Whether something stands in an editor that can't be kept; then it has the keyboard."""
        for editor in self.editors.open_editors:
            if not self.editors._finish(editor):
                editor.setFocus()
                return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F2 edits the value, or the source when that is the current cell."""
        if event.key() == Qt.Key.Key_F2:
            self.edit_column(SOURCE if self.currentIndex().column() == SOURCE else VALUE)
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a value or a source opens its editor."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.column() in (VALUE, SOURCE) and self.row_of(index.row()) is not None:
            self.edit_column(index.column())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The first click has opened the editor already."""


def tallies(rows: Sequence[TermRow]) -> dict[str, str]:
    """Per group: stated / all."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        count = counts.setdefault(row.group.key, [0, 0])
        count[0] += row.value is not None
        count[1] += 1
    return {key: f"{stated} / {total}" for key, (stated, total) in counts.items()}
