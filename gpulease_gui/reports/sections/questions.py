"""What must the supplier still answer?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Block, Items, Paragraph
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, loudest_first
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import finding_name, term_name, value_text

SECTION = Section("questions", 80, Text("Open questions to the supplier", "待供应商答复"))


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """What does not fit, what nobody promised, what could not be judged; each question once, with its nodes."""
    asked: dict[Text, list[str]] = {}
    for node in facts.nodes:
        for question in dict.fromkeys(_of_node(facts, node)):
            asked.setdefault(question, []).append(node.node.name)
    items = [_named(facts, question, names) for question, names in asked.items()]
    items += [_unchecked(facts, term) for term in facts.unchecked]
    return (Items(tuple(items)),) if items else (Paragraph(Text("None.", "无。")),)


def _of_node(facts: EvaluationFacts, node: NodeFacts) -> list[Text]:
    if node.run is None:
        return [Text("when can this node be verified?", "该节点何时可以验收？")]
    questions: list[Text] = []
    for finding in loudest_first(node.run.findings):
        name = finding_name(finding, facts.terms)
        step = finding.next_step if finding.next_step.en else finding.reason
        if finding.verdict is Verdict.FAIL:
            questions.append(
                Text(
                    f"{name.en}: {finding.reason.en}. When is it put right, or how is it made good?",
                    f"{name.zh}：{finding.reason.zh}。何时整改，或如何补偿？",
                )
            )
        elif finding.reason_code == Reason.NOT_PROMISED:
            questions.append(step if finding.next_step.en else Text(f"{name.en}: {step.en}", f"{name.zh}：{step.zh}"))
        elif finding.verdict is Verdict.INCONCLUSIVE and finding.required:
            questions.append(Text(f"{name.en}: {step.en}", f"{name.zh}：{step.zh}"))
    return questions + [_unjudged(facts, term) for term in node.run.unjudged]


def _unjudged(facts: EvaluationFacts, term: str) -> Text:
    name = term_name(term, facts.terms)
    return Text(
        f"{name.en}: promised, but not checked in this run; it is to be measured before acceptance",
        f"{name.zh}：已承诺，但本次未检查；验收前须补测",
    )


def _unchecked(facts: EvaluationFacts, term: str) -> Text:
    name, promised = term_name(term, facts.terms), facts.promised(term)
    said = value_text(promised) if promised is not None else Text("", "")
    return Text(
        f"{name.en} ({said.en}): promised; this program has no check for it, please confirm it in writing",
        f"{name.zh}（{said.zh}）：已承诺；本程序无法检查，请书面确认",
    )


def _named(facts: EvaluationFacts, question: Text, names: list[str]) -> Text:
    if len(facts.nodes) < 2:
        return question
    return Text(f"{question.en} [{', '.join(names)}]", f"{question.zh}〔{'、'.join(names)}〕")
