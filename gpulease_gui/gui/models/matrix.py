"""Which lines of a comparison are shown, in which order, and what does each cell say?"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gpulease_gui.domain.claim import CLAIM_WORDS
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.services.compare_page import CompareLook
from gpulease_gui.services.compare_table import cell_words
from gpulease_gui.services.comparison import Cell, CellState, CompareGroup, CompareRow

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_CLAIMED = Text("{0} claimed / {1} measured", "承诺 {0} / 实测 {1}")


@dataclass(frozen=True, slots=True)
class MatrixHeading:
    """A heading over lines: how many stand under it now and how many of all differ."""

    group: CompareGroup
    is_open: bool
    rows: int
    differing: int


class MatrixModel(QAbstractTableModel):
    """Lines under headings that fold; column 0 is the label, then one column an offer in the order of the comparison."""

    def __init__(self) -> None:
        super().__init__()
        self._look: CompareLook | None = None
        self._shown: list[CompareRow | MatrixHeading] = []
        self._folded: set[str] = set()
        self._known_groups: set[str] = set()
        self._words: list[str] = []
        self.differences_only = False
        self.with_unstated = True

    # -- what the page calls -------------------------------------------------------------------------------------------------

    @property
    def look(self) -> CompareLook | None:
        """What is shown."""
        return self._look

    def show_look(self, look: CompareLook | None) -> None:
        """Show another comparison; headings stay folded as they are. The checklist begins folded: the score sums it up."""
        self.beginResetModel()
        self._look = look
        for group in look.comparison.groups if look is not None else ():
            if group.key not in self._known_groups and group.key.startswith("checklist."):
                self._folded.add(group.key)
            self._known_groups.add(group.key)
        self._arrange()
        self.endResetModel()

    def choose_rows(self, *, differences_only: bool, with_unstated: bool) -> None:
        """Only what differs; without the lines that nobody states."""
        if (differences_only, with_unstated) != (self.differences_only, self.with_unstated):
            self.differences_only, self.with_unstated = differences_only, with_unstated
            self._again()

    def find(self, words: str) -> None:
        """Only lines that hold all of `words` in their label, cells or heading; folded ones open for it."""
        self._words = words.casefold().split()
        self._again()

    def fold(self, key: str, *, folded: bool) -> None:
        """Hide or show the lines under a heading."""
        if folded:
            self._folded.add(key)
        else:
            self._folded.discard(key)
        self._again()

    def fold_all(self, *, folded: bool) -> None:
        """Hide or show the lines under every heading."""
        self._folded = set(self._known_groups) if folded else set()
        self._again()

    def shown_at(self, place: int) -> CompareRow | MatrixHeading | None:
        """The line or heading at `place`."""
        return self._shown[place] if 0 <= place < len(self._shown) else None

    def heading_at(self, place: int) -> MatrixHeading | None:
        """The heading at `place`; None for a line."""
        shown = self._shown[place] if 0 <= place < len(self._shown) else None
        return shown if isinstance(shown, MatrixHeading) else None

    def line_at(self, place: int) -> CompareRow | None:
        """The line at `place`; None for a heading or outside."""
        shown = self._shown[place] if 0 <= place < len(self._shown) else None
        return shown if isinstance(shown, CompareRow) else None

    def key_at(self, place: int) -> Hashable:
        """What stays the same of a shown line or heading."""
        shown = self._shown[place] if 0 <= place < len(self._shown) else None
        return shown.key if isinstance(shown, CompareRow) else shown.group.key if shown is not None else None

    def place_of(self, key: Hashable) -> int:
        """Where a line or a heading is shown; -1 when it is not."""
        return next((place for place in range(len(self._shown)) if self.key_at(place) == key), -1)

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines pass the filters, folded or not, and how many there are."""
        if self._look is None:
            return 0, 0
        rows = self._look.comparison.rows
        return sum(self._kept(row) for row in rows), len(rows)

    def retranslate(self) -> None:
        """Search again in the words of the language and draw anew."""
        self._again()

    # -- order ---------------------------------------------------------------------------------------------------------------

    def _again(self) -> None:
        self.beginResetModel()
        self._arrange()
        self.endResetModel()

    def _arrange(self) -> None:
        self._shown = []
        if self._look is None:
            return
        under: dict[str, list[CompareRow]] = {}
        differing: dict[str, int] = {}
        for row in self._look.comparison.rows:
            differing[row.group] = differing.get(row.group, 0) + (row.key in self._look.differing)
            if self._kept(row):
                under.setdefault(row.group, []).append(row)
        for group in self._look.comparison.groups:
            rows = under.get(group.key, [])
            if not rows or not (found := self._found(group, rows)):
                continue
            is_open = group.key not in self._folded or bool(self._words)
            self._shown.append(MatrixHeading(group, is_open, len(found), differing[group.key]))
            if is_open:
                self._shown += found

    def _kept(self, row: CompareRow) -> bool:
        assert self._look is not None, "only asked for lines of a look"
        if self.differences_only and row.key not in self._look.differing:
            return False
        return self.with_unstated or any(cell.state is not CellState.NOT_STATED for cell in row.cells)

    def _found(self, group: CompareGroup, rows: list[CompareRow]) -> list[CompareRow]:
        if not self._words:
            return rows
        title = say(group.title).casefold()
        return [row for row in rows if all(word in title or word in _hay(row) for word in self._words)]

    # -- what Qt asks ----------------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """Lines and headings that are shown."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        """The label and one column an offer."""
        return 0 if parent.isValid() or self._look is None else 1 + len(self._look.comparison.heads)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Cells for the delegate; words for assistive tools and tooltips."""
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        shown = self._shown[index.row()]
        if isinstance(shown, MatrixHeading):
            return self._heading_data(shown, index.column(), role)
        cell = shown.cells[index.column() - 1] if index.column() else None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return say(shown.label) if cell is None else say(cell_words(cell, current_language()))
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(shown.label if cell is None else cell_tip(cell))
        return None

    @staticmethod
    def _heading_data(heading: MatrixHeading, column: int, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and column == 0:
            return say(heading.group.title)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The supplier's name; the whole head is drawn by the header itself."""
        if orientation is not Qt.Orientation.Horizontal or self._look is None:
            return None
        heads = self._look.comparison.heads
        if role == Qt.ItemDataRole.DisplayRole and 0 < section <= len(heads):
            return say(heads[section - 1].row.supplier)
        return None


