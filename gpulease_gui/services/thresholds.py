"""Which figures do the rules compare with, whose are they, and how does the user move one?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gpulease_gui.checks.check import rules
from gpulease_gui.checks.fleet import FLEET_NODES
from gpulease_gui.checks.machine import BREAK_PERCENT, NOTE_PERCENT, FallLimits
from gpulease_gui.checks.thresholds import NOTHING_MOVED, SHARE, Moved, Threshold, Thresholds
from gpulease_gui.checks.watch_rules import WATCH_THRESHOLDS
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.domain.threshold import ORIGIN_WORDS, JudgedBy, amount, origin_words
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.thresholds import ThresholdChange, append_threshold, list_moved, list_threshold_history

ANY_CHECK = Text("All measured checks", "所有实测检查项")
WATCHING = Text("Watching", "实时监控")
BY = "user"


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """One figure as it stands: shipped and in force, the checks that it judges, and the move that holds (None = none)."""

    threshold: Threshold
    now: JudgedBy
    checks: tuple[str, ...]
    title: Text
    moved: ThresholdChange | None = None

    @property
    def shipped(self) -> str:
        """The shipped value with its unit."""
        return amount(self.threshold.value, self.threshold.unit)

    @property
    def shipped_origin(self) -> Text:
        """Where the shipped value comes from, with its source."""
        return origin_words(self.threshold.origin, self.threshold.source)

    @property
    def entry(self) -> str:
        """The value in force as it can be typed."""
        one = self.threshold
        return f"{self.now.value * 100:.10g} %" if one.unit == SHARE else f"{self.now.value:.10g} {one.unit}"

    @property
    def bounds(self) -> str:
        """What may be set, such as `0 % to 100 %`."""
        low, high = self.threshold.low, self.threshold.high
        return f"{amount(low, self.threshold.unit)} – {'∞' if math.isinf(high) else amount(high, self.threshold.unit)}"


def effective(connection: Reader) -> Thresholds:
    """The figures as they stand now, for one run."""
    return Thresholds({(c.check, c.name): Moved(c.value, _source(c)) for c in list_moved(connection) if c.value is not None})


def falls(connection: Reader) -> FallLimits:
    """How far a value may fall between two runs, as it stands now."""
    now = effective(connection)
    return FallLimits(now.value(NOTE_PERCENT), now.value(BREAK_PERCENT))


def _source(change: ThresholdChange) -> str:
    return f"{change.why} ({change.by}, {change.at:%Y-%m-%d})"


def all_thresholds() -> dict[tuple[str, str], tuple[Threshold, tuple[str, ...]]]:
    """Every figure of every rule by (check, name), with the ids of the checks that it judges."""
    found: dict[tuple[str, str], tuple[Threshold, tuple[str, ...]]] = {one.key: (one, ()) for one in (FLEET_NODES, *WATCH_THRESHOLDS)}
    for rule in rules().values():
        for one in rule.check.thresholds:
            found[one.key] = (one, (*found.get(one.key, (one, ()))[1], rule.check.id))
    return dict(sorted(found.items()))


def list_thresholds(connection: Reader) -> tuple[ThresholdRow, ...]:
    """All figures by check and name."""
    return _rows(effective(connection), {(c.check, c.name): c for c in list_moved(connection)})


def shipped_thresholds() -> tuple[ThresholdRow, ...]:
    """All figures as the program ships them."""
    return _rows(NOTHING_MOVED, {})


def _rows(now: Thresholds, moved: Mapping[tuple[str, str], ThresholdChange]) -> tuple[ThresholdRow, ...]:
    return tuple(
        ThresholdRow(one, now.judged_by([one], None if not one.terms else one.terms[0])[0], checks, _title(one), moved.get(key))
        for key, (one, checks) in all_thresholds().items()
    )


def _title(one: Threshold) -> Text:
    rule = rules().get(one.check)
    return rule.check.title if rule else WATCHING if one in WATCH_THRESHOLDS else ANY_CHECK


def find_threshold(check: str, name: str) -> Threshold:
    """The figure at this address. Raises UsageError that lists what there is."""
    known = all_thresholds()
    if (check, name) in known:
        return known[check, name][0]
    names = sorted(n for c, n in known if c == check)
    if names:
        raise UsageError(Text(f"{check} has no figure {name!r}", f"{check} 没有阈值 {name!r}"), next_step=Text(f"its figures are {', '.join(names)}", f"其阈值为 {', '.join(names)}"))
    why = Text("it compares with no figure", "它不与任何阈值比较") if check in rules() else Text("there is no such check", "没有这项检查")
    raise UsageError(Text(f"{check!r} has no figure to set", f"{check!r} 没有可调整的阈值"), why, Text("choose one of the list", "请从列表中选择"), "list them with: gpulease checks --thresholds")


def parse_amount(threshold: Threshold, words: str) -> float:
    """`95 %`, `95%` or `0.95` for a share, `83 °C` or `83` for others. Raises UsageError for what is no number.

    >>> from gpulease_gui.checks.power_limit import FULL
    >>> parse_amount(FULL, "97.5 %"), parse_amount(FULL, "0.975")
    (0.975, 0.975)
    """
    found = re.fullmatch(r"\s*([+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,2})?)\s*(\S{0,12})\s*", words)
    units = ("", "%") if threshold.unit == SHARE else ("", threshold.unit)
    if found is None or found[2] not in units:
        unit = "%" if threshold.unit == SHARE else threshold.unit
        raise UsageError(Text(f"{visible(words[:40])!r} is no value of {threshold.check} {threshold.name}", f"{visible(words[:40])!r} 不是 {threshold.check} {threshold.name} 的值"), next_step=Text(f"give a number in {unit}", f"请填写以 {unit} 为单位的数字"))
    value = float(found[1])
    return value / 100 if threshold.unit == SHARE and found[2] == "%" else value


def set_threshold(
    db: Database, check: str, name: str, value: float, *, why: str, at: datetime, by: str = BY
) -> ThresholdChange:  # fmt: skip
    """Move a figure from now on (UTC `at`). Raises UsageError for an unknown one, out of bounds, or without a reason."""
    one = find_threshold(check, name)
    if not why.strip():
        raise UsageError(Text(f"{check} {name} was not set", f"{check} {name} 未调整"), Text("a moved figure needs a reason", "调整阈值需要理由"), Text("say why it should be another one", "请说明为何调整"))
    if not one.accepts(value):
        low, high = amount(one.low, one.unit), amount(one.high, one.unit)
        raise UsageError(Text(f"{amount(value, one.unit)} is out of bounds for {check} {name}", f"{amount(value, one.unit)} 超出 {check} {name} 的范围"), Text(f"it may be {low} to {high}", f"允许 {low} 至 {high}"))
    return _append(db, ThresholdChange(check, name, value, one.unit, at, by, why.strip()))


def reset_threshold(db: Database, check: str, name: str, *, at: datetime, why: str = "", by: str = BY) -> ThresholdChange:
    """Take a figure back to what the program ships. Raises UsageError for an unknown one."""
    one = find_threshold(check, name)
    return _append(db, ThresholdChange(check, name, None, one.unit, at, by, why.strip()))


def _append(db: Database, change: ThresholdChange) -> ThresholdChange:
    append_threshold(db, change)
    return change


def threshold_history(connection: Reader, check: str, name: str) -> tuple[ThresholdChange, ...]:
    """Every move of one figure, the newest first."""
    return list_threshold_history(connection, check, name)


def search_words(row: ThresholdRow) -> str:
    """All words of a figure in both languages, for whoever looks for one."""
    one, origin = row.threshold, ORIGIN_WORDS[row.now.origin]
    return " ".join((
        one.check, one.name, one.title.en, one.title.zh, row.title.en, row.title.zh, row.now.source, one.source, origin.en,
        origin.zh, *row.checks,
    ))  # fmt: skip


def matches(row: ThresholdRow, words: Iterable[str]) -> bool:
    """Whether every word stands somewhere in the row, in either language."""
    text = search_words(row).lower()
    return all(word.lower() in text for word in words)
