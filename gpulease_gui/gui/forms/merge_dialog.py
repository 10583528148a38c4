"""What would a bundle from another computer change here, before it is merged?"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.host_key_dialog import TickBox
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.exchange import LEFT_OUT
from gpulease_gui.store.exchange.merging import Difference, Merge

_MOST_SHOWN = 2000
_FACTS_HEIGHT = 190
_SECTIONS: Mapping[str, Text] = {
    "suppliers": Text("suppliers", "供应商"), "sites": Text("sites", "机房"), "offers": Text("offers", "报价"), "contracts": Text("contracts", "合同"),
    "nodes": Text("nodes", "节点"), "runs": Text("runs", "验收记录"), "outputs": Text("raw outputs", "原始输出"), "findings": Text("findings", "检查结果"),
    "marks": Text("notes", "备注"), "watch_events": Text("events of watched nodes", "监控事件"),
    "watch_gaps": Text("gaps beside them", "事件前后的缺口"), "pastes": Text("what suppliers sent", "供应商发来的输出"),
    "attachments": Text("attachments", "附件"), "claims": Text("promises", "承诺"), "terms": Text("commercial terms", "商务条款"),
    "prices": Text("prices", "价格"), "answers": Text("checklist answers", "清单答复"), "waivers": Text("waivers", "豁免"),
    "setups": Text("checklist settings", "清单设置"), "templates": Text("templates", "模板"), "weights": Text("weights", "权重"),
    "workloads": Text("workloads", "工作负载"), "mappings": Text("column mappings", "列映射"), "market": Text("public prices", "公开价格"),
    "rates": Text("exchange rates", "汇率"), "settings": Text("settings", "设置"), "thresholds": Text("moved figures", "已调整的阈值"),
    "task_runs": Text("runs of tasks", "任务运行"), "task_specs": Text("saved tasks", "已存任务"), "task_references": Text("reference runs of tasks", "任务基准"),
    "trash": Text("in the trash", "回收站"),
}  # fmt: skip
_EARLIER = ("term_versions", "price_versions", "claim_history", "earlier")
_OF_OTHERS = ("sightings", "paste_outputs", "paste_findings", "task_curves", "task_logs", *_EARLIER)


def facts_of(merge: Merge) -> list[tuple[Words, Words]]:
    """New and changed records by kind; the parts of a run that nobody asks for are left out, earlier states are one line."""
    counts, gone = merge.counts(), merge.removed()
    counts = {name: counts.get(name, (0, 0)) for name in (*counts, *gone)}
    facts: list[tuple[Words, Words]] = [
        (words, _counted(*counts[name], gone.get(name, 0))) for name, words in _SECTIONS.items() if name in counts
    ]
    facts += [(Text(name, name), _counted(*counts[name])) for name in counts if name not in _SECTIONS and name not in _OF_OTHERS]
    earlier = sum(counts[name][0] for name in _EARLIER if name in counts)
    return [*facts, *([(Text("earlier versions", "历史版本"), _counted(earlier, 0))] if earlier else [])]


def _counted(new: int, changed: int, removed: int = 0) -> Text:
    also_en, also_zh = (f", {removed} removed", f"，移除 {removed}") if removed else ("", "")
    return Text(f"{new} new, {changed} changed{also_en}", f"新增 {new}，变更 {changed}{also_zh}")


class MergeDialog(FactDialog):
    """How many records are new and which ones change; Merge writes them as one step, Cancel is safe."""

    def __init__(self, name: str, merge: Merge, *, parent: QWidget | None = None) -> None:
        super().__init__(
            Text("Merge a bundle", "合并数据包"), Text(f"Merge {name} into this workspace?", f"将 {name} 合并到当前工作区？"),
            icon="import", parent=parent, consequence=_consequence(merge),
        )  # fmt: skip
        self._merge = merge
        self.facts.hide()
        self.setMinimumSize(720, 420)
        self._add_facts(facts_of(merge))
        self._add_notes()
        self._add_table([*merge.kept, *(d for d in merge.differences if not d.new)][:_MOST_SHOWN])
        self.all_theirs = TickBox(Text("Take what the file says there, too", "这些记录也采用文件中的内容"))
        self.all_theirs.setVisible(bool(merge.kept))
        self.all_theirs.toggled.connect(self._settle)
        self.column.addWidget(self.all_theirs)
        self.add_button(Button(CANCEL), rejects=True, default=True)
        self.merge = self.add_button(Button(Text("Merge", "合并"), kind="primary"), accepts=True)
        self._settle()

    @property
    def chosen(self) -> Merge:
        """The merge as the user wants it."""
        return self._merge.taking_all if self.all_theirs.isChecked() else self._merge

    def _settle(self) -> None:
        self.merge.setEnabled(self.chosen.has_work)

    def _add_facts(self, facts: list[tuple[Words, Words]]) -> None:
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setAccessibleName(say(Text("Counts by kind", "各类数量")))
        pairs = KeyValues(facts, label_width=150)
        area.setWidget(pairs)
        area.setFixedHeight(min(_FACTS_HEIGHT, pairs.sizeHint().height() + 4))
        self.column.addWidget(area)

    def _add_notes(self) -> None:
        merge = self._merge
        if any(d.record.section.name == "runs" for d in merge.differences):
            self.column.addWidget(PlainLabel(_RUNS, level="2", wrap=True))
        if merge.bundle.unknown:
            left = ", ".join(merge.bundle.unknown[:5])
            self.column.addWidget(PlainLabel(Text(f"Left out, unknown to this version: {left}", f"此版本无法识别，未导入：{left}"), level="warn", wrap=True))
        if merge.kept:
            count = len(merge.kept)
            stay = "1 record that was changed here later than in the file stays." if count == 1 else f"{count} records that were changed here later than in the file stay."
            words = Text(stay, f"{count} 条记录在本机的修改晚于文件，保持不变。")
            self.column.addWidget(PlainLabel(words, level="warn", wrap=True))

    def _add_table(self, changed: list[Difference]) -> None:
        if changed:
            kept = {id(difference) for difference in self._merge.kept}
            self.model = TableModel[Difference](_columns(kept), lambda d: (d.record.section.name, d.record.key))
            table = TableView(self.model, Text("What changes", "变更内容"), many=True)
            table.setMinimumHeight(160)
            self.model.set_rows(changed)
            self.column.addWidget(table, 1)


_RUNS = Text(
    f"Runs are shown as imported: another computer measured them. Nothing is judged again. {LEFT_OUT.en}",
    f"验收记录将标明为导入：由另一台电脑实测，不会重新判定。{LEFT_OUT.zh}",
)


def _consequence(merge: Merge) -> Text:
    return Text(
        f"{merge.same} records are the same. Earlier values stay in the history; one Undo takes the changes back. Runs, earlier versions, rates and moved figures stay.",
        f"{merge.same} 条记录相同。原有值保留在沿革中；撤销一次即可还原变更；验收记录、历史版本、汇率与阈值调整会保留。",
    )


def _changes(difference: Difference) -> Words:
    if difference.removed_at:
        holder = ("holder_kind", "holder_id")
        return foreign("; ".join(f"{name}: {_shown(value)} → –" for name, value in difference.record.fields if name not in holder and value not in (None, "")))
    said = "; ".join(f"{name}: {_shown(was)} → {_shown(now)}" for name, was, now in difference.changed)
    if difference.back:
        return Text(f"out of the trash; {said}" if said else "out of the trash", f"移出回收站；{said}" if said else "移出回收站")
    return foreign(said)


def _shown(value: object) -> object:
    """Nothing is a dash, never a gap."""
    return "–" if value in (None, "") else value


def _fate(difference: Difference, kept: set[int]) -> Text:
    if id(difference) in kept:
        return Text("stays: removed here later", "不导入：本机已删除") if difference.new else Text("stays: changed here later", "保留：本机修改更晚")
    if difference.removed_at:
        return Text("both changed; removed there later", "双方都改过；对方后来移除") if difference.both else Text("removed there", "移除：对方已撤回")
    if difference.theirs is not None:
        return Text("both changed: joined", "双方都改过：合并两边")
    return Text("both changed; the file is later", "双方都改过；文件更晚") if difference.both else Text("changes", "变更")


def _columns(kept: set[int]) -> tuple[Column[Difference], ...]:
    return (
        Column[Difference](Text("What", "类别"), lambda d: Cell(_SECTIONS.get(d.record.section.name, foreign(d.record.section.name)), tone="2"), width=130),
        Column[Difference](Text("Record", "记录"), lambda d: Cell(foreign(" ".join(d.record.key)), code=True, tone="3", tip=foreign(" ".join(d.record.key))), width=140),
        Column[Difference](Text("What happens", "处理"), lambda d: Cell(_fate(d, kept), tip=_fate(d, kept)), width=170),
        Column[Difference](Text("Changes", "变更"), lambda d: Cell(_changes(d), tip=_changes(d)), stretch=True),
    )
