"""What does each step of an import show: the columns, the doubts, what would be saved?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.supplier import Offer, Supplier
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import clear_layout
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commercial_words import PRICE_UNITS
from gpulease_gui.services.importing_desk import (
    DELIMITERS,
    ENCODINGS,
    ColumnRow,
    DryRun,
    Loaded,
    Source,
    target_choices,
)
from gpulease_gui.services.importing_lines import LEFT_OUT, Issue, Question
from gpulease_gui.services.importing_rows import LeftOut, left_out_words
from gpulease_gui.services.importing_targets import Targets

NEW = "new"
_PASTED = "pasted!"
_GUESSED = Text("guessed", "自动识别")
_DELIMITERS: dict[str, Words] = {",": Text("comma", "逗号"), "\t": Text("tab", "制表符"), ";": Text("semicolon", "分号"), "|": "|"}
_SHOWN_ROWS = 12


class MappingPage(QWidget):
    """Whose offers these are, how the table is cut, and what each column is. `reread` asks to read the source again,
    `owner_picked` to map the table as the last one of that supplier was."""

    reread = Signal(object)
    owner_picked = Signal(str)
    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loaded: Loaded | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        self.supplier = Chooser(Text("Supplier", "供应商"))
        self.supplier.picked.connect(self._supplier_picked)
        self.new_name = LineField(Text("Name of the new supplier", "新供应商名称"), Text("name of the new supplier", "新供应商名称"))
        self.new_name.textEdited.connect(self.changed)
        first = QHBoxLayout()
        first.setSpacing(12)
        first.addWidget(Field(Text("Supplier", "供应商"), self.supplier), 1)
        self._new = Field(Text("New supplier", "新供应商"), self.new_name)
        first.addWidget(self._new, 1)
        column.addLayout(first)
        column.addLayout(self._reading())
        self.notes = PlainLabel("", size="dense", level="2", wrap=True)
        column.addWidget(self.notes)
        self.left_out = PlainLabel("", size="dense", level="warn", wrap=True)
        self.left_out.hide()
        column.addWidget(self.left_out)
        self.model = TableModel[ColumnRow](_columns(lambda: self._targets), lambda row: row.place)
        self.table = TableView(self.model, Text("Columns of the table", "表格的列"))
        self.table.setMinimumHeight(220)
        column.addWidget(self.table, 1)
        self.target = Chooser(Text("This column is", "该列为"))
        self.target.setMinimumContentsLength(28)
        self.target.picked.connect(self._target_picked)
        column.addWidget(Field(Text("The chosen column is", "所选列为"), self.target))
        self.table.selectionModel().currentRowChanged.connect(self._row_chosen)

    def _reading(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.sheet = Chooser(Text("Sheet", "工作表"))
        self.encoding = Chooser(Text("Encoding", "编码"))
        self.delimiter = Chooser(Text("Delimiter", "分隔符"))
        self.header = Chooser(Text("Row of headings", "标题行"))
        self._fields = []
        for label, chooser in ((Text("Sheet", "工作表"), self.sheet), (Text("Encoding", "编码"), self.encoding),
                               (Text("Delimiter", "分隔符"), self.delimiter), (Text("Row of headings", "标题行"), self.header)):  # fmt: skip
            field = Field(label, chooser)
            self._fields.append(field)
            row.addWidget(field, 1)
        for chooser in (self.sheet, self.encoding, self.delimiter):
            chooser.picked.connect(self._reread)
        self.header.picked.connect(self._header_picked)
        return row

    @property
    def loaded(self) -> Loaded:
        """The table as the user has mapped it. Raises RuntimeError before one is shown."""
        if self._loaded is None:
            raise RuntimeError("no table is shown")
        return replace(self._loaded, supplier=self._chosen_supplier(self._loaded.suppliers))

    @property
    def complete(self) -> bool:
        """Whether something is mapped, and the offers have a supplier."""
        if self._loaded is None:
            return False
        named = "supplier" in self._loaded.layout.columns
        return any(self._loaded.layout.columns) and (named or self._chosen_supplier(self._loaded.suppliers) is not None)

    def _chosen_supplier(self, known: Sequence[Supplier]) -> Supplier | None:
        if self.supplier.current == NEW:
            name = self.new_name.text().strip()
            return next((s for s in known if s.name == name), Supplier(NEW, name)) if name else None
        return next((s for s in known if s.id == self.supplier.current), None)

    @property
    def _targets(self) -> Targets | None:
        return self._loaded.targets if self._loaded else None

    def show_table(self, loaded: Loaded) -> None:
        """Show a table that was read; what the user chose of the supplier stays."""
        first = self._loaded is None
        self._loaded = loaded
        choices: list[tuple[str, Words]] = [(s.id, foreign(s.name)) for s in loaded.suppliers]
        choices.append((NEW, Text("a new supplier", "新建供应商")))
        wanted = loaded.supplier.id if first and loaded.supplier else NEW if first and not loaded.suppliers else None
        self.supplier.set_choices(choices, wanted)
        self._new.setVisible(self.supplier.current == NEW)
        self.target.set_choices(list(target_choices(loaded.targets)))
        self._show_reading(loaded)
        _show_left_out(self.left_out, loaded.left_out)
        self.model.set_rows(loaded.columns())
        self.table.choose_first()
        self.changed.emit()

    def _show_reading(self, loaded: Loaded) -> None:
        sheet = loaded.sheet
        self.sheet.set_choices([(name, foreign(name)) for name in sheet.sheets], sheet.name)
        encodings = dict.fromkeys((sheet.encoding, *ENCODINGS)) if sheet.encoding else ()
        self.encoding.set_choices([(name, name.upper()) for name in encodings], sheet.encoding)
        delimiters = dict.fromkeys((sheet.delimiter, *DELIMITERS)) if sheet.delimiter else ()
        self.delimiter.set_choices([(mark, _DELIMITERS.get(mark, mark)) for mark in delimiters], sheet.delimiter)
        rows = [(str(n), Text(f"row {n + sheet.first_row}", f"第 {n + sheet.first_row} 行")) for n in range(min(_SHOWN_ROWS, len(sheet.rows)))]
        none = ("", Text("there is none", "没有标题行"))
        header = loaded.layout.header
        self.header.set_choices([*rows, none], "" if header is None else str(header))
        for field, used in zip(self._fields, (len(sheet.sheets) > 1, bool(sheet.encoding) and loaded.source.path, sheet.delimiter, True), strict=True):
            field.setVisible(bool(used))
        self.notes.set_words(_joined([note for note in sheet.notes]))
        self.notes.setVisible(bool(sheet.notes))

    @property
    def first_field(self) -> QWidget:
        """Where typing begins: the name of a supplier that is not known yet, else the columns."""
        unnamed = self.supplier.current == NEW and not self.new_name.text().strip()
        return self.new_name if unnamed else self.table

    def put_owner(self, supplier_id: str, name: str) -> None:
        """Whose offers these were said to be; a supplier that is gone is not chosen."""
        if supplier_id in self.supplier.keys:
            self.supplier.choose(supplier_id)
        self.new_name.setText(name)
        self._new.setVisible(self.supplier.current == NEW)
        self.changed.emit()

    @property
    def table_shown(self) -> Loaded | None:
        """The table as it is mapped; None before one is shown."""
        return self._loaded

    def _supplier_picked(self) -> None:
        self._new.setVisible(self.supplier.current == NEW)
        if self.supplier.current == NEW:
            self.new_name.setFocus()
            self._loaded = self._loaded.without_memory() if self._loaded else None
        elif self.supplier.current:
            self.owner_picked.emit(self.supplier.current)
        self.changed.emit()

    def _reread(self) -> None:
        if self._loaded is not None:
            now = self._loaded.source
            self.reread.emit(Source(now.path, now.text, now.as_chat, self.sheet.current, self.encoding.current, self.delimiter.current))

    def _header_picked(self, place: str) -> None:
        if self._loaded is not None:
            self.show_table(self._loaded.relaid(int(place) if place else None))

    def _row_chosen(self) -> None:
        row = self.table.current_row
        self.target.setEnabled(row is not None)
        if row is not None:
            self.target.choose(row.target)

    def _target_picked(self, key: str) -> None:
        row = self.table.current_row
        if row is None or self._loaded is None:
            return
        self._loaded = self._loaded.with_column(row.place, key)
        _show_left_out(self.left_out, self._loaded.left_out)
        self.model.put(replace(row, target=key))
        self.changed.emit()


def _columns(targets: object) -> tuple[Column[ColumnRow], ...]:
    def is_what(row: ColumnRow) -> Cell:
        known = targets() if callable(targets) else None
        if known is None or row.target not in known.by_key:
            return Cell(Text("left out", "不导入"), missing=True)
        return Cell(known.by_key[row.target].label, icon="check", icon_tone="pass")

    return (
        Column[ColumnRow](Text("Col.", "列"), lambda row: Cell(row.letters, tone="3"), width=52),
        Column[ColumnRow](Text("Heading", "标题"), lambda row: Cell(foreign(row.heading)) if row.heading else NOTHING, width=180),
        Column[ColumnRow](Text("Is", "对应"), is_what, width=190),
        Column[ColumnRow](Text("Cells", "单元格示例"), lambda row: Cell(foreign(row.samples), tone="2"), stretch=True),
    )  # fmt: skip


def _show_left_out(label: PlainLabel, columns: Sequence[LeftOut]) -> None:
    words = left_out_words(columns)
    label.set_words(words or "")
    label.setVisible(words is not None)


class DoubtsPage(QWidget):
    """One question for all cells that are ambiguous in the same way. `answered` carries (question key, option)."""

    answered = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.lead = PlainLabel("", level="2", wrap=True)
        column.addWidget(self.lead)
        inside = QWidget()
        self._rows = QVBoxLayout(inside)
        self._rows.setContentsMargins(0, 8, 8, 8)
        self._rows.setSpacing(12)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(inside)
        column.addWidget(area, 1)
        self.choosers: list[Chooser] = []

    def show_questions(self, questions: Sequence[Question], answers: dict[str, str]) -> None:
        """Ask; what was answered before is chosen already, and so is what holds without an answer."""
        clear_layout(self._rows)
        self.choosers = []
        count = len(questions)
        self.lead.set_words(
            Text("Every unit and currency was read; nothing is ambiguous.", "单位与币种均已识别，没有歧义。") if not count else
            Text("These cells can be read in more than one way. Nothing is guessed.", "以下单元格有多种读法，请选择；不会自动猜测。")
        )  # fmt: skip
        for question in questions:
            self._ask(question, answers.get(question.key, question.default))
        self._rows.addStretch()

    def _ask(self, question: Question, answer: str) -> None:
        cells = len(question.cells)
        where = Text(f"{question.heading} · {question.words} · {cells} {'cell' if cells == 1 else 'cells'}, the first is {question.cells[0]}",
                     f"{question.heading} · {question.words} · 共 {cells} 个单元格，首个为 {_where(question.cells[0]).zh}")  # fmt: skip
        origin = question.origin
        if origin is not None:
            where = Text(f"{where.en} · {origin.en}", f"{where.zh} · {origin.zh}")
        first: list[tuple[str, Words]] = [] if question.default else [("", Text("choose…", "请选择…"))]
        choices: list[tuple[str, Words]] = [*first, *question.options]
        choices.append((LEFT_OUT, Text("import without this value", "导入时不含该值")))
        chooser = Chooser(question.question, choices)
        chooser.choose(answer)
        chooser.picked.connect(lambda option: self.answered.emit(question.key, option))
        self.choosers.append(chooser)
        self._rows.addWidget(PlainLabel(where, size="dense", level="2", wrap=True))
        self._rows.addWidget(Field(question.question, chooser))

    @property
    def complete(self) -> bool:
        """Whether every question has an answer."""
        return all(chooser.current for chooser in self.choosers)


@dataclass(frozen=True, slots=True)
class OutcomeRow:
    """One line of the dry run: the cell or row, what would happen, the words."""

    number: int
    where: str
    what: str
    words: Words


_WHAT: dict[str, Cell] = {
    "error": Cell(Text("error", "错误"), icon="verdict-fail", icon_tone="fail", tone="fail"),
    "warning": Cell(Text("look here", "请留意"), icon="verdict-warn", icon_tone="warn"),
    "add": Cell(Text("new", "新增"), icon="add", icon_tone="accent"),
    "change": Cell(Text("changes", "变更"), icon="edit", icon_tone="warn"),
    "same": Cell(Text("the same", "无变化"), tone="3"),
    "skipped": Cell(Text("no offer", "非报价行"), tone="3"),
}


class OutcomePage(QWidget):
    """What would be saved, errors first."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        self.sums = PlainLabel("", size="dense", weight=600)
        self.errors = PlainLabel("", size="dense", weight=600, level="fail")
        self.warnings = PlainLabel("", size="dense", weight=600, level="2")
        row.addWidget(self.sums)
        row.addWidget(self.errors)
        row.addWidget(self.warnings)
        self.known = PlainLabel("", size="dense", level="2")
        row.addWidget(self.known)
        row.addStretch()
        column.addLayout(row)
        self.left_out = PlainLabel("", size="dense", level="warn", wrap=True)
        self.left_out.hide()
        column.addWidget(self.left_out)
        self.model = TableModel[OutcomeRow](
            (
                Column[OutcomeRow](Text("Where", "位置"), lambda line: Cell(_where(line.where), code=True, tone="3"), width=130),
                Column[OutcomeRow](Text("What", "结果"), lambda line: _WHAT[line.what], width=110),
                Column[OutcomeRow](Text("Offer", "内容"), lambda line: Cell(line.words, tip=line.words), stretch=True),
            ),
            lambda line: line.number,
        )
        self.table = TableView(self.model, Text("What would be saved", "将保存的内容"), many=True)
        self.table.setMinimumHeight(260)
        column.addWidget(self.table, 1)

    def show_run(self, run: DryRun) -> None:
        """Show a dry run."""
        known = bool(run.planned) and run.same == len(run.planned)
        self.known.set_words(Text("Every offer stands in the workspace already, just so.", "全部报价均已在工作区中，没有变化。") if known else "")
        self.sums.set_words(Text(f"{run.added} new · {run.changed} changed · {run.same} the same", f"新增 {run.added} · 变更 {run.changed} · 无变化 {run.same}"))
        rows = "row" if run.bad == 1 else "rows"
        self.errors.set_words(Text(f"{run.bad} {rows} with an error, left out", f"{run.bad} 行有错误，不导入") if run.bad else "")
        count = len(run.lines.warnings)
        cells = "cell" if count == 1 else "cells"
        self.warnings.set_words(Text(f"{count} {cells} to look at, imported", f"{count} 处请留意，照常导入") if count else "")
        _show_left_out(self.left_out, run.lines.left_out)
        self.model.set_rows(_outcome(run))


