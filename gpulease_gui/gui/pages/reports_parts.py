"""What does the reports page say of a contract and of a report file?"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import CheckState
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, action_cell, state_cell
from gpulease_gui.gui.pages.overview_tables import nodes_en, promises_of
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import KeyValues
from gpulease_gui.gui.widgets.ruler import PromiseBar
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.reports.wording import short_hash
from gpulease_gui.services.overview import ContractLine
from gpulease_gui.store import settings, suppliers
from gpulease_gui.store.records import Report

if TYPE_CHECKING:
    import sqlite3

FOLDER = "folder"
_PIECE = 1 << 20


class FileState(StrEnum):
    """What became of a report's file since it was written."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    MISSING = "missing"
    UNREADABLE = "unreadable"


_BADGES = {
    FileState.UNCHANGED: Badge("lock", "pass", Text("file unchanged", "文件未变")),
    FileState.CHANGED: Badge("verdict-fail", "fail", Text("file changed", "文件已改动"), loud=True),
    FileState.MISSING: Badge("verdict-notrun", "t3", Text("file not there", "文件不在原处")),
    FileState.UNREADABLE: Badge("verdict-inconclusive", "inc", Text("not readable", "无法读取")),
}


@dataclass(frozen=True, slots=True)
class ReportLine:
    """A report, the number of its contract, and how its file stands."""

    report: Report
    contract: str
    state: FileState


def lines_in(connection: sqlite3.Connection) -> tuple[ReportLine, ...]:
    """All reports made, newest first; every file is hashed, so this belongs on a worker."""
    numbers = {contract.id: contract.number for contract in suppliers.list_contracts(connection)}
    return tuple(
        ReportLine(report, numbers.get(report.contract_id or "", ""), state_of(Path(report.path), report.sha256))
        for report in settings.list_reports(connection)
    )


def state_of(path: Path, sha256: str) -> FileState:
    """Whether the file still holds the bytes that were written."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except FileNotFoundError:
        return FileState.MISSING
    except OSError:
        return FileState.UNREADABLE
    return FileState.UNCHANGED if digest.hexdigest() == sha256 else FileState.CHANGED


def report_columns() -> tuple[Column[ReportLine], ...]:
    """Contract, file, language, when, state, hash, and the way to the folder."""
    return (
        Column(Text("Contract", "合同"), lambda line: Cell(line.contract, weight=500) if line.contract else NOTHING,
               lambda line: line.contract, width=110),
        Column(Text("File", "文件"), lambda line: Cell(Path(line.report.path).name, tone="2", tip=line.report.path),
               lambda line: line.report.path, width=200, stretch=True),
        Column(Text("Language", "语言"), _language, lambda line: line.report.language, width=84),
        Column(Text("Made", "生成时间"), lambda line: Cell(f"{line.report.made_at.astimezone():%Y-%m-%d %H:%M}", tone="2"),
               lambda line: line.report.made_at.timestamp(), width=132),
        Column(Text("State", "状态"), lambda line: state_cell(_BADGES[line.state]), lambda line: line.state, width=136),
        Column(Text("SHA-256", "SHA-256"), lambda line: Cell(short_hash(line.report.sha256), tone="2", code=True,
                                                             tip=line.report.sha256), width=104),
        Column(Text("Action", "操作"), lambda line: action_cell(Text("Open folder", "打开文件夹"), FOLDER), width=112, number=True),
    )  # fmt: skip


def _language(line: ReportLine) -> Cell:
    return Cell("中文" if line.report.language == Language.ZH else "English", tone="2")


class ContractCard(QWidget):
    """What the next report will say in one look: verdict, acceptance, promises."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ElidedLabel("", size="section", weight=600)
        self.sentence = PlainLabel("", size="dense", level="2", wrap=True)
        self.badge = BadgeLabel()
        self.bar = PromiseBar()
        self.bar.setMaximumWidth(360)
        self.facts = KeyValues(label_width=120)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.badge)
        column.addLayout(head)
        column.addWidget(self.sentence)
        column.addWidget(self.bar)
        column.addWidget(self.facts)

    def show_line(self, line: ContractLine | None) -> None:
        """Show another contract; none hides the card."""
        self.setVisible(line is not None)
        if line is None:
            return
        self.title.set_words(f"{line.contract.number} · {line.supplier}")
        self.sentence.set_words(line.sentence)
        self.badge.set_state(line.verdict if line.verdict is not None else CheckState.NOT_RUN)
        self.bar.set_promises(promises_of(line.standing))
        s = line.standing
        dates = f"{line.contract.start or '?'} – {line.contract.end or '?'}"
        unknown = Text("not stated", "未说明")
        self.facts.set_pairs((
            (Text("Promises", "承诺"), Text(f"{s.kept} kept, {s.broken} broken, {s.warned} with a warning, {s.unknown} unknown",
                                            f"兑现 {s.kept}，违背 {s.broken}，警告 {s.warned}，未知 {s.unknown}")),
            (Text("Nodes", "节点"), Text(nodes_en(line.nodes), f"{line.nodes} 个节点")),
            (Text("Term", "期限"), dates if line.contract.start or line.contract.end else unknown),
        ))  # fmt: skip
