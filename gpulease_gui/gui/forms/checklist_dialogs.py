"""Why does an item not apply, and who lets one pass up to which day?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta

from PySide6.QtCore import QDate, Qt
from PySide6.QtWidgets import QDateEdit, QLineEdit, QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.fields import LineField
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.fields import Field, padded

USUAL_DAYS = 90


def items_words(items: tuple[str, ...]) -> Text:
    """Such as: IC-03, or: 20 items."""
    return foreign(items[0]) if len(items) == 1 else Text(f"{len(items)} items", f"{len(items)} 项")


class ReasonDialog(DraftDialog):
    """The one reason that some items do not apply."""

    def __init__(self, items: tuple[str, ...], *, parent: QWidget | None = None) -> None:
        about = items_words(items)
        super().__init__(
            Text("Not applicable", "不适用"), Text(f"Mark {about.en} not applicable", f"将 {about.zh} 标为不适用"),
            icon="verdict-na", token="na", parent=parent,
            consequence=Text("Such items count neither for nor against the deal.", "不适用的项目不计入得分与覆盖率。"),
        )  # fmt: skip
        self.facts.hide()
        self.reason = LineField(Text("Reason", "理由"), Text("stands beside the items and in the report", "将显示在条目旁和报告中"))
        self.field = Field(Text("Reason", "理由"), self.reason)
        self.column.addWidget(self.field)
        self.add_button(Button(CANCEL), rejects=True)
        self.mark = self.add_button(Button(Text(f"Mark {about.en}", f"标记 {about.zh}"), kind="primary"), default=True)
        self.mark.clicked.connect(self._mark)
        self.reason.textEdited.connect(self.touch)
        self.reason.setFocus()

    def words_now(self) -> tuple[str, ...]:
        """The reason."""
        return (self.reason.text(),)

    def put_words(self, words: Sequence[str]) -> bool:
        """Put the reason back."""
        if len(words) != 1:
            return False
        self.reason.setText(words[0])
        return True

    def _mark(self) -> None:
        if self.reason.text().strip():
            self.accept()
        else:
            self.field.set_error(Text("Say why they do not apply.", "请写明不适用的理由。"))


class WaiverDialog(DraftDialog):
    """Who takes the risk, why, and up to which day; `waiver` is what was typed."""

    def __init__(self, items: tuple[str, ...], by: str, today: date, before: Waiver | None = None, *, parent: QWidget | None = None) -> None:
        about = items_words(items)
        super().__init__(
            Text("Waiver", "豁免"), Text(f"Waive {about.en}", f"豁免 {about.zh}"), icon="verdict-waived", token="na", parent=parent,
            consequence=Text("A waived must no longer blocks the deal, until the last day; the score stays as it is.",
                             "豁免的必须项在到期日前不再否决或阻塞，得分不变。"),
        )  # fmt: skip
        self.facts.hide()
        self._today = today
        self.by = LineField(Text("Name", "姓名"))
        self.by.setText(before.by if before else by)
        self.reason = LineField(Text("Reason", "理由"))
        self.reason.setText(before.reason if before else "")
        self.expires = padded(QDateEdit())
        self.expires.setCalendarPopup(True)
        self.expires.setDisplayFormat("yyyy-MM-dd")
        until = before.expires if before is not None and before.expires >= today else today + timedelta(days=USUAL_DAYS)
        self.expires.setDate(QDate(until.year, until.month, until.day))
        self._by, self._reason = Field(Text("Who takes the risk", "由谁承担风险"), self.by), Field(Text("Reason", "理由"), self.reason)
        self._expires = Field(Text("Last day", "到期日"), self.expires)
        for field in (self._by, self._reason, self._expires):
            self.column.addWidget(field)
        self.add_button(Button(CANCEL), rejects=True)
        self.keep = self.add_button(Button(Text(f"Waive {about.en}", f"豁免 {about.zh}"), kind="primary"), default=True)
        self.keep.clicked.connect(self._keep)
        for line in (self.by, self.reason):
            line.textEdited.connect(self.touch)
        self.expires.dateChanged.connect(self.touch)
        (self.reason if self.by.text() else self.by).setFocus()

    @property
    def waiver(self) -> Waiver:
        """What was typed."""
        shown = self.expires.date()
        return Waiver(self.by.text().strip(), self.reason.text().strip(), date(shown.year(), shown.month(), shown.day()))

    def words_now(self) -> tuple[str, ...]:
        """Name, reason, last day."""
        return self.by.text(), self.reason.text(), self.expires.date().toString(Qt.DateFormat.ISODate)

    def put_words(self, words: Sequence[str]) -> bool:
        """Put them back."""
        day = QDate.fromString(words[-1], Qt.DateFormat.ISODate) if len(words) == 3 else QDate()
        if not day.isValid():
            return False
        self.by.setText(words[0])
        self.reason.setText(words[1])
        self.expires.setDate(day)
        return True

    def _keep(self) -> None:
        waiver = self.waiver
        _need(self._by, self.by, Text("Write a name.", "请填写姓名。"))
        _need(self._reason, self.reason, Text("Say why the risk is taken.", "请写明理由。"))
        past = waiver.expires < self._today
        self._expires.set_error(Text("This day is over.", "日期已过。") if past else "")
        if waiver.by and waiver.reason and not past:
            self.accept()


def _need(field: Field, editor: QLineEdit, complaint: Text) -> None:
    field.set_error("" if editor.text().strip() else complaint)
