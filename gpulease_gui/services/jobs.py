"""How does long work run beside the window, with progress, cancel and an honest end?"""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from gpulease_gui.domain.calls import Calls
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import Bus, JobChanged

T = TypeVar("T")
_log = logging.getLogger(__name__)

LOCAL_THREADS = 4
# Nodes that are worked on at once: more would be no sooner done, and take memory for their lines and outputs.
REMOTE_THREADS = 32
# Nodes besides that were called, or read, and say nothing. Each costs a thread that sleeps.
SILENT_MOST = 200
# Without a word for so long, a node counts as one of those; the next one is begun in its place.
SILENT_S = 1.0
_LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class Job:
    """A running piece of work. `is_part`: it has no line of its own in the task strip, its whole has."""

    id: str
    title: Text | str
    cancel: CancelToken
    done: Future[object]
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class Whole:
    """Work on many nodes side by side: one line in the task strip, and a job a node that can be cancelled alone."""

    job: Job
    parts: tuple[Job, ...]


class _Counted:
    """How many parts of a whole have ended; counted by the threads that end them."""

    def __init__(self, whole: Job, total: int) -> None:
        self.whole, self.total = whole, total
        self._done = 0
        self._lock = threading.Lock()

    def one_more(self) -> int:
        with self._lock:
            self._done += 1
            return self._done


def cancelled() -> Future[T]:
    """What becomes of work that is handed in after the end: nobody does it, and nobody is told."""
    future: Future[T] = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


@dataclass(frozen=True, slots=True, eq=False)
class _Turn:
    """Work on one node, and whether it waits for a word of the node."""

    calls: Calls
    work: Callable[[], None]


class Turns:
    """Runs work on nodes, REMOTE_THREADS at once; a node that is waited for and silent holds no place (see `Calls`).

    What comes back from such a wait goes on at once, it has waited long enough: for a while more may be at work then.
    """

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._waiting: deque[_Turn] = deque()
        self._begun: list[_Turn] = []
        self._threads: set[threading.Thread] = set()
        self._looker: threading.Thread | None = None

    def submit(self, calls: Calls, work: Callable[[], None]) -> None:
        """Run `work` when its turn comes; it must not raise. `calls` are those that it makes."""
        with self._change:
            self._waiting.append(_Turn(calls, work))
            self._begin()
            if self._waiting and self._looker is None:
                self._looker = threading.Thread(target=self._look, name="remote-turns", daemon=True)
                self._looker.start()

    def _next(self) -> _Turn | None:
        """The next one if there is a place for it; with the lock in hand."""
        begun = self._begun
        if not self._waiting or len(begun) >= REMOTE_THREADS + SILENT_MOST:
            return None
        if sum(turn.calls.silent_s < SILENT_S for turn in begun) >= REMOTE_THREADS:
            return None
        begun.append(self._waiting.popleft())
        return begun[-1]

    def _begin(self) -> None:
        while turn := self._next():
            thread = threading.Thread(target=self._go, args=(turn,), name=f"remote-{len(self._begun)}")
            self._threads.add(thread)
            thread.start()

    def _go(self, turn: _Turn | None) -> None:
        while turn is not None:
            turn.work()
            with self._change:
                self._begun.remove(turn)
                turn = self._next()
                self._begin()
                if turn is None:
                    self._threads.discard(threading.current_thread())

    def _look(self) -> None:
        """Nobody tells that a node says nothing."""
        with self._change:
            while self._waiting:
                self._change.wait(_LOOK_S)
                self._begin()
            self._looker = None

    def begin_no_more(self) -> None:
        """Forget what waits for its turn."""
        with self._change:
            self._waiting.clear()
            self._change.notify_all()

    def close(self) -> None:
        """Begin nothing more, and wait for what was begun; may be called twice."""
        self.begin_no_more()
        with self._change:
            threads = [*self._threads, *([self._looker] if self._looker else [])]
        for thread in threads:
            thread.join()


class Jobs:
    """Two pools: local (reading the store, documents) and remote (one node each, see `Turns`)."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._local = ThreadPoolExecutor(LOCAL_THREADS, thread_name_prefix="local")
        self._remote = Turns()
        self._lock = threading.Lock()
        self._running: dict[str, Job] = {}
        self._closed = False

    def local(self, work: Callable[[], T]) -> Future[T]:
        """Run short reading work off the main thread; no task-strip line. After `close` the future is cancelled."""
        with self._lock:
            return cancelled() if self._closed else self._local.submit(work)

    def start(self, title: Text | str, work: Callable[[CancelToken], object], *, remote: bool = False) -> Job:
        """Run `work` with a cancel token; start and end are published as JobChanged."""
        job = self._admit(title)
        self._bus.publish(JobChanged(job.id, title))
        if remote:
            self._remote.submit(job.cancel.calls, partial(self._run, job, work))
        else:
            self._local.submit(self._run, job, work)
        return job

    def start_all(self, title: Text | str, works: Sequence[Callable[[CancelToken], object]]) -> Whole:
        """Run all `works` in the remote pool; the whole counts those that ended, and cancelling it cancels them all."""
        whole, total = self._admit(title), len(works)
        parts = tuple(self._admit(title, is_part=True) for _ in works)
        counted = _Counted(whole, total)
        self._bus.publish(JobChanged(whole.id, title, 0, total))
        for part, work in zip(parts, works, strict=True):
            whole.cancel.on_cancel(part.cancel.cancel)
            part.done.add_done_callback(lambda _: self._count(counted))
            self._remote.submit(part.cancel.calls, partial(self._run, part, work))
        return Whole(whole, parts)

    def _admit(self, title: Text | str, *, is_part: bool = False) -> Job:
        job = Job(uuid.uuid4().hex, title, CancelToken(), Future[object](), is_part)
        with self._lock:
            if self._closed:
                raise UserFacing(Text("The program is closing", "程序正在关闭"), Text("no new work is started", "不再开始新的工作"))
            self._running[job.id] = job
        return job

    def _count(self, counted: _Counted) -> None:
        done, whole = counted.one_more(), counted.whole
        is_over = done == counted.total
        if is_over:
            with self._lock:
                self._running.pop(whole.id, None)
            whole.done.set_result(None)
        self._bus.publish(JobChanged(whole.id, whole.title, done, counted.total, ended=is_over))

    def _run(self, job: Job, work: Callable[[CancelToken], object]) -> None:
        error = ""
        try:
            job.cancel.check()
            job.done.set_result(work(job.cancel))
        except Cancelled:
            job.done.cancel()
            job.done.set_running_or_notify_cancel()
        except UserFacing as trouble:
            error = str(trouble)
            job.done.set_exception(trouble)
        except Exception as fault:  # noqa: BLE001 - one of the two places where our own faults end
            _log.exception("job %s broke", job.title)
            error = f"internal error: {type(fault).__name__}"
            job.done.set_exception(fault)
        finally:
            with self._lock:
                self._running.pop(job.id, None)
            self._bus.publish(JobChanged(job.id, job.title, ended=True, error="" if job.is_part else error))

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that have not ended; a whole stands for its parts."""
        with self._lock:
            return tuple(job for job in self._running.values() if not job.is_part)

    def close(self) -> None:
        """Cancel everything and wait for the threads; may be called twice."""
        with self._lock:
            self._closed = True
            running = tuple(self._running.values())
        self._remote.begin_no_more()  # before the first place becomes free
        for job in running:
            job.cancel.cancel()
        self._remote.close()
        self._local.shutdown(wait=True, cancel_futures=True)
