"""What do outputs say that a supplier sent in a chat?

They are read and judged like our own, but nobody saw which machine they came from. So every finding says "as sent by
the supplier" and is at most reported; a pass makes a claim evidenced (a document), never verified. A fail refutes it:
the supplier's own words contradict its promise, and any node's pass verifies it again. What a node of ours has decided
is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import Rule, rules
from gpulease_gui.checks.history import NO_HISTORY
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import NOTHING_MOVED, Thresholds
from gpulease_gui.checks.trust_cross_sources import CHECK as CROSS_SOURCES
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import WORST_FIRST, Basis, Finding, Reason, Verdict, overall
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.fact import Reader, read, readers
from gpulease_gui.facts.unreadable_words import unreadable_words
from gpulease_gui.services.judging import Judging, RuleFault
from gpulease_gui.services.pasted_pieces import Piece
from gpulease_gui.services.pasted_sources import (
    Contradiction,
    Sent,
    Source,
    contradictions,
    merged,
    sources_of,
    told_by,
)
from gpulease_gui.store import claims, doors
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.pastes import list_pastes, save_paste
from gpulease_gui.store.records import EvidenceBlob, Paste, PastedOutput, new_id
from gpulease_gui.store.workspace import Workspace

UNKNOWN_KIND = Text(
    "no known tool prints this; name the kind, or paste one output at a time",
    "没有工具会输出这样的内容；请指明类型，或每次只粘贴一段输出",
)
BY = "supplier"


@dataclass(frozen=True, slots=True)
class PieceReading:
    """One output with what it says: `values` by key as `gpulease parse` has them, `problem` why there are none."""

    piece: Piece
    blob: EvidenceBlob
    title: Text
    values: tuple[tuple[str, object], ...] = ()
    problem: Text | None = None
    reading: object | None = None
    trouble: Unreadable | None = None
    note: Text | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """All that was pasted at one time: the outputs, what the rules say of them against `terms`, rules of ours that broke."""

    outputs: tuple[PieceReading, ...]
    findings: tuple[Finding, ...]
    terms: Mapping[str, TermValue]
    broken: tuple[str, ...] = ()

    @property
    def overall(self) -> Verdict:
        """By the required findings, as of a run."""
        return overall(self.findings)


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask the supplier for one term: the command to run, and a message around it."""

    term: str
    command: str
    message: Text
    line: Text = NO_TEXT  # the command in both languages: what is to be filled in stands in words


def read_piece(piece: Piece) -> PieceReading:
    """What one output says. Never raises for anything that stands in it."""
    blob = EvidenceBlob.of(piece.data, cut=piece.cut)
    reader = readers().get(piece.kind or "")
    if reader is None:
        return PieceReading(piece, blob, Text("not recognised", "未能识别"), problem=UNKNOWN_KIND)
    return _read(piece, blob, reader, CommandOutput(piece.data, stdout_cut=piece.cut))


def _read(piece: Piece, blob: EvidenceBlob, reader: Reader, output: CommandOutput) -> PieceReading:
    title = reader.fact.title
    try:
        reading = read(reader, output)
    except Unreadable as trouble:
        values = _values(reader, trouble.reading) if trouble.reading is not None else ()
        said = unreadable_words(trouble.reason)
        words = Text(said.en, f"读取失败：{said.zh}")
        return PieceReading(piece, blob, title, values, words, None, trouble)
    return PieceReading(piece, blob, title, _values(reader, reading), None, reading)


def _values(reader: Reader, reading: object) -> tuple[tuple[str, object], ...]:
    return tuple((key, value) for key, value in reader.as_dict(reading).items() if value is not None)


