"""What does a cell say of money, a count or a share of a commercial term, and when is its unit another one?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TypeAlias

from gpulease_gui.domain.commercial import Field, FieldValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_price import PriceReading, read_currency, read_price
from gpulease_gui.economics.quote_units import (
    Duration,
    DurationReading,
    SizeReading,
    read_count,
    read_duration,
    read_number,
    read_share,
    read_size,
)
from gpulease_gui.economics.quote_words import (
    Ambiguous,
    Doubtful,
    Option,
    Unread,
    Unstated,
    find_number,
    numbered,
    plain,
)


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The cell states another term than its column: a deposit of "1 month" is no money."""

    key: str
    value: FieldValue


Amount: TypeAlias = "FieldValue | Elsewhere | Ambiguous[FieldValue | Elsewhere | Unstated] | Doubtful[FieldValue] | Unread | Unstated"

# -- money -----------------------------------------------------------------------------------------------------------------

_NO_MONEY = re.compile(r"0+(?:\.0+)?\s?元?|无|没有|免|none|no|(?:无|免)\s?(?:押金|费用?|流量费)?|不收费?|free(?: of charge)?", re.IGNORECASE)
_CURRENCY = re.compile(r"^\s?(?:人民币|rmb|cny|cnh|us\$|hk\$|usd|hkd|eur|gbp|sgd|jpy|twd|aud|cad|krw|inr|美元|美金|港币|港元|欧元|日元|新元|英镑|元|块|刀|円|[¥$€£₩])", re.IGNORECASE)
_SAYS_NO_UNIT = re.compile(
    r"[,;.(\[)\]+]|不?含|未税|税|起|左右|上下|以[内上下]|整|押金|保证金|可退|不退|退还|可议|每次|一次性?|deposit|refund|incl|excl|plus|net\b|gross|or\b|tax|vat|flat|once|one[- ]off|in total",
    re.IGNORECASE,
)
_PER = re.compile(r"/|每|\bper\b|\beach\b|\ba\b", re.IGNORECASE)
_PER_GB_MONTH = re.compile(r"(?:/|每|per)\s?(?:GB|G)\s?(?:/|·|-|\*|每|per|a)?\s?(?:个?月|months?|mo)(?![A-Za-z])", re.IGNORECASE)
_PER_GB = re.compile(r"(?:/|每|per)\s?(?:GB|G)(?![A-Za-z])(?!\s?(?:/|·|-|\*|每|per)\s?(?:个?月|天|日|小?时|月|m|d|h))", re.IGNORECASE)
_PER_GPU_HOUR = re.compile(r"(?:/|每|per)\s?(?:单?卡|张|gpu|card)\s?(?:/|·|-|\*|每|per|a)?\s?(?:小?时|hours?|hrs?|h)(?![A-Za-z])", re.IGNORECASE)


def _per(key: str) -> re.Pattern[str] | None:
    """What the money of a term is per; None = of nothing, it is a sum."""
    if key.endswith("_gb_month"):
        return _PER_GB_MONTH
    if key.endswith("_price_gb"):
        return _PER_GB
    return _PER_GPU_HOUR if key in ("billing.on_demand_gpu_hour", "commitment.price", "commitment.overage_price") else None


def read_money(field: Field, words: str, heading: str) -> Amount:
    """An amount of money; one that is per something else than the term counts is no value of it."""
    text = plain(words)
    if _NO_MONEY.fullmatch(text):
        return Decimal(0)
    months = _months(text, heading) if field.key == "deposit.amount" else None
    if months is not None:
        return Elsewhere("deposit.months", months)
    price = read_price(words, heading)
    price = price.options[0].reading if isinstance(price, Ambiguous) else price
    if not isinstance(price, PriceReading):
        return price
    found = find_number(text)
    if price.upper is not None or (found and _another_unit(field, found.before, found.after)):
        return _no_such_money(field, words, span=price.upper is not None)
    return price.amount if price.hedge is None else Doubtful(words, price.amount, price.hedge, Text("confirm it with the supplier", "请向供应商确认"))


