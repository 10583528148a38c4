"""How does long work run beside the window, with progress, cancel and an honest end?"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.services.events import Bus, JobChanged

T = TypeVar("T")
_log = logging.getLogger(__name__)

LOCAL_THREADS = 4
REMOTE_THREADS = 32


@dataclass(frozen=True, slots=True)
class Job:
    """A running piece of work."""

    id: str
    title: str
    cancel: CancelToken
    done: Future[object]


class Jobs:
    """Two pools: local (reading the store, documents) and remote (one node each)."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._local = ThreadPoolExecutor(LOCAL_THREADS, thread_name_prefix="local")
        self._remote = ThreadPoolExecutor(REMOTE_THREADS, thread_name_prefix="remote")
        self._lock = threading.Lock()
        self._running: dict[str, Job] = {}
        self._closed = False

    def local(self, work: Callable[[], T]) -> Future[T]:
        """Run short reading work off the main thread; no task-strip line."""
        return self._local.submit(work)

    def start(self, title: str, work: Callable[[CancelToken], object], *, remote: bool = False) -> Job:
        """Run `work` with a cancel token; start and end are published as JobChanged."""
        token, done = CancelToken(), Future[object]()
        job = Job(uuid.uuid4().hex, title, token, done)
        with self._lock:
            if self._closed:
                raise UserFacing("The program is closing", "no new work is started")
            self._running[job.id] = job
        self._bus.publish(JobChanged(job.id, title))
        pool = self._remote if remote else self._local
        pool.submit(self._run, job, work)
        return job

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
            self._bus.publish(JobChanged(job.id, job.title, ended=True, error=error))

    @property
    def running(self) -> tuple[Job, ...]:
        """The jobs that have not ended."""
        with self._lock:
            return tuple(self._running.values())

    def close(self) -> None:
        """Cancel everything and wait for the threads; may be called twice."""
        with self._lock:
            self._closed = True
        for job in self.running:
            job.cancel.cancel()
        self._remote.shutdown(wait=True, cancel_futures=True)
        self._local.shutdown(wait=True, cancel_futures=True)
