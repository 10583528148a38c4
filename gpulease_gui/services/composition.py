"""Which parts make the program, and in what order do they start and end?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import platformdirs

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.services.checklist_edit import apply_run
from gpulease_gui.services.events import Bus, Event, RecordsChanged, RunEnded
from gpulease_gui.services.jobs import Jobs, cancelled
from gpulease_gui.services.links import Links
from gpulease_gui.services.upkeep import Upkeep
from gpulease_gui.services.verify import Verification
from gpulease_gui.services.watch import Watching
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.services.ways import AskSecret
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.store.writer import Closed

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from gpulease_gui.services.task_runs import TaskRuns

T = TypeVar("T")


def data_folder() -> Path:
    """Where this user's workspaces live on this system."""
    return Path(platformdirs.user_data_dir("GPULease", appauthor=False))


def default_path(*, demo: bool = False) -> Path:
    """The workspace file that is opened when none is named; demo data has a file of its own."""
    return data_folder() / ("demo.gpulease.db" if demo else "workspace.gpulease.db")


class Services:
    """Everything that the window and the command line ask. Close it in the end; it may be closed twice."""

    def __init__(self, workspace: Workspace, *, ask_secret: AskSecret | None = None, fingerprints: tuple[str, ...] = ()) -> None:
        self.workspace = workspace
        self.bus = Bus()
        self.jobs = Jobs(self.bus)
        self.catalogue: Catalogue = load_catalogue()
        self.links = Links(workspace, self.bus, ask_secret=ask_secret, fingerprints=fingerprints)
        self.verification = Verification(workspace, self.bus, self.catalogue, self.links)
        self.watching = Watching(workspace, self.bus, self.links, rules=RuleKeeper(workspace, self.bus, self.catalogue))
        self.upkeep = Upkeep(workspace, self.bus)
        self.bus.subscribe(self._move_items)

    @cached_property
    def tasks(self) -> TaskRuns:
        """What runs tasks on nodes; most commands never load it."""
        from gpulease_gui.services.task_runs import TaskRuns

        return TaskRuns(self.workspace, self.bus, self.catalogue, self.links, self.watching)

    @property
    def demo(self) -> bool:
        """Whether this is the demo workspace."""
        return self.workspace.demo

    def query(self, work: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Read the store on a worker thread."""

        def read() -> T:
            with self.workspace.read() as connection:
                return work(connection)

        return self.jobs.local(read)

    def change(self, work: Callable[[Database], T], *kinds: str) -> Future[T]:
        """Write on the writer thread; when it is saved, RecordsChanged tells which kinds changed.

        After `close` the future is cancelled: a page may outlive its workspace by some turns.
        """
        try:
            future = self.workspace.submit(work)
        except Closed:
            return cancelled()
        future.add_done_callback(lambda done: self._tell(done, frozenset(kinds)))
        return future

    def _tell(self, done: Future[T], kinds: frozenset[str]) -> None:
        if not done.cancelled() and done.exception() is None:
            self.bus.publish(RecordsChanged(kinds))

    def _move_items(self, event: Event) -> None:
        """A whole run moves the checklist items of its contract."""
        if isinstance(event, RunEnded) and not event.cancelled:
            items = self.catalogue.checklist
            self.change(lambda db: apply_run(db, event.run_id, items), "answer")

    def close(self) -> None:
        """Stop watching, cancel the jobs, close the lines, save what is queued, let go of the file."""
        self.watching.close()
        self.jobs.close()
        self.links.close()
        self.upkeep.close()
        self.workspace.close()


def open_services(
    path: Path | None = None, *, demo: bool = False, ask_secret: AskSecret | None = None, fingerprints: tuple[str, ...] = ()
) -> Services:
    """Open or make a workspace and start the services. Raises UserFacing."""
    path = path or default_path(demo=demo)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    services = Services(Workspace.open(path, demo=demo), ask_secret=ask_secret, fingerprints=fingerprints)
    if demo:
        from gpulease_gui.services.demo_data import fill_demo

        fill_demo(services.workspace)
    return services