def _another_unit(field: Field, before: str, after: str) -> bool:
    tail, per = _CURRENCY.sub("", after).strip(), _per(field.key)
    own = per.match(tail) if per else None
    tail = tail[own.end() :].strip() if own else tail
    return bool(tail and not _SAYS_NO_UNIT.match(tail)) or _PER.search(f"{before} {tail}") is not None


def _no_such_money(field: Field, words: str, *, span: bool) -> Unread:
    if span:
        return Unread(words, Text("a span of amounts", "金额为区间"), Text("write the amount that is agreed", "请写约定的金额"))
    return Unread(words, Text(f"the unit behind the amount is not that of “{field.label.en}”", f"金额后的单位与“{field.label.zh}”不符"),
                  Text("write the amount alone, converted to that unit, such as 12.50", "请换算后只写金额，例如 12.50"))  # fmt: skip


_MONTHS = re.compile(r"(?P<n>\d+(?:\.\d+)?)\s?(?:个)?(?:月|months?'?|mo)(?:'s?)?(?:的|份)?\s?(?:of\s)?(?:租金|月租|费用|押金|rent|fee|deposit|price)?", re.IGNORECASE)
_PLEDGED = re.compile(r"押\s?(?P<n>\d+)(?:\s?个月)?(?:\s?付\s?\d+)?")
_IN_MONTHS = re.compile(r"[(\[/]\s?(?:个?月数?|months?)\s?[)\]]?$", re.IGNORECASE)


def _months(text: str, heading: str) -> Decimal | None:
    """How many month prices a deposit is; None where the words say none. "押一付三" is one."""
    text = text.replace("半个月", "0.5个月").replace("half a month", "0.5 months")
    pledged = re.sub(r"(押|付)\s?([一二两三四五六])", lambda m: f"{m[1]}{'一二三四五六'.find(m[2].replace('两', '二')) + 1}", text)
    found = _MONTHS.fullmatch(numbered(text)) or _PLEDGED.fullmatch(pledged)
    if found:
        return Decimal(found["n"])
    bare = re.fullmatch(r"\d{1,2}(?:\.\d+)?", text)
    return Decimal(text) if bare and _IN_MONTHS.search(plain(heading)) and read_currency(heading) is None else None


# -- counts ----------------------------------------------------------------------------------------------------------------

_TAILS: Mapping[str, str] = {
    "months": r"个?月|months?|mo", "GPUs": r"卡|张|个|gpus?|cards?", "nodes": r"台|个?节点|个|nodes?|servers?|machines?", "": r"次|个|期|倍|periods?|times|x",
    "GPU-h": r"卡\s?[·.-]?\s?小?时|gpu[- ]?h(?:ours?|rs?)?",
}  # fmt: skip
_SECONDS = {"days": 86_400, "h": 3600}
_BEHIND = r"\s?(?:起租?|以[内上]|内|之内|前|后|\(.*\)|[,;].*)?"


def read_amount(field: Field, words: str, heading: str, read: Callable[[str], Decimal | int | Unread | Unstated]) -> Amount:
    """A number in the unit of the field; days and hours are converted, a unit that is not known is refused."""
    found = read(words)
    if isinstance(found, Unread | Unstated):
        return found
    number = find_number(numbered(plain(words)))
    tail = number.after.strip() if number else ""
    if not tail:
        return found
    if field.unit in _SECONDS:
        whole = isinstance(found, int)
        return _of_time(re.sub(r"自然日|natural days?|calendar days?", "天", plain(words), flags=re.IGNORECASE), field, whole=whole)
    if field.unit == "GB":
        size = read_size(words, heading)
        return size.decimal_gb if isinstance(size, SizeReading) else size
    return found if re.fullmatch(f"(?:{_TAILS.get(field.unit, '(?!)')}){_BEHIND}", tail, re.IGNORECASE) else _wrong_unit(field, words)


