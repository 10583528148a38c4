"""What says which deal, use and template the checklist is of, how it scores, and what is done to many items?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QSizePolicy, QStackedWidget, QWidget

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.catalog.scenarios import Scenario
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.scoring import Score, Status
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.checklist_parts import ScoreBar
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.pdf.badges import Badge, ItemState, badge_of
from gpulease_gui.services.checklist_page import ChecklistSeen
from gpulease_gui.services.checklist_view import ChecklistView, Outcome
from gpulease_gui.services.compare_table import STATUS_WORDS

EVERY_USE = Text("every use", "不限场景")
SHIPPED = Text("Shipped", "内置模板")
_KIND_WORDS = {HolderOf.CONTRACT: Text("Contract", "合同"), HolderOf.OFFER: Text("Offer", "报价")}
_STATUS_LIKE = {
    Status.REJECTED: badge_of(Verdict.FAIL), Status.BLOCKED: badge_of(Verdict.INCONCLUSIVE),
    Status.WAIVED: badge_of(ItemState.WAIVED), Status.QUALIFIED: badge_of(Verdict.PASS),
}  # fmt: skip


def badge_of_status(status: Status) -> Badge:
    """Whether the deal may be taken, as mark and word."""
    like = _STATUS_LIKE[status]
    return Badge(like.icon, like.token, STATUS_WORDS[status], like.loud)


def span_words(score: Score) -> Text:
    """Such as: 41 – 87, coverage 63 %."""
    if score.score_low is None or score.score_high is None:
        return Text("no score", "无得分")
    span = f"{score.score_low:.0f} – {score.score_high:.0f}"
    part = f"{(score.coverage or Decimal(0)) * 100:.0f}\u2009%"
    return Text(f"{span}, coverage {part}", f"{span}，覆盖率 {part}")


def uses_of(scenarios: Mapping[str, Scenario]) -> tuple[tuple[str, Text], ...]:
    """Every use as a choice, "" for all alike."""
    return (("", EVERY_USE), *((id_, scenario.title) for id_, scenario in scenarios.items()))


class DealBand(Lively, QFrame):
    """Deal, use and template at the left; verdict on the deal and its musts at the right.

    `used` carries the id of a scenario, `patterned` that of a template.
    """

    used = Signal(str)
    patterned = Signal(str)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("targetBand")
        self.pick = Button("…", icon="chevron-down", kind="quiet", small=True)
        self.pick.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the arrow stands after the number
        self.about = ElidedLabel("", size="dense", level="2")
        self.kind = PlainLabel("", size="dense", level="3")
        self.use = Chooser(Text("Use", "场景"))
        self.use.picked.connect(self.used)
        self.template = Chooser(Text("Template", "模板"))
        self.template.picked.connect(self.patterned)
        self.edit = IconButton("edit", Text("Edit templates…", "编辑模板…"))
        self.status = BadgeLabel()
        self.musts = PlainLabel("", size="dense", level="2")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 2, 16, 2)
        row.setSpacing(6)
        row.addWidget(self.kind)
        row.addWidget(self.pick)
        row.addWidget(self.about, 1)
        for words, widget in ((Text("Use", "场景"), self.use), (Text("Template", "模板"), self.template)):
            row.addWidget(PlainLabel(words, size="dense", level="3"))
            row.addWidget(widget)
        row.addWidget(self.edit)
        row.addSpacing(10)
        row.addWidget(self.status)
        row.addWidget(self.musts)

    def show_seen(self, seen: ChecklistSeen) -> None:
        """Show another checklist."""
        deal = seen.view.facts.row
        self.kind.set_words(_KIND_WORDS[deal.kind])
        self.pick.set_words(foreign(deal.number or deal.title or deal.id))
        self.about.set_words(foreign(" · ".join(part for part in (deal.supplier, deal.title) if part)))
        self.use.set_choices(uses_of(seen.scenarios), seen.view.scenario)
        self.template.set_choices([("", SHIPPED), *((t.id, foreign(t.name)) for t in seen.templates)], seen.view.template.id)
        score = seen.score.score
        self.status.set_state(badge_of_status(score.status))
        self.musts.set_words(must_words(seen.view))
        self.musts.setToolTip(plain_tip(", ".join((*score.failed_musts, *score.open_musts))))


def must_words(view: ChecklistView) -> Text:
    """Such as: 51 musts: 8 fail, 14 open."""
    musts = [row for row in view.rows if row.item.severity is Importance.MUST]
    failed = sum(row.outcome is Outcome.FAIL for row in musts)
    unknown = sum(row.outcome is Outcome.UNKNOWN for row in musts)
    return Text(f"{len(musts)} musts: {failed} fail, {unknown} open", f"必须项 {len(musts)}：{failed} 不符，{unknown} 待证")


class ScorePane(Pane):
    """The score from what is proven to what is possible, for every use; the one that counts is heavier."""

    def __init__(self) -> None:
        super().__init__(1)
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 16, 4)
        self.weights = Button(Text("Weights…", "权重…"), kind="link", small=True)
        head.addWidget(PlainLabel(Text("Score by use", "各场景得分"), size="dense", weight=600))
        head.addStretch()
        head.addWidget(self.weights)
        self._grid = QGridLayout()
        self._grid.setContentsMargins(16, 0, 16, 10)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(3)
        self._grid.setColumnMinimumWidth(0, 84)
        self._grid.setColumnStretch(1, 1)
        self._lines: dict[str, tuple[PlainLabel, ScoreBar, PlainLabel]] = {}
        self.column.addLayout(head)
        self.column.addLayout(self._grid)

    def _line(self, use: str, title: Text) -> tuple[PlainLabel, ScoreBar, PlainLabel]:
        if use not in self._lines:
            name, bar, said = ElidedLabel(title, size="caption", level="2"), ScoreBar(), PlainLabel("", size="caption", level="2")
            place = len(self._lines)
            self._grid.addWidget(name, place, 0)
            self._grid.addWidget(bar, place, 1)
            self._grid.addWidget(said, place, 2)
            self._lines[use] = (name, bar, said)
        return self._lines[use]

    def show_seen(self, seen: ChecklistSeen) -> None:
        """Show other scores."""
        for use, title in uses_of(seen.scenarios):
            name, bar, said = self._line(use, title)
            score = seen.scores[use].score
            low, high = score.score_low, score.score_high
            sentence = f"{say(title)}: {say(span_words(score))}"
            bar.set_span(None if low is None else float(low), None if high is None else float(high), sentence)
            said.set_words("–" if low is None or high is None else f"{low:.0f} – {high:.0f}")
            for label in (name, said):
                label.set_level("1" if use == seen.view.scenario else "2")


class BulkBand(Band):
    """What is done to the chosen items at once."""

    def __init__(self) -> None:
        self.not_applicable = Button(Text("Not applicable…", "标为不适用…"), small=True)
        self.waive = Button(Text("Waive…", "豁免…"), small=True)
        self.asked = Button(Text("Mark as asked", "标为已询问"), small=True)
        self.clear = Button(Text("Clear choice", "取消选择"), kind="quiet", small=True)
        super().__init__("accent", "", "", self.not_applicable, self.waive, self.asked, self.clear)


class KeyLine(Lively, QWidget):
    """Which keys answer an item."""

    KEYS: Sequence[tuple[str, Text]] = (
        ("Y", Text("yes", "是")), ("P", Text("partly", "部分")), ("N", Text("no", "否")), ("U", Text("unknown", "未知")),
        ("X", Text("not applicable", "不适用")), ("W", Text("waive", "豁免")), ("A", Text("asked", "已询问")), ("E", Text("attach", "附件")),
        ("T", Text("note", "备注")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 16, 4)
        self._said = ElidedLabel("", size="caption", level="3")
        row.addWidget(self._said)
        self.retranslate()

    def retranslate(self) -> None:
        """Say the keys."""
        self._said.set_words(Text("   ".join(f"{key} {words.en}" for key, words in self.KEYS),
                                  "   ".join(f"{key} {words.zh}" for key, words in self.KEYS)))  # fmt: skip


class WayBack(Band):
    """What was just done to many items, and the way back. `closed` when there is nothing more to say."""

    closed = Signal()

    def __init__(self) -> None:
        self.undo = Button(Text("Undo", "撤销"), icon="undo", small=True)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        super().__init__("accent", "", "", self.undo, close)
        close.clicked.connect(self.closed)
        self.undo.clicked.connect(self._back)
        self._way_back: Callable[[], None] | None = None

    def offer(self, done: Text, way_back: Callable[[], None]) -> None:
        """Say what was done."""
        self._way_back = way_back
        self.tell(done)

    def _back(self) -> None:
        way_back, self._way_back = self._way_back, None
        self.closed.emit()
        if way_back is not None:
            way_back()


class Foot(QStackedWidget):
    """One line under the table: the keys, what is done to many, or the way back. It never moves the table."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.keys, self.bulk, self.undo = KeyLine(), BulkBand(), WayBack()
        self._chosen: tuple[str, ...] = ()
        for part in (self.keys, self.bulk, self.undo):
            self.addWidget(part)
        self.undo.closed.connect(self.settle)

    def show_chosen(self, items: tuple[str, ...], sentence: Text) -> None:
        """Another choice: two or more items can be treated at once."""
        count, other = len(items), items != self._chosen
        self._chosen = items
        self.bulk.headline.set_words(Text(f"{count} chosen", f"已选 {count} 项"))
        self.bulk.sentence.set_words(sentence)
        if other or self.currentWidget() is not self.undo:
            self.settle()

    def offer(self, done: Text, way_back: Callable[[], None]) -> None:
        """Show the way back until something else is chosen."""
        self.undo.offer(done, way_back)
        self.setCurrentWidget(self.undo)

    def settle(self) -> None:
        """The way back is not wanted any more."""
        self.setCurrentWidget(self.bulk if len(self._chosen) > 1 else self.keys)
