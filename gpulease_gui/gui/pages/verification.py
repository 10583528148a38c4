"""Does the node do what was promised: plan, findings as they come, and what proves each of them?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QStackedWidget

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.live_words import WATCH_A_LOG
from gpulease_gui.gui.pages.nodes_drift import DIFFERENCES, band_words, drift_of
from gpulease_gui.gui.pages.nodes_work import work_of
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec, Target
from gpulease_gui.gui.pages.verification_acts import RunStarter, copy_commands, give_contract, nothing_to_verify
from gpulease_gui.gui.pages.verification_detail import DetailPane
from gpulease_gui.gui.pages.verification_diff import DifferencesPane
from gpulease_gui.gui.pages.verification_findings import FindingsPane
from gpulease_gui.gui.pages.verification_plan import PlanPane
from gpulease_gui.gui.pages.verification_state import FindingRow, Loaded, Picture, load, named, picture_of
from gpulease_gui.gui.pages.verification_under_way import UnderWay, broken_off
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words, fewer_letters
from gpulease_gui.gui.widgets.panes import Sideways, ThinSplitter
from gpulease_gui.services.events import (
    CheckChanged,
    Event,
    FindingSaved,
    NodeState,
    RecordsChanged,
    RunEnded,
    RunStarted,
)
from gpulease_gui.services.run_view import CheckInfo, Key, NodeRuns, RunFindings
from gpulease_gui.store.records import RunState

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.verification_task import TaskPane
    from gpulease_gui.services.outcome import Trouble

TITLE = Text("Verification", "验收")
_BATCH_MS = 100
_WORST = {verdict: rank for rank, verdict in enumerate((Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.WARN, Verdict.PASS))}


class VerificationPage(Page):
    """Plan at the left, findings in the middle, the selected one with its evidence at the right."""

    narrow_navigation = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._work, self._drift = work_of(frame), drift_of(frame)
        self._start = RunStarter(self._work, self)
        self._infos: Mapping[str, CheckInfo] = {}
        self._node: NodeRuns | None = None
        self._stored: RunFindings | None = None
        self._runs = UnderWay()
        self._shown_run: str | None = None
        self._asked = 0
        self._wanted_check = ""
        self._choosing = self._chosen_by_user = False
        self._told: tuple[object, ...] = ()
        self._picture = Picture()
        self._batch = QTimer(self)
        self._batch.setSingleShot(True)
        self._batch.setInterval(_BATCH_MS)
        self._batch.timeout.connect(self._draw)
        self.primary = Button(Text("Verify", "验收"), icon="nav-verify", kind="primary")
        self.primary.clicked.connect(self._verify)
        self.task_button = Button(Text("Own task…", "自有任务…"), icon="run")
        self.task_button.clicked.connect(self._show_tasks)
        self._build()
        self._work.changed.connect(self._node_changed)
        self._work.not_reached.connect(self._not_reached)
        self._drift.changed.connect(self._show_drift)

    def _build(self) -> None:
        self.plan = PlanPane(self.frame.services.catalogue)
        self.plan.setMinimumWidth(236)
        self.plan.node_picked.connect(lambda id_: self._ask(id_, None))
        self.plan.run_picked.connect(lambda id_: self._ask(self._node_id, id_))
        self.plan.contract_picked.connect(self._give_contract)
        self.plan.group_picked.connect(self._show_group)
        self.plan.ticked.connect(self._name_primary)
        self.plan.cancelled.connect(self._cancel)
        self.plan.choice.asked.connect(self._choose_checks)
        self.detail = DetailPane(self.frame, self.frame.services.catalogue.terms)
        self.detail.setMinimumWidth(292)
        self.detail.rerun_wanted.connect(self._run_again)
        self.findings = FindingsPane(self.frame.services.catalogue.terms, self._user_selected)
        self.findings.rerun_wanted.connect(self._run_again)
        self.findings.compare_wanted.connect(self._compare)
        self.model, self.table, self.filters = self.findings.model, self.findings.table, self.findings.filters
        splitter = self._splitter = ThinSplitter()  # kept: its handles alone would not hold it
        for pane in (self.plan, self.findings, self.detail):
            splitter.addWidget(pane)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([244, 788, 352])
        self._stack = QStackedWidget()
        self._stack.addWidget(Sideways(splitter))
        self._stack.addWidget(nothing_to_verify(self.frame))
        self.differences = DifferencesPane(self.frame)
        self.differences.closed.connect(lambda: self._stack.setCurrentIndex(0))
        self._stack.addWidget(self.differences)
        self.tasks: TaskPane | None = None
        self.column.addWidget(self._stack, 1)

    @property
    def _node_id(self) -> str | None:
        return self._node.node.id if self._node else None

    def crumbs(self) -> tuple[Words, ...]:
        """The node and the number of the run."""
        if self._node is None:
            return ()
        name = foreign(self._node.node.name)
        number = self._picture.number
        return (name, Text(f"Run {number}", f"第 {number} 次验收")) if number else (name,)

    def buttons(self) -> tuple[Button, ...]:
        """An own task; the primary names the node."""
        return (self.task_button, self.primary)

    def target(self) -> Target | None:
        """The node of the run in sight, with the load that is on it now."""
        if self._node is None:
            return None
        node, contract = self._node.node, self._node.contract
        reached = self._work.state_of(node.id)
        state = reached.state if reached else NodeState.NEVER_SEEN
        number = contract.number if contract else ""
        return Target(node.name, node.target, number, self._node.supplier, state, self._picture.impact)

    def doable(self) -> frozenset[str]:
        """Verifying, or cancelling what runs."""
        if self._node is None:
            return frozenset()
        busy = self._work.job_of(self._node.node.id) is not None
        again = not busy and self.table.current_row is not None
        return frozenset(
            ["inspector", "copy_commands", "own_task", "cancel" if busy else "verify", "watch", "connect",
             *(["rerun"] if again else []), *(["compare_runs"] if self._node.runs else [])]
        )  # fmt: skip

    def act(self, action: str) -> None:
        """Menu actions."""
        node = self._node.node if self._node else None
        if action == "inspector":
            self.detail.setVisible(self.detail.isHidden())
        elif action == "verify":
            self._verify()
        elif action == "cancel":
            self._cancel()
        elif action == "watch" and node is not None:
            self.frame.go("live", node.id)
        elif action == "connect" and node is not None:
            self._work.connect_to(node)
        elif action == "rerun" and self.table.current_row is not None:
            self._run_again(self.table.current_row.info.id)
        elif action == "own_task":
            self._show_tasks()
        elif action == "compare_runs":
            self._compare()
        elif action == "copy_commands":
            copy_commands(self._infos.values(), self.frame)

    def visit(self, path: tuple[str, ...]) -> None:
        """A node id shows its newest run, or the one whose id comes third; a check id after it selects that finding, DIFFERENCES shows what changed."""
        node_id = path[0] if path else self._node_id
        self._wanted_check = path[1] if len(path) > 1 else ""
        same = node_id == self._node_id and not path
        if path and self._stack.currentIndex() == 2:
            self._stack.setCurrentIndex(0)
        self._ask(node_id, self._shown_run if same else next(iter(path[2:]), None))

    def search(self, words: str) -> None:
        """Narrow the table."""
        self.model.find(words)

    def handle(self, event: Event) -> None:
        """Runs as they go; also those that are not in sight are kept."""
        if self.tasks is not None:
            self.tasks.handle(event)
        if isinstance(event, RunStarted):
            self._started(event)
        elif isinstance(event, CheckChanged | FindingSaved):
            self._progressed(event)
        elif isinstance(event, RunEnded):
            self._ended(event)
        elif isinstance(event, RecordsChanged) and event.kinds & {"node", "contract", "claim"}:
            self._ask(self._node_id, self._shown_run)

    def _started(self, event: RunStarted) -> None:
        shown_by = self._runs.started(event)
        if event.node_id != self._node_id:
            return
        if shown_by == self._shown_run:
            self._draw()
            return
        self.findings.start_anew()
        self._ask(event.node_id, shown_by)

    def _progressed(self, event: CheckChanged | FindingSaved) -> None:
        self._runs.progressed(event)
        if event.run_id == self._shown_run and self.isVisible() and not self._batch.isActive():
            self._batch.start()

    def _ended(self, event: RunEnded) -> None:
        self._runs.ended(event)
        if event.node_id == self._node_id:
            self._ask(event.node_id, self._shown_run)

    def _node_changed(self, node_id: str) -> None:
        if node_id != self._node_id:
            return
        if self._picture.is_running and self._work.job_of(node_id) is None:
            self._ask(node_id, self._shown_run)
        self._name_primary()

    def _not_reached(self, node_id: str, trouble: Trouble) -> None:
        if node_id == self._node_id and trouble.phase != "host_key":
            en, zh = ((trouble.reason, trouble.next_text.en or trouble.next_step), (trouble.reason_text.zh or trouble.reason, trouble.next_text.zh or trouble.next_step))
            sentence = Text(". ".join(filter(None, en)), "。".join(filter(None, zh)))
            name = self._node.node.name if self._node else ""
            self.findings.trouble.tell(Text(f"{name} was not reached", f"未能连接 {name}"), sentence)

    # -- what is shown --------------------------------------------------------------------------------------------------

    def _ask(self, node_id: str | None, run_id: str | None) -> None:
        """Read a node and a run; only the newest question is answered."""
        self._asked += 1
        asked = self._asked
        found = self.frame.services.query(lambda connection: load(connection, node_id, run_id))
        self.frame.bridge.when_done(found, lambda loaded: self._show(asked, loaded))

    def _show(self, asked: int, loaded: Loaded) -> None:
        if asked != self._asked:
            return
        before = self._node_id
        self._node, self._stored, self._infos = loaded
        self._mark_broken_off()
        if self._node is None or self._stack.currentIndex() == 1 or before != self._node_id:
            self._stack.setCurrentIndex(1 if self._node is None else 0)
        if self._node is None:
            self.header_changed.emit()
            return
        if before != self._node_id:
            self.findings.start_anew()
            self.plan.untick()
        self._shown_run = self._stored.run.id if self._stored else None
        if self.tasks is not None:
            self.tasks.show_node(self._node)
        self.plan.show_node(self._node, self._shown_run or "")
        self._show_drift()
        wanted = self._wanted_check
        self._draw()
        self._choose()
        if wanted == DIFFERENCES:
            self._compare()
        elif wanted == WATCH_A_LOG:
            self._show_tasks(log=True)

    def _mark_broken_off(self) -> None:
        stored = self._stored
        if stored is None or stored.run.state is not RunState.RUNNING or self._work.job_of(stored.run.node_id) is not None:
            return
        self._stored = broken_off(stored)
        self._runs.broke_off(stored.run.id)

    def _draw(self) -> None:
        """Draw the run in sight as it is now."""
        self._batch.stop()
        node, run = self._node, self._stored
        if node is None:
            return
        number = node.number(run.run.id) if run else 0
        live, again = self._runs.shown(run, self._infos), self._runs.asked_again(self._shown_run)
        self._picture = picture_of(self._infos, run, live, number, node.terms, again)
        self._picture = named(self._picture, self.frame.services.catalogue.gpus.models)
        self.findings.show_picture(self._picture)
        self.plan.show_picture(self._picture, self._infos)
        self._name_primary()
        if self.table.current_row is None:
            self._choose()
        self._selected(self.table.current_row)

    def _choose(self) -> None:
        """Select what was asked for, else keep the selection, else the worst finding."""
        rows = [row for row in self._picture.rows if row.finding is not None]
        asked = next((row for row in rows if row.info.id == self._wanted_check), None)
        self._wanted_check = ""
        keeps_own = self._chosen_by_user and self.table.current_row is not None
        if asked is None and (keeps_own or self._picture.is_running and self.table.current_row is not None):
            return
        chosen = asked or min(rows, key=lambda row: _WORST.get(row.verdict or Verdict.PASS, 9), default=None)
        chosen = chosen or next(iter(self._picture.rows), None)
        self._choosing = True
        if chosen is None or not self.table.choose(chosen.key):
            self._selected(None)
        self._choosing, self._chosen_by_user = False, False

    def _user_selected(self, row: FindingRow | None) -> None:
        self._chosen_by_user = not self._choosing and row is not None
        self._selected(row)

    def _selected(self, row: FindingRow | None) -> None:
        current = self._row(row.key) if row is not None else None
        self.detail.show_row(current, self._picture, self._node)
        self.plan.show_command(current.info if current else None)

    def _row(self, key: Key) -> FindingRow | None:
        return next((row for row in self._picture.rows if row.key == key), None)

    def _show_group(self, key: str) -> None:
        self.findings.show_group(key)

    def _name_primary(self) -> None:
        node = self._node.node if self._node else None
        busy = node is not None and self._work.job_of(node.id) is not None
        name = fewer_letters(node.name) if node else ""
        words = Text(f"Verify {name}", f"验收 {name}")
        if busy:
            words = Text(f"Verifying {name}…", f"正在验收 {name}…")
        elif self.plan.heavy_wanted:
            words = Text(f"Verify {name} with load…", f"验收 {name}（含负载）…")
        self.primary.set_words(words, icon="verdict-running" if busy else "nav-verify")
        self.primary.setEnabled(node is not None and not busy)
        self._tell_header()

    def _tell_header(self) -> None:
        """The window builds its header anew at each notice, so it is told of true changes only."""
        now = (self.crumbs(), self.target(), self.doable(), self.primary.accessibleName())
        if now != self._told:
            self._told = now
            self.header_changed.emit()

    # -- what is done ---------------------------------------------------------------------------------------------------

    def _verify(self) -> None:
        if self._node is not None:
            loads = [self._infos[id_] for id_ in self.plan.heavy_wanted if id_ in self._infos]
            self._start.start(self._node, self.plan.choice.exact(), loads, self.plan.peer.current, self.plan.untick)

    def _run_again(self, check: str) -> None:
        if self._node is not None and check:
            self._start.again(self._node, self._infos, check, self.plan.peer.current)

    def _choose_checks(self) -> None:
        from gpulease_gui.gui.forms.plan_dialog import plan_dialog

        dialog = plan_dialog(self.frame, self._node.node.id if self._node is not None else "", self._infos, self.plan.choice.plan, self.window())
        dialog.accepted.connect(lambda: self.plan.choice.choose(dialog.wish(self.plan.choice.wish)))

    def _compare(self) -> None:
        if self._node is None or not self._node.runs:
            return
        self._stack.setCurrentIndex(2)
        before = self._stored.before_run if self._stored else None
        self.differences.show_node(self._drift.of(self._node.node.id), before, self._shown_run or self._node.runs[0].id)

    def _show_tasks(self, *, log: bool = False) -> None:
        """The pane of own tasks; made at its first call, for it brings the chart along."""
        if self._node is None:
            return
        if self.tasks is None:
            from gpulease_gui.gui.pages.verification_task import TaskPane

            self.tasks = TaskPane(self.frame, self._work)
            self.tasks.closed.connect(lambda: self._stack.setCurrentIndex(0))
            self._stack.addWidget(self.tasks)
        self.tasks.show_node(self._node)
        self._stack.setCurrentWidget(self.tasks)
        if log:
            self.tasks.form.begin_log()

    def _show_drift(self) -> None:
        """At the top: what is no longer as it was accepted, and with whom the cards are shared."""
        if self._node is not None:
            self.findings.show_drift(*band_words(self._drift, self._node.node))

    def _cancel(self) -> None:
        if self._node_id is not None:
            self._work.cancel(self._node_id)

    def _give_contract(self, contract_id: str) -> None:
        if self._node is None or not contract_id:
            return
        give_contract(self.frame, self._node.node, contract_id)

    def retranslate(self) -> None:
        """The name of the page for assistive tools; all words are Text."""
        self.setAccessibleName(say(TITLE))


PAGE = PageSpec("verification", TITLE, "nav-verify", NavGroup.USE, 50, VerificationPage)
