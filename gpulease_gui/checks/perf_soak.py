"""Is the rate of the last minutes that of the first, on every GPU?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS, beside, explained
from gpulease_gui.checks.matmul_cards import cards_of, heads_of, usable
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks, judged
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.checks.torch_rates import tempered
from gpulease_gui.checks.torch_runs import BY_HAND, heads_with_result, without_result
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import TaskCard
from gpulease_gui.facts.torch_matmul import MatmulRun, Point, TorchMatmul

BANDS = band_marks("perf.soak", 0.97, 0.93, Text("the rate after the warm-up", "预热后的速率"))
WARM_S = Threshold("perf.soak", "warm", 120.0, "s", Text("the first part that is warm-up", "开头算作预热的时长"), "<", high=600.0)
LENGTH_S = Threshold("perf.soak", "length", 600.0, "s", Text("a shorter run says nothing of heat", "短于此时长的测试说明不了散热"), ">=", low=60.0)
WINDOW_S = Threshold("perf.soak", "window", 120.0, "s", Text("the length of the first and of the last stretch compared", "首末比较窗口的长度"), "", low=20.0)

CHECK = Check(
    id="perf.soak",
    title=Text("Speed held for twenty minutes", "20 分钟持续性能"),
    why=Text("Heat shows after minutes: a node that slows down at minute twelve passes every short test.", "散热问题几分钟后才显现：第 12 分钟才降速的节点能通过所有短测试。"),
    facts=("torch_soak",),
    optional=("smi_xml",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.NVIDIA,
    takes_s=1200,
    writes=Text("nothing; all GPUs work at full power for twenty minutes", "不写入；全部显卡满功率运行 20 分钟"),
    thresholds=(*BANDS.both, WARM_S, LENGTH_S, WINDOW_S, BUSY_BEFORE, *LOAD_MARKS),
)
_COOL = Text("ask the supplier for the cooling of this node; the curve of this run shows from when on it slows down",
             "请供应商检查该节点的散热；本次曲线可见从何时开始降速")  # fmt: skip
_WORN = Text("read the kernel log (health.xid) and have this GPU examined", "请查看内核日志（health.xid），并检修这张卡")


@dataclass(frozen=True, slots=True)
class _Course:
    """One card over the runs that were long enough: the last stretch as a part of the first, per run."""

    card: TaskCard
    shares: tuple[float, ...]
    reason: Text
    broken: bool


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is what the worst card keeps of its rate after the warm-up, in per cent."""
    runs, heads = usable(found), heads_of(found)
    if not heads_with_result(heads):
        return (without_result(CHECK, heads),)
    courses = [_course(card, runs, promise) for card in cards_of(runs)]
    if bad := [one for one in courses if one.broken]:
        words = Text(f"wrong results on {bad[0].card.key}: NaN or Inf", f"{bad[0].card.key} 的结果出现 NaN 或 Inf")
        return (_finding(Verdict.FAIL, words, "nan", _WORN, courses, {one.card.key: Verdict.FAIL for one in bad}),)
    if died := next((head for head in heads if head.error), None):
        words = Text(f"the load died: {died.error}", f"负载中途崩溃：{died.error}")
        return (_finding(Verdict.FAIL, words, "process_died", _WORN, courses, {}),)
    told = [one for one in courses if one.shares]
    if not told:
        words = Text("the run was too short to say anything of heat", "测试时间太短，说明不了散热")
        return (_finding(Verdict.INCONCLUSIVE, words, "too_short", BY_HAND, courses, {}),)
    return (_compared(told, courses, found, promise),)


def _compared(told: Sequence[_Course], courses: Sequence[_Course], found: TorchMatmul, promise: Promise) -> Finding:
    marks = {one.card.key: judged(one.shares, 1.0, BANDS.at(promise)) for one in told}
    slow = min(told, key=lambda one: max(one.shares))
    verdict, code = worst(v for v, _ in marks.values()), marks[slow.card.key][1]
    verdict, code, step = tempered(verdict, code, _COOL, heads_of(found), promise, silent=len(told) < len(courses))
    return _finding(verdict, slow.reason, code, step, courses, {key: v for key, (v, _) in marks.items()})


def _course(card: TaskCard, runs: Sequence[MatmulRun], promise: Promise) -> _Course:
    shares = [(share, run) for run in runs if (share := _kept(run.course(card.key), promise)) is not None]
    broken = any(point.tflops is None for run in runs for point in run.course(card.key))
    if not shares:
        return _Course(card, (), NO_TEXT, broken)
    kept, run = max(shares, key=lambda one: one[0])
    looks = run.head.looks_at(card)
    # The figures of the last stretch stand beside its rate: over all of it they would hide what came late.
    late = [look for look in looks if look.t_s >= looks[-1].t_s - promise.limit(WINDOW_S)]
    why, seen = explained(looks, promise), beside(late)
    length = number_text((run.course(card.key)[-1].t_s - run.course(card.key)[0].t_s) / 60, 0)
    en = f"{card.key} keeps {number_text(kept * 100)} % of its rate over {length} min"
    zh = f"{card.key} 在 {length} 分钟后保持 {number_text(kept * 100)}% 的速率"
    en, zh = (f"{en}; {why.en}", f"{zh}；{why.zh}") if why.en else (en, zh)
    words = Text(f"{en} [{seen.en}]", f"{zh}［{seen.zh}］") if seen.en else Text(en, zh)
    return _Course(card, tuple(share for share, _ in shares), words, broken)


def _kept(points: Sequence[Point], promise: Promise) -> float | None:
    """The median of the last stretch as a part of that after the warm-up; None where the run is too short."""
    told = [(point.t_s - points[0].t_s, point.tflops) for point in points if point.tflops is not None]
    if not told or told[-1][0] < promise.limit(LENGTH_S):
        return None
    warm, window, end = promise.limit(WARM_S), promise.limit(WINDOW_S), told[-1][0]
    first = [rate for at, rate in told if warm <= at <= warm + window]
    last = [rate for at, rate in told if at >= end - window]
    return median(last) / median(first) if first and last and median(first) > 0 else None


def _finding(verdict: Verdict, words: Text, code: str, step: Text, courses: Sequence[_Course], marks: dict[str, Verdict]) -> Finding:
    kept = {one.card.key: round(max(one.shares) * 100, 1) for one in courses if one.shares}
    subjects = [SubjectFinding(o.card.key, marks.get(o.card.key, Verdict.INCONCLUSIVE), kept.get(o.card.key), o.card.gpu, o.reason) for o in courses]
    return CHECK.finding(
        verdict, words, measured=min(kept.values(), default=None), unit="%", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED,
        better="more",
    )  # fmt: skip
