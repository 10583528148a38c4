"""How is a sentence kept that the command line, a report and the window all show?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    """A language of the window and of reports; the command line is always English."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True, slots=True)
class Text:
    """One sentence in both languages. Foreign words inside are data and are shown as plain text."""

    en: str
    zh: str

    def say(self, language: Language) -> str:
        """The sentence in `language`."""
        return self.zh if language is Language.ZH else self.en

    def __str__(self) -> str:
        return self.en


NO_TEXT = Text("", "")


def foreign(words: str) -> Text:
    """Words of a node or a supplier: the same in every language."""
    return Text(words, words)


_VISIBLE = {0x1B: "␛", 0x7F: "␡"}


def visible(words: str) -> str:
    """`words` with control, bidi and zero-width characters made visible, line by line; for screens and paper.

    Raw bytes stay in the evidence; this is only how they are drawn.
    """
    if words.isascii() and words.isprintable():
        return words
    return words.translate(_SHOWN)


def in_one_line(words: str) -> str:
    """`words` as `visible` shows them, line breaks and tabs as blanks: a name can't begin a line of its own."""
    return visible(" ".join(words.split()))


_INVISIBLE = frozenset(
    [0x00AD, 0x061C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)


def _shown(code: int) -> str:
    if code < 0x20:
        return _VISIBLE.get(code, chr(0x2400 + code))
    return _VISIBLE.get(code, f"⟨U+{code:04X}⟩")


_SHOWN: Mapping[int, str] = {
    code: _shown(code) for code in (*range(0x20), *range(0x7F, 0xA0), *_INVISIBLE, *range(0xD800, 0xE000)) if chr(code) not in "\n\t"
}
