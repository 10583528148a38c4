"""What must be asked about a price before it can be kept, and how do bare numbers of a column share one reading?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.quote_price import Price, PriceReading, TaxReading, read_tax
from gpulease_gui.economics.quote_units import read_yes_no
from gpulease_gui.economics.quote_words import Ambiguous, Option, Unread, plain, says_nothing, too_long, without_tail

BARE = re.compile(r"\d+(?:\.\d+)?")


def times(price: Price, words: str) -> Price:
    """What was read of "1" under some words, for the bare number `words` under the same ones."""
    number = Decimal(words)
    if isinstance(price, PriceReading):
        return _changed(price, _product(price.amount, number), price.tax)
    if isinstance(price, Ambiguous):
        options = tuple(replace(o, reading=replace(o.reading, amount=_product(o.reading.amount, number))) for o in price.options)
        return replace(price, words=words, options=options)
    return replace(price, words=words)


def taxed(price: PriceReading, tax: TaxReading) -> PriceReading:
    """The price with what was said of its tax."""
    return price if tax == price.tax else _changed(price, price.amount, tax)


def _changed(price: PriceReading, amount: Decimal, tax: TaxReading) -> PriceReading:
    """As `replace`, which takes four times as long and is asked for every row."""
    return PriceReading(amount, price.currency, price.unit, tax, price.upper, price.hedge)


def _product(one: Decimal, number: Decimal) -> Decimal:
    return number if one == 1 else without_tail(one * number)


def bare_rate(words: str) -> Decimal | None:
    """0.06 and 6 in a column of tax rates are 6 %."""
    if not re.fullmatch(r"\d{1,2}(?:\.\d+)?", words):
        return None
    rate = Decimal(words)
    return rate if rate < 1 else rate / 100


def is_rate(words: str) -> bool:
    """Whether a bare number is a usual rate of value-added tax; 12.5 under "tax included" is a price."""
    return re.fullmatch(r"0?\.[01]\d{0,2}|1\.5|[13569](?:\.0+)?|13(?:\.0+)?", words) is not None


_NO_TAX = re.compile(r"免税|零税率|tax[- ]?(?:free|exempt)|vat[- ]?exempt", re.IGNORECASE)
_NOT_IN = re.compile(r"不含|未含|未税|另加|另计|另付|exclu|excl\b|not incl|plus|\+", re.IGNORECASE)
_IN = re.compile(r"含|已税|inclu|incl\b", re.IGNORECASE)
_POINTS = re.compile(r"(\d{1,2}(?:\.\d+)?)\s?(?:%|个?点)|税[点率]\s?[:：]?\s?(\d{1,2}(?:\.\d+)?)(?![\d.])")


def tax_of(words: str, heading: str, before: TaxReading) -> TaxReading | Unread:
    """A column of tax: "含税", "6%", "excl. 6%", or yes and no under a heading that says which; `before` is what was said so far."""
    long = too_long(words)
    if long is not None:
        return long
    if says_nothing(words):
        return before
    above, said = read_tax(heading), read_yes_no(words)
    if isinstance(said, bool):
        return TaxReading(said if above.included is not False else not said, before.rate)
    text, found = plain(words), read_tax(words)
    if _NO_TAX.search(text):
        return TaxReading(before.included, Decimal(0))
    if bare_rate(text) is not None and above.included is not None and not is_rate(text):
        return Unread(words, Text("no usual rate of tax; it may be a price", "不是常见税率，可能是价格"),
                      Text("map the column as the price, or leave it out", "请将该列改为单价，或不导入该列"))  # fmt: skip
    included = found.included if found.included is not None else False if _NOT_IN.search(text) else True if _IN.search(text) else None
    points = _POINTS.findall(text)
    if len(points) > 1 or (not points and included is None and bare_rate(text) is None):
        return Unread(words, Text("this is nothing that is known about tax", "无法识别的税务说明"),
                      Text("write such as: included, 6 %", "请写成例如：含税 6%"))  # fmt: skip
    rate = Decimal(points[0][0] or points[0][1]) / 100 if points else bare_rate(text)
    first = next((one for one in (included, above.included, before.included) if one is not None), None)
    return TaxReading(first, rate if rate is not None else before.rate)


_CURRENCIES = ("CNY", "USD", "EUR", "HKD")


def which_end(price: PriceReading, words: str) -> Ambiguous[PriceReading] | None:
    """The question for a span of prices; None where there is one price."""
    if price.upper is None:
        return None
    low, high = replace(price, upper=None), replace(price, amount=price.upper, upper=None)
    return Ambiguous("span", words, Text("A span of prices: which end counts?", "价格为区间，取哪一端？"), (
        Option("low", Text("the lower end", "下限"), low), Option("high", Text("the upper end", "上限"), high),
    ))  # fmt: skip


def which_currency(price: PriceReading, words: str) -> Ambiguous[PriceReading] | None:
    """The question for a price without a currency; None where it names one."""
    if price.currency is not None:
        return None
    options = tuple(Option(code, Text(code, code), replace(price, currency=code)) for code in _CURRENCIES)
    return Ambiguous("currency", words, Text("In which currency are these prices?", "这些价格是什么币种？"), options)


def which_unit(price: PriceReading, words: str) -> Ambiguous[PriceReading] | None:
    """The question for a price that does not say what it is per; None where it does."""
    if price.unit is not None:
        return None
    options = tuple(Option(str(unit), label, replace(price, unit=unit)) for unit, label in UNIT_LABELS.items())
    return Ambiguous("unit", words, Text("What is this price per?", "该价格按什么计？"), options)


UNIT_LABELS: Mapping[PriceUnit, Text] = {
    PriceUnit.GPU_HOUR: Text("per GPU-hour", "每卡时"), PriceUnit.NODE_HOUR: Text("per node-hour", "每节点时"),
    PriceUnit.GPU_DAY: Text("per GPU-day", "每卡天"), PriceUnit.NODE_DAY: Text("per node-day", "每节点天"),
    PriceUnit.GPU_MONTH: Text("per GPU-month", "每卡月"), PriceUnit.NODE_MONTH: Text("per node-month", "每节点月"),
}  # fmt: skip
