"""Does the kernel log of this boot tell of faults of the GPUs?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.xid_events import Told, told
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.clock_now import ClockNow
from gpulease_gui.facts.dmesg import KernelLog
from gpulease_gui.facts.pci_devices import bus_id
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="health.xid",
    title=Text("Xid events in the kernel log", "内核日志中的 Xid"),
    why=Text(
        "The driver writes a fault of a card only here; a card that fell once tends to fall again.",
        "显卡的硬件故障只会写进这里；掉过一次的卡往往还会再掉。",
    ),
    facts=("dmesg",),
    optional=("clock_now", "smi_xml"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)

# The log of a boot begins within seconds of it; what begins later has lost its head or was cleared.
_LATE = timedelta(minutes=15)
_OTHER_BOOT = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What the log covers: in words, and whether its head is missing or it belongs to another boot."""

    text: Text
    late: bool = False
    other_boot: bool = False


def judge(log: KernelLog, clock: ClockNow | None, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each card that the log names; the covered stretch is stated."""
    events = told(log, smi, promise.catalogue)
    stretch = _stretch(log, clock)
    subjects = _subjects(events, smi)
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.PASS
    bad = sum(e.verdict in (Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE) for e in events)
    verdict, code = _with_doubts(verdict, log, stretch)
    words = _summary(events, code)
    return (CHECK.finding(
        verdict, Text(f"{words.en}; {stretch.text.en}", f"{words.zh}；{stretch.text.zh}"), measured=bad, unit="events",
        subjects=subjects, reason_code=code, next_step=_STEPS.get(verdict, NO_TEXT), better="less",
    ),)  # fmt: skip


def _with_doubts(verdict: Verdict, log: KernelLog, stretch: _Stretch) -> tuple[Verdict, str]:
    """A log that is not whole can prove a fault, but never its absence."""
    if verdict is Verdict.FAIL:
        return verdict, "xid"
    if log.cut_off:
        return Verdict.INCONCLUSIVE, Reason.CUT_OFF
    if stretch.other_boot:
        return Verdict.INCONCLUSIVE, "other_boot"
    if verdict is Verdict.INCONCLUSIVE:
        return verdict, "xid_unreadable"
    if log.first_stamp is None:
        return Verdict.INCONCLUSIVE, "stretch_unknown"
    if stretch.late:
        return Verdict.WARN, "log_begins_late"
    return (verdict, "xid") if verdict is Verdict.WARN else (Verdict.PASS, "")


def _subjects(events: Sequence[Told], smi: SmiReport | None) -> list[SubjectFinding]:
    names = {(bus_id(g.bus_id) or "")[:10]: g for g in smi.gpus} if smi else {}
    cards = dict.fromkeys(e.card for e in events if e.verdict is not Verdict.PASS)
    found = []
    for card in cards:
        own = [e for e in events if e.card == card]
        gpu = names.get(card)
        bad = [e for e in own if e.verdict is not Verdict.PASS]
        text = Text(_listed(bad, zh=False), _listed(bad, zh=True))
        name = gpu.key if gpu else card or "?"
        found.append(SubjectFinding(name, worst(e.verdict for e in own), len(bad), gpu.index if gpu else None, text))
    return found


def _listed(events: Sequence[Told], *, zh: bool) -> str:
    """`Xid 79 (fell off the bus) x2, last 2026-...`, at most four kinds."""
    kinds = dict.fromkeys(e.name for e in events)
    parts = []
    for name in list(kinds)[:4]:
        own = [e for e in events if e.name == name]
        meaning = own[-1].meaning.zh if zh else own[-1].meaning.en
        last = _short(own[-1].time or "")
        parts.append(f"{name} ×{len(own)}" + (f" ({meaning})" if meaning else "") + (f" {last}" if last else ""))
    return ", ".join(parts)


def _short(stamp: str) -> str:
    """A stamp of a calendar without fractions of a second."""
    return re.sub(r"(T\d\d:\d\d:\d\d)[.,]\d+", r"\1", stamp)


def _summary(events: Sequence[Told], code: str) -> Text:
    bad = sorted((e for e in events if e.verdict is not Verdict.PASS), key=lambda e: e.rank)
    if not bad and code == Reason.CUT_OFF:
        return Text(
            "the kernel log is cut off; what is left of it tells of no fault", "内核日志不完整；现有部分没有 GPU 故障"
        )
    if not bad:
        return Text("no fault of a GPU in the kernel log", "内核日志中没有 GPU 故障")
    return Text(f"the kernel log tells of {_listed(bad, zh=False)}", f"内核日志记录了 {_listed(bad, zh=True)}")


def _stretch(log: KernelLog, clock: ClockNow | None) -> _Stretch:
    first, last = _moment(log.first_stamp, clock), _moment(log.last_stamp, clock)
    said = f"{_short(log.first_stamp or '?')} … {_short(log.last_stamp or '?')}"
    plain = Text(f"{log.line_count} lines, {said}", f"共 {log.line_count} 行，{said}")
    if first is None or clock is None or clock.booted is None:
        return _Stretch(plain)
    if last and not clock.booted - _OTHER_BOOT < last < clock.utc + _OTHER_BOOT:
        return _Stretch(Text(f"{plain.en}: that is another boot", f"{plain.zh}：不是本次启动"), other_boot=True)
    hours = (first - clock.booted) / timedelta(hours=1)
    if first > clock.booted + _LATE:
        return _Stretch(
            Text(f"{plain.en}: it begins {hours:.1f} h after boot, what came before is lost",
                 f"{plain.zh}：从启动 {hours:.1f} 小时后才开始，之前的已丢失"), late=True,
        )  # fmt: skip
    return _Stretch(Text(f"{plain.en}, since boot", f"{plain.zh}，自启动起"))


def _moment(stamp: str | None, clock: ClockNow | None) -> datetime | None:
    """A stamp as a moment: ISO with a zone, or seconds since boot; None for other forms."""
    words = (stamp or "").replace(",", ".")
    if clock and clock.booted and words.replace(".", "", 1).isdigit() and words.isascii() and len(words) < 20:
        return clock.booted + timedelta(seconds=float(words))
    try:
        moment = datetime.fromisoformat(words)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


_STEPS = {
    Verdict.FAIL: Text(
        "Ask for another node, or for a repair with a reset and a new handover; keep these lines.",
        "要求更换节点，或修复、复位后重新交付；请保留这些日志。",
    ),
    Verdict.WARN: Text(
        "Run your own load and read the log again; ask the supplier for the older log.",
        "请跑一次自己的负载后再读日志；并向供应商索取更早的日志。",
    ),
    Verdict.INCONCLUSIVE: Text(
        "Run dmesg as root on the host, or ask the supplier for the kernel log since boot.",
        "请在宿主机上以 root 运行 dmesg，或向供应商索取自启动以来的内核日志。",
    ),
}
