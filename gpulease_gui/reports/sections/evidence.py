"""Which outputs stand behind the findings?"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.facts.fact import readers
from gpulease_gui.reports.document import Block, Cell, Column, ColumnKind, Paragraph, SubHeading, Table, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts, EvidenceLine, KeptReadings, RunFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import utc_moment

SECTION = Section("evidence", 90, Text("Evidence", "证据"))
COLUMNS = (
    Column(Text("Reading", "读数项"), ColumnKind.TEXT, 1.3),
    Column(Text("Command", "命令"), ColumnKind.TEXT, 1.9),
    Column(Text("Exit code", "退出码"), ColumnKind.NUMBER, 0.65),
    Column(Text("SHA-256 of the output", "输出的 SHA-256"), ColumnKind.HASH, 5.3),
)
_COMMAND_CHARACTERS = 70


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """All outputs of each run with command, exit code and hash."""
    blocks: list[Block] = []
    for node in facts.verified:
        if node.run:
            blocks += [
                SubHeading(foreign(node.node.name)), Paragraph(_hash(node.run), Tone.CODE),
                Table(COLUMNS, (*(_row(line) for line in node.run.evidence), *(_readings(one) for one in node.run.readings))),
            ]  # fmt: skip
    return tuple(blocks)


def _hash(run: RunFacts) -> Text:
    return Text(f"run {run.id}, SHA-256 {run.hash}", f"验收记录 {run.id}，SHA-256 {run.hash}")


def _row(line: EvidenceLine) -> tuple[Cell, ...]:
    code = Words(foreign(str(line.exit_code))) if line.exit_code is not None else Words(Text("not seen", "未见"), Tone.MISSING)
    return Words(_name(line.fact_id)), _command(line.command), code, _sha(line)


def _readings(one: KeptReadings) -> tuple[Cell, ...]:
    span = " – ".join(utc_moment(datetime.fromtimestamp(at_s, UTC)) for at_s in (one.start_s, one.end_s))
    name = Text("Readings of Live", "实时读数")
    return Words(name), Words(foreign(span)), Words(foreign("–")), _hash_words(one.sha256, intact=not one.trouble)


def _name(fact_id: str) -> Text:
    reader = readers().get(fact_id)
    return reader.fact.title if reader else foreign(fact_id)


def _command(command: str) -> Words:
    """One line as it was sent; of a script its hash, since its text is in the program and in the evidence bundle."""
    if "\n" in command.strip():
        sha = hashlib.sha256(command.encode()).hexdigest()[:8]
        return Words(Text(f"script, SHA-256 {sha}…", f"脚本，SHA-256 {sha}…"), Tone.CODE)
    flat = " ".join(command.split())
    return Words(foreign(flat if len(flat) <= _COMMAND_CHARACTERS else flat[: _COMMAND_CHARACTERS - 1] + "…"), Tone.CODE)


def _sha(line: EvidenceLine) -> Words:
    return _hash_words(line.sha256, intact=line.intact, cut=line.cut)


def _hash_words(sha256: str, *, intact: bool, cut: bool = False) -> Words:
    if not intact:
        return Words(Text(f"{sha256} — changed after it was saved", f"{sha256}：保存后被改动"), Tone.FAIL)
    head = Text(" (head only)", "（仅开头部分）") if cut else Text("", "")
    return Words(Text(sha256 + head.en, sha256 + head.zh), Tone.CODE)
