"""By which figure was a finding judged, and where does that figure come from?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.text import NO_TEXT, Text

SHARE = "share"  # a part of one; shown in per cent


class Origin(StrEnum):
    """Where a figure comes from; `set` = the user moved it, `fleet` = the median of own nodes."""

    SPEC = "spec"
    PUBLISHED = "published"
    FLEET = "fleet"
    ASSUMPTION = "assumption"
    SET = "set"


ORIGIN_WORDS: Mapping[Origin, Text] = {
    Origin.SPEC: Text("specification", "规格"),
    Origin.PUBLISHED: Text("published", "公开资料"),
    Origin.FLEET: Text("own fleet", "自有节点"),
    Origin.ASSUMPTION: Text("assumption", "假设"),
    Origin.SET: Text("set here", "自行设定"),
}


@dataclass(frozen=True, slots=True)
class JudgedBy:
    """One figure that a finding was judged by, as it stood then. `source` says who published or set it, and why.

    `check` and `name` are its address; `sign` (such as `>=`) reads: the value is fine, or the verdict given, on that side.
    """

    check: str
    name: str
    title: Text
    value: float
    unit: str
    origin: Origin
    source: str = ""
    sign: str = ""

    @property
    def shown(self) -> str:
        """Sign, value and unit, such as `≥ 95 %`."""
        sign = _SIGNS.get(self.sign, self.sign)
        return " ".join(part for part in (sign, amount(self.value, self.unit)) if part)

    @property
    def words(self) -> Text:
        """Such as: hot above: > 83 °C (published: a monitor's own limit)."""
        note = origin_words(self.origin, self.source)
        return Text(f"{self.title.en}: {self.shown} ({note.en})", f"{self.title.zh}：{self.shown}（{note.zh}）")


_SIGNS: Mapping[str, str] = {">=": "≥", "<=": "≤"}


def origin_words(origin: Origin, source: str) -> Text:
    """Such as: published: a monitor's own limit."""
    words = ORIGIN_WORDS[origin]
    return Text(f"{words.en}: {source}", f"{words.zh}：{source}") if source else words


def amount(value: float, unit: str) -> str:
    """A figure with its unit; a share in per cent."""
    if unit == SHARE:
        return f"{round(value * 100, 6):,.6g} %"
    return f"{value:,.6g} {unit}".strip()


def joined_words(used: tuple[JudgedBy, ...]) -> Text:
    """All figures of a finding in one line; empty without any."""
    if not used:
        return NO_TEXT
    return Text("; ".join(one.words.en for one in used), "；".join(one.words.zh for one in used))
