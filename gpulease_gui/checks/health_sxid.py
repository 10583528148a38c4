"""Does the kernel log tell of faults of the NVSwitches?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.xid_events import Told, told
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.dmesg import KernelLog
from gpulease_gui.facts.pci_devices import NVIDIA, PciBus
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="health.sxid",
    title=Text("NVSwitch errors in the kernel log", "内核日志中的 NVSwitch 错误"),
    why=Text(
        "One failing switch slows or stops all eight cards of a board; its errors have numbers of their own (SXid).",
        "一颗交换芯片出错会拖慢甚至停掉整板八张卡；其错误有独立编号（SXid）。",
    ),
    facts=("dmesg",),
    optional=("smi_xml", "pci_devices"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_SWITCH_CLASS = "0680"
_NONE = Text("no error of an NVSwitch in the kernel log", "内核日志中没有 NVSwitch 错误")
_NO_SWITCH = Text("no NVSwitch is visible in this system", "本系统中看不到 NVSwitch")
_ASK = Text("ask the supplier for a repair or another node; keep these lines", "请供应商维修或更换节点；请保留这些日志")
_WHOLE_LOG = Text("run dmesg as root on the host, or ask the supplier for it", "请在宿主机上以 root 运行 dmesg，或向供应商索取")


def judge(log: KernelLog, smi: SmiReport | None, bus: PciBus | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each switch that the log names; measured is the number of errors."""
    events = [e for e in told(log, smi, promise.catalogue) if e.name.startswith("SXid")]
    if events:
        return (_found(events),)
    if log.cut_off:
        cut = Text("the kernel log is cut off", "内核日志不完整")
        return (CHECK.finding(Verdict.INCONCLUSIVE, cut, reason_code=Reason.CUT_OFF, next_step=_WHOLE_LOG),)
    if bus is None or not bus.visible:
        unknown = Text(f"{_NONE.en}, but whether there is a switch is not known", f"{_NONE.zh}，但不清楚是否有交换芯片")
        return (CHECK.finding(Verdict.INCONCLUSIVE, unknown, measured=0, reason_code="no_pci_bus", next_step=_WHOLE_LOG),)
    if not any(d.vendor == NVIDIA and d.class_code.startswith(_SWITCH_CLASS) for d in bus.devices):
        return (CHECK.finding(Verdict.NOT_APPLICABLE, _NO_SWITCH),)
    return (CHECK.finding(Verdict.PASS, _NONE, measured=0, unit="events", better="less"),)


def _found(events: list[Told]) -> Finding:
    subjects = [_subject(card, [e for e in events if e.card == card]) for card in dict.fromkeys(e.card for e in events)]
    verdict = worst(s.verdict for s in subjects)
    names = ", ".join(list(dict.fromkeys(e.name for e in events))[:6])
    reason = Text(f"the kernel log tells of {len(events)} NVSwitch errors ({names})", f"内核日志有 {len(events)} 条 NVSwitch 错误（{names}）")
    return CHECK.finding(
        verdict, reason, measured=len(events), unit="events", subjects=subjects, reason_code="sxid",
        next_step=_ASK if verdict is not Verdict.PASS else NO_TEXT, better="less",
    )  # fmt: skip


def _subject(card: str, own: list[Told]) -> SubjectFinding:
    verdict = worst(e.verdict for e in own)
    last = next(e for e in own if e.verdict is verdict)
    return SubjectFinding(card or "?", verdict, len(own), None, Text(f"{last.name}: {last.meaning.en}", f"{last.name}：{last.meaning.zh}"))
