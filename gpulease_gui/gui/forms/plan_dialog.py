"""Which single checks will the next run ask, what does each send to the node, and how long does it take?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column, Group
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.verification_choice import Wish, seconds_text
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.cells import CHECK
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.plan import LEFT_OUT_WORDS, LeftOutBy, Plan
from gpulease_gui.services.run_view import CheckInfo

TITLE = Text("Checks of the next run", "下次执行的检查项")
IMPACT_WORDS = {
    Impact.PASSIVE: Text("read-only", "只读"), Impact.ACTIVE: Text("light load", "轻负载"),
    Impact.DISRUPTIVE: Text("heavy load", "重负载"),
}  # fmt: skip
_ICONS = {Impact.PASSIVE: ("shield", "pass"), Impact.ACTIVE: ("load", "warn"), Impact.DISRUPTIVE: ("heavy", "fail")}


@dataclass(frozen=True, slots=True)
class Line:
    """A check with its tick, and why it is not part of the choice."""

    info: CheckInfo
    ticked: bool
    reason: LeftOutBy | None = None


def _note(line: Line) -> Cell:
    if line.ticked or line.reason is None:
        return Cell(line.info.writes, tone="2", tip=line.info.writes) if line.info.takes_s else Cell("")
    return Cell(LEFT_OUT_WORDS[line.reason], tone="3")


def _impact(line: Line) -> Cell:
    icon, tone = _ICONS[line.info.impact]
    return Cell(IMPACT_WORDS[line.info.impact], icon=icon, icon_tone=tone, tone="2")


def _columns() -> tuple[Column[Line], ...]:
    return (
        Column[Line](Text("Check", "检查项"), lambda n: Cell(n.info.title, checked=n.ticked, tip=n.info.why), stretch=True),
        Column[Line](Text("Load", "负载"), _impact, width=120),
        Column[Line](Text("Usually", "通常用时"), lambda n: Cell(seconds_text(n.info.usual_s), tone="2"), width=84, number=True),
        Column[Line](Text("Writes or loads", "写入或占用"), _note, width=280),
    )


class PlanDialog(DraftDialog):
    """A list of all checks to tick; Cancel changes nothing."""

    def __init__(self, infos: Mapping[str, CheckInfo], plan: Plan, *, parent: QWidget | None = None) -> None:
        super().__init__(TITLE, TITLE, icon="nav-verify", token="accent", parent=parent)
        self._planned = frozenset(plan.checks)
        self._reasons = plan.left_out
        self.ticked = set(self._planned)
        self._infos = infos
        self.model = TableModel[Line](_columns(), lambda n: n.info.id, group=lambda n: Group(n.info.group.en, n.info.group))
        self.table = TableView(self.model, TITLE)
        self.table.acted.connect(self._acted)
        self.table.opened.connect(lambda line: self._acted(line, CHECK))  # Enter, as in the list beside the findings
        self.table.chosen.connect(self._show_command)
        self.table.setMinimumHeight(320)
        self.column.addWidget(self.table, 1)
        self.command = QPlainTextEdit()
        self.command.setReadOnly(True)
        self.command.setProperty("raw", "true")
        self.command.setFixedHeight(92)
        self.command.setAccessibleName(say(Text("Command", "命令")))
        self.column.addWidget(self.command)
        self.summary = PlainLabel("", size="dense", level="2")
        self.column.addWidget(self.summary)
        self.fill()
        self.add_button(Button(CANCEL), rejects=True)
        self.add_button(Button(Text("Use this choice", "采用此选择"), kind="primary"), accepts=True, default=True)
        self.setMinimumWidth(860)
        self._draw()
        self.table.choose_first()

    def words_now(self) -> tuple[str, ...]:
        """What is ticked."""
        return tuple(sorted(self.ticked))

    def put_words(self, words: Sequence[str]) -> bool:
        """Tick the same; checks that this version does not know are left out."""
        self.ticked = set(words) & set(self._infos)
        self._draw()
        return True

    def wish(self, before: Wish) -> Wish:
        """`before` with what was ticked and cleared here."""
        came, went = self.ticked - self._planned, self._planned - self.ticked
        return replace(before, added=(before.added | came) - went, left_out=(before.left_out | went) - came)

    def _acted(self, line: Line | None, action: str) -> None:
        if line is not None and action == CHECK:
            self.ticked ^= {line.info.id}
            self._draw()
            self.touch()

    def _draw(self) -> None:
        lines = [Line(info, id_ in self.ticked, self._reasons.get(id_)) for id_, info in self._infos.items()]
        self.model.set_rows(lines)
        loads = sum(line.info.impact is not Impact.PASSIVE for line in lines if line.ticked)
        count = len(self.ticked)
        self.summary.set_words(
            Text(f"{count} checks, {loads} of them load the node and ask first", f"共 {count} 项，其中 {loads} 项有负载，执行前确认")
        )

    def _show_command(self, line: Line | None) -> None:
        shown = "\n\n".join(command.line for command in line.info.commands) if line else ""
        self.command.setPlainText(visible(shown))


def plan_dialog(frame: Frame, node_id: str, infos: Mapping[str, CheckInfo], plan: Plan, parent: QWidget) -> PlanDialog:
    """The dialog, open; what was ticked for the node before a crash is ticked again."""
    dialog = PlanDialog(infos, plan, parent=parent)
    if node_id:
        DraftKeeper(frame, dialog, "plan").open(node_id)
    open_dialog(dialog)
    return dialog
