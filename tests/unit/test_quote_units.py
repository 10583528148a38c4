"""Are prices, rates, sizes and times of quotes read as they are meant, and asked where they mean two things?"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.quote_price import (
    PriceReading,
    TaxReading,
    price_words,
    read_currency,
    read_price,
    read_tax,
    read_unit,
)
from gpulease_gui.economics.quote_units import (
    DurationReading,
    RateReading,
    SizeReading,
    duration_words,
    rate_words,
    read_count,
    read_day,
    read_duration,
    read_rate,
    read_share,
    read_size,
    read_yes_no,
    size_words,
)
from gpulease_gui.economics.quote_words import Ambiguous, Unread, Unstated

SAID, SILENT = TaxReading(True), TaxReading()
GPU_HOUR, NODE_HOUR, GPU_MONTH, NODE_MONTH = PriceUnit.GPU_HOUR, PriceUnit.NODE_HOUR, PriceUnit.GPU_MONTH, PriceUnit.NODE_MONTH


@pytest.mark.parametrize(
    ("words", "amount", "currency", "unit", "tax"),
    [
        ("¥12.5/卡/小时", "12.5", "CNY", GPU_HOUR, SILENT),
        ("￥１２．５／卡／小时", "12.5", "CNY", GPU_HOUR, SILENT),
        ("RMB 12.5/卡时 含税", "12.5", "CNY", GPU_HOUR, SAID),
        ("12.5元每卡每小时", "12.5", "CNY", GPU_HOUR, SILENT),
        ("USD 2.49/GPU-hr", "2.49", "USD", GPU_HOUR, SILENT),
        ("$2.49 per GPU hour, excl. VAT", "2.49", "USD", GPU_HOUR, TaxReading(False)),
        ("HK$20/gpu/h", "20", "HKD", GPU_HOUR, SILENT),
        ("USD 20 per 8-GPU node per hour", "20", "USD", NODE_HOUR, SILENT),
        ("36,000 元/卡/月", "36000", "CNY", GPU_MONTH, SILENT),
        ("7.5万/台/月(含6%税)", "75000", None, NODE_MONTH, TaxReading(True, Decimal("0.06"))),
        ("8卡整机 3万元/月", "30000", "CNY", NODE_MONTH, SILENT),
        ("不含税 12.80 元/卡/时，税率6%", "12.80", "CNY", GPU_HOUR, TaxReading(False, Decimal("0.06"))),
        ("含13%专票 12元/卡时", "12", "CNY", GPU_HOUR, TaxReading(True, Decimal("0.13"))),
        ("1.2万", "12000", None, None, SILENT),
        ("16.20 CNY", "16.20", "CNY", None, SILENT),
        ("24小时起租 12.5元", "12.5", "CNY", None, SILENT),
        ("12.5 元/卡/时，整机起租", "12.5", "CNY", GPU_HOUR, SILENT),
        ("¥99/天/卡", "99", "CNY", PriceUnit.GPU_DAY, SILENT),
    ],
)
def test_that_a_price_is_read_with_its_currency_unit_and_tax(words, amount, currency, unit, tax):
    assert read_price(words) == PriceReading(Decimal(amount), currency, unit, tax)


@pytest.mark.parametrize("words", ["元/月 36000", "36000元/月", "$2.5/h", "￥800/天", "12.5/hour"])
def test_that_a_period_without_gpu_or_node_is_asked(words):
    asked = read_price(words)
    assert isinstance(asked, Ambiguous) and asked.kind.startswith("per.")
    assert [option.reading.unit.of_node for option in asked.options] == [False, True]
    assert asked.answered("no such option") is None


def test_that_the_heading_says_what_the_cell_leaves_out():
    assert read_price("12.5", "单价（元/卡/时，含税）") == PriceReading(Decimal("12.5"), "CNY", GPU_HOUR, SAID)
    assert read_price("3.6", "月租(万元/台)") == PriceReading(Decimal(36000), "CNY", NODE_MONTH, SILENT)
    assert read_price("3.6万", "月租(万元/台)") == PriceReading(Decimal(36000), "CNY", NODE_MONTH, SILENT), "not twice"
    assert read_price("$2", "price (CNY/GPU-hour)") == PriceReading(Decimal(2), "USD", GPU_HOUR, SILENT), "the cell wins"


@pytest.mark.parametrize("words", ["面议", "另议", "TBD", "-", "", "价格面议"[2:], "call us", "N/A"])
def test_that_a_price_on_request_is_not_stated_and_never_zero(words):
    assert isinstance(read_price(words), Unstated)


@pytest.mark.parametrize("words", ["1,5", "1.234,56", "八折", "-12", "8 12", "12.5元/年", "5 CHF", "税率13%", "1.2.3"])
def test_that_what_is_no_price_is_said_and_not_guessed(words):
    found = read_price(words)
    assert isinstance(found, Unread) and found.why.en and found.why.zh and found.next_step.zh


def test_that_a_span_keeps_both_ends():
    assert read_price("10-12元/卡/时") == PriceReading(Decimal(10), "CNY", GPU_HOUR, SILENT, Decimal(12))
    assert read_price("1~1.2万/卡/月") == PriceReading(Decimal(10000), None, GPU_MONTH, SILENT, Decimal(12000))


def test_that_units_without_a_number_are_read():
    assert [read_unit(words) for words in ("元/卡/月", "gpu_hour", "per node-hour", "卡时", "day per gpu")] == [
        GPU_MONTH, GPU_HOUR, NODE_HOUR, GPU_HOUR, PriceUnit.GPU_DAY,
    ]  # fmt: skip
    assert read_unit("元") is None
    assert isinstance(read_unit("元/月"), Ambiguous)
    assert [read_currency(words) for words in ("人民币", "US$", "12円", "nothing")] == ["CNY", "USD", "JPY", None]


@given(
    st.decimals("0.0001", "9999999", places=4), st.sampled_from(["CNY", "USD", "EUR", "HKD", "JPY", "SGD"]), st.sampled_from(list(PriceUnit)),
    st.sampled_from([None, True, False]), st.sampled_from([None, Decimal("0.06"), Decimal("0.13"), Decimal("0.005")]), st.booleans(),
)  # fmt: skip
def test_that_every_written_price_is_read_back_in_both_languages(amount, currency, unit, included, rate, is_span):
    price = PriceReading(amount, currency, unit, TaxReading(included, rate), amount + 1 if is_span else None)
    assert read_price(price_words(price).en) == price
    assert read_price(price_words(price).zh) == price


@given(st.text(max_size=40))
def test_that_no_words_break_a_reader(words):
    for read in (read_price, read_rate, read_size, read_duration, read_count, read_day, read_share, read_yes_no, read_tax, read_unit):
        read(words)


# -- rates and sizes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "gbit_s", "lines"),
    [
        ("100Gbps", 100, 1), ("100 Gbit/s", 100, 1), ("12.5 GB/s", 100, 1), ("100GBps", 800, 1), ("2*25Gb/s", 50, 2), ("8×400Gbps", 3200, 8),
        ("3.2 Tbps", 3200, 1), ("500 Mbps", Decimal("0.5"), 1), ("IB 4x200Gbps", 800, 4), ("1 GiB/s", Decimal("8.589934592"), 1),
    ],
)  # fmt: skip
def test_that_a_rate_knows_bits_from_bytes(words, gbit_s, lines):
    assert read_rate(words) == RateReading(Decimal(gbit_s), lines)


@pytest.mark.parametrize("words", ["100G", "100 G", "2*25G", "100gb/s", "100GB", "400", "1000M"])
def test_that_a_rate_that_does_not_say_bits_or_bytes_is_asked(words):
    asked = read_rate(words)
    assert isinstance(asked, Ambiguous)
    bits, in_bytes = (option.reading for option in asked.options)
    assert in_bytes.gbit_s == 8 * bits.gbit_s


def test_that_the_heading_may_say_bits_or_bytes():
    assert read_rate("100", "带宽(Gbps)") == RateReading(Decimal(100))
    assert read_rate("100", "上行 Mbps") == RateReading(Decimal("0.1"))
    assert read_rate("900", "NVLink (GB/s)").gb_s == 900


def test_that_sizes_are_read_and_memory_counts_in_steps_of_1024():
    assert read_size("80G") == read_size("80GB") == SizeReading(Decimal(80), "G")
    assert [read_size(words).sold_gb for words in ("80G", "80GiB", "2T", "1.5TB", "512M")] == [80, 80, 2048, 1536, Decimal("0.5")]
    assert [read_size(words).decimal_gb for words in ("2TB", "1TiB", "4*3.84T")] == [2000, Decimal("1099.511627776"), 15360]
    assert read_size("2", "存储(TB)").decimal_gb == 2000
    assert isinstance(read_size("100 G/s"), Unread) and isinstance(read_size("fast"), Unread)


@given(st.decimals("0.001", "99999", places=3), st.integers(1, 16))
def test_that_every_written_rate_and_size_is_read_back(value, lines):
    rate = RateReading(value * lines, lines)
    assert read_rate(rate_words(rate)) == rate
    for step in "MGTP":
        for binary in (False, True):
            assert read_size(size_words(SizeReading(value, step, binary))) == SizeReading(value, step, binary)


# -- times, counts, days ---------------------------------------------------------------------------------------------------


def test_that_times_are_whole_seconds_and_a_month_is_asked():
    said = ("24小时", "1 day", "0.5h", "按秒计费", "per minute", "2周", "起租7天")
    assert [read_duration(words).seconds for words in said] == [86400, 86400, 1800, 1, 60, 1209600, 604800]
    assert read_duration("24", "最短租期(小时)") == DurationReading(86400)
    asked = read_duration("3个月")
    assert isinstance(asked, Ambiguous) and [o.reading.seconds for o in asked.options] == [90 * 86400, 93 * 86400]
    assert isinstance(read_duration("soon"), Unread)


@given(st.integers(0, 10**9))
def test_that_every_written_time_is_read_back(seconds):
    words = duration_words(DurationReading(seconds))
    assert read_duration(words.en) == read_duration(words.zh) == DurationReading(seconds)


def test_that_days_counts_and_shares_are_read():
    for words in ("2026-03-01", "2026/3/1", "2026年3月1日", "20260301", "2026-03-01 00:00"):
        assert read_day(words) == date(2026, 3, 1)
    assert read_day("13/04/2026") == date(2026, 4, 13) == read_day("04/13/2026")
    asked = read_day("03/04/2026")
    assert isinstance(asked, Ambiguous) and [o.reading for o in asked.options] == [date(2026, 3, 4), date(2026, 4, 3)]
    assert isinstance(read_day("2026-02-30"), Unread)
    assert (read_count("8卡"), read_count("8 GPUs"), read_count("1,024")) == (8, 8, 1024)
    assert isinstance(read_count("8.5"), Unread) and isinstance(read_count("8-16"), Unread)
    assert (read_share("99.9%"), read_share("99.9", "SLA %"), read_share("0.999")) == (Decimal("0.999"),) * 3
    assert isinstance(read_share("99.9"), Unread)
    assert (read_yes_no("支持"), read_yes_no("否")) == (True, False)
    assert isinstance(read_yes_no(""), Unstated) and isinstance(read_yes_no("perhaps"), Unread)
