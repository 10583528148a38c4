"""How does a form import a quote step by step: read it, try it, save it, each off the main thread?"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.services import importing
from gpulease_gui.services.acting import user_name_in
from gpulease_gui.services.importing import DryRun
from gpulease_gui.services.importing_lines import Layout, columns_for, guess_layout, read_lines
from gpulease_gui.services.importing_memory import answers_in, mapping_text, remembered_in
from gpulease_gui.services.importing_rows import LeftOut
from gpulease_gui.services.importing_skips import left_out
from gpulease_gui.services.importing_sources import sheet_of_file, sheet_of_text
from gpulease_gui.services.importing_targets import Targets, targets_of
from gpulease_gui.services.jobs import Job
from gpulease_gui.store import suppliers
from gpulease_gui.store.exchange.plain_text import DELIMITERS, ENCODINGS
from gpulease_gui.store.exchange.sheet import Sheet, cell_text, column_letters

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services
    from gpulease_gui.store.doors import Database, Reader

__all__ = ["DELIMITERS", "ENCODINGS", "DryRun", "Layout"]
_SAMPLES = 3


@dataclass(frozen=True, slots=True)
class Source:
    """What is imported and how it is to be read: a file, or a text; "" and None are guessed."""

    path: Path | None = None
    text: str = ""
    as_chat: bool | None = None
    sheet: str = ""
    encoding: str = ""
    delimiter: str = ""

    @property
    def name(self) -> str:
        """How the act of the import names it."""
        return visible(self.path.name)[:80] if self.path else ""


@dataclass(frozen=True, slots=True)
class ColumnRow:
    """One column for eyes: its letters, its heading, a few of its cells, and what it is taken for."""

    place: int
    letters: str
    heading: str
    samples: str
    target: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table that was read, with its layout and the suppliers that it may belong to."""

    source: Source
    sheet: Sheet
    targets: Targets
    layout: Layout
    suppliers: tuple[Supplier, ...]
    supplier: Supplier | None = None
    left_out: tuple[LeftOut, ...] = ()  # filled, but not imported as the table was read

    def with_column(self, place: int, key: str) -> Loaded:
        """The same table with one column taken for something else."""
        return replace(self, layout=self.layout.with_column(place, key)).counted()

    def counted(self) -> Loaded:
        """The same table with what its layout leaves out."""
        return replace(self, left_out=_left_out(self.sheet, self.layout))

    def without_memory(self) -> Loaded:
        """The same table for a supplier that was never asked."""
        named = {name: answers for name, answers in self.layout.remembered.items() if name}
        return replace(self, layout=replace(self.layout, answers={}, remembered=named))

    def columns(self) -> tuple[ColumnRow, ...]:
        """The columns that hold anything."""
        rows = [_column(self.sheet, self.layout, place) for place in range(self.sheet.width)]
        return tuple(row for row in rows if row.heading or row.samples)

    def relaid(self, header: int | None) -> Loaded:
        """The same table with another row of headings (None = there is none)."""
        if header is None:
            return replace(self, layout=Layout(None, ("",) * self.sheet.width, self.layout.answers, remembered=self.layout.remembered)).counted()
        layout = columns_for(self.sheet, header, self.targets)
        return replace(self, layout=replace(layout, answers=self.layout.answers, remembered=self.layout.remembered)).counted()


def _left_out(sheet: Sheet, layout: Layout) -> tuple[LeftOut, ...]:
    return left_out(sheet, layout, range(0 if layout.header is None else layout.header + 1, len(sheet.rows)))


def _column(sheet: Sheet, layout: Layout, place: int) -> ColumnRow:
    first = 0 if layout.header is None else layout.header + 1
    heading = layout.headings(sheet)[place]
    filled = (cell_text(sheet.cell(row, place)) for row in range(first, min(len(sheet.rows), first + 50)))
    samples = [words for words in filled if words][:_SAMPLES]
    return ColumnRow(place, column_letters(place), heading, " · ".join(samples), layout.columns[place])


_IMPORT = Text("Import", "导入")


def load(services: Services, source: Source, supplier_id: str = "") -> Job:
    """Read the table in a job of the task strip; its result is a `Loaded`. Cancel ends the child that reads."""
    return services.jobs.start(_IMPORT, lambda token: _load(services, source, supplier_id, token))


def _load(services: Services, source: Source, supplier_id: str, token: CancelToken) -> Loaded:
    targets = targets_of(services.catalogue)
    if source.path is not None:
        sheet = sheet_of_file(source.path, sheet=source.sheet, encoding=source.encoding, delimiter=source.delimiter, cancel=token)
    else:
        sheet = sheet_of_text(source.text, targets, services.catalogue, as_chat=source.as_chat)
    token.check()
    with services.workspace.read() as connection:
        known = suppliers.list_suppliers(connection)
        chosen = next((s for s in known if s.id == supplier_id), None)
        kept, answers = remembered_in(connection, supplier_id), answers_in(connection, supplier_id)
    layout = guess_layout(sheet, targets, kept.columns)
    return Loaded(source, sheet, targets, replace(layout, remembered=answers), known, chosen).counted()


def for_supplier(services: Services, loaded: Loaded, supplier_id: str) -> Future[Loaded]:
    """The same table as the last one of this supplier was mapped, whatever the order of its columns."""

    def work(connection: Reader) -> Loaded:
        kept, answers = remembered_in(connection, supplier_id), answers_in(connection, supplier_id)
        chosen = next((s for s in loaded.suppliers if s.id == supplier_id), None)
        layout = guess_layout(loaded.sheet, loaded.targets, kept.columns) if kept.columns else loaded.layout
        return replace(loaded, layout=replace(layout, answers={}, remembered=answers), supplier=chosen).counted()

    return services.query(work)


def try_out(services: Services, loaded: Loaded) -> Job:
    """Hold every row against the workspace in a job; its result is a `DryRun`. Nothing is written."""

    def work(token: CancelToken) -> DryRun:
        found = read_lines(loaded.sheet, loaded.layout, loaded.targets, services.catalogue, token)
        with services.workspace.read() as connection:
            return importing.plan(connection, found, loaded.supplier, utc_now().date(), loaded.source.name)

    return services.jobs.start(_IMPORT, work)


def save(services: Services, loaded: Loaded, run: DryRun) -> Future[int]:
    """Save the rows as one act and remember the mapping; how many records changed."""
    mapping = mapping_text(loaded.sheet, loaded.layout, loaded.targets)

    def work(db: Database) -> int:
        return importing.save(db, run, by=user_name_in(db.conn), at=utc_now(), mapping=mapping)

    return services.change(work, "supplier", "offer", "claim", "price", "terms")


def target_choices(targets: Targets) -> Sequence[tuple[str, Text]]:
    """What a column can be, for a chooser: left out, the parts of an offer, the terms."""
    return (("", Text("left out", "不导入")), *((key, target.label) for key, target in targets.by_key.items()))


