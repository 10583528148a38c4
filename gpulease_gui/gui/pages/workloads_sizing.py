"""What memory does the model need, on which GPUs does it fit, and which stored offers serve it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.catalog.scenarios import LlmModel, Scenario, Scenarios
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.memory_need import KvFormat, WeightFormat
from gpulease_gui.economics.sizing import FitVerdict, Method, Setup
from gpulease_gui.economics.suitable import LinkKind, LinkNeed, Standing
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.models.cell import NOT_STATED, Cell, Column, action_cell, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.workloads_form import Bounds, NumberField
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import Section, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.services.sizing_view import (
    FIT_WORDS,
    LINK_WORDS,
    METHOD_WORDS,
    STANDING_WORDS,
    PartLine,
    ProductLine,
    ServedPlan,
    SizingView,
)
from gpulease_gui.services.workload_desk import offer_name

OWN, ADD = "own", "add"
_WAIT_MS = 60
_BADGES = {
    FitVerdict.FITS: Badge("verdict-pass", "pass", FIT_WORDS[FitVerdict.FITS]),
    FitVerdict.TIGHT: Badge("verdict-warn", "warn", FIT_WORDS[FitVerdict.TIGHT]),
    FitVerdict.DOES_NOT_FIT: Badge("verdict-fail", "fail", FIT_WORDS[FitVerdict.DOES_NOT_FIT]),
}
_DIMENSIONS: tuple[tuple[str, Text, int], ...] = (
    ("params", Text("Parameters", "参数量"), 10**14), ("layers", Text("Layers", "层数"), 10_000), ("hidden", Text("Hidden width", "隐藏维度"), 10**6),
    ("ffn", Text("FFN width", "FFN 维度"), 10**7), ("heads", Text("Heads", "注意力头数"), 10_000), ("kv_heads", Text("KV heads", "KV 头数"), 10_000),
    ("head_dim", Text("Head dimension", "头维度"), 10_000), ("vocab", Text("Vocabulary", "词表"), 10**8),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sized, and for which use."""

    setup: Setup
    scenario: Scenario


