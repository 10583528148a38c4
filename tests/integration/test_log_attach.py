"""What becomes of a followed log on a real node whose file vanishes, is no file any more, or grows faster than anybody reads?"""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskPhase, TaskSource, TaskSpec
from gpulease_gui.facts.train_reader import LogReader
from gpulease_gui.services.log_words import LOG_MARK
from gpulease_gui.store.codec import mark_document
from gpulease_gui.store.samples import list_marks

from .test_workload import PATIENCE_S, Tasks, folder, services, tasks

__all__ = ["folder", "services", "tasks"]


def step(n: int) -> str:
    return f"iter {n}: loss {9 / (1 + n / 100):.4f}, time {10 + n % 3:.2f}ms, mfu 40.00%\n"


class Followed:
    """A log on the node, followed by a thread of its own."""

    def __init__(self, tasks: Tasks, log: Path, until: Callable[..., bool]) -> None:
        self.tasks, self.log, self._until = tasks, log, until
        self.found: list[object] = []
        spec = TaskSpec("followed", TaskSource(SourceKind.LOG, str(log)), time_limit_s=240)
        self._thread = threading.Thread(target=lambda: self.found.append(tasks.go(spec)))
        self._thread.start()

    def steps(self) -> list[int | None]:
        return [point.step for progress in self.tasks.told for point in progress.points]

    def waits(self) -> list[str]:
        """What was waited for, one after the other; of a file that could be read, nothing."""
        told = [progress.waits for progress in self.tasks.told if progress.phase is TaskPhase.RUNNING and progress.log_lines + len(progress.waits)]
        return [one for n, one in enumerate(told) if n == 0 or told[n - 1] != one]

    def marks(self) -> list[str]:
        """What became of its file, as the store keeps it."""
        with self.tasks.services.workspace.read() as connection:
            kept = list_marks(connection, self.tasks.node.id, datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
        return [str(mark_document(mark.words)["became"]) for mark in kept if mark.kind == LOG_MARK]

    def wait_for(self, seen: Callable[[], bool]) -> bool:
        return self._until(seen, PATIENCE_S)

    def said(self, words: str) -> bool:
        return any(words in progress.last_words for progress in self.tasks.told[-3:])

    def end(self) -> object:
        self.tasks.cancel.cancel()
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.found[0]


@pytest.fixture
def follow(tasks: Tasks, until: Callable[..., bool]) -> Iterator[Callable[[Path], Followed]]:
    begun: list[Followed] = []

    def make(log: Path) -> Followed:
        begun.append(Followed(tasks, log, until))
        return begun[-1]

    yield make
    for one in begun:
        one.end()


def test_that_a_log_that_is_not_there_yet_is_waited_for_and_read_from_its_first_line(follow: Callable[[Path], Followed], tasks: Tasks, tmp_path: Path) -> None:
    log = tmp_path / "run" / "train 'log\" $(touch x) .txt"
    followed = follow(log)
    assert followed.wait_for(lambda: followed.waits() == ["no_folder"])
    log.parent.mkdir()
    assert followed.wait_for(lambda: followed.waits() == ["no_folder", "missing"])
    os.mkfifo(log)
    assert followed.wait_for(lambda: followed.waits()[-1] == "no_file")
    log.unlink()
    log.write_text("".join(map(step, range(7))))
    assert followed.wait_for(lambda: followed.steps() == list(range(7)))
    assert followed.waits()[-1] == "", "nothing is waited for any more"
    assert followed.marks()[0] == "awaited" and followed.marks()[-1] == "reading"
    found = followed.end()
    assert (found.task.end, found.task.clean, found.task.reading.lines, tasks.left) == (TaskEnd.CANCELLED, True, 7, [])  # type: ignore[attr-defined]


def test_that_the_wait_for_a_log_ends_with_its_time_and_says_what_was_waited_for(tasks: Tasks) -> None:
    found = tasks.go(TaskSpec("gone", TaskSource(SourceKind.LOG, "/no/such/log"), time_limit_s=1))
    why = "its time was over while the file was waited for: neither the file nor its folder is there on the node"
    assert (found.task.end, found.task.reason.en, found.task.clean, tasks.left) == (TaskEnd.TIME_LIMIT, why, True, [])


def test_that_no_line_is_lost_or_read_twice_while_its_writer_renames_and_goes_on(follow: Callable[[Path], Followed], tasks: Tasks, tmp_path: Path) -> None:
    """As logrotate does it: the writer still writes to the old file when the new one is there, until it is told."""
    log = tmp_path / "train.log"
    followed, n = follow(log), 0
    file = log.open("w")
    for turn in range(4):
        for part in range(4):
            if part == 1:
                log.rename(tmp_path / f"train.log.{turn}")
            if part == 2:
                fresh = log.open("w")
            for _ in range(25):
                file.write(step(n))
                file.flush()
                n += 1
            assert followed.wait_for(lambda n=n: len(followed.steps()) == n)  # type: ignore[misc]
        file.close()
        file = fresh
    file.write(step(n))
    file.close()
    assert followed.wait_for(lambda: followed.steps() == list(range(n + 1)))
    found = followed.end()
    assert found.task.reading.lines == n + 1  # type: ignore[attr-defined]
    assert followed.marks().count("replaced") == 4


def test_that_a_line_torn_by_a_rotation_makes_no_figure_and_the_evidence_tells_the_same_again(
    follow: Callable[[Path], Followed], tasks: Tasks, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(step(1) + "iter 2: loss 3.14, time 10.00ms, mfu 4")
    followed = follow(log)
    assert followed.wait_for(lambda: followed.steps() == [1])
    log.rename(tmp_path / "train.log.1")
    log.write_text(step(3))
    assert followed.wait_for(lambda: followed.steps() == [1, 3])
    os.truncate(log, 0)
    assert followed.wait_for(lambda: "shorter" in followed.marks())
    with log.open("a") as file:
        file.write(step(4))
    assert followed.wait_for(lambda: followed.steps() == [1, 3, 4])
    found = followed.end()
    again = LogReader()
    again.feed(tasks.log_of(found).decode())  # type: ignore[arg-type]
    assert [point.step for point in again.curve.points] == [1, 3, 4]


def test_that_a_log_that_is_deleted_says_so_and_goes_on_with_a_new_file_of_its_name(follow: Callable[[Path], Followed], tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("".join(map(step, range(5))))
    followed = follow(log)
    assert followed.wait_for(lambda: len(followed.steps()) == 5)
    log.unlink()
    assert followed.wait_for(lambda: followed.waits() == ["", "missing"])
    log.write_text("".join(map(step, range(100, 104))))
    assert followed.wait_for(lambda: followed.steps()[5:] == [100, 101, 102, 103])
    assert followed.marks() == ["missing", "replaced", "reading"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_that_what_comes_in_its_place_hangs_nothing_and_the_log_that_comes_back_is_read(
    follow: Callable[[Path], Followed], tasks: Tasks, tmp_path: Path, kind: str
) -> None:
    log = tmp_path / "train.log"
    log.write_text(step(1))
    followed = follow(log)
    assert followed.wait_for(lambda: followed.steps() == [1])
    log.unlink()
    {"folder": log.mkdir, "pipe": lambda: os.mkfifo(log), "device": lambda: log.symlink_to("/dev/zero")}[kind]()
    assert followed.wait_for(lambda: followed.waits()[-1] == "no_file")
    log.rmdir() if kind == "folder" else log.unlink()
    log.write_text(step(2))
    assert followed.wait_for(lambda: followed.steps() == [1, 2])
    found = followed.end()
    assert (found.task.end, found.task.clean, tasks.left) == (TaskEnd.CANCELLED, True, [])  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_that_what_is_no_plain_file_is_refused_at_once(tasks: Tasks, tmp_path: Path, kind: str) -> None:
    place = tmp_path / "place"
    place.mkdir() if kind == "folder" else os.mkfifo(place)
    found = tasks.go(TaskSpec("odd", TaskSource(SourceKind.LOG, str(place))))
    assert (found.task.end, found.task.reason.en, tasks.left) == (TaskEnd.REFUSED, "it is no plain file", [])


def test_that_a_log_that_grows_faster_than_it_can_be_read_holds_no_memory_and_shows_what_was_written_last(
    follow: Callable[[Path], Followed], tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(step(0))
    followed = follow(log)
    assert followed.wait_for(lambda: followed.steps() == [0])
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with log.open("a") as file:
        for n in range(1, 81):  # 160 MB
            file.write(step(n) * (2_000_000 // len(step(n))))
            file.flush()
        file.write(step(4242))
    assert followed.wait_for(lambda: followed.steps()[-1] == 4242)
    assert followed.wait_for(lambda: followed.said("too fast"))
    grown_mib = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib) / 1024
    assert grown_mib < 80, grown_mib
    found = followed.end()
    assert found.task.clean and found.task.log_bytes > 150_000_000  # type: ignore[attr-defined]


def test_that_windows_line_ends_colours_and_bars_are_read_over_the_line(follow: Callable[[Path], Followed], tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_bytes(step(1).replace("\n", "\r\n").encode())
    followed = follow(log)
    assert followed.wait_for(lambda: followed.steps() == [1])
    with log.open("ab") as file:
        file.write(b"\x1b[32m" + step(2).encode() + b"\x1b[0m" + bytes(range(256)) * 40 + b"\n" + b"x" * 1_000_000 + b"\n")
        file.write(step(3).replace("\n", "\r").encode() + step(4).encode())
    assert followed.wait_for(lambda: followed.steps() == [1, 2, 3, 4])
