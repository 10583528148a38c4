"""What did the demo's suppliers answer before anything was measured?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING

from gpulease_gui.catalog.loader import build, read_toml, resource
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.span import utc_now
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.services.checklist_edit import Given, put_answers
from gpulease_gui.store import answers, deals
from gpulease_gui.store.journal import Recorder

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class DemoWaiver:
    """An item that somebody lets pass for some days from now."""

    item: str
    by: str
    reason: str
    days: int


@dataclass(frozen=True, slots=True)
class DemoAnswers:
    """Items of one quote by kind of answer. `reason` is why some do not apply; `notes` stand beside items."""

    quote_no: str
    said: tuple[str, ...]
    documented: tuple[str, ...]
    partly: tuple[str, ...]
    no: tuple[str, ...]
    asked: tuple[str, ...]
    not_applicable: tuple[str, ...]
    reason: str
    notes: Mapping[str, str] = field(default_factory=dict)
    waiver: tuple[DemoWaiver, ...] = ()

    def given(self) -> Iterator[tuple[str, Given]]:
        """Every item with its answer."""
        parts = (
            (self.said, Given(AnswerState.ANSWERED, AnswerValue.YES)), (self.documented, Given(AnswerState.EVIDENCED, AnswerValue.YES)),
            (self.partly, Given(AnswerState.ANSWERED, AnswerValue.PARTLY)), (self.no, Given(AnswerState.ANSWERED, AnswerValue.NO)),
            (self.asked, Given(AnswerState.ASKED)), (self.not_applicable, Given(AnswerState.NOT_APPLICABLE, note=self.reason)),
        )  # fmt: skip
        for items, given in parts:
            yield from ((item, given) for item in items)
        yield from ((item, Given(note=note)) for item, note in self.notes.items())


@dataclass(frozen=True, slots=True)
class _File:
    deal: tuple[DemoAnswers, ...]


@cache
def load_demo_answers() -> Mapping[str, DemoAnswers]:
    """The answers of resources/demo/answers.toml by quote number. Raises CatalogueFault."""
    return {deal.quote_no: deal for deal in build(_File, read_toml(resource("demo", "answers.toml")), "answers.toml").deal}


def put_answers_of(db: Database, subject: Subject, quote_no: str, by: str) -> None:
    """Write the answers of a quote into its offer; nothing that could be taken back."""
    known = load_demo_answers().get(quote_no)
    if known is None:
        return
    acting, deal = Recorder(db, by, utc_now(), "demo"), deals.enter(db, subject)
    for item, given in known.given():
        put_answers(acting, deal, [item], given)
    for waiver in known.waiver:
        until = acting.at.date() + timedelta(days=waiver.days)
        acting.put("waiver", (deal, waiver.item), answers.waiver_document(Waiver(waiver.by, waiver.reason, until), acting.at))
    acting.settle()