def _of_time(words: str, field: Field, *, whole: bool) -> Amount:
    found = read_duration(words)
    if isinstance(found, Ambiguous):
        options = [(o, _in_unit(o.reading, field, whole=whole)) for o in found.options]
        kept: tuple[Option[FieldValue | Unstated], ...] = tuple(Option(o.id, o.label, value) for o, value in options if value is not None)
        return Ambiguous(found.kind, found.words, found.question, kept) if kept else _wrong_unit(field, words)
    value = _in_unit(found, field, whole=whole) if isinstance(found, DurationReading) else None
    return value if value is not None else _wrong_unit(field, words)


def _in_unit(time: Duration, field: Field, *, whole: bool) -> FieldValue | None:
    if not isinstance(time, DurationReading):
        return None
    value = Decimal(time.seconds) / _SECONDS[field.unit]
    if whole:
        return int(value) if value == int(value) else None
    return value


def _wrong_unit(field: Field, words: str) -> Unread:
    unit = field.unit or "1"
    return Unread(words, Text(f"the unit is not that of “{field.label.en}”", f"单位与“{field.label.zh}”不符"),
                  Text(f"write a number of {field.unit}" if field.unit else "write the number alone", f"请只写数字，单位为 {unit}" if field.unit else "请只写数字"))  # fmt: skip


def read_part(words: str, heading: str) -> Decimal | Unread | Unstated:
    """A share; "0.5 months" is none."""
    number = find_number(plain(words))
    if number and number.after.strip() and not number.after.strip().startswith("%"):
        return Unread(words, Text("this is no percentage", "无法识别为百分比"), Text("write such as 99.9%", "请写成 99.9%"))
    return read_share(words, heading)


_OTHER_TAIL = re.compile(r"\s?(?:%|[¥$€£]|元|美[元金]|usd|cny|rmb|个?月|天|日|小时|年|周|months?|days?|hours?|hrs?|years?|weeks?|折)(?![a-z])", re.IGNORECASE)


def foreign_unit(words: str, unit: str = "") -> Unread | None:
    """The refusal of a technical number with money, a time or a share behind it; None for others."""
    number = find_number(plain(words))
    if number is None or (unit and number.after.strip().casefold().startswith(unit.casefold())) or not _OTHER_TAIL.match(number.after):
        return None
    return Unread(words, Text("the unit behind the number is not that of the column", "数字后的单位与该列不符"),
                  Text("write the number alone, or map the column to something else", "请只写数字，或将该列改为其他项"))  # fmt: skip


# -- how it is paid --------------------------------------------------------------------------------------------------------

_CREDIT = re.compile(r"(?:月结|账期|net|within|后付|票到|收票后|开票后|发票后|after invoice)?\s?(\d{1,3})\s?(?:个?(?:自然)?日|天|days?)?(?:\s?(?:内|付款|账期|月结|net|after (?:the )?invoice))*", re.IGNORECASE)
_LONG_CREDIT = re.compile(r"(?:账期|net)?\s?\d{1,2}\s?(?:周|weeks?|个?月|months?)", re.IGNORECASE)
_AHEAD = re.compile(r"(?:全额?|100%)?\s?(?:预付费?|款到发货|先款后货|先付后用|prepaid|prepay(?:ment)?|in advance|upfront|paid ahead)(?:\s?(?:全款|100%|in full))?", re.IGNORECASE)
_PART_AHEAD = re.compile(r"预付(?:款|费)?\s?(\d{1,3}(?:\.\d+)?)\s?%|(\d{1,3}(?:\.\d+)?)\s?%\s?(?:预付|prepaid|in advance|upfront)", re.IGNORECASE)


