"""What stands behind the offer and the cell that are current in a comparison?"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.flag import FlagFinding, FlagSeverity, FlagState
from gpulease_gui.gui.models.matrix import cell_tip
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.front_chart import FrontChart, FrontPoint
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.matrix_head import money_words, status_badge
from gpulease_gui.gui.widgets.panes import Icon, KeyValues, Pane, Section, clear_layout
from gpulease_gui.services.commercial_words import plain
from gpulease_gui.services.compare_page import CompareLook, HeadFigures
from gpulease_gui.services.compare_table import head_names
from gpulease_gui.services.comparison import CompareHead, CompareRow, Comparison
from gpulease_gui.services.price_period import PER_WORDS

_WIDTH = 292


class CompareInspector(Pane):
    """Chart of score and cost, then the offer with its red flags, then the cell. `opened` carries a head."""

    opened = Signal(object)

    def __init__(self) -> None:
        super().__init__(1)
        self.setFixedWidth(_WIDTH)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body = Pane(1)
        area.setWidget(body)
        self.column.addWidget(area)
        self.chart, self.front_words = FrontChart(), PlainLabel("", size="dense", level="2", wrap=True)
        self.name, self.lead = ElidedLabel("", weight=600), ElidedLabel("", size="caption", level="2")
        self.badge, self.figures = BadgeLabel(), KeyValues(label_width=84)
        self.open_button = Button(Text("Open the offer", "打开报价"), kind="link", small=True)
        self.flags = QVBoxLayout()
        self.flags.setSpacing(8)
        self.cell_label, self.cell_words = PlainLabel("", weight=500, wrap=True), PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self._head: CompareHead | None = None
        self.open_button.clicked.connect(lambda: self.opened.emit(self._head))
        self._fill(body)

    def _fill(self, body: Pane) -> None:
        self.front = Section(Text("Score against cost", "得分与成本"))
        self.front.column.addWidget(self.chart)
        self.front.column.addWidget(self.front_words)
        self.offer = Section(Text("Offer", "报价"))
        row = QHBoxLayout()
        row.addWidget(self.badge)
        row.addStretch()
        row.addWidget(self.open_button)
        for part in (self.name, self.lead):
            self.offer.column.addWidget(part)
        self.offer.column.addLayout(row)
        self.offer.column.addWidget(self.figures)
        self.flag_part = Section(Text("Red flags", "风险信号"))
        self.flag_part.column.addLayout(self.flags)
        self.cell_part = Section(Text("Cell", "单元格"), last=True)
        self.cell_part.column.addWidget(self.cell_label)
        self.cell_part.column.addWidget(self.cell_words)
        for section in (self.cell_part, self.offer, self.flag_part, self.front):
            body.column.addWidget(section)
        body.column.addStretch(1)

    def show_look(self, look: CompareLook) -> None:
        """Draw the front anew."""
        names = head_names(look.comparison)
        points = tuple(
            FrontPoint(number, names[head.name], float(head.score.score.score_low), float(head.cost.converted), head.name in look.front.names)
            for number, head in enumerate(look.comparison.heads, 1)
            if head.score.score.score_low is not None and head.cost is not None and head.cost.converted is not None
        )
        self.chart.show_points(points, look.comparison.currency)
        self.front_words.set_words(front_text(look))

    def show_offer(self, look: CompareLook, place: int, row: CompareRow | None) -> None:
        """Show the offer in column `place` (0 is the first offer) and its cell on `row`."""
        head = look.comparison.heads[place]
        if head is not self._head:
            self._head = head
            self.name.set_words(head.row.supplier)
            self.lead.set_words(look.titles[place])
            self.badge.set_state(status_badge(head.score.score.status))
            self.figures.set_pairs(_pairs(head, look.figures[place], look.comparison))
            self._show_flags(head.flags)
        self.cell_part.setVisible(row is not None)
        if row is not None:
            self.cell_label.set_words(row.label)
            self.cell_words.set_words(cell_tip(row.cells[place]))

    def _show_flags(self, flags: tuple[FlagFinding, ...]) -> None:
        clear_layout(self.flags)
        for found in flags:
            self.flags.addWidget(_flag_line(found))
        if not flags:
            self.flags.addWidget(PlainLabel(Text("none seen", "未发现"), size="dense", level="3"))
        raised = sum(found.flagged.state is FlagState.RAISED for found in flags)
        self.flag_part.note.set_words(Text(f"{raised} seen, {len(flags) - raised} to ask", f"{raised} 项，另 {len(flags) - raised} 项待询问"))


def _flag_line(found: FlagFinding) -> QWidget:
    """Mark, title, reason: an octagon for what costs, a triangle for what is notable, a question for what is open."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    is_open, serious = found.flagged.state is FlagState.OPEN, found.flag.severity is FlagSeverity.SERIOUS
    icon, token = ("verdict-inconclusive", "inc") if is_open else ("verdict-fail", "fail") if serious else ("verdict-warn", "warn")
    words = QVBoxLayout()
    words.setSpacing(1)
    words.addWidget(PlainLabel(found.flag.title, size="dense", weight=500, level="2" if is_open else "1"))
    words.addWidget(PlainLabel(found.flagged.reason, size="caption", level="2", wrap=True))
    row.addWidget(Icon(icon, token, 14), 0, Qt.AlignmentFlag.AlignTop)
    row.addLayout(words, 1)
    return made


