"""Which MIG slices does a text name, and which are there?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_PROFILE = re.compile(r"(?:(\d{1,3})\s*[x×*]\s*)?(?:MIG\s+)?(\d)g\.(\d{1,3})gb", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class Slice:
    """A size: compute slices of seven (or four), memory in GB. Names vary by 1 GB between cards and drivers."""

    parts: int
    memory_gb: int

    def like(self, other: Slice) -> bool:
        """Same size, as far as the names can tell."""
        return self.parts == other.parts and abs(self.memory_gb - other.memory_gb) <= 1


def named(words: str) -> Counter[Slice]:
    """The slices in a text such as `2x 3g.40gb, 1g.10gb`; empty if it names none."""
    found: Counter[Slice] = Counter()
    for count, parts, memory in _PROFILE.findall(words[:500]):
        found[Slice(int(parts), int(memory))] += int(count or 1)
    return found


def counted(profiles: Iterable[str]) -> Counter[Slice]:
    """The slices of a list with one profile per slice."""
    return sum((named(profile) for profile in profiles), Counter())


def alike(one: Counter[Slice], other: Counter[Slice]) -> bool:
    """Whether both hold the same slices."""
    first, second = sorted(one.elements()), sorted(other.elements())
    return len(first) == len(second) and all(a.like(b) for a, b in zip(first, second, strict=True))


def words_of(slices: Counter[Slice]) -> str:
    """`2x 3g.40gb, 1x 1g.10gb`, the largest first."""
    return ", ".join(f"{n}x {s.parts}g.{s.memory_gb}gb" for s, n in sorted(slices.items(), reverse=True)) or "-"
