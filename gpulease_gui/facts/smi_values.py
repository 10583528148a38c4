"""How are the cells of NVIDIA's tools read: numbers, words, blanks and errors?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.facts.table_text import undrawn

# "None" is a value in places (recovery action, virtualization mode), so it is no blank here.
_BLANKS = NO_VALUES - {"none"}
MOST_GPUS = 1024  # records beyond any node: such a text is no report
_LONGEST_CELL = 2000
MOST_LINES = 200_000
TABLE_RULE = re.compile(r"\+[-=+]{3,}")
_LONG_LINE = re.compile(r"[^\n]{150,}")
_RUN = re.compile(r" {3,}")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_]|[()][0-9A-B])")
_QUOTE = re.compile(r"^> ?", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NUMBER = re.compile(
    r"\s*([-+]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,9})?)\s*([A-Za-z%/]{0,12}|bank\(s\))\s*"
)
# Other sizes of the units that these tools print (W, MiB, MHz, C): a number taken without them would be another value.
_OTHER_UNITS = frozenset({"kw", "mw", "gw", "kib", "gib", "tib", "ghz", "khz", "hz", "f", "k"})
# What pdsh, mpirun or a container's log puts before every line.
_PREFIX = re.compile(r"[\w.@-]{1,64}: |\[\d+,\d+\]<std(?:out|err)>: ?|\S{19,40} std(?:out|err) F ")
_BROKEN = re.compile(r"\b(?:err!|unknown error|gpu is lost|requires reset)", re.IGNORECASE)
_LOST = re.compile(r"\bgpu (?:is lost|requires (?:a )?reset)", re.IGNORECASE)
_PCI_ID = re.compile(r"(?:0x)?([0-9a-f]{4})([0-9a-f]{4})", re.IGNORECASE)
_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_REASON_PREFIX = re.compile(r"clocks_(?:event|throttle)_reasons?_")

Pair = tuple[int | None, int | None]


def plain_text(output: CommandOutput) -> str:
    """Standard output without terminal colours and control bytes, lines ended by a bare newline; UTF-16 too."""
    raw = output.stdout
    marked = raw[:2] in (b"\xff\xfe", b"\xfe\xff")  # what PowerShell's > writes
    return plain(raw.decode("utf-16", "replace") if marked else output.text)


def plain(text: str) -> str:
    """`text` without terminal colours, control bytes, carriage returns and the > of a quoted mail; tabs stay."""
    text = text.lstrip("\ufeff\ufffd").replace("\r\n", "\n").replace("\r", "\n")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = undrawn(text)
    if text.lstrip().startswith(">") and all(line[:1] in ("", ">") for line in text[:2000].split("\n")):
        text = _QUOTE.sub("", text)
    text = without_prefix(text)
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text


def without_prefix(text: str) -> str:
    """`text` without the words that stand before every one of its lines, if there are several and they are alike."""
    found = _PREFIX.match(text)
    if found is None:
        return text
    alike = re.compile(re.escape(found[0]) if found[0].endswith(": ") else _PREFIX.pattern)
    lines = text.split("\n")
    heads = [alike.match(line) for line in lines]
    full = [head for head, line in zip(heads, lines, strict=True) if line.strip()]
    if len(full) < 2 or not all(full):
        return text
    return "\n".join(line[head.end() :] if head else line for head, line in zip(heads, lines, strict=True))


def text_lines(text: str, longest: int = 4000) -> list[str]:
    """The lines of `text`, tabs as blanks; what lies beyond 200,000 lines or `longest` characters is no report."""
    return [line[:longest].expandtabs(8) for line in text.split("\n", MOST_LINES)[:MOST_LINES]]


def parted_rows(text: str) -> str:
    """`text` with every row and rule of a table on a line of its own: a paste may have glued them together."""
    parted = TABLE_RULE.sub(lambda rule: f"\n{rule[0]}\n", text).replace("||", "|\n|")
    return _LONG_LINE.sub(lambda long: long[0].replace("| |", "|\n|"), parted)


def squeezed_lines(text: str) -> list[str]:
    """The lines of a table, runs of blanks made two: pasted copies change their number, and matching stays fast."""
    return [_RUN.sub("  ", line) for line in text_lines(text, 500)]


def word(cell: str | None) -> str | None:
    """The words of a cell, or None where it holds no value."""
    if cell is None:
        return None
    text = cell.strip()[:_LONGEST_CELL]
    return None if text.casefold() in _BLANKS else text


def number(cell: str | None) -> float | None:
    """The number of a cell, its unit dropped ("588.39 W" is 588.39, "16x" is 16); None for anything else.

    A unit of another size than the tools print (kW, GiB, F) is no value: the callers' fields are W, MiB, MHz and C.
    """
    found = _NUMBER.fullmatch(cell) if cell and len(cell) < 80 else None
    return float(found[1].replace(",", "")) if found and found[2].casefold() not in _OTHER_UNITS else None


def figure(cell: str | None) -> float | None:
    """The number of a cell whatever its unit is, for a caller that knows the unit from elsewhere."""
    found = _NUMBER.fullmatch(cell) if cell and len(cell) < 80 else None
    return float(found[1].replace(",", "")) if found else None


def whole(cell: str | None) -> int | None:
    """The whole number of a cell; None for anything else, also for a fraction."""
    value = number(cell)
    return int(value) if value is not None and value.is_integer() else None


def version(cell: str | None) -> str | None:
    """A version, without the remark in brackets that driver 610 puts behind it."""
    text = word(cell)
    return word(text.split("[")[0]) if text else None


def pci_id(cell: str | None) -> str | None:
    """Device and vendor as printed ("0x233010DE") turned to "10de:2330"."""
    found = _PCI_ID.fullmatch(cell.strip()) if cell else None
    return f"{found[2]}:{found[1]}".lower() if found else None


def snake(words: str) -> str:
    """A key in one spelling: "SRAM Uncorrectable SEC-DED" is sram_uncorrectable_sec_ded."""
    return _NOT_LETTERS.sub("_", words.lower()).strip("_")


def clock_reason(words: str) -> str:
    """A clock reason without its prefix: gpu_idle, sw_power_cap, hw_slowdown ..."""
    bare = _REASON_PREFIX.sub("", snake(words))
    return "gpu_idle" if bare == "idle" else bare


def is_broken(cell: str) -> bool:
    """Whether a cell says that the driver failed to read it (not that the card lacks the thing)."""
    return len(cell) < 200 and _BROKEN.search(cell) is not None


def is_lost(cell: str) -> bool:
    """Whether a cell says that the card is gone or waits for a reset."""
    return len(cell) < 200 and _LOST.search(cell) is not None


def total(values: Iterable[int | None]) -> int | None:
    """The sum of what is known; None if nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def ecc_totals(section: Mapping[str, str]) -> Pair:
    """(corrected, uncorrected) of one section, volatile or aggregate: the printed total, else SRAM + DRAM lines.

    Keys are snake paths below the section. Flags such as a threshold are no counts.
    """
    printed = whole(section.get("single_bit/total")), whole(section.get("double_bit/total"))
    if any(key.startswith(("single_bit/", "double_bit/")) for key in section):
        return printed
    return _memories_total(section, "correctable"), _memories_total(section, "uncorrectable")


def ecc_uncorrected_by_memory(section: Mapping[str, str]) -> Pair:
    """(SRAM, DRAM) uncorrected counts of one section."""
    sram, dram = (_ecc(section, "uncorrectable", memory) for memory in ("sram_", "dram_"))
    return total(sram), total(dram)


def _memories_total(section: Mapping[str, str], what: str) -> int | None:
    """SRAM + DRAM; None unless lines of both stand there: a part would pass for the whole."""
    sram, dram = _ecc(section, what, "sram_"), _ecc(section, what, "dram_")
    return total(sram + dram) if sram and dram else None


def _ecc(section: Mapping[str, str], what: str, memory: str) -> list[int | None]:
    return [whole(cell) for key, cell in section.items() if key.startswith(memory) and _kind(key) == what]


def _kind(key: str) -> str:
    if "/" in key:
        return ""
    return next((what for what in ("uncorrectable", "correctable") if what in key.split("_")), "")
