"""How does the user hear that a watched node broke a rule: a band in the window, and the desktop when it is out of sight?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QSystemTrayIcon

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, visible
from gpulease_gui.gui.language import say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.cards import card_name
from gpulease_gui.gui.models.local_times import in_local_time
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.widgets.chart_scale import moment_text
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.services.events import Event, ReadingsNotKept, RecordsChanged, WatchAlarm
from gpulease_gui.services.notice_gate import Heard, NoticeGate, by_rule
from gpulease_gui.services.notices import get_notices
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.nodes import list_nodes

_TITLES = {rule.id: rule.title for rule in WATCH_RULES}
_WARNS = frozenset(rule.id for rule in WATCH_RULES if rule.verdict is Verdict.WARN)
_GRAVE = frozenset(_TITLES) - _WARNS
NAMES_SHOWN = 4
_Alarm = tuple[str, str, str]  # node, rule, card
_Rule = tuple[str, str]  # node, rule


class Alarms(QObject):
    """Listens to the window's bus. Quiet hours and quiet nodes are decided before, and again when something that had to wait is told;
    an end disturbs nobody, but the band
    says it. `clock`: seconds of a clock that is never set; `wall`: local time.
    """

    def __init__(
        self, window: MainWindow, *, clock: Callable[[], float] = time.monotonic, wall: Callable[[], datetime] | None = None
    ) -> None:
        super().__init__(window)
        self._window, self._clock = window, clock
        self._wall = wall or (lambda: datetime.now(UTC).astimezone())
        self._tray: QSystemTrayIcon | None = None
        self._gate = NoticeGate(_GRAVE)
        self._services: object = None
        self._going: dict[_Alarm, WatchAlarm] = {}  # what is broken now, by when it began
        self._ends: dict[_Rule, tuple[float, bool]] = {}  # when a rule was last seen to be broken, and whether nobody looked on
        self._told: tuple[Text, Text] = NO_TEXT, NO_TEXT
        self._heard_of: dict[_Rule, Heard] = {}  # what the band is about
        self._names: Mapping[str, str] = {}
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.look)
        window.bridge.arrived.connect(self._heard)

    def _heard(self, event: Event) -> None:
        if isinstance(event, WatchAlarm):
            if self._services is not self._window.open_services:
                self._services = self._window.open_services
                self._gate.clear()
                self._going, self._ends, self._heard_of = {}, {}, {}
            self._follow(event)
            if event.disturb and event.ended_ms is None:
                self._gate.hear(event, self._clock())
                self._wait()
        elif isinstance(event, RecordsChanged) and "node" in event.kinds:
            self._name_anew()
        elif isinstance(event, ReadingsNotKept):
            self._window.trouble(Text("Readings of a run are not kept as evidence yet", "验收读数尚未存证"), event.words)

    def _follow(self, event: WatchAlarm) -> None:
        """A band that is still there says what is broken now: of what it told, and of the same rules what came and went since."""
        of, one = (event.node_id, event.rule), (event.node_id, event.rule, event.subject)
        was = self._going.pop(one, None)
        if event.ended_ms is None:
            if not self._cards(of):
                self._ends.pop(of, None)
            self._going[one] = event
        else:
            self._ends[of] = event.ended_ms / 1000, event.cut or self._ends.get(of, (0.0, False))[1]
        if of in self._heard_of and (was is None) is (event.ended_ms is None) and self._shown:
            self._show()

    def _cards(self, of: _Rule) -> list[WatchAlarm]:
        """What breaks a rule on a node now."""
        return [event for (node_id, rule, _), event in self._going.items() if (node_id, rule) == of]

    def _now(self) -> list[Heard]:
        """What goes on of what the band is about."""
        made = []
        for of, heard in self._heard_of.items():
            alarms = self._cards(of)
            subjects = tuple(alarm.subject for alarm in alarms)
            if alarms:
                made.append(heard if set(subjects) == set(heard.subjects) else Heard(alarms[-1], len(alarms), subjects))
        return made

    def _show(self) -> None:
        """Who comes back to the band is not to look for what is no more: it says what is over, and what goes on."""
        told, now = [*self._heard_of.values()], self._now()
        shown = now or told
        headline, words = notice_of(shown, self._names, self._numbers(shown[0].last.node_id), over=not now)
        over = [of for of in self._heard_of if not self._cards(of)]
        if not now:
            ends = [self._ends.get(of, (self._wall().timestamp(), False)) for of in over]
            words = _over(words, max(at_s for at_s, _ in ends), cut=any(cut for _, cut in ends))
        elif over:
            words = _also_over(words, dict.fromkeys(rule for _, rule in over))
        self._told = headline, words
        self._window.trouble(headline, words, warning=not now or _only_warns(now))
        tip = visible(shown[0].last.subject) if len(shown) == 1 and len(shown[0].subjects) == 1 else ""
        self._window.trouble_band.headline.setToolTip(plain_tip(tip))

    def _numbers(self, node_id: str) -> Mapping[str, int]:
        """What the lanes call the cards of a node."""
        services = self._window.open_services
        view = services.watching.view(node_id) if services is not None else None
        return dict(view.numbers) if view is not None else {}

    @property
    def _shown(self) -> bool:
        """Whether the band still tells what was heard here."""
        band = self._window.trouble_band
        return not band.isHidden() and band.headline.text() == say(self._told[0])

    def _name_anew(self) -> None:
        """A band that is still there calls a node by the name that the user has given it meanwhile."""
        window, of = self._window, self._services
        if not self._heard_of or not self._shown or window.open_services is None or window.open_services is not of:
            return
        future = window.services.query(lambda connection: {node.id: node.name for node in list_nodes(connection)})
        window.bridge.when_done(future, self._rename)

    def _rename(self, names: Mapping[str, str]) -> None:
        if not self._shown or all(self._names.get(node_id) == names.get(node_id) for node_id, _ in self._heard_of):
            return
        self._heard_of, self._names = {of: one for of, one in self._heard_of.items() if of[0] in names}, names
        if self._heard_of:
            self._show()

    def _wait(self) -> None:
        next_s = self._gate.next_s()
        if next_s is not None:
            self._timer.start(max(0, round((next_s - self._clock()) * 1000)) + 1)

    def look(self) -> None:
        """Tell what is due."""
        window, heard = self._window, self._gate.take(self._clock())
        self._wait()
        if not heard or window.open_services is None or window.open_services is not self._services:
            return
        now = self._wall()

        def read(connection: Reader) -> tuple[tuple[Heard, ...], Mapping[str, str]]:
            notices = get_notices(connection)
            wanted = tuple(one for one in heard if notices.disturbs(one.last.node_id, now))
            return wanted, {node.id: node.name for node in list_nodes(connection)}

        window.bridge.when_done(window.services.query(read), lambda found: self._tell(*found))

    def _tell(self, heard: tuple[Heard, ...], names: Mapping[str, str]) -> None:
        heard = tuple(one for one in heard if one.last.node_id in names)
        if not heard:
            return
        news = {(one.last.node_id, one.last.rule): one for one in heard}
        before = {of: one for of, one in self._heard_of.items() if of not in news and of[0] in names and self._cards(of)}
        self._heard_of, self._names = {**news, **before}, names
        self._show()
        headline, words = notice_of(heard, names, self._numbers(heard[0].last.node_id))
        self._window.note(headline)
        if not self._window.isActiveWindow() and QSystemTrayIcon.isSystemTrayAvailable():
            self._show_on_desktop(headline, words)

    def _show_on_desktop(self, headline: Text, words: Text) -> None:
        if self._tray is None:
            self._tray = QSystemTrayIcon(icons.program_icon(), self)
            self._tray.show()
        # A notification service may read markup: words of a node must be none.
        plain = say(words).replace("&", "+").replace("<", "(").replace(">", ")")
        self._tray.showMessage(say(headline).replace("&", "+").replace("<", "(").replace(">", ")"), plain)


def _only_warns(heard: Sequence[Heard]) -> bool:
    return all(one.last.rule in _WARNS for one in heard)


def notice_of(heard: Sequence[Heard], names: Mapping[str, str], numbers: Mapping[str, int], *, over: bool = False) -> tuple[Text, Text]:
    """(headline, sentence) of what is told together, or of what is `over`; `names` of the nodes, `numbers` of the cards of the first one."""
    first = heard[0]
    if len(heard) == 1:
        words = in_local_time(first.last.words)
        said = headline_of(first.last, names[first.last.node_id], numbers, cards=len(first.subjects))
        if first.times == len(first.subjects):
            return said, words
        return said, Text(f"{words.en} ({first.times} times since it was told last)", f"{words.zh}（自上次提示以来共 {first.times} 次）")
    rules = by_rule(heard)
    nodes = dict.fromkeys(one.last.node_id for one in heard)
    shown = [visible(names[node_id])[:48] for node_id in [*nodes][:NAMES_SHOWN]]
    more = len(nodes) - len(shown)
    en, zh = ", ".join(shown) + (f" and {more} more" if more else ""), "、".join(shown) + (f"等 {len(nodes)} 个节点" if more else "")
    listed = Text("All of them are in the list of events of each node.", "全部记录在各节点的事件列表中。")
    if len(rules) == 1:
        title, times = _title(first.last.rule), sum(one.times for one in heard)
        return Text(f"{title.en}: {len(nodes)} nodes", f"{title.zh}：{len(nodes)} 个节点"), Text(
            f"{en}; {times} events. {listed.en}", f"{zh}；共 {times} 次。{listed.zh}"
        )
    counted = [(_title(rule), len({one.last.node_id for one in some})) for rule, some in rules.items()]
    what = Text(", ".join(f"{title.en} ({count})" for title, count in counted), "、".join(f"{title.zh}（{count}）" for title, count in counted))
    of = Text(f"{len(nodes)} nodes" if len(nodes) > 1 else en, f"{len(nodes)} 个节点" if len(nodes) > 1 else zh)
    broken = Text("were broken", "条规则曾被触发") if over else Text("are broken", "条规则被触发")
    return Text(f"{len(rules)} rules {broken.en}: {of.en}", f"{len(rules)} {broken.zh}：{of.zh}"), Text(
        f"{what.en}: {en}. {listed.en}", f"{what.zh}：{zh}。{listed.zh}"
    )


def _over(words: Text, at_s: float, *, cut: bool) -> Text:
    """`cut`: nobody could look any more, as the line was lost or the watch stopped: that is no end of it."""
    at = moment_text(at_s)
    if cut:
        return Text(f"Not seen to its end, looked at up to {at}. {words.en}", f"未看到结束，观察至 {at}。{words.zh}")
    return Text(f"Over since {at}. {words.en}", f"已于 {at} 结束。{words.zh}")


def _also_over(words: Text, rules: Iterable[str]) -> Text:
    titles = [_title(rule) for rule in rules]
    en, zh = ", ".join(one.en for one in titles), "、".join(one.zh for one in titles)
    return Text(f"{words.en} Over: {en}.", f"{words.zh} 已结束：{zh}。")


def headline_of(event: WatchAlarm, node: str, numbers: Mapping[str, int], *, cards: int = 1) -> Text:
    """Rule, node and card, as the chart calls it, or how many cards."""
    title, name = _title(event.rule), visible(node)[:64]
    if cards > 1:
        return Text(f"{title.en}: {name} · {cards} cards", f"{title.zh}：{name} · {cards} 张卡")
    where = " · ".join(part for part in (name, card_name(event.subject, numbers)) if part)
    return Text(f"{title.en}: {where}", f"{title.zh}：{where}")


def _title(rule: str) -> Text:
    return _TITLES.get(rule, Text(rule, rule))
