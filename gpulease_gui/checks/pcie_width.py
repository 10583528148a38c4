"""Does every card have all its PCIe lanes?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import BUSY_PERCENT, was_busy
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "pcie.width"

CHECK = Check(
    id="pcie.width",
    title=Text("PCIe lanes", "PCIe 通道数"),
    why=Text(
        "A card in a slot of 8 lanes loads its data at half the speed.",
        "插在 x8 插槽的卡，数据加载速度减半。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("How many PCIe lanes has each GPU?", "每张 GPU 有多少条 PCIe 通道？"),
    thresholds=(BUSY_PERCENT,),
)
_LOAD = Text("run the check again while data are copied to the GPUs", "在向 GPU 拷贝数据时重新检查")
_ASK = Text("ask the supplier which slot or switch narrows the link", "请供应商说明是哪个插槽或交换芯片限制了通道数")
_READ = Text("run `nvidia-smi -q` on the node and read Link Width", "在节点上运行 `nvidia-smi -q`，查看 Link Width")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the width in lanes. An idle link may rest at fewer lanes."""
    stated = promise.get(TERM)
    found = cards(report, None, promise.catalogue.gpus)
    if not found:
        return ()
    if stated is None and not any(_short_of_product(card) for card in found):
        widths = [c.gpu.pcie_width_current for c in found if c.gpu.pcie_width_current is not None]
        return (CHECK.not_promised(TERM, min(widths, default=None), unit="lanes"),)
    marks = [(card.gpu, _mark(card, stated, promise)) for card in found]
    return (finding_of(
        CHECK, marks, term=TERM, promised=stated.value if stated else None, unit="lanes", better="more",
        pass_code=stated.reason_code if stated else "",
    ),)  # fmt: skip


def _short_of_product(card: Card) -> bool:
    product, most = card.identity.product, card.gpu.pcie_width_max
    return product is not None and product.pcie_width is not None and most is not None and 0 < most < product.pcie_width


def _mark(card: Card, stated: Stated | None, promise: Promise) -> Mark:
    gpu = card.gpu
    now, most = gpu.pcie_width_current, gpu.pcie_width_max
    wanted = int(stated.number) if stated else card.identity.product.pcie_width if card.identity.product else None
    if now is None or now <= 0 or wanted is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the width of the link was not told", "未给出链路宽度"), Reason.UNREADABLE, None, _READ)
    told = Text(f"{now} lanes now, {most or '?'} at most, {wanted} expected", f"当前 {now} 条、最多 {most or '?'} 条，应有 {wanted} 条")
    if now >= wanted:
        return Mark(Verdict.PASS, told, "", now)
    if most is not None and most < wanted:
        return Mark(Verdict.FAIL if stated else Verdict.WARN, told, "narrow_slot", now, _ASK)
    if was_busy(gpu, promise):
        return Mark(Verdict.WARN, told, "narrow_link", now, _ASK)
    return Mark(Verdict.INCONCLUSIVE, Text(f"{told.en}; an idle link may rest", f"{told.zh}；空闲链路可能收窄"), "no_load", now, _LOAD)
