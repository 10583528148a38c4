"""Which nodes are no longer what was accepted, and which cards are in two nodes at once?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gpulease_gui.checks.machine import Change, ChangeKind
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.drift import Duplicate, Standing, standing_in
from gpulease_gui.services.events import Event, NodeDrifted, RecordsChanged, RunEnded

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.services.composition import Services

# What stands on a chip, in two words.
KIND_WORDS = {
    ChangeKind.CARD_SWAPPED: Text("card swapped", "换卡"),
    ChangeKind.CARD_MISSING: Text("card missing", "缺卡"),
    ChangeKind.CARD_ADDED: Text("card added", "多卡"),
    ChangeKind.SERIAL: Text("serial changed", "序列号变更"),
    ChangeKind.VBIOS: Text("VBIOS changed", "VBIOS 变更"),
    ChangeKind.MEMORY: Text("memory lowered", "显存减少"),
    ChangeKind.POWER_LIMIT: Text("power lowered", "功耗调低"),
    ChangeKind.LINKS: Text("links lost", "NVLink 减少"),
    ChangeKind.DRIVER: Text("driver changed", "驱动变更"),
    ChangeKind.REBOOT: Text("restarted", "重启过"),
    ChangeKind.MACHINE_ID: Text("reinstalled", "系统重装"),
    ChangeKind.PRODUCT: Text("other machine", "整机变更"),
    ChangeKind.HOST_KEY: Text("host key changed", "主机密钥变更"),
    ChangeKind.RATE: Text("slower", "变慢"),
}
DIFFERENCES = "differences"  # the word after a node's id that shows its differences
SOLD_TWICE = Text("sold twice", "一机两卖")


def drift_of(frame: Frame) -> NodeDrift:
    """The one of the open workspace, shared by all pages."""
    for found in frame.bridge.findChildren(NodeDrift):
        if found.serves(frame.services):
            return found
        found.setParent(None)
        found.deleteLater()
    return NodeDrift(frame)


class NodeDrift(QObject):
    """Keeps what the newest look at each node says against its accepted run; `changed` when that is news."""

    changed = Signal()

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.bridge)
        self._frame, self._services = frame, frame.services
        self._drifted: dict[str, NodeDrifted] = {}
        self._since: dict[str, datetime] = {}
        self._twice: tuple[Duplicate, ...] = ()
        frame.bridge.arrived.connect(self._heard)
        self._read(None)

    def serves(self, services: Services) -> bool:
        """Whether this is the drift of that workspace."""
        return self._services is services

    def of(self, node_id: str) -> NodeDrifted | None:
        """What changed on a node since it was accepted; None = nothing, or it never was."""
        return self._drifted.get(node_id)

    def since(self, node_id: str) -> datetime | None:
        """When a changed node was accepted (UTC)."""
        return self._since.get(node_id)

    @property
    def drifted(self) -> tuple[NodeDrifted, ...]:
        """All changed nodes, those with a broken acceptance first."""
        return tuple(sorted(self._drifted.values(), key=lambda one: one.changes[0].verdict is not Verdict.FAIL))

    @property
    def twice(self) -> tuple[Duplicate, ...]:
        """The cards that stand in two nodes."""
        return self._twice

    def twice_with(self, node: str) -> tuple[Duplicate, ...]:
        """Those of one node, by its name."""
        return tuple(found for found in self._twice if node in (found.first, found.second))

    def _heard(self, event: Event) -> None:
        if not self._frame.is_open:  # an event of the next workspace
            return
        if isinstance(event, NodeDrifted | RunEnded):
            self._read((event.node_id,))
        elif isinstance(event, RecordsChanged) and "node" in event.kinds:
            self._read(None)

    def _read(self, node_ids: tuple[str, ...] | None) -> None:
        found = self._services.query(lambda connection: standing_in(connection, node_ids))
        self._frame.bridge.when_done(found, lambda standing: self._take(node_ids, standing))

    def _take(self, node_ids: tuple[str, ...] | None, standing: Standing) -> None:
        before = (dict(self._drifted), self._twice)
        for node_id in list(self._drifted) if node_ids is None else node_ids:
            self._drifted.pop(node_id, None)
        self._drifted.update(standing.drifted)
        self._since.update(standing.since)
        self._twice = standing.twice
        if before != (self._drifted, self._twice):
            self.changed.emit()


def chip_words(changes: Sequence[Change]) -> Text:
    """The worst change in two words, and how many more kinds there are."""
    kinds = list(dict.fromkeys(change.kind for change in changes))
    first, more = KIND_WORDS[kinds[0]], len(kinds) - 1
    return first if not more else Text(f"{first.en} +{more}", f"{first.zh} +{more}")


def grouped(changes: Sequence[Change]) -> list[tuple[Text, Verdict]]:
    """One line for each kind of change and what it means, the worst first; cards that changed alike are counted."""
    by_kind: dict[tuple[ChangeKind, Verdict], list[Change]] = {}
    for change in changes:
        by_kind.setdefault((change.kind, change.verdict), []).append(change)
    lines = []
    for (_, verdict), alike in by_kind.items():
        first, more = alike[0].words, len(alike) - 1
        words = Text(f"{first.en}; the same kind on {more} more", f"{first.zh}；另有 {more} 处同类变化") if more else first
        lines.append((words, verdict))
    return lines


def changed_headline(name: str, since: datetime | None, changes: Sequence[Change]) -> Text:
    """What a band says first."""
    day = f" {since.astimezone():%m-%d %H:%M}" if since else ""
    when_en, when_zh = f" on{day}" if day else "", f"{day} " if day else ""
    if changes[0].verdict is Verdict.FAIL:
        return Text(f"{name} is no longer what was accepted{when_en}", f"{name} 已与{when_zh}验收时不符")
    return Text(f"{name} changed since it was accepted{when_en}", f"{name} 自{when_zh}验收后有变化")


def changed_sentence(changes: Sequence[Change]) -> Text:
    """The worst change in words, and how many more."""
    first, more = changes[0].words, len(changes) - 1
    return first if not more else Text(f"{first.en}; {more} more", f"{first.zh}；另有 {more} 处")


def band_words(drift: NodeDrift, node: Node) -> tuple[Text, Text, bool]:
    """Headline and sentence over a run of this node, and whether an acceptance is broken; empty = nothing to say."""
    drifted, twice = drift.of(node.id), drift.twice_with(node.name)
    if twice:
        return Text(f"{node.name}: one machine sold twice", f"{node.name}：一机两卖"), twice[0].words, True
    if drifted is None:
        return NO_TEXT, NO_TEXT, False
    headline = changed_headline(node.name, drift.since(node.id), drifted.changes)
    return headline, changed_sentence(drifted.changes), drifted.changes[0].verdict is Verdict.FAIL
