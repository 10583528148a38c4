"""Where was nothing read of a stretch, or nothing of some of its curves, and why?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence

from gpulease_gui.domain.text import NO_TEXT, Text, foreign, visible
from gpulease_gui.reports.document import Blank
from gpulease_gui.services.card_words import cards_words
from gpulease_gui.services.gap_words import SERIES_WORDS, of_series, origin_told, reason_words
from gpulease_gui.store.records import Gap, SampleRange, Stretch

_NS = 1_000_000_000
# A stretch without readings longer than this is drawn as a gap even if nobody noted why.
_SILENT_STEPS = 3
# Of the usual step: readings that are no further apart than this have nothing between them.
_BESIDE = 1.5
# The cards of a node are read some milliseconds apart.
_TOGETHER_NS = _NS
_MOST_NAMED, _MOST_CHARACTERS = 4, 48
_CARDS = ("gpu.", "npu.")


def blanks_of(found: SampleRange, span: tuple[int, int], numbers: Mapping[str, int], names: Mapping[str, str]) -> tuple[Blank, ...]:
    """The gaps of a metric within a span (ns, UTC) by time. Those of curves that others of it outlive name these.

    `numbers` are those that a watch gave the cards, `names` what the chart calls the curve of a subject.
    """
    inside = [gap for gap in found.gaps if gap.end_ns > span[0] and gap.start_ns < span[1]]
    noted = [_blank(gap, span, reason_words(gap)) for gap in inside if not _is_single(gap)]
    noted += [_of_curves(group, found.stretches, span, numbers, names) for group in _together(filter(_is_single, inside))]
    whole = [blank for blank in noted if not blank.curves]
    silent = [b for b in _silences(found) if not any(n.start_s < b.end_s and b.start_s < n.end_s for n in whole)]
    return tuple(sorted([*noted, *silent], key=lambda blank: blank.start_s))


def _blank(gap: Gap, span: tuple[int, int], why: Text) -> Blank:
    return Blank(max(gap.start_ns, span[0]) / _NS, min(gap.end_ns, span[1]) / _NS, why)


def _together(gaps: Iterable[Gap]) -> list[list[Gap]]:
    """Gaps of several curves that are one: of the same time, for the same reason."""
    groups: dict[tuple[str, bool], list[list[Gap]]] = {}
    for gap in sorted(gaps, key=lambda one: one.start_ns):
        code, _ = _code_subject(gap)
        alike = groups.setdefault((code, gap.imported), [])
        beside = next((group for group in reversed(alike[-8:]) if _is_beside(gap, group[0])), None)
        if beside is None:
            alike.append([gap])
        else:
            beside.append(gap)
    return [group for alike in groups.values() for group in alike]


def _is_beside(gap: Gap, other: Gap) -> bool:
    return gap.start_ns - other.start_ns <= _TOGETHER_NS and abs(gap.end_ns - other.end_ns) <= _TOGETHER_NS


def _is_single(gap: Gap) -> bool:
    return gap.metric is not None and of_series(gap.reason) is not None


def _code_subject(gap: Gap) -> tuple[str, str]:
    return of_series(gap.reason) or ("", "")


def _of_curves(
    group: Sequence[Gap], stretches: Sequence[Stretch], span: tuple[int, int], numbers: Mapping[str, int], names: Mapping[str, str]
) -> Blank:
    """One gap of curves; of the whole chart where no other curve was read meanwhile."""
    first, (code, _) = group[0], _code_subject(group[0])
    subjects = tuple(dict.fromkeys(_code_subject(gap)[1] for gap in group))
    others = [one for one in stretches if one.series.subject not in subjects]
    whose = _whose(first.metric or "", subjects, numbers, len({*subjects} | {one.series.subject for one in others}))
    longest = Gap(first.node_id, min(gap.start_ns for gap in group), max(gap.end_ns for gap in group), first.reason, first.metric)
    why = origin_told(SERIES_WORDS[code], imported=first.imported)
    blank = _blank(longest, span, why)
    if any(_is_read(one, longest) for one in others):
        return Blank(blank.start_s, blank.end_s, why, tuple(names.get(subject, subject) for subject in subjects), whose)
    return Blank(blank.start_s, blank.end_s, Text(f"{whose.en}: {why.en}", f"{whose.zh}：{why.zh}") if whose.en else why)


def _whose(metric: str, subjects: Sequence[str], numbers: Mapping[str, int], count: int) -> Text:
    """The curves as the window names them; of many how many. Empty for the node itself."""
    if metric.startswith(_CARDS):
        return cards_words(subjects, numbers, count)
    named = [visible(subject)[:_MOST_CHARACTERS] for subject in subjects if subject]
    if len(named) > _MOST_NAMED:
        return Text(f"{len(named)} lines", f"{len(named)} 条曲线")
    return Text(", ".join(named), "、".join(named)) if len(named) > 1 else foreign(named[0]) if named else NO_TEXT


def _is_read(stretch: Stretch, gap: Gap) -> bool:
    """Whether a curve was read in a gap of another one; a gap may be shorter than the slices of a long stretch are."""
    times = stretch.times_ns
    place = bisect_left(times, gap.start_ns)
    if place < len(times) and times[place] < gap.end_ns:
        return True
    return 0 < place < len(times) and times[place] - times[place - 1] <= _BESIDE * _usual_ns(times)


def _usual_ns(times: Sequence[int]) -> int:
    """How far apart the readings of a curve usually are; nothing for a single one."""
    steps = sorted(later - earlier for earlier, later in zip(times, times[1:], strict=False))
    return steps[len(steps) // 2] if steps else 0


def _silences(found: SampleRange) -> list[Blank]:
    """Where no subject was read for several steps."""
    times = sorted({t for stretch in found.stretches for t in stretch.times_ns})
    if len(times) < 2:
        return []
    usual = max(_usual_ns(times), _NS)
    return [
        Blank(earlier / _NS, later / _NS, Text("no readings", "无读数"))
        for earlier, later in zip(times, times[1:], strict=False) if later - earlier > _SILENT_STEPS * usual
    ]  # fmt: skip
