"""Does the link between host and GPU carry what it should, both ways?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpulease_gui.catalog.gpus import FormClass
from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.copy_cards import copied, copy_check, copy_heads
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS
from gpulease_gui.checks.perf_bf16 import MEDIAN
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import Bands, band_marks, judged
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_rates import RATE_MARKS, Rate, RatedCard, judge_rate, tempered
from gpulease_gui.checks.torch_runs import ABOVE, BY_HAND, NO_YARDSTICK
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport
from gpulease_gui.facts.torch_copy import TO_GPU, TO_HOST, TorchCopy

TERM = "pcie.copy_gb_s"
_AZURE = "Azure/azurehpc-health-checks:conf/nd96isr_h100_v5.conf"
FLEET = band_marks("pcie.h2d_d2h", 0.95, 0.88, MEDIAN, name="fleet")
PUBLISHED = band_marks("pcie.h2d_d2h", 0.95, 0.88, Text("the published median", "公开中位数"), name="published", origin=Origin.PUBLISHED, source=_AZURE)
# What 16 lanes of a generation carry by the standard, and the part of it that a sound copy reaches.
WIRE_GB_S = Threshold(
    "pcie.h2d_d2h", "lane_gb_s", 1.97, "GB/s", Text("one lane of PCIe 3 and double that of each later one: a lane of PCIe 4", "PCIe 4 单通道理论速率（每代翻倍）"),
    "", Origin.SPEC, "PCI Express 4.0: 16 GT/s, 128b/130b", low=1.0, high=4.0,
)  # fmt: skip
LANES = band_marks("pcie.h2d_d2h", 0.76, 0.66, Text("the link's own rate", "链路理论速率"), name="link", origin=Origin.PUBLISHED, source=_AZURE)
OVER = Threshold(
    "pcie.h2d_d2h", "over", 1.02, SHARE, Text("the test is wrong above (share of the link's rate)", "超过链路速率此比例即测试有误"), ">", low=1.0
)

CHECK = copy_check(
    id="pcie.h2d_d2h",
    title=Text("Copies between host and GPU", "主机与显卡间拷贝带宽"),
    why=Text("A riser, a missing lane or a card on the wrong socket halves what reaches the GPU.", "转接线、少通道或插错 CPU 插槽，都会让送到显卡的数据减半。"),
    terms=(TERM,),
    rule_version=2,
    ask=Text("How many GB/s does a copy between host and GPU reach?", "主机与显卡之间拷贝能达到多少 GB/s？"),
    writes=Text("nothing; 256 MiB of pinned main memory", "不写入；占用 256 MiB 锁页内存"),
    thresholds=(*FLEET.both, *PUBLISHED.both, WIRE_GB_S, *LANES.both, OVER, *RATE_MARKS, BUSY_BEFORE, *LOAD_MARKS),
)
_TO = Rate(Text("host to GPU", "主机到显卡"), "GB/s", Metric.H2D, (), OVER, FLEET, PUBLISHED, TO_GPU, TERM)
_FROM = Rate(Text("GPU to host", "显卡到主机"), "GB/s", Metric.D2H, (), OVER, FLEET, PUBLISHED, TO_HOST, TERM)
_ASK = Text(
    "compare the link's generation and width under load (pcie.gen, pcie.width) and ask the supplier about risers and sockets",
    "请对照负载下的链路代数与宽度（pcie.gen、pcie.width），并向供应商询问转接与 CPU 插槽",
)


def judge(found: TorchCopy, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding each way; measured is the slowest card in GB/s."""
    return tuple(_direction(rate, found, report, promise) for rate in (_TO, _FROM))


def _direction(rate: Rate, found: TorchCopy, report: SmiReport | None, promise: Promise) -> Finding:
    cards = copied(found, rate.direction, report, promise)
    made = judge_rate(CHECK, rate, cards, copy_heads(found), promise)
    told = [one for one in cards if one.rates]
    wires = {one.card.key: _wire_gb_s(one, report, promise) for one in told}
    for one in told:
        wire = wires[one.card.key]
        if wire is not None and one.best > wire * promise.limit(OVER):
            most = number_text(wire)
            words = Text(f"{number_text(one.best)} GB/s is more than this link carries ({most}): the test is wrong",
                         f"{number_text(one.best)} GB/s 超过该链路所能承载（{most}）：测试有误")  # fmt: skip
            return replace(made, verdict=Verdict.INCONCLUSIVE, reason=words, reason_code=ABOVE, next_step=BY_HAND)
    return _by_link(made, told, wires, found, promise) if made.reason_code == NO_YARDSTICK and all(wires.values()) else made


def _wire_gb_s(one: RatedCard, report: SmiReport | None, promise: Promise) -> float | None:
    """What the link carries one way: by the card's own account, else as its product has it; None where nobody tells."""
    gpu, product = _gpu(one, report), one.product
    if product and product.form_class is FormClass.SUPERCHIP:
        return None  # its host is joined by other links than PCIe
    gen, lanes = (gpu.pcie_gen_max, gpu.pcie_width_current or gpu.pcie_width_max) if gpu else (None, None)
    gen, lanes = gen or (product.pcie_gen if product else None), lanes or (product.pcie_width if product else None)
    # An idle link counts down to generation 1; its width does not change.
    return promise.limit(WIRE_GB_S) * 2.0 ** (gen - 4) * lanes if gen and lanes else None


def _gpu(one: RatedCard, report: SmiReport | None) -> Gpu | None:
    for gpu in report.gpus if report else ():
        if gpu.uuid == one.card.uuid if gpu.uuid and one.card.uuid else gpu.index == one.card.gpu:
            return gpu
    return None


def _by_link(made: Finding, told: Sequence[RatedCard], wires: dict[str, float | None], found: TorchCopy, promise: Promise) -> Finding:
    """Nobody published this product: the link's own rate decides."""
    bands: Bands = LANES.at(promise)
    marks = {one.card.key: judged(one.rates, wires[one.card.key] or one.best, bands) for one in told}
    slow = min(told, key=lambda one: one.best / (wires[one.card.key] or one.best))
    (verdict, code), wire = marks[slow.card.key], wires[slow.card.key] or 0.0
    verdict, code, step = tempered(verdict, code, _ASK, copy_heads(found), promise)
    share = number_text(slow.best / wire * 100, 0)
    words = Text(f"slowest GPU {number_text(slow.best)} GB/s, {share} % of what its link carries ({number_text(wire)})",
                 f"最慢一张 {number_text(slow.best)} GB/s，为其链路理论速率（{number_text(wire)}）的 {share}%")  # fmt: skip
    subjects = tuple(SubjectFinding(o.card.key, marks[o.card.key][0], round(o.best, 2), o.card.gpu) for o in told)
    return CHECK.finding(
        verdict, words, measured=made.measured, unit=made.unit, subjects=subjects, reason_code=code, next_step=step, basis=made.basis,
        better="more", direction=made.direction,
    )  # fmt: skip
