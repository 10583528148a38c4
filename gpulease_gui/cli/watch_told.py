"""What does `gpulease watch` say of events, of troubles that no event tells, and of all of it at its end?"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from gpulease_gui.domain.text import NO_TEXT, Text, foreign, visible
from gpulease_gui.services.card_words import card_name
from gpulease_gui.services.events import (
    Event,
    GapClosed,
    GapOpened,
    LoadChanged,
    NodeState,
    NodeStateChanged,
    ReadingsNotKept,
    WatchAlarm,
)
from gpulease_gui.services.gap_words import GAP_WORDS
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.telemetry.gpu_agent import UNHEARD, XID
from gpulease_gui.telemetry.source import metrics, sources

# A node decides how often what it says changes: a source is not told of more often than this.
AGAIN_S = 5.0
_KEPT, _XIDS = "\0kept", "\0xids"
_AWAY = frozenset({NodeState.LOST, NodeState.REFUSED, NodeState.KEY_CHANGED})
_UNHEARD = Text("Xid events of cards are not told here, so that none is shown does not mean that none occurred",
                "此处收不到显卡的 Xid 事件，未显示不代表未发生")  # fmt: skip


class Troubles:
    """What was said last of each node and source; each change is said once."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], tuple[str, float]] = {}

    def changes(self, views: Iterable[WatchView], now_s: float) -> tuple[tuple[str, str, Text], ...]:
        """(node, kind, words) of what is new at `now_s` (monotonic seconds); the kinds are `not_kept`, `kept_again`, `trouble`, `trouble_over`.
        A source that a new connection has not heard yet is not over its trouble.

        `unheard` is said once of a node, however often it is connected again: cards whose Xids nobody hears.
        """
        made: list[tuple[str, str, Text]] = []
        for view in views:
            now = {**view.troubles, _KEPT: view.unsaved.en}
            if (view.node_id, _XIDS) in self._said or any(gap.metric == XID and gap.end_s is None for gap in view.source_gaps):
                now[_XIDS] = UNHEARD
            before = {source for node_id, source in self._said if node_id == view.node_id}
            for source in (*now, *sorted(before - now.keys())):
                if source not in now and not _is_read(view, source):
                    continue
                words = now.get(source, "")
                said, at_s = self._said.get((view.node_id, source), ("", -AGAIN_S))
                if words == said or (at_s + AGAIN_S > now_s):
                    continue
                self._said[view.node_id, source] = words, now_s
                made.append((view.node_id, *(_kept(view.unsaved) if source == _KEPT else _event(source, words))))
        return tuple(made)


def _is_read(view: WatchView, source: str) -> bool:
    """Whether a curve of it goes on: a trouble, and the end of a connection, end them all."""
    known = sources().get(source)
    own = {metric.id for metric in known.metrics} if known is not None else set[str]()
    ends = [ring.last for key, ring in list(view.rings.items()) if key[0] in own]
    return any(last is not None and not math.isnan(last[1]) for last in ends)


class States:
    """What was said last of the connection of each node. Both the connection and the watch over it tell how it stands."""

    def __init__(self) -> None:
        self._said: dict[str, tuple[NodeState, str]] = {}

    def is_new(self, event: NodeStateChanged) -> bool:
        """Whether it is a change to be told: of a node that can't be reached only another reason is, not each try of many."""
        why = event.reason_text.en or event.reason
        state, said = self._said.get(event.node_id, (None, ""))
        if event.state is state and state not in _AWAY:
            return False
        if state in _AWAY and (event.state is NodeState.CONNECTING or (event.state in _AWAY and why in ("", said))):
            return False
        self._said[event.node_id] = event.state, why
        return True


def _event(source: str, words: str) -> tuple[str, Text]:
    if source == _XIDS:
        return "unheard", _UNHEARD
    why = trouble_words(words)
    if not words:
        return "trouble_over", foreign(source)
    return "trouble", Text(f"{source}: {why.en}", f"{source}：{why.zh}")


def _kept(why: Text) -> tuple[str, Text]:
    if not why.en:
        return "kept_again", NO_TEXT
    return "not_kept", Text(f"readings are not kept: {why.en}", f"采样未能保存：{why.zh}")


