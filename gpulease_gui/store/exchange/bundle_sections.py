"""Which records does an exchange bundle hold?

The sections stand in the order in which they are written: what others refer to comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.domain.task import TaskEnd
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.offer_facts import PriceMode
from gpulease_gui.store.exchange import bundle_rules as may
from gpulease_gui.store.exchange.bundle_rules import Rule, at, day, maybe, money, one_of, text
from gpulease_gui.store.exchange.bundle_tasks import hexed, task_run, task_spec
from gpulease_gui.store.records import RunKind, RunState, SightingKind

Value = str | int | float | None

_unit, _mode = one_of(*PriceUnit), one_of(*PriceMode)
_deal: Mapping[str, Rule] = {"holder_kind": one_of("offer", "contract"), "holder_id": text}
_holder: Mapping[str, Rule] = {"holder_kind": one_of("supplier", "site", "offer", "contract"), "holder_id": text}
_id: Mapping[str, Rule] = {"id": text}
_place: Mapping[str, Rule] = {"place": may.whole}
_PRICE: Mapping[str, Rule] = {"price_amount": maybe(money), "price_currency": maybe(may.currency), "price_unit": _unit}
_STATED: Mapping[str, Rule] = {
    "amount": money, "currency": may.currency, "unit": _unit, "mode": maybe(_mode), "valid_from": maybe(day), "valid_to": maybe(day),
    "tax_included": maybe(may.bit), "tax_rate": maybe(money), "invoice_kind": text, "evidence_id": maybe(text), "note": text,
}  # fmt: skip
_SAVED: Mapping[str, Rule] = {"saved_at": at, "saved_by": text, "why": text}
_TERMS: Mapping[str, Rule] = {"terms": may.json_values, "tool_version": text}


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a bundle: its name, the kind of record, which fields are its key, and what each field may be.

    `refers` names the fields that point to records of another section; `added` what a field is that older files lack;
    `follows` the fields that follow from other records: they tell a reader, and are no difference; `later` the fields that
    version 1 lacks: what stands here stays then; `stamps` say who and when: no difference by themselves. `fixed` records never change: one is added, or is the same. Those of
    `part_of` belong to one record of that section and come with it only. Those of `history` are earlier states; their key
    ends in their place, by which none is told from another.
    """

    name: str
    kind: str
    key: Mapping[str, Rule]
    fields: Mapping[str, Rule]
    refers: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, Value] = field(default_factory=dict)
    follows: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    stamps: tuple[str, ...] = ()
    fixed: bool = False
    part_of: str = ""
    history: bool = False


