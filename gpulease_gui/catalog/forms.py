"""How is a card built in (SXM, PCIe, NVL ...), and which signs say so?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import FormClass, GpuCatalogue, GpuModel
from gpulease_gui.catalog.identity import NEAR, Identity, Observed, Voter
from gpulease_gui.domain.finding import Verdict


@dataclass(frozen=True, slots=True)
class FormVote:
    """One sign and the only form of the products of this chip that list its value."""

    voter: Voter
    value: str
    form: FormClass


def form_votes(catalogue: GpuCatalogue, seen: Observed, identity: Identity) -> tuple[FormVote, ...]:
    """One vote per sign; a value that products of several forms list is no vote."""
    chips = {m.chip for m in identity.candidates}
    if len(chips) != 1:
        return ()
    chip = catalogue.of_chip(chips.pop())
    named = catalogue.named(seen.name) if seen.name else ()
    device, power, links = seen.pci_device_id, seen.power_default_w or seen.power_max_w, seen.active_links or None
    clock, units = seen.clock_max_memory_mhz, seen.sm_count
    votes = (
        _vote(Voter.PCI_ID, device, chip, lambda m: (device or "").lower() in m.pci_device_ids),
        _vote(Voter.NAME, seen.name, chip, lambda m: m in named),
        _vote(Voter.POWER, power and f"{power:g} W", chip, lambda m: _is(power, (m.default_power_limit_w, *m.power_limit_range_w[1:]))),
        _vote(Voter.CLOCKS, clock and f"{clock:g} MHz", chip, lambda m: _is(clock, (m.memory_clock_mhz,))),
        _vote(Voter.LINKS, links and str(links), chip, lambda m: links is not None and links == m.nvlink_links),
        _vote(Voter.SM_COUNT, units and str(units), chip, lambda m: units is not None and units == m.sm_count),
    )  # fmt: skip
    return tuple(vote for vote in votes if vote)


def _vote(voter: Voter, value: object, chip: Iterable[GpuModel], lists: Callable[[GpuModel], bool]) -> FormVote | None:
    if not value:
        return None
    forms = {m.form_class for m in chip if lists(m)}
    form = forms.pop() if len(forms) == 1 else None
    return FormVote(voter, str(value), form) if form else None


def _is(value: float | None, figures: Iterable[float | None]) -> bool:
    return value is not None and any(f is not None and abs(value - f) <= NEAR for f in figures)


def only_form(catalogue: GpuCatalogue, identity: Identity) -> FormClass | None:
    """The form of a passed identity whose family comes in one form only (L40S, RTX 4090)."""
    if identity.status is not Verdict.PASS or identity.product is None:
        return None
    forms = {m.form_class for m in catalogue.of_family(identity.product.family)}
    return identity.product.form_class if len(forms) == 1 else None


def seen_form(catalogue: GpuCatalogue, identity: Identity, votes: tuple[FormVote, ...]) -> FormClass | None:
    """The form that the signs show: three that agree and none against, or a family of one form; None = open."""
    forms = {vote.form for vote in votes}
    if len(forms) == 1 and len(votes) >= 3:
        return votes[0].form
    return only_form(catalogue, identity) if len(forms) <= 1 else None
