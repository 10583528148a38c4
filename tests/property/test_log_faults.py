"""Does a log that is followed say the same speed however it is written, cut or coloured, and is it bounded whatever it holds?"""

from __future__ import annotations

import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.facts.train_reader import LONGEST_LINE, LogReader
from gpulease_gui.services.log_gauge import LogGauge
from gpulease_gui.services.task_log import AHEAD_BYTES, NEWEST_BYTES, READ_BYTES_S, TaskLog

MIB = 1024 * 1024
COLOURS = st.sampled_from(["\x1b[32m", "\x1b[0m", "\x1b[1;31m", "\x1b[K", "\x1b[?25l", "\x1b[2A"])


def step(n: int) -> str:
    return f"iter {n}: loss {9 - n / 100:.4f}, time {10 + n % 7}.00ms, mfu 40.00%"


def told(pieces: list[str]) -> tuple[object, ...]:
    reader = LogReader()
    for piece in pieces:
        reader.feed(piece)
    reader.close()
    return reader.lines, reader.form, [(p.step, p.loss, p.speeds) for p in reader.curve.points], [(f.number, f.line) for f in reader.faults.found()]


def cut(text: str, places: list[int]) -> list[str]:
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]


STEPS = "\n".join(map(step, range(12))) + "\nRuntimeError: CUDA out of memory\n"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 2000), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
def test_that_the_end_of_lines_and_the_cuts_of_the_stream_change_nothing(places: list[int], end: str) -> None:
    assert told(cut(STEPS.replace("\n", end), places)) == told([STEPS])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), COLOURS), max_size=8), st.lists(st.integers(0, 2000), max_size=6))
def test_that_colours_change_no_figure(where: list[tuple[int, str]], places: list[int]) -> None:
    words = re.split(r"(?<= )", step(5))
    for place, colour in where:
        words.insert(place % (len(words) + 1), colour)
    reader = LogReader()
    for piece in cut("".join(words) + "\n", places):
        reader.feed(piece)
    assert [(p.step, p.loss) for p in reader.curve.points] == [(5, 8.95)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=400), max_size=12))
def test_that_garbage_between_steps_costs_no_step_after_it_and_breaks_nothing(pieces: list[bytes]) -> None:
    log = TaskLog("", (), MIB, MIB, endless=True)
    for n, piece in enumerate(pieces):
        log.take(piece, float(n))
    log.take(b"\n" + step(3).encode() + b"\n", 99.0)
    log.end(0)
    assert log.reader.curve.points[-1].step == 3 and "\x1b" not in log.last_words


def test_that_a_progress_bar_without_line_feeds_tells_each_of_its_rates() -> None:
    reader = LogReader()
    for n in range(1, 40):
        reader.feed(f"\rEpoch 1:  {n}%|████      | {n}/100 [00:0{n % 10}<00:10, {20 + n / 10:.2f}it/s, loss=2.{n:03}]")
    assert reader.lines == 39 and len(reader.curve.points) == 38 and len(reader._held) < 200


@pytest.mark.parametrize("piece", [b"x" * MIB + b"\n", b"\x00" * MIB, b"\xff\xfe" * 512 * 1024, b"\r" * MIB, b"\x1b[" * 512 * 1024], ids=["line", "zeros", "bytes", "returns", "escapes"])
def test_that_a_megabyte_without_sense_holds_no_memory(piece: bytes) -> None:
    log = TaskLog("", (), 64 * 1024, 64 * 1024, endless=True)
    log.take(piece, 0.0)
    tracemalloc.start()
    try:
        for n in range(6):
            log.take(piece[: 256 * 1024], float(n))
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    log.take(b"\n" + step(7).encode() + b"\n", 10.0)
    assert held < 1.5 * MIB and len(log.reader._held) <= LONGEST_LINE
    assert log.reader.curve.points[-1].step == 7


def test_that_a_log_of_fifty_megabytes_a_second_is_read_in_part_and_its_figures_are_those_of_now() -> None:
    log, gauge, second = TaskLog("", (), MIB, MIB, endless=True), LogGauge(), (50 * MIB) // 32
    read = 0
    for at in range(20):
        line = f"iter {at}: loss 2.0000, time {10 + at}.00ms, mfu 40.00%\n".encode()
        piece = line * (second // len(line))
        for n in range(32):
            seen = log.reader.curve.points_seen
            log.take(piece, at + n / 32)
            new = log.points_since(seen)
            read += len(new)
            if new:
                gauge.tell(new, at + n / 32)
    assert log.bytes_in > 900 * MIB and log.bytes_in - log.unread_bytes <= AHEAD_BYTES + 20 * READ_BYTES_S + 20 * 32 * NEWEST_BYTES
    assert log.points_since(log.reader.curve.points_seen - 1)[0].step == 19, "what is read last was written last"
    assert str(log.unread_bytes) in log.last_words and read > 0


def test_that_an_ordinary_log_is_read_whole() -> None:
    log = TaskLog("", (), MIB, MIB, endless=True)
    for n in range(3000):
        log.take((step(n) + "\n").encode(), n / 10)
    assert log.unread_bytes == 0 and log.reader.lines == 3000 and "too fast" not in log.last_words


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 900), min_size=1, max_size=14))
def test_that_a_long_training_is_told_by_its_newest_steps_each_once_and_none_of_before(counts: list[int]) -> None:
    log, seen, n, last = TaskLog("", (), MIB, MIB, endless=True), 0, 0, -1
    for count in counts:
        log.take("".join(f"iter {n + k}: loss 2.0000, time 10.00ms, mfu 40.00%\n" for k in range(count)).encode(), float(n))
        n += count
        steps = [point.step for point in log.points_since(seen)]
        seen = log.reader.curve.points_seen
        newest = list(range(max(n - count, n - 256), n))
        assert steps[-len(newest) :] == newest and steps == sorted(set(steps)) and steps[0] > last
        last = n - 1
    assert log.points_since(seen) == () and len(log.reader.curve.points) <= 2000
