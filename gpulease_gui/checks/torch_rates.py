"""Is the rate of every card what it should be: the contract's figure, else that of its kind?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.load_words import beside, explained, power_cap, slowdown, was_busy_before
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, PROMISE, BandMarks, Bands, band_marks, judged
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_runs import (
    ABOVE,
    AGAIN,
    ASK_CAP,
    ASK_COOL,
    ASK_SLOW,
    BY_HAND,
    CLEAR,
    NO_YARDSTICK,
    NOT_IDLE,
    SHEET,
    TO_THE_END,
    without_result,
)
from gpulease_gui.checks.yardstick import words_of, yardstick
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.threshold import JudgedBy
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.task_lines import Look, TaskCard, TaskHead

# Two per cent are the noise of a timing.
CONTRACT = band_marks("perf.bf16", 0.98, 0.9, PROMISE, name="contract")
SHEET_LIKE = Threshold(
    "perf.bf16", "sheet_like", 0.97, SHARE, Text("a promise repeats the data sheet from (share of the sheet)", "承诺值达到规格此比例即视为照抄规格"),
    ">=", high=1.0,
)  # fmt: skip
RATE_MARKS = (*CONTRACT.both, SHEET_LIKE)
_WAIT = Text(
    "keep this run: the median of five own nodes of this product becomes the yardstick; until then compare with another node",
    "请保留本次结果：五台同型号自有节点的中位数将成为参照；在此之前请与另一台节点比较",
)
_TEST_FAULT = Text(
    "the test is wrong, not the card: check size, clock and version of PyTorch, then run it again",
    "是测试出了错，而不是卡更快：请检查规模、时钟与 PyTorch 版本后重测",
)
_BROKEN_STEP = Text("have this GPU replaced: it computes wrong results", "请更换这张卡：它的计算结果是错的")


@dataclass(frozen=True, slots=True)
class Rate:
    """What is compared: `sheet` is the field of the product that no card can beat by more than `over`."""

    noun: Text
    unit: str
    metric: Metric
    sheet: tuple[str, ...]
    over: Threshold
    fleet: BandMarks
    published: BandMarks
    direction: str = ""
    term: str | None = None
    part: str = ""

    def ceiling(self, product: GpuModel | None, promise: Promise) -> float | None:
        """The rate above which the test itself is wrong; None where the sheet is not known."""
        known = [value for name in self.sheet if (value := getattr(product, name, None))]
        return max(known) * promise.limit(self.over) if known else None


@dataclass(frozen=True, slots=True)
class RatedCard:
    """One card with its rate of every run that gave one. `broken`: a result held NaN, Inf or wrong bytes."""

    card: TaskCard
    product: GpuModel | None
    rates: tuple[float, ...]
    looks: tuple[Look, ...] = ()
    broken: bool = False

    @property
    def best(self) -> float:
        """The better run; 0 without any."""
        return max(self.rates, default=0.0)


@dataclass(frozen=True, slots=True)
class _Mark:
    """With what a card is compared; `bands` None = nothing to compare with. `repeats_sheet`: the promise is the sheet's figure."""

    value: float = 0.0
    words: Text = NO_TEXT
    bands: Bands | None = None
    used: JudgedBy | None = None
    repeats_sheet: bool = False


def judge_rate(check: Check, rate: Rate, found: Sequence[RatedCard], heads: Sequence[TaskHead], promise: Promise) -> Finding:
    """One finding; measured is the slowest card's better run."""
    if broken := [one for one in found if one.broken]:
        return _flat(check, rate, found, promise, Verdict.FAIL, _broken(broken), "nan", _BROKEN_STEP, {one.card.key for one in broken})
    told = [one for one in found if one.rates]
    if not told:
        return replace(without_result(check, heads, rate.term, promise, rate.part), direction=rate.direction)
    if dead := [one for one in told if one.best <= 0]:
        return _flat(check, rate, found, promise, Verdict.FAIL, _dead(rate, dead), "nothing_computed", BY_HAND, {one.card.key for one in dead})
    for one in told:
        ceiling = rate.ceiling(one.product, promise)
        if ceiling is not None and one.best > ceiling:
            return _flat(check, rate, found, promise, Verdict.INCONCLUSIVE, _above(rate, one, ceiling), ABOVE, _TEST_FAULT, {one.card.key})
    return _compared(check, rate, found, told, heads, promise)