def judge_pieces(
    catalogue: Catalogue, pieces: Sequence[Piece], terms: Mapping[str, TermValue], thresholds: Thresholds = NOTHING_MOVED
) -> Judged:
    """Read every piece and judge what can be judged of it; a term that none answers stays open. Uses no store."""
    outputs = tuple(read_piece(piece) for piece in pieces)
    promise = Promise(catalogue, terms, thresholds=thresholds)
    sources = sources_of(
        Sent(o.piece.kind, o.piece.source or o.piece.command, o.reading, o.trouble, o.blob.sha256) for o in outputs if o.piece.kind
    )
    torn = contradictions(sources)
    found, broken = _findings(sources, promise, torn)
    found += [_torn(one, sources) for one in torn]
    if sources:
        found += [_open(term, value, rule) for term, value in terms.items() if (rule := unanswered(term, found)) is not None]
    return Judged(tuple(_noted(output, found) for output in outputs), tuple(found), terms, tuple(dict.fromkeys(broken)))


_Key = tuple[str, str | None, str]


def _findings(
    sources: Mapping[str, tuple[Source, ...]], promise: Promise, torn: Sequence[Contradiction]
) -> tuple[list[Finding], list[str]]:
    """The worst that any of the outputs says on each question; so the order in which they were pasted decides nothing."""
    split = {one.fact_id for one in torn}
    chosen = {fact_id: found[:1] if fact_id in split or found[0].strong else found for fact_id, found in sources.items()}
    joined = {fact_id: merged(found) for fact_id, found in chosen.items()}
    worst_of: dict[_Key, Finding] = {}
    broken = _judge(chosen, joined, None, promise, worst_of)
    for fact_id, found in sources.items():
        for other in found[len(chosen[fact_id]) :]:
            evidence = {**joined, fact_id: other.evidence}
            broken += _judge({**chosen, fact_id: (other,)}, evidence, fact_id, promise, worst_of, is_weak=found[0].strong and not other.strong)
    return list(worst_of.values()), broken


def _judge(
    sources: Mapping[str, tuple[Source, ...]], evidence: Mapping[str, Evidence], changed: str | None, promise: Promise,
    worst_of: dict[_Key, Finding], *, is_weak: bool = False,
) -> list[str]:  # fmt: skip
    """Add to `worst_of` what the rules say; `changed` names the one fact that another output answers than at first.

    `is_weak`: a fuller output stands beside this one, whose silence therefore means nothing.
    """
    chosen = [r for r in rules().values() if _can_judge(r, evidence) and (changed is None or changed in _facts(r))]
    judging = Judging(chosen, promise)
    judging.evidence.update(evidence)
    broken: list[str] = []
    for rule in judging.rest():
        told = [rule.check.id in told_by(sources[id_]) or sources[id_][0].whole for id_ in rule.check.facts]
        try:
            for finding in judging.findings(rule):
                if _says_something(finding, promise, whole=all(told)) and (not is_weak or finding.verdict in _AGAINST):
                    _keep_worst(worst_of, _with_all_hashes(_as_sent(finding), rule, sources))
        except RuleFault:
            broken.append(rule.check.id)
    return broken


def _with_all_hashes(finding: Finding, rule: Rule, sources: Mapping[str, tuple[Source, ...]]) -> Finding:
    """What was put together from several outputs rests on each of them."""
    hashes = [source.sent.sha256 for id_ in _facts(rule) for source in sources.get(id_, ())]
    return replace(finding, evidence=tuple(dict.fromkeys(hashes)))


_UNUSED = Text("read, but no ready check uses it", "已读取，但没有检查项使用它")


def _noted(output: PieceReading, findings: Sequence[Finding]) -> PieceReading:
    """Say of an output that was read and served no check that it did not."""
    is_used = output.reading is None or any(output.blob.sha256 in finding.evidence for finding in findings)
    return output if is_used else replace(output, note=_UNUSED)


_AGAINST = (Verdict.FAIL, Verdict.WARN)


def _facts(rule: Rule) -> tuple[str, ...]:
    return (*rule.check.facts, *rule.check.optional)


def _keep_worst(worst_of: dict[_Key, Finding], finding: Finding) -> None:
    key = (finding.check, finding.term, finding.direction)
    held = worst_of.get(key)
    if held is None or WORST_FIRST.index(finding.verdict) < WORST_FIRST.index(held.verdict):
        worst_of[key] = finding


