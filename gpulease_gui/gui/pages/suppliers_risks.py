"""What should be asked or feared about the shown deal, and what does it really cost?"""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import FlagFinding, FlagSeverity, FlagState
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, KeyValues, Pane, Section, clear_layout
from gpulease_gui.services.commercial_words import NOT_STATED, plain
from gpulease_gui.services.deal_risks import DealRisks, choose_workload, risks_in


class RisksPane(Pane):
    """Cost for a chosen workload, then the red flags with their reasons. `picked` carries the id of a workload."""

    picked = Signal(str)

    def __init__(self) -> None:
        super().__init__(1)
        inside = Pane(1)
        self.cost = Section(Text("Effective cost", "有效成本"))
        self.workload = Chooser(Text("Workload", "负载"))
        self.workload.picked.connect(self.picked)
        self.pairs = KeyValues(label_width=84)
        self.assumed = PlainLabel("", size="caption", level="3", wrap=True)
        for part in (self.workload, self.pairs, self.assumed):
            self.cost.column.addWidget(part)
        self.flags = Section(Text("Red flags", "风险信号"), last=True)
        self._body = QVBoxLayout()
        self._body.setSpacing(6)
        self.flags.column.addLayout(self._body)
        inside.column.addWidget(self.flags)
        inside.column.addWidget(self.cost)
        inside.column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inside)
        self.column.addWidget(area)
        self._shown: DealRisks | None = None

    def show_risks(self, risks: DealRisks | None) -> None:
        """Show another deal's; None hides everything."""
        if risks == self._shown:
            return
        self._shown = risks
        if risks is None:
            return
        self._show_cost(risks)
        clear_layout(self._body)
        raised = sum(f.flagged.state is FlagState.RAISED for f in risks.flags)
        opened = len(risks.flags) - raised
        self.flags.note.set_words(Text(f"{raised} seen, {opened} to ask", f"已发现 {raised}，待询问 {opened}"))
        for found in risks.flags:
            self._body.addLayout(_flag_line(found))
        if not risks.flags:
            self._body.addWidget(PlainLabel(Text("None of the known traps is in this offer.", "未发现已知的陷阱。"), size="dense", level="2", wrap=True))

    def _show_cost(self, risks: DealRisks) -> None:
        self.workload.set_choices([(saved.id, saved.name) for saved in risks.workloads], risks.workload.id if risks.workload else "")
        self.workload.setVisible(bool(risks.workloads))
        cost = risks.cost
        self.assumed.set_words("")
        if cost is None:
            why = risks.trouble or Text("Save a workload first: then its cost is counted here.", "先保存一个负载，这里即可计算其成本。")
            self.pairs.set_pairs(((Text("Cost", "成本"), why),))
            return
        found = cost.cost
        self.pairs.set_pairs((
            (Text("For the workload", "该负载合计"), money_words(found.comparison_cost, found.currency)),
            (Text("Per useful GPU-hour", "每有效卡时"), money_words(found.effective_per_gpu_hour, found.currency)),
            (Text("Hidden", "隐性成本"), hidden_words(found.hidden_cost_pct)),
            (Text("Billed", "计费"), Text(f"{plain(found.billed_gpu_hours)} GPU-hours", f"{plain(found.billed_gpu_hours)} 卡时")),
        ))  # fmt: skip
        if cost.assumed:
            en, zh = "; ".join(words.en for words in cost.assumed), "；".join(words.zh for words in cost.assumed)
            self.assumed.set_words(Text(f"Taken for granted: {en}", f"按以下假定计算：{zh}"))


class RisksDesk(QObject):
    """Between the risks and the services. `counted` carries the DealRisks that are shown now."""

    counted = Signal(object)

    def __init__(self, frame: Frame, pane: RisksPane) -> None:
        super().__init__(pane)
        self._frame, self._pane = frame, pane
        self._subject: Subject | None = None
        pane.picked.connect(self._pick)

    def open_subject(self, subject: Subject) -> None:
        """Show the risks of an offer or contract."""
        self._subject = subject
        if subject.kind not in (HolderOf.OFFER, HolderOf.CONTRACT):
            return
        catalogue, day = self._frame.services.catalogue, utc_now().astimezone().date()
        future = self._frame.services.query(lambda connection: risks_in(connection, subject, catalogue, day))
        self._frame.bridge.when_done(future, lambda risks: self._take(subject, risks))

    def _take(self, subject: Subject, risks: DealRisks) -> None:
        if subject == self._subject:
            self._pane.show_risks(risks)
            self.counted.emit(risks)

    def _pick(self, workload: str) -> None:
        self._frame.services.change(choose_workload(workload), "workload")


def money_words(amount: Decimal | None, currency: str) -> Words:
    """An amount with its currency; where nothing useful ran there is none."""
    return NOT_STATED if amount is None else f"{currency}\N{NARROW NO-BREAK SPACE}{amount_text(amount)}"


def hidden_words(share: Decimal | None) -> Words:
    """How much more than the headline price is paid, in per cent."""
    return NOT_STATED if share is None else f"{share:f}\N{NARROW NO-BREAK SPACE}%"


def _flag_line(found: FlagFinding) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(8)
    raised = found.flagged.state is FlagState.RAISED
    serious = found.flag.severity is FlagSeverity.SERIOUS
    icon, token = ("verdict-warn", "fail" if serious else "warn") if raised else ("question", "inc")
    row.addWidget(Icon(icon, token, 14), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(0)
    state = Text("", "") if raised else Text(" · ask", " · 待询问")
    title = found.flag.title
    words.addWidget(PlainLabel(Text(f"{title.en}{state.en}", f"{title.zh}{state.zh}"), size="dense", weight=600 if raised else 400, wrap=True))
    words.addWidget(PlainLabel(found.flagged.reason, size="caption", level="2", wrap=True))
    row.addLayout(words, 1)
    return row