_EACH = r"(?:按|每)?(?:自然)?(?:个?月度?|季度?|半年度?|年度?|周)"
_EACH_EN = r"(?:month(?:ly)?|quarter(?:ly)?|(?:half|semi)[- ]?year(?:ly)?|year(?:ly)?|annual(?:ly)?|week(?:ly)?|(?:per|each|every) (?:month|quarter|year|week))"
_PAID = r"(?:(?:is |to be )?(?:paid|billed|invoiced|payable|charged|payments?|billing|invoic(?:e|ing)|pay) ?)?"
_BEFORE = r"(?:in advance|ahead|up ?front|pre-?paid|prepay(?:ment)?|beforehand|at the (?:start|beginning) of (?:the|each) (?:month|quarter|year))"
_LATER = r"(?:in arrears?|post-?paid|afterwards|after use|at the end of (?:the|each) (?:month|quarter|year))"
_EACH_AHEAD = re.compile(
    rf"{_EACH}初?(?:预付|预缴|先付|前付)(?:费|款|租金)?|预付{_EACH}(?:费|款|租金)?|(?:月|季|年)初(?:付款?|支付)|{_PAID}{_EACH_EN},? {_PAID}{_BEFORE}|{_BEFORE},? {_PAID}{_EACH_EN}",
    re.IGNORECASE,
)
_EACH_AFTER = re.compile(
    rf"{_EACH}(?:结|结算|结清|后付|末付款?|末支付|底付款?|底支付)(?:费)?|次月(?:付款?|支付|结算)|后付费?|先用后付|{_PAID}{_EACH_EN},? {_PAID}{_LATER}|(?:{_PAID}{_LATER}),? ?{_PAID}(?:{_EACH_EN})?",
    re.IGNORECASE,
)
_EACH_PAID = re.compile(rf"{_EACH}(?:付|支付|付款|缴费|缴|交)(?:费|款|租金)?|{_PAID}{_EACH_EN} ?{_PAID}", re.IGNORECASE)


def _paid_each(words: str, text: str) -> Amount | None:
    """What a word for regular payments says: all of it ahead, nothing ahead, or not which; None for other words."""
    ahead, after = Elsewhere("deposit.prepay_share", Decimal(1)), Elsewhere("deposit.prepay_share", Decimal(0))
    if _EACH_AHEAD.fullmatch(text):
        return ahead
    if _EACH_AFTER.fullmatch(text):
        return after
    if not _EACH_PAID.fullmatch(text):
        return None
    return Ambiguous("paid.when", words, Text("Is each period paid before it begins, or when it is over?", "每期费用是期初预付，还是期末后付？"), (
        Option("ahead", Text("before: all of it is paid ahead", "期初预付：全额预付"), ahead), Option("after", Text("when it is over: nothing is paid ahead", "期末后付：无预付"), after),
    ))  # fmt: skip


def read_payment(field: Field, words: str) -> Amount:
    """Terms of payment: "net 30", "月结30天" are days to pay, "预付30%" and "monthly in advance" a share paid ahead.

    "月付" says not whether before or after: that is asked. Other words stay open with a warning.
    """
    text = plain(words)
    each = _paid_each(words, text)
    if each is not None:
        return each
    part = _PART_AHEAD.fullmatch(text)
    if part:
        return Elsewhere("deposit.prepay_share", Decimal(part[1] or part[2]) / 100)
    if _AHEAD.fullmatch(text):
        return Elsewhere("deposit.prepay_share", Decimal(1))
    if _LONG_CREDIT.fullmatch(text):
        return _of_time(text, field, whole=True)
    days = _CREDIT.fullmatch(text)
    if days:
        return int(days[1])
    empty: Doubtful[FieldValue] = Doubtful(words, None, Text("these words name no days to pay and no share paid ahead", "未写明账期天数或预付比例"),  # type: ignore[arg-type]  # nothing is kept
                                           Text("the offer comes without them; write such as “net 30” or “30% prepaid”", "导入后不含此项；请写成“月结 30 天”或“预付 30%”"))  # fmt: skip
    return empty


