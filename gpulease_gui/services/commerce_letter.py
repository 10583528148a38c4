"""What is still to be asked of the supplier, as a letter in either language?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from gpulease_gui.catalog.checklist import DIMENSIONS, IMPORTANCE_WORDS, ChecklistItem, Importance
from gpulease_gui.domain.text import Language, Text, foreign, visible
from gpulease_gui.reports.document import Block, Document, Heading, Pair, Pairs, Paragraph, Title, Tone, Words
from gpulease_gui.services.checklist_view import ChecklistView, Outcome


@dataclass(frozen=True, slots=True)
class Question:
    """One numbered question with the proof asked for; `asked`: it was sent before."""

    number: int
    item: ChecklistItem
    asked: bool


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """The questions of one importance and dimension."""

    severity: Importance
    dimension: str
    questions: tuple[Question, ...]

    @property
    def title(self) -> Text:
        """Such as: Must · Billing."""
        word, name = IMPORTANCE_WORDS[self.severity], DIMENSIONS.get(self.dimension, foreign(self.dimension))
        return Text(f"{word.en.capitalize()} · {name.en}", f"{word.zh} · {name.zh}")


@dataclass(frozen=True, slots=True)
class Letter:
    """The questions to a supplier about one offer or contract, musts first, grouped by dimension, numbered through."""

    supplier: str
    number: str
    title: str
    day: date
    groups: tuple[QuestionGroup, ...]
    demo: bool = False

    @property
    def count(self) -> int:
        """How many questions there are."""
        return sum(len(group.questions) for group in self.groups)

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of the items that are asked, for `checklist_edit.ask_items`."""
        return tuple(question.item.id for group in self.groups for question in group.questions)


def letter_of(view: ChecklistView, *, demo: bool = False) -> Letter:
    """The letter made of the unknown items of a checklist; waived ones, and what only we can find out, are not asked."""
    row = view.facts.row
    unknown = [line for line in view.rows if line.outcome is Outcome.UNKNOWN and not line.item.ours]
    groups: list[QuestionGroup] = []
    number = 0
    for severity in Importance:
        for dimension in dict.fromkeys(line.item.dimension for line in unknown):
            lines = [line for line in unknown if (line.item.severity, line.item.dimension) == (severity, dimension)]
            asked = tuple(Question(number + n, line.item, line.answer is not None) for n, line in enumerate(lines, 1))
            number += len(lines)
            if asked:
                groups.append(QuestionGroup(severity, dimension, asked))
    return Letter(row.supplier, row.number, row.title, view.facts.day, tuple(groups), demo)


_OPENING = Text(
    "please answer the questions below and send the proof that is named with each. "
    "An answer in the quote or in the contract is enough where no other proof is asked for.",
    "请答复下列问题，并附上每条所列的证明材料；未另行要求证明的，写入报价单或合同即可。",
)
_CLOSING = Text("Thank you. Until they are answered, these points count as unknown, not as refused.", "谢谢。未答复的项目按“未知”处理，不视为拒绝。")
_NOTHING = Text("There is nothing left to ask.", "没有待询问的项目。")
_PROOF = Text("Proof", "证明材料")


def letter_text(letter: Letter, language: Language) -> str:
    """The letter as plain text, a line a question, ready for a mail or a chat. Foreign words are made visible."""
    if not letter.count:
        return "\n".join((_subject(letter).say(language), "", _NOTHING.say(language))) + "\n"
    lines = [_subject(letter).say(language), "", _greeting(letter).say(language) + _OPENING.say(language)]
    for group in letter.groups:
        lines += ["", group.title.say(language), *(_line(question, language) for question in group.questions)]
    return "\n".join((*lines, "", _CLOSING.say(language))) + "\n"


def _subject(letter: Letter) -> Text:
    about = " ".join(visible(word) for word in (letter.number, letter.title) if word)
    return Text(f"Questions about {about} ({letter.day})", f"关于 {about} 的问题（{letter.day}）")


def _greeting(letter: Letter) -> Text:
    name = visible(letter.supplier)
    return Text(f"To {name}: ", f"{name}：\n")


def _line(question: Question, language: Language) -> str:
    said = _question(question)
    return f"{question.number}. {said.say(language)}"


def _question(question: Question) -> Text:
    item = question.item
    text, proof = item.ask if item.ask.en else item.text, item.asks_for if item.asks_for.en else item.evidence
    # Own items may have words in one language only.
    said, shown = (text.en or text.zh, text.zh or text.en), (proof.en or proof.zh, proof.zh or proof.en)
    en = _ended(said[0], ".") + (f" {_PROOF.en}: {_ended(shown[0], '.')}" if shown[0] else "")
    zh = _ended(said[1], "。") + (f"{_PROOF.zh}：{_ended(shown[1], '。')}" if shown[1] else "")
    return Text(f"{en} [{question.item.id}]", f"{zh}［{question.item.id}］")


def _ended(words: str, mark: str) -> str:
    return words if words.endswith((".", "?", "!", "。", "？", "！")) else words + mark


def letter_document(letter: Letter, language: Language) -> Document:
    """The letter as a report, for PDF and HTML. Its hash is the SHA-256 of the plain text."""
    sha256 = hashlib.sha256(letter_text(letter, language).encode("utf-8", "replace")).hexdigest()
    blocks = (*_head(letter), *_body(letter.groups), Paragraph(_CLOSING if letter.count else _NOTHING))
    return Document(_subject(letter), language, blocks, foreign(visible(letter.number)), sha256, letter.demo)


def _head(letter: Letter) -> Iterable[Block]:
    yield Title(_subject(letter))
    yield Pairs((
        Pair(Text("Supplier", "供应商"), Words(foreign(visible(letter.supplier)))),
        Pair(Text("Offer or contract", "报价或合同"), Words(foreign(visible(f"{letter.number} {letter.title}".strip())))),
        Pair(Text("Date", "日期"), Words(foreign(str(letter.day)))),
        Pair(Text("Questions", "问题"), Words(foreign(str(letter.count)))),
    ))  # fmt: skip
    if letter.count:
        yield Paragraph(Text(_OPENING.en[0].upper() + _OPENING.en[1:], _OPENING.zh), Tone.PLAIN)


def _body(groups: Iterable[QuestionGroup]) -> Iterable[Block]:
    for place, group in enumerate(groups, 1):
        yield Heading(place, group.title)
        # Numbered through, as in the plain text, so that both sides speak of the same question.
        for question in group.questions:
            said = _question(question)
            yield Paragraph(Text(f"{question.number}. {said.en}", f"{question.number}. {said.zh}"))
