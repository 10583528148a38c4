"""How does the user hear that a watched node broke a rule: a band in the window, and the desktop when it is out of sight?"""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QSystemTrayIcon

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.language import say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.cards import card_name
from gpulease_gui.gui.models.local_times import in_local_time
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.widgets.labels import plain_tip
from gpulease_gui.services.events import Event, WatchAlarm
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.nodes import get_node

_TITLES = {rule.id: rule.title for rule in WATCH_RULES}
_WARNS = frozenset(rule.id for rule in WATCH_RULES if rule.verdict is Verdict.WARN)


class Alarms(QObject):
    """Listens to the window's bus. Quiet hours and quiet nodes are decided before; an end disturbs nobody."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        window.bridge.arrived.connect(self._heard)

    def _heard(self, event: Event) -> None:
        if isinstance(event, WatchAlarm) and event.disturb and event.ended_ms is None:
            window, node_id = self._window, event.node_id

            def name(connection: Reader) -> str:
                return get_node(connection, node_id).name

            window.bridge.when_done(window.services.query(name), lambda found: self._tell(event, found))

    def _tell(self, event: WatchAlarm, node: str) -> None:
        services = self._window.open_services
        view = services.watching.view(event.node_id) if services is not None else None
        headline, words = headline_of(event, node, view.numbers if view is not None else {}), in_local_time(event.words)
        self._window.trouble(headline, words, warning=event.rule in _WARNS)
        self._window.trouble_band.headline.setToolTip(plain_tip(visible(event.subject)))
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


def headline_of(event: WatchAlarm, node: str, numbers: Mapping[str, int]) -> Text:
    """Rule, node and card, as the chart calls it."""
    title = _TITLES.get(event.rule, Text(event.rule, event.rule))
    where = " · ".join(part for part in (visible(node)[:64], card_name(event.subject, numbers)) if part)
    return Text(f"{title.en}: {where}", f"{title.zh}：{where}")
