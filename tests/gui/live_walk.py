"""Every word that a window shows, painted ones too, and which of its controls can be reached by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QMenu,
    QTableView,
    QWidget,
)

_TAGS = re.compile(r"<[^>]*>")
_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)


def painted(window: QWidget, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the window's own painters write when it is drawn anew."""
    found: list[str] = []
    draw = QPainter.drawText

    def listen(painter: QPainter, *told: object) -> object:
        found.extend(one for one in told if isinstance(one, str))
        return draw(painter, *told)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(QPainter, "drawText", listen)
        window.grab()
    return found


def told(window: QWidget) -> list[str]:
    """What visible widgets say: words, tips, names for assistive tools, entries of menus and lists."""
    found: list[str] = []
    for widget in [window, *window.findChildren(QWidget)]:
        if isinstance(widget, QMenu):
            found += [action.text() for action in widget.actions()]
        elif widget.isVisible():
            found += [_TAGS.sub("", widget.toolTip()), widget.accessibleName(), widget.accessibleDescription(), *_own(widget)]
    return [words for words in found if words]


def _own(widget: QWidget) -> Iterator[str]:
    if isinstance(widget, QAbstractButton | QLabel):
        yield widget.text()
    elif isinstance(widget, QLineEdit):
        yield from (widget.placeholderText(), widget.text())
    elif isinstance(widget, QComboBox):
        yield from (widget.itemText(place) for place in range(widget.count()))
    elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from _cells(widget.model())
        if isinstance(widget, QTableView):
            yield from (str(widget.model().headerData(place, Qt.Orientation.Horizontal) or "") for place in range(widget.model().columnCount()))


def _cells(model: QAbstractItemModel) -> Iterator[str]:
    for row in range(model.rowCount()):
        for column in range(model.columnCount() if isinstance(model, QAbstractTableModel) else 1):
            for role in _ROLES:
                yield _TAGS.sub("", str(model.index(row, column).data(role) or ""))
