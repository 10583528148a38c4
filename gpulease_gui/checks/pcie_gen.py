"""Is every card on a link of the promised PCIe generation?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "pcie.gen"

CHECK = Check(
    id="pcie.gen",
    title=Text("PCIe generation", "PCIe 代数"),
    why=Text(
        "A Gen5 card on a Gen4 board moves its data at half the speed.",
        "Gen5 的卡插在 Gen4 主板上，传输速度减半。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("Which PCIe generation do GPU and board speak?", "GPU 与主板支持哪一代 PCIe？"),
)
_LOAD = Text("run the check again while data are copied to the GPUs", "在向 GPU 拷贝数据时重新检查")
_ASK = Text("ask the supplier which board this is", "请供应商说明主板型号")
_READ = Text("run `nvidia-smi -q` on the node and read PCIe Generation", "在节点上运行 `nvidia-smi -q`，查看 PCIe Generation")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the generation now. An idle link rests at a lower one by design."""
    stated = promise.get(TERM)
    found = cards(report, None, promise.catalogue.gpus)
    if not found:
        return ()
    if stated is None and not any(_capped(card) for card in found):
        most = [m for c in found if (m := _ceiling(c.gpu)) is not None]
        return (CHECK.not_promised(TERM, min(most, default=None), unit="generation"),)
    marks = [(card.gpu, _mark(card, stated)) for card in found]
    return (finding_of(
        CHECK, marks, term=TERM, promised=stated.value if stated else None, unit="generation", better="more",
        pass_code=stated.reason_code if stated else "",
    ),)  # fmt: skip


def _ceiling(gpu: Gpu) -> int | None:
    """The best that card and board can do together; None if neither is told."""
    known = [n for n in (gpu.pcie_gen_max, gpu.pcie_gen_host_max, gpu.pcie_gen_device_max) if n is not None and n > 0]
    return min(known, default=None)


def _capped(card: Card) -> bool:
    product, most = card.identity.product, _ceiling(card.gpu)
    return product is not None and product.pcie_gen is not None and most is not None and most < product.pcie_gen


def _mark(card: Card, stated: Stated | None) -> Mark:
    gpu, most = card.gpu, _ceiling(card.gpu)
    now = gpu.pcie_gen_current
    wanted = int(stated.number) if stated else card.identity.product.pcie_gen if card.identity.product else None
    if wanted is None or (now is None and most is None):
        return Mark(Verdict.INCONCLUSIVE, Text("the generation was not told", "未给出 PCIe 代数"), Reason.UNREADABLE, None, _READ)
    told = Text(f"Gen{now or '?'} now, Gen{most or '?'} at most, Gen{wanted} expected", f"当前 Gen{now or '?'}、最高 Gen{most or '?'}，应为 Gen{wanted}")
    if now is not None and now >= wanted:
        return Mark(Verdict.PASS, told, "", now)
    if most is not None and most < wanted:
        return Mark(Verdict.FAIL if stated else Verdict.WARN, told, "older_link", now, _ASK)
    return Mark(Verdict.INCONCLUSIVE, Text(f"{told.en}; an idle link rests", f"{told.zh}；空闲链路会降速"), "no_load", now, _LOAD)
