"""What is known of an offer when red flags are looked for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermValue


class PriceMode(StrEnum):
    """How firmly the machine is rented."""

    ON_DEMAND = "on_demand"
    RESERVED = "reserved"
    PREPAID = "prepaid"
    SPOT = "spot"
    SUBSCRIPTION = "subscription"
    CUSTOM = "custom"


@dataclass(frozen=True, slots=True)
class OfferFacts:
    """An offer as far as it is stated; None is not stated, never a no.

    `terms` are the technical promises, `words` the supplier's own text of a term before a unit was read into it.
    Prices per GPU-hour in `currency`; times in seconds; `stopped_rate` is the part of the price while stopped.
    `quoted`: a price is stated, in whatever unit; one per month is none per hour until its hours are said.
    `gpus_asked` is what the buyer wants; `valid_until` the last day of the quote, `day` the one it is looked at.
    """

    terms: Mapping[str, TermValue] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    currency: str | None = None
    price_gpu_hour: Decimal | None = None
    price_mode: PriceMode | None = None
    on_demand_gpu_hour: Decimal | None = None
    gpus_asked: int | None = None
    gpus_per_node: int | None = None
    whole_node_only: bool | None = None
    min_gpus: int | None = None
    granularity_s: int | None = None
    min_billed_s: int | None = None
    stopped_rate: Decimal | None = None
    bill_provisioning: bool | None = None
    bill_outage: bool | None = None
    tax_included: bool | None = None
    auto_renew: bool | None = None
    renew_charge_lead_days: int | None = None
    replace_s: int | None = None
    valid_until: date | None = None
    day: date | None = None
    quoted: bool = False

    @property
    def card(self) -> TermValue | None:
        """The promised model, of a GPU or else of an NPU."""
        return self.terms.get("gpu.model", self.terms.get("npu.model"))

    @property
    def card_memory_gb(self) -> TermValue | None:
        """The promised memory of a card, of a GPU or else of an NPU."""
        return self.terms.get("gpu.memory_gb", self.terms.get("npu.memory_gb"))


@dataclass(frozen=True, slots=True)
class MarketPrice:
    """One line of a public price list: a product id, name or family, per GPU-hour."""

    gpu_model: str
    price_gpu_hour: Decimal
    currency: str
    mode: PriceMode
    source: str
    day: date


@dataclass(frozen=True, slots=True)
class Reference:
    """What an offer is held against: the products, and the price lists that were imported."""

    gpus: GpuCatalogue
    market: tuple[MarketPrice, ...] = ()

    def products(self, word: TermValue | None) -> tuple[GpuModel, ...]:
        """The products that the word of a model may mean; () for no word, and for one that names none or several."""
        if not isinstance(word, str):
            return ()
        try:
            return self.gpus.promise(word).products
        except UsageError:
            return ()
