"""How are checks confirmed that load a node: what each does, on which node, how long, what it writes?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QScrollArea, QWidget

from gpulease_gui.checks.check import Check
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.dialogs import heavy_dialog as confirm
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues
from gpulease_gui.services.plan import measuring_seconds
from gpulease_gui.services.run_view import CheckInfo

_LOADS = {
    Impact.PASSIVE: Text("nothing", "无"), Impact.ACTIVE: Text("light load", "轻负载"),
    Impact.DISRUPTIVE: Text("heavy load", "重负载"),
}  # fmt: skip
# Beyond this many the checks scroll, so that the buttons stay in sight.
_ROWS, _ROWS_HEIGHT = 5, 260
_NAMED = 6


def heavy_dialog(checks: Sequence[CheckInfo], node: Node, peer: Node | None, *, parent: QWidget | None = None) -> FactDialog:
    """The named confirmation; Cancel is the default, and the filled button repeats the node."""
    facts: list[tuple[Words, Words]] = [
        (Text("Node", "节点"), foreign(f"{node.name} ({node.target})")),
        (Text("Load", "负载"), _load(checks)),
        (Text("Usually takes", "通常用时"), _minutes(_together(checks))),
        (Text("Takes at most", "最长用时"), _minutes(sum(check.seconds for check in checks))),
    ]  # fmt: skip
    if peer is not None and any(check.needs_peer for check in checks):
        facts.append((Text("Peer", "对端"), foreign(f"{peer.name} ({peer.target})")))
    dialog = confirm(_headline(checks, node), facts, Text(f"Run on {node.name}", f"在 {node.name} 上执行"), parent=parent)
    dialog.column.addWidget(_each(checks))
    dialog.column.addWidget(PlainLabel(
        Text("Whoever else works on this node will feel it. The read-only checks run first, in the same run.",
             "节点上的其他任务会受到影响。只读检查会在同一次验收中先执行。"), level="2", wrap=True))  # fmt: skip
    return dialog


def heavy_dialog_of_many(checks: Sequence[Check], nodes: Sequence[Node], *, parent: QWidget | None = None) -> FactDialog:
    """The same for many nodes: what runs on each, and that all of them feel it at the same time."""
    count = len(nodes)
    usual_s = round(measuring_seconds(checks))
    facts: list[tuple[Words, Words]] = [
        (Text("Nodes", "节点"), foreign(_names(nodes))),
        (Text("Checks", "检查项"), Text(", ".join(c.title.en for c in checks), "、".join(c.title.zh for c in checks))),
        (Text("Load", "负载"), _LOADS[max((check.impact for check in checks), key=list(Impact).index)]),
        (Text("On each node", "每个节点用时"), _minutes(usual_s)),
    ]
    where = Text(f"{count} nodes", f" {count} 个节点") if count > 1 else Text(nodes[0].name, f" {nodes[0].name} ")
    headline = Text(f"{len(checks)} checks that load {where.en}", f"在{where.zh}上执行 {len(checks)} 项有负载的检查")
    dialog = confirm(headline, facts, Text(f"Run on {where.en}", f"在{where.zh}上执行"), parent=parent)
    dialog.column.addWidget(PlainLabel(
        Text("On a node one runs after the other; several nodes are loaded at the same time, and whoever else works there will feel "
             "it. The network between nodes is not among them: choose two nodes or more and measure between them.",
             "同一节点上逐项执行；多个节点会同时承受负载，节点上的其他任务会受到影响。节点间网络不在其中：请选择两个以上节点进行节点间测量。"),
        level="2", wrap=True))  # fmt: skip
    return dialog


def _names(nodes: Sequence[Node]) -> str:
    """The first of them by name, and how many more there are."""
    names = ", ".join(node.name for node in nodes[:_NAMED])
    return f"{names} + {len(nodes) - _NAMED}" if len(nodes) > _NAMED else names


def _headline(checks: Sequence[CheckInfo], node: Node) -> Text:
    if len(checks) > 2:
        return Text(f"{len(checks)} checks that load {node.name}", f"在 {node.name} 上执行 {len(checks)} 项有负载的检查")
    en, zh = ", ".join(c.title.en for c in checks), "、".join(c.title.zh for c in checks)
    return Text(f"{en} on {node.name}", f"在 {node.name} 上执行{zh}")


def _each(checks: Sequence[CheckInfo]) -> QWidget:
    """What every single check writes or loads, and for how long."""
    pairs = KeyValues([(check.title, _what(check)) for check in checks], label_width=150)
    if len(checks) <= _ROWS:
        return pairs
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(pairs)
    area.setFixedHeight(_ROWS_HEIGHT)
    return area


def _what(check: CheckInfo) -> Text:
    about = _minutes(check.usual_s)
    return Text(f"{check.writes.en} ({about.en})", f"{check.writes.zh}（{about.zh}）")


def _together(checks: Sequence[CheckInfo]) -> int:
    """One measurement that two checks share is made once."""
    return sum({tuple(command.fact for command in check.commands): check.usual_s for check in checks}.values())


def _load(checks: Sequence[CheckInfo]) -> Text:
    return _LOADS[max((check.impact for check in checks), key=list(Impact).index)]


def _minutes(seconds: int) -> Text:
    minutes, rest = divmod(seconds, 60)
    if not minutes:
        return Text(f"{seconds} s", f"{seconds} 秒")
    return Text(f"{minutes} min {rest:02} s", f"{minutes} 分 {rest:02} 秒")
