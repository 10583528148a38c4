"""Which watch rules were broken, what did it cost, and when may it disturb the user?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpulease_gui.checks.watch_rule import LOST
from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.away_dialog import AwayDialog
from gpulease_gui.gui.forms.fields import LineField, open_dialog
from gpulease_gui.gui.models.cards import card_name, card_place
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group, action_cell, state_cell
from gpulease_gui.gui.models.local_times import in_local_time, zone
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button, Switch
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.fields import Field
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.acting import user_name_in
from gpulease_gui.services.cost_steps import money
from gpulease_gui.services.degraded import Degraded, degraded_in
from gpulease_gui.services.notices import Notices, get_notices, parse_time, save_notices
from gpulease_gui.services.watch_ends import FROM_FILE, NOT_SEEN, unseen_ends
from gpulease_gui.services.watch_rules import alarm_words
from gpulease_gui.store.away import Away, take_away, undo_away
from gpulease_gui.store.card_names import get_numbers
from gpulease_gui.store.nodes import list_nodes
from gpulease_gui.store.watch_events import WatchEvent, list_events

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("Watch rules", "监控规则")
DAYS = 30
AWAY, EXPECT = "away", "expect"
_NS = 1_000_000_000
_RULES = {rule.id: rule for rule in WATCH_RULES}
_BAD_TIME = Text("Write hours and minutes, such as 22:30", "请填写时分，例如 22:30")


@dataclass(frozen=True, slots=True)
class WatchRow:
    """An episode with the name of its node and of its card. Not `seen_end`: its watch, or the line, ended before it."""

    event: WatchEvent
    node: str
    card: str
    now_s: float
    place: int = 0  # of the card among those of the node
    seen_end: bool = True


@dataclass(frozen=True, slots=True)
class Seen:
    """What the dialog shows: episodes, broken before warned, then newest first, what they come to by node, when they disturb."""

    rows: tuple[WatchRow, ...]
    sums: tuple[tuple[str, Degraded], ...]
    notices: Notices
    user: str = ""


def read_seen(connection: sqlite3.Connection, node_id: str, now_s: float, numbers: Mapping[str, int]) -> Seen:
    """Of one node, or of all when `node_id` is empty, over DAYS days up to now (UTC seconds).

    `numbers` by UUID of cards that are watched now; the others have those that they were called by last.
    """
    start_s = now_s - DAYS * 86_400.0
    nodes = [node for node in list_nodes(connection) if node_id in ("", node.id)]
    rows: list[WatchRow] = []
    for node in nodes:
        known, events = {**get_numbers(connection, node.id), **numbers}, list_events(connection, node.id, int(start_s * _NS), int((now_s + 60.0) * _NS))
        unseen = unseen_ends(connection, node.id, events)
        rows += [
            WatchRow(event, node.name, card_name(event.subject, known), now_s, card_place(event.subject, known), event.id not in unseen)
            for event in events
        ]
    told = {row.event.node_id for row in rows if row.event.degraded}
    sums = tuple((node.name, degraded_in(connection, node, start_s, now_s)) for node in nodes if node.id in told)
    # Rules that say a lease is broken stand over those that warn. Cards of one node that break one in one second stand by their numbers.
    ordered = sorted(rows, key=lambda row: (row.event.finding.verdict is not Verdict.FAIL, -(row.event.began_ns // _NS), row.node, row.place, row.event.subject))
    return Seen(tuple(ordered), sums, get_notices(connection), user_name_in(connection))


def _group(row: WatchRow) -> Group:
    """All episodes of a rule under its name, with what it means."""
    rule = _RULES.get(row.event.rule)
    return Group(row.event.rule, rule.title if rule else foreign(row.event.rule), rule.why if rule else "")


def _when(at_ns: int) -> str:
    return datetime.fromtimestamp(at_ns / _NS).astimezone().strftime("%m-%d %H:%M:%S")


def _seconds(row: WatchRow) -> int:
    end_s = row.now_s if row.event.ended_ns is None else row.event.ended_ns / _NS
    return max(0, round(end_s - row.event.began_ns / _NS))


def _lasted(row: WatchRow) -> Cell:
    """How long it took; one that goes on, or whose end nobody saw, at least so long."""
    took, ended_ns = _length(row), row.event.ended_ns
    if ended_ns is None:
        return Cell(Text("goes on", "仍在持续"), tone="fail", note=took)
    if row.seen_end:
        return Cell(took, tip=Text(f"to {_when(ended_ns)}", f"至 {_when(ended_ns)}"))
    return Cell(took, tip=_unseen_words(row, ended_ns))


def _length(row: WatchRow) -> Text:
    from gpulease_gui.gui.pages.live_table import length_text

    took = length_text(_seconds(row))
    return took if row.seen_end else Text(f"at least {took.en}", f"至少 {took.zh}")


def _unseen_words(row: WatchRow, ended_ns: int) -> Text:
    least, until = _length(row), _when(ended_ns)
    return Text(f"{least.en}, {NOT_SEEN.en} (to {until})", f"{least.zh}，{NOT_SEEN.zh}（至 {until}）")


def _how_bad(row: WatchRow) -> Cell:
    """The worst figure, where there is one: why stands over all of them."""
    finding = row.event.finding
    if row.event.away is not None or not isinstance(finding.measured, int | float):
        return Cell(reason_words(row), tone="2", note=_origin(row), tip=whole_words(row))
    worst = f"{number_text(finding.measured)} {finding.unit}".strip()
    if not isinstance(finding.promised, int | float):
        return Cell(worst, note=_origin(row), tip=whole_words(row))
    least = f"{number_text(finding.promised)} {finding.unit}".strip()
    more_en, more_zh = (f", {FROM_FILE.en}", f"，{FROM_FILE.zh}") if row.event.imported else ("", "")
    return Cell(worst, note=Text(f"of {least}{more_en}", f"承诺 {least}{more_zh}"), tip=whole_words(row))


def _origin(row: WatchRow) -> Words:
    """Nobody takes for measured here what came in a file."""
    return FROM_FILE if row.event.imported else ""


def reason_words(row: WatchRow) -> Text:
    """Why, in the local time that the dialog names; of a card that is gone by agreement, who says so."""
    away = row.event.away
    if away is None:
        return in_local_time(row.event.finding.reason, zoned=False)
    by, note = visible(away.by), visible(away.note)
    return Text(f"taken away by agreement: {note} ({by})", f"经协商移除：{note}（{by}）")


def whole_words(row: WatchRow) -> Text:
    """All that is known of one episode: which card it was, why, and what to do about it."""
    why, card = in_local_time(alarm_words(row.event.finding), zoned=False), visible(row.event.subject)
    said = reason_words(row) if row.event.away else None
    en, zh = (f"{said.en}. {why.en}", f"{said.zh}。{why.zh}") if said else (why.en, why.zh)
    named = f"{row.card} · {card}" if card and row.card != card else card
    if not row.seen_end and row.event.ended_ns is not None:
        lasted = _unseen_words(row, row.event.ended_ns)
        en, zh = f"{en.rstrip('.')}. Lasted {lasted.en}.", f"{zh.rstrip('。')}。持续{lasted.zh}。"
    if row.event.imported is not None:
        origin = row.event.imported.words
        en, zh = f"{en.rstrip('.')}. {origin.en}.", f"{zh.rstrip('。')}。{origin.zh}。"
    return Text(f"{named}: {en}", f"{named}：{zh}") if named else Text(en, zh)


def _act(row: WatchRow) -> Cell:
    """A lost card may be gone by agreement, and that may be taken back."""
    if row.event.rule != LOST.id:
        return Cell("")
    return action_cell(Text("Expect again", "恢复计入"), EXPECT) if row.event.away else action_cell(Text("Taken away…", "已移除…"), AWAY)


# At 1160 px all of it is in sight in the largest font, too.
def _columns(*, several: bool) -> list[Column[WatchRow]]:
    node: list[Column[WatchRow]] = [Column(Text("Node", "节点"), lambda row: Cell(foreign(row.node)), lambda row: row.node, width=96)] if several else []
    return [
        Column(Text("Verdict", "判定"), lambda row: state_cell(badge_of(row.event.finding.verdict)), width=108),
        *node,
        Column(Text("Card", "卡"), lambda row: Cell(foreign(row.card), tip=foreign(row.event.subject)) if row.card else NOTHING,
               lambda row: f"{row.place:010}{row.card}", width=88),
        Column(Text("From", "开始"), lambda row: Cell(_when(row.event.began_ns)), lambda row: row.event.began_ns, width=108, number=True),
        Column(Text("Lasted", "持续"), _lasted, _seconds, width=144, number=True),
        Column(Text("Worst, or why", "最差值或原因"), _how_bad, width=180, stretch=True),
        Column("", _act, width=116, number=True),
    ]  # fmt: skip


def sum_words(node: str, one: Degraded) -> Text:
    """Card-hours of a node and what they cost, with what had to be assumed for it, or why nobody can say."""
    hours = f"{float(one.card_hours):.2f}"
    if one.money is not None:
        worth = money(one.money.currency, one.money.amount)
        more = [(f" ({en})", f"（{zh}）") for en, zh in [("; ".join(w.en for w in one.assumed), "；".join(w.zh for w in one.assumed))] if en]
        said_en, said_zh = more[0] if more else ("", "")
        return Text(f"{node}: {hours} card-hours under promise, {worth}{said_en}", f"{node}：低于承诺 {hours} 卡时，{worth}{said_zh}")
    why = one.no_money or Text("", "")
    return Text(f"{node}: {hours} card-hours under promise; {why.en}", f"{node}：低于承诺 {hours} 卡时；{why.zh}")


class WatchDialog(FactDialog):
    """The episodes of the last days as a table, their sum, and the choices of when to be told."""

    def __init__(
        self, frame: Frame, node: tuple[str, str] = ("", ""), numbers: Mapping[str, int] | None = None,
        clock: Callable[[], float] = time.time, *, parent: QWidget | None = None,
    ) -> None:  # fmt: skip
        where: Words = node[1] or Text("all nodes", "全部节点")
        super().__init__(TITLE, Text(f"Broken rules of the last {DAYS} days", f"最近 {DAYS} 天违反的规则"),
                         ((Text("Node", "节点"), where), (Text("Times", "时间"), foreign(zone(datetime.now().astimezone())))), icon="bell", parent=parent,
                         consequence=Text("Equal times mean no quiet hours. What a rule finds is kept either way.",
                                          "开始与结束相同表示无免打扰时段；无论是否通知，结果都会保存。"))  # fmt: skip
        self._frame, self._node, self._notices = frame, node, Notices()
        self.rows: TableModel[WatchRow] = TableModel(
            _columns(several=not node[0]), lambda row: row.event.id, group=_group, tally=lambda row: badge_of(row.event.finding.verdict)
        )  # fmt: skip
        self.table = TableView(self.rows, TITLE)
        self.table.setMinimumSize(640, 280)
        self.whole = PlainLabel("", level="2", size="dense", wrap=True, select=True)
        self.none = PlainLabel(Text("No rule was broken.", "未违反任何规则。"), level="2")
        self.sums = PlainLabel("", level="2", wrap=True)
        self.on = Switch(Text("Tell me when a rule is broken", "违反规则时通知我"))
        self.of_node = Switch(Text("Also of this node", "包括此节点"))
        self.quiet_from, self.quiet_to = LineField(Text("Quiet from", "免打扰开始")), LineField(Text("Quiet until", "免打扰结束"))
        self._fields = Field(Text("Quiet from (local time)", "免打扰开始（本地时间）"), self.quiet_from), Field(Text("Quiet until", "免打扰结束"), self.quiet_to)
        self._clock, self._numbers, self._user = clock, dict(numbers or {}), ""
        self._build()
        self.table.acted.connect(self._act)
        self.table.chosen.connect(lambda row: self.whole.set_words(whole_words(row) if row is not None else ""))
        self._read()

    def _read(self) -> None:
        now_s, node_id, of = self._clock(), self._node[0], self._numbers
        self._frame.bridge.when_done(self._frame.services.query(lambda db: read_seen(db, node_id, now_s, of)), self._show)

    def _act(self, row: WatchRow, action: str) -> None:
        """End what a card costs that was taken away by agreement, or count it again."""
        away = row.event.away
        if action == AWAY:
            dialog = AwayDialog(row.node, row.card, self._user, self)
            dialog.accepted.connect(lambda: self._take_away(row, dialog.by.text().strip(), dialog.note.text().strip()))
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()
        elif action == EXPECT and away is not None:
            self._change(row, lambda db: undo_away(db, row.event.node_id, away))

    def _take_away(self, row: WatchRow, by: str, note: str) -> None:
        away = Away(row.event.subject, datetime.fromtimestamp(self._clock(), UTC), by, note)
        self._change(row, lambda db: take_away(db, row.event.node_id, away))

    def _change(self, row: WatchRow, work: Callable[[Database], object]) -> None:
        self._frame.bridge.when_done(self._frame.services.change(work, "away"), lambda _: self._read())

    def _build(self) -> None:
        self.column.addWidget(self.none)
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.whole)
        self.column.addWidget(self.sums)
        row = QHBoxLayout()
        row.setSpacing(16)
        row.addWidget(self.on)
        row.addWidget(self.of_node)
        row.addStretch(1)
        for field in self._fields:
            row.addWidget(field)
        self.column.addLayout(row)
        self.of_node.setVisible(bool(self._node[0]))
        self.table.hide()
        self.whole.hide()
        self.fill()
        self.figures = self.add_button(Button(Text("Figures of the rules…", "规则阈值…")))
        self.add_button(Button(Text("Close", "关闭")), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.setEnabled(False)
        self.figures.clicked.connect(self._open_figures)
        self.save.clicked.connect(self._save)

    def _show(self, seen: Seen) -> None:
        self._user = seen.user
        self.rows.set_rows(seen.rows)
        self.none.setVisible(not seen.rows)
        self.table.setVisible(bool(seen.rows))
        self.whole.setVisible(bool(seen.rows))
        if self.table.current_row is None:
            self.table.choose_first()
        en, zh = ("\n".join(part) for part in zip(*((w.en, w.zh) for w in (sum_words(*one) for one in seen.sums)), strict=True)) if seen.sums else ("", "")
        self.sums.set_words(Text(en, zh))
        self.sums.setVisible(bool(seen.sums))
        if self.save.isEnabled():
            return  # shown anew: what the user has chosen meanwhile stays
        notices = self._notices = seen.notices
        self.on.setChecked(notices.on)
        self.of_node.setChecked(self._node[0] not in notices.nodes_off)
        self.quiet_from.setText(f"{notices.quiet_from:%H:%M}")
        self.quiet_to.setText(f"{notices.quiet_to:%H:%M}")
        self.save.setEnabled(True)

    def _open_figures(self) -> None:
        from gpulease_gui.gui.forms.thresholds_dialog import thresholds_dialog

        thresholds_dialog(self._frame, self, "watch")

    def _save(self) -> None:
        times = []
        for field, line in zip(self._fields, (self.quiet_from, self.quiet_to), strict=True):
            field.set_error("")
            try:
                times.append(parse_time(line.text()))
            except UsageError:
                field.set_error(_BAD_TIME)
                line.setFocus()
                return
        id_, off = self._node[0], self._notices.nodes_off
        if id_:
            off = off - {id_} if self.of_node.isChecked() else off | {id_}
        wanted = replace(self._notices, on=self.on.isChecked(), quiet_from=times[0], quiet_to=times[1], nodes_off=off)
        frame = self._frame  # the dialog is gone by then
        frame.bridge.when_done(frame.services.change(lambda db: save_notices(db, wanted), "notices"), lambda _: frame.note(Text("Notices saved", "通知设置已保存")))
        self.accept()


def watch_dialog(frame: Frame, parent: QWidget, node: tuple[str, str] = ("", ""), numbers: Mapping[str, int] | None = None) -> WatchDialog:
    """The dialog, open; `node` is (id, name), empty for all nodes."""
    dialog = WatchDialog(frame, node, numbers, parent=parent)
    dialog.setMinimumWidth(720)
    dialog.resize(1160, 620)
    open_dialog(dialog)
    return dialog
