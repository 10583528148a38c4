"""Which product of the catalogue is promised?"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QMoveEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.two_lines import Line, LinesView
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively

_MOST = 200
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A product or a family as it can be chosen; `hay` is what the search looks in."""

    word: str
    title: str
    note: Text
    hay: str


def entries_of(catalogue: GpuCatalogue, vendor: str = "") -> tuple[Entry, ...]:
    """All families with several products, each before its products; of one vendor if named."""
    families: dict[str, list[GpuModel]] = {}
    for model in catalogue.models.values():
        if not vendor or model.vendor == vendor:
            families.setdefault(model.family, []).append(model)
    made: list[Entry] = []
    for family, models in families.items():
        genuine = [model for model in models if model.genuine]
        if len(genuine) > 1:
            made.append(_family(family, genuine))
        made += [_product(model) for model in models]
    return tuple(made)


def _family(family: str, models: list[GpuModel]) -> Entry:
    note = Text(f"family of {len(models)}: form factor and memory stay open", f"系列，共 {len(models)} 款：封装和显存未定")
    return Entry(family, family, note, f"{family} {family} family".casefold())


def _product(model: GpuModel) -> Entry:
    facts = [model.form_factor]
    if model.memory_gb_marketing is not None:
        facts.insert(0, f"{number_text(model.memory_gb_marketing)} GB")
    if model.default_power_limit_w is not None:
        facts.append(f"{number_text(model.default_power_limit_w)} W")
    known = " · ".join([*facts, model.id])
    odd_en = "modified by a third party · " if model.modified else "label without a vendor · " if model.masked else ""
    odd_zh = "第三方改装 · " if model.modified else "无厂商认领的标签 · " if model.masked else ""
    hay = " ".join([model.name, model.id, model.family, *model.tool_names, model.form_factor, str(model.form_class or "")])
    return Entry(model.id, model.name, Text(odd_en + known, odd_zh + known), hay.casefold())


class GpuPicker(Lively, QLineEdit):
    """A field that narrows the catalogue while one types; Down and Enter or a click choose. `picked` comes then."""

    picked = Signal(str)

    def __init__(self, catalogue: GpuCatalogue, vendor: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._catalogue = catalogue
        self._entries = entries_of(catalogue, vendor)
        self.drop = _Drop(self)
        self.drop.view.clicked.connect(lambda index: self._pick(self.drop.view.rows.lines[index.row()].key))
        self.textEdited.connect(self._narrow)
        self.retranslate()

    def retranslate(self) -> None:
        """Say what can be typed."""
        self.setPlaceholderText(say(Text("name, alias or id; empty = not stated", "名称、别名或编号；留空 = 未说明")))
        self.setAccessibleName(say(Text("GPU model", "GPU 型号")))

    @property
    def word(self) -> str:
        """What is promised by the text now: the id of the product, else the words as they are."""
        return self.text().strip()

    def complaint(self) -> Words:
        """Why the words name nothing; empty when they do, or when there are none."""
        if not self.word:
            return ""
        try:
            self._catalogue.promise(self.word)
        except UsageError:
            found = [entry for entry in self._found(self.word) if not entry.note.en.startswith("family")]
            if not found:
                return Text(f"No product is called “{self.word}”; type less, or choose from the list",
                            f"没有叫“{self.word}”的产品；请少输几个字，或从列表中选择")  # fmt: skip
            ids = ", ".join(entry.word for entry in found[:_NAMED])
            return Text(f"This fits {len(found)} products; choose one: {ids}", f"有 {len(found)} 款产品符合，请选定一款：{ids}")
        return ""

    def show_all(self) -> None:
        """Open the whole list at what is promised now."""
        self._narrow("")
        self.drop.view.choose(self.word)

    def _found(self, words: str) -> tuple[Entry, ...]:
        wanted = words.casefold().replace("-", " ").split()
        return tuple(e for e in self._entries if all(word in e.hay.replace("-", " ") for word in wanted))

    def _narrow(self, words: str) -> None:
        found = self._found(words)
        self.drop.show_lines(tuple(Line(entry.word, entry.title, entry.note) for entry in found[:_MOST]))

    def _pick(self, word: str) -> None:
        self.setText(word)
        self.drop.hide()
        self.picked.emit(word)

    def take_current(self) -> None:
        """Take the entry that was walked to with the arrow keys."""
        current = self.drop.view.current
        if self.drop.isVisible() and current is not None:
            self.setText(current.key)
        self.drop.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Up and Down walk in the list."""
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
        if step is None:
            super().keyPressEvent(event)
        elif not self.drop.isVisible():
            self.show_all()
        else:
            self.drop.walk(step)

    def moveEvent(self, event: QMoveEvent) -> None:
        """The list follows the field."""
        super().moveEvent(event)
        self.drop.place()

    def hideEvent(self, event: QHideEvent) -> None:
        """No list without its field."""
        super().hideEvent(event)
        self.drop.hide()

    def close_drop(self) -> None:
        """Throw the list away together with the field."""
        self.drop.hide()
        self.drop.deleteLater()


class _Drop(QFrame):
    """The list under the field: a child of the window, so that the field keeps the keyboard."""

    def __init__(self, field: QLineEdit) -> None:
        super().__init__(field.window())
        self._field = field
        self.setProperty("box", "object")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        self.view = LinesView(Text("Products that fit", "符合的产品"))
        self.view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column.addWidget(self.view)
        self.hide()

    def show_lines(self, lines: tuple[Line, ...]) -> None:
        """Show what fits, nothing chosen yet; nothing fits: no list."""
        self.view.rows.set_lines(lines)
        self.setVisible(bool(lines))
        self.place()

    def place(self) -> None:
        """Under the field, or above it where there is no room."""
        window = self._field.window()
        if not self.isVisible() or self.parentWidget() is not window:
            return
        rows = min(8, self.view.rows.rowCount())
        height = max(1, rows) * max(28, self.view.sizeHintForRow(0)) + 4
        below = self._field.mapTo(window, QPoint(0, self._field.height() + 2))
        if below.y() + height > window.height():
            below.setY(max(0, self._field.mapTo(window, QPoint(0, 0)).y() - height - 2))
        self.setGeometry(below.x(), below.y(), max(380, self._field.width()), height)
        self.raise_()

    def walk(self, step: int) -> None:
        """Make the next or previous entry current."""
        last = self.view.rows.rowCount() - 1
        place = self.view.currentIndex().row() + step
        self.view.setCurrentIndex(self.view.rows.index(max(0, min(last, place)), 0))
