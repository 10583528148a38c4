"""Which machines are rented, do they answer, and is each contract's delivery accepted?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QWidget

from gpulease_gui.domain.node import THIS_COMPUTER, AuthMethod, Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.nodes_add import AddBar
from gpulease_gui.gui.pages.nodes_drift import DIFFERENCES, drift_of
from gpulease_gui.gui.pages.nodes_fleet import FleetPane, may_verify
from gpulease_gui.gui.pages.nodes_inspector import NodeInspector
from gpulease_gui.gui.pages.nodes_menu import PAIRS, open_row_menu
from gpulease_gui.gui.pages.nodes_pairs import measure_pairs
from gpulease_gui.gui.pages.nodes_secrets import forget_secrets
from gpulease_gui.gui.pages.nodes_table import NodeTable, ShownNode, node_table
from gpulease_gui.gui.pages.nodes_work import work_of
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec, Target
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, Chip, IconButton
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, Sideways, ThinSplitter
from gpulease_gui.remote.address import Target as Place
from gpulease_gui.services.events import Event, RecordsChanged, RunEnded, RunStarted
from gpulease_gui.services.nodes_view import NodeRow, NodesView, new_nodes, nodes_view
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.records import new_id

if TYPE_CHECKING:
    from sqlite_utils import Database

TITLE = Text("Nodes", "节点")
_ACTIONS = ("verify", "connect", "watch", "delete")

_KEEP: Mapping[str, Callable[[ShownNode], bool]] = {
    "attention": lambda shown: shown.needs_attention,
    "new": lambda shown: not shown.is_verified,
    "changed": lambda shown: shown.drifted is not None or bool(shown.twice),
}


class NodesPage(Page):
    """A table under contracts, an inspector at the right, one line to add a node at the foot."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._view = NodesView((), {}, ())
        self._work, self._drift = work_of(frame), drift_of(frame)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(100)
        self._soon.timeout.connect(self._refresh)
        self._read_soon = QTimer(self)
        self._read_soon.setSingleShot(True)
        self._read_soon.setInterval(200)
        self._read_soon.timeout.connect(self._load)
        self._work.changed.connect(self._node_changed)
        self._drift.changed.connect(self._soon.start)
        self._wanted = ""
        self._told: tuple[object, ...] = ()
        self.paste = Button(Text("Paste nodes…", "粘贴节点…"), icon="paste")
        self.paste.clicked.connect(self._paste)
        self.from_config = Button(Text("From ssh config…", "从 ssh 配置…"), icon="import")
        self.from_config.clicked.connect(self._from_config)
        self.pairs = Button(PAIRS, icon="network")
        self.pairs.clicked.connect(self._measure_pairs)
        self.primary = Button(Text("Verify", "验收"), icon="nav-verify", kind="primary")
        self.primary.clicked.connect(self._verify)
        self._build()
        self._refresh()

    def _node_changed(self, _node_id: str) -> None:
        self._soon.start()

    # -- parts ------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.fleet = FleetPane(self.frame, self._work)
        self.model = node_table()
        self.table = NodeTable(self.model, TITLE, many=True)
        self.table.chosen.connect(lambda _: self._selected())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.table.opened.connect(lambda shown: self.frame.go("verification", shown.row.node.id))
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.inspector = NodeInspector()
        self.inspector.wanted.connect(self.act)
        self.model.layoutChanged.connect(lambda *_: self._selected())  # a filter or a search can take rows away
        splitter = self._splitter = ThinSplitter()  # kept: its handles alone would not hold it
        splitter.addWidget(self._left())
        splitter.addWidget(self.inspector)
        splitter.setStretchFactor(0, 1)
        splitter.setSizes([900, 332])
        self.inspector.setMinimumWidth(292)
        self._stack = QStackedWidget()
        self._stack.addWidget(Sideways(splitter))
        self._stack.addWidget(self._empty())
        self._stack.addWidget(self.fleet)
        self.fleet.closed.connect(lambda: self._show_fleet(shown=False))
        self.fleet.opener.clicked.connect(lambda: self._show_fleet(shown=True))
        self.fleet.changed.connect(self.header_changed)
        self.fleet.edited.connect(self._edit)
        self.column.addWidget(self._stack, 1)

    def _left(self) -> QWidget:
        left = Pane(2)
        left.setMinimumWidth(620)
        left.column.addWidget(self._filters())
        left.column.addWidget(self.table, 1)
        self._removed = Button(Text("Undo", "撤销"), small=True)
        close = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        self.undo_band = Band("accent", "", "", self._removed, close)
        self.undo_band.hide()
        close.clicked.connect(self.undo_band.hide)
        self._removed.clicked.connect(self._undo)
        left.column.addWidget(self.undo_band)
        self.local = Button(Text("Add this computer", "添加本机"), icon="cpu")
        self.local.clicked.connect(self._add_local)
        self.add_bar = AddBar(self.local)
        self.add_bar.added.connect(self._add)
        left.column.addWidget(self.add_bar)
        return left

    def _filters(self) -> QWidget:
        bar = QWidget()
        bar.setMinimumHeight(40)
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self._chips = {
            "": Chip(Text("All", "全部")), "attention": Chip(Text("Needs attention", "需要处理")),
            "new": Chip(Text("Not verified", "未验收")), "changed": Chip(Text("Changed", "有变化")),
        }  # fmt: skip
        for key, chip in self._chips.items():
            chip.setAutoExclusive(True)
            chip.setChecked(not key)
            chip.clicked.connect(lambda _=False, wanted=key: self._only(wanted))
            row.addWidget(chip)
        row.addStretch()
        row.addWidget(self.fleet.opener)
        self._test_all = Button(Text("Test all", "全部测试"), icon="refresh", small=True)
        self._test_all.clicked.connect(lambda: self._connect([shown.row.node for shown in self.model.rows]))
        row.addWidget(self._test_all)
        return bar

    def _empty(self) -> QWidget:
        paste = Button(Text("Paste the supplier's lines…", "粘贴供应商的连接信息…"), icon="paste", kind="primary")
        paste.clicked.connect(self._paste)
        local = Button(Text("Add this computer", "添加本机"))
        local.clicked.connect(self._add_local)
        return EmptyState(
            "nav-nodes", Text("No nodes yet", "还没有节点"),
            Text("A node is a machine that you rent. Paste the ssh line that the supplier sent.",
                 "节点就是租用的机器，粘贴供应商发来的 ssh 命令即可。"),
            primary=paste, secondary=local,
        )  # fmt: skip

    # -- what the window asks -----------------------------------------------------------------------------------------

    def buttons(self) -> tuple[Button, ...]:
        """Paste, the ssh config (or what lies between several selected nodes), and the primary that names what it verifies."""
        if self.in_fleet:
            return self.fleet.buttons()
        more = self.pairs if len(self._chosen()) > 1 else self.from_config
        return (self.paste, more, self.primary)

    def target(self) -> Target | None:
        """None: this page speaks of many nodes, its header names the selected one."""
        return None

    def doable(self) -> frozenset[str]:
        """Pasting always, the rest with a selection."""
        return frozenset(["new", "inspector", *(_ACTIONS if self._chosen() else ())] if not self.in_fleet else ())

    def act(self, action: str) -> None:
        """Menu actions and the inspector's buttons."""
        chosen = self._chosen()
        if action == "new":
            self._paste()
        elif action == "inspector":
            self.inspector.setVisible(self.inspector.isHidden())
        elif action == "verify":
            self._verify()
        elif action == "connect":
            self._connect(chosen)
        elif action == "pairs":
            self._measure_pairs()
        elif chosen:
            acts: dict[str, Callable[[Node], None]] = {
                "watch": self._watch, "edit": self._edit, "delete": self._remove,
                "run": lambda node: self.frame.go("verification", node.id),
                "differences": lambda node: self.frame.go("verification", node.id, DIFFERENCES),
                "forget": lambda node: forget_secrets(self.frame, node)}  # fmt: skip
            acts[action](chosen[0])

    def visit(self, path: tuple[str, ...]) -> None:
        """Refresh; a node id selects that node."""
        self._wanted = path[0] if path else ""
        self._load()

    def search(self, words: str) -> None:
        """Narrow the table."""
        (self.fleet.model if self.in_fleet else self.model).find(words)

    def handle(self, event: Event) -> None:
        """Runs and records change what the table says."""
        if isinstance(event, RunStarted | RunEnded) and not self.in_fleet:
            self._read_soon.start()  # of a fleet they come by the hundred
        elif isinstance(event, RecordsChanged) and event.kinds & {"node", "contract", "supplier", "claim"}:
            self._load()

    # -- what is shown --------------------------------------------------------------------------------------------------

    def _load(self) -> None:
        self.frame.bridge.when_done(self.frame.services.query(nodes_view), self._show)

    def _show(self, view: NodesView) -> None:
        self._view = view
        if not self.in_fleet or not view.rows:
            self._stack.setCurrentIndex(0 if view.rows else 1)
        self.local.setVisible(not self.frame.services.demo and all(r.node.reach is not Reach.LOCAL for r in view.rows))
        self._refresh()
        if not self._wanted or not self.table.choose(self._wanted):
            self._wanted = "" if self._wanted else self._wanted
        if self.table.current_row is None:
            self.table.choose_first()

    def _refresh(self) -> None:
        if self.in_fleet:  # nobody sees the table; it is read anew on the way back
            return
        rows = [self._shown(row) for row in self._view.rows]
        self.model.set_rows(rows)
        bad = sum(1 for row in self.model.rows if row.needs_attention)
        self._chips[""].set_count(len(rows))
        for key, keep in _KEEP.items():
            self._chips[key].set_count(sum(map(keep, self.model.rows)))
        self.frame.set_count("nodes", str(bad or len(rows) or ""), alarm=bad > 0)
        self._selected()

    def _shown(self, row: NodeRow) -> ShownNode:
        node_id = row.node.id
        acceptance = self._view.acceptances.get(row.contract.id) if row.contract else None
        busy = self._work.job_of(node_id) is not None
        drift = self._drift
        twice = drift.twice_with(row.node.name)
        return ShownNode(row, self._work.state_of(node_id), busy, acceptance, drift.of(node_id), drift.since(node_id), twice)

    def _only(self, wanted: str) -> None:
        self.model.only(_KEEP.get(wanted))

    def _chosen(self) -> list[Node]:
        return [shown.row.node for shown in self.table.selected_rows]

    def _tell_header(self) -> None:
        """The window builds its header anew at each notice, so it is told of true changes only."""
        now = (self.primary.accessibleName(), self.doable(), len(self._chosen()) > 1)
        if now != self._told:
            self._told = now
            self.header_changed.emit()

    def _selected(self) -> None:
        chosen = self._chosen()
        current = self.table.current_row
        self.inspector.show_node(current)
        idle = [node for node in chosen if self._work.job_of(node.id) is None]
        self.primary.set_words(may_verify(chosen, busy=bool(chosen) and not idle))
        self.primary.setEnabled(bool(idle))
        self._tell_header()

    # -- what is done ---------------------------------------------------------------------------------------------------

    def _verify(self) -> None:
        chosen = self._chosen()
        if len(chosen) > 1:
            self._show_fleet(shown=True)
            self.fleet.start(chosen)
        elif chosen:
            self.frame.go("verification", chosen[0].id)
            self._work.verify(chosen[0])

    @property
    def in_fleet(self) -> bool:
        """Whether the verification of many nodes has taken the place of the table."""
        return self._stack.currentWidget() is self.fleet

    def _show_fleet(self, *, shown: bool) -> None:
        self._stack.setCurrentIndex(2 if shown else 0)
        self.fleet.look()
        if not shown:
            self._load()
        self.header_changed.emit()

    def _connect(self, chosen: Sequence[Node]) -> None:
        for node in chosen:
            self._work.connect_to(node)

    def _measure_pairs(self) -> None:
        measure_pairs(self.frame, self._chosen(), self.window())

    def _watch(self, node: Node) -> None:
        self.frame.go("live", node.id)

    def _names(self) -> frozenset[str]:
        return frozenset(row.node.name for row in self._view.rows)

    def _paste(self) -> None:
        from gpulease_gui.gui.forms.paste_nodes import PasteDialog

        dialog = PasteDialog(self._view.contracts, self._names(), self.frame.services.links.know_password, parent=self.window())
        dialog.saved.connect(self._save)
        open_dialog(dialog)

    def _from_config(self) -> None:
        from gpulease_gui.gui.forms.config_nodes import ConfigDialog

        known = [row.node for row in self._view.rows]
        dialog = ConfigDialog(self.frame, self._view.contracts, known, parent=self.window())
        dialog.saved.connect(self._save_many)
        open_dialog(dialog)

    def _save_many(self, made: tuple[Node, ...]) -> None:
        """All or none, and the band takes all of them back."""
        count = len(made)
        nodes = "node was" if count == 1 else "nodes were"
        told = Text(f"{count} {nodes} added", f"已添加 {count} 个节点")

        def take_back_all() -> None:
            from gpulease_gui.services.config_nodes import take_back  # it brings the SSH library along

            self.frame.bridge.when_done(self.frame.services.change(lambda db: take_back(db, made), "node"), lambda _: None)

        self._save(made, lambda: self._offer_undo(told, Text("Undo removes them.", "可撤销。"), take_back_all))

    def _offer_undo(self, headline: Text, sentence: Text, undo: Callable[[], None]) -> None:
        self._take_back = undo
        self.undo_band.tell(headline, sentence)

    def _edit(self, node: Node) -> None:
        from gpulease_gui.gui.forms.node_form import NodeForm

        now = next((row.node for row in self._view.rows if row.node.id == node.id), node)  # a line of the fleet is as old as its round
        dialog = NodeForm(now, self._view.contracts, self._names(), parent=self.window())
        dialog.saved.connect(lambda edited: self._save((edited,)))
        open_dialog(dialog)

    def _save(self, made: Sequence[Node], then: Callable[[], None] | None = None) -> None:
        def work(db: Database) -> None:
            with db.atomic():
                for node in made:
                    stored.save_node(db, node)

        self._wanted = made[0].id if made else ""
        count = len(made)
        said = Text(f"Saved {count} nodes", f"已保存 {count} 个节点") if count > 1 else Text("Saved", "已保存")
        done = then or (lambda: self.frame.note(said))
        self.frame.bridge.when_done(self.frame.services.change(work, "node"), lambda _: done())

    def _add(self, place: Place) -> None:
        made = new_nodes([place], self._like_current(), self._names())
        self.frame.services.links.know_password(made[0], place.password)
        self._save(made)
        self._work.connect_to(made[0])

    def _like_current(self) -> Node:
        """A new node is reached like the selected one: same contract, same login; else by the agent if there is one."""
        from gpulease_gui.remote.credentials import agent_present

        current: ShownNode | None = self.table.current_row
        if current is not None and current.row.node.reach is Reach.SSH:
            return current.row.node
        return Node("", "", Reach.SSH, auth=AuthMethod.AGENT if agent_present() else AuthMethod.KEY)

    def _add_local(self) -> None:
        self._save((Node(new_id(), say(THIS_COMPUTER), Reach.LOCAL),))

    def _remove(self, node: Node) -> None:
        def removed(_: None) -> None:
            told = Text(f"{node.name} was removed", f"已移除 {node.name}")
            self._offer_undo(told, Text("Undo brings it back.", "可撤销。"), lambda: self._save((node,)))

        change = self.frame.services.change(lambda db: stored.remove_node(db, node.id), "node")
        self.frame.bridge.when_done(change, removed)

    def _undo(self) -> None:
        self.undo_band.hide()
        self._take_back()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The row's actions as a menu."""
        if not self._chosen() or not self.table.geometry().contains(event.pos()):
            return
        open_row_menu(self, len(self._chosen()), self.act, event.globalPos())


PAGE = PageSpec("nodes", TITLE, "nav-nodes", NavGroup.USE, 40, NodesPage)
