"""Is "saved" only said of what is on the disk, and does one bad work harm no other?"""

from __future__ import annotations

import sqlite3
import threading
from concurrent.futures import CancelledError
from contextlib import closing

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.store.opening import connect
from gpulease_gui.store.suppliers import list_suppliers, save_supplier
from gpulease_gui.store.writer import Closed


class Held:
    """Holds the writer inside a work until `release`, so that what follows waits together as one group."""

    def __init__(self, workspace):
        self._entered, self._go = threading.Event(), threading.Event()
        self.future = workspace.submit(self._work)
        assert self._entered.wait(60)

    def _work(self, db):
        self._entered.set()
        assert self._go.wait(60)

    def release(self):
        self._go.set()
        self.future.result(60)


def add(name):
    return lambda db: save_supplier(db, Supplier(name, name))


def names(path):
    with closing(connect(path, read_only=True)) as connection:
        return [s.id for s in list_suppliers(connection)]



def fail(db):
    save_supplier(db, Supplier("lost", "lost"))
    raise KeyError("mine")


def test_that_a_future_gives_the_answer_of_its_work(workspace):
    assert workspace.submit(lambda db: 41 + 1).result(60) == 42


def test_that_a_future_is_resolved_only_after_the_commit(workspace, path):
    seen = []
    held = Held(workspace)
    futures = [workspace.submit(add(f"s{n}")) for n in range(3)]
    # The callback runs the moment the future is resolved; another connection must see the whole group by then.
    futures[0].add_done_callback(lambda future: seen.append(names(path)))
    inside = workspace.submit(lambda db: names(path))
    held.release()
    assert inside.result(60) == []  # works done in the group, nothing committed yet
    assert seen == [["s0", "s1", "s2"]]


def test_that_works_which_wait_together_share_one_commit(workspace):
    held = Held(workspace)
    commits = []
    workspace.submit(lambda db: db.conn.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None))
    futures = [workspace.submit(add(f"s{n:03}")) for n in range(100)]
    held.release()
    for future in futures:
        future.result(60)
    workspace.submit(lambda db: db.conn.set_trace_callback(None)).result(60)
    assert commits == ["COMMIT"]


def test_that_a_failing_work_loses_only_itself(workspace, path):
    held = Held(workspace)
    before, bad, after = workspace.submit(add("before")), workspace.submit(fail), workspace.submit(add("later"))
    held.release()
    with pytest.raises(KeyError, match="mine"):
        bad.result(60)
    before.result(60), after.result(60)
    assert names(path) == ["before", "later"]


def test_that_a_work_which_ends_the_transaction_is_told_so_and_its_neighbours_are_kept(workspace, path):
    held = Held(workspace)
    before, bad, after = workspace.submit(add("a")), workspace.submit(lambda db: db.conn.commit()), workspace.submit(add("b"))
    held.release()
    with pytest.raises(RuntimeError, match="ended the writer's transaction"):
        bad.result(60)
    before.result(60), after.result(60)
    assert names(path) == ["a", "b"]


def test_that_a_full_disk_is_told_in_words_and_what_fits_is_kept(workspace, path):
    workspace.submit(add("early")).result(60)
    pages = workspace.submit(lambda db: db.conn.execute("PRAGMA page_count").fetchone()[0]).result(60)
    workspace.submit(lambda db: db.conn.execute(f"PRAGMA max_page_count = {pages + 2}").fetchone()).result(60)
    held = Held(workspace)
    small = workspace.submit(add("small"))
    big = workspace.submit(lambda db: save_supplier(db, Supplier("big", "x" * 100_000)))
    other = workspace.submit(add("tiny"))
    held.release()
    with pytest.raises(UserFacing, match="the disk is full") as caught:
        big.result(60)
    assert "free some space" in caught.value.next_step and str(path) in caught.value.what
    small.result(60), other.result(60)
    assert names(path) == ["early", "small", "tiny"]


def test_that_a_work_cancelled_before_its_turn_is_not_done(workspace, path):
    held = Held(workspace)
    dropped, kept = workspace.submit(add("dropped")), workspace.submit(add("kept"))
    assert dropped.cancel()
    held.release()
    kept.result(60)
    with pytest.raises(CancelledError):
        dropped.result(60)
    assert names(path) == ["kept"]


def test_that_close_finishes_what_was_handed_in_and_takes_no_more(workspace, path):
    held = Held(workspace)
    futures = [workspace.submit(add(f"s{n:03}")) for n in range(300)]  # more than one group
    closer = threading.Thread(target=workspace.close)
    closer.start()
    held.release()
    closer.join(60)
    assert all(future.done() and future.exception() is None for future in futures)
    assert len(names(path)) == 300
    with pytest.raises(Closed):
        workspace.submit(add("late"))
    workspace.close()


def test_that_close_from_the_writer_itself_does_not_hang(workspace):
    done = threading.Event()

    def close(future):
        workspace.close()
        done.set()

    held = Held(workspace)
    workspace.submit(add("a")).add_done_callback(close)
    held.release()
    assert done.wait(60)


def test_that_every_work_runs_on_the_one_writer_thread(workspace):
    threads = {workspace.submit(lambda db: threading.current_thread().name).result(60) for _ in range(3)}
    assert threads == {"writer"}


def test_that_eight_threads_lose_none_of_five_hundred_works(workspace, path):
    results, start = [[] for _ in range(8)], threading.Barrier(8)

    def submit(number):
        start.wait()
        futures = [workspace.submit(add(f"{number}-{n}")) for n in range(500)]
        results[number] = [future.exception(60) for future in futures]

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[None] * 500] * 8
    assert set(names(path)) == {f"{number}-{n}" for number in range(8) for n in range(500)}


def test_that_a_reader_sees_one_moment_while_the_writer_goes_on(workspace):
    workspace.submit(add("a")).result(60)
    with workspace.read() as connection:
        assert len(list_suppliers(connection)) == 1
        workspace.submit(add("b")).result(60)
        assert len(list_suppliers(connection)) == 1
    with workspace.read() as connection:
        assert len(list_suppliers(connection)) == 2


def test_that_a_reader_can_not_write(workspace):
    with workspace.read() as connection, pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM suppliers")