def _torn(one: Contradiction, sources: Mapping[str, tuple[Source, ...]]) -> Finding:
    """Two outputs that can't be of one node at one time: nothing that rests on either is certain."""
    title = readers()[one.fact_id].fact.title
    names = sorted(_named(sent) for sent in (one.one, one.other))
    said = Text(
        f"two outputs contradict ({title.en}): {' / '.join(names)}; {one.what.en}",
        f"两份输出相互矛盾（{title.zh}）：{' / '.join(names)}；{one.what.zh}",
    )
    finding = CROSS_SOURCES.finding(
        Verdict.INCONCLUSIVE, said, reason_code=OUTPUTS_CONTRADICT, next_step=_ONE_NODE, direction=one.fact_id
    )
    return replace(_as_sent(finding), required=True, evidence=tuple(sorted((one.one.sha256, one.other.sha256))))


def _named(sent: Sent) -> str:
    return f"{sent.name} [{sent.kind}, SHA-256 {sent.sha256[:12]}]".strip()


OUTPUTS_CONTRADICT = "outputs_contradict"
_ONE_NODE = Text(
    "judge the outputs of one node at a time, and ask the supplier which of the two is right",
    "请每次只判定一台节点的输出，并请供应商说明哪一份正确",
)


def unanswered(term: str, findings: Sequence[Finding]) -> Rule | None:
    """The check that would answer `term` when none of `findings` speaks of it; None when one does, or no check could."""
    if any(finding.term == term for finding in findings):
        return None
    able = [rule for rule in rules().values() if term in rule.check.terms]
    return min(able, key=lambda rule: rule.check.impact is not Impact.PASSIVE, default=None)


_NOT_SENT = Text("nothing that was sent answers this promise", "所发内容没有一项能回答这一承诺")
_RUN_IT = Text("no output answers this: run the check on the node", "没有可索取的输出：请在节点上运行该检查")


def _open(term: str, value: TermValue, rule: Rule) -> Finding:
    question = question_for(term)
    step = Text(f"ask the supplier for: {question.line.en}", f"请向供应商索取：{question.line.zh}") if question else _RUN_IT
    finding = rule.check.finding(
        Verdict.INCONCLUSIVE, _NOT_SENT, term=term, promised=value, reason_code=Reason.NOT_COLLECTED, next_step=step
    )
    return replace(finding, required=True)


def _can_judge(rule: Rule, evidence: Mapping[str, Evidence]) -> bool:
    return bool(rule.check.facts) and all(id_ in evidence for id_ in rule.check.facts)


def _says_something(finding: Finding, promise: Promise, *, whole: bool) -> bool:
    """A form that tells less than the fact answers only to promises: its silence is no finding and no sign of health."""
    if finding.reason_code == NO_HISTORY:
        return False
    is_promised = finding.term is not None and promise.get(finding.term) is not None
    is_silent = finding.verdict is Verdict.INCONCLUSIVE and finding.measured is None
    return whole or finding.verdict is Verdict.FAIL or (is_promised and not is_silent)


def _as_sent(finding: Finding) -> Finding:
    reason = Text(f"as sent by the supplier: {finding.reason.en}", f"供应商提供：{finding.reason.zh}")
    return replace(finding, basis=Basis.REPORTED, reason=reason)


def save_judged(workspace: Workspace, judged: Judged, contract_id: str | None = None) -> Paste:
    """Keep outputs (by hash) and findings; with a contract, note on its claims what was sent. Blocks.

    Raises UserFacing when the workspace can't be written.
    """
    outputs = tuple(
        PastedOutput(o.piece.kind, o.piece.source, o.piece.command, o.blob.sha256, o.piece.cut) for o in judged.outputs
    )
    paste = Paste(
        new_id(), utc_now(), outputs, judged.findings, judged.overall, contract_id, tuple(judged.terms.items()), __version__
    )

    def work(db: doors.Database) -> None:
        save_paste(db, paste, [output.blob for output in judged.outputs])
        for finding in judged.findings if contract_id else ():
            _apply(db, str(contract_id), finding, paste)

    workspace.submit(work).result()
    return paste


