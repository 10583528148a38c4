"""Is the card built in as promised (SXM, PCIe, NVL ...)?"""

from __future__ import annotations

from gpulease_gui.catalog.forms import FormVote, form_votes, only_form, seen_form
from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.catalog.identity import VOTER_WORDS
from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "gpu.form_factor"

CHECK = Check(
    id="gpu.form_factor",
    title=Text("Form factor", "封装形态"),
    why=Text(
        "H100 PCIe has 114 SM, 350 W and 2.0 TB/s; H100 SXM has 132 SM, 700 W and 3.35 TB/s. Both are called H100.",
        "H100 PCIe 为 114 SM、350 W、2.0 TB/s，H100 SXM 为 132 SM、700 W、3.35 TB/s，都叫 H100。",
    ),
    facts=("smi_xml",),
    optional=("nvlink",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("Is the card SXM, PCIe, NVL or OAM?", "这张卡是 SXM、PCIe、NVL 还是 OAM？"),
)
_ASK = Text(
    "hold PCI id, power limit and NVLink count against the contract and ask the supplier for the right board",
    "把 PCI 设备号、功耗上限和 NVLink 数量与合同对照，请供应商更换为约定的板卡",
)
_MORE = Text("read the missing signs: PCI id, default power limit, memory clock, `nvidia-smi nvlink -s`",
             "补齐缺少的读数：PCI 设备号、默认功耗上限、显存频率、`nvidia-smi nvlink -s`")  # fmt: skip


def judge(report: SmiReport, nvlink: NvlinkReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the votes of every card against gpu.form_factor, stated or implied."""
    catalogue, stated = promise.catalogue.gpus, promise.get(TERM)
    found = cards(report, nvlink, catalogue)
    if not found:
        return ()
    votes = [form_votes(catalogue, card.seen, card.identity) for card in found]
    if stated is None:
        forms = [seen_form(catalogue, card.identity, own) for card, own in zip(found, votes, strict=True)]
        subjects = [
            SubjectFinding(card.gpu.key, Verdict.INCONCLUSIVE, form, card.gpu.index)
            for card, form in zip(found, forms, strict=True)
        ]  # fmt: skip
        return (CHECK.not_promised(TERM, forms[0] if len(set(forms)) == 1 else None, subjects=subjects),)
    marks = [(card.gpu, _mark(card, own, str(stated.value), catalogue)) for card, own in zip(found, votes, strict=True)]
    return (finding_of(CHECK, marks, term=TERM, promised=stated.value, pass_code=stated.reason_code),)


def _mark(card: Card, votes: tuple[FormVote, ...], wanted: str, catalogue: GpuCatalogue) -> Mark:
    against = [vote for vote in votes if vote.form != wanted]
    seen = max((v.form for v in votes), key=[v.form for v in votes].count, default=None)
    if len(against) >= 2:
        return Mark(Verdict.FAIL, _sold_as(card, against, wanted), "other_form", seen, _ASK)
    if against:
        told = Text(
            f"for {wanted}: {_signs(votes, wanted).en}; for {against[0].form}: {_signs(against).en}",
            f"指向 {wanted} 的有：{_signs(votes, wanted).zh}；指向 {against[0].form} 的有：{_signs(against).zh}",
        )  # fmt: skip
        return Mark(Verdict.INCONCLUSIVE, told, "contradicted", seen, _MORE)
    if len(votes) >= 3:
        return Mark(Verdict.PASS, Text(f"{_signs(votes).en} say {wanted}", f"{_signs(votes).zh} 均指向 {wanted}"), "", seen)
    if only_form(catalogue, card.identity) == wanted:
        return Mark(Verdict.PASS, Text(
            f"{card.identity.family} is built as {wanted} only", f"{card.identity.family} 只有 {wanted} 一种形态"
        ), "", wanted)  # fmt: skip
    return Mark(Verdict.INCONCLUSIVE, Text(
        f"signs of the form that were read: {len(votes)}; three are needed", f"只读到 {len(votes)} 项形态依据，需要三项"
    ), "too_few_signs", seen, _MORE)  # fmt: skip


def _sold_as(card: Card, against: list[FormVote], wanted: str) -> Text:
    signs = _signs(against)
    name, family = card.identity.shown_name, card.identity.family
    promised = f"{family} {wanted.upper()}" if family else wanted.upper()
    sm = card.identity.product.sm_count if card.identity.product else None
    units = (Text(f"; this product has {sm} SM", f"；该型号为 {sm} SM")) if sm else NO_TEXT
    return Text(f"{name} sold as {promised}: {signs.en}{units.en}", f"以 {name} 冒充 {promised}：{signs.zh}{units.zh}")


def _signs(votes: list[FormVote] | tuple[FormVote, ...], form: str | None = None) -> Text:
    kept = [v for v in votes if form is None or v.form == form]
    en = ", ".join(f"{VOTER_WORDS[v.voter].en} {v.value}" for v in kept)
    zh = "、".join(f"{VOTER_WORDS[v.voter].zh} {v.value}" for v in kept)
    return Text(en or "nothing", zh or "无")
