"""What does `gpulease watch` say of troubles that no event tells: readings that are not kept, a source that can't be read?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.watch_words import trouble_words

# A node decides how often what it says changes: a source is not told of more often than this.
AGAIN_S = 5.0
_KEPT = "\0kept"


class Troubles:
    """What was said last of each node and source; each change is said once."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], tuple[str, float]] = {}

    def changes(self, views: Iterable[WatchView], now_s: float) -> tuple[tuple[str, str, Text], ...]:
        """(node, kind, words) of what is new at `now_s` (monotonic seconds); the kinds are `not_kept`, `kept_again`, `trouble`, `trouble_over`."""
        made: list[tuple[str, str, Text]] = []
        for view in views:
            now = {**view.troubles, _KEPT: view.unsaved}
            before = {source for node_id, source in self._said if node_id == view.node_id}
            for source in (*now, *sorted(before - now.keys())):
                words = now.get(source, "")
                said, at_s = self._said.get((view.node_id, source), ("", -AGAIN_S))
                if words == said or (at_s + AGAIN_S > now_s):
                    continue
                self._said[view.node_id, source] = words, now_s
                made.append((view.node_id, *_event(source, words)))
        return tuple(made)


def _event(source: str, words: str) -> tuple[str, Text]:
    if source == _KEPT:
        return ("not_kept", _not_kept(words)) if words else ("kept_again", NO_TEXT)
    why = trouble_words(words)
    if not words:
        return "trouble_over", foreign(source)
    return "trouble", Text(f"{source}: {why.en}", f"{source}：{why.zh}")


def _not_kept(why: str) -> Text:
    return Text(f"readings are not kept: {why}", f"采样未能保存：{why}")
