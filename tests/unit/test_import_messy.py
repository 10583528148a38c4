"""Does a table as suppliers send it come in as a careful reader takes it, whichever file it comes in?"""

from __future__ import annotations

import time
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.services.importing import _title
from gpulease_gui.services.importing_lines import LEFT_OUT, Line, Lines, guess_layout, read_lines
from gpulease_gui.services.importing_sources import sheet_of_file, sheet_of_text
from gpulease_gui.services.importing_targets import targets_of
from gpulease_gui.store.exchange.sheet import CellFault, Sheet

CATALOGUE = load_catalogue()
TARGETS = targets_of(CATALOGUE)
MESSY: list[list[str | None]] = [
    ["某某算力 2026 年 12 月报价", None, None, None, None, None, None, None],
    [None, None, None, None, None, "单位：元/卡/时", None, None],
    ["序号", "型号", "数量", "配置", None, "价格", None, "备注"],
    [None, None, None, "显存", "内存", "含税", "有效期至", None],
    ["1", "H100-SXM-80GB*8", "2台", "８０G", "2T", "１２．５", "2026年12月31日", "现货"],
    ["2", "4090 48G", "3台", "48G", "512G", "约2.2", "2026/12/31", None],
    ["3", "H200", "1台", None, "2T", "面议", "30天", None],
    [None, "合 计", "6", None, None, "14.7", None, None],
    ["备注：以上价格含6%专票，起租一个月", None, None, None, None, None, None, None],
]  # fmt: skip


def read(sheet: Sheet, **answers: str) -> Lines:
    layout = guess_layout(sheet, TARGETS)
    for key, option in answers.items():
        layout = layout.with_answer(key, option)
    return read_lines(sheet, layout, TARGETS, CATALOGUE)


def pasted(text: str, **answers: str) -> Lines:
    return read(sheet_of_text(text, TARGETS, CATALOGUE), **answers)


def chat(line: str) -> Lines:
    return read(sheet_of_text(line, TARGETS, CATALOGUE, as_chat=True))


def terms(line: Line) -> dict[str, object]:
    return {said.key: said.value for said in (*line.terms, *line.fields)}


@pytest.fixture(params=["utf-8", "utf-8-sig", "gb18030", "utf-16", "xlsx", "pasted"])
def messy(request: pytest.FixtureRequest, tmp_path: Path) -> Sheet:
    if request.param == "pasted":
        return sheet_of_text("".join("\t".join(cell or "" for cell in row) + "\n" for row in MESSY), TARGETS, CATALOGUE)
    if request.param == "xlsx":
        book = openpyxl.Workbook()
        for row in MESSY:
            book.active.append(row)
        for merged in ("A1:H1", "A3:A4", "B3:B4", "C3:C4", "D3:E3", "F3:G3", "H3:H4", "A9:H9"):
            book.active.merge_cells(merged)
        book.save(tmp_path / "q.xlsx")
        return sheet_of_file(tmp_path / "q.xlsx")
    (tmp_path / "q.csv").write_bytes("".join(",".join(cell or "" for cell in row) + "\r\n" for row in MESSY).encode(request.param))
    return sheet_of_file(tmp_path / "q.csv")


def test_that_a_messy_quote_is_read_alike_from_every_kind_of_file(messy: Sheet) -> None:
    found = read(messy)
    first, second, third = found.lines
    assert terms(first) == {"gpu.model": "nvidia-h100-sxm5-80gb", "gpu.count": 8, "node.count": 2, "gpu.memory_gb": 80, "ram_gb": 2048}
    assert first.price is not None and first.note == "现货" and str(first.valid_until) == "2026-12-31"
    assert (first.price.amount, first.price.currency, first.price.unit, first.price.tax.included) == (Decimal("12.5"), "CNY", "gpu_hour", True)
    assert terms(second)["gpu.model"] == "RTX 4090", "an altered card is not chosen by its name"
    assert (third.price, third.valid_until) == (None, None)
    assert [(w.address.split("!")[1], w.words) for w in found.warnings] == [
        ("F6", "约2.2"), ("B6", "4090 48G"), ("G7", "30天"), ("F7", "面议"), ("A9", "备注：以上价格含6%专票，起租一个月"),
    ]  # fmt: skip
    assert not found.issues and not found.questions and [words.split(" ")[0][:2] for _, words in found.skipped] == ["合", "备注"]


