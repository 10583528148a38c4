"""How does a run start: confirmed where it loads the node, as a whole or for one check again?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.panes import EmptyState
from gpulease_gui.services.plan import Choice
from gpulease_gui.services.run_view import CheckInfo, NodeRuns

if TYPE_CHECKING:
    from sqlite_utils import Database

    from gpulease_gui.gui.pages.nodes_work import NodeWork
    from gpulease_gui.gui.pages.page import Frame


class RunStarter:
    """Starts runs on a node, after the named confirmation of everything that loads it."""

    def __init__(self, work: NodeWork, parent: QWidget) -> None:
        self._work, self._parent = work, parent

    def start(self, node: NodeRuns, choice: Choice, loads: Sequence[CheckInfo], peer_id: str,
              started: Callable[[], None] | None = None) -> None:  # fmt: skip
        """Verify; `loads` are asked about first. `started` is told once the user agreed."""
        if self._work.job_of(node.node.id) is not None:
            return
        if not loads:
            self._go(node.node, choice, peer_id, started)
            return
        from gpulease_gui.gui.forms.heavy_dialog import heavy_dialog

        peer = next((other for other in node.nodes if other.id == peer_id), None)
        dialog = heavy_dialog(loads, node.node, peer, parent=self._parent.window())
        dialog.accepted.connect(lambda: self._go(node.node, choice, peer_id, started))
        open_dialog(dialog)

    def again(self, node: NodeRuns, infos: Mapping[str, CheckInfo], check: str, peer_id: str) -> None:
        """Ask one check again, with the facts of its own only; the answer joins the newest whole run."""
        info = infos.get(check)
        if info is not None:
            loads = [] if info.impact is Impact.PASSIVE else [info]
            self.start(node, Choice(only=(check,)), loads, peer_id or node.peer_id or "")

    def _go(self, node: Node, choice: Choice, peer_id: str, started: Callable[[], None] | None) -> None:
        self._work.verify(node, choice, peer_id or None)
        if started is not None:
            started()


def give_contract(frame: Frame, node: Node, contract_id: str) -> None:
    """Put a node under a contract."""
    from gpulease_gui.store.nodes import get_node, save_node

    def work(db: Database) -> None:
        save_node(db, replace(get_node(db.conn, node.id), contract_id=contract_id))

    change = frame.services.change(work, "node")
    frame.bridge.when_done(change, lambda _: frame.note(Text("Contract saved", "合同已保存")))


def copy_commands(infos: Iterable[CheckInfo], frame: Frame) -> None:
    """Put every command that the checks run on a node into the clipboard."""
    lines = {command.fact: command.line for info in infos for command in info.commands}
    QGuiApplication.clipboard().setText("\n\n".join(f"# {fact}\n{line}" for fact, line in lines.items()))
    frame.note(Text("Commands copied", "命令已复制"))


def nothing_to_verify(frame: Frame) -> QWidget:
    """What stands in the page before there is a node."""
    add = Button(Text("Add a node…", "添加节点…"), icon="add", kind="primary")
    add.clicked.connect(lambda: frame.go("nodes"))
    return EmptyState(
        "nav-verify", Text("Nothing to verify yet", "还没有可验收的节点"),
        Text("Add the node that you rent; its checks come from its contract.", "先添加租用的节点，检查项由其合同决定。"), primary=add,
    )  # fmt: skip
