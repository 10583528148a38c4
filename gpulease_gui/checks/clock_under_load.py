"""Do the clocks of every GPU hold while it computes?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from gpulease_gui.checks.load_words import AT_LIMIT, HEAT_SHARE, LOOKS, at_power_limit, beside, power_cap, slowdown
from gpulease_gui.checks.matmul_cards import cards_of, heads_of, matmul_check, usable
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.checks.torch_rates import unless_cut
from gpulease_gui.checks.torch_runs import AGAIN, heads_with_result, without_result
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import Look, TaskCard
from gpulease_gui.facts.torch_matmul import TorchMatmul

BANDS = band_marks("clock.under_load", 0.85, 0.75, Text("the highest clock", "最高频率"))
LATER = Threshold(
    "clock.under_load", "later", 0.6, SHARE, Text("the last part of the looks that is judged", "参与判定的后段采样比例"), "", low=0.1, high=1.0
)

CHECK = matmul_check(
    id="clock.under_load",
    title=Text("Clocks under load", "负载下的频率"),
    why=Text("A card slowed by heat or by a lowered limit is paid for in full.", "因过热或被调低上限而降速的卡，照样按全价收费。"),
    thresholds=(*BANDS.both, LATER, LOOKS, HEAT_SHARE, AT_LIMIT),
)
_COOL = Text("ask the supplier for cooling, power and limits of this node, then run it again", "请供应商检查该节点的散热、供电与功耗上限，然后重测")
_NO_LOOK = Text("install nvidia-smi in the container, or run `nvidia-smi dmon -s pucvet` beside the test",
                "请在容器中提供 nvidia-smi，或在测试时并行运行 `nvidia-smi dmon -s pucvet`")  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Mark:
    """What the looks at one card say in one run."""

    verdict: Verdict
    words: Text
    share: float | None = None


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the lowest median clock in per cent of the highest that the card has."""
    runs = usable(found)
    if not heads_with_result(heads_of(found)):
        return (without_result(CHECK, heads_of(found)),)
    marks = {card: [m for run in runs if (m := _mark(run.head.looks_at(card), promise))] for card in cards_of(runs)}
    told = {card: own for card, own in marks.items() if own}
    if not told:
        words = Text("clocks were not seen: nvidia-smi did not answer beside the test", "未看到频率：测试期间 nvidia-smi 没有应答")
        return (CHECK.finding(Verdict.INCONCLUSIVE, words, reason_code="not_visible", next_step=_NO_LOOK, basis=Basis.MEASURED),)
    return (unless_cut(_finding(told, len(marks), len(runs)), [run.head for run in runs]),)


def _mark(looks: Sequence[Look], promise: Promise) -> _Mark | None:
    """A slowdown by heat or power fails; a low clock does, too, unless the card draws all that it may."""
    late = looks[int(len(looks) * (1 - promise.limit(LATER))) :]
    clocks = [look.sm_mhz for look in late if look.sm_mhz is not None]
    most = max((look.sm_max_mhz or 0.0 for look in looks), default=0.0)
    if not clocks or not most or len(looks) < promise.limit(LOOKS):
        return None
    share, slow, cap = median(clocks) / most, slowdown(looks, promise), power_cap(looks)
    if slow.en:
        return _Mark(Verdict.FAIL, slow, share)
    if cap.en:
        return _Mark(Verdict.WARN, cap, share)
    bands = BANDS.at(promise)
    at_limit = at_power_limit(looks, promise)
    words = Text(f"{number_text(median(clocks), 0)} of {number_text(most, 0)} MHz", f"{number_text(median(clocks), 0)} MHz（最高 {number_text(most, 0)}）")
    if at_limit:
        words = Text(f"{words.en}, at its power limit", f"{words.zh}，已达功耗上限")
    seen = beside(late)
    words = Text(f"{words.en} [{seen.en}]", f"{words.zh}［{seen.zh}］")
    return _Mark(Verdict.PASS if at_limit else bands.of(share, 1.0), words, share)


def _finding(told: dict[TaskCard, list[_Mark]], cards: int, runs: int) -> Finding:
    best = {card: min(own, key=lambda mark: _rank(mark.verdict)) for card, own in told.items()}
    verdict = worst(mark.verdict for mark in best.values())
    card, mark = min(((c, m) for c, m in best.items() if m.verdict is verdict), key=lambda one: one[1].share or 0.0)
    code = {Verdict.FAIL: "slowed", Verdict.WARN: "clock_low"}.get(verdict, "")
    step = NO_TEXT if verdict is Verdict.PASS else _COOL
    if verdict is Verdict.FAIL and runs < 2:
        verdict, code, step = Verdict.WARN, MEASURED_ONCE, AGAIN
    if verdict is Verdict.PASS and len(told) < cards:
        verdict, code, step = Verdict.INCONCLUSIVE, Reason.UNREADABLE, _NO_LOOK
    subjects = [SubjectFinding(c.key, m.verdict, _percent(m.share), c.gpu, m.words) for c, m in best.items()]
    words = Text(f"{card.key}: {mark.words.en}", f"{card.key}：{mark.words.zh}")
    return CHECK.finding(
        verdict, words, measured=_percent(mark.share), unit="%", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more"
    )


def _rank(verdict: Verdict) -> int:
    return (Verdict.PASS, Verdict.WARN, Verdict.FAIL).index(verdict)


def _percent(share: float | None) -> float | None:
    return None if share is None else round(share * 100, 1)
