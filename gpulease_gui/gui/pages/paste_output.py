"""What do outputs say that a supplier sent, and do they keep the contract?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QStackedWidget

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import readers
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.paste_edit import PasteEdit, size_words
from gpulease_gui.gui.pages.paste_results import Results
from gpulease_gui.gui.pages.paste_tables import QuestionRow, question_rows, questions_table
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, ThinSplitter, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.acceptance import promises_in
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded
from gpulease_gui.services.pasted import Judged, Question, judge_pieces, message_for, open_questions, save_judged
from gpulease_gui.services.pasted_pieces import pieces_of
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store import suppliers

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Reader

_WAIT_MS = 250
_LEFT_WIDTH = 470

_TITLE = Text("Paste output", "粘贴输出")
_NO_CONTRACT = Text("No contract: show the reading only", "不选合同：仅显示读数")
_FOUND_BY_ITSELF = Text("Found by itself", "自动识别")


class PasteOutputPage(Page):
    """At the left what was pasted and what is still to be asked; at the right what it is, what it says, what that means."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._terms = frame.services.catalogue.terms
        self._file: tuple[str, bytes] | None = None
        self._round = 0
        self._wanted = ""
        self.judged: Judged | None = None
        self.contract = Chooser(Text("Contract", "合同"), [("", _NO_CONTRACT)])
        self.contract.picked.connect(lambda _: self._contract_chosen(judge=True))
        self.kind = Chooser(Text("Kind", "类型"), [("", _FOUND_BY_ITSELF), *_kinds()])
        self.kind.picked.connect(lambda _: self._read())
        self.edit = PasteEdit()
        self.edit.changed.connect(self._typed)
        self.edit.dropped.connect(self.open_file)
        self.amount = PlainLabel("", size="caption", level="3")
        self._make_tables()
        self._make_buttons()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._read)
        self._build()
        self._show_amount()

    def _make_tables(self) -> None:
        self.results = Results(self._terms)
        self.question_model = questions_table()
        self.questions = TableView(self.question_model, Text("Ask the supplier", "向供应商索取"))
        self.questions.acted.connect(lambda row, _: self.copy_question(row))

    def _make_buttons(self) -> None:
        self.open_button = Button(Text("Open file…", "打开文件…"), icon="document")
        self.open_button.clicked.connect(self.ask_file)
        self.clear_button = Button(Text("Clear", "清空"), icon="close")
        self.clear_button.clicked.connect(self.clear)
        self.keep_button = Button(Text("Keep as evidence", "存为证据"), icon="attachment", kind="primary")
        self.keep_button.clicked.connect(self.keep)
        self.copy_all = Button(Text("Copy all", "全部复制"), icon="copy", kind="link", small=True)
        self.copy_all.clicked.connect(self.copy_questions)
        self.keep_button.setEnabled(False)
        self.clear_button.setEnabled(False)

    # -- building ---------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        whole = self._splitter = ThinSplitter()  # kept: its handles alone would not hold it
        whole.addWidget(self._left())
        whole.addWidget(self._right())
        whole.setStretchFactor(1, 1)
        whole.setSizes([_LEFT_WIDTH, 900])
        self.column.addWidget(whole)

    def _left(self) -> Pane:
        pane = Pane(1)
        pane.setMinimumWidth(360)
        fields = QHBoxLayout()
        fields.setContentsMargins(16, 12, 16, 8)
        fields.setSpacing(8)
        fields.addWidget(Field(Text("Contract", "合同"), self.contract), 3, Qt.AlignmentFlag.AlignTop)
        fields.addWidget(Field(Text("Kind", "类型"), self.kind), 2, Qt.AlignmentFlag.AlignTop)
        box = QHBoxLayout()
        box.setContentsMargins(16, 0, 16, 0)
        box.addWidget(self.edit)
        below = QHBoxLayout()
        below.setContentsMargins(16, 4, 16, 10)
        below.addWidget(self.amount)
        below.addStretch()
        pane.column.addLayout(fields)
        pane.column.addLayout(box, 3)
        pane.column.addLayout(below)
        pane.column.addWidget(hairline())
        self.question_head = HeadLine(Text("Ask the supplier", "向供应商索取"))
        self.question_head.layout().addWidget(self.copy_all)  # type: ignore[union-attr]
        self.no_questions = PlainLabel("", size="dense", level="2", wrap=True)
        self.no_questions.setContentsMargins(16, 4, 16, 12)
        pane.column.addWidget(self.question_head)
        pane.column.addWidget(self.no_questions)
        self.questions.set_pane()
        pane.column.addWidget(self.questions, 2)
        return pane

    def _right(self) -> Pane:
        pane = Pane(2)
        self.stack = QStackedWidget()
        empty_open = Button(Text("Open file…", "打开文件…"), icon="document")
        empty_open.clicked.connect(self.ask_file)
        self.stack.addWidget(EmptyState(
            "paste", Text("Nothing pasted yet", "还没有粘贴内容"),
            Text("Paste at the left what a supplier sent in a chat: nvidia-smi, topo, iperf3, dmesg and others are found by themselves.",
                 "把供应商在聊天里发来的内容粘贴到左侧：nvidia-smi、topo、iperf3、dmesg 等会自动识别。"), primary=empty_open,
        ))  # fmt: skip
        self.stack.addWidget(self.results)
        pane.column.addWidget(self.stack)
        return pane

    # -- reading ----------------------------------------------------------------------------------------------------------

    def refresh(self, *, judge: bool) -> None:
        """Read the contracts and the open claims anew, and what stands in the field with `judge`."""
        query = self.frame.services.query(_contracts_in)
        self.frame.bridge.when_done(query, lambda contracts: self._show_contracts(contracts, judge=judge))

    def _show_contracts(self, contracts: tuple[tuple[str, str], ...], *, judge: bool) -> None:
        before = self.contract.current
        first = self._wanted or before or (contracts[0][0] if contracts else "")
        self._wanted = ""
        self.contract.set_choices([*contracts, ("", _NO_CONTRACT)], first)
        self._contract_chosen(judge=judge or self.contract.current != before)

    def _contract_chosen(self, *, judge: bool) -> None:
        self.header_changed.emit()
        contract = self.contract.current
        if contract:
            query = self.frame.services.query(lambda connection: open_questions(connection, contract))
            self.frame.bridge.when_done(query, lambda found: self._show_questions(contract, found))
        else:
            self._show_questions("", ())
        if judge:
            self._read()

    def _show_questions(self, contract: str, found: tuple[Question, ...]) -> None:
        if contract != self.contract.current:
            return
        self.question_model.set_rows(question_rows(found, self._terms))
        self.question_head.set_count(len(found))
        self.questions.setVisible(bool(found))
        self.copy_all.setVisible(bool(found))
        self.no_questions.setVisible(not found)
        self.no_questions.set_words(
            Text("No open claim of this contract is answered by a command.", "该合同没有可用命令求证的未决承诺。") if contract
            else Text("Choose a contract to see which outputs are still wanted.", "选择合同后可看到还需索取哪些输出。")
        )  # fmt: skip

    def _typed(self) -> None:
        self._file = None
        self._show_amount()
        self._soon.start()

    def _show_amount(self) -> None:
        text = self.edit.text
        self.amount.set_words(size_words(len(text), is_head=self.edit.is_head))
        self.clear_button.setEnabled(bool(text))

    def _read(self) -> None:
        """Judge what stands in the field on a worker; an answer that came too late is dropped."""
        if not self.frame.is_open:
            return
        self._soon.stop()
        self._round += 1
        current, text, kind, contract = self._round, self.edit.text, self.kind.current or None, self.contract.current
        if not text.strip():
            self._show(current, None)
            return
        self.keep_button.setEnabled(False)
        services, file = self.frame.services, self._file

        def work(connection: Reader) -> Judged:
            promised: dict[str, TermValue] = promises_in(connection, contract) if contract else {}
            source, data = file if file is not None else ("", text.encode("utf-8", "replace"))
            return judge_pieces(services.catalogue, pieces_of(data, source, kind), promised, effective(connection))

        self.frame.bridge.when_done(services.query(work), lambda judged: self._show(current, judged))

    def _show(self, current: int, judged: Judged | None) -> None:
        if current != self._round:
            return
        self.judged = judged
        outputs = judged.outputs if judged else ()
        self.stack.setCurrentIndex(1 if outputs else 0)
        self.keep_button.setEnabled(bool(outputs))
        self.results.show_judged(judged)

    # -- what the user does -----------------------------------------------------------------------------------------------

    def ask_file(self) -> None:
        """Choose a file with the supplier's output."""
        path, _ = QFileDialog.getOpenFileName(self, say(Text("Output of the supplier", "供应商发来的输出")), "")
        if path:
            self.open_file(Path(path))

    def open_file(self, path: Path) -> None:
        """Read at most 8 MiB of a file beside the window and show it."""
        self.frame.bridge.when_done(
            self.frame.services.jobs.local(lambda: _bytes_of(path)), lambda data: self._opened(path.name, data)
        )

    def _opened(self, name: str, read: tuple[bytes, str]) -> None:
        data, text = read
        self.edit.show_text(text)
        self._file = (name, data)
        self._read()

    def clear(self) -> None:
        """Begin anew."""
        self.edit.show_text("")
        self.kind.choose("")
        self._read()

    def keep(self) -> None:
        """Save outputs and findings in a job; with a contract, note on its claims what was sent."""
        judged, contract = self.judged, self.contract.current or None
        if judged is None:
            return
        services = self.frame.services
        self.keep_button.setEnabled(False)

        def work(cancel: CancelToken) -> object:
            save_judged(services.workspace, judged, contract)
            services.bus.publish(RecordsChanged(frozenset(["claim"])))
            return None

        job = services.jobs.start(Text("Keep pasted output", "保存粘贴的输出"), work)
        self.frame.bridge.when_done(job.done, lambda _: self._kept(len(judged.outputs)))

    def _kept(self, count: int) -> None:
        self.frame.note(Text(f"Kept as evidence: {count} outputs as sent by the supplier", f"已存为证据：供应商提供的 {count} 段输出"))

    def copy_question(self, row: QuestionRow) -> None:
        """Put the message with the command into the clipboard."""
        QGuiApplication.clipboard().setText(say(row.question.message))
        self.frame.note(Text(f"Copied: the question on {row.name.en}", f"已复制：关于{row.name.zh}的问题"))

    def copy_questions(self) -> None:
        """Put one message with every command, each once, into the clipboard."""
        commands = dict.fromkeys(row.question.line for row in self.question_model.rows)
        QGuiApplication.clipboard().setText(say(message_for(tuple(commands))))
        self.frame.note(Text(f"Copied: {len(commands)} commands", f"已复制：{len(commands)} 条命令"))

    # -- what the window asks ---------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The contract that it is judged against."""
        return (self.contract.currentText(),) if self.contract.current else ()

    def buttons(self) -> tuple[Button, ...]:
        """Open, clear, and the one primary."""
        return (self.clear_button, self.open_button, self.keep_button)

    def visit(self, path: tuple[str, ...]) -> None:
        """The id of a contract chooses it."""
        self._wanted = path[0] if path else ""
        self.edit.setFocus()
        self.refresh(judge=True)

    def search(self, words: str) -> None:
        """Narrow the reading and the findings."""
        self.results.narrow(words)

    def handle(self, event: Event) -> None:
        """Promises or contracts changed."""
        if isinstance(event, RecordsChanged | RunEnded) and self.frame.is_open:
            self.refresh(judge=False)


def _contracts_in(connection: Reader) -> tuple[tuple[str, str], ...]:
    names = {supplier.id: supplier.name for supplier in suppliers.list_suppliers(connection)}
    return tuple((c.id, f"{c.number} · {names.get(c.supplier_id, '')}") for c in suppliers.list_contracts(connection))


def _kinds() -> Iterator[tuple[str, Words]]:
    for id_, reader in readers().items():
        title = reader.fact.title
        yield id_, Text(f"{id_} · {title.en}", f"{id_} · {title.zh}")


def _bytes_of(path: Path) -> tuple[bytes, str]:
    """The head of a file with one byte more than is taken, so that a cut is seen; and its text. Raises UserFacing."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_STDOUT_BYTES + 1)
    except OSError as error:
        raise UserFacing(Text(f"could not read {path.name}", f"无法读取 {path.name}"), os_reason(error), Text("Check the file", "请检查该文件")) from error
    return data, data.decode("utf-8", "replace").replace("\x00", "")


PAGE = PageSpec("paste", _TITLE, "paste", NavGroup.USE, 65, PasteOutputPage)
