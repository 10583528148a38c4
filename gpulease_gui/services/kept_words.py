"""What is said of readings that were kept as evidence of a run, and that somebody changed afterwards?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from gpulease_gui.domain.text import Text, visible
from gpulease_gui.reports.facts import KeptReadings
from gpulease_gui.reports.wording import utc_moment
from gpulease_gui.store.kept_slots import SlotsState
from gpulease_gui.store.kept_state import KeptState
from gpulease_gui.telemetry.source import metrics

_NS = 1_000_000_000
_NAMED = 4  # series that a sentence names


def kept_readings(states: Iterable[KeptState]) -> tuple[KeptReadings, ...]:
    """They as a report has them."""
    return tuple(
        KeptReadings(one.kept.start_ns / _NS, one.kept.end_ns / _NS, one.kept.sha256, trouble_of(one)) for one in states
    )  # fmt: skip


def trouble_of(state: KeptState) -> Text | None:
    """What was done to them, in a sentence with times in UTC; None where they are what they were."""
    if state.intact:
        return None
    if state.fits and state.slots:
        return _of(state, _of_slots(state))
    if state.fits:
        return _of(state, Text("the copy that was kept was changed afterwards; the readings themselves are unchanged",
                               "存证副本后来被改动；读数本身未变"))  # fmt: skip
    if not state.copy_fits:
        return _of(state, Text("they were changed afterwards, and so was the copy that was kept: nobody can say which",
                               "后来被改动，存证副本也被改动：无法指出改动之处"))  # fmt: skip
    counted = _counted(state)
    en, zh = counted.en or "order of the blocks", counted.zh or "数据段次序"
    first = "" if state.first_ns is None else _when(state.first_ns)
    return _of(state, Text(f"they are not what was kept; blocks: {en}" + (f", the first at {first}" if first else ""),
                           f"与存证不符：{zh}" + (f"，最早为 {first}" if first else "")))  # fmt: skip


def _counted(state: KeptState | SlotsState) -> Text:
    counted = ((state.changed, "changed", "被改动"), (state.missing, "missing", "缺失"), (state.added, "added", "后来加入"))
    return Text(", ".join(f"{count} {word}" for count, word, _ in counted if count),
                "，".join(f"{word} {count} 段" for count, _, word in counted if count))  # fmt: skip


def _of_slots(state: KeptState) -> Text:
    """Summaries are not kept: what they should be, the readings say."""
    first = _when(min(one.first_ns for one in state.slots))
    told = [(_length(one), _counted(one)) for one in state.slots]
    en = "; ".join(f"of {length.en}: {count.en}" for length, count in told)
    zh = "；".join(f"{length.zh}：{count.zh}" for length, count in told)
    copy = Text("", "") if state.copy_fits else Text("; the copy that was kept was changed, too", "；存证副本也被改动")
    which = _series(dict.fromkeys(name for one in state.slots for name in one.series))
    return Text(f"the readings are unchanged, but the summaries that longer charts of {which.en} are drawn from are not what they make; {en}, the first at {first}{copy.en}",
                f"读数未变，但{which.zh}的长时段图表所用的汇总与读数不符；{zh}，最早为 {first}{copy.zh}")  # fmt: skip


def _series(names: Iterable[tuple[str, str]]) -> Text:
    """The first of them by name, and how many more."""
    told = [_series_name(*name) for name in names]
    more = len(told) - _NAMED
    en, zh = ", ".join(one.en for one in told[:_NAMED]), "、".join(one.zh for one in told[:_NAMED])
    return Text(f"{en} and {more} more", f"{zh}等 {len(told)} 条曲线") if more > 0 else Text(en, f"{zh} ")


def _series_name(metric: str, subject: str) -> Text:
    if not metric:
        return Text("a series that the node does not have", "节点没有的曲线")
    known, of = metrics().get(metric), visible(subject[:60])
    title = known.title if known else Text(visible(metric[:60]), visible(metric[:60]))
    return Text(f"{title.en} ({of})", f"{title.zh}（{of}）") if of else title


def _length(slots: SlotsState) -> Text:
    seconds = slots.step_ns // _NS
    return Text(f"{seconds} s", f"{seconds} 秒") if seconds < 60 else Text(f"{seconds // 60} min", f"{seconds // 60} 分钟")


def _of(state: KeptState, what: Text) -> Text:
    kept = state.kept
    span = f"{_when(kept.start_ns)} – {_when(kept.end_ns)}"
    return Text(f"Readings kept of the run, {span}: {what.en} (SHA-256 when kept: {kept.sha256})",
                f"验收存证读数 {span}：{what.zh}（存证时 SHA-256：{kept.sha256}）")  # fmt: skip


def _when(at_ns: int) -> str:
    try:
        return utc_moment(datetime.fromtimestamp(at_ns / _NS, UTC))
    except (ValueError, OverflowError, OSError):  # a start that was overwritten may be no time at all
        return "?"
