"""Do the driver's tool, the PCI bus and the kernel module name the same cards?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.checks import card_list
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.nvidia_proc import NvidiaProc, ProcGpu
from gpulease_gui.facts.pci_devices import PciBus, PciDevice, bus_id
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="trust.cross_sources",
    title=Text("Independent sources agree", "多个来源是否一致"),
    why=Text(
        "A wrapper around nvidia-smi can show any card; the bus and the kernel module know nothing of it.",
        "包装过的 nvidia-smi 可以显示任何显卡，但总线和内核模块不会跟着说谎。",
    ),
    facts=("smi_xml",),
    optional=("pci_devices", "nvidia_proc", "environment", "smi_list"),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
    rule_version=2,
)


@dataclass(frozen=True, slots=True)
class _Views:
    """The other sources by bus id. An empty one did not answer and is no evidence.

    `listed` comes from the same tool as the report: it can contradict, but confirms nothing.
    """

    bus: dict[str, PciDevice]
    proc: dict[str, ProcGpu]
    listed: SmiList | None


def judge(
    smi: SmiReport, pci: PciBus | None, proc: NvidiaProc | None, environment: Environment | None, listed: SmiList | None,
    promise: Promise,
) -> tuple[Finding, ...]:
    """One finding with a subject for each card that nvidia-smi lists. Only sources that answered can contradict."""
    views = _Views(
        {d.bus_id: d for d in pci.nvidia_gpus} if pci else {}, {g.bus_id: g for g in proc.gpus} if proc else {}, listed
    )
    if not smi.gpus:
        return (
            CHECK.finding(
                Verdict.INCONCLUSIVE,
                _NO_CARDS,
                measured=0,
                unit="GPUs",
                reason_code=Reason.UNREADABLE,
                next_step=_ASK_LIST,
            ),
        )
    subjects = [_subject(gpu, smi, views) for gpu in smi.gpus]
    subjects += card_list.only_listed(smi, listed) if listed else []
    verdict = worst(s.verdict for s in subjects)
    if verdict is Verdict.FAIL:
        hit = next(s for s in subjects if s.verdict is Verdict.FAIL)
        return (_finding(verdict, hit.reason, smi, subjects, Reason.INCONSISTENT, _ASK_WRAPPER),)
    if not views.bus and not views.proc:
        return (_finding(Verdict.INCONCLUSIVE, _ONE_SOURCE, smi, subjects, "single_source", _ASK_LIST),)
    if verdict is Verdict.INCONCLUSIVE:
        return (_finding(verdict, _NOT_ALL, smi, subjects, "single_source", _ASK_LIST),)
    return (_agreed(smi, views, environment, subjects),)


def _agreed(smi: SmiReport, views: _Views, environment: Environment | None, subjects: list[SubjectFinding]) -> Finding:
    listed = {bus_id(g.bus_id) for g in smi.gpus}
    hidden = sorted((set(views.bus) | set(views.proc)) - listed)
    whole = environment is not None and not environment.is_container
    if hidden and whole:
        names = ", ".join(hidden[:8])
        reason = Text(
            f"on the bus but not in nvidia-smi: {names} ({len(hidden)}); a card may be lost",
            f"总线上有、nvidia-smi 中没有：{names}（{len(hidden)} 张）；可能有卡掉线",
        )
        return _finding(Verdict.WARN, reason, smi, subjects, "cards_not_in_driver", _ASK_LOST)
    sources = [name for name, view in (("PCI bus", views.bus), ("kernel module", views.proc)) if view]
    return _finding(
        Verdict.PASS,
        Text(f"nvidia-smi, {' and '.join(sources)} name the same {len(smi.gpus)} cards",
             f"nvidia-smi、{'、'.join(_ZH[s] for s in sources)} 给出的 {len(smi.gpus)} 张卡一致"),
        smi, subjects, "", NO_TEXT,
    )  # fmt: skip


_ZH = {"PCI bus": "PCI 总线", "kernel module": "内核模块"}


def _subject(gpu: Gpu, smi: SmiReport, views: _Views) -> SubjectFinding:
    slot = bus_id(gpu.bus_id)
    differs = next(_contradictions(gpu, slot, smi, views), None)
    if differs:
        return SubjectFinding(gpu.key, Verdict.FAIL, gpu.name, gpu.index, differs)
    agreed = _agreements(gpu, views.bus.get(slot or ""), views.proc.get(slot or ""))
    if not agreed:
        return SubjectFinding(gpu.key, Verdict.INCONCLUSIVE, gpu.name, gpu.index, _ONE_SOURCE)
    names = ", ".join(agreed)
    return SubjectFinding(gpu.key, Verdict.PASS, gpu.name, gpu.index, Text(f"agree: {names}", f"一致：{names}"))


def _contradictions(gpu: Gpu, slot: str | None, smi: SmiReport, views: _Views) -> Iterator[Text]:
    for what, value, count in _twins(gpu, smi):
        yield Text(
            f"nvidia-smi gives {what} {value} to {count} cards", f"nvidia-smi 把同一 {what} {value} 给了 {count} 张卡"
        )
    device, module = views.bus.get(slot or ""), views.proc.get(slot or "")
    if views.bus and slot and device is None:
        yield Text(
            f"nvidia-smi lists a card at {slot}, the PCI bus has none there",
            f"nvidia-smi 列出 {slot} 处有卡，PCI 总线上没有",
        )
    if views.listed and (otherwise := card_list.contradiction(gpu, smi, views.listed)):
        yield otherwise
    for what, ours, other, source in _pairs(gpu, device, module):
        if ours and other and _plain(ours) != _plain(other):
            yield Text(
                f"{what}: nvidia-smi says {ours}, the {source} says {other}",
                f"{what}：nvidia-smi 显示 {ours}，{_ZH[source]}显示 {other}",
            )


def _twins(gpu: Gpu, smi: SmiReport) -> Iterator[tuple[str, str, int]]:
    for what, name in (("UUID", "uuid"), ("bus id", "bus_id")):
        value = getattr(gpu, name)
        count = Counter(getattr(g, name) for g in smi.gpus)[value]
        if value and count > 1:
            yield what, value, count


def _pairs(
    gpu: Gpu, device: PciDevice | None, module: ProcGpu | None
) -> Iterator[tuple[str, str | None, str | None, str]]:
    """What two sources say of the same thing."""
    if device:
        yield "PCI id", gpu.pci_device_id, device.pci_id, "PCI bus"
        yield "subsystem id", gpu.pci_subsystem_id, device.subsystem_id, "PCI bus"
    if module:
        yield "name", gpu.name, module.model, "kernel module"
        yield "UUID", gpu.uuid, module.uuid, "kernel module"
        yield "VBIOS", gpu.vbios, module.vbios, "kernel module"


def _agreements(gpu: Gpu, device: PciDevice | None, module: ProcGpu | None) -> list[str]:
    return [what for what, ours, other, _ in _pairs(gpu, device, module) if ours and other]


def _plain(words: str) -> str:
    """Upper case, one blank, without the maker's name that only newer drivers print."""
    return " ".join(words.upper().split()).removeprefix("NVIDIA ")


