"""How are cells of a table edited in place, so that only what can be meant is closed over?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic

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
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QShowEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QStyleOptionViewItem, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.gpu_picker import GpuPicker
from gpulease_gui.gui.forms.term_editors import Complaint
from gpulease_gui.gui.models.cell import Cell, Row
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.cells import CellDelegate
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.table import TableView

Index = QModelIndex | QPersistentModelIndex


class EditableModel(TableModel[Row], Generic[Row]):
    """A table of which some columns take an editor. Cells are kept until the rows change."""

    def __init__(self, editable: frozenset[int], *args: Any, **more: Any) -> None:
        self._drawn: dict[tuple[int, int], Cell | None] = {}
        self._editable = editable
        super().__init__(*args, **more)

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
        """The columns that take an editor."""
        usual = super().flags(index)
        editable = self.row_at(index.row()) is not None and index.column() in self._editable
        return usual | Qt.ItemFlag.ItemIsEditable if editable else usual


class InPlaceDelegate(CellDelegate):
    """Opens the editor that a subclass makes, and closes it only when `finish_row` has no complaint.

    `typed` comes with every key in an editor of words.
    """

    typed = Signal()

    def __init__(self, view: InPlaceView) -> None:
        super().__init__(view)
        self._view = view
        self._rows: dict[int, tuple[QWidget, Any, int]] = {}
        self.complaint = Complaint(view.viewport())

    # -- what a subclass says ------------------------------------------------------------------------------------------------

    def make(self, row: Any, column: int, parent: QWidget) -> QWidget | None:
        """An editor for a cell; None when this cell is edited elsewhere."""
        raise NotImplementedError

    def fill(self, editor: QWidget, row: Any, column: int) -> None:
        """Put what is stated into the editor."""
        raise NotImplementedError

    def send(self, editor: QWidget, row: Any, column: int) -> Text | None:
        """Tell what was typed, or say what is wrong with it. Only a sent value closes the editor."""
        raise NotImplementedError

    @property
    def typing(self) -> tuple[QLineEdit, Any, int] | None:
        """The editor whose words were changed by the user, with its row and column."""
        return next(((editor, row, column) for editor, row, column in self._rows.values() if isinstance(editor, QLineEdit) and editor.isModified()), None)

    # -- what Qt asks ------------------------------------------------------------------------------------------------------------

    @property
    def open_editors(self) -> tuple[QWidget, ...]:
        """The editors that are open now."""
        return tuple(editor for editor, _, _ in self._rows.values())

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """An editor over the cell."""
        row = self._view.row_of(index.row())
        editor = self.make(row, index.column(), parent) if row is not None else None
        if editor is None:
            return None  # type: ignore[return-value]
        self._rows[id(editor)] = (editor, row, index.column())
        if isinstance(editor, QLineEdit):
            editor.textEdited.connect(lambda _: self.typed.emit())
        if isinstance(editor, QComboBox):
            editor.activated.connect(lambda _, made=editor: self.finish(made))
        elif isinstance(editor, GpuPicker):
            editor.picked.connect(lambda _, made=editor: self.finish(made))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        """Show what is written now, once: a refresh must not replace what is being typed."""
        known = self._rows.get(id(editor))
        if known is None or editor.property("filled"):
            return
        editor.setProperty("filled", True)
        self.fill(editor, known[1], known[2])
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
        narrow = not isinstance(editor, GpuPicker) and index.column() in self._view.narrow_editors
        editor.setGeometry(rect.left() + 1, rect.top(), min(width, 220) if narrow else width, rect.height() - 1)

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
                self.finish(editor)
        return False

    def _key(self, editor: QWidget, event: QKeyEvent) -> bool:
        key = event.key()
        if key == Qt.Key.Key_Escape:
            self.shut(editor)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            if isinstance(editor, GpuPicker):
                editor.take_current()
            self.finish(editor)
        else:
            return False
        return True

    def finish(self, editor: QWidget) -> bool:
        """Send what was typed and close; False when it can't be meant, and then the editor stays."""
        known = self._rows.get(id(editor))
        if known is None:
            return True
        complaint = self.send(editor, known[1], known[2])
        if complaint is not None:
            self.complaint.tell(complaint, editor)
            return False
        self.shut(editor)
        return True

    def shut(self, editor: QWidget) -> None:
        """Close without sending."""
        if id(editor) in self._rows:
            self.closeEditor.emit(editor)


class InPlaceView(TableView):
    """A table that reads as text and is edited in place by F2, Enter or a click on a cell that takes an editor."""

    editing_ended = Signal()
    shown = Signal()

    def __init__(self, rows: EditableModel[Any], name: Words, delegate: Callable[[Any], InPlaceDelegate], main: int,
                 clicked: Sequence[int], *, narrow: Sequence[int] = (), parent: QWidget | None = None) -> None:  # fmt: skip
        self.rows, self._main, self._clickable = rows, main, frozenset(clicked)
        self.narrow_editors = frozenset(narrow)
        super().__init__(rows, name, parent=parent)
        self.editors = delegate(self)
        self.editors.clicked.connect(self._clicked)
        self._cells = self.editors
        self.setItemDelegate(self.editors)
        self.opened.connect(lambda _: self.edit_column(main))
        self._later: Callable[[], None] | None = None
        self.editing_ended.connect(self._show_waiting, Qt.ConnectionType.QueuedConnection)

    def row_of(self, place: int) -> Any:
        """The row that is shown at `place`."""
        return self.rows.row_at(place)

    def when_free(self, show: Callable[[], None]) -> None:
        """Show other rows; while something is being typed they wait."""
        self._later = show if self.editors.open_editors else None
        if self._later is None:
            show()

    def _show_waiting(self) -> None:
        later, self._later = self._later, None
        if later is not None:
            self.when_free(later)

    def edit_column(self, column: int) -> None:
        """Open the editor of the current row."""
        place = self.currentIndex().row()
        if self.row_of(place) is not None:
            index = self.rows.index(place, column)
            self.setCurrentIndex(index)
            self.edit(index)

    # -- a draft of what is typed (forms/typed_drafts.py) --------------------------------------------------------------------

    @property
    def dirty(self) -> bool:
        """Whether words stand in an editor that were typed."""
        return self.editors.typing is not None

    def words_now(self) -> tuple[str, ...]:
        """Row, column and words."""
        editor, row, column = self.editors.typing or (None, None, 0)
        return (str(self.rows.key_of(row)), str(column), editor.text()) if editor is not None else ()

    def put_words(self, words: Sequence[str]) -> bool:
        """Open the cell again with these words; the user enters them."""
        if len(words) != 3 or not self.isVisible() or self.editors.open_editors or not self.choose(words[0]):
            return False
        self.edit_column(int(words[1]))
        editor = next(iter(self.editors.open_editors), None)
        if isinstance(editor, QLineEdit):
            editor.setText(words[2])
        return True

    def showEvent(self, event: QShowEvent) -> None:
        """What waited for the table can be put back."""
        super().showEvent(event)
        self.shown.emit()

    @property
    def unfinished(self) -> bool:
        """Whether something stands in an editor that can't be kept; then it has the keyboard."""
        for editor in self.editors.open_editors:
            if not self.editors.finish(editor):
                editor.setFocus()
                return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F2 edits the cell, or the main column when the cell takes no editor."""
        if event.key() == Qt.Key.Key_F2:
            column = self.currentIndex().column()
            self.edit_column(column if column in self._clickable else self._main)
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click on a cell that takes an editor opens it."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and index.column() in self._clickable and self.row_of(index.row()) is not None:
            self.edit_column(index.column())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The first click has opened the editor already."""
