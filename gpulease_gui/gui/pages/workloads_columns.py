"""Which columns do the products and the stored offers have beside the plan of a model?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.sizing import FitVerdict
from gpulease_gui.economics.suitable import Standing
from gpulease_gui.gui.models.cell import NOT_STATED, Cell, Column, action_cell, state_cell
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.services.sizing_view import FIT_WORDS, LINK_WORDS, STANDING_WORDS, ProductLine, ServedPlan
from gpulease_gui.services.workload_desk import offer_name

ADD = "add"
_BADGES = {
    FitVerdict.FITS: Badge("verdict-pass", "pass", FIT_WORDS[FitVerdict.FITS]),
    FitVerdict.TIGHT: Badge("verdict-warn", "warn", FIT_WORDS[FitVerdict.TIGHT]),
    FitVerdict.DOES_NOT_FIT: Badge("verdict-fail", "fail", FIT_WORDS[FitVerdict.DOES_NOT_FIT]),
}


def product_columns() -> tuple[Column[ProductLine], ...]:
    """A product beside the plan."""
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
    return replace(state_cell(badge, Text(f"{badge.word.en} {percent}", f"{badge.word.zh} {percent}")), tip=_free(line.fit.free_kv_tokens))


def _free(tokens: int | None) -> Words:
    """What is left for the cache of a card that is 90 % full; less than nothing is not a number of tokens."""
    if tokens is None:
        return ""
    if tokens < 0:
        return Text("The weights alone do not fit in 90 % of the memory.", "仅权重就超出显存的 90%。")
    return Text(f"Room for {tokens:,} live tokens at 90 % of the memory", f"显存用到 90% 时可容纳 {tokens:,} 个在用 token")


def _link(line: ProductLine) -> Cell:
    words = LINK_WORDS[line.link.kind]
    rate = f" {line.link.one_way_gb_s:g} GB/s" if line.link.one_way_gb_s else ""
    return Cell(Text(words.en + rate, words.zh + rate), tone="2")


def served_columns(added: Callable[[], frozenset[str]]) -> tuple[Column[ServedPlan], ...]:
    """A stored offer that serves the plan; `added` tells those that are priced already."""

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