class SizingForm(Section):
    """Use, model, method, sequence, batch. `edited` comes a moment after each change."""

    edited = Signal()

    def __init__(self, scenarios: Scenarios, parent: QWidget) -> None:
        super().__init__(Text("Model", "模型"), Text("LLMs by their dimensions", "大模型按结构参数估算"), parent=parent)
        self._scenarios = scenarios
        self.scenario = Chooser(Text("Use", "场景"), [(s.id, s.title) for s in scenarios.scenarios.values()])
        models = [(m.id, foreign(f"{m.id} · {m.params / 1e9:.1f}B")) for m in scenarios.models.values()]
        self.model = Chooser(Text("Model", "模型"), [*models, (OWN, Text("own dimensions…", "自定义结构…"))])
        self.method = Chooser(Text("Method", "方法"), [(str(m), words) for m, words in METHOD_WORDS.items()])
        self.weights = Chooser(Text("Weights", "权重格式"), [(str(w), foreign(w.upper())) for w in WeightFormat])
        self.kv = Chooser(Text("Cache", "缓存格式"), [(str(k), foreign(k.upper())) for k in KvFormat])
        self.sequence, self.batch = _whole(Text("Sequence, tokens", "序列长度"), 10**8), _whole(Text("Micro batch", "微批大小"), 10**6)
        self.sequences = _whole(Text("Sequences at once", "并发序列数"), 10**6)
        self.tokens = _whole(Text("Tokens each", "每序列 token"), 10**8)
        self.own = {name: _whole(label, most) for name, label, most in _DIMENSIONS}
        self._own_pane, self._training, self._serving = QWidget(), QWidget(), QWidget()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._told)
        self._arrange()
        self._connect()
        self._put_usual()

    def _arrange(self) -> None:
        words = {"scenario": Text("Use", "场景"), "model": Text("Model", "模型"), "method": Text("Method", "方法")}
        self.column.addLayout(_beside([Field(words[name], getattr(self, name)) for name in words]))
        self._own_pane.setLayout(_beside(list(self.own.values()), wide=4))
        self._training.setLayout(_beside([self.sequence, self.batch]))
        formats = [Field(Text("Weights", "权重格式"), self.weights), Field(Text("Cache", "缓存格式"), self.kv)]
        self._serving.setLayout(_beside([*formats, self.sequences, self.tokens], wide=4))
        for pane in (self._own_pane, self._training, self._serving):
            self.column.addWidget(pane)

    @property
    def _numbers(self) -> tuple[NumberField, ...]:
        return (self.sequence, self.batch, self.sequences, self.tokens, *self.own.values())

    def _connect(self) -> None:
        for field in self._numbers:
            field.line.textEdited.connect(self._soon.start)
        self.method.picked.connect(self._follow_method)
        for chooser in (self.scenario, self.model, self.method, self.weights, self.kv):
            chooser.picked.connect(self._picked)

    def _follow_method(self, method: str) -> None:
        """Training and serving are different uses; other uses than these two stay chosen."""
        if self.scenario.current in ("finetune", "inference"):
            self.scenario.choose("inference" if method == Method.INFERENCE else "finetune")

    def _put_usual(self) -> None:
        self.model.choose("llama3.1-8b")
        self.method.choose(Method.LORA)
        plain = Setup(self._scenarios.models["llama3.1-8b"], Method.LORA)
        for field, value in ((self.sequence, plain.sequence), (self.batch, plain.micro_batch), (self.sequences, 16), (self.tokens, 4096)):
            field.show_number(value)
        for name, field in self.own.items():
            field.show_number(getattr(plain.model, name))
        self._show_parts()

    def _picked(self) -> None:
        if self.model.current != OWN:
            for name, field in self.own.items():
                field.show_number(getattr(self._scenarios.models[self.model.current], name))
        self._show_parts()
        self._soon.start()

    def _show_parts(self) -> None:
        inference = self.method.current == Method.INFERENCE
        self._own_pane.setVisible(self.model.current == OWN)
        self._training.setVisible(not inference)
        self._serving.setVisible(inference)

    def _told(self) -> None:
        for field in self._numbers:
            field.complain("")
        try:
            self.plan(1)
        except Invalid as wrong:
            wrong.field.complain(wrong.words)
            return
        self.edited.emit()

    def plan(self, gpus: int) -> Plan:
        """What is sized on so many GPUs. Raises Invalid."""
        setup = Setup(
            self._model(), Method(self.method.current), gpus, WeightFormat(self.weights.current), KvFormat(self.kv.current),
            self.sequence.whole(), self.batch.whole(), self.sequences.whole(), self.tokens.whole(),
        )  # fmt: skip
        return Plan(setup, self._scenarios.scenarios[self.scenario.current])

    def _model(self) -> LlmModel:
        if self.model.current != OWN:
            return self._scenarios.models[self.model.current]
        params, layers, hidden, ffn, heads, kv_heads, head_dim, vocab = (field.whole() for field in self.own.values())
        made = LlmModel(OWN, params, layers, hidden, ffn, heads, kv_heads, head_dim, vocab)
        if made.linear > made.params:
            least = f"{made.linear:,}"
            raise Invalid(self.own["params"], Text(f"The layers alone have {least}", f"仅各层矩阵就有 {least}"))
        return made


def _whole(label: Text, most: int) -> NumberField:
    return NumberField(label, Bounds(Decimal(1), Decimal(most), whole=True))


