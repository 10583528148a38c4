"""What does a report of a contract say, and how is it written to a file?"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.errors import Unreadable, UserFacing
from gpulease_gui.domain.finding import WORST_FIRST, Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Language, Text
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.facts.npu_smi import NpuReport
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.reports.assemble import assemble
from gpulease_gui.reports.document import Document
from gpulease_gui.reports.facts import CONCLUSIVE, Device, EvaluationFacts, EvidenceLine, KeyLine, NodeFacts, RunFacts
from gpulease_gui.reports.run_hash import joint_hash, run_hash
from gpulease_gui.services.acceptance import Acceptance, NodeAcceptance
from gpulease_gui.services.checklist_paper import checklist_facts
from gpulease_gui.services.kept_words import kept_readings
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.services.task_paper import task_facts
from gpulease_gui.services.whole_file import whole_file
from gpulease_gui.store import claims, evidence, hostkeys, inspection, nodes, runs, settings, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.imported import imported_from
from gpulease_gui.store.kept_state import kept_states
from gpulease_gui.store.records import KeyState, Report, Run, RunEvidence, RunState, new_id
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    import sqlite3

_KEY_WORDS = {
    KeyState.TRUSTED: Text("trusted", "信任"),
    KeyState.REPLACED: Text("replaced", "已替换"),
    KeyState.REFUSED: Text("refused", "拒绝"),
}
# The outputs that name the cards of a node; of a tampered one nothing is believed.
_IDENTITY = ("smi_xml", "npu_smi")


def evaluation_facts(
    connection: sqlite3.Connection, contract_id: str, catalogue: Catalogue, *, made_at: datetime | None = None
) -> EvaluationFacts:
    """Everything that a report of the contract says, as the store has it at this moment.

    Per node the newest finished run that was made for this contract. Raises UsageError for an unknown contract.
    """
    contract = suppliers.get_contract(connection, contract_id)
    held = claims.list_claims(connection, Holder.contract(contract_id))
    stated = {claim.term: claim.value for claim in held if claim.value is not None}
    checkable = {term for rule in rules().values() for term in rule.check.terms}
    rented = nodes.list_nodes(connection, contract_id)
    found = [_node_facts(connection, n, contract_id, stated, checkable & set(stated)) for n in rented]
    all_nodes = _worst_first([replace(n, tasks=task_facts(connection, n.node, contract_id, catalogue)) for n in found])
    acceptance = Acceptance(tuple(_acceptance(node) for node in all_nodes))
    now = made_at or utc_now()
    return EvaluationFacts(
        suppliers.get_supplier(connection, contract.supplier_id), contract, _ordered(held, catalogue), all_nodes,
        acceptance.verdict, acceptance.sentence, joint_hash(n.run.hash for n in all_nodes if n.run), now,
        catalogue.terms, tuple(term for term in stated if term not in checkable), _utc_offset_s(now), __version__,
        inspection.is_demo(connection), checklist_facts(connection, contract_id, catalogue, now.astimezone().date()),
    )  # fmt: skip


def _utc_offset_s(at: datetime) -> int:
    offset = at.astimezone().utcoffset()
    return int(offset.total_seconds()) if offset else 0


def _ordered(held: tuple[Claim, ...], catalogue: Catalogue) -> tuple[Claim, ...]:
    order = {term: place for place, term in enumerate(catalogue.terms)}
    return tuple(sorted(held, key=lambda claim: (order.get(claim.term, len(order)), claim.term)))


def _worst_first(all_nodes: list[NodeFacts]) -> tuple[NodeFacts, ...]:
    rank = {verdict: place for place, verdict in enumerate(WORST_FIRST)}
    return tuple(sorted(all_nodes, key=lambda node: (rank[node.verdict], node.node.name)))


def _acceptance(node: NodeFacts) -> NodeAcceptance:
    if node.run is None:
        return NodeAcceptance(node.node.id, node.node.name, None)
    broken = dict.fromkeys(f.check for f in node.run.findings if f.required and f.verdict is Verdict.FAIL)
    return NodeAcceptance(node.node.id, node.node.name, node.verdict, tuple(broken))


def _node_facts(
    connection: sqlite3.Connection, node: Node, contract_id: str, stated: Mapping[str, TermValue], checkable: set[str]
) -> NodeFacts:
    made = runs.list_runs(connection, node_id=node.id, contract_id=contract_id)
    latest = next((run for run in made if run.state is RunState.FINISHED), None)
    keys = tuple(
        KeyLine(d.key, _KEY_WORDS[d.state], d.decided_at, d.compared_with, d.why)
        for d in hostkeys.list_key_decisions(connection, node.id)
    )
    if latest is None:
        return NodeFacts(node, None, keys)
    states = kept_states(connection, latest.id)
    run = replace(_run_facts(connection, latest, stated, checkable), readings=kept_readings(states))
    return NodeFacts(node, run, keys, live_stretches(connection, latest, stated, run.findings, states))


def _run_facts(
    connection: sqlite3.Connection, run: Run, stated: Mapping[str, TermValue], checkable: set[str]
) -> RunFacts:
    findings = tuple(stored.finding for stored in runs.list_current_findings(connection, run.id))
    lines = evidence.list_run_evidence(connection, run.id)
    kept = tuple(_evidence(connection, line) for line in lines)
    unjudged, origin = _unjudged(run, findings, stated, checkable), imported_from(connection, run.id)
    devices, driver, cuda = _identity(connection, lines)
    return RunFacts(
        run.id, run.started_at, run.finished_at, _verdict(run, unjudged), findings, kept,
        run_hash(run.id, findings, [line.sha256 for line in kept]), run.tool_version, run.host_key, run.clock_offset_s,
        devices, driver, cuda, unjudged, origin.words if origin else NO_TEXT,
    )  # fmt: skip


def _unjudged(
    run: Run, findings: tuple[Finding, ...], stated: Mapping[str, TermValue], checkable: set[str]
) -> tuple[str, ...]:
    """Promises that no finding of the run speaks of, or that were others when it was made."""
    then, spoken = dict(run.terms), {finding.term for finding in findings}
    return tuple(term for term in stated if term in checkable and (term not in spoken or then.get(term) != stated[term]))


def _verdict(run: Run, unjudged: tuple[str, ...]) -> Verdict:
    if run.overall is None or (unjudged and run.overall in CONCLUSIVE and run.overall is not Verdict.FAIL):
        return Verdict.INCONCLUSIVE
    return run.overall


def _evidence(connection: sqlite3.Connection, line: RunEvidence) -> EvidenceLine:
    intact = True
    try:
        evidence.get_content(connection, line.stdout_sha256)
    except UserFacing:
        intact = False
    return EvidenceLine(
        line.fact_id, line.command, line.collected_at, line.exit_code, line.stdout_sha256, line.stdout_cut, intact
    )


def _identity(
    connection: sqlite3.Connection, lines: tuple[RunEvidence, ...]
) -> tuple[tuple[Device, ...], str | None, str | None]:
    """(cards, driver, CUDA) as the node's own tool names them; nothing where it could not be read."""
    for line in lines:
        if line.fact_id not in _IDENTITY:
            continue
        try:
            reading = read(readers()[line.fact_id], evidence.get_output(connection, line))
        except (Unreadable, UserFacing):
            continue
        if isinstance(reading, SmiReport) and reading.gpus:
            cards = tuple(Device(g.index, g.name, g.uuid, g.serial) for g in reading.gpus)
            return cards, reading.driver_version, reading.cuda_version
        if isinstance(reading, NpuReport) and reading.chips:
            return tuple(Device(i, c.name, None, None) for i, c in enumerate(reading.chips)), reading.version, None
    return (), None, None


