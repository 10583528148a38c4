"""How do the cards of one report become one finding, the worst card first?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.catalog.identity import Identity, Observed, identify
from gpulease_gui.checks.check import Check
from gpulease_gui.domain.finding import WORST_FIRST, Basis, Finding, SubjectFinding, Value, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import Gpu, SmiReport


@dataclass(frozen=True, slots=True)
class Card:
    """One GPU record with what the catalogue makes of it."""

    gpu: Gpu
    seen: Observed
    identity: Identity


@dataclass(frozen=True, slots=True)
class Mark:
    """What a rule says of one card."""

    verdict: Verdict
    reason: Text
    code: str = ""
    measured: Value = None
    next_step: Text = NO_TEXT
    basis: Basis = Basis.REPORTED


def cards(report: SmiReport, nvlink: NvlinkReport | None, catalogue: GpuCatalogue) -> tuple[Card, ...]:
    """The cards of a report with their identities; `nvlink` adds the count of active links."""
    seen = [observed(gpu, _links(gpu, nvlink)) for gpu in report.gpus]
    known = {signs: identify(catalogue, signs) for signs in dict.fromkeys(seen)}  # most cards of a node are alike
    return tuple(Card(gpu, signs, known[signs]) for gpu, signs in zip(report.gpus, seen, strict=True))


def observed(gpu: Gpu, active_links: int | None = None) -> Observed:
    """The signs of one record; 0 links is no sign."""
    return Observed(
        gpu.pci_device_id, gpu.pci_subsystem_id, gpu.name, gpu.memory_total_mib, gpu.power_default_limit_w,
        gpu.power_max_limit_w, gpu.clock_max_sm_mhz, gpu.clock_max_memory_mhz, active_links or None,
    )  # fmt: skip


def _links(gpu: Gpu, nvlink: NvlinkReport | None) -> int | None:
    for found in nvlink.gpus if nvlink else ():
        same = found.uuid == gpu.uuid if found.uuid and gpu.uuid else found.index == gpu.index
        if same and not found.mig_hides:
            return found.active_count
    return None


def finding_of(
    check: Check, marks: Sequence[tuple[Gpu, Mark]], *, term: str | None = None, promised: Value = None, unit: str = "",
    better: str | None = None, pass_code: str = "",
) -> Finding:  # fmt: skip
    """One finding over all cards: verdict, reason and measured value of the worst; at least one card is needed.

    `pass_code` is the reason code of a finding that passes (a promise that was only implied).
    """
    worst = worst_mark([mark for _, mark in marks], better)
    alike = sum(mark.verdict is worst.verdict for _, mark in marks)
    subjects = [SubjectFinding(gpu.key, mark.verdict, mark.measured, gpu.index, mark.reason) for gpu, mark in marks]
    return check.finding(
        worst.verdict, _counted(worst.reason, alike, len(marks)), term=term, promised=promised, measured=worst.measured,
        unit=unit, subjects=subjects, reason_code=worst.code or (pass_code if worst.verdict is Verdict.PASS else ""),
        next_step=worst.next_step, basis=worst.basis, better=better,
    )  # fmt: skip


def worst_mark(marks: Sequence[Mark], better: str | None = None) -> Mark:
    """The mark that decides; among equal verdicts the one whose value is worst."""
    rank = {verdict: n for n, verdict in enumerate(WORST_FIRST)}
    sign = {"more": 1, "less": -1}.get(better or "", 0)

    def order(mark: Mark) -> tuple[int, float]:
        value = mark.measured
        return rank[mark.verdict], sign * float(value) if isinstance(value, int | float) else 0.0

    return min(marks, key=order)


def _counted(reason: Text, alike: int, total: int) -> Text:
    if alike == total:
        return reason
    return Text(f"{alike} of {total} GPUs: {reason.en}", f"{total} 张卡中有 {alike} 张：{reason.zh}")


def name_of(card: Card) -> str:
    """How a reason names the card: product, id and name as far as they are known."""
    parts = [card.identity.product.name if card.identity.product else card.seen.name or "?"]
    if card.seen.pci_device_id:
        parts.append(f"PCI id {card.seen.pci_device_id}")
    return ", ".join(parts)