def _beside(fields: Sequence[QWidget], wide: int = 3) -> QGridLayout:
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(6)
    for place, field in enumerate(fields):
        grid.addWidget(field, place // wide, place % wide)
        grid.setColumnStretch(place % wide, 1)
    return grid


class _PartRow(QWidget):
    """A part with its size, and below it the formula, its source and how far it may be off."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 2)
        column.setSpacing(0)
        self.label, self.gb = PlainLabel("", size="dense"), PlainLabel("", size="dense", weight=500)
        self.formula, self.error = PlainLabel("", size="caption", level="2", code=True), ElidedLabel("", size="caption", level="3")
        self.source = ElidedLabel("", size="caption", level="3")
        for first, second in ((self.label, self.gb), (self.formula, self.error)):
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(first)
            if second is self.gb:
                row.addStretch()
            row.addWidget(second, 0 if second is self.gb else 1)
            column.addLayout(row)
        column.addWidget(self.source)

    def show_part(self, part: PartLine) -> None:
        """Show another part."""
        self.label.set_words(part.label)
        self.gb.set_words(f"{part.gb:,f} GB")
        self.formula.set_words(part.formula)
        self.error.set_words(Text(f"error: {part.error.en}", f"误差：{part.error.zh}"))
        self.source.set_words(Text(f"source: {part.source or 'by experience'}", f"来源：{part.source or '经验'}"))


class SizingPane(QWidget):
    """The form, the parts, the products, the offers. `edited` asks for other figures, `added` carries an offer to price."""

    edited = Signal()
    added = Signal(str)

    def __init__(self, scenarios: Scenarios, parent: QWidget) -> None:
        super().__init__(parent)
        self.form = SizingForm(scenarios, self)
        self.form.edited.connect(self.edited)
        self.need = Section(Text("Memory needed", "所需显存"), parent=self)
        self._rows: list[_PartRow] = []
        self.products: TableModel[ProductLine] = TableModel(_product_columns(), lambda line: line.gpu.id)
        self.product_table = TableView(self.products, Text("Products beside the plan", "各型号能否装下"), parent=self)
        self.served: TableModel[ServedPlan] = TableModel(_served_columns(lambda: self.added_ids), lambda s: s.serving.row.id)
        self.served_table = TableView(self.served, Text("Stored offers that serve it", "可满足的已存报价"), parent=self)
        self.served_note = PlainLabel("", size="dense", level="2", wrap=True)
        self.gpus = 1
        self.added_ids: frozenset[str] = frozenset()
        self.matters = PlainLabel("", size="dense", level="2", wrap=True)
        self._arrange()

    def _arrange(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for label in (self.matters, self.served_note):
            label.setContentsMargins(16, 8, 16, 8)
        self.product_table.setFixedHeight(228)
        self.served_table.setFixedHeight(200)
        which, serving = HeadLine(Text("Which GPUs, and how many", "哪些 GPU、需要几张")), HeadLine(Text("Stored offers that serve it", "可满足的已存报价"))
        for part in (self.form, self.need, which, hairline(), self.product_table, self.matters, hairline(), serving, hairline(),
                     self.served_table, self.served_note):  # fmt: skip
            column.addWidget(part)
        column.addStretch()
        self.served_table.acted.connect(lambda plan, _: self.added.emit(plan.serving.row.id))
        self.served_table.opened.connect(lambda plan: self.added.emit(plan.serving.row.id))

    def show_view(self, view: SizingView, served: Sequence[ServedPlan], *, priced: frozenset[str]) -> None:
        """Show other figures; `priced` are the ids of the offers whose cost is shown beside."""
        self.added_ids = priced
        self.gpus = view.setup.gpu_count
        each = f"{view.per_gpu_gb:,f} GB"
        on_one = self.gpus == 1
        en = f"{each} on one GPU" if on_one else f"{each} on each of {self.gpus} GPUs"
        self.need.note.set_words(Text(en, f"单卡 {each}" if on_one else f"{self.gpus} 卡，每卡 {each}"))
        while len(self._rows) < len(view.parts):
            self._rows.append(_PartRow())
            self.need.column.addWidget(self._rows[-1])
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(view.parts))
            if number < len(view.parts):
                row.show_part(view.parts[number])
        self.products.name_column(2, Text(f"At {self.gpus}", f"{self.gpus} 卡时"))
        self.products.set_rows(view.products)
        best = next((line for line in view.products if line.fewest), None)
        self.matters.set_words(_matters(best))
        self.served.set_rows(served)
        self.served_table.setVisible(bool(served))
        self.served_note.set_words(Text(
            "priced for as many cards as the plan needs" if served else "None of the stored offers names a product that holds the plan.",
            "按方案所需卡数计价" if served else "已存报价中没有能装下此方案的型号。",
        ))  # fmt: skip


def _matters(best: ProductLine | None) -> Text:
    if best is None:
        return Text("No product of the catalogue holds it on 64 cards.", "目录中没有型号能在 64 张卡内装下。")
    if best.link.kind is LinkKind.NONE:
        return Text(f"On one {best.gpu.name} no link between cards matters.", f"单张 {best.gpu.name} 即可，无需卡间互联。")
    words, rate = LINK_WORDS[best.link.kind], _rate(best.link)
    floor = best.link.step_floor_ms
    en = f"On {best.fewest} x {best.gpu.name} the link that matters: {words.en}{rate}"
    zh = f"{best.fewest} × {best.gpu.name}，关键互联：{words.zh}{rate}"
    if floor is not None:
        return Text(f"{en}; a step takes at least {floor:,} ms for its traffic", f"{zh}；每步通信至少 {floor:,} ms")
    return Text(en, zh)


def _rate(link: LinkNeed) -> str:
    return f", {link.one_way_gb_s:g} GB/s" if link.one_way_gb_s else ""


def _product_columns() -> tuple[Column[ProductLine], ...]:
    return (
        Column(Text("Product", "型号"), lambda p: Cell(p.gpu.name, weight=500), lambda p: p.gpu.name, 150, stretch=True),
        Column(Text("For this use", "对此场景"), _standing, lambda p: list(Standing).index(p.standing), 98),
        Column(Text("At 1", "1 卡时"), _verdict, _ratio, 118),
        Column(Text("Fewest", "最少"), lambda p: Cell(str(p.fewest)) if p.fewest else Cell("–", tone="3"), lambda p: p.fewest or 999, 56, number=True),
        Column(Text("Link", "互联"), _link, lambda p: str(p.link.kind), 134),
    )  # fmt: skip


def _standing(line: ProductLine) -> Cell:
    loud = line.standing is Standing.UNFIT
    return Cell(STANDING_WORDS[line.standing], tone="warn" if loud else "1" if line.standing is Standing.RECOMMENDED else "2")


def _ratio(line: ProductLine) -> float:
    return float(line.fit.ratio) if line.fit else 1e9


def _verdict(line: ProductLine) -> Cell:
    if line.fit is None:
        return Cell(Text("no such format", "不支持此格式"), tone="3")
    badge = _BADGES[line.fit.verdict]
    percent = f"{float(line.fit.ratio) * 100:,.0f}\N{THIN SPACE}%"
    assert isinstance(badge.word, Text)
    return state_cell(badge, Text(f"{badge.word.en} {percent}", f"{badge.word.zh} {percent}"))


def _link(line: ProductLine) -> Cell:
    words = LINK_WORDS[line.link.kind]
    rate = f" {line.link.one_way_gb_s:g} GB/s" if line.link.one_way_gb_s else ""
    return Cell(Text(words.en + rate, words.zh + rate), tone="2")


def _served_columns(added: Callable[[], frozenset[str]]) -> tuple[Column[ServedPlan], ...]:
    def act(plan: ServedPlan) -> Cell:
        if plan.serving.row.id in added():
            return Cell(Text("priced", "已计价"), tone="3")
        return action_cell(Text("Price it", "计价"), ADD)

    return (
        Column(Text("Offer", "报价"), lambda s: Cell(offer_name(s.serving.row), weight=500), lambda s: offer_name(s.serving.row), 120, stretch=True),
        Column(Text("Cards", "卡"), _cards, lambda s: s.serving.choice.gpu_count, 128),
        Column(Text("Enough", "数量"), _enough, width=84),
        Column(Text("Effective/h", "有效/时"), _served_price, lambda s: float(s.priced.effective or 10**9), 92, number=True),
        Column("", act, width=74, number=True),
    )  # fmt: skip


def _cards(plan: ServedPlan) -> Cell:
    choice = plan.serving.choice
    return Cell(f"{choice.gpu_count} x {choice.gpu.family}", tone="2", tip=choice.gpu.name)


def _enough(plan: ServedPlan) -> Cell:
    if plan.serving.enough is None:
        return NOT_STATED
    return Cell(Text("enough", "足够")) if plan.serving.enough else Cell(Text("too few", "不足"), tone="warn", weight=500)


def _served_price(plan: ServedPlan) -> Cell:
    return NOT_STATED if plan.priced.effective is None else Cell(f"{plan.priced.effective:,f}")
