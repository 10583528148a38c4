"""How is a task of one's own run on a node, watched, judged and kept?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.task import TaskProgress, TaskRun, TaskSpec
from gpulease_gui.domain.term import TermValue
from gpulease_gui.services.events import Bus
from gpulease_gui.services.links import Links
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.services.watch import Watching
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
        self._workspace, self._bus, self._catalogue, self._links, self._watching = workspace, bus, catalogue, links, watching

    def measured(self, spec: TaskSpec) -> TaskSpec:
        """The spec with the size of what would be sent; reads folders, so call it in a worker.

        Raises UsageError for what can't be sent: links, devices, names with control characters, too much.
        """
        raise NotImplementedError

    def run(
        self, node: Node, request: TaskRequest, cancel: CancelToken, on_progress: Callable[[TaskProgress], None] | None = None
    ) -> TaskOutcome:
        """Run a task to its end; blocks. A cancel, a lost line or a time limit is in the answer.

        Raises UsageError for a spec that can't be run, UserFacing when the workspace can't be written.
        """
        raise NotImplementedError


def repeat_command(node: Node, spec: TaskSpec) -> str:
    """The `gpulease workload run` line that runs it again; secrets are dots."""
    raise NotImplementedError