_FOLD = re.compile(r"(?:打)?\s?(\d(?:\.\d+)?|\d{2})\s?折(?:优惠)?")
_OFF = re.compile(r"-?\s?(\d{1,2}(?:\.\d+)?)\s?%\s?(?:off|discount|优惠|折扣)?|(?:优惠|减|立减|discount of)\s?(\d{1,2}(?:\.\d+)?)\s?%", re.IGNORECASE)
_NONE_OFF = re.compile(r"无|没有|无折扣|不打折|none|no(?: discount)?|0+(?:\.0+)?\s?%?", re.IGNORECASE)


def read_discount(words: str, heading: str) -> Amount:
    """A discount as one row of the list of discounts; whether the price is before or after it is asked."""
    text = plain(words)
    fold, off = _FOLD.fullmatch(text), _OFF.fullmatch(f"{text}%" if "%" in plain(heading) and "%" not in text else text)
    if _NONE_OFF.fullmatch(text):
        return Unstated(words)
    if fold:
        value = 1 - Decimal(fold[1]) / (100 if len(fold[1]) == 2 else 10)
    elif off:
        value = Decimal(off[1] or off[2]) / 100
    else:
        return Unread(words, Text("it does not say how much is taken off", "未写明减免多少"), Text("write such as 10% off", "请写成“9折”或“优惠 10%”"))
    row: FieldValue = ((("value", value.normalize()),),)
    return Ambiguous("discount", words, Text("Is the price before or after the discount?", "单价是折前价还是折后价？"), (
        Option("before", Text("before: the discount is still taken off", "折前价：还要减去折扣"), row),
        Option("after", Text("after: the price is what is paid", "折后价：单价即实付价格"), Unstated(words)),
    ))  # fmt: skip


# -- times of billing ------------------------------------------------------------------------------------------------------

_NO_TIME = re.compile(r"0+|无|没有|无要求|不限|none|no(?: minimum)?", re.IGNORECASE)
_LEAST_CARDS = re.compile(r"(\d{1,4})\s?(?:卡|张|gpus?|cards?)\s?(?:起租?)?", re.IGNORECASE)
_LEAST_NODES = re.compile(r"(\d{1,4})\s?(?:台|节点|nodes?|servers?)\s?(?:起租?)?", re.IGNORECASE)
_STEPS = Text("write such as per second, per minute, per hour, hourly, per day, 1 h or 60 s", "请写成：按秒、按分钟、按小时、按天、1 小时或 60 秒")


def read_seconds(field: Field, words: str, heading: str) -> Amount:
    """A time in whole seconds; a minimum of "8 GPUs" or "2 nodes" is one of them, not of time."""
    if field.key == "billing.min_billed_s":
        text = plain(words)
        if _NO_TIME.fullmatch(text):
            return 0
        for pattern, key in ((_LEAST_CARDS, "billing.min_gpus"), (_LEAST_NODES, "billing.min_nodes")):
            if least := pattern.fullmatch(text):
                return Elsewhere(key, int(least[1]))
    found = read_duration(words, heading)
    if isinstance(found, DurationReading):
        return found.seconds
    if isinstance(found, Ambiguous):
        times: tuple[Option[FieldValue | Unstated], ...] = tuple(Option(o.id, o.label, o.reading.seconds) for o in found.options)
        return Ambiguous(found.kind, found.words, found.question, times)
    return replace(found, next_step=_STEPS) if isinstance(found, Unread) and field.key == "billing.granularity_s" else found


def whole_of(words: str) -> int | Unread | Unstated:
    """A whole number, "两" and "three" too."""
    return read_count(numbered(plain(words)))


def number_of(words: str) -> Decimal | Unread | Unstated:
    """A number, "两" and "three" too."""
    return read_number(numbered(plain(words)))
