"""What stands over the tables of the overview: the key figures and the headings?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.overview_tables import verdict_counts
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyFigure, Pane, hairline
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.overview import Kind, Overview

_UP = frozenset([NodeState.CONNECTED, NodeState.DEGRADED])


@dataclass(frozen=True, slots=True)
class Figure:
    """One key figure: number, what it is of, colour."""

    figure: Words
    note: Words
    level: str = "1"


def figures_of(seen: Overview, states: Mapping[str, NodeState]) -> tuple[Figure, ...]:
    """Promises broken, inconclusive, nodes connected, contracts."""
    return (
        Figure(str(seen.broken), _broken_note(seen), "fail" if seen.broken else "1"),
        Figure(str(seen.unknown), Text(f"{seen.unknown_musts} are musts", f"其中必须项 {seen.unknown_musts}"),
               "inc" if seen.unknown_musts else "1"),
        _nodes(seen, states),
        Figure(str(len(seen.contracts)), Text(f"{verdict_counts(seen.contracts)} verified", f"已验收 {verdict_counts(seen.contracts)} 份")),
    )  # fmt: skip


def _broken_note(seen: Overview) -> Text:
    """On how many contracts, and how many faults were found that no promise is about."""
    on = len({decision.contract for decision in seen.decisions if decision.kind is Kind.BROKEN and decision.promised})
    where = Text(f"on {on} contract" if on == 1 else f"on {on} contracts", f"涉及 {on} 份合同")
    if not seen.faults:
        return where
    more = "1 more fault" if seen.faults == 1 else f"{seen.faults} more faults"
    return Text(f"{where.en}; {more}", f"{where.zh}；另有 {seen.faults} 项故障")


def _nodes(seen: Overview, states: Mapping[str, NodeState]) -> Figure:
    known = {node: state for node, state in states.items() if node in seen.node_names}
    up = sum(state in _UP for state in known.values())
    lost = sum(state is NodeState.LOST for state in known.values())
    changed = sum(state is NodeState.KEY_CHANGED for state in known.values())
    note = Text(f"{lost} lost, {changed} key changed", f"中断 {lost}，密钥变更 {changed}")
    total = len(seen.node_names)
    return Figure(Text(f"{up} of {total}", f"{up} / {total}"), note, "fail" if changed or lost else "1")


class FigureRow(Pane):
    """Four key figures side by side on one step darker ground."""

    CAPTIONS = (
        Text("Promises broken", "被违背的承诺"),
        Text("Inconclusive, ask supplier", "无法判定，需询问供应商"),
        Text("Nodes connected", "已连接节点"),
        Text("Contracts", "合同"),
    )

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(1, parent=parent)
        row = QHBoxLayout()
        row.setSpacing(0)
        self.figures = [KeyFigure(caption) for caption in self.CAPTIONS]
        for place, figure in enumerate(self.figures):
            if place:
                row.addWidget(hairline(vertical=True))
            row.addWidget(figure, 1)
        self.column.addLayout(row)

    def show_figures(self, figures: Sequence[Figure]) -> None:
        """Show other numbers."""
        for shown, figure in zip(self.figures, figures, strict=True):
            shown.set_figure(figure.figure, figure.note, figure.level)


class HeadLine(QWidget):
    """The 600 title over a table, its count, and a word about its order at the right."""

    def __init__(self, title: Words, note: Words = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.title = PlainLabel(title, size="dense", weight=600)
        self.count = PlainLabel("", size="dense", level="3")
        row.addWidget(self.title)
        row.addWidget(self.count)
        row.addStretch()
        row.addWidget(PlainLabel(note, size="dense", level="3"))

    def set_count(self, count: int) -> None:
        """Show how many rows follow."""
        self.count.set_words(str(count))
