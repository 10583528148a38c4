"""Is every NVLink of every GPU up?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.catalog.gpus import FormClass, GpuModel
from gpulease_gui.checks.card_links import products, unlisted
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.nvlink import GpuLinks, NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "gpu.interconnect"

CHECK = Check(
    id="nvlink.state",
    title=Text("NVLinks up", "NVLink 链路状态"),
    why=Text(
        "One dead link slows every card that talks to this one, and the job waits for the slowest.",
        "一条断开的链路会拖慢所有与该卡通信的卡，而整个任务要等最慢的一张。",
    ),
    facts=("nvlink",),
    optional=("smi_xml",),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    partial=True,
    rule_version=2,
    ask=Text(
        "Are the cards joined by NVLink, and with how many links each?", "各卡是否以 NVLink 互联？每卡多少条链路？"
    ),
)

_NVLINK_WORDS = ("nvswitch", "nvlink", "nvlink_bridge")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What one card should show: `links` None = the catalogue can't tell; `built_in` = the board joins the cards."""

    links: int | None
    built_in: bool
    promised: str | None
    alone: bool

    @property
    def nvlink_promised(self) -> bool:
        return self.promised in _NVLINK_WORDS


def judge(report: NvlinkReport, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each GPU: its active links against those of the identified product."""
    stated = promise.get(TERM)
    subjects = [_subject(report, gpu, _wanted(gpu, report, smi, promise, stated)) for gpu in report.gpus]
    subjects += unlisted(smi, report.gpus)
    verdict = worst(s.verdict for s in subjects)
    counts = [s.measured for s in subjects if isinstance(s.measured, int)]
    code, step = _CODES.get(verdict, (stated.reason_code if stated else "", NO_TEXT))
    first = next(s for s in subjects if s.verdict is verdict)
    return (CHECK.finding(
        verdict, _reason(subjects, verdict, first.reason), term=TERM, promised=stated.value if stated else None,
        measured=min(counts, default=None), unit="links", subjects=subjects, reason_code=code, next_step=step,
        better="more",
    ),)  # fmt: skip


def _reason(subjects: list[SubjectFinding], verdict: Verdict, first: Text) -> Text:
    hit = sum(s.verdict is verdict for s in subjects)
    total = len(subjects)
    return Text(f"{hit} of {total} cards: {first.en}", f"{total} 张卡中 {hit} 张：{first.zh}")


def _wanted(
    gpu: GpuLinks, report: NvlinkReport, smi: SmiReport | None, promise: Promise, stated: Stated | None
) -> _Wanted:
    twin = next((g for g in smi.gpus if g.uuid == gpu.uuid or g.index == gpu.index), None) if smi else None
    found = products(gpu.name, twin.pci_device_id if twin else None, promise.catalogue.gpus)
    links = {m.nvlink_links for m in found}
    return _Wanted(
        links.pop() if len(links) == 1 else None,
        bool(found) and all(_is_built_in(m) for m in found),
        str(stated.value) if stated else None,
        len(report.gpus) == 1,
    )


def _is_built_in(model: GpuModel) -> bool:
    return model.form_class in (FormClass.SXM, FormClass.SUPERCHIP)


def _subject(report: NvlinkReport, gpu: GpuLinks, wanted: _Wanted) -> SubjectFinding:
    last = gpu is report.gpus[-1]
    verdict, reason = _judged(gpu, wanted, torn=report.cut_off and last)
    told = any(link.active is not None for link in gpu.links) or gpu.all_inactive
    return SubjectFinding(gpu.key, verdict, gpu.active_count if told else None, gpu.index, reason)


def _judged(gpu: GpuLinks, wanted: _Wanted, *, torn: bool) -> tuple[Verdict, Text]:
    if gpu.mig_hides:
        return (Verdict.INCONCLUSIVE if wanted.nvlink_promised else Verdict.NOT_APPLICABLE), _MIG
    if gpu.unsupported:
        return (Verdict.FAIL if wanted.nvlink_promised else Verdict.NOT_APPLICABLE), _NO_NVLINK
    if not gpu.links and not gpu.all_inactive:
        return Verdict.INCONCLUSIVE, _NOTHING_SHOWN
    return _counted(gpu, wanted, torn)


def _counted(gpu: GpuLinks, wanted: _Wanted, torn: bool) -> tuple[Verdict, Text]:
    active, dark = gpu.active_count, any(link.active is None for link in gpu.links)
    if wanted.alone and not active and not wanted.nvlink_promised:
        return Verdict.NOT_APPLICABLE, _ALONE
    if not wanted.built_in and not wanted.nvlink_promised and wanted.links is not None:
        return Verdict.NOT_APPLICABLE, _BRIDGES
    if torn or dark:
        return Verdict.INCONCLUSIVE, _TORN
    if wanted.links is None:
        return _without_product(active, wanted)
    return _compared(active, wanted.links, wanted)


def _without_product(active: int, wanted: _Wanted) -> tuple[Verdict, Text]:
    if not active and wanted.nvlink_promised:
        return Verdict.FAIL, Text("no link is up", "没有任何链路处于活动状态")
    return Verdict.INCONCLUSIVE, Text(
        f"{active} links are up, but the catalogue does not know how many this card has",
        f"{active} 条链路活动，但目录不知道该卡应有多少条",
    )


def _compared(active: int, expected: int, wanted: _Wanted) -> tuple[Verdict, Text]:
    text = Text(f"{active} of {expected} links are up", f"{expected} 条链路中 {active} 条活动")
    if active == expected:
        return Verdict.PASS, text
    if active > expected:
        return Verdict.WARN, Text(
            f"{active} links are up, the product has {expected}", f"{active} 条链路活动，该产品只有 {expected} 条"
        )
    if not wanted.built_in and active:
        return Verdict.WARN, text
    return Verdict.FAIL, text


_MIG = Text("MIG mode hides the links", "MIG 模式下看不到链路")
_NO_NVLINK = Text("the driver says that this card has no NVLink", "驱动称该卡没有 NVLink")
_NOTHING_SHOWN = Text("the tool lists no link of this card", "工具没有列出该卡的链路")
_ALONE = Text("one card of a board has nobody to talk to", "只租用一张卡，没有可通信的对端")
_BRIDGES = Text("NVLink bridges were not promised for these cards", "未承诺为这些卡配置 NVLink 桥")
_TORN = Text("the list of links ends early or holds a state that can't be read", "链路列表不完整或含有无法识别的状态")
_CODES = {
    Verdict.FAIL: ("links_down", Text(
        "Ask the supplier for a repair or another node: a dead link needs a reset or a service visit.",
        "请供应商修复或更换节点：断开的链路需要复位或现场维修。",
    )),
    Verdict.WARN: ("links_differ", Text(
        "Ask which bridges or board the node has, and compare with the datasheet.", "请询问节点的桥接或板型，并对照产品手册。"
    )),
    Verdict.INCONCLUSIVE: (str(Reason.UNREADABLE), Text(
        "Run nvidia-smi nvlink -s on the node and keep the whole output.", "请在节点上运行 nvidia-smi nvlink -s 并保留完整输出。"
    )),
}  # fmt: skip
