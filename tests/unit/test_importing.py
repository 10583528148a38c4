"""Do quotes become offers as they were meant, with errors by cell, in one act that can be taken back?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.services import importing
from gpulease_gui.services.importing import DryRun
from gpulease_gui.services.importing_lines import LEFT_OUT, Layout, Lines, columns_for, guess_layout, read_lines
from gpulease_gui.services.importing_memory import mapping_text, remembered_in
from gpulease_gui.services.importing_sources import sheet_of_text
from gpulease_gui.services.importing_targets import targets_of
from gpulease_gui.store import claims, deals, journal, prices, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.exchange.sheet import Sheet
from gpulease_gui.store.workspace import Workspace

CATALOGUE = load_catalogue()
TARGETS = targets_of(CATALOGUE)
TODAY, NOW = date(2026, 12, 1), datetime(2026, 12, 1, 9, tzinfo=UTC)
HAVEN = Supplier("haven", "Haven")
QUOTE = (
    "报价单号\t型号\t卡数\t单价（元/卡/时，含税）\t带宽\t内存\t备注\n"
    "Q1\tH100 80GB SXM\t8\t12.5\t100 Gbps\t2T\t现货\n"
    "Q2\tH800\t8\t面议\t200Gbps\t1TB\t\n"
    "合计\t\t16\t\t\t\t\n"
)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "w.db")
    yield opened
    opened.close()


def pasted(text: str) -> tuple[Sheet, Layout]:
    sheet = sheet_of_text(text, TARGETS, CATALOGUE)
    return sheet, guess_layout(sheet, TARGETS)


def lines(text: str, **answers: str) -> Lines:
    sheet, layout = pasted(text)
    for key, option in answers.items():
        layout = layout.with_answer(key, option)
    return read_lines(sheet, layout, TARGETS, CATALOGUE)


def dry(workspace: Workspace, found: Lines, supplier: Supplier | None = HAVEN) -> DryRun:
    with workspace.read() as connection:
        return importing.plan(connection, found, supplier, TODAY, "quote.xlsx")


def save(workspace: Workspace, run: DryRun) -> int:
    return workspace.submit(lambda db: importing.save(db, run, by="me", at=NOW)).result()


def everything(workspace: Workspace) -> tuple[object, ...]:
    with workspace.read() as connection:
        offers = suppliers.list_offers(connection)
        return (suppliers.list_suppliers(connection), offers, [claims.list_claims(connection, Holder.offer(o.id)) for o in offers])


# -- reading ---------------------------------------------------------------------------------------------------------------


def test_that_headings_in_both_languages_find_their_columns():
    assert pasted(QUOTE)[1].columns == ("quote_no", "gpu.model", "gpu.count", "price", "network.gbit_s", "ram_gb", "note")
    text = "Provider,GPU Type,GPUs per node,Price (USD/GPU-hr),Bandwidth (Gbps),vRAM,Valid until\nX,H100,8,2.5,400,80,2026-12-31\n"
    assert pasted(text)[1].columns == ("supplier", "gpu.model", "gpu.count", "price", "network.gbit_s", "gpu.memory_gb", "valid_until")


def test_that_a_title_above_the_headings_is_no_heading():
    sheet, layout = pasted("某某算力 12月报价\t\t\n\t\t\n型号\t卡数\t单价(元/卡/时)\nH100\t8\t12\n")
    assert layout.header == 2 and layout.columns == ("gpu.model", "gpu.count", "price")
    assert columns_for(sheet, 2, TARGETS) == layout


def test_that_of_two_columns_for_one_thing_the_surer_counts():
    sheet, layout = pasted("GPU型号\t机型\t单价(元/卡/时)\nH100\tx\t12\n")
    assert layout.columns.count("gpu.model") == 1
    assert guess_layout(sheet, TARGETS, {"机型": "note"}).columns[1] == "note", "what was remembered wins"


def test_that_a_row_is_an_offer_with_its_words():
    line = lines(QUOTE).lines[0]
    assert (line.quote_no, line.note, line.price_words) == ("Q1", "现货", "12.5")
    assert (line.price.amount, line.price.currency, str(line.price.unit), line.price.tax.included) == (Decimal("12.5"), "CNY", "gpu_hour", True)
    assert {said.key: (said.value, said.exact_words) for said in line.terms} == {
        "gpu.model": ("nvidia-h100-sxm5-80gb", "H100 80GB SXM"), "gpu.count": (8, ""), "network.gbit_s": (100, "100 Gbps"), "ram_gb": (2048, "2T"),
    }  # fmt: skip
    assert lines(QUOTE).lines[1].price is None, "a price on request is no price"
    assert lines(QUOTE).skipped == (("pasted!A4", "合计 16"),)


def test_that_an_error_names_its_cell_and_what_to_do():
    found = lines("型号\t内存\t卡数\t单价(元/卡/时)\nH100\t快\t八\t12\nH100\t\t8\t十二\nH100\t\t8\t1,5\n")
    assert [(issue.address, issue.words) for issue in found.issues] == [("pasted!B2", "快"), ("pasted!C2", "八"), ("pasted!D3", "十二"), ("pasted!D4", "1,5")]
    assert found.issues[3].sentence.en == "pasted!D4: '1,5': this is no price; write digits and a dot, such as 16.20"
    assert [line.bad for line in found.lines] == [True, True, True]


def test_that_doubts_are_asked_once_a_column_and_answers_settle_them():
    text = "型号\t单价\t带宽\nH100\t12.5\t100G\nH800\t13\t200G\n"
    found = lines(text)
    assert {q.key: (q.cells, [id_ for id_, _ in q.options]) for q in found.questions} == {
        "单价|currency": (("pasted!B2", "pasted!B3"), ["CNY", "USD", "EUR", "HKD"]), "带宽|rate": (("pasted!C2", "pasted!C3"), ["bits", "bytes"]),
    }  # fmt: skip
    assert found.lines[0].waits == ("带宽|rate", "单价|currency")
    settled = lines(text, **{"单价|currency": "CNY", "带宽|rate": "bytes", "单价|unit": "gpu_hour"})
    assert [dict((s.key, s.value) for s in line.terms)["network.gbit_s"] for line in settled.lines] == [800, 1600]
    assert not any(line.waits for line in settled.lines)
    left = lines(text, **{"单价|currency": LEFT_OUT, "带宽|rate": LEFT_OUT})
    assert left.lines[0].price is None and not left.lines[0].waits


def test_that_currency_unit_and_tax_may_stand_in_columns_of_their_own():
    found = lines("gpu,price,currency,price unit,tax rate,含税\nH100,2.5,USD,gpu_hour,6%,\n")
    assert str(found.lines[0].price.unit) == "gpu_hour" and found.lines[0].price.currency == "USD"
    assert found.lines[0].price.tax.rate == Decimal("0.06")
    assert lines("gpu,单价(元/卡/时),含税\nH100,2.5,否\n").lines[0].price.tax.included is False
    assert lines("gpu,单价(元/卡/时),含税\nH100,2.5,是\n").lines[0].price.tax.included is True


def test_that_chat_lines_become_rows_named_by_their_line():
    found = lines("你好\nH100 80G SXM 8卡 ¥12.5/卡/小时 含税 起租24小时\n")
    (line,) = found.lines
    assert line.address == "chat!A2" and line.price.amount == Decimal("12.5")
    assert [said.key for said in line.terms][:2] == ["gpu.model", "gpu.count"]


# -- holding it against the workspace, and saving ----------------------------------------------------------------------------


def test_that_an_import_is_one_act_and_one_undo(workspace: Workspace):
    before = everything(workspace)
    run = dry(workspace, lines(QUOTE))
    assert (run.added, run.changed, run.same, run.bad, run.open) == (2, 0, 0, 0, ())
    assert [s.name for s in run.new_suppliers] == ["Haven"]
    save(workspace, run)
    with workspace.read() as connection:
        one, two = suppliers.list_offers(connection)
        assert (one.quote_no, one.title, one.price, one.note) == ("Q1", "H100 80GB SXM × 8", Money(Decimal("12.5"), "CNY"), "现货")
        assert (two.quote_no, two.price) == ("Q2", None)
        held = {c.term: (c.value, c.state, c.note) for c in claims.list_claims(connection, Holder.offer(one.id))}
        assert held["ram_gb"] == (2048, ClaimState.ANSWERED, "2T")
        (price,) = prices.list_prices(connection, deals.deal_number(connection, Holder.offer(one.id).subject))
        assert price.tax_included is True
        rows = deals.list_deals(connection, HolderOf.OFFER)
        assert [(row.gpu_model, row.gpu_count, row.price_gpu_hour, row.stated) for row in rows] == [("nvidia-h100-sxm5-80gb", 8, "12.5", 4), ("H800", 8, None, 4)]
        act = journal.next_undo(connection)
    assert act.words.en == "import of 2 offers from quote.xlsx"
    workspace.submit(lambda db: journal.undo(db, by="me", at=NOW)).result()
    assert everything(workspace) == before
    workspace.submit(lambda db: journal.redo(db, by="me", at=NOW)).result()
    with workspace.read() as connection:
        assert [o.quote_no for o in suppliers.list_offers(connection)] == ["Q1", "Q2"]


def test_that_the_same_sheet_twice_changes_nothing_and_a_new_price_is_shown_first(workspace: Workspace):
    save(workspace, dry(workspace, lines(QUOTE)))
    with workspace.read() as connection:
        haven = suppliers.list_suppliers(connection)[0]
    again = dry(workspace, lines(QUOTE), haven)
    assert (again.added, again.changed, again.same) == (0, 0, 2)
    dearer = dry(workspace, lines(QUOTE.replace("12.5", "13.0").replace("100 Gbps", "400 Gbps")), haven)
    assert (dearer.added, dearer.changed, dearer.same) == (0, 1, 1)
    assert [words.en for words in dearer.planned[0].changes] == ["network.gbit_s: 400 (was 100)", "price: CNY 13/GPU-hour, tax included (was CNY 12.50/gpu_hour)"]
    save(workspace, dearer)
    with workspace.read() as connection:
        offer = suppliers.list_offers(connection)[0]
        assert offer.price == Money(Decimal("13.0"), "CNY")
        assert len(prices.list_prices(connection, deals.deal_number(connection, Holder.offer(offer.id).subject))) == 2, "the old price stays"


def test_that_rows_with_an_error_or_an_open_question_are_not_saved(workspace: Workspace):
    run = dry(workspace, lines("型号\t单价(元/卡/时)\t带宽\nH100\t12\t100G\nH100\t十二\t100Gbps\nH800\t12\t100Gbps\n"))
    assert (run.added, run.bad, run.open) == (1, 1, ("带宽|rate",))


def test_that_a_sheet_may_name_its_suppliers_and_must_name_one(workspace: Workspace):
    text = "供应商\t型号\t单价(元/卡/时)\n甲\tH100\t12\n乙\tH100\t13\n甲\tH100\t14\n"
    run = dry(workspace, lines(text), None)
    assert [s.name for s in run.new_suppliers] == ["甲", "乙"]
    assert [row.offer.title for row in run.planned] == ["H100", "H100", "H100 #2"], "equal rows stay apart"
    with pytest.raises(UsageError, match="pasted!A2: no supplier is named"):
        dry(workspace, lines(QUOTE), None)


def test_that_a_failing_save_leaves_nothing_behind(workspace: Workspace):
    run = dry(workspace, lines(QUOTE))
    before = everything(workspace)
    torn = replace(run, new_suppliers=())
    with pytest.raises(Exception, match="FOREIGN KEY"):
        save(workspace, torn)
    assert everything(workspace) == before


def test_that_the_mapping_of_a_supplier_is_remembered(workspace: Workspace):
    sheet, layout = pasted("规格\t单价\t带宽\nH100\t12\t100G\n")
    layout = layout.with_column(0, "gpu.model").with_answer("带宽|rate", "bits").with_answer("单价|currency", LEFT_OUT)
    run = dry(workspace, read_lines(sheet, layout, TARGETS, CATALOGUE))
    workspace.submit(lambda db: importing.save(db, run, by="me", at=NOW, mapping=mapping_text(sheet, layout, TARGETS))).result()
    with workspace.read() as connection:
        kept = remembered_in(connection, run.owner)
        assert remembered_in(connection, "nobody").columns == {}
    assert kept.answers == {"带宽|rate": "bits"}
    assert guess_layout(sheet, TARGETS, kept.columns).columns == ("gpu.model", "price", "network.gbit_s")
    turned = sheet_of_text("带宽\t备注\t单价\t规格\n100G\tx\t12\tH100\n", TARGETS, CATALOGUE)
    assert guess_layout(turned, TARGETS, kept.columns).columns == ("network.gbit_s", "note", "price", "gpu.model"), "by heading, not by place"


def test_that_a_column_that_was_left_out_stays_out(workspace: Workspace):
    sheet, layout = pasted("型号\t单价(元/卡/时)\t带宽\nH20\t12\t100G\n")
    said = json.loads(mapping_text(sheet, layout.with_column(2, ""), TARGETS))
    assert said["columns"]["带宽"] == "" and guess_layout(sheet, TARGETS, said["columns"]).columns == ("gpu.model", "price", "")


def test_that_the_same_row_twice_is_said_and_a_known_quote_becomes_a_new_version(workspace: Workspace):
    twice = lines("报价单号\t型号\t单价(元/卡/时)\nQ1\tH20\t12\nQ1\tH20\t12\nQ2\tH20\t12\n")
    assert [(w.address, w.why.en) for w in twice.warnings] == [("pasted!A3", "the same as the row of pasted!A2")]
    save(workspace, dry(workspace, lines("报价单号\t型号\t单价(元/卡/时)\nQ1\tH20\t12\n")))
    with workspace.read() as connection:
        haven = suppliers.list_suppliers(connection)[0]
    dearer = dry(workspace, lines("单价(元/卡/时)\t型号\t报价单号\n13\tH20\tQ1\n"), haven)
    assert (dearer.added, dearer.changed) == (0, 1)
    save(workspace, dearer)
    with workspace.read() as connection:
        (offer,) = suppliers.list_offers(connection)
        assert len(prices.list_prices(connection, deals.deal_number(connection, Holder.offer(offer.id).subject))) == 2
    workspace.submit(lambda db: journal.undo(db, by="me", at=NOW)).result()
    with workspace.read() as connection:
        assert suppliers.list_offers(connection)[0].price == Money(Decimal("12"), "CNY"), "one undo"


def test_that_words_of_an_earlier_import_are_no_change_beside_the_product_that_they_name(workspace: Workspace):
    found = lines("报价单号\t型号\t单价(元/卡/时)\nQ1\tH100 80GB SXM\t12\n")
    line = found.lines[0]
    old = replace(line, terms=tuple(replace(said, value=said.words) for said in line.terms))
    save(workspace, dry(workspace, replace(found, lines=(old,))))
    with workspace.read() as connection:
        haven = suppliers.list_suppliers(connection)[0]
    assert dry(workspace, found, haven).same == 1



def test_that_two_columns_of_tax_add_up_and_an_unstated_rate_stays(workspace: Workspace):
    head = "Quote no.\tModel\tPrice (CNY/GPU-hour)"
    first = lines(f"{head}\tTax included\tTax rate\nQ1\tH100\t12\tno\t13%\n")
    price = first.lines[0].price
    assert price is not None
    assert (price.tax.included, price.tax.rate) == (False, Decimal("0.13"))
    save(workspace, dry(workspace, first))
    with workspace.read() as connection:
        haven = suppliers.list_suppliers(connection)[0]
    assert dry(workspace, lines(f"{head}\nQ1\tH100\t12\n"), haven).same == 1
    dearer = dry(workspace, lines(f"{head}\nQ1\tH100\t14\n"), haven).planned[0]
    assert dearer.price is not None
    assert dearer.price.tax_rate == Decimal("0.13")
    assert dearer.changes[0].en.endswith("(was CNY 12/gpu_hour, tax rate 13 %)")


@pytest.mark.parametrize(("words", "tax"), [
    ("13% included", (True, "0.13")), ("6% excluded", (False, "0.06")), ("excl. 6%", (False, "0.06")), ("incl. 13 %", (True, "0.13")),
    ("普票另加3个点", (False, "0.03")), ("不含税，税点6", (False, "0.06")), ("0.06", (None, "0.06")),
])  # fmt: skip
def test_that_words_of_tax_are_read(words: str, tax: tuple[bool | None, str]):
    price = lines(f"型号\t单价(元/卡/时)\t税\nH100\t12\t{words}\n").lines[0].price
    assert price is not None
    assert (price.tax.included, price.tax.rate) == (tax[0], Decimal(tax[1]))


def test_that_unread_tax_and_endless_prices_are_errors_by_cell():
    found = lines(f"型号\t单价(元/卡/时)\t税\nH100\t12\tbanana\nH100\t{'1' * 2_000_000}\t\nH100\t{'1' * 29}\t\n")
    assert [issue.address for issue in found.issues] == ["pasted!C2", "pasted!B3", "pasted!B4"]


def test_that_a_price_and_its_currency_column_must_agree():
    found = lines("Model\tPrice per GPU hour\tCurrency\nH100\t¥6\tUSD\nH100\t$6\tUSD\nH100\t6\tUSD\n")
    assert [issue.address for issue in found.issues] == ["pasted!B2"]
    assert [line.price and line.price.currency for line in found.lines] == [None, "USD", "USD"]


def test_that_a_span_from_a_chat_is_asked_whole():
    found = lines("H100 8卡 5.5万-6万/台/月\n")
    assert [(question.question.en, question.words) for question in found.questions][:1] == [("A span of prices: which end counts?", "5.5万-6万/台/月")]


def test_that_the_price_of_now_counts_and_the_old_one_is_a_note():
    line = lines("H100 8卡 原价7万 现价5.8万元/台/月\n").lines[0]
    assert line.price is not None
    assert (line.price.amount, line.price.unit, "原价7万" in line.note) == (Decimal(58_000), "node_month", True)


def test_that_a_discount_beside_a_price_is_an_error_by_cell():
    assert [issue.address for issue in lines("型号\t单价(元/卡/时)\nH100\t20%off 6\nH100\t6\n").issues] == ["pasted!B2"]


def test_that_a_card_of_the_other_kind_replaces_what_an_earlier_import_wrote(workspace: Workspace):
    text = "报价单号\t型号\t卡数\t单价(元/卡/时)\nQ1\t910B3\t8\t6\n"
    save(workspace, dry(workspace, lines(text)))
    (offer,) = everything(workspace)[1]
    wrong = (("gpu.model", "huawei-ascend-910b3-64gb"), ("gpu.count", 8), ("gpu.memory_gb", 64), ("network.gbit_s", 100))
    for term in ("npu.model", "npu.count", "npu.memory_gb"):
        workspace.submit(lambda db, t=term: claims.save_claim(db, Holder.offer(offer.id), Claim(t, None), by="me", at=NOW)).result()
    for term, value in wrong:
        workspace.submit(lambda db, t=term, v=value: claims.save_claim(db, Holder.offer(offer.id), Claim(t, v, ClaimState.ANSWERED), by="me", at=NOW)).result()
    run = dry(workspace, lines(text))
    assert [words.en for words in run.planned[0].changes] == [
        "npu.model: huawei-ascend-910b3-64gb", "npu.count: 8", "gpu.model: taken back (was huawei-ascend-910b3-64gb)",
        "gpu.count: taken back (was 8)", "gpu.memory_gb: taken back (was 64)",
    ]  # fmt: skip
    save(workspace, run)
    stated = {claim.term: claim.value for claim in everything(workspace)[2][0] if claim.value is not None}
    assert stated == {"npu.model": "huawei-ascend-910b3-64gb", "npu.count": 8, "network.gbit_s": 100}
    assert dry(workspace, lines(text)).same == 1
    workspace.submit(lambda db: journal.undo(db, by="me", at=NOW)).result()
    assert {claim.term: claim.value for claim in everything(workspace)[2][0] if claim.value is not None} == dict(wrong)
