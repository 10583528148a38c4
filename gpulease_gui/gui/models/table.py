"""How does a table sort, filter and group twenty thousand rows at once?

The model keeps one list of what is shown: a row's number, or -1 - n for the heading n. No proxy model stands between.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Generic

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column, Group, GroupRow, Row, SortKey
from gpulease_gui.gui.widgets.labels import Words, plain_tip
from gpulease_gui.pdf.badges import Badge

CELL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
GROUP_ROLE = int(Qt.ItemDataRole.UserRole) + 2

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_HEADING_FLAGS, _ROW_FLAGS = Qt.ItemFlag.ItemIsEnabled, Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_LOUDEST_FIRST = {token: rank for rank, token in enumerate(("fail", "warn", "inc", "pass", "run", "na", "t3"))}


class TableModel(QAbstractTableModel, Generic[Row]):
    """Rows of any frozen type under columns of functions.

    `key` tells a row from all others for as long as it lives: selection and open editors follow it. `search` gives
    the words that the filter text is looked for in. `group` puts rows under headings, `tally` counts states there.
    """

    def __init__(
        self,
        columns: Sequence[Column[Row]],
        key: Callable[[Row], Hashable],
        *,
        search: Callable[[Row], str] | None = None,
        group: Callable[[Row], Group] | None = None,
        tally: Callable[[Row], Badge | None] | None = None,
    ) -> None:
        super().__init__()
        self._columns = tuple(columns)
        self._key, self._search, self._group, self._tally = key, search, group, tally
        self._rows: list[Row] = []
        self._number_of: dict[Hashable, int] = {}
        self._order: list[int] = []
        self._shown: list[int] = []
        self._headings: list[GroupRow] = []
        self._folded: set[str] = set()
        self._words = ""
        self._predicate: Callable[[Row], bool] | None = None
        self._haystacks: list[str] | None = None
        self._sort_keys: dict[int, list[SortKey]] = {}
        self._sorted: tuple[int, Qt.SortOrder] | None = None

    # -- what pages call ------------------------------------------------------------------------------------------

    @property
    def is_sorted(self) -> bool:
        """Whether the user wants another order than that of `set_rows`."""
        return self._sorted is not None

    def set_rows(self, rows: Iterable[Row]) -> None:
        """Show other rows; selection stays on rows whose key is still there."""
        self._change(lambda: self._take(list(rows)))

    def renew_rows(self, rows: Iterable[Row]) -> None:
        """As `set_rows`, for cells that say nothing but what their row says: only cells that changed are drawn anew."""
        new = list(rows)
        if not self._stays(new):
            self.set_rows(new)

    def _stays(self, rows: list[Row]) -> bool:
        """Take rows that come in the same places as before; False (and nothing is changed) for others."""
        if list(map(self._key, rows)) != list(self._number_of):
            return False
        before = self._rows, self._order, self._shown, self._headings
        self._take(rows)
        if self._shown != before[2]:
            self._rows, self._order, self._shown, self._headings = before
            self._sort_keys.clear()
            return False
        for place, number in enumerate(self._shown):
            if number < 0:
                changed = self._headings[-1 - number] != before[3][-1 - number]
                columns = range(len(self._columns) if changed else 0)
            else:
                columns = self._changed(before[0][number], rows[number])
            if columns:
                self.dataChanged.emit(self.index(place, columns[0]), self.index(place, columns[-1]))
        return True

    def _changed(self, old: Row, new: Row) -> range:
        """From the first column whose cell is another one to the last."""
        if old is new or old == new:
            return range(0)
        changed = [place for place, column in enumerate(self._columns) if column.cell(old) != column.cell(new)]
        return range(changed[0], changed[-1] + 1) if changed else range(0)

    def _take(self, rows: list[Row]) -> None:
        self._rows = rows
        self._number_of = {self._key(row): number for number, row in enumerate(rows)}
        self._haystacks = None
        self._sort_keys.clear()
        self._arrange()

    def put(self, row: Row) -> None:
        """Replace the row of the same key in its place, or append it; the order follows at the next sort."""
        number = self._number_of.get(self._key(row))
        if number is None:
            self.set_rows([*self._rows, row])
            return
        moved = self._changes_headings(self._rows[number], row)
        self._rows[number] = row
        self._haystacks = None
        self._sort_keys.clear()
        if moved:
            self._change(self._arrange)
        elif number in self._shown:
            place = self._shown.index(number)
            self.dataChanged.emit(self.index(place, 0), self.index(place, len(self._columns) - 1))

    def _changes_headings(self, old: Row, new: Row) -> bool:
        """Whether a row goes under another heading or counts there as something else."""
        if self._group is None:
            return False
        tally = self._tally
        return self._group(old) != self._group(new) or (tally is not None and tally(old) != tally(new))

    def find(self, words: str) -> None:
        """Show only rows whose search text holds every word of `words`, in any case."""
        if words != self._words:
            self._words = words
            self._change(self._arrange)

    def only(self, predicate: Callable[[Row], bool] | None) -> None:
        """Show only rows that `predicate` keeps (a filter chip); None shows all."""
        self._predicate = predicate
        self._change(self._arrange)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; -1 or a column without sort key restores the order of `set_rows`."""
        sortable = 0 <= column < len(self._columns) and self._columns[column].sort is not None
        self._sorted = (column, order) if sortable else None
        self._change(self._arrange)

    def fold(self, key: str, *, folded: bool) -> None:
        """Hide or show the rows under a heading."""
        if folded:
            self._folded.add(key)
        else:
            self._folded.discard(key)
        self._change(self._arrange)

    def name_column(self, place: int, title: Words) -> None:
        """Give a column another head."""
        columns = list(self._columns)
        columns[place] = replace(columns[place], title=title)
        self._columns = tuple(columns)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, place, place)

    @property
    def columns(self) -> tuple[Column[Row], ...]:
        """The columns as given."""
        return self._columns

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, shown or not, in the order of `set_rows`."""
        return tuple(self._rows)

    def row_at(self, place: int) -> Row | None:
        """The row that is shown at `place`; None for a heading or outside."""
        number = self._shown[place] if 0 <= place < len(self._shown) else -1
        return self._rows[number] if number >= 0 else None

    def heading_at(self, place: int) -> GroupRow | None:
        """The heading that is shown at `place`; None for a row."""
        number = self._shown[place] if 0 <= place < len(self._shown) else 0
        return self._headings[-1 - number] if number < 0 else None

    def key_of(self, row: Row) -> Hashable:
        """By what a row is known."""
        return self._key(row)

    def place_of(self, key: Hashable) -> int | None:
        """Where the row of `key` is shown; None when it is not."""
        number = self._number_of.get(key)
        return self._shown.index(number) if number is not None and number in self._shown else None

    def heading_places(self) -> list[int]:
        """Where headings are shown."""
        return [place for place, number in enumerate(self._shown) if number < 0] if self._headings else []

    def retranslate(self) -> None:
        """Draw everything anew in another language."""
        self._haystacks = None
        self._sort_keys.clear()
        self._change(self._arrange)
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(self._columns) - 1)

    # -- order ------------------------------------------------------------------------------------------------------

    def _change(self, work: Callable[[], None]) -> None:
        """Do `work` as a change of layout: persistent indexes (selection, current row) move with their rows."""
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        keys = [self._identity(index.row()) for index in before]
        work()
        places = self._places() if before else {}
        after = []
        for index, key in zip(before, keys, strict=True):
            place = places.get(key)
            after.append(QModelIndex() if place is None else self.index(place, index.column()))
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _identity(self, place: int) -> Hashable:
        row = self.row_at(place)
        if row is not None:
            return self._key(row)
        heading = self.heading_at(place)
        return ("heading", heading.group.key) if heading else None

    def _places(self) -> dict[Hashable, int]:
        return {self._identity(place): place for place in range(len(self._shown))}

    def _arrange(self) -> None:
        self._order = self._in_order(self._kept())
        self._headings = []
        self._shown = self._order if self._group is None else self._under_headings(self._group)

    def _kept(self) -> Iterable[int]:
        numbers: Iterable[int] = range(len(self._rows))
        if self._predicate is not None:
            keep, rows = self._predicate, self._rows
            numbers = [number for number in numbers if keep(rows[number])]
        wanted = self._words.casefold().split()
        if wanted and self._search is not None:
            if self._haystacks is None:
                self._haystacks = [self._search(row).casefold() for row in self._rows]
            hay = self._haystacks
            for word in wanted:
                numbers = [number for number in numbers if word in hay[number]]
        return numbers

    def _in_order(self, numbers: Iterable[int]) -> list[int]:
        if self._sorted is None:
            return list(numbers)
        column, order = self._sorted
        keys = self._sort_keys.get(column)
        if keys is None:
            make = self._columns[column].sort
            assert make is not None, "sort() keeps only columns that have a key"
            keys = self._sort_keys[column] = [make(row) for row in self._rows]
        return sorted(numbers, key=keys.__getitem__, reverse=order is Qt.SortOrder.DescendingOrder)

    def _under_headings(self, group: Callable[[Row], Group]) -> list[int]:
        parts: dict[str, tuple[Group, list[int]]] = {}
        for row in self._rows:  # the order of headings never depends on the sort
            made = group(row)
            parts.setdefault(made.key, (made, []))
        for number in self._order:
            parts[group(self._rows[number]).key][1].append(number)
        shown: list[int] = []
        for made, numbers in parts.values():
            if not numbers:
                continue
            is_open = made.key not in self._folded
            shown.append(-1 - len(self._headings))
            self._headings.append(GroupRow(made, is_open, len(numbers), self._tallies(numbers)))
            if is_open:
                shown.extend(numbers)
        return shown

    def _tallies(self, numbers: list[int]) -> tuple[tuple[Badge, int], ...]:
        if self._tally is None:
            return ()
        found = [badge for number in numbers if (badge := self._tally(self._rows[number])) is not None]
        return tuple(sorted(Counter(found).items(), key=lambda counted: _LOUDEST_FIRST.get(counted[0].token, 9)))

    # -- what Qt asks -------------------------------------------------------------------------------------------------

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """Rows and headings that are shown."""
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = _NO_INDEX) -> int:
        """The columns."""
        return 0 if parent.isValid() else len(self._columns)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Rows can be selected, headings cannot."""
        if not index.isValid() or self.heading_at(index.row()) is not None:
            return _HEADING_FLAGS
        return _ROW_FLAGS

    def cell(self, index: Index) -> Cell | None:
        """What is drawn at `index`; None for a heading."""
        row = self.row_at(index.row())
        return None if row is None else self._columns[index.column()].cell(row)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Cells for the delegate; words for assistive tools, copying and tooltips."""
        if not index.isValid():
            return None
        if role == GROUP_ROLE:
            return self.heading_at(index.row())
        cell = self.cell(index)
        if cell is None:
            heading = self.heading_at(index.row())
            is_text = role == Qt.ItemDataRole.DisplayRole and index.column() == 0
            return say(heading.group.title) if heading and is_text else None
        if role == CELL_ROLE:
            return cell
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return say(cell.text)
        if role == Qt.ItemDataRole.ToolTipRole:
            whole = f"{say(cell.text)} {say(cell.note)}" if cell.note else cell.text  # a narrow cell cuts both
            return plain_tip(cell.tip or whole)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Heads of the columns."""
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return say(column.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.tip)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if column.number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None
