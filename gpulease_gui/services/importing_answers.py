"""Which answer holds for a question of a row: one of today, or one of an earlier import of its supplier?"""

from __future__ import annotations

from typing import Any

from gpulease_gui.economics.quote_words import Ambiguous
from gpulease_gui.services.importing_layout import Layout
from gpulease_gui.services.importing_rows import Given

LEFT_OUT = "leave"


class Answers:
    """The answers of a layout, and which of them counted for whose rows."""

    def __init__(self, layout: Layout) -> None:
        self._today, self._before = layout.answers, layout.remembered
        self._kept: dict[str, tuple[str, str]] = {}
        self._given: dict[tuple[str, str], tuple[str, bool, int]] = {}

    def of(self, supplier: str, question: str, asked: Ambiguous[Any]) -> tuple[str, str | None]:
        """(key, option or None) for a row of `supplier` ("" = the chosen one).

        A supplier that answered before has a question of its own where the table names suppliers: "question@supplier".
        """
        kept = self._before.get(supplier, {}).get(question)
        kept = kept if kept is not None and asked.answered(kept) is not None else None
        key = f"{question}@{supplier}" if kept is not None and supplier else question
        option = self._today.get(key, kept)
        if kept is not None:
            self._kept[key] = kept, supplier
        if option is not None:
            cells = self._given.get((supplier, question), ("", False, 0))[2]
            self._given[supplier, question] = option, key not in self._today, cells + 1
        return key, option

    def default(self, key: str, default: str) -> tuple[str, bool, str]:
        """(option that holds without an answer of today, whether it is remembered, the only supplier of the question)."""
        kept = self._kept.get(key)
        return (default, False, "") if kept is None else (kept[0], True, kept[1])

    def given(self) -> tuple[Given, ...]:
        """Every answer that counted."""
        return tuple(Given(supplier, question, option, cells, kept) for (supplier, question), (option, kept, cells) in self._given.items())
