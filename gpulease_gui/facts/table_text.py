"""How is the printed text of a tool cleaned and cut into lines, cells and numbers?"""

from __future__ import annotations

import math
import re

# Colour and cursor codes, window titles, and lone escapes; none of the patterns can backtrack.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b.?")
# A pasted copy may hold CR CR LF; the bound keeps a run of CR from being walked again and again.
_LINE_ENDS = re.compile(r"\r{0,3}\n|\r")
_NO_VALUE = frozenset(
    ["", "-", "--", "n/a", "[n/a]", "na", "none", "null", "err!", "unknown", "[not supported]", "[unknown error]"]
)
_PROMPT = re.compile(
    r"\s{0,8}(?:\([\w.-]{1,40}\) ?)?(?:\[?[\w.-]{1,64}@[\w.-]{1,64}[: ][^\n#$%>]{0,200}[#$%>]|(?:ba)?sh-[\d.]{1,8}[#$]|[#$] \S)"
)
# A chat or a terminal may draw a table's bars as lines.
_BOX = re.compile("[\u2500-\u257f]")
_BARS = {code: "|" for code in (0x2502, 0x2503, 0x2551, 0x2506, 0x2507, 0x250A, 0x250B, 0x254E, 0x254F)}
_RULES = {code: "-" for code in (0x2500, 0x2501, 0x2504, 0x2505, 0x2508, 0x2509, 0x254C, 0x254D)}
_DRAWN = {code: "+" for code in range(0x2500, 0x2580)} | {0x2550: "="} | _RULES | _BARS
MISSING_TOOL_WORDS = re.compile(r"command not found|: not found\b|No such file or directory", re.IGNORECASE)


def undrawn(text: str) -> str:
    """`text` with the lines that draw a table as the bars, pluses and dashes that tools print.

    Not for tools that draw lines themselves (lsblk, tree).
    """
    return text.translate(_DRAWN) if not text.isascii() and _BOX.search(text) else text


def clean(text: str) -> str:
    """`text` without escape codes, with a plain newline at every line end and without a byte order mark.

    A chat turns blanks into no-break spaces, a mail puts `>` in front of every line: both are undone.
    """
    # A log of a whole boot is hardly ever in need of it, and while a pattern is looked for in it no other thread runs.
    plain = _ESCAPES.sub("", text) if "\x1b" in text else text
    plain = _LINE_ENDS.sub("\n", plain) if "\r" in plain else plain
    plain = plain.lstrip("\ufeff").replace("\0", "").replace("\xa0", " ")
    return _unquoted(plain) if plain.startswith(">") else plain


def _unquoted(text: str) -> str:
    quoted = text.split("\n")
    if any(line and not line.startswith(">") for line in quoted):
        return text
    return "\n".join(line[2:] if line.startswith("> ") else line[1:] for line in quoted)


def is_prompt(line: str) -> bool:
    """Does `line` begin as the prompt of a shell does (`root@node:~# `, `[me@node ~]$ `, `bash-5.1$ `)?"""
    return _PROMPT.match(line) is not None


def lines(text: str) -> list[str]:
    """The lines of cleaned `text`; unlike str.splitlines only real line ends count."""
    return clean(text).split("\n")


def whole_lines(text: str, sure: re.Pattern[str]) -> list[str]:
    """The lines of `text` with words in them, without a last one that may be torn.

    A last line without a line end is kept when `sure` is found in it: then its value cannot go on.
    """
    plain = clean(text)
    found = [line for line in plain.split("\n") if line.strip()]
    if found and ends_mid_line(plain) and not sure.search(found[-1]):
        found.pop()
    return found


def ends_mid_line(text: str) -> bool:
    """Has the last line of `text` words and no line end? Then its last word may be torn."""
    written = text.rstrip(" \t")
    return bool(written) and not written.endswith(("\n", "\r"))


def value(cell: str) -> str | None:
    """`cell` stripped; None for the spellings of "no value" that tools print."""
    bare = cell.strip()
    return None if bare.lower() in _NO_VALUE else bare


_NUMBER = re.compile(r"[+-]?(?:\d{1,24}(?:\.\d{0,24})?|\.\d{1,24})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,24}", re.ASCII)


def number(cell: str) -> float | None:
    """The finite number that fills `cell`; None when it is no number."""
    bare = cell.strip()
    if not _NUMBER.fullmatch(bare):
        return None
    found = float(bare)
    return found if math.isfinite(found) else None


def whole(cell: str) -> int | None:
    """The whole number that fills `cell`; None when it is none or absurdly long."""
    bare = cell.strip()
    return int(bare) if _WHOLE.fullmatch(bare) else None


def first_line(text: str) -> str:
    """The first line with a word in it, at most 200 characters."""
    return next((line.strip()[:200] for line in lines(text) if line.strip()), "")


def short_bus_id(text: str) -> str | None:
    """The PCI address in `text` as `dddd:bb:dd` in lower case; a missing domain is 0000, the function is dropped.

    None when there is no address in it.
    """
    found = re.search(
        r"(?<![0-9A-Fa-f:])(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?![0-9A-Fa-f:])", text
    )
    if found is None:
        return None
    domain = (found[1] or "0").lower().lstrip("0").rjust(4, "0")
    return f"{domain}:{found[2].lower()}:{found[3].lower()}"
