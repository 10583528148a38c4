"""Which commercial terms of a record are stated, on what evidence, and how did each of them come to be so?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.checklist import ChecklistItem
from gpulease_gui.catalog.fields import GROUPS, fields_of
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.commercial import Field, FieldValue, HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text
from gpulease_gui.store import attachments, deals, prices, suppliers, term_versions
from gpulease_gui.store.term_versions import TermsVersion

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class FieldRow:
    """One commercial term of a record. `said` None: nobody wrote anything. `evidence`: the name of the file behind it.

    `currency` is that of the record's price; "" when it has none. `items` are the checklist items that it answers.
    """

    field: Field
    said: Stated | None = None
    evidence: str = ""
    currency: str = ""
    items: tuple[Text, ...] = ()

    @property
    def key(self) -> str:
        """The key of the field."""
        return self.field.key

    @property
    def value(self) -> FieldValue | None:
        """What is stated; None = not stated, which is never a no."""
        return None if self.said is None else self.said.value

    @property
    def state(self) -> ClaimState:
        """Not asked, asked, the supplier's word, or a document."""
        if self.said is None or self.said.value is None:
            return ClaimState.ASKED if self.said is not None and self.said.asked else ClaimState.NOT_ASKED
        return ClaimState.ANSWERED if self.said.is_claim else ClaimState.EVIDENCED

    @property
    def question(self) -> Text:
        """What to ask the supplier while it is not stated."""
        label = self.field.label
        choices_en = " / ".join(choice.label.en for choice in self.field.choices)
        choices_zh = " / ".join(choice.label.zh for choice in self.field.choices)
        more_en, more_zh = (f" ({choices_en})", f"（{choices_zh}）") if choices_en else ("", "")
        return Text(
            f"What do you state for “{label.en}”{more_en}, and where is it written?", f"“{label.zh}”{more_zh}如何约定，写在哪份文件哪一条？"
        )


@dataclass(frozen=True, slots=True)
class FieldsSheet:
    """All commercial terms that a record can have, with the files that can prove them."""

    subject: Subject
    rows: tuple[FieldRow, ...]
    files: tuple[Attachment, ...]

    @property
    def stated(self) -> int:
        """How many are stated."""
        return sum(row.value is not None for row in self.rows)


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One change of one term: when (UTC), by whom, and what it was before and after. None = not stated."""

    at: datetime
    by: str
    why: str
    before: Stated | None
    after: Stated | None


@dataclass(frozen=True, slots=True)
class PartCounts:
    """How much there is of each part of a record: commercial terms stated and in all, prices, sites, files."""

    stated: int
    fields: int
    prices: int
    sites: int
    files: int


def counts_in(connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue) -> PartCounts:
    """The counts of a record's parts."""
    terms = term_versions.get_terms(connection, subject)
    stated = sum(said.value is not None for said in terms.stated.values())
    of_deal = subject.kind in (HolderOf.OFFER, HolderOf.CONTRACT)
    known = prices.list_prices(connection, deals.deal_number(connection, subject)) if of_deal else ()
    sites = suppliers.list_sites(connection, subject.id) if subject.kind is HolderOf.SUPPLIER else ()
    files = attachments.list_attachments(connection, subject)
    return PartCounts(stated, len(fields_of(catalogue.fields, subject.kind)), len(known), len(sites), len(files))


def fields_in(connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue) -> FieldsSheet:
    """The terms of a supplier, site, offer or contract in the order of screens, stated or not."""
    terms = term_versions.get_terms(connection, subject)
    files = attachments.list_attachments(connection, subject)
    proofs = attachments.get_attachments(connection, {said.evidence for said in terms.stated.values() if said.evidence})
    currency = _currency_in(connection, subject)
    names = {id_: file.name for id_, file in proofs.items()}
    rows = [
        _row(field, terms, names, currency, catalogue.checklist) for field in fields_of(catalogue.fields, subject.kind)
    ]
    place = {group: n for n, group in enumerate(GROUPS)}
    return FieldsSheet(subject, tuple(sorted(rows, key=lambda row: place[row.field.group])), files)


def _row(
    field: Field, terms: Terms, names: Mapping[str, str], currency: str, items: Mapping[str, ChecklistItem]
) -> FieldRow:
    said = terms.stated.get(field.key)
    proof = names.get(said.evidence, "") if said is not None and said.evidence else ""
    return FieldRow(field, said, proof, currency, tuple(items[item].text for item in field.items if item in items))


def _currency_in(connection: sqlite3.Connection, subject: Subject) -> str:
    if subject.kind not in (HolderOf.OFFER, HolderOf.CONTRACT):
        return ""
    return deals.get_deal(connection, subject).price_currency or ""


def field_history_in(connection: sqlite3.Connection, subject: Subject, key: str) -> tuple[FieldChange, ...]:
    """How one term changed, oldest first."""
    return changes_of(key, term_versions.list_terms_versions(connection, subject))


def changes_of(key: str, versions: Iterable[TermsVersion]) -> tuple[FieldChange, ...]:
    """Those of the versions that changed one term."""
    found: list[FieldChange] = []
    before: Stated | None = None
    for version in versions:
        after = version.terms.stated.get(key)
        if after != before:
            found.append(FieldChange(version.at, version.by, version.why, before, after))
        before = after
    return tuple(found)
