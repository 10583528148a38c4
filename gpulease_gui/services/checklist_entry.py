"""How does a person enter answers line by line, so that a stronger proof is not lost by repeating the answer?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.checklist_edit import Given, put_answers
from gpulease_gui.store import answers, attachments, deals
from gpulease_gui.store.records import EvidenceBlob, new_id

if TYPE_CHECKING:
    from sqlite_utils import Database

# States in which a person has said how the answer is proven; the value may change under them.
_PROVEN_BY_HAND = frozenset([AnswerState.ANSWERED, AnswerState.EVIDENCED, AnswerState.IN_CONTRACT])
_VALUE_WORDS = {AnswerValue.YES: Text("yes", "是"), AnswerValue.PARTLY: Text("partly", "部分"), AnswerValue.NO: Text("no", "否")}


def enter_value(db: Database, subject: Subject, items: Sequence[str], value: AnswerValue) -> int:
    """Answer items yes, partly or no, keeping how each is proven; unknown takes the answers away. One step; how many changed."""
    acting, deal = recorder(db), deals.enter(db, subject)
    known = answers.list_answers(db.conn, deal)
    if value is AnswerValue.UNKNOWN:
        put_answers(acting, deal, items, Given(AnswerState.NOT_ASKED, value))
        return acting.finish(_words("clear the answer of", "清除答复：", items))
    for item in items:
        put_answers(acting, deal, [item], Given(_state(known.get(item)), value))
    word = _VALUE_WORDS[value]
    return acting.finish(_words(f"answer {word.en}:", f"答复“{word.zh}”：", items))


def _state(before: Answer | None) -> AnswerState:
    return before.state if before is not None and before.state in _PROVEN_BY_HAND else AnswerState.ANSWERED


def _words(en: str, zh: str, items: Sequence[str]) -> Text:
    one = items[0] if len(items) == 1 else ""
    return Text(f"{en} {one or f'{len(items)} items'}", f"{zh}{one or f'{len(items)} 项'}")


def write_note(db: Database, subject: Subject, items: Sequence[str], note: str) -> int:
    """Keep a note beside one or many items; the answers stay. One step; how many changed."""
    acting, deal = recorder(db), deals.enter(db, subject)
    put_answers(acting, deal, items, Given(note=note))
    return acting.finish(_words("note at", "备注：", items))


def attach_proof(db: Database, subject: Subject, items: Sequence[str], name: str, kind: str, blob: EvidenceBlob) -> Attachment:
    """Keep a file with the deal and name it as the proof of these items, as one step.

    A claim becomes evidenced by it; what is in the contract, verified, refuted or not applicable stays so.
    """
    acting, deal = recorder(db), deals.enter(db, subject)
    shown = attachments.safe_name(name)
    attachment = Attachment(new_id(), subject.kind, subject.id, blob.sha256, shown, kind, acting.at, acting.by)
    attachments.add_attachment(acting, attachment, blob)
    known = answers.list_answers(db.conn, deal)
    for item in items:
        before = known.get(item)
        held = before.evidence if before is not None else ()
        stronger = AnswerState.EVIDENCED if before is not None and before.state is AnswerState.ANSWERED else None
        put_answers(acting, deal, [item], Given(stronger, evidence=(*held, attachment.id)))
    acting.finish(Text(f"attach {shown}", f"添加附件 {shown}"))
    return attachment


def detach_proof(db: Database, subject: Subject, item: str, attachment_id: str) -> int:
    """Name a file no longer as proof of an item; the file stays with the deal. One step."""
    acting, deal = recorder(db), deals.enter(db, subject)
    before = answers.list_answers(db.conn, deal).get(item)
    if before is None:
        return 0
    left = replace(before, evidence=tuple(id_ for id_ in before.evidence if id_ != attachment_id), at=acting.at, by=acting.by)
    acting.put("answer", (deal, item), answers.answer_document(left))
    return acting.finish(Text(f"take a proof off {item}", f"移除 {item} 的一份证明"))
