"""Is the best of a comparison the best of what is stated, and is it said where it rests on what nobody stated?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.economics.workload import Session, Workload, equal_sessions
from gpulease_gui.services.checklist_templates import Template
from gpulease_gui.services.checklist_view import checklist_of
from gpulease_gui.services.commerce_cost import cost_of
from gpulease_gui.services.commerce_score import score_of, stability_of
from gpulease_gui.services.compare_table import cell_words, head_names, stability_text
from gpulease_gui.services.comparison import Cell, CellState, CompareHead, CompareRow, Comparison, marked

from .deal_by_hand import answer, deal

STATED: Mapping[str, FieldValue] = {"billing.granularity_s": 1, "billing.min_billed_s": 0, "billing.whole_node_only": False}
RUNS = equal_sessions(2, 10, 3600)


def resting(terms: Mapping[str, FieldValue], workload: Workload = RUNS, **more: object) -> list[str]:
    facts = deal({"gpu.count": 8}, terms, tax_included=False, tax_rate="0", **more)  # type: ignore[arg-type]
    return [words.en for words in cost_of(facts, workload).rests_on]


def test_that_a_cost_rests_only_on_what_it_moves_with() -> None:
    assert resting(STATED) == [], "no storage, traffic, stop or failed start is in this workload"
    assert resting({k: v for k, v in STATED.items() if k != "billing.min_billed_s"}) == ["no minimum term"]
    used = replace(RUNS, stopped_s=3600, storage_gb=Decimal(1), egress_gb=Decimal(1), sessions=(Session(60, ready=False),))
    assert resting(STATED, used) == ["nothing is charged while stopped", "starting up is free", "storage is free", "outgoing traffic is free"]


def test_that_a_whole_node_or_month_asks_for_less() -> None:
    silent = {k: v for k, v in STATED.items() if k != "billing.whole_node_only"}
    assert resting(silent) == ["single GPUs are rented"] and resting(silent, equal_sessions(16, 1, 60)) == []
    assert resting({"billing.month_hours": Decimal(720)}, equal_sessions(8, 1, 60), unit="node_month") == []


@pytest.mark.parametrize(("language", "words"), [
    (Language.EN, ["1 △ best, with assumptions", "2"]), (Language.ZH, ["1 △ 最优（含假设）", "2"]),
])  # fmt: skip
def test_that_the_mark_of_the_best_says_what_it_rests_on(language: Language, words: list[str]) -> None:
    least = Cell(Text("1", "1"), CellState.STATED, Decimal(1), assumed=(Text("no minimum term", "无最短租期"),))
    other = Cell(Text("2", "2"), CellState.STATED, Decimal(2))
    row = marked(CompareRow("price.total", "price", Text("Cost", "成本"), (least, other), "less"))
    assert [cell_words(cell, language) for cell in row.cells] == words
    row = marked(replace(row, cells=(replace(least, assumed=()), other)))
    assert cell_words(row.cells[0], Language.EN) == "1 ▲ best"


def test_that_two_offers_of_one_supplier_are_told_apart() -> None:
    catalogue = load_catalogue()
    facts = [deal(number=number, answers=tuple(answer(f"{code}-01") for code in codes))
             for number, codes in (("Q-1", ("IC", "SL")), ("Q-2\u202e", ("BI",)), ("Q-2\u202e", ("NS",)))]  # fmt: skip
    scores = [score_of(checklist_of(f, Template("", ""), catalogue), dict.fromkeys(DIMENSIONS, Decimal(10))) for f in facts]
    heads = tuple(CompareHead(replace(f.row, deal=n), s, ()) for n, (f, s) in enumerate(zip(facts, scores, strict=True)))
    found = Comparison(heads, (), (), "CNY", sensitivity=stability_of((head.name, head.score) for head in heads))
    names = head_names(found)
    assert list(names.values()) == ["北辰算力 Q-1", "北辰算力 Q-2⟨U+202E⟩ (2)", "北辰算力 Q-2⟨U+202E⟩ (3)"]
    assert "北辰算力 Q-1" in stability_text(found).en and "北辰算力 Q-1" in stability_text(found).zh
    twins = replace(found, sensitivity=stability_of((head.name, scores[1]) for head in heads[1:]))
    assert stability_text(twins).en == "None leads: 北辰算力 Q-2⟨U+202E⟩ (2), 北辰算力 Q-2⟨U+202E⟩ (3) have the same lowest score (1.16)"
    alone = replace(found, heads=(heads[0], replace(heads[1], row=replace(heads[1].row, supplier="Haven"))))
    assert list(head_names(alone).values()) == ["北辰算力", "Haven"]
