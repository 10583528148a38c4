"""How do all components look in both themes?

    python packaging/gallery.py OUT_FOLDER

Writes gallery-{light,dark}-{en,zh}.png and one with larger text; offscreen, no window opens.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.models.cell import NOT_STATED, NOTHING, Cell, Column, Group, action_cell, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.workloads_what_if import TurnSlider
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.bands import Band, RiskSegment, UnsavedBand
from gpulease_gui.gui.widgets.buttons import Button, ChoiceBlock, IconButton, Segment, Switch
from gpulease_gui.gui.widgets.chart_lines import Chart, ChartLine
from gpulease_gui.gui.widgets.fields import Field, UnitEdit, padded
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.line_chart import LineChart
from gpulease_gui.gui.widgets.panes import EmptyState, KeyFigure, KeyValues, Pane, TabRow, hairline
from gpulease_gui.gui.widgets.raw import RawOutput
from gpulease_gui.gui.widgets.ruler import PromiseBar, RulerBar
from gpulease_gui.gui.widgets.search import FilterBar, SearchBox
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.gui.widgets.task_strip import TaskStrip
from gpulease_gui.gui.widgets.tile_spec import Rank, Tile, TileFigure
from gpulease_gui.gui.widgets.tiles import TileView
from gpulease_gui.pdf.badges import ItemState, State, badge_of
from gpulease_gui.pdf.fonts import load_fonts
from gpulease_gui.pdf.paint import Promises, Ruler
from gpulease_gui.services.events import JobChanged, NodeState

STATES: list[State] = [
    *Verdict, CheckState.NOT_RUN, CheckState.RUNNING, CheckState.ERROR, ItemState.WAIVED,
]  # fmt: skip
RULERS = [
    ("within tolerance", Ruler(12.0, 11.4, "t3", 0.1)),
    ("better", Ruler(400, 470, "t3", 0.1)),
    ("warning", Ruler(700, 672, "warn", 0.05)),
    ("fail", Ruler(100, 24.6, "fail", 0.1)),
    ("ceiling broken", Ruler(10, 10.4, "fail", 0.05, less_is_better=True)),
    ("nothing came", Ruler(900, 0, "fail")),
    ("running", Ruler(100, 24.9, "run", 0.1)),
]


@dataclass(frozen=True, slots=True)
class Sample:
    """One row of the sample table."""

    name: str
    promised: Cell
    measured: Cell
    ruler: Cell
    delta: str
    state: State
    tag: str = ""


def samples() -> list[Sample]:
    def number(text: str, token: str = "1") -> Cell:
        return Cell(text, tone=token, weight=600 if token != "1" else 400)

    return [
        Sample("Row, 28 px", Cell("12.0", tone="2"), number("11.4"), Cell(ruler=RULERS[0][1]), "−5.0\u2009%", Verdict.PASS),
        Sample("Hover", Cell("700", tone="2"), number("672", "warn"), Cell(ruler=RULERS[2][1]), "−4.0\u2009%", Verdict.WARN,
               "reported"),
        Sample("Selected", Cell("100", tone="2"), number("24.6", "fail"), Cell(ruler=RULERS[3][1]), "−75.4\u2009%", Verdict.FAIL),
        Sample("Missing", NOT_STATED, NOTHING, Cell(), "", CheckState.NOT_RUN),
        Sample("Kernel log <b>bold</b>", Cell("0", tone="2"), Cell("–"), Cell(), "", Verdict.INCONCLUSIVE),
    ]  # fmt: skip


def table() -> TableView:
    columns = [
        Column[Sample](Text("Check", "检查项"), lambda r: Cell(r.name, tag=r.tag), lambda r: r.name, stretch=True),
        Column[Sample](Text("Promised", "承诺"), lambda r: r.promised, width=90, number=True),
        Column[Sample](Text("Measured", "实测"), lambda r: r.measured, width=90, number=True),
        Column[Sample](Text("Against promise", "对照承诺"), lambda r: r.ruler, width=110),
        Column[Sample](Text("Delta", "偏差"), lambda r: Cell(r.delta, tone="2"), width=76, number=True),
        Column[Sample](Text("Verdict", "判定"), lambda r: state_cell(badge_of(r.state)), width=112),
        Column[Sample]("", lambda r: action_cell(Text("Ask…", "询问…"), "ask"), width=70, number=True),
    ]
    model = TableModel(columns, lambda r: r.name, group=lambda r: Group("g", Text("Group row, 26 px", "分组行"), "5"),
                       tally=lambda r: badge_of(r.state))  # fmt: skip
    view = TableView(model, "sample")
    model.set_rows(samples())
    view.choose("Selected")
    view.setFixedHeight(28 * 7 + 6)
    return view


def tiles() -> TileView:
    """One node of each state, over the same half hour."""
    line = tuple(None if place in (31, 32, 33) else 0.55 + 0.35 * math.sin(place / 4) for place in range(60))
    figures = (
        TileFigure(Text("Util.", "利用率"), "97", "%"), TileFigure(Text("Power", "功耗"), "350", "W", "fail", Ruler(700, 350, "fail", 0.03)),
        TileFigure(Text("Hottest", "最高温"), "63", "°C"), TileFigure(Text("Network", "网络"), "–", "Gbit/s", "t3"),
    )  # fmt: skip
    strip = tuple("" if share is None else "fail" if place > 44 else "kept" for place, share in enumerate(line))
    made = [
        Tile("1", "node-07", "Haiqiong", Rank.BROKEN, Text("Under the contract, GPU 3, 5 min 0 s", "低于合同，GPU 3，5 分 0 秒"), figures, line, 0.9, strip),
        Tile("2", "node-08", "Haiqiong", Rank.LOST, Text("2 min 14 s: connection lost", "2 分 14 秒：连接中断"), figures[3:], line[:40] + (None,) * 20),
        Tile("3", "node-09", "Beiming", Rank.WARNED, Text("Too hot, GPU 0, 40 s", "过热，GPU 0，40 秒"), figures[:3], line, None, strip[:44]),
        Tile("4", "node-10", "Beiming", Rank.CONNECTING, Text("connecting", "正在连接")),
        Tile("5", "node-11", "Beiming", Rank.FINE, Text("no rule broken", "未违反规则"), figures[2:], line, None, ("kept",) * 60),
        Tile("6", "node-12", "", Rank.UNWATCHED, Text("not watched", "未监控")),
    ]  # fmt: skip
    view = TileView()
    view.nodes.set_tiles(made)
    view.setCurrentIndex(view.nodes.index(4))
    view.setFixedHeight(view.fonts.height + 34)
    return view


def row(*widgets: QWidget | int, margins: tuple[int, int, int, int] = (16, 6, 16, 6)) -> QWidget:
    made = QWidget()
    line = QHBoxLayout(made)
    line.setContentsMargins(*margins)
    line.setSpacing(8)
    for widget in widgets:
        line.addSpacing(widget) if isinstance(widget, int) else line.addWidget(widget)
    line.addStretch()
    return made


def labelled(words: str, widget: QWidget) -> QWidget:
    made = QWidget()
    column = QVBoxLayout(made)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(3)
    column.addWidget(PlainLabel(words, size="dense", level="2"))
    column.addWidget(widget)
    return made


def field(text: str) -> QLineEdit:
    made = QLineEdit(text)
    made.setFixedWidth(112)
    return made


def inputs() -> QWidget:
    read_only = field("8")
    read_only.setReadOnly(True)
    combo = QComboBox()
    combo.addItems(["Gbit/s", "GB/s"])
    check, radio, switch = QCheckBox("check"), QRadioButton("radio"), Switch("only differences")
    for box in (check, radio, switch):
        box.setChecked(True)
    unit = labelled("Unit", combo)
    spin = labelled("Count", padded(QSpinBox()))
    wrong = Field("Error", UnitEdit("100G"))
    wrong.set_error("Gbit/s or GB/s?")
    return row(Field("Bandwidth", UnitEdit("100", "Gbit/s")), wrong,
               labelled("Read-only", read_only), unit, spin, check, QCheckBox("off"), radio, QRadioButton("other"), switch)  # fmt: skip


def gallery() -> QWidget:
    page = Pane(2)
    grid = page.column
    for filled in (False, True):
        grid.addWidget(row(*[BadgeLabel(state, filled=filled) for state in STATES]))
    grid.addWidget(row(*[BadgeLabel(state, filled=False) for state in NodeState]))
    grid.addWidget(hairline())
    disabled = Button("Disabled", icon="edit")
    disabled.setEnabled(False)
    focused = Button("Focus")
    grid.addWidget(row(Button("Verify", icon="run", kind="primary"), Button("Export…"), focused, Button("Quiet", kind="quiet"),
                       Button("Cancel now", kind="danger"), Button("Run heavy", kind="danger_filled"), disabled,
                       IconButton("refresh", "Refresh", outlined=True), Button("Open a workspace…", kind="link"),
                       Button("Small", small=True), Segment([("a", "1 min"), ("b", "5 min"), ("c", "30 min")], current="b"),
                       SearchBox(keys="Ctrl K")))  # fmt: skip
    grid.addWidget(hairline())
    grid.addWidget(inputs())
    grid.addWidget(hairline())
    rulers = QWidget()
    inner = QGridLayout(rulers)
    inner.setContentsMargins(16, 6, 16, 6)
    for place, (words, ruler) in enumerate(RULERS):
        inner.addWidget(RulerBar(ruler, words), 0, place)
        inner.addWidget(PlainLabel(words, size="caption", level="2"), 1, place)
    inner.addWidget(PromiseBar(Promises(8, 3, 1, 4, 1)), 0, len(RULERS))
    grid.addWidget(rulers)
    chips = FilterBar([("all", Text("All", "全部")), ("fail", Text("Fail", "不符")), ("inc", Text("Inconclusive", "无法判定"))])
    chips.set_count("all", 46)
    chips.set_count("fail", 9)
    chips.add_tool(IconButton("filter", "Filter"))
    chips.add_tool(IconButton("columns", "Columns"))
    grid.addWidget(hairline())
    grid.addWidget(chips)
    grid.addWidget(table())
    band = QFrame()
    band.setObjectName("targetBand")
    line = QHBoxLayout(band)
    line.setContentsMargins(16, 4, 16, 4)
    for widget in (PlainLabel("Target", size="dense", level="3"), BadgeLabel(NodeState.CONNECTED, filled=False),
                   PlainLabel("node-07", size="dense", weight=600), PlainLabel("203.0.113.17:34446", size="dense", code=True, level="2")):  # fmt: skip
        line.addWidget(widget)
    line.addStretch()
    line.addWidget(RiskSegment(Impact.ACTIVE))
    grid.addWidget(band)
    grid.addWidget(Band("fail", "Line to node-09 lost", "retry in 8 s, attempt 4", Button("Retry now", small=True)))
    grid.addWidget(Band("inc", "Demo data", "recorded nodes on this computer", Button("Start my own workspace", kind="link", small=True)))
    unsaved = UnsavedBand()
    unsaved.tell("1 change", "bandwidth between nodes 25 → 100 Gbit/s")
    grid.addWidget(unsaved)
    grid.addWidget(Band("accent", "4 selected", "3 unknown, 1 not run", Button("Waive…", small=True)))
    grid.addWidget(tiles())
    grid.addWidget(foot())
    strip = TaskStrip()
    strip.job_changed(JobChanged("1", "Verify node-07", 38, 45))
    strip.say_note("Saved 15:46:11")
    grid.addWidget(strip)
    return page


def foot() -> QWidget:
    made = QWidget()
    line = QHBoxLayout(made)
    line.setContentsMargins(16, 8, 16, 8)
    line.setSpacing(12)
    object_box = QFrame()
    object_box.setProperty("box", "object")
    column = QVBoxLayout(object_box)
    column.addWidget(PlainLabel("Run fio on node-07?", size="headline", weight=600))
    column.addWidget(KeyValues([("Writes", "64 GB in /data/.gl-scratch, removed after"), ("Takes", "90 s, ends by 15:47")]))
    column.addWidget(row(Button("Cancel"), Button("Run fio on node-07", kind="danger_filled"), margins=(0, 0, 0, 0)))
    raw = RawOutput()
    raw.show_bytes(b'<gpu id="00000000:18:00.0">\n  <product_name>NVIDIA H100 PCIe</product_name>\n  \x1b[31m<b>x</b>\n  <pci>\n')
    raw.mark_lines([("NVIDIA H100 PCIe", "fail_bg")])
    tabs = TabRow([Text("Evidence", "证据"), Text("Command", "命令"), Text("Rule", "规则")])
    progress = QProgressBar()
    progress.setValue(60)
    progress.setTextVisible(False)
    middle = QWidget()
    stack = QVBoxLayout(middle)
    for widget in (tabs, raw, progress, ChoiceBlock("Explore the demo", "Suppliers and nodes that answer on this computer. One of them lies.",
                                                    icon="run", filled=True)):  # fmt: skip
        stack.addWidget(widget)
    empty = EmptyState("nav-nodes", Text("No nodes yet", "还没有节点"), Text("Paste the ssh line that the supplier sent.", "粘贴供应商发来的 ssh 命令。"),
                       primary=Button("Add node", kind="primary"), secondary=Button("Open the demo"))  # fmt: skip
    line.addWidget(object_box, 2)
    line.addWidget(middle, 3)
    line.addWidget(empty, 2)
    line.addWidget(KeyFigure("Open promises broken", "9", "on 1 contract", level="fail"))
    line.addWidget(meeting(), 3)
    return made


def meeting() -> QWidget:
    made = QWidget()
    column = QVBoxLayout(made)
    slider, chart = TurnSlider(Text("Hours a day", "每日小时"), 24, lambda n: Text(f"{n} h", f"{n} 小时")), LineChart()
    slider.put(9)
    lines = (ChartLine("by the hour", (0.0, 24_000.0, 48_000.0)), ChartLine("by the month", (30_000.0, 30_000.0, 30_000.0)))
    chart.set_chart(Chart((0.0, 365.0, 730.0), lines, Text("h a month", "小时/月"), "CNY", "sample", 456.0, "456 h", 200.0))
    column.addWidget(slider)
    column.addWidget(chart)
    return made


def main(argv: list[str]) -> int:
    folder = Path(argv[0])
    folder.mkdir(parents=True, exist_ok=True)
    app = QApplication([])
    load_fonts()
    translations = Translations(app)
    theme = Theme(app, folder / "images", ThemeMode.LIGHT)
    page = gallery()
    page.resize(1440, 1150)
    page.show()
    for language in Language:
        translations.switch(language)
        for mode in (ThemeMode.LIGHT, ThemeMode.DARK):
            theme.choose(mode)
            for _ in range(3):
                app.processEvents()
            shot = page.grab()
            painter = QPainter(shot)
            painter.drawText(QPoint(4, 12), mode.value)
            painter.end()
            shot.save(str(folder / f"gallery-{mode.value}-{language.value}.png"))
    theme.enlarge(4)
    for _ in range(3):
        app.processEvents()
    page.grab().save(str(folder / "gallery-dark-zh-larger.png"))
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    page.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
