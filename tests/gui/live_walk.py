"""Every word that a window shows, painted ones too, and which of its controls can be reached by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QPoint, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
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


def reached_by_tab(window: QWidget) -> list[QWidget]:
    """What Tab goes through, from the first control of the window once around."""
    chain: list[QWidget] = []
    next(one for one in window.findChildren(QWidget) if takes_tab(one)).setFocus(Qt.FocusReason.TabFocusReason)
    while (widget := QApplication.focusWidget()) is not None and widget not in chain:
        chain.append(widget)
        QTest.keyClick(widget, Qt.Key.Key_Tab)
    return chain


def takes_tab(widget: QWidget) -> bool:
    """Whether the keyboard can come to it."""
    takes = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
    return takes and widget.isVisible() and widget.isEnabled()


def in_reading_order(widgets: list[QWidget], window: QWidget) -> list[QWidget]:
    """Row by row from the top, each from the left; what overlaps in height is one row."""
    boxes = {widget: QRect(widget.mapTo(window, QPoint()), widget.size()) for widget in widgets}
    rows: list[list[QWidget]] = []
    for widget in sorted(widgets, key=lambda one: boxes[one].center().y()):
        if rows and boxes[rows[-1][0]].bottom() > boxes[widget].center().y():
            rows[-1].append(widget)
        else:
            rows.append([widget])
    return [widget for row in rows for widget in sorted(row, key=lambda one: boxes[one].left())]


def looks(widget: QWidget, window: QWidget) -> QImage:
    """The part of the window that a widget takes, with a frame around it."""
    return window.grab(QRect(widget.mapTo(window, QPoint()), widget.size()).adjusted(-2, -2, 2, 2)).toImage()


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
