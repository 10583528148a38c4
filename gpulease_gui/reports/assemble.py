"""How do the sections become one document?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.document import Block, Document, Heading
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.reports.section import builders

_NODES_NAMED = 3


def report_title(facts: EvaluationFacts) -> Text:
    """The report's name; that of a demo says so."""
    demo = Text("DEMO · ", "演示 DEMO · ") if facts.demo else Text("", "")
    return Text(f"{demo.en}GPU lease evaluation report", f"{demo.zh}GPU 租用评估报告")


def assemble(facts: EvaluationFacts, language: Language) -> Document:
    """All sections that have something to say, numbered."""
    blocks: list[Block] = []
    number = 0
    for builder in builders():
        built = builder.build(facts)
        if built and builder.section.title is not None:
            number += 1
            blocks.append(Heading(number, builder.section.title))
        blocks += built
    name = report_title(facts)
    title = Text(f"{name.en} {facts.contract.number}", f"{name.zh} {facts.contract.number}")
    return Document(title, language, tuple(blocks), _footer(facts), facts.hash, facts.demo)


def _footer(facts: EvaluationFacts) -> Text:
    names = [node.node.name for node in facts.nodes]
    more = len(names) - _NODES_NAMED
    shown = _joined(names[:_NODES_NAMED])
    en = f"{shown} and {more} more" if more > 0 else shown
    zh = f"{shown} 等 {len(names)} 个节点" if more > 0 else shown
    number = facts.contract.number
    return Text(" · ".join(w for w in (number, en) if w), " · ".join(w for w in (number, zh) if w))


def _joined(names: Iterable[str]) -> str:
    return ", ".join(names)
