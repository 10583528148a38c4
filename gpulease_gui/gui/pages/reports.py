"""Which reports were made, are their files unchanged, and how is the next one made?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.export_dialog import ask_file, proposed_name
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.forms.term_cells import group_of_row, proof_columns
from gpulease_gui.gui.language import current_language
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.reports_parts import ContractCard, ReportLine, lines_in, report_columns
from gpulease_gui.gui.widgets.buttons import Button, Segment
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, Section, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.claims_view import TermRow, terms_in
from gpulease_gui.services.events import Event, JobChanged, RecordsChanged, RunEnded
from gpulease_gui.services.overview import ContractLine, local_day, overview_in
from gpulease_gui.store.claims import Holder

if TYPE_CHECKING:
    import sqlite3

_WAIT_MS = 150
_SCOPE_WIDTH = 292
_MOST_REPORTS = 6  # then the list scrolls
_LANGUAGES: tuple[tuple[str, Words], ...] = ((Language.ZH, "中文"), (Language.EN, "English"))


class ReportsPage(Page):
    """At the left what goes into the next report, in the middle what the contract's evidence says, below the reports made."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._lines: tuple[ContractLine, ...] = ()
        self._wanted = ""
        self._jobs: set[str] = set()
        self.contract = Chooser(Text("Contract", "合同"))
        self.contract.picked.connect(lambda _: self._chosen())
        self.language = Segment(_LANGUAGES, current=current_language())
        self.card = ContractCard()
        self.proof_rows: TableModel[TermRow] = TableModel(
            proof_columns(frame.services.catalogue), lambda row: row.term.key, group=lambda row: group_of_row(row, {})
        )
        self.proof = TableView(self.proof_rows, Text("Promised and measured", "承诺与实测"))
        self.proof_head = HeadLine(Text("Promised and measured", "承诺与实测"), Text("as the report will say it", "与报告内容一致"))
        self.made: TableModel[ReportLine] = TableModel(
            report_columns(), lambda line: line.report.id, search=lambda line: f"{line.contract} {line.report.path}"
        )
        self.table = TableView(self.made, Text("Reports made", "已生成的报告"))
        self.table.acted.connect(lambda line, _: self.open_folder(Path(line.report.path)))
        self.head = HeadLine(Text("Reports made", "已生成的报告"), Text("newest first", "最新的在前"))
        self.none = PlainLabel(Text("No report yet: export one from a contract whose nodes were verified.",
                                    "还没有报告：选一份已验收的合同导出。"), level="2")  # fmt: skip
        self.none.setContentsMargins(16, 8, 16, 12)
        self.export_button = Button(Text("Export PDF…", "导出 PDF…"), icon="export", kind="primary")
        self.export_button.clicked.connect(self.export)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self.refresh)
        self._build()

    def _build(self) -> None:
        scope = Pane(1)
        scope.setFixedWidth(_SCOPE_WIDTH)
        what = Section(Text("Scope", "范围"))
        what.column.addWidget(Field(Text("Contract", "合同"), self.contract))
        words = Section(Text("Language", "语言"))
        row = QHBoxLayout()
        row.addWidget(self.language)
        row.addStretch()
        words.column.addLayout(row)
        inside = Section(Text("What it holds", "报告内容"), last=True)
        inside.column.addWidget(PlainLabel(
            Text("Supplier, contract and nodes; every promise beside its measurement with the hash of the evidence; "
                 "bandwidths and a live stretch against the contract line; open questions; a sign-off block.",
                 "供应商、合同与节点；逐条承诺与实测及证据哈希；带宽与一段实时曲线对照合同线；待答问题；签署栏。"),
            size="dense", level="2", wrap=True))  # fmt: skip
        for part in (what, words, inside):
            scope.column.addWidget(part)
        scope.column.addStretch(1)
        main = Pane(2)
        for widget in (self.card, hairline(), self.proof_head, hairline()):
            main.column.addWidget(widget)
        main.column.addWidget(self.proof, 3)
        for widget in (hairline(), self.head, hairline(), self.none):
            main.column.addWidget(widget)
        main.column.addWidget(self.table)
        whole = Pane(2)
        side = QHBoxLayout()
        side.setSpacing(0)
        side.addWidget(scope)
        side.addWidget(hairline(vertical=True))
        side.addWidget(main, 1)
        whole.column.addLayout(side)
        self.stack = QStackedWidget()
        self.stack.addWidget(whole)
        self.stack.addWidget(self._empty())
        self.column.addWidget(self.stack)

    def _empty(self) -> EmptyState:
        add = Button(Text("Write a contract down", "先记下一份合同"), icon="add", kind="primary")
        add.clicked.connect(lambda: self.frame.go("suppliers"))
        return EmptyState(
            "nav-reports", Text("No reports yet", "还没有报告"),
            Text("A report is made from a contract whose nodes were verified.", "报告由已验收节点的合同生成。"), primary=add,
        )  # fmt: skip

    # -- reading ---------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read contracts and reports anew; hashing the files is a worker's task."""
        if not self.frame.is_open:
            return
        services = self.frame.services

        def work(connection: sqlite3.Connection) -> tuple[tuple[ContractLine, ...], tuple[ReportLine, ...]]:
            seen = overview_in(connection, services.catalogue, local_day(utc_now()), {})
            return seen.contracts, lines_in(connection)

        self.frame.bridge.when_done(services.query(work), lambda found: self._show(*found))

    def _show(self, contracts: tuple[ContractLine, ...], reports: tuple[ReportLine, ...]) -> None:
        self._lines = contracts
        self.stack.setCurrentIndex(0 if contracts or reports else 1)
        choices = [(line.contract.id, f"{line.contract.number} · {line.supplier}") for line in contracts]
        self.contract.set_choices(choices, self._wanted or None)
        self._wanted = ""
        self.made.set_rows(reports)
        self.head.set_count(len(reports))
        self.none.setVisible(not reports)
        self.table.setVisible(bool(reports))
        row = self.table.verticalHeader().defaultSectionSize()
        self.table.setFixedHeight((min(len(reports), _MOST_REPORTS) + 1) * row + 12)
        self._chosen()

    def _chosen(self) -> None:
        self.card.show_line(self.current)
        self._read_proof()
        self.export_button.setEnabled(self.current is not None)
        self.header_changed.emit()

    def _read_proof(self) -> None:
        services, line = self.frame.services, self.current
        if line is None:
            self.proof_rows.set_rows(())
            return
        contract = line.contract.id

        def work(connection: sqlite3.Connection) -> tuple[TermRow, ...]:
            rows = terms_in(connection, Holder.contract(contract), services.catalogue)
            return tuple(row for row in rows if row.value is not None or (row.found is not None and row.found.finding.required))

        self.frame.bridge.when_done(services.query(work), lambda rows: self._show_proof(contract, rows))

    def _show_proof(self, contract: str, rows: tuple[TermRow, ...]) -> None:
        if self.current is not None and self.current.contract.id == contract:
            self.proof_rows.set_rows(rows)
            self.proof_head.set_count(len(rows))

    @property
    def current(self) -> ContractLine | None:
        """The contract that the next report is about."""
        return next((line for line in self._lines if line.contract.id == self.contract.current), None)

    # -- exporting ------------------------------------------------------------------------------------------------------------

    def export(self) -> None:
        """Ask for the file, then write the report in a job."""
        line = self.current
        if line is None:
            return
        language = Language(self.language.current)
        path = ask_file(proposed_name(line.contract.number, language, local_day(utc_now())), self)
        if path is not None:
            self.start_export(line, language, path)

    def start_export(self, line: ContractLine, language: Language, path: Path) -> None:
        """Write the report beside the window; it is listed when it is whole."""
        services = self.frame.services
        workspace, demo = services.workspace.path, services.demo

        def work(cancel: CancelToken) -> object:
            from gpulease_gui.services.evaluate import export

            return export(workspace, line.contract.id, language, path, cancel, demo=demo)

        title = Text(f"Export report {line.contract.number}", f"导出报告 {line.contract.number}")
        job = services.jobs.start(title, work)
        self._jobs.add(job.id)
        self.frame.bridge.when_done(job.done, lambda _: self._written(path))

    def _written(self, path: Path) -> None:
        self.frame.note(Text(f"Written: {path.name}", f"已写入：{path.name}"))
        self.refresh()

    def open_folder(self, path: Path) -> None:
        """Show the folder of a report in the system's file manager."""
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

    # -- what the window asks -----------------------------------------------------------------------------------------------------

    def crumbs(self) -> tuple[Words, ...]:
        """The contract of the next report."""
        line = self.current
        return (Text(f"{line.contract.number} evaluation", f"{line.contract.number} 评估报告"),) if line else ()

    def buttons(self) -> tuple[Button, ...]:
        """The one primary."""
        return (self.export_button,) if self._lines else ()

    def doable(self) -> frozenset[str]:
        """Export."""
        return frozenset(["export"] if self.current is not None else [])

    def act(self, action: str) -> None:
        """Export."""
        if action == "export":
            self.export()

    def visit(self, path: tuple[str, ...]) -> None:
        """The id of a contract chooses it."""
        self._wanted = path[0] if path else ""
        self.refresh()

    def search(self, words: str) -> None:
        """Narrow the list of reports."""
        self.made.find(words)

    def handle(self, event: Event) -> None:
        """A run, a record, or one of our exports ended."""
        ours = isinstance(event, JobChanged) and event.ended and event.job_id in self._jobs
        if ours or isinstance(event, RunEnded | RecordsChanged):
            if not self._soon.isActive():
                self._soon.start()


PAGE = PageSpec("reports", Text("Reports", "报告"), "nav-reports", NavGroup.SETTLE, 80, ReportsPage)
