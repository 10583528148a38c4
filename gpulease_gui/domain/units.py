"""Which unit is a number in, and how is it written?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text

MIB = 1024 * 1024
GIB = 1024 * MIB

# Per field and per cent alike: what a tool prints in place of a number.
NO_VALUES = frozenset(
    ["", "n/a", "[n/a]", "[not supported]", "not supported", "[unknown error]", "unknown error", "err!", "-", "--",
     "na", "[requested functionality has been deprecated]", "requested functionality has been deprecated",
     "[gpu is lost]", "gpu is lost", "[gpu requires reset]", "gpu requires reset", "[insufficient permissions]",
     "insufficient permissions", "none", "not found", "unknown", "[not found]", "[unknown]"]
)  # fmt: skip


def bits_to_gbit(bits: float) -> float:
    """Bits (per second) to Gbit (per second), decimal."""
    return bits / 1e9


def kib_to_gib(kib: float) -> float:
    """KiB to GiB."""
    return kib / (1024 * 1024)


def number_text(value: float, decimals: int = 1) -> str:
    """A number for people: true minus, digits grouped, no needless decimals.

    >>> number_text(81559), number_text(24.63), number_text(-5.0)
    ('81,559', '24.6', '−5')
    """
    if isinstance(value, int) or float(value).is_integer():
        text = f"{int(value):,}"
    else:
        text = f"{value:,.{decimals}f}"
    return text.replace("-", "\N{MINUS SIGN}")


def summary_words(step_s: float) -> Text:
    """What is left of readings that are kept as summaries of so many seconds, such as "10 s summaries"."""
    whole = round(step_s)
    en, zh = (f"{whole} s", f"{whole} 秒") if whole % 60 else (f"{whole // 60} min", f"{whole // 60} 分钟")
    return Text(f"{en} summaries", f"{zh}汇总")
