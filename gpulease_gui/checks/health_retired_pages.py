"""How many pages of its memory has an older card given up?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import is_before_ampere
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.health_ecc_uncorrected import is_geforce
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

MANY = Threshold("health.retired_pages", "many", 15, "pages", Text("many pages from", "退役页偏多的下限"), ">=", low=1.0, high=63.0)
FULL = Threshold(
    "health.retired_pages", "full", 60, "pages", Text("used up from", "退役页将满的下限"), ">=", Origin.ASSUMPTION,
    "just below the 62 at which Azure/azurehpc-health-checks calls the table full", low=1.0, high=63.0,
)  # fmt: skip

CHECK = Check(
    id="health.retired_pages",
    title=Text("Retired memory pages", "退役显存页"),
    why=Text(
        "Cards before Ampere give up bad pages for good; near the limit of 63 the maker replaces them.",
        "Ampere 之前的卡会永久停用坏页；接近 63 页上限时按规定应更换。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(MANY, FULL),
)
_REPLACE = Text("ask the supplier to replace the card", "请供应商更换该卡")
_RESTART = Text("ask the supplier for a restart of the node, then run again", "请供应商重启节点，然后重新检查")
_READ = Text("run `nvidia-smi -q -d PAGE_RETIREMENT` on the node", "在节点上运行 `nvidia-smi -q -d PAGE_RETIREMENT`")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the number of pages."""
    marks = [(gpu, _mark(gpu, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="pages", better="less"),) if marks else ()


def _mark(gpu: Gpu, promise: Promise) -> Mark:
    single, double = _count(gpu.retired_single_bit), _count(gpu.retired_double_bit)
    known = (single or 0) + (double or 0)
    told = Text(f"{known} pages are retired", f"已退役 {known} 页")
    if known >= promise.limit(FULL):
        return Mark(Verdict.FAIL, told, "pages_used_up", known, _REPLACE)
    if (gpu.retirement_pending or "").lower() in ("yes", "1"):
        waiting = Text(f"{told.en}, another waits for a restart", f"{told.zh}，另有页待重启后退役")
        return Mark(Verdict.WARN, waiting, "retirement_pending", known, _RESTART)
    if known >= promise.limit(MANY):
        return Mark(Verdict.WARN, told, "many_pages", known, _REPLACE)
    if single is None or double is None:
        return _silent(gpu, promise)
    if (gpu.retirement_pending or "").lower() not in ("no", "0"):
        return Mark(Verdict.INCONCLUSIVE, Text(
            f"{told.en}; whether more wait is not told", f"{told.zh}；是否还有待退役页未说明"
        ), "unreadable", known, _READ)  # fmt: skip
    return Mark(Verdict.PASS, told, "", known)


def _count(pages: int | None) -> int | None:
    """A count below zero is no count."""
    return pages if pages is not None and pages >= 0 else None


def _silent(gpu: Gpu, promise: Promise) -> Mark:
    old, broken = is_before_ampere(gpu, promise), any("retire" in name for name in gpu.error_fields)
    maps_rows = gpu.remapped_rows_uncorrectable is not None
    if not broken and (old is False or (old is None and maps_rows)):
        return Mark(Verdict.NOT_APPLICABLE, Text("from Ampere on rows are remapped instead", "Ampere 起改用行重映射"))
    if not broken and is_geforce(gpu):
        return Mark(Verdict.NOT_APPLICABLE, Text("this card retires no pages", "该卡不做页退役"))
    return Mark(Verdict.INCONCLUSIVE, Text("the retired pages were not told", "未给出退役页数"), "unreadable", None, _READ)
