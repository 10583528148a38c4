"""What does the contract's checklist say, item by item?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from gpulease_gui.domain.finding import VERDICT_WORDS, WORST_FIRST, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign, visible
from gpulease_gui.reports.document import (
    Block,
    Cell,
    Column,
    ColumnKind,
    Mark,
    Pair,
    Pairs,
    Paragraph,
    SubHeading,
    Table,
    Tone,
    Words,
)
from gpulease_gui.reports.facts import ChecklistFacts, ChecklistLine, EvaluationFacts
from gpulease_gui.reports.section import Section

SECTION = Section("checklist", 85, Text("Checklist", "清单"))
_WAIVED = Text("waived", "已豁免")
_RULE = Text(
    "Inconclusive: there is no answer yet. Warning: partly met. Low of the score counts what is proven, high what could still come.",
    "“无法判定”指尚无答复，“警告”指部分符合。得分下限只计已证明的部分，上限计入尚无答复的可能。",
)
_COLUMNS = (
    Column(Text("No.", "编号"), ColumnKind.TEXT, 0.75),
    Column(Text("Item", "条目"), ColumnKind.TEXT, 4.0),
    Column(Text("Level", "级别"), ColumnKind.TEXT, 0.75),
    Column(Text("Answer", "答复"), ColumnKind.TEXT, 2.15),
    Column(Text("By, on", "经手、日期"), ColumnKind.TEXT, 1.95),
    Column(Text("Verdict", "判定"), ColumnKind.BADGE, 1.4),
)


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """What the whole comes to, then every item under its dimension."""
    held = facts.checklist
    if held is None or not held.lines:
        return ()
    blocks: list[Block] = [_head(held), Paragraph(_RULE, Tone.QUIET)]
    for dimension in dict.fromkeys(line.dimension for line in held.lines):
        lines = [line for line in held.lines if line.dimension == dimension]
        blocks.append(SubHeading(Text(f"{dimension.en} ({len(lines)})", f"{dimension.zh}（{len(lines)}）"), note=_open(lines)))
        blocks.append(Table(_COLUMNS, tuple(_row(facts, line) for line in lines)))
    return tuple(blocks)


def _head(held: ChecklistFacts) -> Pairs:
    return Pairs((
        Pair(Text("Use", "场景"), Words(held.use)), Pair(Text("Conclusion", "结论"), Words(held.conclusion, Tone.STRONG)),
        Pair(Text("Items", "条目"), Words(_counts(held.lines))), Pair(Text("Score", "得分"), Words(held.score)),
    ))  # fmt: skip


def _counts(lines: Iterable[ChecklistLine]) -> Text:
    """Such as: 12 items: 4 fail, 1 inconclusive, 7 pass."""
    counted = Counter(line.verdict for line in lines)
    order: tuple[Verdict | None, ...] = (*WORST_FIRST, None)
    parts = [(counted[verdict], _word(verdict)) for verdict in order if counted[verdict]]
    whole = sum(counted.values())
    en = ", ".join(f"{count} {word.en if word.en.isupper() else word.en.lower()}" for count, word in parts)
    zh = "，".join(f"{count} {word.zh}" for count, word in parts)
    return Text(f"{whole} item{'' if whole == 1 else 's'}: {en}", f"{whole} 项：{zh}")


def _open(lines: Iterable[ChecklistLine]) -> Text:
    """What is not settled in a dimension, such as: 1 fail, 4 inconclusive."""
    counted = Counter(line.verdict for line in lines)
    parts = [(counted[verdict], VERDICT_WORDS[verdict]) for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE) if counted[verdict]]
    en, zh = ", ".join(f"{count} {word.en.lower()}" for count, word in parts), "，".join(f"{count} {word.zh}" for count, word in parts)
    return Text(en, zh)


def _word(verdict: Verdict | None) -> Text:
    words: Mapping[Verdict, Text] = VERDICT_WORDS
    return _WAIVED if verdict is None else words[verdict]


def _row(facts: EvaluationFacts, line: ChecklistLine) -> tuple[Cell, ...]:
    by = visible(line.by) + (f", {line.at.astimezone(facts.zone):%Y-%m-%d}" if line.at is not None else "")
    return (
        Words(foreign(line.id)), Words(line.text), Words(line.level), Words(_answer(line)), Words(foreign(by) if by else NO_TEXT, Tone.QUIET),
        Mark(line.verdict) if line.verdict is not None else Words(_WAIVED),
    )  # fmt: skip


def _answer(line: ChecklistLine) -> Text:
    """The answer, and the note and the waiver beside it."""
    extra = [part for part in (foreign(visible(line.note)) if line.note else None, line.waiver) if part is not None]
    return Text("; ".join((line.answer.en, *(part.en for part in extra))), "；".join((line.answer.zh, *(part.zh for part in extra))))
