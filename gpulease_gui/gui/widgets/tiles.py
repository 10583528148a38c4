"""How are many watched nodes looked over at once, in the order that the user wants?"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QItemSelectionModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.tile_paint import TileFonts, paint_tile
from gpulease_gui.gui.widgets.tile_spec import Order, Tile, sort_key

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
TILE_ROLE = Qt.ItemDataRole.UserRole + 1
LEAST_TILE_PX, GAP_PX, EDGE_PX = 212, 10, 16
MOST_PICTURES = 64  # some more than a large screen shows
TILES = Text("All nodes", "全部节点")


def spoken(tile: Tile) -> str:
    """All that a tile shows, in words."""
    figures = [f"{say(one.caption)} {one.value} {one.unit}".strip() for one in tile.figures]
    return ", ".join(part for part in (tile.name, tile.note, say(tile.badge.word), say(tile.words), *figures) if part)


class Tiles(QAbstractListModel):
    """The tiles in their order; `only` keeps those of a filter."""

    def __init__(self) -> None:
        super().__init__()
        self._all: dict[str, Tile] = {}
        self._keep: Callable[[Tile], bool] = lambda tile: True
        self._order = Order.WORST
        self._shown: list[str] = []
        self._places: dict[str, int] = {}

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        """How many are shown."""
        return 0 if parent.isValid() else len(self._shown)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The tile, its name, or all of it in words."""
        tile = self._all[self._shown[index.row()]]
        if role == TILE_ROLE:
            return tile
        if role == Qt.ItemDataRole.DisplayRole:
            return tile.name
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(tile)
        return plain_tip(spoken(tile)) if role == Qt.ItemDataRole.ToolTipRole else None

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All of them, shown or not."""
        return tuple(self._all.values())

    @property
    def shown(self) -> tuple[str, ...]:
        """Ids of the nodes that are shown, in their order."""
        return tuple(self._shown)

    def set_tiles(self, tiles: Sequence[Tile]) -> None:
        """Show other nodes."""
        self._all = {tile.node_id: tile for tile in tiles}
        self.arrange()

    def put(self, tile: Tile) -> None:
        """Show a node anew; its place is looked at with the next `arrange`."""
        if self._all.get(tile.node_id) == tile:
            return
        self._all[tile.node_id] = tile
        place = self._places.get(tile.node_id)
        if place is not None:
            self.dataChanged.emit(self.index(place), self.index(place))

    def only(self, keep: Callable[[Tile], bool]) -> None:
        """Show those that `keep` lets through."""
        self._keep = keep
        self.arrange()

    def sort_by(self, order: Order) -> None:
        """Another order from now on."""
        self._order = order
        self.arrange()

    def arrange(self) -> None:
        """Put all in their order; the chosen ones stay chosen."""
        kept = sorted((tile for tile in self._all.values() if self._keep(tile)), key=lambda tile: sort_key(tile, self._order))
        wanted = [tile.node_id for tile in kept]
        if wanted == self._shown:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        ids = [self._shown[index.row()] for index in before]
        self._shown, self._places = wanted, {id_: place for place, id_ in enumerate(wanted)}
        after = [self.index(self._places[id_]) if id_ in self._places else QModelIndex() for id_ in ids]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()


class _Painter(QStyledItemDelegate):
    """One tile after the other.

    Of two tiles that change, the view paints all that lie between them: so what did not change is a kept picture.
    """

    def __init__(self, view: TileView) -> None:
        super().__init__(view)
        self._view = view
        self._pictures: OrderedDict[str, tuple[tuple[object, ...], QPixmap]] = OrderedDict()

    def forget(self) -> None:
        """Words or colours are others now."""
        self._pictures.clear()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._view.gridSize()

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tile: Tile = index.data(TILE_ROLE)
        ratio = painter.device().devicePixelRatioF()
        size = self._view.gridSize() - QSize(GAP_PX, GAP_PX)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        current = self._view.hasFocus() and index == self._view.currentIndex()
        looks = (tile, size, ratio, hover, chosen, current)
        kept = self._pictures.get(tile.node_id)
        if kept is None or kept[0] != looks:
            kept = looks, self._picture(tile, size, ratio, hover=hover, chosen=chosen, current=current)
            self._pictures[tile.node_id] = kept
        self._pictures.move_to_end(tile.node_id)
        if len(self._pictures) > MOST_PICTURES:
            self._pictures.popitem(last=False)
        painter.drawPixmap(option.rect.topLeft(), kept[1])

    def _picture(self, tile: Tile, size: QSize, ratio: float, *, hover: bool, chosen: bool, current: bool) -> QPixmap:
        picture = QPixmap(size * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        paint_tile(painter, QRect(QPoint(), size), tile, self._view.fonts, hover=hover, chosen=chosen, current=current)
        painter.end()
        return picture


class TileView(Lively, QListView):
    """The grid. A click or Enter opens a node (`opened` carries its id); Ctrl, Shift and a click, or Space, choose several."""

    opened = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("tiles")
        self.fonts = TileFonts(self.font())
        self.nodes = Tiles()
        self.nodes.setParent(self)
        self.setModel(self.nodes)
        self._painter = _Painter(self)
        self.setItemDelegate(self._painter)
        self.setViewMode(QListView.ViewMode.IconMode)
        self.setMovement(QListView.Movement.Static)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._moved = False  # whether the user went to a tile
        self.nodes.layoutChanged.connect(self._begin_at_worst)
        self.setMouseTracking(True)
        self.setViewportMargins(EDGE_PX, EDGE_PX - 4, 0, 0)
        self.retranslate()

    @property
    def chosen(self) -> tuple[str, ...]:
        """Ids of the chosen nodes, in their order."""
        places = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return tuple(self.nodes.shown[place] for place in places)

    def _begin_at_worst(self) -> None:
        """Until the user goes elsewhere the keys begin at the first tile, whichever it is now."""
        if not self._moved and self.nodes.rowCount():
            self.selectionModel().setCurrentIndex(self.nodes.index(0), QItemSelectionModel.SelectionFlag.NoUpdate)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The current tile is the user's choice from now on."""
        self._moved = True
        super().mousePressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many columns as fit, all equally wide."""
        self._fit()
        super().resizeEvent(event)

    def _fit(self) -> None:
        scale = max(1.0, self.fontMetrics().height() / 18)
        # The bar's room is kept free, so that its coming moves nothing.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)
        room = max(1, self.width() - 2 * EDGE_PX - bar + GAP_PX)
        columns = max(1, room // round((LEAST_TILE_PX + GAP_PX) * scale))
        size = QSize(room // columns, self.fonts.height + GAP_PX)
        if size != self.gridSize():
            self.setGridSize(size)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A plain click opens."""
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier and event.button() is Qt.MouseButton.LeftButton
        if plain and index.isValid():
            self.opened.emit(self.nodes.shown[index.row()])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens."""
        self._moved = True
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self.opened.emit(self.nodes.shown[index.row()])
        else:
            super().keyPressEvent(event)

    def retheme(self) -> None:
        """Tiles grow with the font."""
        self.fonts = TileFonts(self.font())
        self._painter.forget()
        self._fit()
        self.viewport().update()

    def retranslate(self) -> None:
        """The name, and all words anew."""
        self.setAccessibleName(say(TILES))
        self._painter.forget()
        self.viewport().update()