def test_that_money_above_the_table_is_read_with_its_ten_thousands() -> None:
    (line,) = pasted("报价\t\t\n单位：万元/台/月\t\t\n型号\t卡数\t单价\nH20\t8\t6.8\n").lines
    assert line.price is not None
    assert (str(line.price.amount), line.price.currency, line.price.unit) == ("68000", "CNY", "node_month")


def test_that_figures_under_tax_included_are_prices_and_the_other_column_is_named() -> None:
    found = pasted("型号\t含税(元/卡/时)\t不含税\nH20\t12.72\t12\nH20\t26.5\t25\n")
    assert [(line.price.amount, line.price.tax.included, line.price.tax.rate) for line in found.lines if line.price] == [
        (Decimal("12.72"), True, None), (Decimal("26.5"), True, None),
    ]  # fmt: skip
    assert [w.address for w in found.warnings] == ["pasted!C1"]


@pytest.mark.parametrize(("words", "rate"), [("6%", "0.06"), ("0.06", "0.06"), ("6", "0.06"), ("１３％", "0.13"), ("13%专票", "0.13"), ("免税", "0")])
def test_that_a_rate_of_tax_is_read_in_every_form(words: str, rate: str) -> None:
    (line,) = pasted(f"型号\t单价(元/卡/时)\t税率\nH20\t12\t{words}\n").lines
    assert line.price is not None and line.price.tax.rate == Decimal(rate)


@pytest.mark.parametrize("words", ["0", "-", "0.00", "0元", "面议", "电议", "按需", "TBD", "N/A", "询价", "无", "价格面议", "请联系客服", "——", "POA", "议价"])
def test_that_no_price_is_no_price_of_nothing(words: str) -> None:
    found = pasted(f"型号\t单价(元/卡/时)\nH20\t{words}\n")
    assert found.lines[0].price is None and not found.issues
    assert [(w.address, w.words) for w in found.warnings] == [("pasted!B2", words)]


@pytest.mark.parametrize("words", ["免费", "free", "首月免费", "赠送"])
def test_that_free_is_a_stated_price_of_nothing_with_a_word(words: str) -> None:
    found = pasted(f"型号\t单价(元/卡/时)\nH20\t{words}\n")
    assert found.lines[0].price is not None and found.lines[0].price.amount == 0 and len(found.warnings) == 1


@pytest.mark.parametrize("words", ["约12", "12起", "≥12", "12元/卡/时起", "≤12", "12左右", "12以上", "from 12", "最低12", "12(可议)", "up to 12"])
def test_that_what_takes_a_price_back_is_said_beside_it(words: str) -> None:
    found = pasted(f"型号\t单价(元/卡/时)\nH20\t{words}\n")
    assert found.lines[0].price is not None and found.lines[0].price.amount == 12
    assert [w.address for w in found.warnings] == ["pasted!B2"]


@pytest.mark.parametrize(
    ("heading", "words", "asked"),
    [("单价", "$2.49/hr", "per.hour"), ("单价(元/卡/时)", "10-12", "span"), ("单价", "12.5", "currency"), ("单价", "￥12.5", "unit"), ("单价", "2.49美元", "unit"),
     ("单价", "20000/月", "per.month"), ("单价", "$12 / 8xGPU / hr", "per.hour")],
)  # fmt: skip
def test_that_a_price_in_an_unknown_unit_is_asked(heading: str, words: str, asked: str) -> None:
    assert [q.key for q in pasted(f"型号\t{heading}\nH20\t{words}\n").questions] == [f"{heading}|{asked}"]


@pytest.mark.parametrize("words", ["12/13", "年付 20000", "20000/年", "12（原价15）", "6折 12"])
def test_that_a_price_that_can_mean_two_things_is_an_error_by_cell(words: str) -> None:
    assert [issue.address for issue in pasted(f"型号\t单价(元/卡/时)\nH20\t{words}\n").issues] == ["pasted!B2"]