def _apply(db: doors.Database, contract_id: str, finding: Finding, paste: Paste) -> None:
    holder = Holder.contract(contract_id)
    claim = claims.get_claim(db.conn, holder, finding.term) if finding.term else None
    if claim is None or claim.value is None or claim.value != dict(paste.terms).get(claim.term):
        return
    why = f"{finding.verdict}, as sent by the supplier (SHA-256 {', '.join(sha[:12] for sha in finding.evidence)})"
    claims.save_claim(db, holder, after_paste(claim, finding.verdict), by=BY, at=paste.pasted_at, why=why)


def after_paste(claim: Claim, verdict: Verdict) -> Claim:
    """The claim after the supplier sent an output: at most evidenced, or refuted by the supplier's own words."""
    if claim.state in (ClaimState.VERIFIED, ClaimState.REFUTED):
        return claim
    if verdict is Verdict.FAIL:
        return replace(claim, state=ClaimState.REFUTED, node_id=None)
    return replace(claim, state=ClaimState.EVIDENCED) if verdict is Verdict.PASS else claim


def question_for(term: str) -> Question | None:
    """The one line whose output would answer `term`; None when no check judges it by a line that can be sent."""
    lines = [line for rule in rules().values() if term in rule.check.terms for line in _lines(rule, term)]
    if not lines:
        return None
    line = min(lines).line
    return Question(term, line.en, message_for((line,)), line)


def message_for(commands: Sequence[Text]) -> Text:
    """What to send to the supplier: please run these, and send all that they print."""
    en, zh = ("\n\n".join(lines) for lines in (tuple(c.en for c in commands), tuple(c.zh for c in commands)))
    return Text(
        f"Please run this on the node and send the whole output as text, not as a picture:\n{en}",
        f"请在节点上运行以下命令，并以文本（不要截图）发回完整输出：\n{zh}",
    )


@dataclass(frozen=True, slots=True, order=True)
class _Line:
    """Ordered by what is asked first: what loads nothing, then what the check itself reads, then the short one."""

    loads: bool
    stands_in: bool
    length: int
    line: Text = field(compare=False)


def _lines(rule: Rule, term: str) -> Iterator[_Line]:
    """The lines whose outputs we read for the first fact of a check: its own command, or a plain one in its place."""
    if not rule.check.facts or rule.check.impact is Impact.DISRUPTIVE:
        return
    loads, wanted = rule.check.impact is not Impact.PASSIVE, rule.check.facts[0]
    for reader in readers().values():
        fact = reader.fact
        if fact.id == wanted and fact.ask is None and fact.command is not None and _can_be_sent(fact.command):
            yield _Line(loads, False, len(fact.command.line), Text(fact.command.line, fact.command.line))
        elif fact.ask is not None and (fact.id == wanted or wanted in fact.answers) and term in (fact.ask_terms or (term,)):
            yield _Line(loads, fact.id != wanted, len(fact.ask.en), fact.ask)


# A run of ours puts its own values in the place of such words; a supplier would type them as they stand.
_PLACES = frozenset(["PEER", "PORT", "SECONDS", "WORD", "URL", "COUNT", "DEVICE"])


def _can_be_sent(command: Command) -> bool:
    return bool(command.argv) and "\n" not in command.line and not _PLACES & set(command.argv)


def open_questions(connection: doors.Reader, contract_id: str) -> tuple[Question, ...]:
    """One question per promise of the contract that neither a node nor an output that was sent has decided yet."""
    held = claims.list_claims(connection, Holder.contract(contract_id))
    decided = {f.term for paste in list_pastes(connection, contract_id) for f in paste.findings if f.verdict in _DECIDES}
    settled = (ClaimState.VERIFIED, ClaimState.REFUTED)
    return questions_for(c.term for c in held if c.value is not None and c.state not in settled and c.term not in decided)


_DECIDES = (Verdict.PASS, Verdict.FAIL)


def questions_for(terms: Iterable[str]) -> tuple[Question, ...]:
    """The questions of these terms, those that no command answers left out."""
    return tuple(question for term in terms if (question := question_for(term)) is not None)
