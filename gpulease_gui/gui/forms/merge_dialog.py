"""What would a bundle from another computer change here, before it is merged?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.store.exchange.merging import Difference, Merge

_MOST_SHOWN = 2000
_SECTIONS: dict[str, Text] = {
    "suppliers": Text("suppliers", "供应商"), "sites": Text("sites", "机房"), "offers": Text("offers", "报价"), "contracts": Text("contracts", "合同"),
    "attachments": Text("attachments", "附件"), "claims": Text("promises", "承诺"), "terms": Text("commercial terms", "商务条款"),
    "prices": Text("prices", "价格"), "answers": Text("checklist answers", "清单答复"), "waivers": Text("waivers", "豁免"),
    "setups": Text("checklist settings", "清单设置"), "templates": Text("templates", "模板"), "weights": Text("weights", "权重"),
    "workloads": Text("workloads", "工作负载"), "mappings": Text("column mappings", "列映射"), "market": Text("public prices", "公开价格"),
    "rates": Text("exchange rates", "汇率"),
}  # fmt: skip


class MergeDialog(FactDialog):
    """How many records are new and which ones change; Merge writes them as one step, Cancel is safe."""

    def __init__(self, name: str, merge: Merge, *, parent: QWidget | None = None) -> None:
        facts: Sequence[tuple[Words, Words]] = [
            (_SECTIONS[section], Text(f"{new} new, {changed} changed", f"新增 {new}，变更 {changed}")) for section, (new, changed) in merge.counts().items()
        ]
        super().__init__(
            Text("Merge a bundle", "合并数据包"), Text(f"Merge {name} into this workspace?", f"将 {name} 合并到当前工作区？"), facts,
            icon="import", parent=parent,
            consequence=Text(f"{merge.same} records are the same. Earlier values stay in the history; one Undo takes all of it back.",
                             f"{merge.same} 条记录相同。原有值保留在沿革中；撤销一次即可全部还原。"),
        )  # fmt: skip
        self.setMinimumSize(680, 420)
        changed = [d for d in merge.differences if not d.new][:_MOST_SHOWN]
        if merge.bundle.unknown:
            left = ", ".join(merge.bundle.unknown[:5])
            self.column.addWidget(PlainLabel(Text(f"Left out, unknown to this version: {left}", f"此版本无法识别，未导入：{left}"), level="warn", wrap=True))
        if changed:
            self.model = TableModel[Difference](_COLUMNS, lambda d: (d.record.section.name, d.record.key))
            table = TableView(self.model, Text("What changes", "变更内容"), many=True)
            table.setMinimumHeight(200)
            self.model.set_rows(changed)
            self.column.addWidget(table, 1)
        self.add_button(Button(CANCEL), rejects=True, default=True)
        self.merge = self.add_button(Button(Text("Merge", "合并"), kind="primary"), accepts=True)
        self.merge.setEnabled(bool(merge.differences))


def _changes(difference: Difference) -> Words:
    return foreign("; ".join(f"{name}: {was} → {now}" for name, was, now in difference.changed))


_COLUMNS = (
    Column[Difference](Text("What", "类别"), lambda d: Cell(_SECTIONS[d.record.section.name], tone="2"), width=140),
    Column[Difference](Text("Record", "记录"), lambda d: Cell(foreign(" ".join(d.record.key)), code=True, tone="3"), width=180),
    Column[Difference](Text("Changes", "变更"), lambda d: Cell(_changes(d), tip=_changes(d)), stretch=True),
)  # fmt: skip
