"""How is a task of one's own run on a node, watched, judged and kept?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import TaskEnd, TaskRun, TaskSpec
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.events import Bus
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.outcome import Outcome, Trouble
from gpulease_gui.services.task_live import OnProgress
from gpulease_gui.services.task_spec import BUILTINS, Builtin, check_spec, packed, repeat_command, serves_of
from gpulease_gui.services.task_work import TaskAim, TaskParts, TaskWork
from gpulease_gui.services.watch import Watching
from gpulease_gui.store.records import new_id
from gpulease_gui.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task and what it is judged against: the contract's terms; what `spec.serves` names stands above them.

    `watch`: record the hardware of the node beside it.
    """

    spec: TaskSpec
    terms: Mapping[str, TermValue] = field(default_factory=dict)
    contract_id: str | None = None
    contract_label: str | None = None
    watch: bool = True


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The run of the task, and its findings as of any verification (`outcome.run` is the task's id)."""

    task: TaskRun
    outcome: Outcome


class TaskRuns:
    """Runs tasks on nodes; everything is saved before it is told (TaskProgressed, FindingSaved, TaskEnded, RunEnded)."""

    def __init__(self, workspace: Workspace, bus: Bus, catalogue: Catalogue, links: Links, watching: Watching) -> None:
        self._parts = TaskParts(workspace, bus, catalogue, watching)
        self._links = links

    def measured(self, spec: TaskSpec) -> TaskSpec:
        """The spec with the size of what would be sent; reads folders, so call it in a worker.

        Raises UsageError for what can't be run or sent: links, devices, names with control characters, too much.
        """
        check_spec(spec, self._parts.catalogue)
        pack = packed(spec)
        return replace(spec, size=pack.size if pack else None)

    def run(self, node: Node, request: TaskRequest, cancel: CancelToken, on_progress: OnProgress | None = None) -> TaskOutcome:
        """Run a task to its end; blocks. A cancel, a lost line or a time limit is in the answer; so is a node that is not
        reached, of which nothing is stored.

        Raises UsageError for a spec that can't be run, UserFacing when the workspace can't be written.
        """
        spec = request.spec
        check_spec(spec, self._parts.catalogue)
        pack = packed(spec)
        spec = replace(spec, size=pack.size if pack else None)
        started = utc_now()
        try:
            opened = self._links.open(node, cancel)
        except NotConnected as error:
            return _not_reached(node, request, started, error)
        except Cancelled:
            return _not_reached(node, request, started, None)
        aim = TaskAim(
            node, spec, pack, serves_of(spec, request.terms), request.contract_id, request.contract_label, request.watch
        )  # fmt: skip
        with opened:
            return TaskOutcome(*TaskWork(self._parts, aim, opened, started, on_progress).go(cancel))


def _not_reached(node: Node, request: TaskRequest, started: datetime, error: NotConnected | None) -> TaskOutcome:
    """`error` None: cancelled on the way."""
    end = TaskEnd.REFUSED if error else TaskEnd.CANCELLED
    reason, step, trouble = Text("ended by you", "由您结束"), NO_TEXT, None
    if error:
        reason, step = error.why_text if error.why else error.what_text, error.next_text
        trouble = Trouble(error.phase, reason.en, error.next_step, reason, step)
    task = TaskRun(
        new_id(), request.spec.hidden(), node.id, started, utc_now(), end, reason=reason, next_step=step,
        repeat_command=repeat_command(node, request.spec, contract_id=request.contract_id, watch=request.watch),
    )  # fmt: skip
    outcome = Outcome(
        node.target, None, started, error.offered if error else None, request.contract_label or request.contract_id, node.reach is Reach.DEMO,
        cancelled=error is None, error=trouble, name=node.name,
    )  # fmt: skip
    return TaskOutcome(task, outcome)


__all__ = ["BUILTINS", "Builtin", "OnProgress", "TaskOutcome", "TaskRequest", "TaskRuns", "repeat_command"]
