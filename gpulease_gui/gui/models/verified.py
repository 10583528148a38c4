"""What did the newest verification find of a node: which cards, and how far off its clock?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.wording import value_text
from gpulease_gui.store.runs import get_latest_run, list_current_findings

if TYPE_CHECKING:
    import sqlite3

_MODELS, _COUNTS = ("gpu.model", "npu.model"), ("gpu.count", "npu.count")


@dataclass(frozen=True, slots=True)
class Verified:
    """`cards` such as "8 × H100 PCIe"; `clock_offset_s` is the node's clock minus ours. None where it was not read."""

    cards: Text | None = None
    clock_offset_s: float | None = None

    @property
    def clock(self) -> Text | None:
        """The offset with its sign, such as "+0.18 s"."""
        if self.clock_offset_s is None:
            return None
        shown = round(self.clock_offset_s, 2)
        sign = "\N{MINUS SIGN}" if shown < 0 else "+"
        return Text(f"{sign}{number_text(abs(shown), 2)} s", f"{sign}{number_text(abs(shown), 2)} 秒")


def read_verified(connection: sqlite3.Connection, node_id: str) -> Verified:
    """Of the newest run; nothing of a node that was never verified."""
    run = get_latest_run(connection, node_id)
    if run is None:
        return Verified()
    return Verified(cards_found(one.finding for one in list_current_findings(connection, run.id)), run.clock_offset_s)


def cards_found(findings: Iterable[Finding]) -> Text | None:
    """How many cards of which model were measured; None when no model was."""
    held = [one for one in findings if one.measured is not None]
    models = list(dict.fromkeys(one.measured for one in held if one.term in _MODELS and one.check.endswith((".model", ".inventory"))))
    if not models:
        return None
    words = value_text(models[0])
    more_en, more_zh = (" and others", " 等") if len(models) > 1 else ("", "")
    count = next((one.measured for one in held if one.term in _COUNTS), None)
    times = f"{count} × " if isinstance(count, int) and not isinstance(count, bool) else ""
    return Text(f"{times}{words.en}{more_en}", f"{times}{words.zh}{more_zh}")