def said_of(event: Event) -> tuple[str, str, float, Text] | None:
    """(node, kind, UTC seconds, words) of what concerns a watch; None for what doesn't. A rule that nobody could look at any more is `rule_unseen`."""
    match event:
        case NodeStateChanged():
            return event.node_id, event.state.value, time.time(), _of_state(event)
        case GapOpened():
            return event.node_id, "gap", event.since_ms / 1000, GAP_WORDS.get(event.reason, foreign(event.reason))
        case GapClosed():
            return event.node_id, "read_again", event.at_ms / 1000, NO_TEXT
        case WatchAlarm():
            ended_ms = event.ended_ms
            over = "rule_unseen" if event.cut else "rule_kept_again"
            kind, at_ms = ("rule_broken", event.began_ms) if ended_ms is None else (over, ended_ms)
            return event.node_id, kind, at_ms / 1000, event.words
        case LoadChanged():
            return event.node_id, "load_begins" if event.runs else "load_ends", time.time(), _load_words(event)
        case ReadingsNotKept():
            words = Text(f"readings of a run are not kept as evidence yet: {event.words.en}", f"验收读数尚未存证：{event.words.zh}")
            return event.node_id, "evidence_not_kept", time.time(), words
    return None


def _of_state(event: NodeStateChanged) -> Text:
    """Why, and the flag that helps where there is one. What may come back by itself is not followed by advice each time."""
    why = event.reason_text if event.reason_text.en else foreign(event.reason)
    if not event.next_step or (event.next_step == event.next_text.en and event.state is not NodeState.KEY_CHANGED):
        return why
    return Text(f"{why.en}; {event.next_step}", f"{why.zh}；{event.next_text.zh or event.next_step}")


def of_rule(event: Event, numbers: Mapping[str, int]) -> dict[str, str]:
    """What a rule's event is of, for JSON: `rule` (its id), `subject` (a UUID, a chip, "" = the whole node) and `card`, as Live calls it by the
    `numbers` of the node's cards; nothing for other events.
    """
    if not isinstance(event, WatchAlarm):
        return {}
    return {"rule": event.rule, "subject": visible(event.subject), "card": card_name(event.subject, numbers)}


def of_rule_words(of: Mapping[str, str]) -> str:
    """The same for a line of text, such as `watch.lost, GPU 1, GPU-0a1b...`: nothing twice."""
    rule, card, subject = (of.get(key, "") for key in ("rule", "card", "subject"))
    parts = rule, "" if subject.startswith(card) else card, "" if card.endswith(f" {subject}") else subject
    return ", ".join(part for part in parts if part)


def _load_words(event: LoadChanged) -> Text:
    metric = metrics().get(event.load.metric)
    title = metric.title if metric is not None else foreign(event.load.metric)
    return Text(f"a test of ours asks for all of it: {title.en}", f"本程序的测试占满：{title.zh}")


class Sums:
    """What was told while nodes were watched."""

    def __init__(self) -> None:
        self.gaps = self.events = 0

    def count(self, event: Event) -> None:
        """One more event that was told."""
        self.gaps += isinstance(event, GapOpened)
        self.events += isinstance(event, WatchAlarm) and event.ended_ms is None

    def count_stored(self, views: Iterable[WatchView]) -> None:
        """Watches that are over: also gaps of single sources and curves and of what could not be written, which no event told."""
        self.gaps = max(self.gaps, sum(view.holes + bool(view.unsaved.en) for view in views))

    def said(self, why: Text, lines: int, kept_in: Path) -> Text:
        """The last line: why it ended, lines of readings, gaps, events (broken rules, errors of cards), and where it is kept."""
        return Text(
            f"{why.en}: {_many(lines, 'line')} of readings, {_many(self.gaps, 'gap')}, {_many(self.events, 'event')}; what was read and could be written is kept in {kept_in}",
            f"{why.zh}：读数 {lines:,} 行，空缺 {self.gaps:,} 处，事件 {self.events:,} 个；已读取且可写入的内容保存在 {kept_in}",
        )


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"
