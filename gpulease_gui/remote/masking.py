"""What of the far side's words and outputs is a secret that we sent it?"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote

from gpulease_gui.domain.secret import Secret

# As many whatever the secret is, so that they don't tell its length.
DOTS = "•••"
# A secret of fewer characters is part of common words, and the dots would tell it.
QUOTED_LEAST, OUTPUT_LEAST = 4, 6
# A short word or number stands in outputs for other reasons: `ubuntu`, a size. They would be spoiled.
_COMMON = re.compile(r"[A-Za-z]{1,7}|[0-9]{1,8}")
# Beside such a word it is the secret and nothing that was measured. `pass` is not among them: it is a result.
_LABELS = ("password", "Password", "PASSWORD", "passwd", "Passwd", "PASSWD", "passphrase", "Passphrase", "密码", "口令")
_BETWEEN = (":", ": ", "：", "=", " = ", "='", '="', '": "', '":"')


class Mask:
    """The secrets of one connection, in the shapes in which a far side may send them back: as they are, base64, in a URL, in JSON.

    Any thread may add one. Nothing of it is shown or written.
    """

    __slots__ = ("_beginnings", "_output", "_quoted")

    def __init__(self) -> None:
        self._quoted: tuple[str, ...] = ()
        self._output: tuple[tuple[bytes, bytes], ...] = ()  # what is masked, and what stands there instead
        self._beginnings: frozenset[int] = frozenset()

    def add(self, secret: Secret | None, user: str = "", *, in_outputs: bool = True) -> None:
        """Mask this one from now on, and `user:secret` in base64. Not `in_outputs`: one that counts once, such as a code.

        One that outputs hold for other reasons is masked in them beside a word for a password, and in `user:secret@`.
        """
        if secret is None or len(secret.reveal()) < QUOTED_LEAST:
            return
        shapes = _shapes(secret.reveal(), user)
        self._quoted = _longest_first((*self._quoted, *shapes))
        if not in_outputs:
            return
        if len(secret.reveal()) >= OUTPUT_LEAST and not _COMMON.fullmatch(secret.reveal()):
            instead = dict.fromkeys(shapes, DOTS)
        else:
            before = [label + between for label in _LABELS for between in _BETWEEN]
            instead = {words + secret.reveal(): words + DOTS for words in before}
            if user:
                instead[f"{user}:{secret.reveal()}@"] = f"{user}:{DOTS}@"
        every = dict(self._output) | {shape.encode(): words.encode() for shape, words in instead.items()}
        self._output = tuple(sorted(every.items(), key=lambda shape: (-len(shape[0]), shape)))
        self._beginnings = frozenset(shape[0] for shape in every)

    def quoted(self, words: str) -> str:
        """Words of the far side, for a sentence of ours."""
        for shape in self._quoted:
            words = words.replace(shape, DOTS)
        return words

    def output(self, data: bytes) -> bytes:
        """What a command printed, before anybody judges or keeps it."""
        for shape, instead in self._output:
            data = data.replace(shape, instead)
        return data

    def shown(self, words: str) -> str:
        """Words of the far side that the user is to read and answer: as in an output, so that no word of a question is lost."""
        return self.output(words.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def begins_at(self, data: bytes) -> int:
        """Where, at the end of an output, a secret may begin whose rest is still to come; its length where none does."""
        longest = len(self._output[0][0]) if self._output else 0
        for at in range(max(0, len(data) - longest + 1), len(data)):
            if data[at] in self._beginnings and any(shape.startswith(data[at:]) for shape, _ in self._output):
                return at
        return len(data)


class MaskedFlow:
    """An output that comes in pieces; what may be the beginning of a secret is held back until it is known."""

    def __init__(self, mask: Mask) -> None:
        self._mask, self._held = mask, b""

    def feed(self, piece: bytes) -> bytes:
        """What can be passed on."""
        data = self._mask.output(self._held + piece)
        at = self._mask.begins_at(data)
        self._held = data[at:]
        return data[:at]

    def rest(self) -> bytes:
        """What was held back, where no more comes."""
        held, self._held = self._held, b""
        return held


NO_MASK = Mask()
_NOW: ContextVar[Mask] = ContextVar("mask", default=NO_MASK)


def _shapes(secret: str, user: str) -> tuple[str, ...]:
    # `echo secret | base64` has a line break at its end. Without padding, so that both are found where none is written.
    coded = (_base64(secret), _base64(f"{secret}\n"), *([_base64(f"{user}:{secret}")] if user else []))
    return secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1], *coded


def _base64(words: str) -> str:
    return base64.b64encode(words.encode()).decode().rstrip("=")


def _longest_first(shapes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(shapes), key=lambda shape: (-len(shape), shape)))


@contextmanager
def masking(mask: Mask) -> Iterator[None]:
    """A block whose sentences, made in this thread, quote no secret of `mask`."""
    token = _NOW.set(mask)
    try:
        yield
    finally:
        _NOW.reset(token)


def masked(words: str) -> str:
    """Words of the far side without the secrets of the connection that is being made."""
    return _NOW.get().quoted(words)


def mask_of(line: object) -> Mask:
    """The secrets that were sent over a line; a line without a login has none."""
    mask = getattr(line, "mask", NO_MASK)
    return mask if isinstance(mask, Mask) else NO_MASK
