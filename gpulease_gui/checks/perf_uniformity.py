"""Is one GPU of the node slower than its sisters?"""

from __future__ import annotations

from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS, explained
from gpulease_gui.checks.matmul_cards import heads_of, matmul_check, rated, sustained
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks, judged
from gpulease_gui.checks.thresholds import Origin
from gpulease_gui.checks.torch_rates import RatedCard, tempered
from gpulease_gui.checks.torch_runs import without_result
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_matmul import MatmulRun, TorchMatmul

BANDS = band_marks(
    "perf.uniformity", 0.95, 0.9, Text("the fastest GPU", "最快的卡"), origin=Origin.PUBLISHED,
    source="microsoft/superbenchmark:docs/user-tutorial/data-diagnosis.md (5 %); huggingface/gpu-fryer:README.md (10 %)",
)  # fmt: skip

CHECK = matmul_check(
    id="perf.uniformity",
    title=Text("All GPUs equally fast", "各卡速度一致"),
    why=Text("The slowest GPU sets the speed of all others in a training.", "训练的速度由最慢的那张卡决定。"),
    thresholds=(*BANDS.both, BUSY_BEFORE, *LOAD_MARKS),
)
_ASK = Text("ask the supplier to repair or exchange this GPU; until then every job waits for it", "请供应商维修或更换这张卡；在此之前所有任务都要等它")


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest card in per cent of the fastest. Broken cards are perf.bf16's."""
    cards = [one for one in rated(found, _rate, report, promise) if one.rates and one.best > 0]
    if not cards:
        return (without_result(CHECK, heads_of(found)),)
    if len(cards) == 1:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("there is one GPU, nothing to compare it with", "只有一张卡，无从比较"), basis=Basis.MEASURED),)
    return (_compared(found, cards, promise),)


def _rate(run: MatmulRun, card: str) -> float | None:
    """What the card held; without a long run, its best."""
    held = sustained(run, card)
    return held if held is not None else run.rate(card, "bf16")


def _compared(found: TorchMatmul, cards: list[RatedCard], promise: Promise) -> Finding:
    """Each run is compared in itself: a card is slow if it is so in its better run."""
    runs = max(len(one.rates) for one in cards)
    fastest = [max(one.rates[n] for one in cards if len(one.rates) > n) for n in range(runs)]
    shares = {one.card.key: [rate / fastest[n] for n, rate in enumerate(one.rates)] for one in cards}
    marks = {key: judged(own, 1.0, BANDS.at(promise)) for key, own in shares.items()}
    slow = min(cards, key=lambda one: max(shares[one.card.key]))
    verdict, code = worst(v for v, _ in marks.values()), marks[slow.card.key][1]
    verdict, code, step = tempered(verdict, code, _ASK, heads_of(found), promise)
    measured = round(max(shares[slow.card.key]) * 100, 1)
    subjects = [SubjectFinding(o.card.key, marks[o.card.key][0], round(max(shares[o.card.key]) * 100, 1), o.card.gpu) for o in cards]
    return CHECK.finding(
        verdict, _reason(slow, max(cards, key=lambda one: one.best), measured, promise), measured=measured, unit="%", subjects=subjects,
        reason_code=code, next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip


def _reason(slow: RatedCard, fast: RatedCard, share: float, promise: Promise) -> Text:
    own, best = number_text(slow.best), number_text(fast.best)
    why = explained(slow.looks, promise)
    en = f"{slow.card.key} (GPU {slow.card.gpu}) does {own} TFLOP/s, {number_text(share)} % of its fastest sister ({best})"
    zh = f"{slow.card.key}（GPU {slow.card.gpu}）为 {own} TFLOP/s，是最快一张（{best}）的 {number_text(share)}%"
    return Text(f"{en}; {why.en}", f"{zh}；{why.zh}") if why.en else Text(en, zh)
