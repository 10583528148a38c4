"""What memory does the model need, on which GPUs does it fit, and which stored offers serve it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.catalog.scenarios import LlmModel, Scenario, Scenarios
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.memory_need import KvFormat, WeightFormat
from gpulease_gui.economics.sizing import Method, Setup
from gpulease_gui.economics.suitable import LinkKind, LinkNeed
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.forms.number_field import NumberField, whole_number
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.workloads_columns import product_columns, served_columns
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import Section, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.sizing_view import (
    LINK_WORDS,
    METHOD_WORDS,
    PartLine,
    ProductLine,
    ServedPlan,
    SizingView,
)
from gpulease_gui.services.workload_plan import ModelPlan

OWN = "own"
_WAIT_MS = 60
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
    """Use, model, method, sequence, batch. `typed` comes with each change, `edited` a moment after it."""

    edited = Signal()
    typed = Signal()

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
        self._plan: ModelPlan | None = None
        self._touched = False
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
            field.line.textEdited.connect(self._touch)
        self.method.picked.connect(self._follow_method)
        for chooser in self._choosers:
            chooser.picked.connect(self._picked)

    def _follow_method(self, method: str) -> None:
        """Training and serving are different uses; other uses than these two stay chosen."""
        if self.scenario.current in ("finetune", "inference"):
            self.scenario.choose("inference" if method == Method.INFERENCE else "finetune")

    def _put_usual(self) -> None:
        self.scenario.choose(next(iter(self._scenarios.scenarios)))
        self.weights.choose(str(next(iter(WeightFormat))))
        self.kv.choose(str(next(iter(KvFormat))))
        self.model.choose("llama3.1-8b")
        self.method.choose(Method.LORA)
        plain = Setup(self._scenarios.models["llama3.1-8b"], Method.LORA)
        for field, value in ((self.sequence, plain.sequence), (self.batch, plain.micro_batch), (self.sequences, 16), (self.tokens, 4096)):
            field.show_number(value)
        for name, field in self.own.items():
            field.show_number(getattr(plain.model, name))
        self._show_parts()

    def _picked(self) -> None:
        self._show_dimensions()
        self._show_parts()
        self._touch()

    def _show_dimensions(self) -> None:
        if self.model.current != OWN:
            for name, field in self.own.items():
                field.show_number(getattr(self._scenarios.models[self.model.current], name))

    def _touch(self) -> None:
        self._touched = True
        self._soon.start()
        self.typed.emit()

    # -- what is kept of it ------------------------------------------------------------------------------------------------

    def show_plan(self, plan: ModelPlan | None) -> None:
        """Show a plan that was kept; without one, or with a model or use that is not known here, the usual one."""
        self._plan, self._touched = plan, False
        self._put_usual()
        if plan is not None:
            self._put(plan)

    def _put(self, plan: ModelPlan) -> None:
        chosen = ((self.scenario, plan.scenario), (self.model, plan.model), (self.method, plan.method), (self.weights, plan.weights), (self.kv, plan.kv))
        for chooser, key in chosen:
            if key in chooser.keys:
                chooser.choose(key)
        for field, number in ((self.sequence, plan.sequence), (self.batch, plan.micro_batch), (self.sequences, plan.sequences), (self.tokens, plan.tokens)):
            field.show_number(number)
        self._show_dimensions()
        if self.model.current == OWN and len(plan.dimensions) == len(self.own):
            for field, number in zip(self.own.values(), plan.dimensions, strict=True):
                field.show_number(number)
        self._show_parts()

    def told(self) -> ModelPlan | None:
        """The plan to keep: as it was, unless somebody touched it. Raises Invalid."""
        if not self._touched:
            return self._plan
        own = tuple(field.whole() for field in self.own.values()) if self.model.current == OWN else ()
        self._model()
        return ModelPlan(
            self.scenario.current, self.model.current, self.method.current, self.weights.current, self.kv.current,
            self.sequence.whole(), self.batch.whole(), self.sequences.whole(), self.tokens.whole(), own,
        )  # fmt: skip

    @property
    def _choosers(self) -> tuple[Chooser, ...]:
        return (self.scenario, self.model, self.method, self.weights, self.kv)

    def words_now(self) -> str:
        """What stands in the fields, nothing while nobody touched them."""
        words = [c.current for c in self._choosers] + [field.line.text() for field in self._numbers]
        return "\t".join(words) if self._touched else ""

    def bring_back(self, words: str) -> None:
        """Put back what `words_now` gave; words of another shape are left."""
        said = words.split("\t")
        count = len(self._choosers)
        if len(said) != count + len(self._numbers):
            return
        for chooser, key in zip(self._choosers, said, strict=False):
            chooser.choose(key)
        for field, typed in zip(self._numbers, said[count:], strict=True):
            field.line.setText(typed)
        self._show_parts()
        self._touch()

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
    return whole_number(label, 1, most)


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
        self.products: TableModel[ProductLine] = TableModel(product_columns(), lambda line: line.gpu.id)
        self.product_table = TableView(self.products, Text("Products beside the plan", "各型号能否装下"), parent=self)
        self.served: TableModel[ServedPlan] = TableModel(served_columns(lambda: self.added_ids), lambda s: s.serving.row.id)
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
