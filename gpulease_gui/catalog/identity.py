"""Which product is the card that a node shows, and how well do the signs agree?

The order of evidence: PCI id with subsystem, name and total memory decide; power, clocks, links and SM count can
only contradict. A sign that was not read is no vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.domain.finding import Basis, Verdict
from gpulease_gui.domain.text import Text

EXACT_MIB = 2
RESERVED_PART = 0.005  # a driver may hide up to half a percent of the same card's memory
NEAR = 1.0  # W, MHz: tools print two decimals, catalogues whole numbers


class Voter(StrEnum):
    """A sign by which a card is known."""

    PCI_ID = "pci_id"
    NAME = "name"
    MEMORY = "memory"
    POWER = "power"
    CLOCKS = "clocks"
    LINKS = "links"
    SM_COUNT = "sm_count"


VOTER_WORDS: Mapping[Voter, Text] = {
    Voter.PCI_ID: Text("PCI id", "PCI 设备号"),
    Voter.NAME: Text("name", "名称"),
    Voter.MEMORY: Text("memory", "显存"),
    Voter.POWER: Text("power limit", "功耗上限"),
    Voter.CLOCKS: Text("clocks", "频率"),
    Voter.LINKS: Text("NVLinks", "NVLink 链路"),
    Voter.SM_COUNT: Text("SM count", "SM 数量"),
}
_DECIDING = (Voter.PCI_ID, Voter.NAME, Voter.MEMORY)


class Opinion(StrEnum):
    """What a sign says of the product: a value that no product lists says nothing, and is noted."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    UNLISTED = "unlisted"


@dataclass(frozen=True, slots=True)
class Observed:
    """The signs of one card as a node shows them; None = not told.

    Power limits are the board's default and maximum in W, never the current one; clocks are maxima in MHz.
    """

    pci_device_id: str | None = None
    pci_subsystem_id: str | None = None
    name: str | None = None
    memory_total_mib: int | None = None
    power_default_w: float | None = None
    power_max_w: float | None = None
    clock_max_sm_mhz: float | None = None
    clock_max_memory_mhz: float | None = None
    active_links: int | None = None
    sm_count: int | None = None


@dataclass(frozen=True, slots=True)
class Vote:
    """One sign: `value` as read, `products` the names that list it."""

    voter: Voter
    value: str
    opinion: Opinion
    products: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Identity:
    """What a card is. `status` pass, fail (signs name different products) or inconclusive.

    `candidates` are the products that the strongest signs leave; `product` is set when one is left.
    `masked`: the card bears a name or a size that no vendor sells.
    """

    product: GpuModel | None
    status: Verdict
    reason: Text
    reason_code: str = ""
    votes: tuple[Vote, ...] = ()
    candidates: tuple[GpuModel, ...] = ()
    masked: bool = False
    basis: Basis = Basis.REPORTED

    @property
    def family(self) -> str | None:
        """The family that all candidates share."""
        families = {m.family for m in ((self.product,) if self.product else self.candidates)}
        return families.pop() if len(families) == 1 else None

    def vote(self, voter: Voter) -> Vote | None:
        """The vote of one sign; None if it was not read."""
        return next((v for v in self.votes if v.voter is voter), None)

    def agreeing(self) -> tuple[Vote, ...]:
        """The votes for the product."""
        return tuple(v for v in self.votes if v.opinion is Opinion.AGREES)

    @property
    def shown_name(self) -> str:
        """The product's name, else what the node prints, else a dash."""
        printed = self.vote(Voter.NAME) or self.vote(Voter.PCI_ID)
        return self.product.name if self.product else printed.value if printed else "–"


def identify(catalogue: GpuCatalogue, seen: Observed) -> Identity:
    """The product that the signs of one card name."""
    by_id = _of_board(catalogue.of_device(seen.pci_device_id), seen.pci_subsystem_id) if seen.pci_device_id else ()
    by_name = catalogue.named(seen.name) if seen.name else ()
    common = tuple(m for m in by_id if m in by_name and not _refuted(m, seen.memory_total_mib))
    if by_id and by_name and not common:
        return _inconsistent(seen, by_id, by_name)
    pool = _by_memory(common or by_id or by_name, seen.memory_total_mib)
    if len(pool) != 1:
        return _open_question(seen, by_id, by_name, pool)
    votes = (*_strong_votes(seen, by_id, by_name), *_soft_votes(catalogue, pool[0], seen))
    return _weighed(pool[0], seen, votes)


def _of_board(models: tuple[GpuModel, ...], subsystem: str | None) -> tuple[GpuModel, ...]:
    exact = tuple(m for m in models if subsystem and subsystem.lower() in m.pci_subsystem_ids)
    return exact or models


