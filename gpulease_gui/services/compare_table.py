"""How is a comparison written as plain lines, for the clipboard, a CSV file, a spreadsheet, JSON?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.domain.claim import CLAIM_WORDS, ClaimState
from gpulease_gui.domain.text import Language, Text, visible
from gpulease_gui.economics.flag import FlagState
from gpulease_gui.economics.scoring import Status
from gpulease_gui.services.commercial_words import rate_text
from gpulease_gui.services.comparison import Cell, CellState, CompareHead, CompareRow, Comparison

STATUS_WORDS = {
    Status.QUALIFIED: Text("qualified", "合格"), Status.WAIVED: Text("qualified with waivers", "合格（含豁免）"),
    Status.BLOCKED: Text("answers missing", "待补证"), Status.REJECTED: Text("rejected", "否决"),
}  # fmt: skip
_NO_RATE = Text("no rate", "无汇率")
_MEASURED = Text("measured", "实测")


def lines_of(
    comparison: Comparison, language: Language, *, differences_only: bool = False, grouped: bool = True
) -> tuple[tuple[str, ...], ...]:
    """The matrix as lines of words: heads first, then a line a row under its group; every cell says something."""
    lines = [*head_lines(comparison, language)]
    for group in comparison.groups:
        rows = comparison.rows_of(group.key, differences_only=differences_only)
        if rows:
            lines.append((group.title.say(language), *("" for _ in comparison.heads)))
            lines += [_line(row, language) if grouped else _plain_line(row, language) for row in rows]
    return tuple(lines)


def head_lines(comparison: Comparison, language: Language) -> Iterable[tuple[str, ...]]:
    """What stands over the rows: supplier, offer, conclusion, score, flags, market, weights, rates."""
    heads = comparison.heads
    yield Text("Supplier", "供应商").say(language), *(visible(head.row.supplier) for head in heads)
    yield Text("Offer", "报价").say(language), *(visible(f"{head.row.number} {head.row.title}".strip()) for head in heads)
    yield Text("Conclusion", "结论").say(language), *(STATUS_WORDS[head.score.score.status].say(language) for head in heads)
    yield Text("Score, low to high", "得分区间").say(language), *(_score(head) for head in heads)
    yield Text("Red flags", "风险信号").say(language), *(_flags(head, language) for head in heads)
    yield Text("Among list prices", "公开价区间").say(language), *(_market(head, language) for head in heads)
    if len(heads) > 1:
        yield Text("Weights", "权重").say(language), *(stability_text(comparison).say(language) for _ in heads)
    if comparison.rates:
        said = Text("; ", "；").say(language).join(rate_text(rate).say(language) for rate in comparison.rates)
        yield Text("Rates", "汇率").say(language), *(said for _ in heads)


def _market(head: CompareHead, language: Language) -> str:
    return "–" if head.market is None else head.market.words.say(language)


def head_names(comparison: Comparison) -> Mapping[str, str]:
    """How people call each column, in one line, by `CompareHead.name`: its supplier, and where one has several, its number or title too."""
    suppliers = Counter(head.row.supplier for head in comparison.heads)
    found = {head.name: _one_line(head, alone=bool(head.row.supplier) and suppliers[head.row.supplier] == 1) for head in comparison.heads}
    twice = Counter(found.values())
    places = {head.name: place for place, head in enumerate(comparison.heads, 1)}
    return {name: words if twice[words] == 1 else f"{words} ({places[name]})" for name, words in found.items()}


def _one_line(head: CompareHead, *, alone: bool) -> str:
    row = head.row
    said = (row.supplier,) if alone else (row.supplier, row.number or row.title)
    return " ".join(visible(" ".join(said)).split())


def stability_text(comparison: Comparison) -> Text:
    """Whether the leader stays ahead when one weight moves by a fifth, and if not, which move makes whom lead."""
    found = comparison.sensitivity
    if found is None or not found.base.order:
        return Text("fewer than two offers have a score", "有得分的报价不足两个")
    names = head_names(comparison)
    leader = names[found.base.order[0]]
    if len(found.base.tied) > 1:
        score, who = found.base.scores[found.base.order[0]], [names[name] for name in found.base.tied]
        return Text(f"None leads: {', '.join(who)} have the same lowest score ({score})", f"没有领先者：{'、'.join(who)} 的最低得分相同（{score}）")
    if found.stable:
        return Text(f"Any weight moved by ±20 %: {leader} stays first", f"任一权重变动 ±20 %：{leader} 仍居首")
    move = next(move for move in found.moves if move.leader_changes)
    title, other = DIMENSIONS[move.dimension], names[move.standing.order[0]]
    how = f"× {move.factor}"
    return Text(f"{leader} is first; with the weight of {title.en.lower()} {how} {other} leads",
                f"{leader} 居首；若“{title.zh}”权重 {how}，{other} 领先")  # fmt: skip


def _score(head: CompareHead) -> str:
    found = head.score.score
    return "–" if found.score_low is None else f"{found.score_low} – {found.score_high}"


def _flags(head: CompareHead, language: Language) -> str:
    raised = [f.flag.title.say(language) for f in head.flags if f.flagged.state is FlagState.RAISED]
    return Text("; ", "；").say(language).join(raised) or "–"


def _line(row: CompareRow, language: Language) -> tuple[str, ...]:
    return row.label.say(language), *(cell_words(cell, language) for cell in row.cells)


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def _plain_line(row: CompareRow, language: Language) -> tuple[str, ...]:
    """Money without its thousands apart, as files for other programs have it."""
    if row.group != "price" and not any(cell.amount for cell in row.cells):
        return _line(row, language)
    return tuple(_THOUSANDS.sub("", words) for words in _line(row, language))


def cell_words(cell: Cell, language: Language) -> str:
    """A cell in one line: the value, what was agreed in its own currency, what was measured, how far it is proven, best."""
    parts = [cell.text.say(language)]
    if cell.original.en:
        parts.append(f"({cell.original.say(language)})")
    if cell.state is CellState.NOT_CONVERTED:
        parts.append(f"({_NO_RATE.say(language)})")
    if cell.measured.en and cell.claim is ClaimState.REFUTED:
        parts.append(f"[{_MEASURED.say(language)} {cell.measured.say(language)}]")
    if cell.claim in (ClaimState.VERIFIED, ClaimState.REFUTED):
        parts.append(f"[{CLAIM_WORDS[cell.claim].say(language)}]")
    if cell.best:
        parts.append(f"{'△' if cell.assumed else '▲'} {cell.mark.say(language)}")
    return " ".join(parts)


def comparison_json(comparison: Comparison) -> dict[str, object]:
    """The whole matrix with documented keys: words in English, money as text, scores as numbers, null = not stated."""
    return {
        "currency": comparison.currency,
        "per": str(comparison.per),
        "rates": [{"from": r.from_currency, "to": r.to_currency, "rate": f"{r.rate:f}", "surcharge": f"{r.surcharge:f}", "date": str(r.day), "source": r.source} for r in comparison.rates],
        "missing_rates": list(comparison.missing_rates),
        "stable": comparison.stable,
        "stability": stability_text(comparison).en,
        "front": [head.row.id for head in comparison.heads if head.name in comparison.front.names],
        "offers": [_head_json(head) for head in comparison.heads],
        "rows": [_row_json(row) for row in comparison.rows],
    }


def _head_json(head: CompareHead) -> dict[str, object]:
    found, cost = head.score.score, head.cost.cost if head.cost else None
    return {
        "id": head.row.id, "kind": str(head.row.kind), "supplier": head.row.supplier, "number": head.row.number,
        "status": str(found.status), "score_low": None if found.score_low is None else float(found.score_low),
        "score_high": None if found.score_high is None else float(found.score_high),
        "coverage": None if found.coverage is None else float(found.coverage),
        "open_musts": list(found.open_musts), "failed_musts": list(found.failed_musts),
        "comparison_cost": None if cost is None else f"{cost.comparison_cost:f}",
        "currency": None if cost is None else cost.currency, "trouble": head.trouble or None,
        "market": None if head.market is None else {"place": str(head.market.place), "words": head.market.words.en},
        "assumed": [words.en for words in head.cost.assumed] if head.cost else [],
        "flags": [{"id": f.flag.id, "state": str(f.flagged.state), "severity": str(f.flag.severity), "reason": f.flagged.reason.en} for f in head.flags],
    }  # fmt: skip


def _row_json(row: CompareRow) -> dict[str, object]:
    return {"key": row.key, "group": row.group, "label": row.label.en, "differs": row.differs, "cells": [_cell_json(c, money=row.group == "price" or c.amount is not None) for c in row.cells]}


def _cell_json(cell: Cell, *, money: bool) -> dict[str, object]:
    def plain(words: str) -> str:
        return _THOUSANDS.sub("", words) if money else words

    stated = cell.state in (CellState.STATED, CellState.NOT_CONVERTED)
    return {
        "value": plain(cell.text.en) if stated else None, "state": str(cell.state), "agreed": plain(cell.original.en) or None,
        "claim": None if cell.claim is None else str(cell.claim), "measured": cell.measured.en or None, "best": cell.best,
        "assumed": [words.en for words in cell.assumed],
    }  # fmt: skip