def _compared(check: Check, rate: Rate, found: Sequence[RatedCard], told: Sequence[RatedCard], heads: Sequence[TaskHead], promise: Promise) -> Finding:
    slow = min(told, key=lambda one: one.best)
    mark = _mark(check, rate, slow.product, promise)
    reason = _reason(rate, slow, mark, len(told), promise)
    if mark.bands is None:
        code = SHEET if mark.repeats_sheet else NO_YARDSTICK
        return _flat(check, rate, found, promise, Verdict.INCONCLUSIVE, reason, code, _WAIT, {one.card.key for one in found})
    marks = {one.card.key: judged(one.rates, mark.value, mark.bands) for one in told}
    verdict = worst(v for v, _ in marks.values())
    code = next(c for v, c in marks.values() if v is verdict)
    verdict, code, step = tempered(verdict, code, _cause(slow, promise), heads, promise, silent=len(told) < len(found))
    if verdict is Verdict.PASS and mark.repeats_sheet:
        verdict, code, step = Verdict.WARN, SHEET, _ASK_MEASURED
    subjects = [SubjectFinding(o.card.key, marks[o.card.key][0], _round(o.best), o.card.gpu) for o in told]
    subjects += [SubjectFinding(o.card.key, Verdict.INCONCLUSIVE, None, o.card.gpu) for o in found if not o.rates]
    made = _finding(check, rate, promise, verdict, reason, code, step, _round(slow.best), subjects)
    return replace(made, judged_by=(mark.used,) if mark.used else ())


def tempered(
    verdict: Verdict, code: str, ask: Text, heads: Sequence[TaskHead], promise: Promise, *, silent: bool = False
) -> tuple[Verdict, str, Text]:
    """Verdict, code and next step once the circumstances are known: a node that was busy, a run cut short.

    `ask` is what a slow rate is followed by; `silent`: a part of the cards gave no rate.
    """
    low = verdict is Verdict.FAIL or code == MEASURED_ONCE
    if low and any(was_busy_before(head, promise) for head in heads):
        return Verdict.WARN, NOT_IDLE, CLEAR
    if verdict is Verdict.PASS and (silent or not any(head.complete for head in heads)):
        return Verdict.INCONCLUSIVE, Reason.CUT_OFF, TO_THE_END
    return verdict, code, NO_TEXT if verdict is Verdict.PASS else AGAIN if code == MEASURED_ONCE else ask


def unless_cut(made: Finding, heads: Sequence[TaskHead]) -> Finding:
    """`made`; where it passes and no run came to its end, it stays open."""
    if made.verdict is not Verdict.PASS or any(head.complete for head in heads):
        return made
    return replace(made, verdict=Verdict.INCONCLUSIVE, reason_code=Reason.CUT_OFF, next_step=TO_THE_END)


def _cause(slow: RatedCard, promise: Promise) -> Text:
    """What to ask for, by what slowed the card: a lowered limit is lifted by a command, heat is not."""
    if power_cap(slow.looks).en:
        return ASK_CAP
    return ASK_COOL if slowdown(slow.looks, promise).en else ASK_SLOW


_ASK_MEASURED = Text(
    "ask the supplier for a measured figure: no healthy card reaches its data sheet", "请向供应商索取实测值：再好的卡也达不到规格表上的数"
)


def _mark(check: Check, rate: Rate, product: GpuModel | None, promise: Promise) -> _Mark:
    stated = promise.get(rate.term) if rate.term else None
    own = yardstick(promise, check.id, product, rate.metric, direction=rate.direction) if product else None
    sheet = next((value for name in rate.sheet if (value := getattr(product, name, None))), None)
    copied = bool(stated and sheet and stated.number >= promise.limit(SHEET_LIKE) * sheet)
    if stated and not copied:
        return _Mark(stated.number, PROMISE, CONTRACT.at(promise))
    if own is None:
        return _Mark(repeats_sheet=copied)
    bands = rate.fleet if own.origin is Origin.FLEET else rate.published
    return _Mark(own.value, words_of(own), bands.at(promise), own, copied)


