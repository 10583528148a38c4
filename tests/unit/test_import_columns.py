"""Is every column of a quote read as what it is, refused by cell, or named as not imported?"""

from __future__ import annotations

from decimal import Decimal

import pytest

from gpulease_gui.services.importing_lines import Lines
from gpulease_gui.services.importing_rows import left_out_words

from .test_importing import lines


def cell(heading: str, words: str) -> Lines:
    return lines(f"型号\t单价(元/卡/时)\t{heading}\nH20\t12\t{words}\n")


@pytest.mark.parametrize(("heading", "words", "key", "value"), [
    ("Minimum", "24h", "billing.min_billed_s", 86_400), ("Min. rental", "none", "billing.min_billed_s", 0), ("最短计费", "1小时", "billing.min_billed_s", 3600),
    ("Minimum commitment", "24 hours", "billing.min_billed_s", 86_400), ("起租", "8卡起", "billing.min_gpus", 8), ("Granularity", "per second", "billing.granularity_s", 1),
    ("Billing", "hourly", "billing.granularity_s", 3600), ("计费方式", "按小时", "billing.granularity_s", 3600), ("计费周期", "按分钟", "billing.granularity_s", 60),
    ("Rounding", "per hour", "billing.granularity_s", 3600), ("Rounding", "up", "billing.rounding", "ceil"), ("整机出租", "是", "billing.whole_node_only", True),
    ("流量费", "0.8元/GB", "traffic.out_price_gb", Decimal("0.8")), ("Egress price", "0.05", "traffic.out_price_gb", Decimal("0.05")),
    ("Storage price", "0.35", "storage.price_gb_month", Decimal("0.35")), ("存储价格", "0.35元/GB/月", "storage.price_gb_month", Decimal("0.35")),
    ("付款方式", "月结30天", "deposit.pay_days", 30), ("付款方式", "预付30%", "deposit.prepay_share", Decimal("0.3")), ("账期", "2周", "deposit.pay_days", 14),
    ("押金", "1个月", "deposit.months", Decimal(1)), ("Deposit", "one month", "deposit.months", Decimal(1)), ("押金", "两个月租金", "deposit.months", Decimal(2)),
    ("押金", "押一付三", "deposit.months", Decimal(1)), ("Deposit (months)", "2", "deposit.months", Decimal(2)), ("押金", "5000元", "deposit.amount", Decimal(5000)),
])  # fmt: skip
def test_that_a_heading_of_trade_leads_to_its_term(heading: str, words: str, key: str, value: object):
    found = cell(heading, words)
    assert [(said.key, said.value) for said in found.lines[0].fields] == [(key, value)]
    assert (found.issues, found.warnings, found.left_out) == ((), (), ())


@pytest.mark.parametrize(("heading", "words"), [
    ("押金", "10%"), ("押金", "8卡"), ("押金", "5000元/台"), ("Deposit", "5000 per GPU"), ("押金", "5000-8000元"), ("存储单价", "1元/TB/月"), ("流量费", "0.8元/天"),
    ("押金（按月租数）", "5000元"), ("Share paid ahead", "0.5月"), ("数量", "8个月"), ("折扣", "0.9"), ("Granularity", "often"), ("Rounding", "per moon"),
])  # fmt: skip
def test_that_a_unit_of_something_else_is_an_error_by_cell(heading: str, words: str):
    found = cell(heading, words)
    assert [(issue.address, issue.words) for issue in found.issues] == [("pasted!C2", words)]
    assert found.lines[0].fields == ()


@pytest.mark.parametrize(("words", "share"), [
    ("monthly in advance", 1), ("Paid monthly in advance", 1), ("Quarterly prepayment", 1), ("prepaid, quarterly", 1), ("annually upfront", 1), ("月初预付", 1), ("按月预付", 1), ("季度预付", 1),
    ("预付月租金", 1), ("季初付款", 1), ("预付", 1), ("月结", 0), ("按季结算", 0), ("后付费", 0), ("次月付款", 0), ("monthly in arrears", 0), ("billed quarterly in arrears", 0), ("Postpaid", 0),
])  # fmt: skip
def test_that_a_payment_before_or_after_its_period_is_the_share_paid_ahead(words: str, share: int):
    found = cell("付款方式", words)
    assert [(said.key, said.value) for said in found.lines[0].fields] == [("deposit.prepay_share", Decimal(share))]
    assert (found.issues, found.warnings, found.questions) == ((), (), ())


