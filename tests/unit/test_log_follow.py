"""Is what becomes of a followed log told where it happened, wherever the line cuts its bytes?"""

from __future__ import annotations

from typing import Any, cast

import pytest

from gpulease_gui.cli.workload_words import progress_line
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.task import TaskEnd, TaskPhase, TaskProgress
from gpulease_gui.facts.train_reader import REPLACED, SHORTENED, LogReader
from gpulease_gui.remote.awake import VIGIL
from gpulease_gui.remote.task import TaskReport, _Following
from gpulease_gui.services.log_words import log_mark, log_mark_words
from gpulease_gui.services.task_end import ending_of

BOUNDARY = "0123456789abcdef" * 2


class Ears:
    def __init__(self) -> None:
        self.heard: list[bytes | str] = []

    def log(self, data: bytes) -> None:
        if self.heard and isinstance(self.heard[-1], bytes):
            data = self.heard.pop() + data  # type: ignore[operator]
        self.heard.append(data)

    def file(self, word: str) -> None:
        self.heard.append(word)


@pytest.mark.parametrize("size", [1, 2, 7, 33, 50, 1000])
def test_that_a_mark_is_found_however_the_bytes_are_cut_and_no_byte_of_the_log_is_lost(size: int) -> None:
    mark = f"{BOUNDARY} FILE ".encode()
    sent = b"noise\n" + b"\n%s LOG\n" % BOUNDARY.encode() + mark + b"missing\n" + mark + b"reading\na\ntorn 01234" + mark + b"replaced\n0123\n" + mark[:20]
    ears = Ears()
    with VIGIL.kept() as watch:
        running = _Following(cast("Any", None), BOUNDARY, cast("Any", ears), CancelToken(), 60, watch)
        for at in range(0, len(sent), size):
            running._output(sent[at : at + size])
        running._line = cast("Any", type("Line", (), {"alive": False}))
        running._answer()
    assert ears.heard == ["missing", "reading", b"a\ntorn 01234", "replaced", b"0123\n" + mark[:20]]


@pytest.mark.parametrize("words", [REPLACED, SHORTENED])
def test_that_the_words_between_two_files_are_no_line_and_a_torn_line_is_no_figure(words: str) -> None:
    reader = LogReader()
    reader.feed(f"iter 1: loss 2.5, time 10.00ms, mfu 40.00%\n{words}\niter 2: loss 1.5, time 10.00ms, mfu 4{words}\niter 3: loss 1.4, time 10.00ms, mfu 40.00%\n")
    assert ([point.step for point in reader.curve.points], reader.lines) == ([1, 3], 3)


def test_that_the_command_line_says_what_is_waited_for() -> None:
    waits = TaskProgress("r", "n", TaskPhase.RUNNING, seconds=12.0, waits="missing")
    assert progress_line(waits) == "running: 12 s, 0 lines, waiting for the file: there is no such file on the node"


def test_that_a_time_that_was_over_while_the_file_was_there_is_no_wait() -> None:
    ends = [ending_of(TaskReport("time", waits=waits), "", endless=True) for waits in ("", "denied")]
    assert [end.end for end in ends] == [TaskEnd.TIME_LIMIT] * 2
    assert [end.reason.zh for end in ends] == ["达到时间上限", "等待文件期间达到时间上限：节点拒绝读取"]


def test_that_a_mark_of_another_program_is_plain_words() -> None:
    assert log_mark_words("no document").en == "something became of the log"
    assert log_mark_words(log_mark("replaced", "/a\x1b[31m/" + "b" * 500)).en.endswith("b" * 60)
    assert "\x1b" not in log_mark_words(log_mark("replaced", "/a\x1b[31m")).en
