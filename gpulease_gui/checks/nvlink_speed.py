"""Does every NVLink run at the speed of its generation?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.card_links import products, unlisted
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.nvlink import GpuLinks, NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "nvlink.gb_s_per_gpu"
TOLERANCE = Threshold("nvlink.speed", "tolerance", 0.02, SHARE, Text("a link is slow if it is lower by more than", "链路速率低出此比例即偏慢"), ">", high=0.5)
# From Hopper on the printed rate is the raw one.
RAW_SHARE = Threshold(
    "nvlink.speed", "payload", 0.9412, SHARE, Text("of a raw rate this much carries data", "原始速率中承载数据的比例"), "", Origin.PUBLISHED,
    "25 of 26.562 GB/s as nvidia-smi prints a link (NVIDIA/nccl-tests#228)", low=0.5, high=1.0,
)  # fmt: skip

CHECK = Check(
    id="nvlink.speed",
    title=Text("NVLink speed", "NVLink 速率"),
    why=Text(
        "A link that lost a lane stays up and runs at half the speed; export variants have fewer or slower links.",
        "丢失通道的链路仍显示在线，但速率减半；出口版的链路更少或更慢。",
    ),
    facts=("nvlink",),
    optional=("smi_xml",),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    partial=True,
    rule_version=2,
    ask=Text("What is the NVLink bandwidth of each GPU, both directions together?", "单卡 NVLink 带宽（双向合计）是多少？"),
    thresholds=(TOLERANCE, RAW_SHARE),
)
_ASK = Text("ask the supplier for a repair: a slow link needs a reset or a service visit", "请供应商维修：变慢的链路需要复位或现场处理")
_RUN = Text("run `nvidia-smi nvlink -s` on the node and keep the whole output", "在节点上运行 `nvidia-smi nvlink -s` 并保留完整输出")


def judge(report: NvlinkReport, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each GPU; measured is the payload of its links in GB/s, both directions."""
    stated = promise.get(TERM)
    subjects = [_subject(gpu, _product(gpu, smi, promise), promise, report.cut_off) for gpu in report.gpus]
    subjects += unlisted(smi, report.gpus)
    verdict = worst(s.verdict for s in subjects)
    rates = [s.measured for s in subjects if isinstance(s.measured, int | float)]
    first = next(s.reason for s in subjects if s.verdict is verdict)
    code = {Verdict.FAIL: "links_slow", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}.get(verdict, stated.reason_code if stated else "")
    step = {Verdict.FAIL: _ASK, Verdict.INCONCLUSIVE: _RUN}.get(verdict, NO_TEXT)
    return (CHECK.finding(
        verdict, first, term=TERM if stated else None, promised=stated.value if stated else None, measured=min(rates, default=None),
        unit="GB/s", subjects=subjects, reason_code=code, next_step=step, better="more",
    ),)  # fmt: skip


def _product(gpu: GpuLinks, smi: SmiReport | None, promise: Promise) -> GpuModel | None:
    twin = next((g for g in smi.gpus if g.uuid == gpu.uuid or g.index == gpu.index), None) if smi else None
    found = products(gpu.name, twin.pci_device_id if twin else None, promise.catalogue.gpus)
    return found[0] if len({(m.nvlink_links, m.nvlink_total_gb_s) for m in found}) == 1 else None


def _subject(gpu: GpuLinks, product: GpuModel | None, promise: Promise, cut: bool) -> SubjectFinding:
    up = [link.gb_s for link in gpu.links if link.active and link.gb_s is not None]
    wanted = _payload_of_link(product)
    total = round(2 * sum(_payload(rate, wanted, promise) for rate in up), 1)
    few = product is not None and 0 < len(gpu.links) < (product.nvlink_links or 0)  # a list shows its dark links, too
    verdict, reason = _judged(gpu, up, wanted, total, promise, cut or few)
    return SubjectFinding(gpu.key, verdict, total if up else None, gpu.index, reason)


def _payload_of_link(product: GpuModel | None) -> float | None:
    """GB/s one way that a link of this product carries; None if the catalogue can't tell."""
    if product is None or not product.nvlink_links or product.nvlink_total_gb_s is None:
        return None
    return product.nvlink_total_gb_s / product.nvlink_links / 2


def _payload(rate: float, wanted: float | None, promise: Promise) -> float:
    """What a printed rate carries: above the product's payload it is the raw one, which carries at least that."""
    if wanted is None or rate <= wanted * (1 + promise.limit(TOLERANCE)):
        return rate
    return max(rate * promise.limit(RAW_SHARE), wanted)


def _judged(
    gpu: GpuLinks, up: list[float], wanted: float | None, total: float, promise: Promise, cut: bool
) -> tuple[Verdict, Text]:
    stated, least = promise.get(TERM), 1 - promise.limit(TOLERANCE)
    if not gpu.mig_hides and not up and any(link.active is None for link in gpu.links):
        return Verdict.INCONCLUSIVE, Text("no rate of its links could be read", "链路速率均无法读取")
    if gpu.mig_hides or (not up and stated is None):
        return Verdict.NOT_APPLICABLE, Text("no link of this card is up", "该卡没有活动的链路")
    slow = [rate for rate in up if wanted is not None and rate < wanted * least]
    if slow and wanted is not None:
        return Verdict.FAIL, Text(
            f"{len(slow)} links run at {number_text(min(slow))} GB/s instead of {number_text(wanted)}",
            f"{len(slow)} 条链路仅 {number_text(min(slow))} GB/s，应为 {number_text(wanted)}",
        )
    told = Text(f"{len(up)} links carry {number_text(total)} GB/s both ways", f"{len(up)} 条链路双向合计 {number_text(total)} GB/s")
    if cut or any(link.active is None for link in gpu.links):
        return Verdict.INCONCLUSIVE, Text("the list of links ends early", "链路列表不完整")
    if stated is not None and total < stated.number * least:
        return Verdict.FAIL, Text(f"{told.en}, {number_text(stated.number)} promised", f"{told.zh}，承诺 {number_text(stated.number)}")
    if wanted is None and stated is None:
        return Verdict.INCONCLUSIVE, Text(f"{told.en}; what this card should have is not known", f"{told.zh}；该卡应有多少未知")
    return Verdict.PASS, told
