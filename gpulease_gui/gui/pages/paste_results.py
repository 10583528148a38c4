"""What do pasted outputs say, and what do the rules make of them?"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.overview_parts import HeadLine
from gpulease_gui.gui.pages.paste_tables import (
    OutputRow,
    findings_table,
    in_order,
    outputs_table,
    value_rows,
    values_table,
)
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Pane, ThinSplitter, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.pasted import Judged

_MOST_ROWS = 5
_SENT = Text("as sent by the supplier: evidence at most, never a measurement", "供应商提供：最多算书面证据，不是实测")


class Results(ThinSplitter):
    """Above the outputs and the reading of one of them, below the findings of all."""

    def __init__(self, terms: Mapping[str, Term]) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self.output_rows, self.value_rows, self.finding_rows = outputs_table(), values_table(), findings_table(terms)
        self.outputs = TableView(self.output_rows, Text("Outputs recognised", "识别出的输出"))
        self.outputs.chosen.connect(self._show_values)
        self.values = TableView(self.value_rows, Text("Reading", "读数"))
        self.findings = TableView(self.finding_rows, Text("Findings", "检查结果"))
        self.findings.chosen.connect(self._explain)
        self._build()

    def _build(self) -> None:
        upper, lower = Pane(2), Pane(2)
        self.output_head = HeadLine(Text("Outputs recognised", "识别出的输出"))
        self.value_head = HeadLine(Text("Reading", "读数"))
        upper.column.addWidget(self.output_head)
        upper.column.addWidget(hairline())
        upper.column.addWidget(self.outputs)
        upper.column.addWidget(hairline())
        upper.column.addWidget(self.value_head)
        upper.column.addWidget(hairline())
        upper.column.addWidget(self.values, 1)
        self.no_values = PlainLabel("", size="dense", level="2", wrap=True)
        self.no_values.setContentsMargins(16, 8, 16, 12)
        upper.column.addWidget(self.no_values)
        self.no_values_filler = Pane(2)
        upper.column.addWidget(self.no_values_filler, 1)
        self.finding_head = HeadLine(Text("Findings", "检查结果"), _SENT)
        self.badge = BadgeLabel()
        self.badge.setContentsMargins(16, 0, 0, 0)
        self.finding_head.layout().insertWidget(2, self.badge)  # type: ignore[union-attr]
        self.none = PlainLabel("", size="dense", level="2", wrap=True)
        self.none.setContentsMargins(16, 8, 16, 12)
        self.reason = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self.reason.setContentsMargins(16, 8, 16, 10)
        for widget in (self.finding_head, hairline(), self.none):
            lower.column.addWidget(widget)
        lower.column.addWidget(self.findings, 1)
        self.filler = Pane(2)
        lower.column.addWidget(self.filler, 1)
        lower.column.addWidget(hairline())
        lower.column.addWidget(self.reason)
        self.addWidget(upper)
        self.addWidget(lower)
        self.setSizes([410, 440])

    def show_judged(self, judged: Judged | None) -> None:
        """Show what was judged; None shows nothing."""
        outputs = judged.outputs if judged else ()
        self.output_rows.set_rows([OutputRow(number, output) for number, output in enumerate(outputs, 1)])
        self.output_head.set_count(len(outputs))
        self._fit_outputs(len(outputs))
        self.outputs.choose_first()
        self._show_values(self.outputs.current_row)
        self._show_findings(judged)

    def narrow(self, words: str) -> None:
        """Narrow the reading and the findings."""
        self.value_rows.find(words)
        self.finding_rows.find(words)

    def _fit_outputs(self, count: int) -> None:
        """As high as its rows, up to five."""
        rows = max(1, min(count, _MOST_ROWS))
        height = self.outputs.horizontalHeader().sizeHint().height() + rows * self.outputs.verticalHeader().defaultSectionSize()
        self.outputs.setFixedHeight(height + 2)

    def _show_values(self, row: OutputRow | None) -> None:
        values = value_rows(row.output) if row else ()
        self.value_rows.set_rows(values)
        self.value_head.set_count(len(values))
        problem = row.output.problem or row.output.note if row else None
        self.values.setVisible(bool(values))
        self.no_values.setVisible(problem is not None)
        self.no_values.set_words(problem or "")
        self.no_values_filler.setVisible(not values)

    def _show_findings(self, judged: Judged | None) -> None:
        found = in_order(judged.findings) if judged else ()
        self.finding_rows.set_rows(found)
        self.finding_head.set_count(len(found))
        self.badge.set_state(judged.overall if judged and found else None)
        self.findings.setVisible(bool(found))
        self.reason.setVisible(bool(found))
        self.filler.setVisible(not found)
        self.none.setVisible(not found)
        self.none.set_words(_nothing_judged(judged))
        self.findings.choose_first()
        self._explain(self.findings.current_row)

    def _explain(self, finding: Finding | None) -> None:
        if finding is None:
            self.reason.set_words("")
            return
        step = finding.next_step
        self.reason.set_words(Text(
            finding.reason.en + (f"\n{step.en}" if step.en else ""), finding.reason.zh + (f"\n{step.zh}" if step.zh else ""),
        ))  # fmt: skip


def _nothing_judged(judged: Judged | None) -> Words:
    if judged is None:
        return ""
    if all(output.piece.kind is None for output in judged.outputs):
        return Text("Nothing was recognised. Name the kind above, or paste the output as the tool printed it.",
                    "未能识别。请在上方指定类型，或按工具原样粘贴输出。")  # fmt: skip
    return Text("No check reads this kind of output; its values stand above.", "没有检查项使用这类输出；读数见上方。")