def make_document(facts: EvaluationFacts, language: Language) -> Document:
    """The report in one language."""
    return assemble(facts, language)


def write_whole(path: Path, content: bytes) -> str:
    """Write `content` beside `path`, then put it in place; the answer is its SHA-256.

    A file that was there stays as it was until all is on the disk. Raises UserFacing.
    """
    try:
        with whole_file(path) as file:
            file.write(content)
    except OSError as error:
        raise UserFacing(Text(f"{path} can't be written", f"无法写入 {path}"), os_reason(error), Text("Name another file or folder", "请换一个文件或文件夹")) from error
    return hashlib.sha256(content).hexdigest()


def remember_report(workspace: Workspace, contract_id: str, path: Path, sha256: str, language: Language) -> None:
    """Keep that a report was written, with the hash of its bytes."""
    record = Report(new_id(), sha256, str(path.absolute()), str(language), utc_now(), contract_id)
    workspace.submit(lambda db: settings.save_report(db, record)).result()


def export(
    workspace_path: Path, contract_id: str, language: Language, out_path: Path, cancel: CancelToken, *, demo: bool = False
) -> Path:
    """Write the report by the program's own `export` in a child process, so that the window never waits for it.

    Blocks; cancelling ends the child and raises Cancelled. Raises UserFacing with the words of the child.
    """
    words = [
        "export", "--contract", contract_id, "--lang", str(language), "--out", str(out_path), "--workspace", str(workspace_path),
        *(["--demo"] if demo else []),
    ]  # fmt: skip
    write_by_child(words, out_path, cancel)
    return out_path


def write_by_child(words: Sequence[str], out_path: Path, cancel: CancelToken) -> None:
    """Run one of the program's own commands that writes `out_path`, in a child process.

    Blocks; cancelling ends the child and raises Cancelled. Raises UserFacing with the words of the child.
    """
    cancel.check()
    command = [sys.executable, "-m", "gpulease_gui.cli.main", *words]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        forget = cancel.on_cancel(child.kill)
        try:
            said = child.communicate()[1].decode("utf-8", "replace").strip()
        finally:
            forget()
    cancel.check()
    if child.returncode:
        why = said.splitlines()[-1].removeprefix(f"gpulease {words[0]}: ") if said else f"exit code {child.returncode}"
        raise UserFacing(Text(f"the report {out_path.name} was not written", f"未能生成报告 {out_path.name}"), why, Text("An earlier file of this name is unchanged", "原有的同名文件未变"))
