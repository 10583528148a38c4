"""How much is "100G", "80GB", "24小时", "99.9%", "2台" in a quote, and when does it not say?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_words import (
    MOST_OF_A_VALUE,
    Ambiguous,
    Option,
    Unread,
    Unstated,
    find_number,
    find_numbers,
    numbered,
    plain,
    says_nothing,
    too_long,
    trimmed,
)

# -- rates -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RateReading:
    """A rate in Gbit per second in all, of `lines` lines together (2*25G is two of 25)."""

    gbit_s: Decimal
    lines: int = 1

    @property
    def gb_s(self) -> Decimal:
        """The same in GB per second."""
        return self.gbit_s / 8


Rate = RateReading | Ambiguous[RateReading] | Unread | Unstated
_STEP = {"": Decimal("1e-9"), "k": Decimal("1e-6"), "m": Decimal("1e-3"), "g": Decimal(1), "t": Decimal(1000)}
_LINES = re.compile(r"(?<![\d.,])(?P<lines>\d{1,3})\s?(?:[*xX]|根|条|路|口|个)\s?(?=\d)")
# A lower-case b beside a capital G or T says bits by the book, but "gb/s" is written for both.
_RATE = re.compile(r"^\s?(?P<step>[kKmMgGtT]?)(?P<binary>i?)(?P<what>bits?|bytes?|bps|Bps|[bB]|位|字节)(?P<per>\s?/\s?(?:s|sec|second|秒)|ps|每秒)?(?![A-Za-z])")
_BARE_RATE = re.compile(r"^\s?(?P<step>[mMgGtT])(?![A-Za-z])")


def read_rate(words: str, heading: str = "") -> Rate:
    """A network or link rate: "100Gbps", "100 Gbit/s", "12.5 GB/s", "2*25Gb/s". "100G" does not say bits or bytes: asked.

    `heading` are the words above the column, which may name the unit.
    """
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    text = _turned(text)
    lines = _LINES.search(text)
    found = find_number(text[lines.end() :] if lines else text)
    if found is None or found.value <= 0:
        return Unread(words, Text("this is no rate", "无法识别为速率"), _WRITE_RATE)
    count = int(lines["lines"]) if lines else 1
    told = _RATE.match(found.after) or (None if _BARE_RATE.match(found.after) else _unit_in(heading))
    if told is None:
        bare = _BARE_RATE.match(found.after)
        return _which_bits(words, found.value * (_STEP[bare["step"].lower()] if bare else 1) * count, count)
    value = found.value * _STEP[told["step"].lower()] * count
    if told["binary"]:
        value = value * _BINARY_EXCESS[told["step"].lower()]
    # "100GB" without a time may as well be a monthly volume, or a slip for bits.
    bits = _says_bits(told["step"], told["what"]) if told["per"] or told["what"] != "B" else None
    if bits is None:
        return _which_bits(words, value, count)
    return RateReading(value if bits else value * 8, count)


_TIMES_BEHIND = re.compile(r"(\d[\d.,]*\s?[kKmMgGtT][A-Za-z/]*)\s?[*xX]\s?(\d{1,3})(?!\d)(?!\s?[kKmMgGtT])")


def _turned(text: str) -> str:
    """ "400G*8" is "8*400G"."""
    return _TIMES_BEHIND.sub(r"\2*\1", text, count=1) if not _LINES.search(text) else text


_WRITE_RATE = Text("write such as 100 Gbit/s or 12.5 GB/s", "请写成 100 Gbit/s 或 12.5 GB/s")
_BINARY_EXCESS = {"": Decimal(1), "k": Decimal("1.024"), "m": Decimal("1.048576"), "g": Decimal("1.073741824"), "t": Decimal("1.099511627776")}


def _unit_in(heading: str) -> re.Match[str] | None:
    for found in re.finditer(r"[(（/,:\[\s]", text := f"({plain(heading)}"):
        told = _RATE.match(text, found.end()) or _RATE.match(text[found.end() :])
        if told and (told["per"] or told["what"].lower() == "bps"):
            return told
    return None


def _says_bits(step: str, what: str) -> bool | None:
    if what == "B" or what == "Bps" or what.startswith(("byte", "字节")):
        return False
    if what.startswith("bit") or what in ("bps", "位"):
        return True
    return True if what == "b" and step.isupper() else None


def _which_bits(words: str, value: Decimal, lines: int) -> Ambiguous[RateReading]:
    number = trimmed(value)
    return Ambiguous(
        "rate", words, Text("Bits or bytes per second? They differ by a factor of 8.", "是比特还是字节每秒？两者相差 8 倍。"),
        (
            Option("bits", Text(f"{number} Gbit/s", f"{number} Gbit/s"), RateReading(value, lines)),
            Option("bytes", Text(f"{number} GB/s", f"{number} GB/s"), RateReading(value * 8, lines)),
        ),
    )  # fmt: skip


def rate_words(rate: RateReading) -> str:
    """The rate as `read_rate` takes it back."""
    if rate.lines == 1:
        return f"{trimmed(rate.gbit_s)} Gbit/s"
    return f"{rate.lines}*{trimmed(rate.gbit_s / rate.lines)} Gbit/s"


# -- sizes -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SizeReading:
    """A size as written; `binary` for GiB and TiB. Memory is sold by a binary unit that is called GB."""

    value: Decimal
    step: str
    binary: bool = False

    @property
    def sold_gb(self) -> Decimal:
        """In GB as memory is sold, whose steps are of 1024: 80G, 80GB and 80GiB are the same label, 2T is 2048."""
        return self.value * Decimal(1024) ** (_POWER[self.step] - 3)

    @property
    def decimal_gb(self) -> Decimal:
        """In GB of 1,000,000,000 bytes, as disks are sold."""
        return self.value * (Decimal(1024) if self.binary else Decimal(1000)) ** _POWER[self.step] / Decimal(1000) ** 3


Size = SizeReading | Unread | Unstated
_POWER = {"M": 2, "G": 3, "T": 4, "P": 5}
_SIZE = re.compile(r"^\s?(?P<step>[mMgGtTpP])(?P<binary>i?)(?:[bB](?:ytes?)?)?(?![A-Za-z0-9/])")


def read_size(words: str, heading: str = "") -> Size:
    """A memory or disk size: "80G", "80GB", "2TB", "1.5TiB", "4*3.84T"; a bare number takes the unit of `heading`, else GB."""
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    text = _turned(text)
    lines = _LINES.search(text)
    found = find_number(text[lines.end() :] if lines else text)
    told = None
    if found is not None and found.value > 0:
        told = _SIZE.match(found.after) or (_size_in(heading) if not found.after.strip() else None)
    if found is None or told is None:
        return Unread(words, Text("this is no size", "无法识别为容量"), Text("write such as 80 GB or 2 TB", "请写成 80 GB 或 2 TB"))
    return SizeReading(found.value * (int(lines["lines"]) if lines else 1), told["step"].upper(), bool(told["binary"]))


def _size_in(heading: str) -> re.Match[str] | None:
    text = plain(heading)
    found = re.search(r"[(/:\[\s](?=[mMgGtTpP]i?[bB]?(?![A-Za-z0-9/]))", f" {text} ")
    return _SIZE.match(f" {text} "[found.end() :]) if found else _SIZE.match("GB")


def size_words(size: SizeReading) -> str:
    """The size as `read_size` takes it back."""
    return f"{trimmed(size.value)} {size.step}{'i' if size.binary else ''}B"


# -- durations -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DurationReading:
    """A time in whole seconds."""

    seconds: int


Duration = DurationReading | Ambiguous[DurationReading] | Unread | Unstated
_LONG_TIMES = {"month": (r"个?月|months?|mo\b", (30, 31)), "year": (r"年|years?|yrs?", (365, 360))}
_TIMES = (
    (r"分钟|分|min(?:ute)?s?", 60), (r"个?小时|时|hours?|hrs?|h", 3600), (r"天|日|days?|d", 86_400), (r"周|星期|weeks?", 604_800),
    (r"秒|s(?:ec(?:ond)?s?)?", 1),
)  # fmt: skip


def read_duration(words: str, heading: str = "") -> Duration:
    """A time: "24小时", "1 day", "按小时" (one hour), "per minute". A month has no fixed length: asked."""
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    found = find_number(numbered(text))
    if found is None:
        return _per_time(words, text)
    for name, (pattern, lengths) in _LONG_TIMES.items():
        if _begins(pattern, found.after):
            return _which_length(words, name, found.value, lengths)
    unit = next((seconds for pattern, seconds in _TIMES if _begins(pattern, found.after)), None)
    if unit is None and not found.after.strip():
        unit = next((seconds for pattern, seconds in _TIMES if re.search(rf"[(/\s](?:{pattern})(?![A-Za-z])", plain(heading))), None)
    seconds = None if unit is None else found.value * unit
    if seconds is None or seconds < 0 or seconds != int(seconds):
        return Unread(words, Text("this is no time", "无法识别为时长"), Text("write such as 24 hours or 10 minutes", "请写成 24 小时或 10 分钟"))
    return DurationReading(int(seconds))


def _per_time(words: str, text: str) -> Duration:
    """A billing step: "per second", "按秒计费"."""
    for pattern, seconds in _TIMES:
        if re.search(rf"(?:^|按|每|逐|per\s|by the\s)(?:{pattern})(?![A-Za-z])", text, re.IGNORECASE):
            return DurationReading(seconds)
    for word, each in (("hourly", 3600), ("daily", 86_400), ("weekly", 604_800)):
        if re.search(rf"\b{word}\b", text, re.IGNORECASE):
            return DurationReading(each)
    if re.search(r"(?:^|按|每|per\s|by the\s)(?:个?自?然?月|month)(?![A-Za-z])|\bmonthly\b", text, re.IGNORECASE):
        return _which_length(words, "month", Decimal(1), _LONG_TIMES["month"][1])
    return Unread(words, Text("this is no time", "无法识别为时长"), Text("write such as 24 hours or 10 minutes", "请写成 24 小时或 10 分钟"))


def _begins(pattern: str, after: str) -> bool:
    return re.match(rf"\s?(?:{pattern})(?![A-Za-z])", after, re.IGNORECASE) is not None


def _which_length(words: str, name: str, value: Decimal, lengths: tuple[int, int]) -> Ambiguous[DurationReading] | Unread:
    def option(days: int) -> Option[DurationReading]:
        total = trimmed(value * days)
        return Option(f"{name}.{days}", Text(f"{total} days", f"{total} 天"), DurationReading(int(value * days * 86_400)))

    question = Text(f"How many days has a {name} in this quote?", f"该报价中每{'月' if name == 'month' else '年'}按多少天计？")
    return Ambiguous(f"duration.{name}", words, question, tuple(option(days) for days in lengths))


def duration_words(duration: DurationReading) -> Text:
    """The time as `read_duration` of either language takes it back."""
    for seconds, en, zh in ((86_400, "days", "天"), (3600, "hours", "小时"), (60, "minutes", "分钟")):
        if duration.seconds and duration.seconds % seconds == 0:
            number = duration.seconds // seconds
            return Text(f"{number} {en}", f"{number} {zh}")
    return Text(f"{duration.seconds} seconds", f"{duration.seconds} 秒")


# -- the rest --------------------------------------------------------------------------------------------------------------


def read_count(words: str) -> int | Unread | Unstated:
    """A whole number of things: "8", "8卡", "8 GPUs", "2台"."""
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    numbers = [number for number in find_numbers(text)]
    if len(numbers) == 1 and numbers[0].upper is None and numbers[0].value >= 0 and numbers[0].value == int(numbers[0].value):
        return int(numbers[0].value)
    return Unread(words, Text("this is no count", "无法识别为数量"), Text("write a whole number", "请写一个整数"))


def read_number(words: str) -> Decimal | Unread | Unstated:
    """One number, whatever unit stands behind it."""
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    numbers = list(find_numbers(text))
    if len(numbers) == 1 and numbers[0].upper is None:
        return numbers[0].value
    return Unread(words, Text("this is not one number", "无法识别为单个数字"), Text("write one number", "请只写一个数字"))


def read_share(words: str, heading: str = "") -> Decimal | Unread | Unstated:
    """A part of one: "99.9%" is 0.999; a bare number above 1 needs a "%" in the cell or in `heading`."""
    number = read_number(words)
    if not isinstance(number, Decimal):
        return number
    if "%" in plain(words) or ("%" in plain(heading) and number > 1):
        number = number / 100
    return number if 0 <= number <= 1 else Unread(words, Text("this is no percentage", "无法识别为百分比"), Text("write such as 99.9%", "请写成 99.9%"))


_YES = frozenset(["yes", "y", "true", "是", "有", "支持", "√", "✓", "✔", "可", "可以", "含", "包含", "included", "provided", "提供"])
_WHOLE = re.compile(r"整机|整台|不(?:可)?拆|不单[卖租]|不零[售租]|whole|full[- ]node", re.IGNORECASE)
_BY_CARD = re.compile(r"单卡|可拆|可零|按[张卡]|不限整机|非整机|per[- ]gpu|single gpu", re.IGNORECASE)


def read_whole_node(words: str) -> bool | Unread | Unstated:
    """Whether only whole nodes are let: "整机起租", "不拆卖", "whole node only"; "单卡可租", "按卡租" say no."""
    said = read_yes_no(words)
    if not isinstance(said, Unread):
        return said
    text = plain(words)
    whole, card = _WHOLE.search(text) is not None, _BY_CARD.search(text) is not None
    return said if whole == card else whole


_NO = frozenset(["no", "n", "false", "否", "无", "不支持", "×", "x", "✗", "不可", "不可以", "不含", "没有", "excluded", "不提供"])


def read_yes_no(words: str) -> bool | Unread | Unstated:
    """Yes or no in either language; an empty cell is neither."""
    text = plain(words).lower()
    if text in _YES:
        return True
    if text in _NO:
        return False
    if says_nothing(text):
        return Unstated(words)
    return Unread(words, Text("this is neither yes nor no", "无法识别为是或否"), Text("write yes or no", "请写“是”或“否”"))


# "有效期至2026年12月31日" holds one day and words that say nothing else.
_AROUND_A_DAY = re.compile(r"(?:本?报价)?(?:有效期限?|有效日期|有效|截止日期?|截至|生效日期?|到期日?|失效)\s?[:：]?\s?(?:为|至|到|于)?|^(?:至|到|于)|(?:止|前|之前|截止|有效|生效|到期)$"
                           r"|^(?:valid|expires?|effective)?\s?(?:until|till|to|through|on|by|from)?\b(?=\s?:?\s?\d)", re.IGNORECASE)  # fmt: skip
_TIME_OF_DAY = re.compile(r"(?:T|\s)\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?$|\s?星期.$")
_DAY_FORMS = (re.compile(r"(?P<y>\d{4})\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})\s?[日号]?"), re.compile(r"(?P<y>\d{4})(?P<m>\d\d)(?P<d>\d\d)"))
_TURNED = re.compile(r"(?P<a>\d{1,2})[/.-](?P<b>\d{1,2})[/.-](?P<y>\d{4})")


def read_day(words: str) -> date | Ambiguous[date] | Unread | Unstated:
    """A day: "2026-03-01", "2026/3/1", "2026年3月1日". "03/04/2026" is the 3rd of April or the 4th of March: asked."""
    text, long = plain(words[: MOST_OF_A_VALUE + 1]), too_long(words)
    if long is not None:
        return long
    if says_nothing(text):
        return Unstated(words)
    text = _AROUND_A_DAY.sub("", text).strip(" :,.;。()")
    found = next((found for form in _DAY_FORMS if (found := form.fullmatch(_TIME_OF_DAY.sub("", text)))), None)
    if found:
        return _day(found["y"], found["m"], found["d"]) or _no_day(words)
    turned = _TURNED.fullmatch(text)
    if turned is None:
        return _no_day(words)
    month_first, day_first = _day(turned["y"], turned["a"], turned["b"]), _day(turned["y"], turned["b"], turned["a"])
    if month_first and day_first and month_first != day_first:
        question = Text("Which comes first, the month or the day?", "前面的是月份还是日期？")
        return Ambiguous("day", words, question, (
            Option("month_first", Text(month_first.isoformat(), month_first.isoformat()), month_first),
            Option("day_first", Text(day_first.isoformat(), day_first.isoformat()), day_first),
        ))  # fmt: skip
    return month_first or day_first or _no_day(words)


def _day(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def _no_day(words: str) -> Unread:
    return Unread(words, Text("this is no day", "无法识别为日期"), Text("write such as 2026-12-31", "请写成 2026-12-31"))