_RECORDS: tuple[Section, ...] = (
    Section("suppliers", "supplier", _id, {"name": text, "country": text, "contact": text, "note": text}),
    Section("sites", "site", _id, {"supplier_id": text, "name": text, "city": text, "country": text, "note": text}, {"supplier_id": "suppliers"}),
    Section("offers", "offer", _id, {"supplier_id": text, "quote_no": text, "title": text, **_PRICE, "valid_until": maybe(day), "note": text},
            {"supplier_id": "suppliers"}, follows=tuple(_PRICE)),
    Section("contracts", "contract", _id, {"supplier_id": text, "number": text, "offer_id": maybe(text), "start_date": maybe(day),
            "end_date": maybe(day), **_PRICE, "note": text}, {"supplier_id": "suppliers", "offer_id": "offers"}, follows=tuple(_PRICE)),
    Section("nodes", "node", _id, {"name": text, "reach": one_of("ssh", "demo"), "host": maybe(text), "port": maybe(may.port), "user_name": maybe(text),
            "contract_id": maybe(text), "auth": one_of(*AuthMethod), "demo_name": text, "use_sudo": may.bit, "note": text, "jump": text,
            "host_key_alias": text}, {"contract_id": "contracts"}),
    Section("attachments", "attachment", _id, {**_holder, "sha256": may.sha256, "name": text, "kind": text, "note": text, "added_at": at, "added_by": text},
            {"holder_id": "holder"}, stamps=("added_at", "added_by")),
    Section("claims", "claim", {**_deal, "term": text}, {"value": may.json_value, "state": one_of(*ClaimState), "source": text, "note": text,
            "node_id": maybe(text)}, {"holder_id": "holder", "node_id": "nodes"}, later=("node_id",)),
    Section("terms", "terms", _holder, {"terms": may.json_object}, {"holder_id": "holder"}),
    Section("prices", "price", _id, {**_deal, **_STATED}, {"holder_id": "holder"}),
    Section("answers", "answer", {**_deal, "item_id": text}, {"state": one_of(*AnswerState), "value": one_of(*AnswerValue),
            "basis": maybe(one_of("reported", "measured")), "measured": maybe(money), "note": text, "evidence": may.json_list, "answered_at": at,
            "answered_by": text, "run_id": maybe(text)}, {"holder_id": "holder", "run_id": "runs"}, later=("run_id",), stamps=("answered_at", "answered_by")),
    Section("waivers", "waiver", {**_deal, "item_id": text}, {"given_by": text, "reason": text, "expires": day, "given_at": at}, {"holder_id": "holder"},
            stamps=("given_at",)),
    Section("setups", "setup", _deal, {"template_id": text, "scenario": text}, {"holder_id": "holder"}),
    Section("templates", "template", _id, {"name": text, "scenario": text, "document": may.json_object}),
    Section("weights", "weight", {"scenario": text, "dimension": text}, {"weight": money}),
    Section("workloads", "workload", _id, {"name": text, "document": may.json_object}),
    Section("mappings", "mapping", {"supplier_id": text, "kind": text}, {"document": may.json_object}),
    Section("market", "market", _id, {"import_id": text, "gpu_model": text, "price_gpu_hour": money, "currency": may.currency, "mode": _mode,
            "source": text, "day": day}),
    Section("rates", "rate", {"from_currency": may.currency, "to_currency": may.currency, "day": day, "rate": may.factor, "source": text,
            "surcharge": may.share}, {}, added={"surcharge": "0"}),
    Section("settings", "setting", {"key": text}, {"value": may.stated}),
    Section("task_specs", "task_spec", {"name": text}, {"saved_at": at, "document": task_spec}, stamps=("saved_at",)),
)  # fmt: skip

