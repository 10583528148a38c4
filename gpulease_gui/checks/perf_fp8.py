"""Do matrix products in FP8 run as fast as they should on every GPU that has them?"""

from __future__ import annotations

from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS
from gpulease_gui.checks.matmul_cards import heads_of, matmul_check, rated
from gpulease_gui.checks.perf_bf16 import MEDIAN, OVER
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks
from gpulease_gui.checks.thresholds import Origin
from gpulease_gui.checks.torch_rates import RATE_MARKS, Rate, judge_rate
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_matmul import TorchMatmul

BANDS = band_marks(
    "perf.fp8", 0.95, 0.85, MEDIAN, origin=Origin.PUBLISHED, source="stas00/ml-engineering:compute/accelerator/README.md"
)

CHECK = matmul_check(
    id="perf.fp8",
    title=Text("FP8 matrix products", "FP8 矩阵乘算力"),
    why=Text("Half of the price of a new card is its FP8; a driver or a framework that lacks it halves the speed.",
             "新卡的一半价钱花在 FP8 上；驱动或框架不支持，速度就减半。"),  # fmt: skip
    thresholds=(*BANDS.both, OVER, *RATE_MARKS, BUSY_BEFORE, *LOAD_MARKS),
)
_RATE = Rate(Text("best FP8 matrix product", "FP8 矩阵乘最佳值"), "TFLOP/s", Metric.FP8, ("fp8_dense_tflops",), OVER, BANDS, BANDS, part="fp8")


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest card, TFLOP/s. A product without FP8 is not asked."""
    cards = rated(found, lambda run, card: run.rate(card, "fp8"), report, promise, "fp8")
    if cards and all(one.product and one.product.fp8_dense_tflops is None and not one.rates for one in cards):
        name = cards[0].product.name if cards[0].product else ""
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text(f"{name} has no FP8", f"{name} 没有 FP8"), basis=Basis.MEASURED),)
    return (judge_rate(CHECK, _RATE, cards, heads_of(found), promise),)
