"""Who connects to nodes and verifies them for every page alike, and who asks the user about keys and secrets?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QDialog

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.pages.nodes_secrets import tell_not_kept
from gpulease_gui.gui.pages.secret_questions import HEIR_MS, SecretQuestion
from gpulease_gui.services.events import (
    ConfigDiffers,
    Event,
    HostKeyQuestion,
    JobChanged,
    LinesSkipped,
    NodeState,
    NodeStateChanged,
    SecretNotKept,
)
from gpulease_gui.services.kept_secrets import may_be_kept
from gpulease_gui.services.plan import Choice
from gpulease_gui.services.run_view import NO_CHOICE, prepare

if TYPE_CHECKING:
    from gpulease_gui.domain.cancel import CancelToken
    from gpulease_gui.domain.task import TaskSpec
    from gpulease_gui.domain.term import TermValue
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.services.composition import Services
    from gpulease_gui.services.fleet_run import FleetRun
    from gpulease_gui.services.jobs import Job
    from gpulease_gui.services.outcome import Outcome, Trouble
    from gpulease_gui.services.verify import Request
    from gpulease_gui.services.ways import SecretAsked

Again = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Reached:
    """How the last attempt to reach a node ended."""

    state: NodeState
    reason: Text = NO_TEXT
    next_step: Text = NO_TEXT


def work_of(frame: Frame) -> NodeWork:
    """The one of the open workspace, shared by all pages."""
    for found in frame.bridge.findChildren(NodeWork):
        if found.serves(frame.services):
            return found
        found.setParent(None)
        found.deleteLater()
    return NodeWork(frame)


class NodeWork(QObject):
    """`changed`: id of a node whose job or state changed; `not_reached`: an id, its Trouble; `fleet_goes_on`: it asks again.

    A question for a host key or a secret is a dialog, one at a time, whatever page is in sight. That for a secret goes when the
    work that asks is cancelled.
    """

    changed = Signal(str)
    not_reached = Signal(str, object)
    fleet_goes_on = Signal()
    _asked, _withdrawn = Signal(object), Signal(object)

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame.bridge)
        self._frame, self._services = frame, frame.services
        self._jobs: dict[str, Job] = {}
        self._again: dict[str, Again] = {}
        self._states: dict[str, Reached] = {}
        self._questions: list[HostKeyQuestion | SecretQuestion] = []
        self._asking = False
        self.fleet: FleetRun | None = None
        self._kept: dict[str, HostKeyQuestion] = {}
        self._services.links.ask_secret = self._ask
        self._services.links.follow_config()
        self._services.links.show_while_typed(self._ask_openly)
        self._asked.connect(self._queue, Qt.ConnectionType.QueuedConnection)
        self._withdrawn.connect(self._withdraw, Qt.ConnectionType.QueuedConnection)
        frame.bridge.arrived.connect(self._heard)

    def serves(self, services: Services) -> bool:
        """Whether this is the work of that workspace."""
        return self._services is services

    # -- jobs -------------------------------------------------------------------------------------------------------

    def state_of(self, node_id: str) -> Reached | None:
        """How the node answered since the workspace was opened; None = nobody asked it."""
        return self._states.get(node_id)

    def job_of(self, node_id: str) -> Job | None:
        """The work that is under way on a node."""
        return self._jobs.get(node_id) or (self.fleet.job_of(node_id) if self.fleet is not None else None)

    def cancel(self, node_id: str) -> None:
        """End the work on a node; what it found stays."""
        job = self._jobs.get(node_id)
        if job is not None:
            job.cancel.cancel()
        elif self.fleet is not None and self.fleet.job_of(node_id) is not None:
            self.fleet.cancel(node_id)
        self.changed.emit(node_id)

    def connect_to(self, node: Node) -> None:
        """Open a line to the node, look that it answers and, if it was accepted, that it is still the same machine."""
        services = self._services

        def work(cancel: CancelToken) -> None:
            from gpulease_gui.services.look_again import look_again

            with services.links.open(node, cancel):
                pass
            look_again(services.workspace, services.verification, node, cancel)

        title = Text(f"Connect {node.name}", f"连接 {node.name}")
        self._start(node, title, work, lambda: self.connect_to(node), lambda _: self._frame.note(_answers(node)))

    def verify(self, node: Node, choice: Choice = NO_CHOICE, peer_id: str | None = None) -> None:
        """Verify a node against its contract; what loads it was confirmed."""
        if self.job_of(node.id) is None:
            prepared = self._services.query(lambda connection: prepare(connection, node.id, choice, peer_id))
            self._frame.bridge.when_done(prepared, lambda ready: self._verify(*ready, choice, peer_id))

    def verify_many(self, nodes: Sequence[Node]) -> FleetRun:
        """Verify nodes side by side; their host keys are kept for one question instead of a dialog each."""
        from gpulease_gui.services.fleet_run import FleetRun

        if self.fleet is not None:
            self.fleet.close()
        idle = [node for node in nodes if self.job_of(node.id) is None]
        self.fleet = FleetRun(self._services, idle, lambda connection, node: prepare(connection, node.id)[1], anew=True)
        self._kept.clear()
        self.fleet.start(Text(f"Verify {len(idle)} nodes", f"验收 {len(idle)} 个节点"))
        return self.fleet

    def verify_again(self, node_ids: Sequence[str] | None = None) -> None:
        """Ask the fleet what has no answer: of these nodes, or of all."""
        if self.fleet is not None:
            asked = self.fleet.left if node_ids is None else node_ids
            for node_id in asked:
                self._kept.pop(node_id, None)  # it is asked anew, maybe at another address
            count = len(asked)
            self.fleet.again(Text(f"Verify {count} nodes again", f"再次验收 {count} 个节点"), node_ids)
            self.fleet_goes_on.emit()

    def measure_many(self, nodes: Sequence[Node], checks: tuple[str, ...]) -> None:
        """Run checks that load a node, which was confirmed, on nodes of the fleet; their answers join its runs."""
        from gpulease_gui.services.fleet_run import FleetRun

        if self.fleet is None or self.fleet.running:
            return
        since, choice = self.fleet.since, Choice(only=checks)
        self.fleet.close()
        self.fleet = FleetRun(self._services, nodes, lambda connection, node: prepare(connection, node.id, choice)[1], since=since, anew=True)
        self.fleet.start(Text(f"Measure {len(nodes)} nodes under load", f"带负载测量 {len(nodes)} 个节点"))

    def run_task(self, node: Node, spec: TaskSpec, terms: Mapping[str, TermValue], contract: tuple[str, str] | None) -> None:
        """Run a task on a node; it was confirmed. `contract`: id and number of the one that it is judged against."""
        from gpulease_gui.services.task_runs import TaskRequest

        id_, label = contract or (None, None)
        request = TaskRequest(spec, terms, id_, label)

        def work(cancel: CancelToken) -> Outcome:
            return self._services.tasks.run(self._services.links.as_written(node), request, cancel).outcome

        title = Text(f"{spec.name} on {node.name}", f"在 {node.name} 上运行 {spec.name}")
        again = lambda: self.run_task(node, spec, terms, contract)  # noqa: E731 - one line, used once
        self._start(node, title, work, again, lambda outcome: self._verified(node, outcome))

    def _verify(self, node: Node, request: Request, choice: Choice, peer_id: str | None) -> None:
        def work(cancel: CancelToken) -> Outcome:
            return self._services.verification.run(node, request, cancel)

        title = Text(f"Verify {node.name}", f"验收 {node.name}")
        again = lambda: self.verify(node, choice, peer_id)  # noqa: E731 - one line, used once
        self._start(node, title, work, again, lambda outcome: self._verified(node, outcome))

    def _verified(self, node: Node, outcome: Outcome) -> None:
        if outcome.error is not None:
            trouble: Trouble = outcome.error
            self.not_reached.emit(node.id, trouble)

    def _start(self, node: Node, title: Text, work: Callable[[CancelToken], object], again: Again,
               done: Callable[..., None]) -> None:  # fmt: skip
        if self.job_of(node.id) is not None:
            return
        self._again[node.id] = again
        job = self._services.jobs.start(title, work, remote=True)
        self._jobs[node.id] = job
        self._frame.bridge.when_done(job.done, done, lambda trouble: self._failed(node, trouble))
        self.changed.emit(node.id)

    def _failed(self, node: Node, trouble: UserFacing) -> None:
        if getattr(trouble, "phase", "") != "host_key":  # that one is asked in a dialog
            headline, sentence = trouble_words(trouble)
            self._frame.trouble(Text(f"{node.name}: {headline.en}", f"{node.name}：{headline.zh}"), sentence)

    def _heard(self, event: Event) -> None:
        if not self._frame.is_open:  # an event of the next workspace
            return
        if isinstance(event, NodeStateChanged):
            why, step = event.reason_text, event.next_text
            self._states[event.node_id] = Reached(event.state, why if why.en else foreign(event.reason), step if step.en else foreign(event.next_step))
            self.changed.emit(event.node_id)
        elif isinstance(event, HostKeyQuestion):
            self._hear_question(event)
        elif isinstance(event, ConfigDiffers | LinesSkipped):
            self._frame.note(event.words)
        elif isinstance(event, SecretNotKept):
            tell_not_kept(self._frame, event)
        elif isinstance(event, JobChanged) and event.ended:
            self._over(event.job_id)

    def _over(self, job_id: str) -> None:
        for node_id in [id_ for id_, job in self._jobs.items() if job.id == job_id]:
            del self._jobs[node_id]
            self.changed.emit(node_id)

    # -- questions of a fleet ------------------------------------------------------------------------------------------

    @property
    def kept_questions(self) -> tuple[HostKeyQuestion, ...]:
        """Host keys that nodes of the fleet stopped at, in the order they came; none is asked by itself."""
        return tuple(self._kept.values())

    def _hear_question(self, question: HostKeyQuestion) -> None:
        if question.node.id not in self._jobs:  # a watch or a peer asks: what was done last of all is done already
            self._again.pop(question.node.id, None)
        if self.fleet is None or self.fleet.job_of(question.node.id) is None and question.node.id not in self.fleet.left:
            self._queue(question)
        else:
            self._kept[question.node.id] = question

    def ask_kept(self, node_id: str) -> None:
        """Ask about one of them in its own dialog."""
        question = self._kept.get(node_id)
        if question is not None:
            self._queue(question)

    def trust_kept(self, decided: Sequence[tuple[HostKeyQuestion, HostKey, str]]) -> None:
        """Pin keys that were compared (or could not be) together, then verify their nodes."""
        services = self._services

        def work() -> None:
            for question, key, how in decided:
                services.links.trust(question.node, key, how, hop=question.hop)

        def again(_: None) -> None:
            ids = [question.node.id for question, _, _ in decided]
            for id_ in ids:
                self._kept.pop(id_, None)
            self.verify_again(ids)

        self._frame.bridge.when_done(services.jobs.local(work), again)

    # -- questions ----------------------------------------------------------------------------------------------------

    def _ask_openly(self, node: Node, asked: SecretAsked) -> Secret | None:
        return self._ask(node, asked, shown=True)

    def _ask(self, node: Node, asked: SecretAsked, *, shown: bool = False) -> Secret | None:
        """Called by a worker: wait for the user, or until the window lets go of the workspace."""
        if not self._frame.is_open:
            return None
        kept = self._services.links.kept
        keepable = may_be_kept(asked.what) and kept.keyring.takes()
        question = SecretQuestion(node, asked, shown, keepable, kept.trouble(node, asked.what))
        self._asked.emit(question)
        answer = question.wait(lambda: self._frame.is_open)
        if asked.withdrawn() and self._frame.is_open:
            self._withdrawn.emit(question)
        return answer

    def _withdraw(self, question: SecretQuestion) -> None:
        """Nobody waits for the answer any more; the user has given it already, or shall not be asked for it."""
        if question.dialog is not None and question.asked.shared:
            QTimer.singleShot(HEIR_MS, self, lambda: self._close_dialog(question))
        elif question.dialog is not None:
            self._close_dialog(question)
        elif question in self._questions:
            self._questions.remove(question)

    def _close_dialog(self, question: SecretQuestion) -> None:
        if question.dialog is not None:
            question.dialog.withdraw()

    def _queue(self, question: HostKeyQuestion | SecretQuestion) -> None:
        if isinstance(question, SecretQuestion) and self._questions:
            shown = self._questions[0]
            if isinstance(shown, SecretQuestion) and shown.goes_on_as(question):
                shown.hand_over(question)
                self._questions[0] = question
                return
        waiting = [q for q in self._questions if isinstance(q, HostKeyQuestion)]
        if isinstance(question, HostKeyQuestion) and any(q.node.id == question.node.id for q in waiting):
            return
        self._questions.append(question)
        if not self._asking:
            self._next()

    def _next(self) -> None:
        self._questions = [q for q in self._questions if isinstance(q, HostKeyQuestion) or not q.asked.withdrawn()]
        self._asking = bool(self._questions) and self._frame.is_open
        if not self._asking:
            return
        question = self._questions[0]
        if isinstance(question, HostKeyQuestion):
            self._ask_about_key(question)
        else:
            self._open(question.ask(self._services.links.kept, self._frame.widget))

    def _open(self, dialog: QDialog) -> None:
        dialog.finished.connect(self._closed)
        open_dialog(dialog)

    def _closed(self) -> None:
        self._questions.pop(0)
        self._next()

    def _ask_about_key(self, question: HostKeyQuestion) -> None:
        from gpulease_gui.services.nodes_view import key_stories

        stories = self._services.query(lambda connection: key_stories(connection, question.node))
        self._frame.bridge.when_done(stories, lambda known: self._show_keys(question, known), lambda _: self._closed())

    def _show_keys(self, question: HostKeyQuestion, stories: tuple[object, ...]) -> None:
        from gpulease_gui.gui.forms.host_key_dialog import ChangedKeyDialog, UnknownKeyDialog, is_changed

        if is_changed(question):
            changed = ChangedKeyDialog(question, stories, parent=self._frame.widget)  # type: ignore[arg-type]
            changed.decided.connect(lambda why: self._replace(question, why))
            self._open(changed)
        else:
            unknown = UnknownKeyDialog(question, parent=self._frame.widget)
            unknown.decided.connect(lambda key, how: self._trust(question, key, how))
            unknown.once.connect(lambda key: self._once(question, key))
            self._open(unknown)

    def _trust(
        self, question: HostKeyQuestion, key: HostKey, how: str, why: str = "", old: tuple[HostKey, ...] = ()
    ) -> None:
        """Pin the key in a worker, then do again what stopped at it."""
        services, node, hop = self._services, question.node, question.hop
        if not self._frame.is_open:
            return

        def work() -> None:
            services.links.trust(node, key, how, why=why, hop=hop)
            for replaced in old:
                services.links.replace_key(node, replaced, why, hop=hop)

        self._frame.bridge.when_done(services.jobs.local(work), lambda _: self._trusted(node))

    def _once(self, question: HostKeyQuestion, key: HostKey) -> None:
        """Do again what stopped at the key, which counts for that alone."""
        if self._frame.is_open:
            self._services.links.trust_once(question.node, key, hop=question.hop)
            self._trusted(question.node)

    def _trusted(self, node: Node) -> None:
        self.changed.emit(node.id)
        if self._kept.pop(node.id, None) is not None:
            self.verify_again((node.id,))
        else:
            self._again.get(node.id, lambda: self.connect_to(node))()

    def _replace(self, question: HostKeyQuestion, why: str) -> None:
        new = question.offered[0]
        old = tuple(key for key in question.pinned if key.kind == new.kind)
        self._trust(question, new, "replaced by hand, with a reason", why, old)


def _answers(node: Node) -> Text:
    return Text(f"{node.name} answers", f"{node.name} 连接正常")


def trouble_words(trouble: UserFacing) -> tuple[Text, Text]:
    """(what failed, why and what to do) in both languages, as far as the trouble has them."""
    return trouble.what_text, trouble.rest_text
