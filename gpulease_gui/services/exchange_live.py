"""Is what a bundle says of watched nodes such as this version can mean it, and can show it?"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.services.live_events import NOTE
from gpulease_gui.services.live_export import REPORT_MARK
from gpulease_gui.store.ahead import CLOCK_MARK, CLOCK_WRONG
from gpulease_gui.store.exchange import bundle_rules as may
from gpulease_gui.store.exchange.bundle_schema import Record
from gpulease_gui.store.exchange.bundle_watch import is_shared, refuse_damaged_cards
from gpulease_gui.store.imported import IMPORTED
from gpulease_gui.telemetry.source import metrics

SECTIONS = ("settings", "marks", "watch_events", "watch_gaps")
# Clocks of two computers, and time zones that are set wrong, are no further apart.
_AHEAD = timedelta(days=1)
_RULES = frozenset(rule.id for rule in WATCH_RULES)


def known_of_live(record: Record, unknown: list[str]) -> Record | None:
    """A record of `SECTIONS` as it is, or None for what is left out, which is then named in `unknown`. Raises UserFacing for what can't be meant."""
    if record.section.name == "settings":
        return _known_setting(record, unknown)
    known = {"marks": _known_mark, "watch_events": _known_event, "watch_gaps": _known_gap}
    return known[record.section.name](record, unknown)


def _known_setting(record: Record, unknown: list[str]) -> Record | None:
    """A file from elsewhere says nothing of this computer, such as the SSH options of a node."""
    if not is_shared(record.key[0]):
        unknown.append(f"settings: {record.key[0][:60]}")
        return None
    refuse_damaged_cards(record)
    return record


def _known_event(record: Record, unknown: list[str]) -> Record | None:
    """What ends in the time to come was seen by nobody yet: it would cost hours that did not pass."""
    id_, rule = record.key[0][:40], str(record.value("rule"))
    if rule not in _RULES:
        raise UserFacing(Text("an event of the bundle is of a rule that this version does not know", "数据包中有本版本不认识的规则的事件"), f"watch_events {id_}: {rule[:40]!r}", Text("update the program, or ask who wrote it", "请更新本程序，或询问文件的编写者"))
    if int(str(record.value("ended_ns"))) > (utc_now() + _AHEAD).timestamp() * 1e9:
        unknown.append(f"watch_events: {id_} ends in the time to come")
        return None
    return record


def _known_gap(record: Record, unknown: list[str]) -> Record | None:
    """Of what may be read here no file says that nobody reads it; words of a node are one line that can be shown."""
    node_id, began_ns, ended_ns, reason, of = record.key
    if int(ended_ns) > (utc_now() + _AHEAD).timestamp() * 1e9:
        unknown.append(f"watch_gaps: {node_id[:40]} ends in the time to come")
        return None
    told = [metric for metric in of.split(" ") if metric in metrics()] if of else [""]
    unknown += [f"watch_gaps.metrics: {metric[:40]}" for metric in of.split(" ") if of and metric not in told]
    words = visible(" ".join(reason.split()))[: may.MOST_NAME]
    if not told or not words or words == CLOCK_WRONG:
        unknown.append(f"watch_gaps: {words[:40]}")
        return None
    return replace(record, key=(node_id, began_ns, ended_ns, words, " ".join(told)))


def _known_mark(record: Record, unknown: list[str]) -> Record | None:
    """What was imported is told by the computer that imports it; of runs and events of ours no file says so."""
    kind, words = str(record.value("kind")), str(record.value("words"))
    if kind == IMPORTED:
        unknown.append(f"marks: {IMPORTED}")
        return None
    if not _can_be_shown(kind, words):
        raise UserFacing(Text("a mark of the bundle can't be meant", "数据包中有一条无法成立的标记"), Text(f"marks {record.key[0][:40]}: {kind} can't be {words[:40]!r}", f"marks {record.key[0][:40]}：{kind} 不能是 {words[:40]!r}"), Text("export it again", "请重新导出"))
    return record


def _can_be_shown(kind: str, words: str) -> bool:
    """Whether a mark has such words as its kind has: some are read as times wherever its node is shown."""
    if kind == CLOCK_MARK:
        return may.at(words)
    if kind == REPORT_MARK:
        edges = words.split("\t")
        return len(edges) == 2 and all(may.nanoseconds(edge) for edge in edges)
    return kind != NOTE or may.name(words)
