"""Is every card the promised product?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import ModelPromise
from gpulease_gui.catalog.identity import VOTER_WORDS, Identity, Opinion, Voter
from gpulease_gui.checks.cards import Card, Mark, cards, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "gpu.model"

CHECK = Check(
    id="gpu.model",
    title=Text("GPU model", "GPU 型号"),
    why=Text(
        "Names are close and prices are not: H100 PCIe, H800 and H20 are sold as H100 SXM. Only agreeing signs name a card.",
        "名称相近，价格悬殊：有人把 H100 PCIe、H800、H20 当作 H100 SXM 出租。多项读数一致才能认定型号。",
    ),
    facts=("smi_xml",),
    optional=("nvlink",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("Which exact GPU model and variant is rented (form factor, memory)?", "租用的 GPU 确切型号与版本是什么（形态、显存）？"),
)
_BOTH = Text(
    "compare `lspci -nn` with nvidia-smi on the node and send both to the supplier",
    "在节点上对比 `lspci -nn` 与 nvidia-smi，并把两者发给供应商",
)
_OPEN = Text(
    "ask the supplier for form factor and memory in writing: cards of this family differ widely",
    "请供应商书面写明形态与显存：同系列的卡差别很大",
)


def judge(report: SmiReport, nvlink: NvlinkReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: identity of every card against gpu.model, a product or a family."""
    found, model = cards(report, nvlink, promise.catalogue.gpus), promise.model
    if not found:
        return ()
    if model is None:
        names = [SubjectFinding(c.gpu.key, Verdict.INCONCLUSIVE, c.identity.shown_name, c.gpu.index, c.identity.reason) for c in found]
        broken = [c for c in found if c.identity.status is Verdict.FAIL]
        if broken:
            return (finding_of(CHECK, [(c.gpu, _unpromised(c)) for c in found], term=TERM),)
        return (CHECK.not_promised(TERM, found[0].identity.shown_name, subjects=names),)
    marks = [(card.gpu, _mark(card, model)) for card in found]
    return (finding_of(CHECK, marks, term=TERM, promised=model.sold_as),)


def _unpromised(card: Card) -> Mark:
    own = card.identity
    if own.status is Verdict.FAIL:
        return Mark(Verdict.FAIL, own.reason, own.reason_code, own.shown_name, _BOTH)
    return Mark(Verdict.INCONCLUSIVE, own.reason, Reason.NOT_PROMISED, own.shown_name, CHECK.ask)


def _mark(card: Card, model: ModelPromise) -> Mark:
    own, named = card.identity, card.identity.shown_name
    if own.status is Verdict.FAIL:
        return Mark(Verdict.FAIL, _beside(own.reason, model), own.reason_code, named, _BOTH)
    wanted = set(model.products)
    if own.product is None and wanted.isdisjoint(own.candidates):
        return _no_product(own, model, named)
    if own.product is None or (own.product in wanted and own.status is not Verdict.PASS):
        return Mark(Verdict.INCONCLUSIVE, own.reason, own.reason_code, named, _BOTH)
    if own.product not in wanted:
        return _other_product(card, model, named)
    return _right_product(own, model, named)


def _beside(reason: Text, model: ModelPromise) -> Text:
    return Text(f"{model.sold_as} was promised; {reason.en}", f"承诺的是 {model.sold_as}；{reason.zh}")


def _no_product(own: Identity, model: ModelPromise, named: str) -> Mark:
    if own.candidates and len(own.agreeing()) >= 2:
        return Mark(Verdict.FAIL, _beside(own.reason, model), "other_product", named, _BOTH)
    return Mark(Verdict.INCONCLUSIVE, _beside(own.reason, model), own.reason_code, named, _BOTH)


def _other_product(card: Card, model: ModelPromise, named: str) -> Mark:
    own, signs = card.identity, signs_of(card)
    if own.masked:
        reason = Text(
            f"a masked card in place of {model.sold_as}: {signs.en}; no vendor sells a card of this name and size",
            f"以改名或改装卡冒充 {model.sold_as}：{signs.zh}；没有厂商出售这种名称和容量的卡",
        )  # fmt: skip
        return Mark(Verdict.FAIL, reason, "masked_identity", named, _BOTH)
    reason = Text(f"{named} in place of {model.sold_as}: {signs.en}", f"以 {named} 冒充 {model.sold_as}：{signs.zh}")
    if len(own.agreeing()) >= 2:
        return Mark(Verdict.FAIL, reason, "other_product", named, _BOTH)
    return Mark(Verdict.INCONCLUSIVE, reason, own.reason_code, named, _BOTH)


def _right_product(own: Identity, model: ModelPromise, named: str) -> Mark:
    printed = own.vote(Voter.NAME)
    if own.product is not None and own.product.masked:
        return Mark(Verdict.WARN, Text(
            f"the label {named} is in no public product list; the contract names it itself",
            f"{named} 不在任何公开的产品列表中，但合同写的就是它",
        ), "masked_identity", named)  # fmt: skip
    if printed is not None and printed.opinion is Opinion.UNLISTED:
        return Mark(Verdict.WARN, Text(
            f"the id is that of {named}, but the card calls itself {printed.value}",
            f"设备号属于 {named}，但卡自称 {printed.value}",
        ), "unknown_name", named)  # fmt: skip
    if model.product is None:
        return Mark(Verdict.PASS, Text(
            f"red flag: only the family {model.family} was promised; this card is {named}, form factor and memory stay open",
            f"风险信号：合同只写了 {model.family} 系列；此卡为 {named}，形态与显存未约定",
        ), "family_only", named, _OPEN)  # fmt: skip
    return Mark(Verdict.PASS, own.reason, "", named)


def signs_of(card: Card) -> Text:
    """What was read of a card, sign by sign, for a reason."""
    votes = card.identity.votes
    en = ", ".join(f"{VOTER_WORDS[v.voter].en} {v.value}" for v in votes)
    zh = "，".join(f"{VOTER_WORDS[v.voter].zh} {v.value}" for v in votes)
    return Text(en, zh)
