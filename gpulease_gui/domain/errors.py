"""Which failures are the world's fault, and what do they tell the user?"""

from __future__ import annotations

import re

from gpulease_gui.domain.text import Text


class UserFacing(Exception):
    """A failure with its cause outside the program.

    `what` failed on which target, `why` in one sentence, `next_step` says what the user can do. Each also stands in both
    languages (`what_text`, `why_text`, `next_text`); a plain word is the same in both. `at_terminal` is what the command
    line says in place of `next_step`, as it has a flag where the window has a button.
    """

    def __init__(self, what: str | Text, why: str | Text = "", next_step: str | Text = "", at_terminal: str = "") -> None:
        super().__init__(str(what))
        self.what, self.why, self.at_terminal = str(what), str(why), at_terminal
        self.what_text, self.why_text, self.next_text = _in_both(what), _in_both(why), _in_both(next_step)

    @property
    def next_step(self) -> str:
        """What the user can do, as the command line says it."""
        return self.at_terminal or self.next_text.en

    def __str__(self) -> str:
        return ". ".join(part.rstrip(".") for part in (self.what, self.why, self.next_step) if part)

    @property
    def headline_text(self) -> Text:
        """What failed, to stand by itself above the rest. A name that it begins with stays as it is."""
        return begun(self.what_text) if self.what_text.en.startswith(_OPENERS) else self.what_text

    @property
    def whole_text(self) -> Text:
        """All of it in both languages."""
        return _joined(self.what_text, begun(self.why_text), begun(self.next_text))

    @property
    def rest_text(self) -> Text:
        """Why, and what can be done, in both languages."""
        return _joined(begun(self.why_text), begun(self.next_text))


# What is written small wherever it stands. Names with a dot, a hyphen or a digit are told by that.
_SMALL = frozenset(["docker", "fio", "gpulease", "ssh", "sudo"])
# Here no name of a node or a file stands first.
_OPENERS = ("a ", "an ", "can't ", "could not ", "more ", "no ", "not ", "several ", "the ", "there ", "these ", "this ")


def begun(words: Text) -> Text:
    """The same as the beginning of a sentence: a capital in English, where it begins with a word and not with a name.

    >>> begun(Text("check the path", "请检查路径")).en, begun(Text("ssh -G gave no answer", "")).en, begun(Text("node-7 is gone", "")).en
    ('Check the path', 'ssh -G gave no answer', 'node-7 is gone')
    """
    first = _WORD.match(words.en)
    if first is None or first[1] in _SMALL or words.en == words.zh:  # the same in both: nothing of it is ours
        return words
    return Text(words.en[0].upper() + words.en[1:], words.zh)


_WORD = re.compile(r"([a-z]+)(?:'[a-z]+)?,? ")


def _joined(*parts: Text) -> Text:
    en = ". ".join(part.en.rstrip(".") for part in parts if part.en)
    if all(part.en == part.zh for part in parts):  # nothing of it is ours
        return Text(en, en)
    return Text(en, "。".join(part.zh.rstrip("。") for part in parts if part.zh))


def _in_both(words: str | Text) -> Text:
    return words if isinstance(words, Text) else Text(words, words)


class UsageError(UserFacing):
    """The caller asked for something that can't be: an unknown key, a wrong unit, an ambiguous name (exit 64)."""


class Unreadable(Exception):
    """An output that holds no reading.

    `code` is a reason code (see `domain.finding`), `reason` one English sentence, `next_step` what to do. `reason_zh` is
    the same in Chinese where no parser said it, whose sentences are known.
    `reading` is what the output still says, if anything.
    """

    def __init__(
        self, reason: str, *, code: str = "unreadable", next_step: str = "", reading: object | None = None, reason_zh: str = "",
    ) -> None:  # fmt: skip
        super().__init__(reason)
        self.reason, self.reason_zh = reason, reason_zh
        self.code = code
        self.next_step = next_step
        self.reading = reading


class Cancelled(Exception):
    """The user ended the work; never a failure."""
