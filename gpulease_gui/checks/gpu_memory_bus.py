"""Does the memory run at the clock of the product?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport

# Assumptions: the driver rounds clocks; refitted boards carry slower memory by a tenth and more.
ALIKE = Threshold("gpu.memory_bus", "alike", 0.03, SHARE, Text("passes within this share of the product's clock", "与型号频率相差在此比例内即通过"), "<=", high=1)
UNLIKE = Threshold("gpu.memory_bus", "unlike", 0.08, SHARE, Text("open beyond this share", "相差超过此比例则无法判定"), ">", high=1)

CHECK = Check(
    id="gpu.memory_bus",
    title=Text("Memory clock of the product", "显存频率"),
    why=Text(
        "Refitted cards carry slower memory than the name promises; the bus width itself only a probe can read.",
        "改装卡常用较慢的显存；位宽则须由探针读取。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(ALIKE, UNLIKE),
)
_READ = Text("run `nvidia-smi -q -d CLOCK` on the node and read Max Clocks, Memory", "在节点上运行 `nvidia-smi -q -d CLOCK`，查看 Max Clocks 的 Memory")
_MEASURE = Text("measure the copy rate of the memory, and ask the supplier which board it is", "实测显存拷贝速率，并请供应商说明板卡型号")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the highest memory clock in MHz. The width of the bus stays open."""
    marks = [(card.gpu, _mark(card, promise)) for card in cards(report, None, promise.catalogue.gpus)]
    return (finding_of(CHECK, marks, unit="MHz", better="more"),) if marks else ()


def _mark(card: Card, promise: Promise) -> Mark:
    clock, product = card.gpu.clock_max_memory_mhz, card.identity.product
    if clock is None or clock <= 0:
        return Mark(Verdict.INCONCLUSIVE, Text("the memory clock was not told", "未给出显存频率"), Reason.UNREADABLE, None, _READ)
    listed = _listed(product)
    if not listed:
        unknown = Text(f"{number_text(clock)} MHz; what this card should have is not known", f"{number_text(clock)} MHz；该卡应有多少未知")
        return Mark(Verdict.INCONCLUSIVE, unknown, "unknown_product", clock, _MEASURE)
    want = min(listed, key=lambda one: abs(one - clock))
    off = abs(clock - want) / want
    told = Text(f"{number_text(clock)} MHz, the product has {number_text(want)}", f"{number_text(clock)} MHz，该型号为 {number_text(want)}")
    if off <= promise.limit(ALIKE):
        return Mark(Verdict.PASS, told, "", clock, NO_TEXT)
    if off <= promise.limit(UNLIKE):
        return Mark(Verdict.WARN, told, "clock_differs", clock, _MEASURE)
    # A wrong clock alone fails nobody: the measured rate must agree.
    return Mark(Verdict.INCONCLUSIVE, told, "clock_differs", clock, _MEASURE)


def _listed(product: GpuModel | None) -> list[float]:
    """Every clock that the catalogue lists for it, disputed ones too."""
    return [float(value) for value in product.listed("memory_clock_mhz") if value > 0] if product else []
