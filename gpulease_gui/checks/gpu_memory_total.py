"""Has every card the promised memory?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.identity import RESERVED_PART, memory_fits
from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "gpu.memory_gb"

# The window around a nominal size in GiB where no total of the product was ever seen.
_WINDOW = "Datura-ai/lium-io: gpu_spec_table.py, one window for each real size"
LOW = Threshold(
    "gpu.memory_total", "low", 0.90, SHARE, Text("an unlisted total may be this size from", "目录外的显存总量不低于标称的"), ">=",
    Origin.PUBLISHED, _WINDOW, low=0.5, high=1.0,
)  # fmt: skip
HIGH = Threshold(
    "gpu.memory_total", "high", 1.05, SHARE, Text("and up to", "且不高于标称的"), "<=", Origin.PUBLISHED, _WINDOW, low=1.0, high=1.5
)

CHECK = Check(
    id="gpu.memory_total",
    title=Text("GPU memory", "GPU 显存"),
    why=Text(
        "Makers' GB are no unit: 80 GB is 81,559 MiB on an H100. A total that the product never shows is a slice or another card.",
        "厂商的 GB 不是统一单位：H100 的 80 GB 显示为 81,559 MiB。出现该型号没有的总量，就是切片或别的卡。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("How much memory has each GPU?", "每张 GPU 的显存是多少？"),
    thresholds=(LOW, HIGH),
)
_ASK = Text("ask the supplier for the whole card with its full memory", "请供应商提供显存完整的整卡")
_MIG = Text("ask the supplier whether the card is split (MIG, vGPU)", "请供应商说明该卡是否被切分（MIG、vGPU）")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding: marketing figure of the identified product, its MiB being listed, against gpu.memory_gb."""
    found, stated = cards(report, None, promise.catalogue.gpus), promise.get(TERM)
    if not found:
        return ()
    if stated is None:
        subjects = [SubjectFinding(c.gpu.key, Verdict.INCONCLUSIVE, _size(c), c.gpu.index) for c in found]
        return (CHECK.not_promised(TERM, _size(found[0]), unit="GB", subjects=subjects),)
    marks = [(card.gpu, _mark(card, stated.number, promise)) for card in found]
    return (finding_of(CHECK, marks, term=TERM, promised=stated.value, unit="GB", better="more", pass_code=stated.reason_code),)


def _size(card: Card) -> float | None:
    """GB as marketed where product and total fit, else GiB as read."""
    product, mib = card.identity.product, card.gpu.memory_total_mib
    if mib is not None and product and product.memory_gb_marketing and memory_fits(product, mib):
        return product.memory_gb_marketing
    return None if mib is None else round(mib / 1024, 1)


def _mark(card: Card, wanted: float, promise: Promise) -> Mark:
    mib, product, size = card.gpu.memory_total_mib, card.identity.product, _size(card)
    if mib is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the total memory was not told", "未给出显存总量"), "unreadable", None, _MIG)
    if card.identity.masked and product not in _named(promise):
        return Mark(Verdict.FAIL, Text(
            f"{mib:,} MiB under the name {card.seen.name}: no vendor sells such a card, and the contract does not name it",
            f"名称 {card.seen.name} 却有 {mib:,} MiB：没有厂商出售这种卡，合同也未写明",
        ), "masked_identity", size, _ASK)  # fmt: skip
    if product is None or product.memory_gb_marketing is None or card.identity.status is Verdict.FAIL:
        return _unknown(mib, wanted, size, promise)
    if memory_fits(product, mib):
        return _known(product, product.memory_gb_marketing, mib, wanted)
    return _unlisted(card.gpu, product, product.memory_gb_marketing, mib, wanted, promise)


def _named(promise: Promise) -> tuple[GpuModel, ...]:
    return promise.model.products if promise.model else ()


def _known(product: GpuModel, nominal: float, mib: int, wanted: float) -> Mark:
    told = Text(
        f"{mib:,} MiB is the {number_text(nominal)} GB of {product.name}", f"{mib:,} MiB 即 {product.name} 的 {number_text(nominal)} GB"
    )
    if nominal >= wanted:
        return Mark(Verdict.PASS, told, "", nominal)
    sold_as = product.listed("memory_gb_marketing")
    if max(sold_as) >= wanted:
        sizes = " / ".join(number_text(size) for size in sorted(set(sold_as)))
        return Mark(Verdict.WARN, Text(
            f"{told.en}; the same card is sold as {sizes} GB", f"{told.zh}；同一张卡有 {sizes} GB 几种标称"
        ), "several_sizes", nominal)  # fmt: skip
    short = Text(f"{told.en}; {number_text(wanted)} GB were promised", f"{told.zh}；承诺 {number_text(wanted)} GB")
    return Mark(Verdict.FAIL, short, "too_small", nominal, _ASK)


def _unlisted(gpu: Gpu, product: GpuModel, nominal: float, mib: int, wanted: float, promise: Promise) -> Mark:
    """A total that this product was never seen with."""
    size, largest = round(mib / 1024, 1), max(product.listed("memory_total_mib"), default=None)
    told = Text(f"{product.name} was never seen with {mib:,} MiB", f"{product.name} 没有出现过 {mib:,} MiB")
    if largest is not None and mib > largest * (1 + RESERVED_PART):
        return Mark(Verdict.FAIL, told, "too_large", size, _ASK)
    if _near(mib, nominal, promise) and nominal >= wanted:
        return Mark(Verdict.WARN, told, "unlisted_total", size)
    if _split(gpu):
        return Mark(Verdict.INCONCLUSIVE, Text(
            f"the card is split (MIG or vGPU) and shows {mib:,} MiB", f"该卡已被切分（MIG 或 vGPU），显示 {mib:,} MiB"
        ), "split", size, _MIG)  # fmt: skip
    short = Text(f"{told.en}; {number_text(wanted)} GB were promised", f"{told.zh}；承诺 {number_text(wanted)} GB")
    return Mark(Verdict.FAIL, short, "too_small", size, _ASK)


def _near(mib: int, nominal_gb: float, promise: Promise) -> bool:
    return promise.limit(LOW) * nominal_gb <= mib / 1024 <= promise.limit(HIGH) * nominal_gb


def _split(gpu: Gpu) -> bool:
    vgpu = gpu.virtualization_mode is not None and "vgpu" in gpu.virtualization_mode.lower()
    return vgpu or (gpu.mig_mode_current or "").lower() == "enabled"


def _unknown(mib: int, wanted: float, size: float | None, promise: Promise) -> Mark:
    told = Text(
        f"the product is not known; {mib:,} MiB are {number_text(mib / 1024)} GiB",
        f"型号未能认定；{mib:,} MiB 为 {number_text(mib / 1024)} GiB",
    )
    if _near(mib, wanted, promise):
        return Mark(Verdict.WARN, told, "unknown_card", size)
    return Mark(Verdict.INCONCLUSIVE, told, "unknown_card", size, _MIG)
