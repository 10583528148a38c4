"""Which rates has each card over the runs of matrix products?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.torch_rates import RatedCard
from gpulease_gui.checks.torch_runs import product_of
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import TaskCard, TaskHead
from gpulease_gui.facts.torch_matmul import MatmulRun, TorchMatmul

RateOf = Callable[[MatmulRun, str], float | None]

# A check of the matrix products: what all of them need, load and write.
matmul_check = partial(
    Check,
    facts=("torch_matmul",),
    optional=("smi_xml",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.NVIDIA,
    takes_s=90,
    writes=Text("nothing; all GPUs are used alone by the test", "不写入；测试独占全部显卡"),
)


def heads_of(found: TorchMatmul) -> tuple[TaskHead, ...]:
    """The heads of all runs."""
    return tuple(run.head for run in found.runs)


def usable(found: TorchMatmul) -> tuple[MatmulRun, ...]:
    """Runs on GPUs that gave figures."""
    return tuple(run for run in found.runs if run.head.on_gpu and run.head.cards and not run.head.trouble)


def sustained(run: MatmulRun, card: str) -> float | None:
    """The median of the long run of a card, its first point left out; None without enough of it."""
    told = [point.tflops for point in run.course(card)[1:] if point.tflops is not None]
    return median(told) if told else None


def cards_of(runs: Sequence[MatmulRun]) -> tuple[TaskCard, ...]:
    """Every card that a run saw, once."""
    return tuple({card.key: card for run in runs for card in run.head.cards}.values())


def rated(found: TorchMatmul, rate_of: RateOf, report: SmiReport | None, promise: Promise, kind: str | None = None) -> tuple[RatedCard, ...]:
    """All cards with their rate of each run; the looks are those of the better run. `kind`: whose NaN counts (None: the long run's)."""
    runs = usable(found)
    made = []
    for card in cards_of(runs):
        told = [(rate, run) for run in runs if (rate := rate_of(run, card.key)) is not None]
        looks = max(told, key=lambda one: one[0])[1].head.looks_at(card) if told else ()
        broken = any(run.broken(card.key, kind) if kind else any(p.tflops is None for p in run.course(card.key)) for run in runs)
        made.append(RatedCard(card, product_of(card, report, promise), tuple(rate for rate, _ in told), looks, broken))
    return tuple(made)
