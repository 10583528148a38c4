"""What does one fault line of the kernel log mean for a handover?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.xid import Acceptance, Severity
from gpulease_gui.domain.finding import WORST_FIRST, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.dmesg import KernelLog
from gpulease_gui.facts.dmesg_lines import KernelEvent
from gpulease_gui.facts.pci_devices import bus_id
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

RECOVERY = 154
_NO_RECOVERY = re.compile(r"changed from .* to 0x0\b", re.IGNORECASE)
_DRAIN = re.compile(r"to 0x\w+ \(Drain P2P\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Told:
    """A fault line with its verdict. `card` is dddd:bb:dd, else the words that name it; `time` as printed."""

    card: str
    name: str
    verdict: Verdict
    meaning: Text = NO_TEXT
    time: str | None = None

    @property
    def rank(self) -> int:
        """Worst first."""
        return WORST_FIRST.index(self.verdict)


def told(log: KernelLog, smi: SmiReport | None, catalogue: Catalogue) -> tuple[Told, ...]:
    """All fault lines in the order of the log, judged."""
    return tuple(_told(event, log.events[n + 1 :], smi, catalogue) for n, event in enumerate(log.events))


def _told(event: KernelEvent, later: Sequence[KernelEvent], smi: SmiReport | None, catalogue: Catalogue) -> Told:
    if event.kind == "xid":
        name, (verdict, meaning) = f"Xid {event.code if event.code is not None else '?'}", _xid(event, smi, catalogue)
    elif event.kind == "sxid":
        name, (verdict, meaning) = f"SXid {event.code if event.code is not None else '?'}", _sxid(event, catalogue)
    else:
        name, (verdict, meaning) = event.kind.replace("_", " "), _OTHERS.get(event.kind, (Verdict.WARN, NO_TEXT))
    if verdict is Verdict.FAIL and _healed(event, later, smi):
        verdict, meaning = Verdict.WARN, Text(f"{meaning.en}; a reset followed", f"{meaning.zh}；之后已复位")
    return Told(event.bus_id or event.device[:60], name, verdict, meaning, event.time)


def _xid(event: KernelEvent, smi: SmiReport | None, catalogue: Catalogue) -> tuple[Verdict, Text]:
    if event.code is None:
        return Verdict.INCONCLUSIVE, Text("the number is torn off", "编号不完整")
    known = catalogue.xid(event.code)
    if known is None:
        return Verdict.WARN, Text("a code that the catalogue lacks", "目录中没有的编号")
    if known.acceptance is Acceptance.BY_TEXT:
        return _by_text(event, smi), known.meaning
    return _ACCEPTANCE[known.acceptance], known.meaning


def _by_text(event: KernelEvent, smi: SmiReport | None) -> Verdict:
    """154 names the recovery that the driver asks for; 144 to 150 say fatal or non-fatal."""
    if event.code == RECOVERY:
        if _NO_RECOVERY.search(event.message):
            return Verdict.PASS
        alone = smi is not None and len(smi.gpus) == 1
        return Verdict.WARN if alone and _DRAIN.search(event.message) else Verdict.FAIL
    return Verdict.FAIL if event.severity == "fatal" else Verdict.WARN


def _sxid(event: KernelEvent, catalogue: Catalogue) -> tuple[Verdict, Text]:
    known = catalogue.xids.sxids.get(event.code) if event.code is not None else None
    fatal = event.severity == "fatal" or (
        event.severity is None and known in (Severity.ALWAYS_FATAL, Severity.PORT_FATAL)
    )
    return (Verdict.FAIL, Text("fatal error of an NVSwitch", "NVSwitch 致命错误")) if fatal else (
        Verdict.WARN, Text("error of an NVSwitch", "NVSwitch 错误")
    )  # fmt: skip


def _healed(event: KernelEvent, later: Sequence[KernelEvent], smi: SmiReport | None) -> bool:
    """Whether the driver took its call for a reset back afterwards, and the card now asks for nothing."""
    cleared = any(
        e.code == RECOVERY and e.kind == "xid" and e.bus_id == event.bus_id and _NO_RECOVERY.search(e.message)
        for e in later
    )
    if not cleared or event.bus_id is None or smi is None:
        return False
    gpu = next((g for g in smi.gpus if (bus_id(g.bus_id) or "").startswith(event.bus_id)), None)
    return gpu is not None and _sound(gpu)


def _sound(gpu: Gpu) -> bool:
    """A card that says it needs no recovery, and has no remap or SRAM fault open."""
    open_faults = (gpu.remap_pending, gpu.remap_failure, gpu.sram_threshold_exceeded)
    return (gpu.recovery_action or "").lower() == "none" and all((word or "no").lower() == "no" for word in open_faults)


_ACCEPTANCE = {
    Acceptance.FAIL: Verdict.FAIL,
    Acceptance.WARN: Verdict.WARN,
    Acceptance.RETRY: Verdict.WARN,
    Acceptance.BY_TEXT: Verdict.WARN,
    Acceptance.INFO: Verdict.PASS,
}
_OTHERS = {
    "fallen_off_bus": (Verdict.FAIL, Text("the card is gone from the bus", "显卡已从总线掉线")),
    "gpu_lost": (Verdict.FAIL, Text("the driver lost the card", "驱动丢失该卡")),
    "reset_required": (Verdict.FAIL, Text("the card needs a reset", "显卡需要复位")),
    "init_failed": (Verdict.FAIL, Text("the driver could not start the card", "驱动无法初始化该卡")),
    "probe_failed": (Verdict.WARN, Text("the driver did not take the card", "驱动未能接管该卡")),
    "version_mismatch": (Verdict.WARN, Text("tools and driver have different versions", "工具与驱动版本不一致")),
}
