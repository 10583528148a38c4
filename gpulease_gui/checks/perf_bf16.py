"""Do matrix products in BF16 run as fast as they should on every GPU?"""

from __future__ import annotations

from dataclasses import replace

from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS
from gpulease_gui.checks.matmul_cards import heads_of, matmul_check, rated, sustained
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_rates import RATE_MARKS, Rate, judge_rate
from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_matmul import TorchMatmul

TERM = "perf.bf16_tflops"
MEDIAN = Text("the median of its kind", "同型号中位数")
_SOURCE = "stas00/ml-engineering:compute/accelerator/README.md"
BANDS = band_marks("perf.bf16", 0.95, 0.88, MEDIAN, origin=Origin.PUBLISHED, source=_SOURCE)
OVER = Threshold(
    "perf.bf16", "over", 1.2, SHARE, Text("the test is wrong above (share of the data sheet)", "超过规格此比例即测试有误"), ">", Origin.PUBLISHED,
    f"{_SOURCE}: healthy cards reach up to 1.13 of it", low=1.0,
)  # fmt: skip

CHECK = matmul_check(
    id="perf.bf16",
    title=Text("BF16 matrix products", "BF16 矩阵乘算力"),
    why=Text(
        "Training is matrix products: a card that is capped, hot or another product shows here and nowhere else.",
        "训练就是矩阵乘：被限功耗、过热或冒名的卡，在这里才会露馅。",
    ),
    terms=(TERM,),
    ask=Text("How many TFLOP/s in BF16 does each GPU reach, measured?", "每张卡实测 BF16 算力是多少 TFLOP/s？"),
    thresholds=(*BANDS.both, OVER, *RATE_MARKS, BUSY_BEFORE, *LOAD_MARKS),
)
_BEST = Rate(
    Text("best BF16 matrix product", "BF16 矩阵乘最佳值"), "TFLOP/s", Metric.BF16, ("bf16_dense_tflops",), OVER, BANDS, BANDS, "best", TERM, "bf16"
)
_SUSTAINED = replace(_BEST, noun=Text("BF16 held over the run", "BF16 持续值"), metric=Metric.BF16_SUSTAINED, direction="sustained", term=None)


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """Two findings: the best short stretch, and what is held; measured is the slowest card, TFLOP/s."""
    heads = heads_of(found)
    best = rated(found, lambda run, card: run.rate(card, "bf16"), report, promise, "bf16")
    held = rated(found, sustained, report, promise)
    first = judge_rate(CHECK, _BEST, best, heads, promise)
    return (first, judge_rate(CHECK, _SUSTAINED, held, heads, promise)) if any(one.rates for one in held) else (first,)
