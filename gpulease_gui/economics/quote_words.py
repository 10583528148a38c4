"""Which numbers stand in the words of a quote, and what is a reading that could mean two things?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, TypeVar

from gpulease_gui.domain.text import Text

R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Option(Generic[R_co]):
    """One thing that ambiguous words may mean; `id` is stable, so that an answer can be remembered."""

    id: str
    label: Text
    reading: R_co


@dataclass(frozen=True, slots=True)
class Ambiguous(Generic[R_co]):
    """Words with more than one meaning: never guessed, always asked. `kind` groups the same question of many cells."""

    kind: str
    words: str
    question: Text
    options: tuple[Option[R_co], ...]

    def answered(self, option_id: str) -> R_co | None:
        """The reading that was chosen; None for an id that this question does not offer."""
        return next((option.reading for option in self.options if option.id == option_id), None)


@dataclass(frozen=True, slots=True)
class Doubtful(Generic[R_co]):
    """Words that are read one way, which a person should look at: `why` is said beside the cell."""

    words: str
    reading: R_co
    why: Text
    next_step: Text


@dataclass(frozen=True, slots=True)
class Unread:
    """Words that hold no such value; `why` says what is wrong, `next_step` what to write."""

    words: str
    why: Text
    next_step: Text = Text("write it again, or leave the cell empty", "请改写，或将单元格留空")


@dataclass(frozen=True, slots=True)
class Unstated:
    """Words that say that nothing is stated yet, such as "price on request"."""

    words: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number (or a span up to `upper`) and what stands around it."""

    value: Decimal
    before: str
    after: str
    upper: Decimal | None = None


# Full-width forms, and the signs that East Asian keyboards give for ASCII ones.
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {
    0x3000: 0x20, 0x00A0: 0x20, 0x202F: 0x20, 0x2009: 0x20, 0x2007: 0x20, 0xFFE5: 0xA5, 0xFFE1: 0xA3, 0x301C: 0x7E, 0xFF5E: 0x7E,
    0x2013: 0x2D, 0x2014: 0x2D, 0x2212: 0x2D, 0x2215: 0x2F, 0x2044: 0x2F, 0x00D7: 0x78, 0x2715: 0x78, 0x2A2F: 0x78, 0x3010: 0x5B,
    0x3011: 0x5D, 0x2022: 0x20, 0x3001: 0x2C, 0x20AC: 0x20AC,
}  # fmt: skip


def plain(words: str) -> str:
    """`words` with full-width letters, digits and signs made narrow, and single spaces.

    >>> plain("￥１２．５／卡・时")
    '¥12.5/卡・时'
    """
    return " ".join(words.translate(_NARROW).split())


MOST_OF_A_VALUE = 300  # characters; a longer cell is a text, and searching it takes the square of its length


def too_long(words: str) -> Unread | None:
    """The refusal of a text that is far too long for a figure; None for others."""
    if len(words) <= MOST_OF_A_VALUE:
        return None
    return Unread(words[:40], Text("a text that is too long for this column", "文字过长，不是该列的取值"))


MOST_DIGITS = 28  # Decimal keeps as many
# 1,234.56 · 1234.56 · .5 ; a comma groups three digits or it is none of ours.
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+"
_TIMES = {"万": Decimal(10_000), "w": Decimal(10_000), "千": Decimal(1000), "k": Decimal(1000), "亿": Decimal(100_000_000)}
_SCALE = r"(?:\s?(?P<{0}>万|千|亿|[wWkK](?![A-Za-z])))?"
_NUMBER = re.compile(
    rf"(?<![\d.,])(?P<sign>-)?(?P<low>{_DIGITS}){_SCALE.format('low_scale')}(?:\s?(?:-|~|至|到|to)\s?(?P<unit>[¥$€£]?)\s?"
    rf"(?P<high>{_DIGITS}){_SCALE.format('high_scale')})?(?![\d]|[.,]\d)"
)


def find_number(words: str) -> Number | None:
    """The first number of `words` (already `plain`); a span such as 10-12 has an `upper`; 1.2万 is 12,000.

    None when there is none, or one that can be read in two ways, such as 1,5.
    """
    return next(find_numbers(words), None)


def find_numbers(words: str) -> Iterator[Number]:
    """Every number of `words` from left to right."""
    for found in _NUMBER.finditer(words):
        high = found["high"]
        if max(len(found["low"]), len(high or "")) > MOST_DIGITS:
            return  # it would be rounded without a word
        scale = _scale(found["high_scale"])
        # In "1-1.2万" the word at the end belongs to both.
        low_scale = _scale(found["low_scale"]) if found["low_scale"] or not high else scale
        value = _scaled(_decimal(found["low"]), low_scale)
        upper = _scaled(_decimal(high), scale) if high else None
        yield Number(-value if found["sign"] else value, words[: found.start()], words[found.end() :], upper)


def _scaled(value: Decimal, scale: Decimal) -> Decimal:
    """6.8万 is 68000, not 68000.0."""
    return value if scale == 1 else without_tail(value * scale)


def without_tail(value: Decimal) -> Decimal:
    """A whole number without decimals of nothing behind it; other values as they are."""
    return value.to_integral_value() if value == value.to_integral_value() else value


def _scale(word: str | None) -> Decimal:
    return _TIMES[word.lower()] if word else Decimal(1)


def _decimal(digits: str) -> Decimal:
    return Decimal(digits.replace(",", ""))


_WORDS_OF_NUMBERS: tuple[tuple[str, int], ...] = (
    ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("six", 6), ("twelve", 12),
    ("十二", 12), ("十", 10), ("一", 1), ("二", 2), ("两", 2), ("三", 3), ("四", 4), ("五", 5), ("六", 6), ("七", 7), ("八", 8), ("九", 9),
)  # fmt: skip


def numbered(words: str) -> str:
    """Words that begin with a number in letters, with its digits: "一个月" is "1个月", "two months" is "2 months"."""
    if re.search(r"\d", words):
        return words
    for word, number in _WORDS_OF_NUMBERS:
        if words[: len(word)].casefold() == word and (not word.isascii() or not words[len(word) : len(word) + 1].isalpha()):
            return f"{number}{words[len(word):]}"
    return words


_NOTHING = re.compile(
    r"(?:价格|电话|来电)?(?:面议|另议|待议|电议|议价|待定|未定|询价|电询|咨询|商议|面谈)|未提供|暂无(?:报价)?|无报价|tbd|tba|tbc|n/?a|n\.a\.|null|nil|(?:price |up)?on request|poa|ask"
    r"|contact (?:us|sales)|call(?: us)?|negotiable|-{1,5}|_+|/|\\|\?+|\*+|\.{2,}|…+",
    re.IGNORECASE,
)


def says_nothing(words: str) -> bool:
    """Whether the words say that the value is not stated."""
    return not words.strip() or _NOTHING.fullmatch(words.strip()) is not None


def trimmed(value: Decimal) -> str:
    """Plain digits without needless zeros.

    >>> trimmed(Decimal("12.50")), trimmed(Decimal("100"))
    ('12.5', '100')
    """
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
