"""What is a comparison made for: use, workload, currency, and which lines are shown?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QHBoxLayout

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button, IconButton, Switch
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import hairline
from gpulease_gui.services.commercial_words import rate_text
from gpulease_gui.services.compare_kept import KeptChoice
from gpulease_gui.services.compare_page import EVERY_USE, Choices
from gpulease_gui.services.comparison import Comparison
from gpulease_gui.services.price_period import PER_WORDS, PricePer

_EDIT, _EDIT_WORDS = "~", Text("Write workloads…", "编辑负载…")
_NO_WORKLOAD = Text("no workload", "不计负载")
_LABELS_FROM, _COUNT_FROM = 900, 860
_USUAL = ("CNY", "USD", "EUR")


def _slash(words: Text) -> Text:
    return Text(f"/ {words.en}", f"/ {words.zh}")


class LiveCheck(Lively, QCheckBox):
    """A check box whose words follow the language."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self.retranslate()

    def retranslate(self) -> None:
        """Say the words."""
        self.setText(say(self._words))


class CompareBar(QFrame):
    """40 px over the matrix. `changed` says that the comparison must be read anew, `filtered` that only lines change.

    `workloads_wanted` asks for the page where workloads are written.
    """

    changed = Signal()
    filtered = Signal()
    workloads_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("filterBar")
        self.setMinimumHeight(40)
        self.scenario = Chooser(Text("Use", "场景"), (("", EVERY_USE),))
        self.workload = Chooser(Text("Workload", "负载"), (("", _NO_WORKLOAD),))
        self.currency = Chooser(Text("Currency", "币种"))
        self.per = Chooser(Text("Prices per", "价格单位"), tuple((str(per), _slash(words)) for per, words in PER_WORDS.items()))
        for chooser, least in ((self.scenario, 8), (self.workload, 8), (self.currency, 4), (self.per, 9)):
            chooser.setMinimumContentsLength(least)
            chooser.picked.connect(self._picked)
        self.rates = QFrame()
        self.rate = ElidedLabel("", size="dense", level="2")
        self.enter_rate = Button("", kind="link", small=True)
        self.differences = Switch(Text("Only differences", "只看差异"))
        self.count = PlainLabel("", size="dense", level="3")
        self.unstated = LiveCheck(Text("Not stated", "未约定项"))
        self.unstated.setChecked(True)
        self.weights = Button(Text("Weights…", "权重…"), icon="nav-settings", small=True)
        self.columns = IconButton("columns", Text("Columns: move, pin, remove", "列：移动、固定、移除"))
        self.differences.toggled.connect(lambda _: self.filtered.emit())
        self.unstated.toggled.connect(lambda _: self.filtered.emit())
        self._workload = ""
        self._labels: list[PlainLabel] = []
        self.chosen_currency: str | None = None  # None: the comparison finds one
        self._build()

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 16, 6)
        row.setSpacing(8)
        line = hairline(vertical=True)
        line.setFixedHeight(16)
        for words, chooser in ((Text("Use", "场景"), self.scenario), (Text("Workload", "负载"), self.workload), (Text("In", "统一为"), self.currency)):
            label = PlainLabel(words, size="dense", level="2")
            label.setBuddy(chooser)
            row.addWidget(label)
            self._labels.append(label)
            row.addWidget(chooser)
            if chooser is self.currency:
                row.addWidget(self.per)
            row.addSpacing(4)
        for part in (line, self.differences, self.count, self.unstated):
            row.addWidget(part)
        row.addStretch(1)
        row.addWidget(self.weights)
        row.addWidget(self.columns)
        below = QHBoxLayout(self.rates)
        below.setContentsMargins(16, 0, 16, 6)
        below.setSpacing(8)
        below.addWidget(PlainLabel(Text("Rates", "汇率"), size="dense", level="3"))
        below.addWidget(self.rate, 1)
        below.addWidget(self.enter_rate)
        self.rates.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow bar the labels go first, then the count; the editors keep their names for assistive tools."""
        super().resizeEvent(event)
        room = self.width() / max(1.0, self.fontMetrics().height() / 18)
        for label in self._labels:
            label.setVisible(room >= _LABELS_FROM)
        self.count.setVisible(room >= _COUNT_FROM)

    def _picked(self, key: str) -> None:
        if key == _EDIT:
            self.workload.choose(self._workload)
            self.workloads_wanted.emit()
            return
        self._workload = self.workload.current
        if self.sender() is self.currency:
            self.chosen_currency = self.currency.current
        self.changed.emit()

    def show_choices(self, choices: Choices) -> None:
        """Offer the uses and the saved workloads; what is chosen stays so."""
        scenarios: list[tuple[str, Words]] = [("", EVERY_USE), *((s.id, s.title) for s in choices.scenarios)]
        self.scenario.set_choices(scenarios)
        self.workload.set_choices([("", _NO_WORKLOAD), *((w.id, w.name) for w in choices.workloads), (_EDIT, _EDIT_WORDS)])
        self._workload = self.workload.current

    def show_kept(self, kept: KeptChoice) -> None:
        """Choose what was chosen in an earlier session; use and workload that are gone are not."""
        self.scenario.choose(kept.scenario)
        self.choose_workload(kept.workload)
        self.chosen_currency = kept.currency or None
        self.per.choose(str(kept.per))
        for box, on in ((self.differences, kept.differences_only), (self.unstated, kept.with_unstated)):
            with QSignalBlocker(box):
                box.setChecked(on)

    def choice(self, subjects: tuple[Subject, ...]) -> KeptChoice:
        """What is chosen now, for these columns."""
        return KeptChoice(
            subjects, self.scenario.current, self.workload.current, self.chosen_currency or "", self.differences.isChecked(), self.unstated.isChecked(),
            PricePer(self.per.current),
        )  # fmt: skip

    def show_comparison(self, comparison: Comparison, own: Sequence[str]) -> None:
        """Name the currency with its rates, or what is missing; `own` are the currencies of the offers."""
        codes = tuple(dict.fromkeys((comparison.currency, *_USUAL, *own)))
        self.currency.set_choices([(code, code) for code in codes], comparison.currency)
        words = [rate_text(rate) for rate in comparison.rates]
        self.rate.set_words(Text("; ".join(w.en for w in words), "；".join(w.zh for w in words)))
        missing = comparison.missing_rates
        self.rate.setVisible(bool(words))
        self.rates.setVisible(bool(missing or words))
        code = missing[0] if missing else ""
        self.enter_rate.set_words(
            Text(f"Enter the {code} rate…", f"填写 {code} 汇率…")
            if missing else Text("Change…", "修改…")
        )  # fmt: skip

    def choose_workload(self, workload_id: str) -> None:
        """Choose a saved workload without telling anyone."""
        self.workload.choose(workload_id)
        self._workload = self.workload.current

    def tell_count(self, shown: int, whole: int) -> None:
        """How many lines pass the filters."""
        self.count.set_words(Text(f"{shown} of {whole} rows", f"{shown} / {whole} 行"))
