"""How is a check confirmed that loads a node: what, on which node, how long, what it writes?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.dialogs import heavy_dialog as confirm
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.services.run_view import CheckInfo

_WRITES = {
    "disk": Text("a scratch file of 4 GiB, removed at the end", "4 GiB 临时文件，结束后删除"),
    "net": Text("nothing; the line between the nodes is full meanwhile", "不写入；期间占满两节点间的链路"),
}
_NOTHING = Text("nothing", "不写入")
_LOADS = {
    Impact.PASSIVE: Text("nothing", "无"), Impact.ACTIVE: Text("light load", "轻负载"),
    Impact.DISRUPTIVE: Text("heavy load", "重负载"),
}  # fmt: skip


def heavy_dialog(checks: Sequence[CheckInfo], node: Node, peer: Node | None, *, parent: QWidget | None = None) -> FactDialog:
    """The named confirmation; Cancel is the default, and the filled button repeats checks and node."""
    en, zh = ", ".join(c.title.en for c in checks), "、".join(c.title.zh for c in checks)
    facts: list[tuple[Words, Words]] = [
        (Text("Node", "节点"), foreign(f"{node.name} ({node.target})")),
        (Text("Load", "负载"), _load(checks)),
        (Text("Takes at most", "最长用时"), _minutes(sum(check.seconds for check in checks))),
    ]  # fmt: skip
    facts += [(check.title, _WRITES.get(check.id.split(".")[0], _NOTHING)) for check in checks]
    if peer is not None and any(check.needs_peer for check in checks):
        facts.append((Text("Peer", "对端"), foreign(f"{peer.name} ({peer.target})")))
    headline = Text(f"{en} on {node.name}", f"在 {node.name} 上执行{zh}")
    dialog = confirm(headline, facts, Text(f"Run on {node.name}", f"在 {node.name} 上执行"), parent=parent)
    dialog.column.addWidget(PlainLabel(
        Text("Whoever else works on this node will feel it. The read-only checks run first, in the same run.",
             "节点上的其他任务会受到影响。只读检查会在同一次验收中先执行。"), level="2", wrap=True))  # fmt: skip
    return dialog


def _load(checks: Sequence[CheckInfo]) -> Text:
    return _LOADS[max((check.impact for check in checks), key=list(Impact).index)]


def _minutes(seconds: int) -> Text:
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return Text(f"{seconds} s", f"{seconds} 秒")
    return Text(f"{minutes} min {rest:02} s", f"{minutes} 分 {rest:02} 秒")
