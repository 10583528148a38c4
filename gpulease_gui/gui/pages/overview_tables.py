"""Which columns do the decisions and the contracts of the overview have?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpulease_gui.domain.finding import CheckState
from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOT_STATED, Cell, Column, action_cell, state_cell
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.pdf.paint import Promises
from gpulease_gui.services.overview import ContractLine, Decision, Kind, Standing

OPEN = "open"
_MARKS: Mapping[Kind, tuple[str, str]] = {
    Kind.BROKEN: ("verdict-fail", "fail"),
    Kind.HOST_KEY: ("state-changed", "fail"),
    Kind.UNKNOWN: ("verdict-inconclusive", "inc"),
    Kind.NEVER_VERIFIED: ("verdict-notrun", "t3"),
    Kind.NO_NODES: ("verdict-notrun", "t3"),
}
_ACTIONS: Mapping[Kind, Text] = {
    Kind.BROKEN: Text("Open finding", "查看结果"),
    Kind.HOST_KEY: Text("Compare keys…", "核对密钥…"),
    Kind.UNKNOWN: Text("Open finding", "查看结果"),
    Kind.NEVER_VERIFIED: Text("Verify…", "去验收…"),
    Kind.NO_NODES: Text("Add a node…", "添加节点…"),
}
PRICE_UNITS: Mapping[str, Text] = {
    "gpu_hour": Text("/ GPU-hour", "/ 卡时"),
    "node_hour": Text("/ node-hour", "/ 节点时"),
    "gpu_month": Text("/ GPU-month", "/ 卡月"),
    "node_month": Text("/ node-month", "/ 节点月"),
}
_NAMES = 3


def nodes_en(count: int) -> str:
    """Such as 1 node, 2 nodes."""
    return f"{count} node" if count == 1 else f"{count} nodes"


def decision_columns() -> tuple[Column[Decision], ...]:
    """What it is and where, whose contract, how much, and the way there."""
    return (
        Column(Text("What", "事项"), _what, width=300, stretch=True),
        Column(Text("Contract", "合同"), _whose, width=210, stretch=True),
        Column(Text("Weight", "程度"), lambda row: Cell(row.weight, tip=row.weight), width=190, number=True),
        Column(Text("Action", "操作"), lambda row: action_cell(_ACTIONS[row.kind], OPEN), width=116, number=True),
    )


def decision_words(row: Decision) -> str:
    """What the search looks in."""
    return " ".join([say(row.title), row.contract, row.supplier, *row.nodes])


def _what(row: Decision) -> Cell:
    icon, tone = _MARKS[row.kind]
    shown = ", ".join(row.nodes[:_NAMES])
    more = f" +{len(row.nodes) - _NAMES}" if len(row.nodes) > _NAMES else ""
    tip = Text(f"{row.title.en}: {', '.join(row.nodes)}", f"{row.title.zh}：{'、'.join(row.nodes)}")
    return Cell(row.title, weight=500, icon=icon, icon_tone=tone, note=f"{_short(shown)}{more}", tip=tip)


def _short(names: str) -> str:
    return names if len(names) <= 48 else f"{names[:47]}…"


def _whose(row: Decision) -> Cell:
    whole = " · ".join(part for part in (row.contract, row.supplier) if part)
    return Cell(whole or Text("no contract", "无合同"), tone="2", missing=not whole)


def contract_columns() -> tuple[Column[ContractLine], ...]:
    """Number and supplier, what was promised, how it stands."""
    return (
        Column(Text("Contract", "合同"), lambda row: Cell(row.contract.number, weight=500, action=OPEN, tone="1"),
               lambda row: row.contract.number, width=104),
        Column(Text("Supplier", "供应商"), lambda row: Cell(row.supplier, tone="2"), lambda row: row.supplier, width=112),
        Column(Text("GPUs", "GPU"), _gpus, lambda row: row.model or "", width=140),
        Column(Text("Days left", "剩余天数"), _days, lambda row: 1e9 if row.days_left is None else row.days_left,
               width=76, number=True),
        Column(Text("Promises", "承诺"), _promises, lambda row: -row.standing.broken, width=96,
               tip=Text("kept, broken, with a warning, unknown (hatched)", "兑现、违背、警告、未知（斜线）")),
        Column(Text("Price", "单价"), _price, width=86, number=True),
        Column(Text("Last run", "最近验收"), _last, lambda row: str(row.verdict or ""), width=96),
        Column(Text("Acceptance", "验收结论"), lambda row: Cell(row.sentence, tone="2", tip=row.sentence), width=160, stretch=True),
    )  # fmt: skip


def _gpus(row: ContractLine) -> Cell:
    if row.model is None:
        return NOT_STATED
    bare = row.model.removeprefix("NVIDIA ").removeprefix("Huawei ")
    many = f"{row.gpus_per_node} × {bare}" if row.gpus_per_node is not None else bare
    note = Text(f"{nodes_en(row.nodes)}", f"{row.nodes} 个节点")
    return Cell(many, tone="2", tip=Text(f"{many}, {note.en}", f"{many}，{note.zh}"))


def _days(row: ContractLine) -> Cell:
    if row.days_left is None:
        return NOT_STATED
    if row.days_left < 0:
        return Cell(Text("ended", "已到期"), tone="3")
    return Cell(str(row.days_left), tone="warn" if row.days_left <= 7 else "1")


def _promises(row: ContractLine) -> Cell:
    s = row.standing
    said = Text(f"{s.kept} kept, {s.broken} broken, {s.warned} with a warning, {s.unknown} unknown",
                f"兑现 {s.kept}，违背 {s.broken}，警告 {s.warned}，未知 {s.unknown}")  # fmt: skip
    if promises_of(s).total == 0:
        return NOT_STATED
    return Cell(said, promises=promises_of(s), tip=said)


def promises_of(standing: Standing) -> Promises:
    """The counts as the stacked bar takes them."""
    return Promises(standing.kept, standing.broken, standing.warned, standing.unknown)


def _price(row: ContractLine) -> Cell:
    price = row.contract.price
    if price is None:
        return NOT_STATED
    unit = PRICE_UNITS.get(row.contract.price_unit, Text(row.contract.price_unit, row.contract.price_unit))
    shown = f"{price.currency}\N{NARROW NO-BREAK SPACE}{amount_text(price.amount)}"
    return Cell(shown, tip=Text(f"{shown} {unit.en}", f"{shown} {unit.zh}"))


def _last(row: ContractLine) -> Cell:
    badge: Badge = badge_of(row.verdict if row.verdict is not None else CheckState.NOT_RUN)
    return state_cell(badge)


def verdict_counts(lines: Sequence[ContractLine]) -> int:
    """How many contracts have a verdict."""
    return sum(line.verdict is not None for line in lines)
