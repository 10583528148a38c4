"""What does someone see who starts the program for the first time?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from gpulease_gui import __version__
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.first_run_chart import ExampleChart
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.models.cell import NOT_READABLE, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.theme import THEME_WORDS, ThemeMode
from gpulease_gui.gui.widgets.buttons import Button, ChoiceBlock, Segment
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon, Pane, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.paint import Ruler

_LANGUAGES = ((Language.ZH, "简体中文"), (Language.EN, "English"))


@dataclass(frozen=True, slots=True)
class Start:
    """What the user chose: the demo or an own workspace, in which folder."""

    demo: bool
    folder: Path


class FirstRun(QWidget):
    """One page: language, appearance, folder, two large buttons; at the right what the program is about.

    `started` carries a Start; `language_chosen` and `theme_chosen` take effect at once.
    """

    started = Signal(object)
    language_chosen = Signal(str)
    theme_chosen = Signal(str)
    open_wanted = Signal()

    def __init__(self, folder: Path, theme: ThemeMode, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._choices(folder, theme), 39)
        row.addWidget(hairline(vertical=True))
        row.addWidget(_Promise(), 61)

    def _choices(self, folder: Path, theme: ThemeMode) -> QWidget:
        pane = Pane(2)
        pane.column.setContentsMargins(88, 32, 56, 32)
        pane.column.addStretch(2)
        pane.column.addLayout(_brand())
        pane.column.addSpacing(40)
        pane.column.addLayout(self._looks(theme))
        pane.column.addSpacing(20)
        self._folder = QLineEdit(str(folder))
        pane.column.addLayout(self._place())
        pane.column.addSpacing(28)
        self.demo = ChoiceBlock(
            Text("Explore the demo", "体验演示"),
            Text("Suppliers and nodes that answer on this computer. Some of them lie.",
                 "若干供应商与节点，全部在本机应答，其中有的言过其实。"),
            icon="run", filled=True,
        )  # fmt: skip
        self.empty = ChoiceBlock(
            Text("Start empty", "从空白开始"),
            Text("Then write down an offer, or paste the ssh line of a node.", "然后录入一份报价，或粘贴节点的 ssh 命令。"),
            icon="add",
        )
        self.demo.clicked.connect(lambda: self._start(demo=True))
        self.empty.clicked.connect(lambda: self._start(demo=False))
        pane.column.addWidget(self.demo)
        pane.column.addSpacing(12)
        pane.column.addWidget(self.empty)
        pane.column.addSpacing(8)
        other = Button(Text("Open a workspace…", "打开工作区…"), icon="download", kind="link", small=True)
        other.clicked.connect(self.open_wanted)
        pane.column.addWidget(other, 0, Qt.AlignmentFlag.AlignLeft)
        pane.column.addStretch(3)
        pane.column.addWidget(PlainLabel(Text(f"Version {__version__}", f"版本 {__version__}"), size="caption", level="3"))
        return pane

    def show_choices(self, theme: ThemeMode) -> None:
        """Show what is in force now, also when it was chosen in the menu."""
        self.language.setCurrentIndex(self.language.findData(current_language().value))
        self.theme.choose(theme.value)

    def _looks(self, theme: ThemeMode) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.language = QComboBox()
        for language, name in _LANGUAGES:
            self.language.addItem(name, language.value)
        self.language.activated.connect(lambda place: self.language_chosen.emit(self.language.itemData(place)))
        self.language.setAccessibleName("Language · 语言")
        self.theme = Segment([(mode.value, words) for mode, words in THEME_WORDS.items()], current=theme.value)
        self.theme.chosen.connect(self.theme_chosen)
        self.show_choices(theme)
        row.addLayout(_field("Language · 语言", self.language), 1)
        row.addLayout(_field(Text("Appearance", "外观"), self.theme))
        return row

    def _place(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        change = Button(Text("Change…", "更改…"))
        change.clicked.connect(self._change_folder)
        row.addWidget(self._folder, 1)
        row.addWidget(change)
        label = PlainLabel(Text("Data folder", "数据文件夹"), size="dense", level="2")
        label.setBuddy(self._folder)
        self._folder.setAccessibleName("Data folder · 数据文件夹")
        column.addWidget(label)
        column.addLayout(row)
        column.addWidget(PlainLabel(
            Text("One file, on this computer. No account, nothing is sent anywhere but to your nodes.",
                 "只有一个文件，就在本机。无需账号，除您的节点外不与任何地方通信。"), size="caption", level="3", wrap=True))  # fmt: skip
        return column

    def _change_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, say(Text("Data folder", "数据文件夹")), self._folder.text())
        if chosen:
            self._folder.setText(chosen)

    def _start(self, *, demo: bool) -> None:
        self.started.emit(Start(demo, Path(self._folder.text()).expanduser()))


def _brand() -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(12)
    mark = QLabel()
    mark.setPixmap(icons.pixmap("app", "#000000", 42, 2.0))
    column = QVBoxLayout()
    column.setSpacing(0)
    column.addWidget(PlainLabel("GPULease", size="first_run", weight=600))
    column.addWidget(PlainLabel(Text("Know what you rent.", "租到什么，一测便知。"), level="2"))
    row.addWidget(mark)
    row.addLayout(column)
    row.addStretch()
    return row


def _field(label: Text | str, widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout()
    column.setSpacing(4)
    words = PlainLabel(label, size="dense", level="2")
    words.setBuddy(widget)
    column.addWidget(words)
    column.addWidget(widget)
    return column


@dataclass(frozen=True, slots=True)
class _Line:
    name: Text
    promised: str
    measured: Cell
    ruler: Ruler | None
    delta: str
    verdict: Verdict


def _bad(words: str) -> Cell:
    return Cell(words, tone="fail", weight=600)


_LINES = (
    _Line(Text("GPU form factor", "封装形态"), "SXM", _bad("PCIe"), None, "", Verdict.FAIL),
    _Line(Text("NVLink bandwidth, GB/s", "NVLink 带宽，GB/s"), "900", _bad("0"), Ruler(900, 0, "fail"), "−100\u2009%", Verdict.FAIL),
    _Line(Text("Network to peer, Gbit/s", "节点间网络，Gbit/s"), "100", _bad("23.9"), Ruler(100, 23.9, "fail", 0.1), "−76.1\u2009%",
          Verdict.FAIL),
    _Line(Text("Sequential read, GB/s", "顺序读，GB/s"), "12.0", Cell("11.6"), Ruler(12, 11.6, "t3", 0.1), "−3.3\u2009%", Verdict.PASS),
    _Line(Text("Uncorrected ECC errors", "不可纠正 ECC 错误"), "0", Cell("0"), None, "0", Verdict.PASS),
    _Line(Text("Kernel log, Xid", "内核日志 Xid"), "0", NOT_READABLE, None, "", Verdict.INCONCLUSIVE),
)  # fmt: skip


class _Promise(Lively, Pane):
    """The idea of the program as one table, three steps and three sentences."""

    def __init__(self) -> None:
        super().__init__(1)
        self.column.setContentsMargins(72, 56, 72, 32)
        self.column.addWidget(PlainLabel(Text("Promise and measurement, side by side", "承诺与实测，并排对照"), size="dense", level="3",
                                         weight=500))  # fmt: skip
        self.column.addSpacing(12)
        box = Pane(2)
        box.setProperty("box", "object")
        box.column.setContentsMargins(1, 1, 1, 1)
        box.column.addWidget(_sample_table())
        self.column.addWidget(box)
        self.column.addSpacing(16)
        chart = Pane(2)
        chart.setProperty("box", "object")
        chart.column.setContentsMargins(1, 1, 1, 1)
        chart.column.addWidget(ExampleChart())
        self.column.addWidget(chart)
        self.column.addSpacing(28)
        self.column.addLayout(_steps())
        self.column.addSpacing(20)
        self.column.addWidget(hairline())
        self.column.addSpacing(16)
        for icon, token, words in _RULES:
            row = QHBoxLayout()
            row.setSpacing(10)
            row.addWidget(Icon(icon, token, 16))
            row.addWidget(PlainLabel(words, level="2", wrap=True), 1)
            self.column.addLayout(row)
            self.column.addSpacing(8)
        self.column.addStretch(1)


_RULES = (
    ("verdict-inconclusive", "inc", Text("Missing is never a pass: what could not be read is inconclusive, with the next step.",
                                         "读不到绝不算通过：一律记为“无法判定”，并给出下一步。")),
    ("lock", "t3", Text("Host keys are compared with the contract; an unknown key always asks.",
                        "主机密钥与合同核对；遇到未知密钥必先询问。")),
    ("key", "t3", Text("Passwords are kept in memory only. Nothing stays behind on the node.",
                       "密码只留在内存中，节点上不留下任何东西。")),
)  # fmt: skip


def _sample_table() -> TableView:
    columns = [
        Column[_Line](Text("Check", "检查项"), lambda r: Cell(r.name), stretch=True),
        Column[_Line](Text("Promised", "承诺"), lambda r: Cell(r.promised, tone="2"), width=84, number=True),
        Column[_Line](Text("Measured", "实测"), lambda r: r.measured, width=104, number=True),
        Column[_Line](Text("Against promise", "对照承诺"), lambda r: Cell(ruler=r.ruler), width=128),
        Column[_Line](Text("Delta", "偏差"), lambda r: Cell(r.delta, tone="2"), width=76, number=True),
        Column[_Line](Text("Verdict", "判定"), lambda r: state_cell(badge_of(r.verdict)), width=128),
    ]
    model = TableModel(columns, lambda line: line.name.en)
    view = TableView(model, Text("Example", "示例"))
    view.setSelectionMode(TableView.SelectionMode.NoSelection)
    view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    view.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    model.set_rows(_LINES)
    heads = view.horizontalHeader().sizeHint().height()
    view.setFixedHeight(view.verticalHeader().defaultSectionSize() * len(_LINES) + heads)
    return view


def _steps() -> QHBoxLayout:
    steps = (
        ("nav-offers", Text("Write down the promise", "写下承诺"),
         Text("Offer, contract, chat: every term with its source and unit.", "报价、合同、聊天：每一条都记下出处与单位。")),
        ("nav-verify", Text("Ask the node", "问节点"),
         Text("Read-only over SSH. Heavy tests only after you confirm them by name.", "通过 SSH 只读检查；重负载测试须逐项确认。")),
        ("nav-reports", Text("Settle it on paper", "落到纸面"),
         Text("Verdicts with raw evidence and hashes, as a PDF in Chinese or English.", "判定附原始证据与哈希，导出中文或英文 PDF。")),
    )  # fmt: skip
    row = QHBoxLayout()
    row.setSpacing(28)
    for icon, headline, sentence in steps:
        column = QVBoxLayout()
        column.setSpacing(4)
        column.addWidget(Icon(icon, "accent", 20))
        column.addSpacing(4)
        column.addWidget(PlainLabel(headline, weight=600))
        column.addWidget(PlainLabel(sentence, level="2", wrap=True))
        column.addStretch()
        row.addLayout(column, 1)
    return row
