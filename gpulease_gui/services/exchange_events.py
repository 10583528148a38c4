"""Does an event of a watched node in a bundle say of itself what its rule, its own words, its evidence and its marks say?

Who changes an event and all of these alike is not found out: that it was imported is said wherever it is shown.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from gpulease_gui.checks.watch_rules import WATCH_RULES, WatchRule
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import VERDICT_WORDS, Finding
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.store.codec import finding_from, utc_from
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.records import EvidenceBlob

_NS = 1_000_000_000
# Words have whole seconds, evidence thousandths.
_NEAR_S = 1.0
# A rule keeps no more of its first readings: where there are fewer, they are all, and the first of them is the begin.
_KEPT_READINGS = 60
# Missed first may be long before a reading says so.
_SINCE_BEFORE = frozenset({"watch.lost", "watch.driver"})
_MOST_BYTES = 1_000_000
_RULES = {rule.id: rule for rule in WATCH_RULES}
_AT = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC"
_SAYS = (
    re.compile(rf", since {_AT}(?:, for (\d{{1,12}}) s)?", re.ASCII), re.compile(rf"，自 {_AT} 起(?:，持续 (\d{{1,12}}) 秒)?", re.ASCII),
)  # fmt: skip
_Rows = list[tuple[float, float | None]]


def refuse_contradictions(bundle: Bundle) -> None:
    """Raise UserFacing for an event whose verdict, times or figure are not those of its rule, words, evidence and marks.

    What can't be checked (a rule that is not known here, evidence that is no list of readings) is taken as it is.
    """
    marks = {record.key[0]: utc_from(str(record.value("at"))).timestamp() for record in bundle.of("marks") if record.value("kind") == "watch"}
    for record in bundle.of("watch_events"):
        rule = _RULES.get(str(record.value("rule")))
        if rule is None:
            continue
        why = next(_contradictions(record, rule, bundle.contents.get(str(record.value("sha256"))), marks), None)
        if why is not None:
            id_ = visible(record.key[0][:40])
            raise UserFacing(
                Text("an event of the bundle contradicts itself", "数据包中的一条事件自相矛盾"),
                Text(f"watch_events {id_} ({rule.title.en}): {why.en}", f"watch_events {id_}（{rule.title.zh}）：{why.zh}"),
                Text("Somebody changed it after it was measured: ask whoever sent the file to export it anew from the workspace that measured it",
                     "它在测得之后被改动：请让发送者从实测的工作区重新导出"),
            )  # fmt: skip


def _contradictions(record: Record, rule: WatchRule, blob: EvidenceBlob | None, marks: Mapping[str, float]) -> Iterator[Text]:
    found = finding_from(str(record.value("document")))
    began_s, ended_s = (int(str(record.value(name))) / _NS for name in ("began_ns", "ended_ns"))
    yield from _of_rule(record, rule, found)
    yield from _of_words(found, began_s, ended_s)
    for end, at_s, word in (("begin", began_s, Text("it begins at", "开始于")), ("end", ended_s, Text("it ends at", "结束于"))):
        told_s = marks.get(f"{record.key[0]}-{end}")
        if told_s is not None and abs(told_s - at_s) > _NEAR_S:
            yield _times(word, at_s, Text("its mark says", "标记为"), told_s)
    if blob is not None and not blob.cut and blob.full_size <= _MOST_BYTES:
        yield from _of_evidence(record, found, began_s, *_read(blob))


def _of_rule(record: Record, rule: WatchRule, found: Finding) -> Iterator[Text]:
    for verdict in (found.verdict, *(one.verdict for one in found.subjects)):
        if verdict is not rule.verdict:
            here, given = VERDICT_WORDS[verdict], VERDICT_WORDS[rule.verdict]
            yield Text(f"its verdict is “{here.en}”, its rule gives “{given.en}”", f"其结论为“{here.zh}”，该规则的结论应为“{given.zh}”")
    if bool(record.value("degraded")) is not rule.degraded or found.required is not rule.degraded:
        yield Text("whether it counts as degraded time is not what its rule says", "是否计入降级时长与该规则不符")


def _of_words(found: Finding, began_s: float, ended_s: float) -> Iterator[Text]:
    for words, says in zip((found.reason.en, found.reason.zh), _SAYS, strict=True):
        said = says.search(words)
        if said is None:
            continue
        try:
            since_s = datetime.strptime(said[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC).timestamp()
        except ValueError:
            yield Text(f"its finding says since {said[1]}, which is no time", f"检查结果写自 {said[1]} 起，该时间不存在")
            continue
        if not -_NEAR_S <= began_s - since_s <= 2 * _NEAR_S:
            yield _times(Text("it begins at", "开始于"), began_s, Text("its finding says since", "检查结果写自"), since_s)
        lasted_s = ended_s - began_s
        if said[2] is not None and abs(round(lasted_s) - int(said[2])) > _NEAR_S:
            yield Text(f"it lasts {lasted_s:.0f} s, its finding says for {said[2]} s", f"它持续 {lasted_s:.0f} 秒，检查结果写持续 {said[2]} 秒")


def _of_evidence(record: Record, found: Finding, began_s: float, head: Mapping[str, str], rows: _Rows) -> Iterator[Text]:
    for name, title in (("rule", Text("rule", "规则")), ("node_id", Text("node", "节点")), ("subject", Text("card", "显卡"))):
        told, here = head.get(name.removesuffix("_id")), str(record.value(name))
        if told is not None and told != here:
            yield Text(f"its evidence is of the {title.en} {visible(told[:40])}, it is of {visible(here[:40]) or '-'}",
                       f"证据属于{title.zh} {visible(told[:40])}，事件却属于 {visible(here[:40]) or '-'}")  # fmt: skip
    if not rows:
        return
    first_s, all_there = min(at_s for at_s, _ in rows), len(rows) < _KEPT_READINGS
    is_later = all_there and record.value("rule") not in _SINCE_BEFORE and first_s > began_s + _NEAR_S
    if first_s < began_s - _NEAR_S or is_later:
        yield _times(Text("it begins at", "开始于"), began_s, Text("the first reading of its evidence is of", "证据中最早的读数为"), first_s)
    measured = found.measured
    if all_there and isinstance(measured, int | float) and math.isfinite(measured):
        told_values = [value for _, value in rows if value is not None]
        if not any(math.isclose(value, measured, rel_tol=1e-6, abs_tol=1e-9) for value in told_values):
            yield Text(f"it measured {measured:.10g}, which is none of the readings of its evidence", f"其实测值为 {measured:.10g}，证据的读数中没有此值")


def _read(blob: EvidenceBlob) -> tuple[Mapping[str, str], _Rows]:
    """What evidence says of itself, and (UTC seconds, value) of its readings, as `watch_rules.evidence_of` writes them."""
    try:
        text = zlib.decompressobj().decompress(blob.packed, blob.full_size or 1).decode()
    except (zlib.error, ValueError):
        return {}, []
    head, _, body = text.partition("\n\n")
    rows: _Rows = []
    for line in body.split("\n"):
        at, _, value = line.partition("\t")
        try:
            row = float(at), None if value == "-" else float(value)
        except ValueError:
            continue
        if math.isfinite(row[0]):
            rows.append(row)
    return dict((name, value) for name, _, value in (line.partition("\t") for line in head.split("\n"))), rows


def _times(here: Text, here_s: float, other: Text, other_s: float) -> Text:
    return Text(f"{here.en} {_when(here_s)}, {other.en} {_when(other_s)}", f"{here.zh} {_when(here_s)}，{other.zh} {_when(other_s)}")


def _when(at_s: float) -> str:
    try:
        return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return "?"
