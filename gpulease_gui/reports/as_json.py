"""How is an evaluation written for machines?"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, RunFacts, TaskFacts
from gpulease_gui.reports.run_hash import both, finding_record
from gpulease_gui.reports.wording import utc_moment


def json_bytes(facts: EvaluationFacts) -> bytes:
    """UTF-8 JSON, the same bytes for the same facts; half surrogates of foreign text are escaped."""
    plain = json.dumps(_whole(facts), ensure_ascii=False, allow_nan=False, indent=1)
    try:
        return plain.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(_whole(facts), allow_nan=False, indent=1).encode() + b"\n"


def _whole(facts: EvaluationFacts) -> dict[str, object]:
    judged, stated = facts.coverage()
    contract = facts.contract
    return {
        "report": "evaluation", "demo": facts.demo, "tool_version": facts.tool_version, "made_at": _iso(facts.made_at),
        "supplier": {"name": facts.supplier.name, "country": facts.supplier.country},
        "contract": {
            "id": contract.id, "number": contract.number, "start": contract.start and contract.start.isoformat(),
            "end": contract.end and contract.end.isoformat(),
        },
        "promises": {c.term: {"value": c.value, "state": str(c.state), "source": c.source} for c in facts.promises},
        "verdict": str(facts.verdict), "sentence": both(facts.sentence),
        "coverage": {"judged": judged, "promised": stated}, "unchecked_terms": list(facts.unchecked),
        "nodes": [_node(node) for node in facts.nodes], "sha256": facts.hash,
    }  # fmt: skip


def _node(node: NodeFacts) -> dict[str, object]:
    place = node.node.address
    return {
        "id": node.node.id, "name": node.node.name, "address": place.host_port if place else node.node.target,
        "verdict": str(node.verdict), "run": _run(node.run) if node.run else None, "tasks": [_task(task) for task in node.tasks],
    }  # fmt: skip


def _task(task: TaskFacts) -> dict[str, object]:
    run, reading, told = task.run, task.run.reading, task.run.environment
    return {
        "id": run.id, "name": run.spec.name, "source": [str(run.spec.source.kind), run.spec.source.place], "command": run.spec.command,
        "started": _iso(run.started_at), "ended": _iso(run.ended_at), "end": str(run.end) if run.end else None, "exit_code": run.exit_code,
        "seconds": run.seconds, "driver": told.driver, "cuda": told.cuda, "torch": told.torch, "container": told.container, "gpus": list(told.gpus),
        "log_sha256": run.log_sha256, "repeat_command": run.repeat_command, "verdict": str(task.verdict) if task.verdict else None,
        "steps": reading.steps if reading else None, "first_loss": reading.first_loss if reading else None,
        "last_loss": reading.last_loss if reading else None,
        "rates": [{"unit": r.unit, "n": r.n, "median": r.median, "p5": r.p5, "p95": r.p95, "drift": r.drift} for r in reading.rates] if reading else [],
        "faults": [{"kind": f.kind, "line": f.number, "words": f.line} for f in reading.faults] if reading else [],
        "findings": [finding_record(f) for f in task.findings],
        "reference": {"node": task.beside.node, "verdict": str(task.beside.verdict), "words": both(task.beside.words)} if task.beside else None,
        "costs": [[both(label), both(amount)] for label, amount in task.costs],
    }  # fmt: skip


def _run(run: RunFacts) -> dict[str, object]:
    key = run.host_key
    return {
        "id": run.id, "started": _iso(run.started_at), "finished": _iso(run.finished_at), "sha256": run.hash,
        "clock_offset_s": run.clock_offset_s, "node_clock_at_start": _node_clock(run),
        "host_key": {"kind": key.kind, "fingerprint": key.fingerprint} if key else None,
        "driver": run.driver, "cuda": run.cuda,
        "devices": [{"index": d.index, "name": d.name, "uuid": d.uuid, "serial": d.serial} for d in run.devices],
        "unjudged_terms": list(run.unjudged), "findings": [finding_record(f) for f in run.findings],
        "evidence": [
            {
                "fact": line.fact_id, "command": line.command, "collected_at": _iso(line.collected_at),
                "exit_code": line.exit_code, "sha256": line.sha256, "cut": line.cut, "intact": line.intact,
            }
            for line in run.evidence
        ],
        "kept_readings": [
            {
                "start": _iso(datetime.fromtimestamp(one.start_s, UTC)), "end": _iso(datetime.fromtimestamp(one.end_s, UTC)),
                "sha256": one.sha256, "intact": not one.trouble, "trouble": both(one.trouble) if one.trouble else None,
            }
            for one in run.readings
        ],
    }  # fmt: skip


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _node_clock(run: RunFacts) -> str | None:
    if run.clock_offset_s is None:
        return None
    return utc_moment(run.started_at + timedelta(seconds=run.clock_offset_s))