@pytest.mark.parametrize("words", ["月付", "季付", "按年付款", "半年付", "monthly", "Quarterly", "paid monthly", "monthly payment", "billed annually", "per quarter"])
def test_that_a_regular_payment_is_asked_for_its_side_and_never_guessed(words: str):
    text = f"型号\t单价(元/卡/时)\t付款方式\nH20\t12\t{words}\n"
    asked = lines(text)
    assert [(q.key, q.default, [option for option, _ in q.options]) for q in asked.questions] == [("付款方式|paid.when", "", ["ahead", "after"])]
    assert (asked.lines[0].fields, asked.lines[0].waits, asked.warnings) == ((), ("付款方式|paid.when",), ())
    for answer, share in (("ahead", 1), ("after", 0)):
        (said,) = lines(text, **{"付款方式|paid.when": answer}).lines[0].fields
        assert (said.key, said.value, said.words) == ("deposit.prepay_share", Decimal(share), words)


@pytest.mark.parametrize("words", ["面谈后定", "银行转账", "monthly or yearly", "月付或季付", "letter of credit", "押一付三"])
def test_that_other_words_of_payment_stay_open_with_a_warning(words: str):
    found = cell("付款方式", words)
    assert (found.lines[0].fields, found.questions, len(found.warnings)) == ((), (), 1)


@pytest.mark.parametrize("words", ["1个月", "5天", "8卡", "2 months", "8 GPUs", "80GB"])
def test_that_a_count_or_a_time_is_no_price(words: str):
    assert [issue.address for issue in lines(f"型号\t单价(元/卡/时)\nH20\t{words}\n").issues] == ["pasted!B2"]


def test_that_a_wrong_step_is_told_the_steps_in_words():
    assert cell("Granularity", "often").issues[0].next_step.en == "write such as per second, per minute, per hour, hourly, per day, 1 h or 60 s"
    assert cell("Rounding", "per moon").issues[0].next_step.zh == "请写以下之一：向上取整"


def test_that_a_month_of_billing_and_the_side_of_a_discount_are_asked():
    assert [q.key for q in cell("计费方式", "按月").questions] == ["计费方式|duration.month"]
    text = "型号\t单价(元/卡/时)\t折扣\nH20\t12\t9折\n"
    assert [q.key for q in lines(text).questions] == ["折扣|discount"]
    assert [said.value for said in lines(text, **{"折扣|discount": "before"}).lines[0].fields] == [((("value", Decimal("0.1")),),)]
    after = lines(text, **{"折扣|discount": "after"}).lines[0]
    assert (after.fields, after.waits) == ((), ())


def test_that_what_a_price_is_per_still_stands_under_a_heading_of_billing():
    price = lines("型号\t单价(元)\t计费方式\nH20\t12\t卡/月\n").lines[0].price
    assert price is not None
    assert price.unit == "gpu_month"
    assert cell("计费方式", "包年包月").lines[0].mode == "reserved"


def test_that_a_price_beside_storage_stays_the_price():
    price = lines("型号\t单价(元/卡/时,含存储费)\nH20\t12\n").lines[0].price
    assert price is not None
    assert price.amount == Decimal(12)


def test_that_every_filled_column_that_is_not_imported_is_named():
    found = lines("型号\t单价(元/卡/时)\tColour\t空\tShape\nH20\t12\tred\t\tround\nH800\t13\t\t\tsquare\n")
    assert [(one.column, one.heading, one.rows) for one in found.left_out] == [(2, "Colour", 1), (4, "Shape", 2)]
    words = left_out_words(found.left_out)
    assert words is not None
    assert words.en == "not imported: Colour (1 row filled); Shape (2 rows filled)"
    assert left_out_words(lines("型号\t单价(元/卡/时)\nH20\t12\n").left_out) is None


@pytest.mark.parametrize("heading", ["Count", "GPU count", "Cards", "No. of GPUs", "GPU cards", "Number of cards"])
def test_that_a_heading_of_a_count_counts_cards_and_one_of_cores_does_not(heading: str):
    assert {said.key: said.value for said in cell(heading, "8").lines[0].terms}["gpu.count"] == 8
    assert "gpu.count" not in {said.key for said in cell("vCPU count", "96").lines[0].terms}


MODES = [("包月", "subscription"), ("包年", "subscription"), ("包日", "subscription"), ("按量", "on_demand"), ("按需", "on_demand"), ("后付费", "on_demand")]


@pytest.mark.parametrize(("words", "mode"), MODES)
def test_that_how_it_is_rented_is_no_error_between_steps_of_billing(words: str, mode: str):
    found = lines(f"型号\t单价(元/卡/时)\t计费\nH20\t12\t按小时\nH800\t13\t{words}\n")
    assert (found.issues, [one.mode for one in found.lines], found.lines[1].fields) == ((), [None, mode], ())
    least = lines(f"型号\t单价(元/卡/时)\t起租\nH20\t12\t24小时\nH800\t13\t{words}\n")
    assert (least.issues, [one.address for one in least.warnings], least.lines[1].bad) == ((), ["pasted!C3"], False)
