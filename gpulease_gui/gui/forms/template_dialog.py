"""Which items does a checklist of the user's own have: hidden, reworded, added?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

from gpulease_gui.catalog.checklist import DIMENSIONS, IMPORTANCE_WORDS, ChecklistItem, Importance
from gpulease_gui.catalog.scenarios import Scenario
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import Chooser, LineField
from gpulease_gui.gui.models.cell import Cell, Column, Group
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.checklist_bands import SHIPPED, uses_of
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.cells import CHECK
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.fields import Field
from gpulease_gui.gui.widgets.labels import PlainLabel, plain_tip
from gpulease_gui.gui.widgets.search import SearchBox
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.checklist_templates import (
    ItemEdit,
    Template,
    document_of,
    remove_template,
    save_template,
    template_of,
    templates_in,
)
from gpulease_gui.services.directory import fresh_id
from gpulease_gui.store.reference import NamedDocument

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_TITLE = Text("Checklist templates", "清单模板")
NEW = "new"  # under which the draft of a template without a record is kept
_SEVERITIES = tuple((str(severity), words) for severity, words in IMPORTANCE_WORDS.items())


@dataclass(frozen=True, slots=True)
class TemplateLine:
    """One item as the template has it now; `own`: added by the user, `changed`: no longer as shipped."""

    item: ChecklistItem
    shown: bool
    own: bool
    changed: bool


def lines_of(shipped: Mapping[str, ChecklistItem], template: Template) -> list[TemplateLine]:
    """Every item, hidden ones too, by dimension."""
    lines = []
    for item in shipped.values():
        edit = template.edits.get(item.id, ItemEdit())
        now = replace(item, severity=edit.severity or item.severity, text=edit.text or item.text, evidence=edit.evidence or item.evidence)
        lines.append(TemplateLine(now, not edit.hidden, own=False, changed=now != item))
    lines += [TemplateLine(item, shown=True, own=True, changed=False) for item in template.own]
    order = {name: place for place, name in enumerate(DIMENSIONS)}
    return sorted(lines, key=lambda line: order.get(line.item.dimension, len(order)))


class TemplateDialog(DraftDialog):
    """A template at the top, its items below, the chosen item's words at the foot. `saved` carries the template's id."""

    saved = Signal(str)

    def __init__(self, frame: Frame, template_id: str, scenarios: Mapping[str, Scenario], *, parent: QWidget | None = None) -> None:
        super().__init__(
            _TITLE, _TITLE, icon="nav-checklist", parent=parent,
            consequence=Text("The shipped list stays as it is; what you change is saved under a name of your own.", "内置清单保持不变；修改内容以您填写的名称另存。"),
        )  # fmt: skip
        self._frame, self._wanted = frame, template_id
        self._shipped = frame.services.catalogue.checklist
        self._known: tuple[Template, ...] = ()
        self.template = Template("", "")
        self.facts.hide()
        self.setMinimumSize(860, 540)
        self.which = Chooser(Text("Template", "模板"))
        self.which.picked.connect(self._choose)
        self.name = LineField(Text("Name", "名称"), Text("such as: training cluster", "例如：训练集群"))
        self.name.textEdited.connect(lambda _: self._named())
        self.use = Chooser(Text("Use", "场景"), uses_of(scenarios))
        self.use.picked.connect(lambda _: self.touch())
        self.model: TableModel[TemplateLine] = TableModel(_columns(), lambda line: line.item.id, search=_hay, group=_group)
        self.table = TableView(self.model, _TITLE)
        self.table.chosen.connect(lambda _: self._show_line())
        self.table.acted.connect(lambda line, action: self._toggle(line) if action == CHECK else None)
        self.table.opened.connect(self._toggle)
        self.table.setMinimumHeight(240)
        self.search = SearchBox(Text("Item…", "条目…"))
        self.search.searched.connect(self.model.find)
        self.trouble = PlainLabel("", size="dense", level="fail", wrap=True)
        self.trouble.hide()
        self.column.addLayout(self._head())
        self.column.addWidget(self.table, 1)
        self.column.addLayout(self._editor())
        self.column.addWidget(self.trouble)
        self.fill()
        self._add_buttons()
        self.drafts = DraftKeeper(frame, self, "template")
        self.load()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        for words, widget, stretch in (
            (Text("Start from", "基于"), self.which, 2), (Text("Name", "名称"), self.name, 3),
            (Text("For the use", "适用场景"), self.use, 2), (Text("Find", "查找"), self.search, 2),
        ):  # fmt: skip
            row.addWidget(Field(words, widget), stretch)
        return row

    def _editor(self) -> QGridLayout:
        self.text_en, self.text_zh = LineField(Text("Item, English", "条目，英文")), LineField(Text("Item, Chinese", "条目，中文"))
        self.proof_en, self.proof_zh = LineField(Text("Evidence asked for, English", "要求的证据，英文")), LineField(Text("Evidence asked for, Chinese", "要求的证据，中文"))
        self.level = Chooser(Text("Level", "级别"), _SEVERITIES)
        self.level.picked.connect(lambda _: self._edited())
        self.as_shipped = Button(Text("As shipped", "恢复内置"), icon="undo", small=True)
        self.as_shipped.clicked.connect(self._restore)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        names = ((Text("Item", "条目"), self.text_en, self.text_zh), (Text("Evidence", "证据"), self.proof_en, self.proof_zh))
        for place, (words, english, chinese) in enumerate(names):
            grid.addWidget(PlainLabel(words, size="dense", level="2"), place, 0)
            for column, field in ((1, english), (2, chinese)):
                grid.addWidget(field, place, column)
                field.editingFinished.connect(self._edited)
                field.textEdited.connect(self.touch)
        grid.addWidget(self.level, 0, 3)
        grid.addWidget(self.as_shipped, 1, 3)
        grid.setColumnStretch(1, 3)
        grid.setColumnStretch(2, 3)
        grid.setColumnStretch(3, 1)
        return grid

    def _add_buttons(self) -> None:
        self.add_own = self.add_button(Button(Text("Add an item", "新增条目"), icon="add", kind="quiet"))
        self.remove = self.add_button(Button(Text("Delete template", "删除模板"), icon="delete", kind="danger"))
        self.add_button(Button(CANCEL), rejects=True)
        self.keep = self.add_button(Button(Text("Save and use", "保存并使用"), kind="primary"), default=True)
        self.add_own.clicked.connect(self._add)
        self.remove.clicked.connect(self._remove)
        self.keep.clicked.connect(self._save)

    # -- templates --------------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the templates."""
        self._frame.bridge.when_done(self._frame.services.query(templates_in), self._take)

    def _take(self, known: tuple[Template, ...]) -> None:
        self._known = known
        self.which.set_choices([("", SHIPPED), *((t.id, foreign(t.name)) for t in known)], self._wanted)
        self._choose(self.which.current)

    def _choose(self, template_id: str) -> None:
        """Show another template; what was typed in the one before waits as its draft."""
        self.drafts.write()
        self.begin()
        found = next((t for t in self._known if t.id == template_id), None)
        # The shipped list stays as it is: what is edited is a new template on top of it.
        self.template = found or Template(fresh_id(), "")
        self.name.setText(self.template.name)
        self.use.choose(self.template.scenario)
        self._show()
        self.table.choose_first()
        self.drafts.open(template_id or NEW)

    def _show(self) -> None:
        self.model.set_rows(lines_of(self._shipped, self.template))
        self._show_line()
        self._fit()

    def _named(self) -> None:
        self._fit()
        self.touch()

    def _fit(self) -> None:
        self.remove.setVisible(any(t.id == self.template.id for t in self._known))
        self.keep.setEnabled(bool(self.name.text().strip()))

    @property
    def line(self) -> TemplateLine | None:
        """The chosen item."""
        found: TemplateLine | None = self.table.current_row
        return found

    def _show_line(self) -> None:
        line = self.line
        for field in (self.text_en, self.text_zh, self.proof_en, self.proof_zh, self.level):
            field.setEnabled(line is not None)
        self.as_shipped.setEnabled(line is not None and (line.changed or line.own))
        if line is None:
            return
        self.as_shipped.set_words(Text("Remove", "移除") if line.own else Text("As shipped", "恢复内置"))
        item = line.item
        for field, words in ((self.text_en, item.text.en), (self.text_zh, item.text.zh), (self.proof_en, item.evidence.en), (self.proof_zh, item.evidence.zh)):
            field.setText(words)
            field.setToolTip(plain_tip(words))
            field.setCursorPosition(0)
        self.level.choose(str(item.severity))

    # -- items ------------------------------------------------------------------------------------------------------------

    def _with(self, line: TemplateLine) -> Template:
        item = line.item
        if line.own:
            own = tuple(item if known.id == item.id else known for known in self.template.own)
            return replace(self.template, own=own)
        shipped = self._shipped[item.id]
        edit = ItemEdit(
            not line.shown, item.severity if item.severity is not shipped.severity else None,
            item.text if item.text != shipped.text else None, item.evidence if item.evidence != shipped.evidence else None,
        )  # fmt: skip
        return replace(self.template, edits={**self.template.edits, item.id: edit})

    def _put(self, line: TemplateLine) -> None:
        self.template = self._with(line)
        self._show()
        self.touch()

    def _toggle(self, line: TemplateLine) -> None:
        if not line.own:
            self._put(replace(line, shown=not line.shown))

    def _line_now(self, line: TemplateLine) -> TemplateLine:
        """The chosen item as it stands in the fields below the table."""
        text = Text(self.text_en.text().strip() or line.item.text.en, self.text_zh.text().strip() or line.item.text.zh)
        proof = Text(self.proof_en.text().strip(), self.proof_zh.text().strip())
        return replace(line, item=replace(line.item, text=text, evidence=proof, severity=Importance(self.level.current)))

    def _edited(self) -> None:
        line = self.line
        if line is not None and self._line_now(line) != line:
            self._put(self._line_now(line))

    def _restore(self) -> None:
        line = self.line
        if line is None:
            return
        if line.own:
            self.template = replace(self.template, own=tuple(known for known in self.template.own if known.id != line.item.id))
            self._show()
            self.touch()
        else:
            self._put(replace(line, item=self._shipped[line.item.id]))

    def _add(self) -> None:
        """A new item in the dimension of the chosen one, with words to be written over."""
        taken = {known.id for known in self.template.own} | set(self._shipped)
        number = next(n for n in range(1, 1000) if f"OWN-{n:02}" not in taken)
        dimension = self.line.item.dimension if self.line is not None else next(iter(DIMENSIONS))
        item = ChecklistItem(f"OWN-{number:02}", dimension, Importance.SHOULD, Text("New item", "新条目"), Text("", ""), ())
        self.template = replace(self.template, own=(*self.template.own, item))
        self._show()
        self.touch()
        self.table.choose(item.id)
        self.text_en.setFocus()
        self.text_en.selectAll()

    # -- a draft ----------------------------------------------------------------------------------------------------------

    def words_now(self) -> tuple[str, ...]:
        """Name, use and all edits, with what stands half typed in the fields of the chosen item."""
        line = self.line
        template = self.template if line is None else self._with(self._line_now(line))
        return (self.name.text(), self.use.current, document_of(template))

    def put_words(self, words: Sequence[str]) -> bool:
        """Put name, use and edits back."""
        try:
            name, use, document = words
            self.template = template_of(NamedDocument(self.template.id, name, document, use))
        except (ValueError, KeyError, TypeError):
            return False
        self.name.setText(name)
        self.use.choose(use)
        self._show()
        return True

    # -- keeping ----------------------------------------------------------------------------------------------------------

    def _save(self) -> None:
        self._edited()
        shipped = self._shipped
        template = replace(self.template, name=self.name.text().strip(), scenario=self.use.current)
        future = self._frame.services.change(lambda db: save_template(db, template, shipped), "template")
        self._frame.bridge.when_done(future, self._saved, self._refused)

    def _saved(self, template: Template) -> None:
        self.saved.emit(template.id)
        self.accept()

    def _refused(self, trouble: UserFacing) -> None:
        self.trouble.set_words(trouble.whole_text)
        self.trouble.show()

    def _remove(self) -> None:
        gone = self.template.id
        frame = self._frame  # the dialog is gone by then
        frame.bridge.when_done(frame.services.change(lambda db: remove_template(db, gone), "template"), lambda _: frame.note(Text("Template deleted", "模板已删除")))
        self.accept()


def _hay(line: TemplateLine) -> str:
    return f"{line.item.id} {line.item.text.en} {line.item.text.zh}"


def _group(line: TemplateLine) -> Group:
    return Group(line.item.dimension, DIMENSIONS.get(line.item.dimension, foreign(line.item.dimension)))


def _columns() -> tuple[Column[TemplateLine], ...]:
    def words(line: TemplateLine) -> Cell:
        tag = Text("own", "自定") if line.own else Text("reworded", "已改") if line.changed else ""
        return Cell(line.item.text, tone="1" if line.shown else "3", tag=tag)

    return (
        Column(Text("Shown", "显示"), lambda line: Cell(checked=line.shown), width=64),
        Column(Text("No.", "编号"), lambda line: Cell(foreign(line.item.id), tone="2"), width=80),
        Column(Text("Item", "条目"), words, width=320, stretch=True),
        Column(Text("Level", "级别"), lambda line: Cell(IMPORTANCE_WORDS[line.item.severity], tone="2"), width=96),
    )  # fmt: skip
