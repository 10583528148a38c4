"""Is the chip of the generation that was sold?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_extra import SmiExtra
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="gpu.compute_capability",
    title=Text("Compute capability", "计算能力版本"),
    why=Text(
        "A relabelled older chip can lie about its name; programs see its compute capability.",
        "改名的旧芯片可以谎报名称，但程序能看到它的计算能力版本。",
    ),
    facts=("smi_extra", "smi_xml"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("show the supplier both values and ask for the promised card", "向供应商出示两个数值并要求更换为承诺的卡")
_RUN = Text("run `nvidia-smi --query-gpu=compute_cap --format=csv` on the node", "在节点上运行 `nvidia-smi --query-gpu=compute_cap --format=csv`")


def judge(extra: SmiExtra, report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards: the driver's value against that of the promised, else of the identified product."""
    promised = {m.compute_capability for m in promise.model.products} if promise.model else set()
    marks = [(card.gpu, _mark(card, extra, promised)) for card in cards(report, None, promise.catalogue.gpus)]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(card: Card, extra: SmiExtra, promised: set[str | None]) -> Mark:
    row = extra.of(card.gpu.index, card.gpu.uuid)
    found = row.compute_capability if row else None
    if found is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell it", "驱动未给出"), "unreadable", None, _RUN)
    own = {card.identity.product.compute_capability} if card.identity.product else set()
    wanted = {value for value in promised or own if value}
    if not wanted:
        return Mark(Verdict.INCONCLUSIVE, Text(
            f"{found}; what this card should have is not known", f"{found}；该卡应有多少未知"
        ), "unknown_product", found)  # fmt: skip
    shown = " / ".join(sorted(wanted))
    told = Text(f"{found}, the product has {shown}", f"{found}，该型号应为 {shown}")
    return Mark(Verdict.PASS, told, "", found) if found in wanted else Mark(Verdict.FAIL, told, "other_generation", found, _ASK)
