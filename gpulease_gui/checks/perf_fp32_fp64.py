"""Are FP32 and FP64 as fast as this product's, or is it another die?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS
from gpulease_gui.checks.matmul_cards import heads_of, matmul_check, rated
from gpulease_gui.checks.perf_bf16 import MEDIAN, OVER
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.checks.torch_rates import RATE_MARKS, Rate, RatedCard, judge_rate, rate_text
from gpulease_gui.checks.torch_runs import AGAIN, NO_YARDSTICK
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_matmul import TorchMatmul

FP32, FP64 = "perf.fp32_tflops", "perf.fp64_tflops"
FLEET = band_marks("perf.fp32_fp64", 0.95, 0.88, MEDIAN, name="fleet")
# Published FP32 figures were measured with other kernels.
PUBLISHED = band_marks("perf.fp32_fp64", 0.9, 0.8, Text("the published median", "公开中位数"), name="published")
OTHER_DIE = Threshold(
    "perf.fp32_fp64", "other_die", 0.5, SHARE,
    Text("FP64 below this share of its sheet is that of another die", "FP64 低于规格此比例即属于另一种芯片"), "<", high=1.0,
)  # fmt: skip

CHECK = matmul_check(
    id="perf.fp32_fp64",
    title=Text("FP32 and FP64 matrix products", "FP32 与 FP64 矩阵乘算力"),
    why=Text(
        "Gaming dies do FP64 at a 64th of FP32 and export parts are cut here: a flashed name cannot hide it.",
        "游戏芯片的 FP64 只有 FP32 的 1/64，出口版也砍在这里：改名刷固件瞒不住。",
    ),
    terms=(FP32, FP64),
    ask=Text("How many TFLOP/s in FP32 and FP64 does each GPU reach, measured?", "每张卡实测 FP32、FP64 算力各是多少 TFLOP/s？"),
    thresholds=(*FLEET.both, *PUBLISHED.both, OTHER_DIE, OVER, *RATE_MARKS, BUSY_BEFORE, *LOAD_MARKS),
)
_FP32 = Rate(
    Text("best FP32 product (TF32 off)", "FP32 矩阵乘（关闭 TF32）"), "TFLOP/s", Metric.FP32, ("fp32_tflops",), OVER, FLEET, PUBLISHED, "fp32", FP32, "fp32"
)
_FP64 = Rate(
    Text("best FP64 product", "FP64 矩阵乘"), "TFLOP/s", Metric.FP64, ("fp64_tensor_tflops", "fp64_tflops"), OVER, FLEET, PUBLISHED, "fp64", FP64, "fp64"
)
_ASK = Text("ask the supplier for the part number: this FP64 belongs to another product", "请供应商提供部件号：这样的 FP64 属于另一种产品")


def judge(found: TorchMatmul, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding for each; measured is the slowest card, TFLOP/s."""
    heads = heads_of(found)
    single = rated(found, lambda run, card: run.rate(card, "fp32"), report, promise, "fp32")
    double = rated(found, lambda run, card: run.rate(card, "fp64"), report, promise, "fp64")
    fp64 = judge_rate(CHECK, _FP64, double, heads, promise)
    if fp64.reason_code == NO_YARDSTICK and any(head.complete for head in heads):
        fp64 = _by_die(fp64, [one for one in double if one.rates], promise)
    return judge_rate(CHECK, _FP32, single, heads, promise), fp64


def _by_die(open_one: Finding, cards: Sequence[RatedCard], promise: Promise) -> Finding:
    """Without a yardstick: dies differ by more than ten times in FP64, so the sheet tells them apart."""
    slow = min(cards, key=lambda one: one.best)
    sheet = slow.product.fp64_tflops if slow.product else None
    if not sheet:
        return open_one
    other = slow.best / sheet < promise.limit(OTHER_DIE)
    tensor = slow.product.fp64_tensor_tflops if slow.product else None
    rate, of = rate_text(slow.best), number_text(sheet) + (f"–{number_text(tensor)}" if tensor else "")
    if not other:
        told = Text(f"{rate} TFLOP/s of FP64 is that of this die (sheet {of})", f"FP64 {rate} TFLOP/s，与该芯片相符（规格 {of}）")
        return _with(open_one, Verdict.PASS, told, "", NO_TEXT)
    told = Text(f"{rate} TFLOP/s of FP64 is not that of this product (sheet {of}): another die", f"FP64 {rate} TFLOP/s，与该型号（规格 {of}）不符：是另一种芯片")
    if len(slow.rates) < 2:
        return _with(open_one, Verdict.WARN, told, MEASURED_ONCE, AGAIN)
    return _with(open_one, Verdict.FAIL, told, "other_die", _ASK)


def _with(open_one: Finding, verdict: Verdict, told: Text, code: str, step: Text) -> Finding:
    subjects = tuple(SubjectFinding(s.id, verdict, s.measured, s.index) for s in open_one.subjects)
    return replace(open_one, verdict=verdict, reason=told, reason_code=code, next_step=step, subjects=subjects)
