"""What is remembered of a supplier's tables, and for whose rows does an earlier answer hold?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gpulease_gui.services.commerce_edit import save_mapping
from gpulease_gui.services.importing_layout import Layout
from gpulease_gui.services.importing_lines import LEFT_OUT
from gpulease_gui.services.importing_targets import Targets
from gpulease_gui.store import suppliers
from gpulease_gui.store.exchange.sheet import Sheet
from gpulease_gui.store.reference import get_mapping

if TYPE_CHECKING:
    from gpulease_gui.services.importing import DryRun
    from gpulease_gui.store.doors import Database, Reader

KIND = "offers"


@dataclass(frozen=True, slots=True)
class Remembered:
    """How the sheets of a supplier were mapped: headings to targets, and the answers to its questions."""

    columns: Mapping[str, str] = field(default_factory=dict)
    answers: Mapping[str, str] = field(default_factory=dict)


def remembered_in(connection: Reader, supplier_id: str = "") -> Remembered:
    """What the last import of this supplier taught us; empty for the first one.

    "" are sheets that name their suppliers: their headings are remembered together, their answers with each supplier.
    """
    text = get_mapping(connection, supplier_id, KIND)
    said = json.loads(text) if text else {}
    if not isinstance(said, dict):
        return Remembered()
    return Remembered(_words_only(said.get("columns")), _words_only(said.get("answers")) if supplier_id else {})


def _words_only(said: object) -> Mapping[str, str]:
    return {str(key): str(value) for key, value in said.items()} if isinstance(said, dict) else {}


def answers_in(connection: Reader, supplier_id: str = "") -> Mapping[str, Mapping[str, str]]:
    """The remembered answers by the name of the supplier; "" = the supplier that is chosen for rows that name none."""
    known = suppliers.list_suppliers(connection)
    found = {one.name: remembered_in(connection, one.id).answers for one in known}
    found[""] = remembered_in(connection, supplier_id).answers
    return {name: answers for name, answers in found.items() if answers}


def mapping_text(sheet: Sheet, layout: Layout, targets: Targets) -> str:
    """What to remember of a layout: every heading that is mapped. The answers come from the rows, see `remember`."""
    columns: dict[str, str] = {}
    for heading, key in zip(layout.headings(sheet), layout.columns, strict=True):
        # A column that the user left out stays out, unless another one has its place.
        left_out = not key and targets.guess(heading) not in ("", *layout.columns)
        if heading and (key in targets.by_key or left_out):
            columns[heading] = key
    return _document(columns, {})


def _document(columns: Mapping[str, str], answers: Mapping[str, str]) -> str:
    return json.dumps({"columns": columns, "answers": answers}, ensure_ascii=False, sort_keys=True)


def remember(db: Database, run: DryRun, mapping: str) -> None:
    """Keep the headings for the sheets of this kind, and each answer with the supplier whose rows asked it; no step of its own."""
    ids = {row.line.supplier: row.offer.supplier_id for row in run.planned} | {"": run.owner}
    answers: dict[str, dict[str, str]] = {run.owner: {}}
    for given in run.lines.given:
        if given.option != LEFT_OUT and ids.get(given.supplier):
            answers.setdefault(ids[given.supplier], {})[given.question] = given.option
    for supplier_id, fresh in answers.items():
        kept = remembered_in(db.conn, supplier_id)
        columns = _words_only(json.loads(mapping).get("columns")) if supplier_id == run.owner else kept.columns
        save_mapping(db, supplier_id, KIND, _document(columns, {**kept.answers, **fresh}))
