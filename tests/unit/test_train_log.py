"""Is a training log read piece by piece in bounded memory, and can no pattern of the user hold the program up?"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator

import pytest

from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_faults import FaultKind
from gpulease_gui.facts.train_log import log_of, read_log
from gpulease_gui.facts.train_reader import LogReader


def lines(count: int, ms: float = 400.0) -> str:
    return "".join(f"iter {n}: loss {9.0 - n / count:.4f}, time {ms:.2f}ms, mfu 40.00%\n" for n in range(count))


def test_that_a_log_cut_anywhere_into_pieces_reads_the_same() -> None:
    text = lines(60) + "RuntimeError: CUDA error: device-side assert triggered\n"
    whole = read_log([text])
    for size in (1, 7, 61, 500):
        assert read_log(text[at : at + size] for at in range(0, len(text), size)) == whole
    assert [(f.kind, f.number) for f in whole.faults] == [(FaultKind.CUDA, 61)]


def test_that_memory_does_not_grow_with_the_log() -> None:
    piece = lines(1000)

    def long() -> Iterator[str]:
        for _ in range(20):
            yield piece
        yield "x" * 2_000_000  # a line without end

    tracemalloc.start()
    log = read_log(long())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert log.steps == 20_000 and log.cut_lines == 1
    assert peak < 24_000_000
    speed = log.speed(Unit.STEP_S)
    assert speed is not None and (speed.median, speed.n, speed.warmup) == (0.4, 19_800, 200)


def test_that_a_reader_tells_what_it_has_before_the_log_ends() -> None:
    reader = LogReader()
    reader.feed(lines(20)[:-9])
    assert (reader.form, reader.curve.steps, reader.curve.last_step) == ("nanoGPT", 19, 18)
    assert log_of(reader).steps == 19  # a torn line may end inside a number


OWN = r"\[epoch=\d+ \| batch=(?P<step>\d+)\] objective (?P<loss>[\d.]+|nan) after (?P<step_s>[\d.]+) seconds"


def test_that_an_unknown_trainer_is_read_by_the_users_own_pattern() -> None:
    text = "".join(f"[epoch=0 | batch={n}] objective {4.0 - n / 100:.2f} after {9.5 if n == 0 else 1.25} seconds\n" for n in range(30))
    with pytest.raises(Unreadable, match="no line of a known trainer"):
        read_log([text])
    log = read_log([text], OWN)
    assert (log.form, log.steps, log.last_step, log.first_loss, log.last_loss) == ("own pattern", 30, 29, 4.0, 3.71)
    assert [(r.unit, r.median, r.n) for r in log.rates] == [(Unit.STEP_S, 1.25, 27)]
    bad = read_log([text.replace("objective 3.71", "objective nan")], OWN)
    assert [(f.kind, f.number) for f in bad.faults] == [(FaultKind.NAN_LOSS, 30)]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(?P<loss>(\d+)+)$", "repeats a group"), (r"(?P<loss>(a|aa)+)$", "repeats a group"), (r"(?P<loss>\d+)(?=x)", "for ever"),
        (r"(?P<loss>\d+) \1", "for ever"), (r"\w+\s*\d+\s*\w+(?P<loss>\d+)", "repeats 6 things"), (r"(?P<loss>.*)x", "inside a group"), (r"(?P<loss>\d+", "no pattern"),
        (r"loss (\d+)", "names none"), (r"(?P<price>\d+)", "names price"), ("(?P<loss>a)" + "b" * 400, "characters"),
    ],
)  # fmt: skip
def test_that_a_pattern_that_could_take_for_ever_is_refused_in_words(pattern: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        LogReader(pattern)
    assert words in caught.value.what


@pytest.mark.parametrize("pattern", [r".*a.*b(?P<loss>\d+)", r"\w+\s*(?P<loss>[\d.]+)\s*x", r"(?P<step>\d+).*?(?P<loss>\d+).*?z"])
@pytest.mark.parametrize("line", ["a" * 1000, "1" * 1000, " 1" * 500, "ab" * 500])
def test_that_a_pattern_that_is_taken_ends_soon_on_any_line(pattern: str, line: str) -> None:
    reader = LogReader(pattern)
    begin = time.thread_time()
    try:
        reader.feed(line + "\n")
    except UsageError as error:
        assert "too long" in error.what
    assert time.thread_time() - begin < 2.0
