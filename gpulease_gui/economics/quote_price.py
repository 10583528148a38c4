"""What does a price in a quote say: how much, of what, per what, with tax or without?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.quote_words import (
    MOST_OF_A_VALUE,
    Ambiguous,
    Number,
    Option,
    Unread,
    Unstated,
    find_numbers,
    plain,
    says_nothing,
    too_long,
    trimmed,
)


@dataclass(frozen=True, slots=True)
class TaxReading:
    """`included` None = not said; `rate` 0.06 is 6 %, None = not said."""

    included: bool | None = None
    rate: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PriceReading:
    """A price as far as the words say it; `upper` is the end of a span. None = not said.

    `hedge` is what the words take back: "about", "from", or that it is free of charge.
    """

    amount: Decimal
    currency: str | None = None
    unit: PriceUnit | None = None
    tax: TaxReading = TaxReading()
    upper: Decimal | None = None
    hedge: Text | None = None


Price = PriceReading | Ambiguous[PriceReading] | Unread | Unstated

# Longest first: HK$ before $.
_CURRENCIES: tuple[tuple[str, str], ...] = (
    ("HK$", "HKD"), ("US$", "USD"), ("NT$", "TWD"), ("S$", "SGD"), ("A$", "AUD"), ("C$", "CAD"), ("人民币", "CNY"), ("RMB", "CNY"),
    ("CNY", "CNY"), ("CNH", "CNY"), ("美元", "USD"), ("美金", "USD"), ("USD", "USD"), ("港币", "HKD"), ("港元", "HKD"), ("HKD", "HKD"),
    ("欧元", "EUR"), ("EUR", "EUR"), ("日元", "JPY"), ("円", "JPY"), ("JPY", "JPY"), ("新元", "SGD"), ("SGD", "SGD"), ("TWD", "TWD"),
    ("新台币", "TWD"), ("GBP", "GBP"), ("英镑", "GBP"), ("AUD", "AUD"), ("CAD", "CAD"), ("KRW", "KRW"), ("INR", "INR"), ("₩", "KRW"),
    ("€", "EUR"), ("£", "GBP"), ("$", "USD"), ("¥", "CNY"), ("元", "CNY"), ("块", "CNY"), ("刀", "USD"),
)  # fmt: skip
_OTHERS = re.compile(r"(?<![A-Za-z])(?:CHF|RUB|BRL|AED|SAR|THB|VND|MYR|IDR|NZD|SEK|NOK|DKK|PLN|BTC|USDT|USDC)(?![A-Za-z])", re.IGNORECASE)

_GPU = r"gpu|npu|卡|张|单卡|每卡|card"
_NODE = r"node|server|instance|machine|box|台|机|节点|整机|服务器|单机|实例"
_HOUR = r"hours?|hrs?|h|小时|钟头|时"
_DAY = r"days?|d|天|日"
_MONTH = r"months?|mo|mth|m|月|个月"
_LONG = re.compile(r"(?:/|每|per\s)\s?(?:个)?(?:年|周|季度?|半年|years?|yr|weeks?|wk|quarter|min(?:ute)?s?|分钟|秒|sec(?:ond)?s?)(?![A-Za-z])", re.IGNORECASE)
_PAID_LONG = re.compile(r"年[付租费价]|包年|季[付租费价]|\bannual(?:ly)?\b|\byearly\b|\bquarterly\b", re.IGNORECASE)
# The GPUs of "8-GPU node" and "8卡整机" are a count, not what the price is per.
_THING = {"gpu": re.compile(rf"(?<!\d)(?<!\d[- x*])(?:{_GPU})", re.IGNORECASE), "node": re.compile(rf"(?:{_NODE})", re.IGNORECASE)}
# A period stands after a slash, "per", 每 or 卡/台, or alone as 月租 and 包月.
_PERIODS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"(?:(?:[/*·.・-]|\bper\b|\ba\b|每|一|{_GPU}|{_NODE})\s?(?:个)?(?:{words})(?![A-Za-z时])|{alone})", re.IGNORECASE))
    for name, words, alone in (
        ("month", _MONTH, r"月租|包月|月付|月价|\bmonthly\b"), ("day", _DAY, r"日租|包天|天租|\bdaily\b"),
        ("hour", _HOUR, r"时租|按时|\bhourly\b|卡时|机时"),
    )
)  # fmt: skip
_UNIT_LABELS = {
    PriceUnit.GPU_HOUR: Text("per GPU-hour", "每卡时"), PriceUnit.NODE_HOUR: Text("per node-hour", "每节点时"),
    PriceUnit.GPU_DAY: Text("per GPU-day", "每卡天"), PriceUnit.NODE_DAY: Text("per node-day", "每节点天"),
    PriceUnit.GPU_MONTH: Text("per GPU-month", "每卡月"), PriceUnit.NODE_MONTH: Text("per node-month", "每节点月"),
}  # fmt: skip


def read_price(words: str, heading: str = "") -> Price:
    """The price in `words`; what they leave open is taken from `heading`, the words above the column.

    "¥12.5/卡/小时", "元/月", "1.2万", "$2.5/h", "10-12 USD/GPU-hr", "含税". A period without GPU or node is asked.
    "面议", "按需" and a bare 0 state no price; "free" states one of 0.
    """
    long = too_long(words)
    if long is not None:
        return long
    text, above = plain(words), plain(heading[:MOST_OF_A_VALUE])
    if _states_none(text):
        return Unstated(words)
    if _FREE.search(text) and not re.search(r"[1-9]", text):
        unit = read_unit(above)
        return PriceReading(Decimal(0), read_currency(above) or "CNY", unit if isinstance(unit, PriceUnit) else PriceUnit.GPU_HOUR,
                            _tax_of(text, above), hedge=Text("free of charge: kept as a stated price of 0", "免费：记录为明确约定的 0 元"))  # fmt: skip
    if _ENDLESS.search(text):
        return Unread(words[:40], Text("a number with too many digits", "数字位数过多"), _WRITE)
    if _DISCOUNT.search(text):
        return Unread(words, Text("a discount: it does not say whether the price is before or after it", "含折扣，无法确定价格是折前还是折后"),
                      Text("write the price that is paid", "请写实付价格"))  # fmt: skip
    found = _amount(_without_tax(text))
    if isinstance(found, Text):
        return Unread(words, found, _WRITE)
    if _COUNTED.match(found.after) and not _MONEY_BEFORE.search(found.before):
        return Unread(words, Text("this counts time or things, it is no price", "此处为时长或数量，不是价格"), _WRITE)
    yearly = _PAID_LONG.search(text) or (_PAID_LONG.search(above) and _period(above) is None)
    if _LONG.search(text) or (_period(text) is None and (_LONG.search(above) or yearly)):
        return Unread(words, Text("prices are kept per hour, day or month", "价格只按小时、天或月记录"),
                      Text("convert it to one of them", "请换算为其中一种"))  # fmt: skip
    foreign = _OTHERS.search(text)
    if foreign and read_currency(text) is None:
        return Unread(words, Text(f"the currency {foreign[0].upper()} is not kept", f"不支持币种 {foreign[0].upper()}"))
    if found.value == 0 and not found.upper:
        return Unstated(words)
    ten_thousands = 10_000 if _heading_in_wan(above) and not re.search("万|[wW]", text) else 1
    return _with_unit(words, (found.before, found.after, above), PriceReading(
        found.value * ten_thousands, read_currency(text) or read_currency(above), None, _tax_of(text, above),
        found.upper * ten_thousands if found.upper is not None else None, _hedge(text),
    ))  # fmt: skip


# Words of trade for "ask us", whole or in a cell without a digit.
_ASK = re.compile(r"议|询|面谈|待定|未定|按需|联系|咨询|客服|暂无|不详|未知|\b(?:tbd|tbc|tba|poa|n\.?a\.?|null|nil|none|ask|quote|negotiable|contact|request|application|pending|unknown)\b", re.IGNORECASE)
_FREE = re.compile(r"免费|赠送|不收费|\bfree\b|complimentary", re.IGNORECASE)


def _states_none(text: str) -> bool:
    """Whether the words state no price: none at all, a dash, "price on request" in any of its forms."""
    if says_nothing(text) or not re.search(r"\w", text) or text in ("无", "没有", "none", "None"):
        return True
    return not re.search(r"\d", text) and _ASK.search(text) is not None


_HEDGES: tuple[tuple[re.Pattern[str], Text], ...] = (
    (re.compile(r"约|左右|上下|大概|参考价|预估|暂估|(?:^|\s)~|\b(?:about|approx\w*|circa|around|roughly|est(?:imated)?)\b", re.IGNORECASE), Text("an approximate price", "价格为约数")),
    (re.compile(r"起(?![租订步签售付])|以上|不低于|最低|[≥>]|\b(?:from|starting|at least|min(?:imum)?)\b|\d\s?\+(?!\s?(?:税|vat|tax|\d))", re.IGNORECASE), Text("a price from which it begins, not the price", "价格为起价，并非确定价格")),
    (re.compile(r"以内|以下|不超过|不高于|最高|封顶|[≤<]|\b(?:up to|at most|max(?:imum)?|below|under)\b", re.IGNORECASE), Text("the most that it costs, not the price", "价格为上限，并非确定价格")),
    (re.compile(r"可议|面议|可谈|negotiable|\bobo\b", re.IGNORECASE), Text("negotiable", "价格可议")),
)  # fmt: skip


# "8卡起" is the least that is let, and no hedge of the price.
_LEAST_ORDER = re.compile(r"(?<![/每])(?:\d+|[一二两三半])\s?(?:个)?(?:台|卡|张|天|日|月|年|小时|节点)\s?起")


def _hedge(text: str) -> Text | None:
    text = _LEAST_ORDER.sub(" ", text)
    return next((words for pattern, words in _HEDGES if pattern.search(text)), None)


_WRITE = Text("write digits and a dot, such as 16.20", "请写数字和小数点，例如 16.20")
_DISCOUNT = re.compile(r"%\s?(?:off|discount)|(?<![\d.])[1-9](?:\.\d)?\s?折", re.IGNORECASE)
_ENDLESS = re.compile(r"[\d.,]{29}")
# "1个月" and "8卡" are no prices; "12 卡/时" says what one is per.
_COUNTED = re.compile(
    r"\s?(?:个|天|日|年|周|小时|(?:月|卡|张|台|节点)(?!\s?(?:[/·・.*-]|每|小?时|天|月|卡|台))|%|折"
    r"|(?:days?|months?|years?|weeks?|hours?|hrs?|gpus?|cards?|nodes?|servers?)(?![A-Za-z]|\s?[/·・.*-])|[GMT]i?[Bb](?:ps)?(?![A-Za-z]))", re.IGNORECASE,
)  # fmt: skip
_MARKS = "|".join(re.escape(mark) for mark, _ in _CURRENCIES)
_MONEY_BEFORE = re.compile(rf"(?:{_MARKS})\s?$", re.IGNORECASE)
_MONEY_AFTER = re.compile(rf"\s?(?:/(?!\s?\d)|每|{_MARKS})", re.IGNORECASE)


def _amount(text: str) -> Number | Text:
    """The one number that is the price; of several, the one beside a currency or a slash. Else why there is none."""
    numbers = [number for number in find_numbers(text) if number.value >= 0]
    if len(numbers) > 1:
        numbers = [n for n in numbers if _MONEY_BEFORE.search(n.before) or _MONEY_AFTER.match(n.after)]
        if len(numbers) != 1:
            return Text("several numbers stand here, and none of them alone is a price", "此处有多个数字，无法确定哪个是价格")
    return numbers[0] if numbers else Text("this is no price", "无法识别为价格")


def _with_unit(words: str, around: tuple[str, str, str], price: PriceReading) -> Price:
    before, after, above = around
    thing = _first_thing(after) or _thing(before) or _thing(above)
    period = _period(after) or _period(before) or _period(above)
    if period is None:
        return price
    if thing is None:
        return _which_thing(words, price, period)
    return replace(price, unit=PriceUnit(f"{thing}_{period}"))


def _which_thing(words: str, price: PriceReading, period: str) -> Ambiguous[PriceReading]:
    units = (PriceUnit(f"gpu_{period}"), PriceUnit(f"node_{period}"))
    return Ambiguous(
        f"per.{period}", words, Text("Is this price for one GPU or for a whole node?", "该价格是单卡还是整机？"),
        tuple(Option(str(unit), _UNIT_LABELS[unit], replace(price, unit=unit)) for unit in units),
    )  # fmt: skip


def read_unit(words: str) -> PriceUnit | Ambiguous[PriceUnit] | None:
    """What a price is per, from words without a number ("元/卡/月", "per node-hour"); None = not said."""
    text = plain(words).replace("_", "-")
    thing, period = _thing(text), _period(f"/{text}")
    if period is None:
        return None
    if thing is not None:
        return PriceUnit(f"{thing}_{period}")
    units = (PriceUnit(f"gpu_{period}"), PriceUnit(f"node_{period}"))
    return Ambiguous(
        f"per.{period}", words, Text("Is this price for one GPU or for a whole node?", "该价格是单卡还是整机？"),
        tuple(Option(str(unit), _UNIT_LABELS[unit], unit) for unit in units),
    )  # fmt: skip


def _first_thing(text: str) -> str | None:
    """What stands right behind the amount: "元/卡/时，整机起租" is per card."""
    places = [(found.start(), thing) for thing, pattern in _THING.items() if (found := pattern.search(text))]
    return min(places)[1] if places else None


def _thing(text: str) -> str | None:
    """The only thing that is named; two things say nothing."""
    named = [thing for thing, pattern in _THING.items() if pattern.search(text)]
    return named[0] if len(named) == 1 else None


def _period(text: str) -> str | None:
    return next((name for name, pattern in _PERIODS if pattern.search(text)), None)


def read_currency(words: str) -> str | None:
    """The ISO code of the first currency named in `words`; None = none is named. "¥" is read as CNY, "$" as USD."""
    text = plain(words).upper()
    places = [(text.find(mark), -len(mark), code) for mark, code in _CURRENCIES if mark in text]
    return min(places)[2] if places else None


def _heading_in_wan(above: str) -> bool:
    return bool(re.search(r"万(?:元|/|人民币|\)|$)", above))


# -- tax -------------------------------------------------------------------------------------------------------------------

_RATE = r"(?P<rate>\d{1,2}(?:\.\d+)?)\s?%"
_EXCLUDED = re.compile(r"不含(?:\d{1,2}(?:\.\d+)?\s?%\s?的?)?(?:(?:增值)?税|专票|普票|发票)|未税|税前|税另计|另加税|excl\w*\.?\s?(?:of\s)?(?:vat|tax)|(?:before|w/o|without|plus|\+)\s?(?:vat|tax|税)"
                       r"|(?:vat|tax)\s?(?:not included|excl\w*)", re.IGNORECASE)  # fmt: skip
_INCLUDED = re.compile(r"含(?:\d{1,2}(?:\.\d+)?\s?%\s?的?)?(?:(?:增值)?税|专票|普票|发票)|税后|incl\w*\.?\s?(?:of\s)?(?:\d{1,2}(?:\.\d+)?\s?%\s?)?(?:vat|tax)|(?:vat|tax)\s?incl\w*|with (?:vat|tax)",
                       re.IGNORECASE)  # fmt: skip
_TAX_RATE = re.compile(rf"(?:税率?|vat|tax|专票|普票|税点)[^\d%]{{0,8}}{_RATE}|{_RATE.replace('rate', 'early')}\s?的?(?:增值)?(?:税|专票|普票|vat|tax)", re.IGNORECASE)


def read_tax(words: str) -> TaxReading:
    """Whether tax is in the price, and how much: "含税", "不含税", "税率6%", "含13%专票", "excl. VAT"."""
    text = plain(words)
    included = False if _EXCLUDED.search(text) else True if _INCLUDED.search(text) else None
    found = _TAX_RATE.search(text)
    rate = Decimal(found["rate"] or found["early"]) / 100 if found else None
    return TaxReading(included, rate)


def _tax_of(text: str, above: str) -> TaxReading:
    own, heading = read_tax(text), read_tax(above)
    return TaxReading(own.included if own.included is not None else heading.included, own.rate if own.rate is not None else heading.rate)


_PERCENT = re.compile(r"\d{1,3}(?:\.\d+)?\s?%")


def _without_tax(text: str) -> str:
    """The words without their percentages, which are never the price."""
    return _PERCENT.sub(" ", text)


# -- writing ---------------------------------------------------------------------------------------------------------------

_UNIT_WORDS = {
    PriceUnit.GPU_HOUR: ("GPU-hour", "卡/小时"), PriceUnit.NODE_HOUR: ("node-hour", "台/小时"), PriceUnit.GPU_DAY: ("GPU-day", "卡/天"),
    PriceUnit.NODE_DAY: ("node-day", "台/天"), PriceUnit.GPU_MONTH: ("GPU-month", "卡/月"), PriceUnit.NODE_MONTH: ("node-month", "台/月"),
}  # fmt: skip


def price_words(price: PriceReading) -> Text:
    """The price as a quote would write it; `read_price` of either language gives the same reading back."""
    amount = amount_text(price.amount, grouped=False)
    span = amount if price.upper is None else f"{amount}-{amount_text(price.upper, grouped=False)}"
    en, zh = [f"{price.currency} {span}" if price.currency else span], [f"{span} {price.currency}" if price.currency else span]
    if price.unit is not None:
        english, chinese = _UNIT_WORDS[price.unit]
        en[0], zh[0] = f"{en[0]}/{english}", f"{zh[0]}/{chinese}"
    _add_tax(price.tax, en, zh)
    return Text(", ".join(en), "，".join(zh))


def _add_tax(tax: TaxReading, en: list[str], zh: list[str]) -> None:
    if tax.included is not None:
        en.append("tax included" if tax.included else "tax not included")
        zh.append("含税" if tax.included else "不含税")
    if tax.rate is not None:
        en.append(f"tax rate {trimmed(tax.rate * 100)} %")
        zh.append(f"税率 {trimmed(tax.rate * 100)}%")