def _by_memory(models: tuple[GpuModel, ...], mib: int | None) -> tuple[GpuModel, ...]:
    """Products of one id and name, told apart by their memory; a modified card only if the memory says so."""
    fitting = tuple(m for m in models if mib is not None and memory_fits(m, mib))
    return fitting or tuple(m for m in models if m.genuine) or models


def _refuted(model: GpuModel, mib: int | None) -> bool:
    """Whether the memory says that the card is not this modified one."""
    return not model.genuine and mib is not None and not memory_fits(model, mib)


def memory_fits(model: GpuModel, mib: int) -> bool:
    """Whether `mib` is a total of this product: exact, or less or more by what a driver may reserve."""
    return any(abs(mib - m) <= max(EXACT_MIB, m * RESERVED_PART) for m in model.listed("memory_total_mib"))


def _inconsistent(seen: Observed, by_id: tuple[GpuModel, ...], by_name: tuple[GpuModel, ...]) -> Identity:
    named, by_id = _by_memory(by_name, seen.memory_total_mib), _by_memory(by_id, seen.memory_total_mib)
    hidden = all(not m.genuine for m in named)
    of_id, of_name = by_id[0].name, named[0].name
    reason = Text(
        f"PCI id {seen.pci_device_id} is {of_id}, but the name {seen.name} is {of_name}",
        f"PCI 设备号 {seen.pci_device_id} 对应 {of_id}，名称 {seen.name} 却对应 {of_name}",
    )
    product = by_id[0] if len(by_id) == 1 else None
    return Identity(product, Verdict.FAIL, reason, "inconsistent", _strong_votes(seen, by_id, by_name), by_id, hidden)


def _open_question(
    seen: Observed, by_id: tuple[GpuModel, ...], by_name: tuple[GpuModel, ...], pool: tuple[GpuModel, ...]
) -> Identity:
    votes = _strong_votes(seen, by_id, by_name)
    if pool:
        names = ", ".join(m.name for m in pool)
        reason = Text(f"several products fit: {names}", f"有多个型号符合：{names}")
        return Identity(None, Verdict.INCONCLUSIVE, reason, "ambiguous", votes, pool, any(not m.genuine for m in pool))
    shown = ", ".join(word for word in (seen.name, seen.pci_device_id) if word)
    if not shown:
        return Identity(None, Verdict.INCONCLUSIVE, Text("neither name nor PCI id was told", "未给出名称和 PCI 设备号"), "unreadable", votes)
    reason = Text(f"the catalogue knows no such card: {shown}", f"目录中没有这种卡：{shown}")
    return Identity(None, Verdict.INCONCLUSIVE, reason, "unknown_card", votes)


def _strong_votes(seen: Observed, by_id: tuple[GpuModel, ...], by_name: tuple[GpuModel, ...]) -> tuple[Vote, ...]:
    votes = []
    for voter, value, models in ((Voter.PCI_ID, seen.pci_device_id, by_id), (Voter.NAME, seen.name, by_name)):
        if value is not None:
            opinion = Opinion.AGREES if models else Opinion.UNLISTED
            votes.append(Vote(voter, value, opinion, tuple(m.name for m in models)))
    return tuple(votes)


def _soft_votes(catalogue: GpuCatalogue, product: GpuModel, seen: Observed) -> tuple[Vote, ...]:
    chip = tuple(m for m in catalogue.of_chip(product.chip) if m is not product)
    named = tuple(m for m in (catalogue.named(seen.name) if seen.name else ()) if m is not product)
    votes = [
        _memory_vote(product, tuple(dict.fromkeys((*chip, *named))), seen.memory_total_mib) if product.memory_total_mib else None,
        _soft(Voter.POWER, "W", product, chip, ("default_power_limit_w", "power_limit_range_w"), _told(seen.power_default_w, seen.power_max_w)),
        _clock_vote(product, chip, seen),
        _soft(Voter.LINKS, "", product, chip, ("nvlink_links",), _told(seen.active_links or None)),
        _soft(Voter.SM_COUNT, "", product, chip, ("sm_count",), _told(seen.sm_count)),
    ]  # fmt: skip
    return tuple(vote for vote in votes if vote)


def _told(*values: float | None) -> tuple[float, ...]:
    return tuple(value for value in values if value is not None)


def _memory_vote(product: GpuModel, others: tuple[GpuModel, ...], mib: int | None) -> Vote | None:
    if mib is None:
        return None
    if memory_fits(product, mib):
        return Vote(Voter.MEMORY, f"{mib} MiB", Opinion.AGREES, (product.name,))
    listing = tuple(m.name for m in others if any(abs(mib - own) <= EXACT_MIB for own in m.memory_total_mib))
    return Vote(Voter.MEMORY, f"{mib} MiB", Opinion.DISAGREES if listing else Opinion.UNLISTED, listing)


