"""How is a sentence kept that the command line, a report and the window all show?"""

from __future__ import annotations

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
    return "".join(_shown(character) for character in words)


def _shown(character: str) -> str:
    code = ord(character)
    if character in "\n\t":
        return character
    if code < 0x20:
        return _VISIBLE.get(code, chr(0x2400 + code))
    if code == 0x7F or 0x80 <= code < 0xA0 or code in _INVISIBLE or 0xD800 <= code < 0xE000:
        return _VISIBLE.get(code, f"⟨U+{code:04X}⟩")
    return character


_INVISIBLE = frozenset(
    [0x00AD, 0x061C, 0x180E, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]
)