_NO_CARDS = Text("nvidia-smi lists no card", "nvidia-smi 未列出任何卡")
_ONE_SOURCE = Text(
    "only nvidia-smi answered; no second source confirms its cards", "只有 nvidia-smi 应答，没有第二来源可以印证"
)
_NOT_ALL = Text("not every card is confirmed by a second source", "并非每张卡都有第二来源印证")
_ASK_LIST = Text(
    "Run lspci -nn -d 10de: on the host, or ask the supplier for it.",
    "请在宿主机上运行 lspci -nn -d 10de:，或向供应商索取。",
)
_ASK_LOST = Text(
    "Look for a lost card: dmesg, lspci -nn -d 10de:, nvidia-smi -L; ask why the driver does not show it.",
    "请排查掉卡：dmesg、lspci -nn -d 10de:、nvidia-smi -L；并询问驱动为何不显示该卡。",
)
_ASK_WRAPPER = Text(
    "Check which nvidia-smi runs (command -v nvidia-smi, its size, LD_PRELOAD) and ask the supplier to explain.",
    "请检查所运行的 nvidia-smi（command -v nvidia-smi、文件大小、LD_PRELOAD），并要求供应商解释。",
)


def _finding(
    verdict: Verdict, reason: Text, smi: SmiReport, subjects: list[SubjectFinding], code: str, step: Text
) -> Finding:
    return CHECK.finding(
        verdict, reason, measured=len(smi.gpus), unit="GPUs", subjects=subjects, reason_code=str(code), next_step=step
    )
