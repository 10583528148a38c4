"""What does a comparison of offers consist of: heads, groups, rows and cells?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.economics.flag import FlagFinding, FlagState
from gpulease_gui.economics.ranking import Candidate, Front, Sensitivity, pareto
from gpulease_gui.services.commerce_cost import DealCost
from gpulease_gui.services.commerce_score import DealScore
from gpulease_gui.services.commercial_words import NOT_STATED
from gpulease_gui.services.market_view import MarketPlace
from gpulease_gui.services.price_period import PricePer
from gpulease_gui.store.deals import DealRow


class CellState(StrEnum):
    """Whether a cell says something. Not converted: stated, but no rate is known for its currency."""

    STATED = "stated"
    NOT_STATED = "not_stated"
    NOT_CONVERTED = "not_converted"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of one offer. `original` is the value as it was agreed, where it was converted.

    `claim` says how far a promise is proven and `measured` what a run found; `number` is what is compared. `best` marks
    the best of the row, `flag` is a warning about this value. `assumed` is what nobody stated and the figure rests on: a
    best one is then the best with assumptions, and says so.
    """

    text: Text = NOT_STATED
    state: CellState = CellState.NOT_STATED
    number: Decimal | None = None
    original: Text = NO_TEXT
    claim: ClaimState | None = None
    measured: Text = NO_TEXT
    best: bool = False
    flag: Text = NO_TEXT
    assumed: tuple[Text, ...] = ()
    amount: Money | None = None  # the money of `text`, as it is shown
    figure: Decimal | None = None  # what a spreadsheet can count with, in `unit`; money is in `amount`
    unit: Text = NO_TEXT

    @property
    def mark(self) -> Text:
        """The word of the best of a row; nothing for the others."""
        return NO_TEXT if not self.best else BEST_ASSUMED if self.assumed else BEST


BEST, BEST_ASSUMED = Text("best", "最优"), Text("best, with assumptions", "最优（含假设）")
BEST_UNSURE = Text("best?", "最优？")  # the same where there is no room


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One line. `better` more, less, yes or no tells which cell is best; "" = no order."""

    key: str
    group: str
    label: Text
    cells: tuple[Cell, ...]
    better: str = ""

    @property
    def differs(self) -> bool:
        """Whether the offers do not all say the same."""
        return len({(cell.state, cell.text, cell.measured) for cell in self.cells}) > 1


@dataclass(frozen=True, slots=True)
class CompareGroup:
    """A heading over rows."""

    key: str
    title: Text


@dataclass(frozen=True, slots=True)
class CompareHead:
    """The top of one column. `cost` None: no workload, or `trouble` says why it can't be counted.

    `market` says where the offer lies among the public prices that were imported.
    """

    row: DealRow
    score: DealScore
    flags: tuple[FlagFinding, ...]
    cost: DealCost | None = None
    trouble: str = ""
    market: MarketPlace | None = None

    @property
    def name(self) -> str:
        """How the ranking knows this column."""
        return str(self.row.deal)

    @property
    def raised(self) -> tuple[FlagFinding, ...]:
        """The red flags that were seen; open ones are questions."""
        return tuple(found for found in self.flags if found.flagged.state is FlagState.RAISED)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole matrix, its prices in `currency` per `per`. `rates` converted it; `missing_rates` are currencies without one.

    `sensitivity` None: fewer than two offers have a score; its names are those of the heads.
    """

    heads: tuple[CompareHead, ...]
    groups: tuple[CompareGroup, ...]
    rows: tuple[CompareRow, ...]
    currency: str
    rates: tuple[FxRate, ...] = ()
    missing_rates: tuple[str, ...] = ()
    stable: bool | None = None
    sensitivity: Sensitivity | None = None
    per: PricePer = PricePer.GPU_HOUR

    def row(self, key: str) -> CompareRow | None:
        """A row by its key."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def front(self) -> Front:
        """The offers that nothing beats in both score and cost."""
        return pareto(
            Candidate(head.name, head.score.score.status, head.score.score.score_low, head.cost.converted if head.cost else None)
            for head in self.heads
        )

    def arranged(self, order: Sequence[int]) -> Comparison:
        """The same with the columns in another order (places of now)."""
        rows = tuple(replace(row, cells=tuple(row.cells[n] for n in order)) for row in self.rows)
        return replace(self, heads=tuple(self.heads[n] for n in order), rows=rows)

    def rows_of(self, group: str, *, differences_only: bool = False) -> tuple[CompareRow, ...]:
        """The rows of a group."""
        return tuple(row for row in self.rows if row.group == group and (row.differs or not differences_only))

    @property
    def differing(self) -> int:
        """How many rows differ."""
        return sum(row.differs for row in self.rows)


def marked(row: CompareRow) -> CompareRow:
    """The row with its best cells marked: none where all are alike, or fewer than two say anything.

    A refuted promise is never the best.
    """
    worth = [_worth(cell, row.better) for cell in row.cells]
    known = [value for value in worth if value is not None]
    if not row.better or len(known) < 2 or len(set(known)) < 2:
        return row
    top = max(known)
    return replace(row, cells=tuple(replace(cell, best=value == top) for cell, value in zip(row.cells, worth, strict=True)))


def flagged(row: CompareRow, heads: Sequence[CompareHead]) -> CompareRow:
    """The row with the reason of every red flag that speaks of it."""
    reasons = [next((f.flagged.reason for f in head.raised if f.flag.about == row.key), NO_TEXT) for head in heads]
    if not any(reason.en for reason in reasons):
        return row
    return replace(row, cells=tuple(replace(cell, flag=reason) for cell, reason in zip(row.cells, reasons, strict=True)))


def _worth(cell: Cell, better: str) -> Decimal | None:
    if cell.number is None or cell.claim is ClaimState.REFUTED or cell.state is not CellState.STATED:
        return None
    return cell.number if better in ("more", "yes") else -cell.number