def test_that_a_count_of_nodes_is_none_of_cards_and_two_counts_are_asked() -> None:
    found = pasted("型号\t数量\t单价(元/卡/时)\nH20\t8\t12\nH20\t2台\t12\nH100*8\t10\t25\n")
    assert [issue.address for issue in found.issues] == [] and [terms(line).get("node.count") for line in found.lines] == [8, 2, 10]
    asked = pasted("型号\t卡数\t单价(元/卡/时)\nH100*8\t10\t25\n")
    assert [(q.key, [id_ for id_, _ in q.options]) for q in asked.questions] == [("型号|gpus", ["name", "column"])]
    assert [i.address for i in pasted("型号\t卡数\t单价(元/卡/时)\nH20\t8卡\t12\nH20\t2台\t12\n").issues] == ["pasted!B3"]


def test_that_a_formula_without_a_result_stops_a_row_only_where_the_offer_hangs_on_it() -> None:
    rows = (("型号", "单价(元/卡/时)", "备注"), ("H20", Decimal(12), CellFault("", formula=True)), ("H20", CellFault("", formula=True), "x"))
    found = read(Sheet("S", rows))
    assert [(w.address, w.why.en) for w in found.warnings] == [("S!C2", "a formula whose result was not saved")]
    assert [(i.address, line.bad) for i, line in zip(found.issues, found.lines[1:], strict=True)] == [("S!B3", True)]
    assert not found.lines[0].bad


@pytest.mark.parametrize(("model", "count", "title"), [("H100*8", "", "H100*8"), ("8卡H20", "8", "8卡H20"), ("H20", "8", "H20 × 8"), ("A800 80G", "8", "A800 80G × 8")])
def test_that_a_title_says_its_count_once(model: str, count: str, title: str) -> None:
    assert _title(pasted(f"型号\t卡数\t单价(元/卡/时)\n{model}\t{count}\t12\n").lines[0]) == title


def test_that_products_are_offered_and_a_chosen_one_counts() -> None:
    text = "型号\t单价(元/卡/时)\nA100 80G\t12\n"
    (choice,) = pasted(text).choices
    assert (choice.key, choice.default, [id_ for id_, _ in choice.options]) == (
        "型号|model.A100 80G", "as_named", ["as_named", "nvidia-a100-pcie-80gb", "nvidia-a100-sxm4-80gb"],
    )  # fmt: skip
    assert terms(pasted(text).lines[0]) == {"gpu.model": "A100", "gpu.memory_gb": 80}
    chosen = pasted(text, **{choice.key: "nvidia-a100-sxm4-80gb"})
    assert terms(chosen.lines[0]) == {"gpu.model": "nvidia-a100-sxm4-80gb"} and not chosen.warnings
    assert terms(pasted(text, **{choice.key: LEFT_OUT}).lines[0]) == {}


def test_that_an_unknown_card_comes_in_without_a_model_and_keeps_its_words() -> None:
    found = pasted("型号\t卡数\t单价(元/卡/时)\nMI450\t\t12\n联系人：张三\t电话：1380000\n")
    (line,) = found.lines
    assert (terms(line), line.model_words, found.issues) == ({}, "MI450", ())
    assert [w.why.en for w in found.warnings] == ["no product of the catalogue is called so"]
    assert [i.address for i in pasted("型号\t卡数\t单价(元/卡/时)\n其他\t1\t\n").issues] == ["pasted!A2"]


@pytest.mark.parametrize(
    ("words", "model", "memory_gb", "count"),
    [
        ("昇腾910B", "910B", 64, 8), ("Ascend 910B3 64G", "huawei-ascend-910b3-64gb", 64, 8), ("昇腾 910C", "huawei-ascend-910c-128gb", 128, 16),
        ("Atlas 300I Duo", "huawei-atlas-300i-duo-96gb", 96, 4),
    ],
)
def test_that_an_ascend_is_promised_in_the_terms_that_its_checks_judge(words: str, model: str, memory_gb: int, count: int) -> None:
    (line,) = pasted(f"型号\t卡数\t显存\t单价(元/卡/时)\n{words}\t{count}\t{memory_gb}G\t6\n").lines
    assert terms(line) == {"npu.model": model, "npu.count": count, "npu.memory_gb": memory_gb} and line.model_words == words
    assert {check for said in line.terms for check in CATALOGUE.terms[said.key].checks} == {"npu.inventory", "npu.memory"}


