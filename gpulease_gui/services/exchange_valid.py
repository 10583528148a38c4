"""Is what a bundle says such as this version's catalogue and rules can mean it?"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.fields import validate_terms
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import check_host, check_user, parse_jump
from gpulease_gui.reports.run_hash import run_hash
from gpulease_gui.services import exchange_live
from gpulease_gui.services.exchange_events import refuse_contradictions
from gpulease_gui.services.thresholds import all_thresholds
from gpulease_gui.store.codec import finding_from, maybe_value_from
from gpulease_gui.store.exchange.bundle_gaps import refuse_damaged_gaps
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_tasks import refuse_damaged_tasks
from gpulease_gui.store.exchange.bundle_watch import refuse_damaged_events
from gpulease_gui.store.term_versions import terms_from, terms_text

Figures = Mapping[tuple[str, str], Threshold]
_ASK = Text("ask who wrote it", "请询问文件的编写者")


def valid_bundle(bundle: Bundle, catalogue: Catalogue) -> Bundle:
    """The bundle without what this version's catalogue does not know. Raises UserFacing for a value that can't be meant.

    A run whose findings and outputs don't give the hash that stands beside them is refused, too: somebody changed them on
    the way. The hash is no signature: who changes a run can write another one.
    """
    _refuse_mixed(bundle)
    _refuse_changed_runs(bundle)
    refuse_damaged_tasks(bundle)
    refuse_damaged_events(bundle)
    refuse_contradictions(bundle)
    refuse_damaged_gaps(bundle)
    unknown = list(bundle.unknown)
    figures = {key: figure for key, (figure, _) in all_thresholds().items()} if any(bundle.of("thresholds")) else {}
    kept = []
    for record in bundle.records:
        known = _known_figure(record, figures, unknown) if record.section.name == "thresholds" else _known(record, catalogue, unknown)
        kept += [known] if known is not None else []
    return replace(bundle, records=tuple(kept), unknown=tuple(dict.fromkeys(unknown)))


def _known(record: Record, catalogue: Catalogue, unknown: list[str]) -> Record | None:
    name = record.section.name
    if name in ("claims", "claim_history") and record.key[2] not in catalogue.terms:
        unknown.append(f"{name}: {record.key[2][:60]}")
        return None
    if name == "claims":
        _refuse_claim(record, catalogue)
    if name in exchange_live.SECTIONS:
        return exchange_live.known_of_live(record, unknown)
    if name == "terms":
        return _known_terms(record, catalogue, unknown)
    if name == "term_versions":
        return _known_version(record, catalogue, unknown)
    return record


def _refuse_claim(record: Record, catalogue: Catalogue) -> None:
    value = maybe_value_from(json.loads(str(record.value("value"))))
    try:
        if value is not None:
            validate_term(record.key[2], value, catalogue)
    except UsageError as error:
        raise UserFacing(Text("a promise of the bundle can't be meant", "数据包中有一项无法成立的承诺"), error.what_text, error.next_text if error.next_text.en else _ASK) from error


def _known_terms(record: Record, catalogue: Catalogue, unknown: list[str]) -> Record:
    try:
        terms = terms_from(str(record.value("terms")))
        unknown += [f"terms: {key[:60]}" for key in terms.stated if key not in catalogue.fields]
        known = replace(terms, stated={key: said for key, said in terms.stated.items() if key in catalogue.fields})
        text = terms_text(validate_terms(known, catalogue.fields))
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise UserFacing(Text("commercial terms of the bundle are damaged", "数据包中的商务条款已损坏"), str(error)[:100], Text("export it again", "请重新导出")) from error
    except UsageError as error:
        raise UserFacing(Text("a term of the bundle can't be meant", "数据包中有一项无法成立的条款"), error.what_text, error.next_text if error.next_text.en else _ASK) from error
    return replace(record, fields=tuple((name, text if name == "terms" else value) for name, value in record.fields))


def _known_version(record: Record, catalogue: Catalogue, unknown: list[str]) -> Record | None:
    """An earlier version may hold what today's rules no longer take: it is left out then, and the rest is read."""
    try:
        return _known_terms(record, catalogue, unknown)
    except UserFacing as trouble:
        unknown.append(f"term_versions: {trouble.why[:60]}")
        return None


def _known_figure(record: Record, figures: Figures, unknown: list[str]) -> Record | None:
    check, name = record.group
    figure, value = figures.get((check, name)), record.value("value")
    if figure is not None and (value is None or figure.low <= float(str(value)) <= figure.high):
        return record
    unknown.append(f"thresholds: {check[:40]} {name[:40]}")
    return None


def _refuse_mixed(bundle: Bundle) -> None:
    for record in bundle.of("nodes", "runs"):
        is_demo = record.value("reach") == "demo" if record.section.name == "nodes" else bool(record.value("demo"))
        if is_demo != bundle.demo:
            raise UserFacing(Text("demo data and real data can't be merged", "演示数据与真实数据不能合并"), Text(f"the {record.section.kind} {record.key[0][:12]} is of the other kind", f"{record.section.kind} {record.key[0][:12]} 属于另一类"), Text("export it again", "请重新导出"))
        if record.section.name == "nodes":
            _refuse_address(record)


def _refuse_address(record: Record) -> None:
    """A way to a node is such as could have been typed: it goes to the network, and the names of jump hosts to ssh."""
    host, user = record.value("host"), record.value("user_name")
    try:
        if len({value is None for value in (host, user, record.value("port"))}) > 1:
            raise UsageError(Text("a part of its address is missing", "其地址缺少一部分"))
        if host is not None and user is not None:
            check_host(str(host))
            check_user(str(user))
        parse_jump(str(record.value("jump")))
    except UsageError as error:
        raise UserFacing(Text("a node of the bundle can't be meant", "数据包中有一个无法成立的节点"), error.what_text, error.next_text if error.next_text.en else _ASK) from error


def _refuse_changed_runs(bundle: Bundle) -> None:
    findings: dict[str, list[Finding]] = defaultdict(list)
    outputs: dict[str, list[str]] = defaultdict(list)
    for record in bundle.of("findings"):
        findings[str(record.value("run_id"))].append(finding_from(str(record.value("document"))))
    for record in bundle.of("outputs"):
        outputs[str(record.value("run_id"))].append(str(record.value("stdout_sha256")))
    for record in bundle.of("runs"):
        id_ = record.key[0]
        if run_hash(id_, _current(findings[id_]), outputs[id_]) != record.value("run_hash"):
            raise UserFacing(
                Text(f"the run {id_[:12]} was changed after it was exported", f"验收 {id_[:12]} 在导出后被改动"), Text("its findings and outputs don't give the hash that stands beside them", "其检查结果与原始输出算不出旁边的哈希"),
                Text("ask for the file again", "请重新索取该文件"),
            )  # fmt: skip


def _current(findings: list[Finding]) -> list[Finding]:
    """The newest finding of each question, in the order of saving."""
    newest = {(f.check, f.term, f.direction): place for place, f in enumerate(findings)}
    return [findings[place] for place in sorted(newest.values())]