def _per(money: str, comparison: Comparison) -> Text:
    unit = PER_WORDS[comparison.per]
    return Text(f"{money} / {unit.en}", f"{money} / {unit.zh}")


def _pairs(head: CompareHead, figures: HeadFigures, comparison: Comparison) -> list[tuple[Words, Words]]:
    found = head.score.score
    pairs: list[tuple[Words, Words]] = []
    if found.score_low is not None:
        pairs.append((Text("Score", "得分"), f"{found.score_low} – {found.score_high}"))
    if found.coverage is not None:
        pairs.append((Text("Coverage", "覆盖率"), f"{found.coverage * 100:.0f} %"))
    if found.failed_musts:
        pairs.append((Text("Failed musts", "未达标的必须项"), ", ".join(found.failed_musts)))
    if found.open_musts:
        count = len(found.open_musts)
        more = f" +{count - 6}" if count > 6 else ""
        pairs.append((Text("Open musts", "未答的必须项"), f"{count}: {', '.join(found.open_musts[:6])}{more}"))
    pairs.append((Text("Quoted", "标价"), _per(money_words(figures.quoted, comparison.currency), comparison)))
    if figures.effective is not None:
        pairs.append((Text("Effective", "有效成本"), _per(money_words(figures.effective, comparison.currency), comparison)))
    if head.cost is not None:
        own = head.cost.cost
        pairs.append((Text("Workload", "负载总成本"), f"{own.currency} {amount_text(own.comparison_cost)}"))
        pairs.append((Text("Billed", "计费"), Text(f"{plain(own.billed_gpu_hours)} GPU-hours", f"{plain(own.billed_gpu_hours)} 卡时")))
        if head.cost.assumed:
            pairs.append((Text("Assumed", "假定"), Text("; ".join(t.en for t in head.cost.assumed), "；".join(t.zh for t in head.cost.assumed))))
    if head.trouble:
        pairs.append((Text("Cost", "成本"), head.trouble))
    if head.market is not None:
        pairs.append((Text("Market", "公开价"), head.market.words))
        if head.market.sources:
            pairs.append((Text("Lists", "来源"), foreign("; ".join(head.market.sources))))
    return pairs


def front_text(look: CompareLook) -> Text:
    """Who is beaten by whom, in a sentence."""
    called = head_names(look.comparison)
    names = {head.name: f"{number} {called[head.name]}" for number, head in enumerate(look.comparison.heads, 1)}
    front = [names[name] for name in look.front.names]
    if not front:
        return Text("Choose a workload to see score against cost.", "选择负载后可查看得分与成本。")
    en, zh = f"Nothing beats {', '.join(front)} in both.", f"得分与成本均未被超越：{'、'.join(front)}。"
    for name, by in look.front.dominated.items():
        en += f"\n{names[by]} beats {names[name]}."
        zh += f"\n{names[by]} 优于 {names[name]}。"
    return Text(en, zh)
