"""How much does each dimension count in the score, and what would other weights make of it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QHBoxLayout, QWidget

from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.draft_dialog import DraftDialog
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.checklist_bands import span_words, uses_of
from gpulease_gui.gui.pages.checklist_parts import ScoreBar
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.fields import padded
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.services.checklist_page import ChecklistSeen, weights_of
from gpulease_gui.services.commerce_score import set_weights
from gpulease_gui.services.rescoring import rescored

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_TITLE = Text("Weights of the dimensions", "维度权重")
_HIGHEST = 100.0
EVERY_USE = "every use"  # under which the draft of the weights without a use is kept


class WeightsDialog(DraftDialog):
    """One line a dimension: weight, its share, what is proven and possible there; the whole score follows each change."""

    def __init__(self, frame: Frame, seen: ChecklistSeen, *, parent: QWidget | None = None) -> None:
        super().__init__(
            _TITLE, _TITLE, icon="load", parent=parent,
            consequence=Text("The score is the weighted geometric mean of the dimensions: low counts what is proven, high what could still "
                             "come. Weights count for every deal with this use.",
                             "得分为各维度的加权几何平均：下限只计已证明的部分，上限计入未知项的可能。权重对该场景下的所有报价与合同生效。"),
        )  # fmt: skip
        self._frame, self._seen = frame, seen
        self._shipped: Mapping[str, Decimal] = {}
        self.facts.hide()
        self.setMinimumWidth(620)
        self.use = Chooser(Text("Use", "场景"), uses_of(seen.scenarios))
        self.use.choose(seen.view.scenario)
        self.use.picked.connect(self.load)
        self.score = PlainLabel("", weight=600)
        self.bar = ScoreBar()
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self.use)
        head.addWidget(self.bar, 1)
        head.addWidget(self.score)
        self.column.addLayout(head)
        self.column.addLayout(self._lines())
        self.back = self.add_button(Button(Text("Shipped weights", "恢复默认"), icon="undo", kind="quiet"))
        self.add_button(Button(CANCEL), rejects=True)
        self.keep = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.back.clicked.connect(self._as_shipped)
        self.keep.clicked.connect(self._save)
        self.drafts = DraftKeeper(frame, self, "weight")
        self.load(seen.view.scenario)

    def _lines(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(3, 1)
        heads = (Text("Dimension", "维度"), Text("Weight", "权重"), Text("Share", "占比"), Text("Proven to possible", "已证明至可能"))
        for column, words in enumerate(heads):
            grid.addWidget(PlainLabel(words, size="caption", level="3"), 0, column)
        self.spins: dict[str, QDoubleSpinBox] = {}
        self._shares: dict[str, PlainLabel] = {}
        self._bars: dict[str, ScoreBar] = {}
        for place, (key, title) in enumerate(DIMENSIONS.items(), 1):
            spin = self.spins[key] = padded(QDoubleSpinBox())
            spin.setRange(0, _HIGHEST)
            spin.setDecimals(1)
            spin.setAccessibleName(say(title))
            spin.valueChanged.connect(self._typed)
            self._shares[key], self._bars[key] = PlainLabel("", size="dense", level="2"), ScoreBar()
            self._shares[key].setMinimumWidth(44)
            self._shares[key].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for column, widget in enumerate((PlainLabel(title, size="dense"), spin, self._shares[key], self._bars[key])):
                grid.addWidget(widget, place, column)
        return grid

    def load(self, use: str) -> None:
        """Read the weights of another use; what was typed for the one before waits as its draft."""
        self.drafts.write()
        self.begin()
        scenario = self._seen.scenarios.get(use)
        found = self._frame.services.query(lambda connection: weights_of(connection, scenario))
        self._frame.bridge.when_done(found, lambda both: self._take(use, *both))

    def _take(self, use: str, now: Mapping[str, Decimal], shipped: Mapping[str, Decimal]) -> None:
        if use == self.use.current:
            self._shipped = shipped
            self._fill(now)
            self.begin()
            self.drafts.open(use or EVERY_USE)

    def _fill(self, weights: Mapping[str, Decimal]) -> None:
        for key, spin in self.spins.items():
            spin.blockSignals(True)
            spin.setValue(float(weights[key]))
            spin.blockSignals(False)
        self._changed()

    def _as_shipped(self) -> None:
        self._fill(self._shipped)
        self.touch()

    def _typed(self) -> None:
        self._changed()
        self.touch()

    def words_now(self) -> tuple[str, ...]:
        """The weights in the order of the lines."""
        return tuple(str(weight) for weight in self.weights.values())

    def put_words(self, words: Sequence[str]) -> bool:
        """Put the weights back."""
        try:
            weights = dict(zip(self.spins, map(Decimal, words), strict=True))
        except (InvalidOperation, ValueError):
            return False
        self._fill(weights)
        return True

    @property
    def weights(self) -> Mapping[str, Decimal]:
        """What the fields say."""
        return {key: Decimal(str(round(spin.value(), 1))) for key, spin in self.spins.items()}

    def _changed(self) -> None:
        weights = self.weights
        whole = sum(weights.values())
        found = rescored(self._seen.scores[self.use.current], weights)
        for key, label in self._shares.items():
            label.set_words(f"{weights[key] * 100 / whole:.0f}\u2009%" if whole else "–")
            low, high = found.dimension_low.get(key), found.dimension_high.get(key)
            said = "" if low is None or high is None else f"{low * 100:.0f} – {high * 100:.0f}"
            self._bars[key].set_span(None if low is None else float(low) * 100, None if high is None else float(high) * 100, said)
        low, high = found.score_low, found.score_high
        self.score.set_words(span_words(found))
        self.bar.set_span(None if low is None else float(low), None if high is None else float(high), say(span_words(found)))
        self.back.setEnabled(dict(weights) != {key: Decimal(value) for key, value in self._shipped.items()})
        self.keep.setEnabled(bool(whole))

    def _save(self) -> None:
        use, weights = self.use.current, self.weights
        shipped = dict(weights) == dict(self._shipped)
        frame = self._frame  # the dialog is gone by then
        frame.bridge.when_done(frame.services.change(lambda db: set_weights(db, use, None if shipped else weights), "weight"), lambda _: frame.note(Text("Weights saved", "权重已保存")))
        self.accept()