def rate_text(rate: float) -> str:
    """A rate for people: one decimal, more where it is small."""
    return number_text(rate, max(1, 2 - math.floor(math.log10(rate)))) if rate > 0 else "0"


def _round(rate: float) -> float:
    """Four figures that count: practice on a processor reaches thousandths."""
    return float(f"{rate:.4g}")


def _reason(rate: Rate, slow: RatedCard, mark: _Mark, count: int, promise: Promise) -> Text:
    amount = f"{rate_text(slow.best)} {rate.unit}"
    en, zh = f"{rate.noun.en}: slowest of {count} GPUs {amount}", f"{rate.noun.zh}：{count} 张卡中最慢 {amount}"
    if count == 1:
        en, zh = f"{rate.noun.en}: {amount}", f"{rate.noun.zh}：{amount}"
    if mark.value:
        share, whole = number_text(slow.best / mark.value * 100, 0), number_text(mark.value)
        en, zh = f"{en}, {share} % of {whole} ({mark.words.en})", f"{zh}，为 {whole}（{mark.words.zh}）的 {share}%"
    elif mark.repeats_sheet:
        en, zh = f"{en}; the promise repeats the data sheet, which no card reaches", f"{zh}；承诺值照抄规格，而任何卡都达不到规格"
    else:
        en, zh = f"{en}; what this product reaches elsewhere is not known", f"{zh}；尚不知该型号在别处能达到多少"
    why, seen = explained(slow.looks, promise), beside(slow.looks)
    en, zh = (f"{en}; {why.en}", f"{zh}；{why.zh}") if why.en else (en, zh)
    return Text(f"{en} [{seen.en}]", f"{zh}［{seen.zh}］") if seen.en else Text(en, zh)


def _broken(cards: Sequence[RatedCard]) -> Text:
    names = ", ".join(one.card.key for one in cards[:8])
    return Text(f"wrong results on {names}: NaN, Inf or bytes that differ", f"{names} 的结果有误：出现 NaN、Inf 或字节不符")


def _dead(rate: Rate, cards: Sequence[RatedCard]) -> Text:
    names = ", ".join(one.card.key for one in cards[:8])
    return Text(f"0 {rate.unit} on {names}: the task ended well and nothing was done", f"{names} 为 0 {rate.unit}：任务正常结束，却什么也没做")


def _above(rate: Rate, one: RatedCard, ceiling: float) -> Text:
    got, most = rate_text(one.best), number_text(ceiling)
    return Text(
        f"{got} {rate.unit} on {one.card.key} is more than this product can do ({most}): the test is wrong",
        f"{one.card.key} 测得 {got} {rate.unit}，超过该型号的极限（{most}）：测试有误",
    )


def _flat(
    check: Check, rate: Rate, found: Sequence[RatedCard], promise: Promise, verdict: Verdict, reason: Text, code: str, step: Text, named: set[str]
) -> Finding:
    """A finding in which the named cards bear the verdict and the others are open."""
    told = [one.best for one in found if one.rates]
    subjects = [
        SubjectFinding(o.card.key, verdict if o.card.key in named else Verdict.INCONCLUSIVE, _round(o.best) if o.rates else None, o.card.gpu)
        for o in found
    ]
    return _finding(check, rate, promise, verdict, reason, code, step, _round(min(told)) if told else None, subjects)


def _finding(
    check: Check, rate: Rate, promise: Promise, verdict: Verdict, reason: Text, code: str, step: Text, measured: float | None,
    subjects: Sequence[SubjectFinding],
) -> Finding:  # fmt: skip
    stated = promise.get(rate.term) if rate.term else None
    return check.finding(
        verdict, reason, term=rate.term if stated else None, promised=stated.value if stated else None, measured=measured, unit=rate.unit,
        subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more", direction=rate.direction,
    )  # fmt: skip