def _outcome(run: DryRun) -> list[OutcomeRow]:
    found: list[tuple[str, str, Words]] = [(issue.address, "error", _sentence(issue)) for issue in run.lines.issues]
    found += [(warning.address, "warning", _sentence(warning)) for warning in run.lines.warnings]
    for row in run.planned:
        what = "add" if row.is_new else "change" if row.changes else "same"
        said = [foreign(" ".join(part for part in (row.offer.quote_no, row.offer.title) if part)), *_priced(row.offer), *([_joined(row.changes)] if row.changes else [])]
        found.append((row.line.address, what, Text(" · ".join(t.en for t in said), " · ".join(t.zh for t in said))))
    found += [(address, "skipped", foreign(words)) for address, words in run.lines.skipped]
    return [OutcomeRow(number, *line) for number, line in enumerate(found)]


def _where(address: str) -> Text:
    """Where a line stands; what was pasted has no sheet with a name of its own."""
    return Text(address, f"粘贴!{address.removeprefix(_PASTED)}") if address.startswith(_PASTED) else foreign(address)


def _priced(offer: Offer) -> tuple[Text, ...]:
    if offer.price is None:
        return ()
    money, unit = f"{offer.price.currency} {amount_text(offer.price.amount)}", PRICE_UNITS.get(offer.price_unit, foreign(offer.price_unit))
    return (Text(f"{money} / {unit.en}", f"{money} / {unit.zh}"),)


def _sentence(issue: Issue) -> Text:
    said = visible(issue.words[:40])
    before = Text(f"{said}: " if said else "", f"{said}：" if said else "")
    return Text(f"{before.en}{issue.why.en}; {issue.next_step.en}", f"{before.zh}{issue.why.zh}；{issue.next_step.zh}")


def _joined(words: Sequence[Text]) -> Text:
    return Text("; ".join(w.en for w in words), "；".join(w.zh for w in words))
