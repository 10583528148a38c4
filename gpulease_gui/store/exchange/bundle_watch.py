"""How does what happened to watched nodes travel in a bundle, and which settings go along?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.card_names import NAMES, NUMBERS
from gpulease_gui.store.codec import finding_from

if TYPE_CHECKING:
    from gpulease_gui.store.exchange.bundle_schema import Bundle, Record

# An episode that is over for good. Its watch tells the end by a mark; what others ended for it may go on while it gives signs of life.
EVENT_OVER = (
    "ended_ns IS NOT NULL AND (EXISTS (SELECT 1 FROM marks m WHERE m.id = watch_events.id || '-end') OR NOT EXISTS "
    "(SELECT 1 FROM settings s WHERE s.key = 'watching:' || substr(watch_events.id, 1, instr(watch_events.id, '.') - 1)))"
)
# The settings that belong to the workspace, and what the cards of its nodes are called; who writes here, what was looked at and
# the SSH options of nodes belong to the computer.
_SHARED = ("offers.workload",)
_OF_CARDS = (NAMES, NUMBERS)
SHARED_SETTINGS_SQL = " OR ".join([
    f"key IN ({', '.join(repr(key) for key in _SHARED)})",
    *(f"(substr(key, 1, {len(start)}) = '{start}' AND substr(key, {len(start) + 1}) IN (SELECT id FROM nodes))" for start in _OF_CARDS),
])  # fmt: skip


def node_of_cards(key: str) -> str:
    """Of which node a setting says what its cards are called; "" for another setting."""
    return next((key[len(start) :] for start in _OF_CARDS if key.startswith(start)), "")


def is_shared(key: str) -> bool:
    """Whether a setting is one that bundles have. Everything else belongs to a computer: a file from elsewhere sets nothing of it."""
    return key in _SHARED or node_of_cards(key) != ""


def refuse_damaged_cards(record: Record) -> None:
    """Raise UserFacing for a setting that says what cards are called and is no text."""
    if node_of_cards(record.key[0]) and not isinstance(json.loads(str(record.value("value"))), str):
        raise UserFacing(Text("a setting of the bundle can't be meant", "数据包中有一项无法成立的设置"), Text(f"settings: {record.key[0][:60]} can't be {str(record.value('value'))[:40]}", f"settings：{record.key[0][:60]} 不能是 {str(record.value('value'))[:40]}"), Text("export it again", "请重新导出"))


def refuse_damaged_events(bundle: Bundle) -> None:
    """Raise UserFacing for an event that ends before it begins, or a finding that is not its own."""
    for record in bundle.of("watch_events"):
        why = _damage(record)
        if why is not None:
            raise UserFacing(Text("an event of the bundle is damaged", "数据包中有一条事件已损坏"), Text(f"watch_events {record.key[0][:40]}: {why.en}", f"watch_events {record.key[0][:40]}：{why.zh}"), Text("export it again", "请重新导出"))


def _damage(record: Record) -> Text | None:
    found = finding_from(str(record.value("document")))
    if int(str(record.value("ended_ns"))) < int(str(record.value("began_ns"))):
        return Text(f"it ends at {record.value('ended_ns')} ns, before it begins at {record.value('began_ns')} ns", f"它结束于 {record.value('ended_ns')} ns，早于开始 {record.value('began_ns')} ns")
    if found.check != record.value("rule"):
        return Text(f"its finding is of {found.check[:40]!r}, not of {str(record.value('rule'))[:40]!r}", f"其检查结果属于 {found.check[:40]!r}，而非 {str(record.value('rule'))[:40]!r}")
    if found.evidence != (record.value("sha256"),):
        return Text("its finding names other evidence", "其检查结果指向另一份证据")
    return None
