"""What do outputs say that a supplier sent in a chat?

They are read and judged like our own, but nobody saw which machine they came from. So every finding says "as sent by
the supplier" and is at most reported; a pass makes a claim evidenced (a document), never verified. A fail refutes it:
the supplier's own words contradict its promise, and any node's pass verifies it again. What a node of ours has decided
is left alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.check import Rule, rules
from gpulease_gui.checks.history import NO_HISTORY
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import NOTHING_MOVED, Thresholds
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.command import CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Basis, Finding, Verdict, overall
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Reader, read, readers
from gpulease_gui.services.judging import Judging, RuleFault
from gpulease_gui.services.pasted_forms import as_facts
from gpulease_gui.services.pasted_pieces import Piece
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
        words = Text(trouble.reason, f"读取失败：{trouble.reason}")
        return PieceReading(piece, blob, title, values, words, None, trouble)
    return PieceReading(piece, blob, title, _values(reader, reading), None, reading)


def _values(reader: Reader, reading: object) -> tuple[tuple[str, object], ...]:
    return tuple((key, value) for key, value in reader.as_dict(reading).items() if value is not None)


def judge_pieces(
    catalogue: Catalogue, pieces: Sequence[Piece], terms: Mapping[str, TermValue], thresholds: Thresholds = NOTHING_MOVED
) -> Judged:
    """Read every piece and judge what can be judged of it; the first output of a kind counts. Uses no store."""
    outputs = tuple(read_piece(piece) for piece in pieces)
    promise = Promise(catalogue, terms, thresholds=thresholds)
    whole: dict[str, Evidence] = {}
    converted: dict[str, Evidence] = {}
    for output in outputs:
        _gather(output, whole, converted)
    evidence = {**converted, **whole}
    judging = Judging([rule for rule in rules().values() if _can_judge(rule, evidence)], promise)
    judging.evidence.update({**converted, **whole})
    findings: list[Finding] = []
    broken: list[str] = []
    for rule in judging.rest():
        try:
            is_whole = all(id_ in whole for id_ in rule.check.facts)
            findings += [_as_sent(f) for f in judging.findings(rule) if _says_something(f, promise, whole=is_whole)]
        except RuleFault:
            broken.append(rule.check.id)
    return Judged(outputs, tuple(findings), terms, tuple(broken))


def _gather(output: PieceReading, whole: dict[str, Evidence], converted: dict[str, Evidence]) -> None:
    kind = output.piece.kind
    if kind is None:
        return
    sha = output.blob.sha256
    whole.setdefault(kind, Evidence(output.reading, output.trouble, sha))
    for fact_id, reading, same in as_facts(kind, output.reading):
        (whole if same else converted).setdefault(fact_id, Evidence(reading, None, sha))


def _can_judge(rule: Rule, evidence: Mapping[str, Evidence]) -> bool:
    return bool(rule.check.facts) and all(id_ in evidence for id_ in rule.check.facts)


def _says_something(finding: Finding, promise: Promise, *, whole: bool) -> bool:
    """A form that tells less than the fact answers only to promises: its silence is no finding and no sign of health."""
    if finding.reason_code == NO_HISTORY:
        return False
    is_promised = finding.term is not None and promise.get(finding.term) is not None
    is_silent = finding.verdict is Verdict.INCONCLUSIVE and finding.measured is None
    return whole or (is_promised and not is_silent)


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
    """The one command whose output would answer `term`; None when no check judges it by a command."""
    commands = [command for rule in rules().values() if term in rule.check.terms and (command := _command(rule))]
    if not commands:
        return None
    line = min(commands).line
    return Question(term, line, message_for((line,)))


def message_for(commands: Sequence[str]) -> Text:
    """What to send to the supplier: please run these, and send all that they print."""
    lines = "\n\n".join(commands)
    return Text(
        f"Please run this on the node and send the whole output as text, not as a picture:\n{lines}",
        f"请在节点上运行以下命令，并以文本（不要截图）发回完整输出：\n{lines}",
    )


@dataclass(frozen=True, slots=True, order=True)
class _Command:
    """Ordered by what is asked first: a plain command before a script, passive before active, short before long."""

    is_script: bool
    loads: bool
    length: int
    line: str


def _command(rule: Rule) -> _Command | None:
    fact = readers()[rule.check.facts[0]].fact if rule.check.facts else None
    if fact is None or fact.command is None or rule.check.impact is Impact.DISRUPTIVE:
        return None
    is_script = not fact.command.argv
    # A script stands in a shell of its own: it may end it.
    line = f"sh <<'GPULEASE'\n{fact.command.line.rstrip()}\nGPULEASE" if is_script else fact.command.line
    return _Command(is_script, rule.check.impact is not Impact.PASSIVE, len(line), line)


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
