"""What stands behind one checklist item, and where is it answered, proven, waived and noted?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFocusEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout

from gpulease_gui.catalog.checklist import IMPORTANCE_WORDS, Importance
from gpulease_gui.domain.answer import ANSWER_WORDS, VALUE_WORDS, AnswerState, AnswerValue
from gpulease_gui.domain.text import Language, Text, foreign
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.forms.import_source import file_of
from gpulease_gui.gui.forms.typed_drafts import BackNote, TypedDraft
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.pages.checklist_details import ItemDetails
from gpulease_gui.gui.pages.checklist_table import answer_words, badge_of_row
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_inspector_parts import PartsPane
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button, Segment
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Section
from gpulease_gui.services.checklist_page import ItemSeen
from gpulease_gui.services.checklist_view import ChecklistRow

LEAST_WIDTH = 288
_VALUES = tuple((str(value), VALUE_WORDS[value]) for value in AnswerValue)
_BY_HAND = (AnswerState.ASKED, AnswerState.ANSWERED, AnswerState.EVIDENCED, AnswerState.IN_CONTRACT, AnswerState.NOT_APPLICABLE)


class NoteEdit(Lively, QPlainTextEdit):
    """A note of the user's; it is kept when it loses the keyboard, or by Ctrl+Enter. `kept` carries the text."""

    kept = Signal(str)
    typed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._before = ""
        self.textChanged.connect(self.typed)
        self.setTabChangesFocus(True)
        self.setFixedHeight(76)
        self.retranslate()

    def show_note(self, note: str) -> None:
        """Show another note; what is being typed over the same one stays."""
        if note != self._before or not self.dirty:
            self._before = note
            self._put(note)

    def _put(self, text: str) -> None:
        self.blockSignals(True)  # nobody typed it
        self.setPlainText(text)
        self.blockSignals(False)

    def words_now(self) -> tuple[str, ...]:
        """The text."""
        return (self.toPlainText(),)

    def put_words(self, words: Sequence[str]) -> bool:
        """Put back what was typed."""
        if len(words) == 1:
            self._put(words[0])
        return len(words) == 1

    @property
    def dirty(self) -> bool:
        """Whether something was typed that is not kept yet."""
        return self.toPlainText().strip() != self._before

    def keep(self) -> None:
        """Hand over what was typed."""
        if self.dirty:
            self._before = self.toPlainText().strip()
            self.kept.emit(self._before)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Leaving keeps what was typed."""
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.ActiveWindowFocusReason:
            self.keep()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+Enter keeps the note."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.keep()
        else:
            super().keyPressEvent(event)

    def retranslate(self) -> None:
        """Say name and hint."""
        self.setAccessibleName(say(Text("Note", "备注")))
        self.setPlaceholderText(say(Text("for colleagues and the report", "写给同事或报告的说明")))


class ItemHead(Section):
    """Which item it is: id, level, verdict, its words, and the same in the other language."""

    def __init__(self) -> None:
        super().__init__()
        self.title.hide()
        self.note.hide()
        self.id, self.level = ElidedLabel("", size="caption", level="3", code=True), PlainLabel("", size="caption", weight=600, level="2")
        self.badge = BadgeLabel()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.level)
        row.addWidget(self.id, 1)
        row.addWidget(self.badge)
        self.column.addLayout(row)
        self.words = PlainLabel("", weight=600, wrap=True, select=True)
        self.other = PlainLabel("", size="caption", level="3", wrap=True, select=True)
        self.about = PlainLabel("", size="caption", level="2", wrap=True)
        for label in (self.words, self.other, self.about):
            self.column.addWidget(label)
        self._text: Text | None = None

    def show_rows(self, rows: Sequence[ChecklistRow]) -> None:
        """One item, or how many of them."""
        one = rows[0] if len(rows) == 1 else None
        self.badge.set_state(badge_of_row(one) if one is not None else None)
        for part in (self.badge, self.level, self.other):
            part.setVisible(one is not None)
        if one is None:
            self._text = None
            self.id.set_words(foreign(", ".join(row.item.id for row in rows)))
            self.words.set_words(Text(f"{len(rows)} items chosen", f"已选 {len(rows)} 项"))
            self.about.set_words(mixed_words(rows))
            return
        item = one.item
        self.id.set_words(foreign(item.id))
        self.level.set_words(IMPORTANCE_WORDS[item.severity])
        self.level.set_level("1" if item.severity is Importance.MUST else "2")
        self._text = item.text
        self.words.set_words(item.text)
        self.about.set_words(_about(one))
        self.retranslate()

    def retranslate(self) -> None:
        """The second line speaks the language that the window does not."""
        if self._text is not None:
            self.other.set_words(foreign(self._text.say(Language.EN if current_language() is Language.ZH else Language.ZH)))


def _about(row: ChecklistRow) -> Text:
    """Who said what when."""
    answer, said = row.answer, answer_words(row)
    words = said if isinstance(said, Text) else foreign(said)
    if row.derived:
        return Text(f"{words.en}: follows from the stated terms", f"{words.zh}：由已填条款得出")
    if answer is None or not answer.by:
        return words
    at = f"{answer.at.astimezone():%Y-%m-%d %H:%M}"
    return Text(f"{words.en}, {answer.by}, {at}", f"{words.zh}，{answer.by}，{at}")


def mixed_words(rows: Sequence[ChecklistRow]) -> Text:
    """The verdicts of several items, such as: mixed: 3 unknown, 1 fail."""
    counts: dict[Text, int] = {}
    for row in rows:
        word = badge_of_row(row).word
        counts[word] = counts.get(word, 0) + 1
    en = ", ".join(f"{count} {word.en if word.en.isupper() else word.en.lower()}" for word, count in counts.items())
    zh = "，".join(f"{count} 项{word.zh}" for word, count in counts.items())
    return Text(en, zh) if len(counts) == 1 else Text(f"mixed: {en}", f"判定不一：{zh}")


class ItemInspector(PartsPane):
    """The right pane. Everything in it counts for all chosen items; details are shown of one.

    `valued` and `stated` carry an AnswerValue or AnswerState as text, `dropped` the path of a file.
    """

    valued = Signal(str)
    stated = Signal(str)
    noted = Signal(object, str)
    waive = Signal()
    unwaive = Signal()
    dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setMinimumWidth(LEAST_WIDTH)
        self.setAcceptDrops(True)
        self.rows: tuple[ChecklistRow, ...] = ()
        self.head, self.details = ItemHead(), ItemDetails()
        self._draft: TypedDraft | None = None
        self.stack_parts((self.head, self._answer_section(), self._note_section(), self._waiver_section(), self.details))

    def open_draft(self, frame: Frame, record: str) -> None:
        """The note that is typed now is of this record: what was left of an earlier time comes back."""
        if self._draft is None:
            self._draft = TypedDraft(frame, "note", self.note, self.note.typed, self.note.kept, self.back.tell, self)
        self._draft.open(record)

    def _answer_section(self) -> Section:
        section = Section(Text("Answer", "答复"))
        self.values = Segment(_VALUES)
        self.values.chosen.connect(self.valued)
        self.state = Chooser(Text("How it is proven", "证明程度"))
        self.state.picked.connect(self.stated)
        row = QHBoxLayout()
        row.addWidget(self.values)
        row.addStretch()
        section.column.addLayout(row)
        section.column.addWidget(self.state)
        return section

    def _note_section(self) -> Section:
        section = Section(Text("Note", "备注"))
        self.note, self.back = NoteEdit(), BackNote()
        self.note.kept.connect(lambda text: self.noted.emit(tuple(row.item.id for row in self.rows), text))
        section.column.addWidget(self.back)
        section.column.addWidget(self.note)
        return section

    def _waiver_section(self) -> Section:
        self.waiver = Section(Text("Waiver", "豁免"))
        self.waived = PlainLabel("", size="dense", wrap=True, select=True)
        self.waive_button = Button(Text("Waive…", "豁免…"), icon="verdict-waived", small=True)
        self.unwaive_button = Button(Text("End the waiver", "取消豁免"), small=True)
        self.waive_button.clicked.connect(self.waive)
        self.unwaive_button.clicked.connect(self.unwaive)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.waive_button)
        buttons.addWidget(self.unwaive_button)
        buttons.addStretch()
        body = QVBoxLayout()
        body.setSpacing(6)
        body.addWidget(self.waived)
        body.addLayout(buttons)
        self.waiver.column.addLayout(body)
        return self.waiver

    def show_rows(self, rows: Sequence[ChecklistRow]) -> None:
        """Show the chosen items; the details of one come by `show_item`."""
        if [row.item.id for row in rows] != [row.item.id for row in self.rows]:
            self.note.keep()
            self.details.clear()
        self.rows = tuple(rows)
        self._inside.setVisible(bool(rows))
        self.details.setVisible(len(rows) == 1)
        if not rows:
            return
        self.head.show_rows(rows)
        self._show_answer()
        self._show_waiver()
        notes = {row.answer.note if row.answer is not None else "" for row in rows}
        self.note.show_note(notes.pop() if len(notes) == 1 else "")

    def show_item(self, seen: ItemSeen) -> None:
        """The details of the item, if it is still the one that is shown."""
        if len(self.rows) == 1 and self.rows[0].item.id == seen.row.item.id:
            self.details.show_item(seen)

    def _show_answer(self) -> None:
        answers = [row.answer for row in self.rows]
        values = {str(answer.value) if answer is not None and answer.known else str(AnswerValue.UNKNOWN) for answer in answers}
        states = {answer.state if answer is not None else AnswerState.NOT_ASKED for answer in answers}
        self.values.choose(values.pop()) if len(values) == 1 else self.values.choose_none()
        now = states.pop() if len(states) == 1 else None
        offered = [] if now in _BY_HAND else [("" if now is None else str(now), Text("mixed", "不一") if now is None else ANSWER_WORDS[now])]
        self.state.set_choices([*offered, *((str(state), ANSWER_WORDS[state]) for state in _BY_HAND)], "" if now is None else str(now))

    def _show_waiver(self) -> None:
        held = [row for row in self.rows if row.waiver is not None]
        self.unwaive_button.setVisible(bool(held))
        waiver = self.rows[0].waiver if len(self.rows) == 1 else None
        if waiver is not None:
            until = f"{waiver.expires}"
            over_en, over_zh = ("", "") if self.rows[0].waived else (" (expired, counts no more)", "（已过期，不再有效）")
            self.waived.set_words(Text(f"{waiver.by}, to {until}{over_en}: {waiver.reason}", f"{waiver.by}，至 {until}{over_zh}：{waiver.reason}"))
        elif held:
            self.waived.set_words(Text(f"{len(held)} of them are waived", f"其中 {len(held)} 项已豁免"))
        self.waived.setVisible(bool(held))
        self.waive_button.set_words(Text("Waive again…", "重新豁免…") if held else Text("Waive…", "豁免…"))

    def copy_question(self) -> None:
        """The item and the proof asked for, ready for a chat."""
        if len(self.rows) == 1:
            item = self.rows[0].item
            QGuiApplication.clipboard().setText("\n".join(part for part in (say(item.text), say(item.evidence)) if part))

    # -- files dropped here -----------------------------------------------------------------------------------------------

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A file becomes the proof of the chosen items; the hint says of which."""
        if self.rows and file_of(event.mimeData()) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Attach it."""
        path: Path | None = file_of(event.mimeData())
        if path is not None:
            event.acceptProposedAction()
            self.dropped.emit(path)
