"""How do all threads write through one, and when may they say "saved"?"""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gpulease_gui.domain.right_of_way import RightOfWay
from gpulease_gui.store.opening import connect, transaction
from gpulease_gui.store.troubles import is_worlds_fault, user_facing

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")

_GROUP = 256


class Closed(RuntimeError):
    """Work was handed in after `close`: a fault of the caller's order of shutdown."""


@dataclass(slots=True)
class _Order(Generic[T]):
    """One piece of work with the future of who waits for it."""

    work: Callable[[Database], T]
    future: Future[T]
    result: T | None = None
    error: BaseException | None = None


class _Step:
    """A savepoint around one work: its error is kept for its own future and undoes nobody else's work."""

    __slots__ = ("_connection", "_order")

    def __init__(self, connection: sqlite3.Connection, order: _Order[Any]) -> None:
        self._connection, self._order = connection, order

    def __enter__(self) -> None:
        self._connection.execute("SAVEPOINT work")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        self._order.error = error
        if not self._connection.in_transaction:
            # A full disk undoes the whole group; so would a work that commits by itself.
            if error is None or not isinstance(error, sqlite3.Error):
                raise RuntimeError("a work ended the writer's transaction") from error
            return False
        if error is not None:
            self._connection.execute("ROLLBACK TO work")
        self._connection.execute("RELEASE work")
        return True


class Writer:
    """The one thread that writes. Works that wait together are committed together.

    A future is resolved only after the commit that holds its work, so "saved" is true when it is said. A work may
    run twice (when its neighbours' group could not be committed), so it touches nothing but the database.
    """

    __slots__ = ("_closed", "_lock", "_orders", "_path", "_thread", "_way")

    def __init__(self, path: Path, way: RightOfWay) -> None:
        self._path = path
        self._way = way
        self._orders: queue.SimpleQueue[_Order[Any] | None] = queue.SimpleQueue()
        self._closed = False
        self._lock = threading.Lock()
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(ready,), name="writer", daemon=True)
        self._thread.start()
        ready.result()

    def submit(self, work: Callable[[Database], T]) -> Future[T]:
        """Queue `work`; never blocks. Raises Closed after `close`.

        The future gives the answer of `work` once it is committed, else its error (UserFacing for a full disk).
        """
        order = _Order(work, Future())
        with self._lock:
            if self._closed:
                raise Closed("the workspace is closed")
            self._orders.put(order)
        return order.future

    def close(self) -> None:
        """Take no more work, finish what was handed in, end the thread. May be called again."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._orders.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self, ready: Future[None]) -> None:
        from sqlite_utils import Database

        with _Handover(ready):
            database = Database(connect(self._path), execute_plugins=False)
        if ready.exception() is not None:
            return
        try:
            while orders := self._next_group():
                self._commit(database, orders)
        finally:
            database.close()

    def _next_group(self) -> list[_Order[Any]]:
        """What waits now, at least one; empty when closed."""
        orders: list[_Order[Any]] = []
        order = self._orders.get()
        while order is not None:
            if order.future.set_running_or_notify_cancel():
                orders.append(order)
            if len(orders) >= _GROUP or (orders and self._orders.empty()):
                return orders
            order = self._orders.get()
        if orders:
            # The end was seen while a group was being gathered: leave it for the next look.
            self._orders.put(None)
        return orders

    def _commit(self, database: Database, orders: list[_Order[Any]]) -> None:
        trouble: list[BaseException] = []
        with _Kept(trouble), transaction(database.conn):
            for order in orders:
                self._way.wait()
                order.error = None
                with _Step(database.conn, order):
                    order.result = order.work(database)
        if not trouble:
            for order in orders:
                self._resolve(order, order.error)
        elif len(orders) == 1:
            self._resolve(orders[0], orders[0].error or trouble[0])
        else:
            for order in orders:
                self._commit(database, [order])

    def _resolve(self, order: _Order[Any], error: BaseException | None) -> None:
        if error is None:
            order.future.set_result(order.result)
        elif isinstance(error, sqlite3.Error) and is_worlds_fault(error):
            order.future.set_exception(user_facing(error, self._path, "write to"))
        else:
            order.future.set_exception(error)


class _Kept:
    """Keeps the error that ended a group, for the futures of the group; nothing is lost, nothing is raised."""

    __slots__ = ("_errors",)

    def __init__(self, errors: list[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if error is not None:
            self._errors.append(error)
        return True


class _Handover:
    """Gives the outcome of a block to a future in another thread."""

    __slots__ = ("_future",)

    def __init__(self, future: Future[None]) -> None:
        self._future = future

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        if error is None:
            self._future.set_result(None)
        else:
            self._future.set_exception(error)
        return True