_PACKAGES: tuple[Section, ...] = (
    Section("runs", "run", _id, {"node_id": text, "started_at": at, "contract_id": maybe(text), "finished_at": maybe(at),
            "state": one_of(RunState.FINISHED, RunState.CANCELLED, RunState.INTERRUPTED), "overall": maybe(one_of(*Verdict)), **_TERMS,
            "host_key_type": maybe(text), "host_key_fingerprint": maybe(text), "demo": may.bit, "clock_offset_s": maybe(may.number),
            "kind": one_of(*RunKind), "original_id": maybe(text), "run_hash": may.sha256},
            {"node_id": "nodes", "contract_id": "contracts", "original_id": "runs"}, fixed=True),
    Section("outputs", "output", _id, {"run_id": text, "fact_id": text, "command": text, "collected_at": at, "exit_code": maybe(may.whole),
            "seconds": may.number, "stdout_sha256": may.sha256, "stderr_sha256": maybe(may.sha256), "stdout_cut": may.bit, "stderr_cut": may.bit},
            {"run_id": "runs"}, part_of="runs"),
    Section("findings", "finding", _id, {"run_id": text, "saved_at": at, "document": may.finding}, {"run_id": "runs"}, part_of="runs"),
    Section("sightings", "sighting", {"run_id": text, **_place}, {"node_id": text, "seen_at": at, "kind": one_of(*SightingKind), "value": text,
            "faulty": may.bit}, {"run_id": "runs", "node_id": "nodes"}, part_of="runs"),
    Section("marks", "mark", _id, {"node_id": text, "run_id": maybe(text), "at": at, "kind": text, "words": text},
            {"node_id": "nodes", "run_id": "runs"}, fixed=True),
    Section("pastes", "paste", _id, {"contract_id": maybe(text), "pasted_at": at, **_TERMS, "overall": one_of(*Verdict)},
            {"contract_id": "contracts"}, fixed=True),
    Section("paste_outputs", "paste_output", {"paste_id": text, **_place}, {"fact_id": maybe(text), "source": text, "command": text,
            "sha256": may.sha256, "cut": may.bit}, {"paste_id": "pastes"}, part_of="pastes"),
    Section("paste_findings", "paste_finding", {"paste_id": text, **_place}, {"document": may.finding}, {"paste_id": "pastes"}, part_of="pastes"),
    Section("task_runs", "task_run", {"run_id": text}, {"node_id": text, "task": text, "started_at": at, "ended_at": maybe(at), "seen_at": at,
            "ending": one_of(*TaskEnd), "exit_code": maybe(may.whole), "log_sha256": maybe(may.sha256), "document": task_run},
            {"run_id": "runs", "node_id": "nodes"}, fixed=True),
    Section("task_curves", "task_curve", {"run_id": text, **_place}, {"first": may.whole, "count": may.whole, "units": may.json_list, "float64_hex": hexed},
            {"run_id": "task_runs"}, part_of="task_runs"),
    Section("task_logs", "task_log", {"run_id": text, **_place}, {"full_size": may.whole, "zlib_hex": hexed}, {"run_id": "task_runs"}, part_of="task_runs"),
    Section("watch_events", "watch_event", {"id": may.name}, {"node_id": text, "rule": may.name, "subject": may.name, "began_ns": may.nanoseconds,
            "ended_ns": may.nanoseconds, "degraded": may.bit, "document": may.finding, "sha256": may.sha256}, {"node_id": "nodes"}, fixed=True),
    Section("watch_gaps", "watch_gap", {"node_id": text, "began_ns": may.nanoseconds, "ended_ns": may.nanoseconds, "reason": may.name, "metrics": may.name},
            {}, {"node_id": "nodes"}),
)  # fmt: skip

_HISTORIES: tuple[Section, ...] = (
    Section("term_versions", "term_version", {**_holder, **_place}, {"terms": may.json_object, **_SAVED}, {"holder_id": "holder"}, history=True),
    Section("price_versions", "price_version", {"price_id": text, **_place}, {**_deal, **_STATED, "withdrawn": may.bit, **_SAVED},
            {"holder_id": "holder"}, history=True),
    Section("claim_history", "claim_change", {**_deal, "term": text, **_place}, {"at": at, "changed_by": text, "value": maybe(may.stated),
            "state": one_of(*ClaimState), "note": text}, {"holder_id": "holder"}, history=True),
    Section("earlier", "earlier", {"record_kind": one_of("supplier", "site", "offer", "contract", "attachment", "answer", "waiver", "setup", "template",
            "weight", "workload", "mapping", "market"), "holder_kind": one_of("", "offer", "contract"), "holder_id": text, "record": text, **_place},
            {"document": may.json_object, "replaced_at": at, "replaced_by": text, "why": text}, history=True),
    Section("thresholds", "threshold", {"check_id": text, "name": text, **_place}, {"value": maybe(may.figure), "unit": text, "set_at": at,
            "set_by": text, "why": text}, history=True),
    Section("task_references", "task_reference", {"task": text, **_place}, {"run_id": maybe(text), "marked_at": at, "marked_by": text, "why": text},
            {"run_id": "task_runs"}, history=True),
    Section("trash", "trash", {"record_kind": one_of("supplier", "site", "offer", "contract", "attachment"), "record_id": text},
            {"deleted_at": at, "deleted_by": text, "why": text}),
)  # fmt: skip

SECTIONS = (*_RECORDS, *_PACKAGES, *_HISTORIES)
# What the files of version 1 hold; the sections and fields that came later are none of theirs.
FIRST_SECTIONS = frozenset(section.name for section in _RECORDS) - {"nodes", "settings", "task_specs"}


def section_of(kind: str) -> Section:
    """The section of a kind of record. Raises StopIteration for an unknown one."""
    return next(section for section in SECTIONS if section.kind == kind)
