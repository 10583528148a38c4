"""With which controls is the live chart steered?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPaintEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QWidget,
)

from gpulease_gui.domain.node import Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.buttons import Button, IconButton, Segment
from gpulease_gui.gui.widgets.chart_spec import Mode
from gpulease_gui.gui.widgets.fitted import FittedBand
from gpulease_gui.gui.widgets.labels import PlainLabel, Words, plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import hairline
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.events import NodeState

WINDOWS_S: Mapping[str, float] = {"1": 60.0, "5": 300.0, "30": 1800.0, "2h": 7200.0, "24h": 86_400.0, "7d": 604_800.0,
                                  "30d": 2_592_000.0}  # fmt: skip
_WINDOW_WORDS = [
    ("1", Text("1 min", "1 分")), ("5", Text("5 min", "5 分")), ("30", Text("30 min", "30 分")),
    ("2h", Text("2 h", "2 时")), ("24h", Text("24 h", "24 时")), ("7d", Text("7 d", "7 天")),
    ("30d", Text("30 d", "30 天")),
]  # fmt: skip
ALL_NODES = Text("All nodes", "全部节点")
NODE = Text("Node to watch", "要监控的节点")
WINDOW = Text("Time in sight", "可见时长")
PAUSE, RESUME, BACK = Text("Pause", "暂停"), Text("Resume", "继续"), Text("Back to live", "回到实时")


class NodeBox(Lively, QComboBox):
    """The nodes with the mark of their connection; foreign names are plain text. `picked` carries the id of a node."""

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._nodes: tuple[LiveNode, ...] = ()
        self._states: Mapping[str, NodeState] = {}
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setIconSize(icons.icon_size(14))
        self.activated.connect(lambda place: self.picked.emit(self._nodes[place].node.id))
        self.retranslate()

    def show_nodes(self, nodes: Sequence[LiveNode], states: Mapping[str, NodeState], current: str) -> None:
        """Offer these nodes."""
        with QSignalBlocker(self):
            if tuple(nodes) != self._nodes:
                self._nodes = tuple(nodes)
                self.clear()
                self.addItems([say(one.node.name) for one in nodes])
            self._states = dict(states)
            ids = [one.node.id for one in nodes]
            self.setCurrentIndex(ids.index(current) if current in ids else -1)
            self.setToolTip(plain_tip(self.currentText()))
        self.retheme()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A long name ends in …; Qt would cut it in the middle of a letter."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        style = self.style()
        field = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self)
        room = field.width() - option.iconSize.width() - 8
        option.currentText = self.fontMetrics().elidedText(option.currentText, Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def retheme(self) -> None:
        """Tint the marks."""
        for place, one in enumerate(self._nodes):
            badge = badge_of(self._states.get(one.node.id, NodeState.NEVER_SEEN))
            self.setItemIcon(place, icons.icon(badge.icon, colours(), badge.token, 14))

    def retranslate(self) -> None:
        """The accessible name."""
        self.setAccessibleName(say(NODE))


class SpanBox(Lively, QComboBox):
    """The windows of time in a list, where there is no room for them side by side. `chosen` carries the key."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._key = "5"
        self._other: Words = ""
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.activated.connect(lambda place: self.chosen.emit(_WINDOW_WORDS[place][0]))
        self.retranslate()

    def show_key(self, key: str, other: Words) -> None:
        """Which of them is in sight; none of them ("") is told by `other`."""
        self._key, self._other = key, other
        with QSignalBlocker(self):
            self.setPlaceholderText(say(other))
            self.setCurrentIndex(next((place for place, (one, _) in enumerate(_WINDOW_WORDS) if one == key), -1))

    def retranslate(self) -> None:
        """The entries and the name."""
        self.setAccessibleName(say(WINDOW))
        self.setToolTip(plain_tip(WINDOW))
        with QSignalBlocker(self):
            self.clear()
            self.addItems([say(words) for _, words in _WINDOW_WORDS])
        self.show_key(self._key, self._other)