def _soft(
    voter: Voter, unit: str, product: GpuModel, chip: tuple[GpuModel, ...], names: tuple[str, ...], values: tuple[float, ...]
) -> Vote | None:
    """Agree if any value is this product's; disagree if all are another's only; no vote without figures."""
    own = tuple(figure for name in names for figure in _figures(product, name, disputed=True))
    if not own or not values:
        return None
    shown, slack = f"{values[0]:g} {unit}".strip(), NEAR if unit else 0.0  # counts are exact
    if any(_near(value, own, slack) for value in values):
        return Vote(voter, shown, Opinion.AGREES, (product.name,))
    listing = tuple(m.name for m in chip if any(_near(v, _figures(m, n), slack) for v in values for n in names))
    return Vote(voter, shown, Opinion.DISAGREES if listing else Opinion.UNLISTED, listing)


def _clock_vote(product: GpuModel, chip: tuple[GpuModel, ...], seen: Observed) -> Vote | None:
    """One vote of both maxima: a clock that only other products have outweighs one that fits."""
    memory = _soft(Voter.CLOCKS, "MHz", product, chip, ("memory_clock_mhz",), _told(seen.clock_max_memory_mhz))
    sm = _soft(Voter.CLOCKS, "MHz", product, chip, ("max_sm_clock_mhz",), _told(seen.clock_max_sm_mhz))
    both = [vote for vote in (memory, sm) if vote]
    order = (Opinion.DISAGREES, Opinion.AGREES, Opinion.UNLISTED)
    return min(both, key=lambda vote: order.index(vote.opinion)) if both else None


def _figures(model: GpuModel, name: str, disputed: bool = False) -> tuple[float, ...]:
    if name == "power_limit_range_w":
        return model.power_limit_range_w[1:]
    own = getattr(model, name)
    return model.listed(name) if disputed else () if own is None else (own,)


def _near(value: float, figures: Iterable[float], slack: float) -> bool:
    return any(abs(value - figure) <= slack for figure in figures)


def _weighed(product: GpuModel, seen: Observed, votes: tuple[Vote, ...]) -> Identity:
    against = [v for v in votes if v.opinion is Opinion.DISAGREES]
    masked = not product.genuine or seen.memory_total_mib in product.masked_mib
    basis = Basis.MEASURED if any(v.voter is Voter.SM_COUNT for v in votes) else Basis.REPORTED

    def answer(status: Verdict, code: str, reason: Text) -> Identity:
        return Identity(product, status, reason, code, votes, (product,), masked, basis)

    if masked and product.genuine:
        return answer(Verdict.FAIL, "masked_identity", Text(
            f"the label {product.name} hides other hardware: no such card has {seen.memory_total_mib} MiB",
            f"{product.name} 的标签下是别的硬件：该型号没有 {seen.memory_total_mib} MiB 的版本",
        ))  # fmt: skip
    if against:
        return answer(Verdict.FAIL if len(against) > 1 else Verdict.INCONCLUSIVE, "contradicted", _contradiction(product, against))
    unlisted = next((v for v in votes if v.voter is Voter.PCI_ID and v.opinion is Opinion.UNLISTED), None)
    if unlisted and product.pci_device_ids:
        return answer(Verdict.INCONCLUSIVE, "unlisted_id", Text(
            f"the name says {product.name}, but no product has the PCI id {unlisted.value}",
            f"名称是 {product.name}，但没有型号使用 PCI 设备号 {unlisted.value}",
        ))  # fmt: skip
    agreeing = [v.voter for v in votes if v.voter in _DECIDING and v.opinion is Opinion.AGREES]
    if len(agreeing) < 2:
        return answer(Verdict.INCONCLUSIVE, "too_few_signs", Text(
            f"only one sign was read that says {product.name}", f"只有一项读数指向 {product.name}"
        ))  # fmt: skip
    return answer(Verdict.PASS, "", _agreement(product, agreeing))


def _agreement(product: GpuModel, voters: list[Voter]) -> Text:
    en = ", ".join(VOTER_WORDS[v].en for v in voters)
    zh = "、".join(VOTER_WORDS[v].zh for v in voters)
    return Text(f"{en} agree on {product.name}", f"{zh}一致指向 {product.name}")


def _contradiction(product: GpuModel, against: list[Vote]) -> Text:
    en = "; ".join(f"{VOTER_WORDS[v.voter].en} {v.value} belongs to {_some(v.products, ' or ')}" for v in against)
    zh = "；".join(f"{VOTER_WORDS[v.voter].zh} {v.value} 属于 {_some(v.products, ' 或 ')}" for v in against)
    return Text(f"the card calls itself {product.name}, but {en}", f"卡自称 {product.name}，但{zh}")


def _some(names: tuple[str, ...], joint: str) -> str:
    return joint.join(names[:3]) + (" …" if len(names) > 3 else "")