def test_that_the_name_of_an_ascend_says_its_memory_and_its_count_and_a_chosen_one_keeps_them() -> None:
    text = "型号\t数量\t单价(元/卡/时)\n910B 64G*8\t\t6\nH20\t4\t7\nAscend 910B3 64G\t8\t6\n"
    ascend, other, named = pasted(text, **{"型号|model.910B 64G*8": "huawei-ascend-910b2-64gb"}).lines
    assert terms(ascend) == {"npu.model": "huawei-ascend-910b2-64gb", "npu.memory_gb": 64, "npu.count": 8}
    assert terms(other) == {"gpu.model": "nvidia-h20-96gb", "gpu.count": 4}
    assert terms(named) == {"npu.model": "huawei-ascend-910b3-64gb", "npu.memory_gb": 64, "npu.count": 8}
    (talked,) = chat("昇腾910B 64G 8卡 6.5元/卡时").lines
    assert terms(talked) == {"npu.model": "910B", "npu.memory_gb": 64, "npu.count": 8}


def test_that_two_counts_of_an_ascend_are_asked_too() -> None:
    text = "型号\t卡数\t单价(元/卡/时)\n910B3*8\t4\t6\n"
    assert [q.key for q in pasted(text).questions] == ["型号|gpus"]
    assert terms(pasted(text, **{"型号|gpus": "name"}).lines[0]) == {"npu.model": "huawei-ascend-910b3-64gb", "npu.count": 8}


@pytest.mark.parametrize(
    ("words", "whole"),
    [("8卡整机", True), ("整机出租", True), ("whole node only", True), ("不拆卖", True), ("单卡可租", False), ("按卡租", False), ("整机起租", True), ("可拆卖", False)],
)
def test_that_a_chat_says_whether_only_whole_nodes_are_let(words: str, whole: bool) -> None:
    (line,) = chat(f"H20 {words} 12元/卡/时").lines
    assert terms(line)["billing.whole_node_only"] is whole


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("H20 8卡 12元/卡/时 有效期至2026年12月31日", {"gpu.count": 8}), ("H20 12元/卡时 押金2万", {"deposit.amount": Decimal(20000)}),
        ("H20 押金2万 12元/卡时", {"deposit.amount": Decimal(20000)}), ("H20 12元/卡时 8卡起租", {"billing.min_gpus": 8}),
        ("H20 8卡 IB 400Gbps*8 12元/卡时", {"network.gbit_s": 3200}), ("H20 约12元/卡/时起", {}), ("H20 12元每卡每小时，不含税，税点6", {}),
    ],
)
def test_that_a_chat_line_keeps_its_price_apart_from_other_money(words: str, said: dict[str, object]) -> None:
    (line,) = chat(words).lines
    assert line.price is not None and (line.price.amount, line.price.unit) == (12, "gpu_hour")
    assert said.items() <= terms(line).items()


def test_that_a_question_about_a_card_is_no_offer_and_a_whole_node_has_its_price() -> None:
    assert chat("你好，有4090吗").lines == ()
    (line,) = chat("H20 8卡整机 ￥6.8万/月").lines
    assert line.price is not None and (str(line.price.amount), line.price.unit) == ("68000", "node_month")


@pytest.mark.parametrize("piece", ["1 ", "*8", "4090", "9g ", "约", "1,", "税", "有效期"])
def test_that_a_cell_of_thirty_thousand_signs_costs_no_time(piece: str) -> None:
    words = piece * (30_000 // len(piece))
    began = time.process_time()
    heads = ("型号", "卡数", "显存", "带宽", "税", "单价(元/卡/时)", words)
    found = read(Sheet("S", (heads, tuple(words + end for end in "abcdefg"))))
    chat(words)
    assert found.issues and time.process_time() - began < 2
