"""Which keys steer the live chart, and what do they do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent

from gpulease_gui.domain.text import Text

_K = Qt.Key


class Act(Enum):
    """What a key does to the chart, as the list of keys says it."""

    NEARER = Text("Zoom in", "放大")
    FARTHER = Text("Zoom out", "缩小")
    EARLIER = Text("Earlier", "更早")
    LATER = Text("Later", "更晚")
    PAUSE = Text("Pause, or go on", "暂停或继续")
    LIVE = Text("Back to live", "回到实时")
    CURSOR_BACK = Text("Cursor earlier", "游标左移")
    CURSOR_ON = Text("Cursor later", "游标右移")
    RANGE_FROM = Text("Range begins at the cursor", "以游标为区间起点")
    RANGE_TO = Text("Range ends at the cursor", "以游标为区间终点")
    ABOVE = Text("Lanes above", "上方的通道")
    BELOW = Text("Lanes below", "下方的通道")
    NONE_CHOSEN = Text("No range, then no cursor", "取消区间，再取消游标")


@dataclass(frozen=True, slots=True)
class ChartKey:
    """Keys that do the same, and how people read them."""

    act: Act
    shown: str
    keys: frozenset[Qt.Key]
    shift: bool = False


KEYS = (
    ChartKey(Act.NEARER, "W, +", frozenset([_K.Key_W, _K.Key_Plus, _K.Key_Equal])),
    ChartKey(Act.FARTHER, "S, \N{MINUS SIGN}", frozenset([_K.Key_S, _K.Key_Minus])),
    ChartKey(Act.EARLIER, "A, \N{LEFTWARDS ARROW}", frozenset([_K.Key_A, _K.Key_Left])),
    ChartKey(Act.LATER, "D, \N{RIGHTWARDS ARROW}", frozenset([_K.Key_D, _K.Key_Right])),
    ChartKey(Act.CURSOR_BACK, "Shift+\N{LEFTWARDS ARROW}", frozenset([_K.Key_Left]), shift=True),
    ChartKey(Act.CURSOR_ON, "Shift+\N{RIGHTWARDS ARROW}", frozenset([_K.Key_Right]), shift=True),
    ChartKey(Act.RANGE_FROM, "[", frozenset([_K.Key_BracketLeft])),
    ChartKey(Act.RANGE_TO, "]", frozenset([_K.Key_BracketRight])),
    ChartKey(Act.PAUSE, "Space", frozenset([_K.Key_Space])),
    ChartKey(Act.LIVE, "End", frozenset([_K.Key_End])),
    ChartKey(Act.ABOVE, "\N{UPWARDS ARROW}, PgUp", frozenset([_K.Key_Up, _K.Key_PageUp])),
    ChartKey(Act.BELOW, "\N{DOWNWARDS ARROW}, PgDn", frozenset([_K.Key_Down, _K.Key_PageDown])),
    ChartKey(Act.NONE_CHOSEN, "Esc", frozenset([_K.Key_Escape])),
)
_BY_KEY: Mapping[tuple[int, bool], Act] = {(int(key), one.shift): one.act for one in KEYS for key in one.keys}


def act_of(event: QKeyEvent) -> Act | None:
    """What a key asks of the chart; None for any other key. Shift counts with the arrows only: it makes some letters and signs."""
    if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
        return None
    key = int(event.key())
    arrow = key in (int(_K.Key_Left), int(_K.Key_Right))
    return _BY_KEY.get((key, arrow and bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)))