def _hay(row: CompareRow) -> str:
    cells = " ".join(say(cell.text) for cell in row.cells)
    return f"{say(row.label)} {cells}".casefold()


def cell_tip(cell: Cell) -> Text:
    """All that a cell knows, line by line: value, what was agreed, what was measured, how far it is proven, the flag."""
    lines = [claimed_words(cell)]
    if cell.original.en:
        lines.append(Text(f"as agreed: {cell.original.en}", f"原币种：{cell.original.zh}"))
    if cell.state is CellState.NOT_CONVERTED:
        lines.append(Text("no rate of exchange is known for it", "没有可用的汇率"))
    if cell.best:
        lines.append(cell.mark)
    lines += [Text(f"assumed: {words.en}", f"假定：{words.zh}") for words in cell.assumed]
    if cell.claim is not None:
        lines.append(CLAIM_WORDS[cell.claim])
    if cell.flag.en:
        lines.append(cell.flag)
    return Text("\n".join(line.en for line in lines), "\n".join(line.zh for line in lines))


def claimed_words(cell: Cell) -> Text:
    """The promise, and beside it what a run measured where there was one."""
    if not cell.measured.en:
        return cell.text
    return Text(_CLAIMED.en.format(cell.text.en, cell.measured.en), _CLAIMED.zh.format(cell.text.zh, cell.measured.zh))
