"""Which items does a checklist have, after the user's edits of the shipped template?"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.checklist import DIMENSIONS, ChecklistItem, Importance
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.acting import recorder
from gpulease_gui.store import reference
from gpulease_gui.store.codec import json_text

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class ItemEdit:
    """What the user changed of a shipped item; None = as shipped."""

    hidden: bool = False
    severity: Importance | None = None
    text: Text | None = None
    evidence: Text | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A checklist of the user's own: edits by item id, kept apart from what is shipped, and own items.

    `scenario` "" = for every use. A newer shipped list merges by id: new items appear, edits stay.
    """

    id: str
    name: str
    scenario: str = ""
    edits: Mapping[str, ItemEdit] = field(default_factory=dict)
    own: tuple[ChecklistItem, ...] = ()


def templates_in(connection: sqlite3.Connection) -> tuple[Template, ...]:
    """The user's templates by name; the shipped one is the template with the id ""."""
    return tuple(template_of(saved) for saved in reference.list_templates(connection))


def template_in(connection: sqlite3.Connection, template_id: str) -> Template:
    """One template; the shipped one for "" and for one that is gone."""
    shipped = Template("", "")
    return next((template for template in templates_in(connection) if template.id == template_id), shipped)


def items_of(shipped: Mapping[str, ChecklistItem], template: Template, scenario: str | None = None) -> tuple[ChecklistItem, ...]:
    """The items of a template, hidden ones left out; with `scenario` only those that count in it."""
    kept = [_edited(item, template.edits[item.id]) if item.id in template.edits else item for item in shipped.values()]
    hidden = {id_ for id_, edit in template.edits.items() if edit.hidden}
    whole = (*kept, *template.own)
    order = {dimension: place for place, dimension in enumerate(DIMENSIONS)}
    chosen = [item for item in whole if item.id not in hidden and (not scenario or not item.scenarios or scenario in item.scenarios)]
    return tuple(sorted(chosen, key=lambda item: order.get(item.dimension, len(order))))


def _edited(item: ChecklistItem, edit: ItemEdit) -> ChecklistItem:
    """Words of the user's own are also what a supplier is asked; so is an item that was ours."""
    return replace(
        item, severity=edit.severity or item.severity, text=edit.text or item.text, evidence=edit.evidence or item.evidence,
        ask=NO_TEXT if edit.text else item.ask, asks_for=NO_TEXT if edit.text or edit.evidence else item.asks_for,
        ours=item.ours and edit.text is None,
    )  # fmt: skip


def save_template(db: Database, template: Template, shipped: Mapping[str, ChecklistItem]) -> Template:
    """Keep a template as one step. Raises UsageError without a name, or for an own item that can't be."""
    if not template.name.strip():
        raise UsageError(Text("a template needs a name", "模板需要名称"), next_step=Text("write one, such as training cluster", "请填写，如“训练集群”"))
    _refuse_items(template.own, shipped)
    acting = recorder(db)
    acting.put("template", (template.id,), {"name": template.name.strip(), "scenario": template.scenario, "document": document_of(template)})
    acting.finish(Text(f"save template {template.name}", f"保存模板 {template.name}"))
    return template


def _refuse_items(own: Iterable[ChecklistItem], shipped: Mapping[str, ChecklistItem]) -> None:
    seen = set(shipped)
    for item in own:
        if item.id in seen or not item.id.strip():
            raise UsageError(Text(f"an item {item.id!r} is there already", f"已有条目 {item.id!r}"), next_step=Text("give the own item another id, such as OWN-01", "请为自有条目换一个编号，如 OWN-01"))
        if item.dimension not in DIMENSIONS or not (item.text.en.strip() or item.text.zh.strip()):
            raise UsageError(Text(f"{item.id}: a dimension and a text are needed", f"{item.id}：需要维度与文字"), next_step=Text(f"the dimensions are {', '.join(DIMENSIONS)}", f"维度为 {', '.join(DIMENSIONS)}"))
        seen.add(item.id)


def remove_template(db: Database, template_id: str) -> None:
    """Delete a template as one step; checklists made from it show the shipped one. Undo brings it back."""
    acting = recorder(db)
    acting.put("template", (template_id,), None)
    acting.finish(Text("delete a template", "删除模板"))


def document_of(template: Template) -> str:
    """The edits and own items of a template as the text that the store keeps; `template_of` reads it."""
    edits = {id_: _edit_text(edit) for id_, edit in sorted(template.edits.items()) if edit != ItemEdit()}
    return json_text({"edits": edits, "own": [_item_text(item) for item in template.own]})


def _edit_text(edit: ItemEdit) -> dict[str, object]:
    whole = {"hidden": edit.hidden, "severity": edit.severity, "text": _words(edit.text), "evidence": _words(edit.evidence)}
    return {key: value for key, value in whole.items() if value}


def _item_text(item: ChecklistItem) -> dict[str, object]:
    return {
        "id": item.id, "dimension": item.dimension, "severity": item.severity, "text": _words(item.text),
        "evidence": _words(item.evidence), "scenarios": list(item.scenarios), "applies_if": item.applies_if,
    }  # fmt: skip


def template_of(saved: reference.NamedDocument) -> Template:
    """The template that was written as a document. Raises ValueError, KeyError or TypeError for text that is none."""
    said = json.loads(saved.document)
    edits = {id_: _edit(edit) for id_, edit in said["edits"].items()}
    return Template(saved.id, saved.name, saved.scenario, edits, tuple(_item(item) for item in said["own"]))


def _edit(said: dict[str, Any]) -> ItemEdit:
    severity = Importance(said["severity"]) if "severity" in said else None
    return ItemEdit(said.get("hidden", False), severity, _text_from(said.get("text")), _text_from(said.get("evidence")))


def _item(said: dict[str, Any]) -> ChecklistItem:
    evidence = _text_from(said["evidence"]) or Text("", "")
    return ChecklistItem(
        said["id"], said["dimension"], Importance(said["severity"]), _text_from(said["text"]) or Text("", ""), evidence,
        tuple(said["scenarios"]), said["applies_if"],
    )  # fmt: skip


def _words(text: Text | None) -> dict[str, str] | None:
    return None if text is None else {"en": text.en, "zh": text.zh}


def _text_from(said: dict[str, str] | None) -> Text | None:
    return None if said is None else Text(said["en"], said["zh"])