class LiveBar(FittedBand):
    """40 px over the chart: node, pause, window, mode, coverage, lanes.

    `windowed` carries seconds, `moded` a Mode, `toggled` (id of a lane, whether it is shown).
    """

    windowed = Signal(float)
    moded = Signal(object)
    toggled = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("filterBar")
        self.setMinimumHeight(40)
        self.all_nodes, self.nodes = IconButton("nav-overview", ALL_NODES), NodeBox()
        self.pause = Button(PAUSE, icon="pause")
        self.pause.setCheckable(True)
        self.span, self.span_box = Segment(_WINDOW_WORDS, current="5"), SpanBox()
        self.mode = Segment([(Mode.SPREAD.value, Text("Spread", "包络")), (Mode.ALL.value, Text("All lines", "全部曲线"))], current=Mode.SPREAD.value)
        self._range, self._samples = PlainLabel(level="2", size="dense"), PlainLabel(level="2", size="dense")
        self._sampled: tuple[Words, ...] = ("",)
        self._samples_told = "", False
        self._lanes = IconButton("columns", Text("Lanes", "通道"))
        self._menu = QMenu(self)
        self._known: tuple[tuple[str, Text], ...] = ()
        self._said, self._charted = PAUSE, True
        self.export, self.more = IconButton("export", Text("Export", "导出")), IconButton("more", Text("More", "更多"))
        self.export_menu, self.more_menu = QMenu(self), QMenu(self)
        for button, menu in ((self._lanes, self._menu), (self.export, self.export_menu), (self.more, self.more_menu)):
            button.setMenu(menu)
            button.setPopupMode(IconButton.ToolButtonPopupMode.InstantPopup)
        self._lay_out()
        for choice in (self.span, self.span_box):
            choice.chosen.connect(lambda key: self.windowed.emit(WINDOWS_S[key]))
        self.mode.chosen.connect(lambda key: self.moded.emit(Mode(key)))

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 5, 16, 5)
        row.setSpacing(8)
        line = hairline(vertical=True)
        line.setFixedHeight(16)
        for part in (self.all_nodes, self.nodes, self.pause, self.span, self.span_box, self._range, line, self.mode):
            row.addWidget(part)
        self.span_box.hide()
        self._line = line
        row.addStretch(1)
        for part in (self._samples, self._lanes, self.export, self.more):
            row.addWidget(part)

    def show_paused(self, *, paused: bool, able: bool = True, away: bool = False) -> None:
        """The button says what it does next; `away`: the chart was moved into the past."""
        self.pause.setChecked(paused)
        self.pause.setEnabled(able)
        said = PAUSE if not paused else BACK if away else RESUME
        if said is not self._said:
            self._said = said
            self.pause.set_words(said, icon="run" if paused else "pause")

    def show_chart(self, *, shown: bool) -> None:
        """Without a chart there is nothing to steer or export: what does so is not there."""
        if shown != self._charted:
            self._charted = shown
            for part in (self.pause, self._line, self.mode, self._samples, self._lanes, self.export):
                part.setVisible(shown)
            self.fit()

    def show_range(self, words: Words) -> None:
        """Which stretch is in sight."""
        if say(words) != self._range.text():
            self._range.set_words(words)
            self.fit()

    def minimumSizeHint(self) -> QSize:
        """It fits itself into the window, and not the window to itself."""
        return QSize(320, super().minimumSizeHint().height())

    def fit(self) -> None:
        """What gives way first: the range, which the axis tells too; then words; then the windows become a menu."""
        always: tuple[QWidget, ...] = (self.all_nodes, self.nodes, self.pause, self._line, self.mode, self._lanes, self.export, self.more)
        need = sum(part.sizeHint().width() + 8 for part in always) + 32
        span, box, range_px = (part.sizeHint().width() + 8 for part in (self.span, self.span_box, self._range))
        widths = [self._samples.fontMetrics().horizontalAdvance(say(words)) + 12 for words in self._sampled]
        whole, short, room = widths[0], widths[-1], self.width() - need
        self._range.setVisible(self._charted and span + range_px + whole <= room)
        self.span.setVisible(self._charted and span + short <= room)
        self.span_box.setVisible(self._charted and span + short > room)
        beside = span if span + short <= room else box
        said = next((words for words, width in zip(self._sampled, widths, strict=True) if beside + width <= room), self._sampled[-1])
        self._samples.set_words(said)
        self._samples.setToolTip("" if said is self._sampled[0] else plain_tip(self._sampled[0]))

    def show_samples(self, words: Words, *, low: bool, shorter: Sequence[Words] = ()) -> None:
        """How many of the expected samples there are; `shorter` and shorter where there is little room."""
        if (say(words), low) != self._samples_told:
            self._samples_told = say(words), low
            self._sampled = (words, *shorter)
            self._samples.set_level("warn" if low else "2")
            self.fit()

    def show_lanes(self, known: Sequence[tuple[str, Text]], hidden: set[str]) -> None:
        """Offer the lanes with data to be shown or put away."""
        if tuple(known) == self._known:
            return
        self._known = tuple(known)
        self._menu.clear()
        for id_, title in known:
            action = QAction(say(title).replace("&", "&&"), self._menu)
            action.setCheckable(True)
            action.setChecked(id_ not in hidden)
            action.toggled.connect(lambda on, id_=id_: self.toggled.emit(id_, on))
            self._menu.addAction(action)

    def show_window(self, window_s: float) -> None:
        """Check the button of the window that is in sight, to a hundredth of it; none of a window that has no button."""
        key = next((key for key, seconds in WINDOWS_S.items() if abs(seconds - window_s) <= 0.01 * seconds), "")
        if not key:
            self.span.choose_none()
        elif key != self.span.current:
            self.span.choose(key)
        self.span_box.show_key(key, window_words(window_s))

    def retranslate(self) -> None:
        """The menu is made anew."""
        self._known = ()
        self._samples_told = "", False
        self.fit()


def window_words(window_s: float) -> Text:
    """A length of time that has no button, such as 45 s or 3.5 h."""
    for size, en, zh in ((86_400.0, "d", "天"), (3600.0, "h", "时"), (60.0, "min", "分")):
        if window_s >= 1.5 * size:
            said = number_text(round(window_s / size, 1))
            return Text(f"{said} {en}", f"{said} {zh}")
    return Text(f"{round(window_s)} s", f"{round(window_s)} 秒")


def this_computer_is_there(nodes: Sequence[LiveNode]) -> bool:
    """Whether there is a record of this computer."""
    return any(one.node.reach is Reach.LOCAL for one in nodes)
