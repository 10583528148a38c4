"""How is a host key written and drawn, and is it the one that the supplier named?"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from gpulease_gui.domain.node import HostKey

_WIDTH, _HEIGHT = 17, 9
_SIGNS = " .o+=*BOX@%&#/^SE"


def grouped(fingerprint: str, lines: int = 3) -> str:
    """A fingerprint in groups of four on so many lines, as people read it aloud."""
    bare = fingerprint.removeprefix("SHA256:")
    groups = [bare[start : start + 4] for start in range(0, len(bare), 4)]
    share = -(-len(groups) // lines)
    return "\n".join(" ".join(groups[start : start + share]) for start in range(0, len(groups), share))


def matching(words: str, offered: Iterable[HostKey]) -> HostKey | None:
    """The offered key whose fingerprint stands in `words`; blanks between groups are no difference."""
    from gpulease_gui.remote.hostkeys import fingerprints_in

    named = {*fingerprints_in(words), *fingerprints_in("".join(words.split()))}
    return next((key for key in offered if key.fingerprint in named), None)


def randomart(key: HostKey) -> str:
    """The picture of a key that `ssh -o VisualHostKey=yes` draws, without its frame: 9 lines of 17 signs.

    A bishop walks over the field, two bits of the hash for each step; the sign says how often a square was met.
    """
    try:
        digest = base64.b64decode(key.fingerprint.removeprefix("SHA256:") + "=")
    except binascii.Error:
        return ""
    field = [[0] * _WIDTH for _ in range(_HEIGHT)]
    x, y = _WIDTH // 2, _HEIGHT // 2
    for step in ((byte >> shift) & 3 for byte in digest for shift in (0, 2, 4, 6)):
        x = min(max(x + (1 if step & 1 else -1), 0), _WIDTH - 1)
        y = min(max(y + (1 if step & 2 else -1), 0), _HEIGHT - 1)
        field[y][x] = min(field[y][x] + 1, len(_SIGNS) - 3)
    field[_HEIGHT // 2][_WIDTH // 2] = len(_SIGNS) - 2
    field[y][x] = len(_SIGNS) - 1
    return "\n".join("".join(_SIGNS[count] for count in row) for row in field)
