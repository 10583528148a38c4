"""Can offers be written down, accepted, compared, deleted and brought back, and does a run move their checklist?"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Contract, FxRate, Offer, Price, Supplier
from gpulease_gui.domain.text import Language
from gpulease_gui.economics.flag import FlagState
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.economics.workload import equal_sessions
from gpulease_gui.services import checklist_edit, commerce, commerce_edit, commerce_undo, directory
from gpulease_gui.services.checklist_edit import Given
from gpulease_gui.services.checklist_templates import ItemEdit, Template, remove_template, save_template, templates_in
from gpulease_gui.services.checklist_view import Outcome, checklist_in
from gpulease_gui.services.commerce_compare import CompareBy, comparison_in
from gpulease_gui.services.commerce_cost import workloads_in
from gpulease_gui.services.commerce_score import set_weights, weights_in
from gpulease_gui.services.compare_sheet import csv_bytes, sheet_bytes, table_of, tsv_text
from gpulease_gui.services.compare_table import lines_of
from gpulease_gui.services.comparison import Cell, CellState, Comparison
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.price_period import PricePer
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store import answers
from gpulease_gui.store.claims import Holder

DAY = date(2026, 6, 1)
ONE, TWO = Subject(HolderOf.OFFER, "o1"), Subject(HolderOf.OFFER, "o2")
PAPER = Subject(HolderOf.CONTRACT, "c1")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "own.db")
    write(opened, lambda db: commerce_edit.save_supplier(db, Supplier("s1", "北辰算力", "CN")))
    for id_, amount, code in (("o1", "16.20", "CNY"), ("o2", "2.00", "USD")):
        write(opened, lambda db, i=id_, a=amount, c=code: commerce_edit.save_offer(db, Offer(i, "s1", f"Q-{i}", price=Money(Decimal(a), c))))
        write(opened, lambda db, i=id_: directory.state_term(db, Holder.offer(i), "gpu.model", "nvidia-h100-sxm5-80gb", opened.catalogue))
    yield opened
    opened.close()


def write(services: Services, work: Callable[[Any], Any], *kinds: str) -> Any:
    return services.change(work, *kinds).result(20)


def read(services: Services, work: Callable[[Any], Any]) -> Any:
    return services.query(work).result(20)


def state(services: Services, subject: Subject, **values: object) -> None:
    changes = {key.replace("__", "."): Stated(value) for key, value in values.items()}  # type: ignore[arg-type]
    write(services, lambda db: commerce_edit.state_fields(db, subject, changes, services.catalogue))


def facts(services: Services, subject: Subject = ONE) -> commerce.DealFacts:
    return read(services, lambda c: commerce.deal_in(c, subject, DAY))


def compared(services: Services, **by: Any) -> Comparison:
    return read(services, lambda c: comparison_in(c, [ONE, TWO], services.catalogue, DAY, CompareBy(**by)))


def cells(comparison: Comparison, key: str) -> tuple[Cell, ...]:
    return next(row for row in comparison.rows if row.key == key).cells


def test_that_an_accepted_offer_takes_everything_along_and_one_step_takes_it_back(own: Services) -> None:
    state(own, ONE, billing__min_billed_s=86400)
    write(own, lambda db: commerce_edit.change_price(db, ONE, Price("p2", Money(Decimal("15.00"), "CNY")), date(2099, 7, 1)))
    write(own, lambda db: checklist_edit.answer_items(db, ONE, ["SU-01"], Given(AnswerState.EVIDENCED, AnswerValue.YES, note="called at night")))
    write(own, lambda db: checklist_edit.waive_items(db, ONE, ["SL-04"], Waiver("Wang", "trial", date(2099, 9, 1))))
    write(own, lambda db: commerce_edit.accept_offer(db, "o1", Contract("c1", "s1", "HT-1", "o1", price=Money(Decimal("16.20"), "CNY"))))
    paper = facts(own, PAPER)
    assert paper.terms == facts(own).terms and paper.promised == facts(own).promised
    assert [(str(p.money), p.valid_from, p.valid_to) for p in paper.prices] == [
        ("CNY 16.20", None, date(2099, 6, 30)), ("CNY 15.00", date(2099, 7, 1), None),
    ]  # fmt: skip
    assert paper.answers["SU-01"].note == "called at night" and paper.waivers["SL-04"].by == "Wang"
    write(own, commerce_undo.undo)
    assert read(own, commerce.contracts_in) == ()
    write(own, commerce_undo.redo)
    assert [row.number for row in read(own, commerce.contracts_in)] == ["HT-1"]


def test_that_a_deleted_supplier_takes_its_offers_along_and_comes_back_with_them(own: Services) -> None:
    assert write(own, lambda db: commerce_edit.delete(db, "supplier", "s1", "gave up")) == 3
    assert read(own, commerce.offers_in) == ()
    assert write(own, lambda db: commerce_edit.restore(db, "offer", "o1")) == commerce_edit.Restored(3)
    assert [row.number for row in read(own, commerce.offers_in)] == ["Q-o1", "Q-o2"]
    write(own, lambda db: commerce_edit.delete(db, "offer", "o1"))
    write(own, lambda db: commerce_edit.delete(db, "supplier", "s1"))
    assert write(own, lambda db: commerce_edit.restore(db, "offer", "o1")) == commerce_edit.Restored(2, ("北辰算力",)), "nothing hangs in the air"
    assert [row.number for row in read(own, commerce.offers_in)] == ["Q-o1"]
    write(own, commerce_undo.undo)
    assert read(own, commerce.offers_in) == (), "one step takes both back"
    with pytest.raises(UsageError, match="no offer 'o9'"):
        write(own, lambda db: commerce_edit.delete(db, "offer", "o9"))


def test_that_a_changed_price_of_the_form_is_one_more_version(own: Services) -> None:
    write(own, lambda db: commerce_edit.save_offer(db, Offer("o1", "s1", "Q-o1", price=Money(Decimal("15.80"), "CNY"))))
    history = read(own, lambda c: commerce.prices_history_in(c, ONE))
    assert [(str(v.price.money), v.by) for v in history] == [("CNY 16.20", "me"), ("CNY 15.80", "me")]
    write(own, commerce_undo.undo)
    assert facts(own).row.price_amount == "16.20" and str(facts(own).price and facts(own).price.money) == "CNY 16.20"


def test_that_a_promise_is_taken_back_as_any_other_act(own: Services) -> None:
    write(own, lambda db: directory.state_term(db, Holder.offer("o1"), "gpu.count", 8, own.catalogue))
    assert read(own, commerce_undo.can_undo).words.en == "change GPUs per node"
    write(own, commerce_undo.undo)
    assert (facts(own).promised, facts(own).row.gpu_count) == ({"gpu.model": "nvidia-h100-sxm5-80gb"}, None)


def test_that_an_item_is_not_applicable_only_with_a_reason(own: Services) -> None:
    with pytest.raises(UsageError, match="a reason is needed"):
        write(own, lambda db: checklist_edit.answer_items(db, ONE, ["IC-12"], Given(AnswerState.NOT_APPLICABLE)))
    with pytest.raises(UsageError, match="a name and a reason"):
        write(own, lambda db: checklist_edit.waive_items(db, ONE, ["IC-01"], Waiver("", "x", DAY)))
    with pytest.raises(UsageError, match="a name and a reason"):
        write(own, lambda db: checklist_edit.waive_items(db, ONE, ["IC-01"], Waiver("Wang", "\t ", DAY)))
    today = datetime.now().astimezone().date()
    with pytest.raises(UsageError, match="is over"):
        write(own, lambda db: checklist_edit.waive_items(db, ONE, ["IC-01"], Waiver("Wang", "x", today - timedelta(days=1))))
    assert facts(own).answers == {} == facts(own).waivers


def test_that_sending_the_letter_marks_what_was_not_asked_yet(own: Services) -> None:
    write(own, lambda db: checklist_edit.answer_items(db, ONE, ["BI-01"], Given(AnswerState.ANSWERED, AnswerValue.YES)))
    assert write(own, lambda db: checklist_edit.ask_items(db, ONE, ["BI-01", "BI-02", "BI-03"])) == 2
    assert {item: a.state for item, a in facts(own).answers.items()} == {
        "BI-01": AnswerState.ANSWERED, "BI-02": AnswerState.ASKED, "BI-03": AnswerState.ASKED,
    }  # fmt: skip


def test_that_a_template_comes_back_with_its_edits_and_is_taken_back_by_undo(own: Services) -> None:
    mine = Template("t1", "cluster", "finetune", {"SU-04": ItemEdit(hidden=True)})
    write(own, lambda db: save_template(db, mine, own.catalogue.checklist))
    write(own, lambda db: checklist_edit.choose_template(db, ONE, "t1", ""))
    assert read(own, templates_in) == (mine,)
    shown = read(own, lambda c: checklist_in(c, ONE, own.catalogue, DAY))
    assert shown.scenario == "finetune" and "SU-04" not in {row.item.id for row in shown.rows}
    write(own, commerce_undo.undo)
    assert facts(own).row.template_id == ""
    write(own, commerce_undo.redo)
    write(own, lambda db: remove_template(db, "t1"))
    shown = read(own, lambda c: checklist_in(c, ONE, own.catalogue, DAY, ""))
    assert facts(own).row.template_id == "t1" and shown.template.id == "" and shown.row("SU-04").outcome is Outcome.UNKNOWN


def test_that_weights_are_kept_per_use_and_go_back_to_what_is_shipped(own: Services) -> None:
    write(own, lambda db: set_weights(db, "", {"sla": Decimal(30)}))
    assert read(own, lambda c: weights_in(c, None))["sla"] == 30
    write(own, lambda db: set_weights(db, "", None))
    assert set(read(own, lambda c: weights_in(c, None)).values()) == {Decimal(1)}


def test_that_offers_are_compared_in_one_currency_with_the_agreed_price_beside_it(own: Services) -> None:
    assert compared(own, currency="CNY").missing_rates == ("USD",)
    assert [c.state for c in cells(compared(own, currency="CNY"), "price.gpu_hour")] == [CellState.STATED, CellState.NOT_CONVERTED]
    write(own, lambda db: commerce_edit.save_rate(db, FxRate("USD", "CNY", Decimal("7.0835"), DAY, "bank")))
    found = compared(own, currency="CNY", workload=equal_sessions(8, 1, 3600))
    one, two = cells(found, "price.gpu_hour")
    assert (one.text.en, one.best, two.text.en, two.original.en, two.best) == ("CNY 16.200", False, "CNY 14.167", "USD 2.00", True)
    assert [c.text.en for c in cells(found, "price.total")] == ["CNY 129.60", "CNY 113.34"]
    assert [(r.from_currency, r.day) for r in found.rates] == [("USD", DAY)]


def test_that_a_product_is_compared_by_its_name_and_an_npu_too(own: Services) -> None:
    write(own, lambda db: directory.state_term(db, Holder.offer("o2"), "npu.model", "huawei-ascend-910b3-64gb", own.catalogue))
    assert [c.text.zh for c in cells(compared(own), "gpu.model")] == ["H100 SXM5 80GB", "H100 SXM5 80GB"]
    assert [c.text.en for c in cells(compared(own), "npu.model")][1] == "Ascend 910B3 64GB"


def test_that_prices_are_compared_per_month_and_a_workbook_counts_with_their_numbers(own: Services) -> None:
    write(own, lambda db: commerce_edit.save_rate(db, FxRate("USD", "CNY", Decimal("7.0835"), DAY, "bank")))
    state(own, TWO, billing__min_billed_s=3600, exit__fee_rate=Decimal("0.06"), offer__quoted_by='=HYPERLINK("x")')
    found = compared(own, currency="CNY", per=PricePer.GPU_MONTH, workload=equal_sessions(8, 1, 3600))
    quoted = found.row("price.gpu_hour")
    assert quoted is not None and quoted.label.zh == "单价 / 卡月（720 小时）"
    assert [(c.text.en, c.best) for c in quoted.cells] == [("CNY 11,664.00", False), ("CNY 10,200.24", True)]
    assert [c.text.en for c in cells(found, "price.effective")] == ["CNY 11,664.00", "CNY 10,200.24"]
    book = openpyxl.load_workbook(io.BytesIO(sheet_bytes(found, Language.EN)))
    lines = {row[0].value: row for row in book.active.iter_rows()}
    price = lines["Price per GPU-month (720 h)"]
    assert [c.value for c in (*price[1:3], *price[4:6])] == [11664, "CNY", 10200.24, "CNY"]
    assert "USD 1,440.00" in str(price[6].value) and price[4].number_format == "#,##0.00"
    agreed = lines["Price as agreed"]
    assert [c.value for c in (*agreed[1:3], *agreed[4:6])] == [16.2, "CNY / GPU-hour", 2, "USD / GPU-hour"]
    assert [[c.value for c in lines[name][4:6]] for name in ("Minimum term",)] == [[3600, "s"]]
    assert not any(cell.data_type == "f" for row in book.active.iter_rows() for cell in row)
    assert csv_bytes(found, Language.EN).decode("utf-8-sig").count("10200.24,CNY") == 2
    assert "11664.00\tCNY" in tsv_text(found, Language.EN)


def test_that_what_has_no_rate_is_no_number_in_a_sheet(own: Services) -> None:
    line = next(line for line in table_of(compared(own, currency="CNY"), Language.EN) if str(line[0]).startswith("Price per"))
    assert line[4:] == ("USD 2.00", "", "no rate; assumed: the price is net and no tax is added")


def test_that_the_price_of_the_chosen_day_is_compared_and_a_lapsed_one_is_marked(own: Services) -> None:
    for amount, first, last in (("9.00", date(2026, 1, 1), date(2026, 3, 31)), ("12.00", date(2026, 4, 1), date(2026, 7, 31))):
        price = Price(amount, Money(Decimal(amount), "CNY"), valid_from=first, valid_to=last)
        write(own, lambda db, p=price: commerce_edit.save_price(db, ONE, p))
    by = CompareBy(currency="CNY", workload=equal_sessions(1, 1, 3600))
    seen = []
    for day in (date(2026, 2, 1), date(2026, 5, 1)):
        found = read(own, lambda c, d=day: comparison_in(c, [ONE, TWO], own.catalogue, d, by))
        seen.append((cells(found, "price.gpu_hour")[0].text.en, found.heads[0].row.price_amount, cells(found, "price.total")[0].text.en))
    assert seen == [("CNY 9.00", "9.00", "CNY 9.00"), ("CNY 12.00", "12.00", "CNY 12.00")]
    write(own, lambda db: commerce_edit.save_offer(db, Offer("o2", "s1", "Q-o2", price=Money(Decimal("2.00"), "USD"), valid_until=date(2026, 5, 30))))
    late = read(own, lambda c: comparison_in(c, [ONE, TWO], own.catalogue, DAY, by))
    assert [cell.flag.zh for cell in cells(late, "price.valid_until")] == ["", "有效期至 2026-05-30，请重新询价"]
    assert late.heads[1].cost and "the price was valid until 2026-05-30" in [words.en for words in late.heads[1].cost.assumed]


def test_that_what_an_offer_does_not_say_is_never_blank_and_never_best(own: Services) -> None:
    state(own, ONE, billing__min_billed_s=3600, billing__whole_node_only=True)
    state(own, TWO, billing__whole_node_only=False)
    found = compared(own)
    assert [(c.text.zh, c.state, c.best) for c in cells(found, "billing.min_billed_s")] == [
        ("1 小时", CellState.STATED, False), ("未约定", CellState.NOT_STATED, False),
    ]  # fmt: skip
    assert [c.best for c in cells(found, "billing.whole_node_only")] == [False, True]
    lines = lines_of(found, Language.ZH, differences_only=True)
    assert ("最短租期", "1 小时", "未约定") in lines and all(len(line) == 3 for line in lines)
    assert not any(line[0] == "显存" for line in lines)


def test_that_every_row_belongs_to_a_group_and_differences_are_a_part_of_all(own: Services) -> None:
    found = compared(own)
    groups = {group.key for group in found.groups}
    assert {row.group for row in found.rows} == groups
    assert sum(len(found.rows_of(key, differences_only=True)) for key in groups) == found.differing < len(found.rows)


# -- a real run of a simulated node ----------------------------------------------------------------------------------------------


def test_that_a_run_moves_the_items_of_its_contract_and_is_shown_beside_the_claim(demo: Services) -> None:
    node = node_of(demo.workspace, "demo:capped", "")
    subject = Subject(HolderOf.CONTRACT, str(node.contract_id))
    promised = facts(demo, subject).promised
    outcome = demo.verification.run(node, Request(dict(promised), contract_id=node.contract_id), CancelToken())
    demo.workspace.submit(lambda db: None).result(20)
    after = facts(demo, subject).answers
    assert {item: after[item].state for item in ("IC-01", "IC-11")} == {"IC-01": AnswerState.VERIFIED, "IC-11": AnswerState.REFUTED}
    moved = after["IC-11"]
    assert (moved.value, moved.run_id, moved.by) == (AnswerValue.NO, outcome.run, node.name) and moved.evidence
    assert read(demo, commerce_undo.can_undo) is None
    found = read(demo, lambda c: comparison_in(c, [subject], demo.catalogue, DAY))
    (cell,) = cells(found, "gpu.power_w")
    assert cell.claim is ClaimState.REFUTED and cell.measured.en and cell.measured != cell.text
    # The same run again changes nothing.
    before = read(demo, lambda c: answers.list_answer_history(c, facts(demo, subject).row.deal, "IC-11"))
    assert write(demo, lambda db: checklist_edit.apply_run(db, str(outcome.run), demo.catalogue.checklist)) == ()
    assert read(demo, lambda c: answers.list_answer_history(c, facts(demo, subject).row.deal, "IC-11")) == before


def test_that_the_demo_comes_with_terms_rates_and_a_workload_that_can_be_priced(demo: Services) -> None:
    rows = read(demo, commerce.offers_in)
    assert [row.gpu_model for row in rows if row.number == "XC-2611-09"] == ["huawei-ascend-910b3-64gb"]
    saved, *_ = read(demo, workloads_in)
    subjects = [row.subject for row in rows]
    found = read(demo, lambda c: comparison_in(c, subjects, demo.catalogue, DAY, CompareBy(None, saved.workload, "CNY")))
    assert found.missing_rates == () and all(head.cost is not None for head in found.heads)
    raised = {head.row.number: {f.flag.id for f in head.flags if f.flagged.state is FlagState.RAISED} for head in found.heads}
    assert {"hidden_minimum", "idle_billed", "auto_renewal"} <= raised["VC-88021"]
    assert {"spot_above_on_demand", "provisioning_billed"} <= raised["KR-5530"]
    assert read(demo, commerce_undo.can_undo) is None


def test_that_a_number_that_two_offers_have_is_answered_with_their_ids(own: Services) -> None:
    write(own, lambda db: commerce_edit.save_offer(db, Offer("o3", "s1", "Q-o1")))
    with pytest.raises(UsageError, match=r"write the id of one: o1 \(offer of .*\), o3 \(offer of"):
        read(own, lambda c: commerce.find_deal(c, "Q-o1"))
    assert read(own, lambda c: commerce.find_deal(c, "o3")) == Subject(HolderOf.OFFER, "o3")


@pytest.mark.parametrize(("price", "words"), [
    (Price("p", Money(Decimal("NaN"), "CNY")), "is no price"), (Price("p", Money(Decimal(1), "CNY"), "fortnight"), "no unit of a price"),
    (Price("p", Money(Decimal(1), "CNY"), tax_rate=Decimal(13)), "no tax rate"), (Price("p", Money(Decimal(1), "CNY"), tax_rate=Decimal("-0.06")), "no tax rate"),
])  # fmt: skip
def test_that_a_price_that_can_not_be_is_refused(price: Price, words: str, own: Services) -> None:
    with pytest.raises(UsageError, match=words):
        write(own, lambda db: commerce_edit.save_price(db, ONE, price))


@pytest.mark.parametrize(("rate", "words"), [
    (FxRate("USD", "CNY", Decimal("NaN"), DAY), "is no rate"), (FxRate("USD", "CNY", Decimal(0), DAY), "is no rate"),
    (FxRate("usd", "CNY", Decimal(7), DAY), "'usd' is no currency"), (FxRate("CNY", "CNY", Decimal(7), DAY), "always costs 1"),
    (FxRate("USD", "CNY", Decimal(7), DAY, surcharge=Decimal("NaN")), "no surcharge"),
])  # fmt: skip
def test_that_a_rate_that_can_not_be_is_refused(rate: FxRate, words: str, own: Services) -> None:
    with pytest.raises(UsageError, match=words):
        write(own, lambda db: commerce_edit.save_rate(db, rate))
