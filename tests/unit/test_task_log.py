"""What of a log is kept and read, wherever it is cut, and do its secrets stay out of it?"""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.workload import _expected, _task_spec, add_arguments
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import (
    ContainerTool,
    SourceKind,
    TaskContainer,
    TaskPoint,
    TaskSource,
    TaskSpec,
    TaskVariable,
    variable,
)
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.facts.train_log import LogAbout, TrainLog, head_line
from gpulease_gui.remote.task_wrap import TaskOrder, task_script
from gpulease_gui.services.composition import Services
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.series import Ring
from gpulease_gui.services.task_live import Pause
from gpulease_gui.services.task_log import Redactor, TaskLog
from gpulease_gui.services.task_spec import check_spec, command_of, repeat_command
from gpulease_gui.services.task_watch import gpu_use, stalls
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.task_log import values_of


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    made = Services(Workspace.open(tmp_path_factory.mktemp("s") / "w.gpulease"))
    yield made
    made.close()


SECRETS = ("hf_abcabcabd", "hf_abcabcabd-longer")


def lines(count: int) -> bytes:
    return b"".join(b"iter %d: loss %.4f, time 11.00ms, mfu 40.00%%\n" % (n, 9 - n / count) for n in range(count))


@pytest.mark.parametrize("size", [1, 2, 5, 11, 400])
def test_that_a_secret_is_found_wherever_the_stream_is_cut(size: int) -> None:
    text = b"a hf_abcabcabd b hf_abcabcabcabd c hf_abcabcabd-longer d hf_abcab"
    redactor = Redactor(SECRETS)
    clean = b"".join(redactor.feed(text[at : at + size]) for at in range(0, len(text), size)) + redactor.flush()
    assert clean.decode() == "a ••• b hf_abcabcabcabd c ••• d hf_abcab" if size > 18 else b"abd" not in clean.replace(b"bcabcabcabd", b"")


def test_that_nothing_is_held_back_that_begins_no_secret() -> None:
    redactor = Redactor(SECRETS)
    assert redactor.feed(b"step 1\n") == b"step 1\n"
    assert redactor.feed(b"step 2 h") == b"step 2 "
    assert Redactor(()).feed(b"hf_") == b"hf_"


def test_that_the_middle_of_a_long_log_is_left_out_and_a_torn_number_never_read() -> None:
    whole = lines(400)
    log = TaskLog("", (), 4096, 2048)
    log.take(whole[:3000], 1.0)
    log.take(whole[3000:4096] + whole[-2048:], 2.0)
    log.end(len(whole) - 4096 - 2048)
    torn = whole[-2048:].index(b"\n") + 1
    left_out = len(whole) - 4096 - 2048 + torn
    assert log.left_out_bytes == left_out
    assert log.kept == whole[:4096] + b"\n[%d bytes of the log were not kept here]\n" % left_out + whole[-2048 + torn :]
    kept = log.kept.count(b"\niter ") + 1
    assert log.reader.curve.steps in (kept, kept - 1) and log.reader.curve.last_step == 399


def test_that_a_log_that_fits_is_whole_whatever_comes_as_its_tail() -> None:
    whole = lines(100)
    log = TaskLog("", (), 1000, 100_000)
    for at in range(0, len(whole), 77):
        log.take(whole[at : at + 77], at / 1000)
    log.end(0)
    assert (log.kept, log.left_out_bytes, log.reader.curve.steps) == (whole, 0, 100)


def test_that_a_followed_log_is_read_to_its_end_and_kept_in_part() -> None:
    whole = lines(2000)
    log = TaskLog("", (), 10_000, 5_000, endless=True)
    for at in range(0, len(whole), 1000):
        log.take(whole[at : at + 1000], at / 1000)
    log.end(0)
    assert log.reader.curve.steps == 2000
    assert log.kept.startswith(whole[:10_000]) and log.kept.endswith(whole[-5_000:]) and log.left_out_bytes > 30_000
    assert log.reader.curve.points[0].step == 0 and len(log.reader.curve.points) <= 2000


def again(about: LogAbout, log: bytes, code: int | None = 0) -> TrainLog:
    found = read(readers()["train_log"], CommandOutput(head_line(about) + log, b"", code))
    assert isinstance(found, TrainLog)
    return found


def test_that_a_stored_log_is_read_again_as_it_was() -> None:
    own = "".join(f"batch {n} took {1 + n % 2} s\n" for n in range(20)).encode()
    about = LogAbout("finished", 0, 5, (("GPU-1", 93.5),), r"batch (?P<step>\d+) took (?P<step_s>\d+) s")
    assert again(about, own).about == about and again(about, own).steps == 20
    # An end that no other output survives: killed, not seen, the time over.
    for code in (None, 124, 137):
        assert again(LogAbout("time_limit"), lines(30), code).steps == 30
    with pytest.raises(Unreadable) as short:
        again(LogAbout("failed"), lines(1), 1)
    assert (short.value.code, short.value.reason) == ("task_failed", "the task broke off with exit code 1 before its speed could be told")
    with pytest.raises(Unreadable) as cut:
        again(LogAbout("cut"), b"", None)
    assert cut.value.code == "connection_lost"


def test_that_a_log_cannot_pretend_to_be_read_with_a_dangerous_pattern() -> None:
    found = again(LogAbout(pattern="(?P<loss>(a+)+)"), lines(30))
    assert (found.about, found.form) == (LogAbout(), "nanoGPT")
    with pytest.raises(Unreadable):
        read(readers()["train_log"], CommandOutput(b"# gpulease log {\n" + b"x\n"))


def spec(**more: object) -> TaskSpec:
    source = TaskSource(SourceKind.FOLDER, "/tasks/my task")
    return TaskSpec("own", source, **{"command": "python3 train.py --lr '1e-4'", **more})  # type: ignore[arg-type]


NODE = Node("n", "n", address=Address("203.0.113.9", 2222))


def test_that_the_line_that_repeats_a_task_holds_all_but_its_secrets() -> None:
    made = spec(environment=(variable("HF_TOKEN", "hf_1"), variable("LR", "1 2")), serves=(("work.tokens_s", 12000),), keep_folder=True,
                container=TaskContainer("team/x:1", network="host"), pattern="loss (?P<loss>.)")  # fmt: skip
    assert repeat_command(NODE, made) == (
        "gpulease workload run root@203.0.113.9:2222 --folder '/tasks/my task' --name=own '--command=python3 train.py --lr '\"'\"'1e-4'\"'\"'' "
        "--env HF_TOKEN=••• --env 'LR=1 2' --image team/x:1 --network host --keep --scratch-gib 8 --time-limit 1200s "
        "'--pattern=loss (?P<loss>.)' --expect work.tokens_s=12000"
    ).replace("HF_TOKEN=•••", "'HF_TOKEN=•••'")
    assert "hf_1" not in repr(made) and made.hidden().environment[0] == TaskVariable("HF_TOKEN", "•••")


@pytest.mark.parametrize(
    "more",
    [
        {}, {"name": "--my; task"}, {"time_limit_s": 61}, {"keep_folder": True}, {"scratch_gib": 0.123456789}, {"pattern": "-x '(?P<loss>[$`\"]*)"},
        {"command": "-c 'echo $HOME; exit 3'"}, {"environment": (variable("A", "1 '$(x)'\n"), variable("B", ""))}, {"serves": (("work.tokens_s", 1234567.5),)},
        {"container": TaskContainer("reg:5/x@sha256:ab", ContainerTool.PODMAN, "none")}, {"source": TaskSource(SourceKind.BUILTIN, "matmul")},
    ],
)  # fmt: skip
def test_that_the_line_that_repeats_a_task_makes_the_same_task(more: dict[str, object], services: Services) -> None:
    made = replace(spec(), **more)  # type: ignore[arg-type]
    words = shlex.split(repeat_command(NODE, made, contract_id="c1", watch=False))
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    options = parser.parse_args(words[2:])
    assert words[:2] == ["gpulease", "workload"] and (options.target, options.contract, options.no_watch) == (NODE.target, "c1", True)
    serves = tuple(_expected(services, one, {}) for one in options.expect)
    assert replace(_task_spec(options), serves=serves) == made


def test_that_the_dots_of_a_secret_are_never_taken_for_its_value() -> None:
    for kept in (TaskVariable("HF_TOKEN", "•••"), variable("HF_TOKEN", "•••")):
        with pytest.raises(UsageError, match="stand for a secret"):
            check_spec(spec(environment=(kept,)), load_catalogue())


_HEADS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=8
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["end", "left_out_bytes", "gpu_use", "pattern", "stalls"]), _HEADS))
@example({"gpu_use": 5})
@example({"gpu_use": [["a", "x"]]})
@example({"stalls": [[1, 2]]})
@example({"left_out_bytes": 1e400})
@example({"pattern": "(a+)+"})
@settings(max_examples=60, deadline=None)
def test_that_a_forged_first_line_breaks_no_reading(told: dict[str, object]) -> None:
    head = f"# gpulease log {json.dumps(told)}\n".encode()
    try:
        read(readers()["train_log"], CommandOutput(head + lines(30)))
    except Unreadable as error:
        assert error.reason


@pytest.mark.parametrize("head", ['{"gpu_use": 5}', '{"gpu_use": [["a", "x"]]}', '{"stalls": [[1, 2]]}', '{"end": 5}', "[]", "{", '{"pattern": "(a+)+"}'])
def test_that_a_wrong_first_line_is_a_line_of_the_log(head: str) -> None:
    found = read(readers()["train_log"], CommandOutput(f"# gpulease log {head}\n".encode() + lines(30)))
    assert isinstance(found, TrainLog) and (found.steps, found.lines, found.about) == (30, 31, LogAbout())


def test_that_a_script_knows_its_command() -> None:
    assert command_of(TaskSpec("s", TaskSource(SourceKind.SCRIPT, "/x/my train.py"))) == "python3 'my train.py'"
    assert command_of(TaskSpec("s", TaskSource(SourceKind.SCRIPT, "/x/run.bin"))) == "./run.bin"
    assert command_of(TaskSpec("m", TaskSource(SourceKind.BUILTIN, "matmul"), "--kinds bf16")) == "python3 matmul.py --kinds bf16"


@pytest.mark.parametrize(
    "more",
    [{"command": " "}, {"time_limit_s": 0}, {"scratch_gib": 0.0}, {"pattern": "(a+)+"}, {"serves": (("gpu.count", 8),)},
     {"environment": (variable("A B", "1"),)}, {"environment": (variable("IFS", "1"),)}, {"environment": (TaskVariable("A", "x\0y"),)},
     {"container": TaskContainer("-v/:/host")}, {"container": TaskContainer("a b")}, {"container": TaskContainer("a", network="x y")},
     {"source": TaskSource(SourceKind.BUILTIN, "miner")}, {"source": TaskSource(SourceKind.LOG, "a\nb")}],
)  # fmt: skip
def test_that_what_cannot_be_run_is_refused_before_anything_is_sent(more: dict[str, object]) -> None:
    whole = {"source": TaskSource(SourceKind.FOLDER, "/t"), "command": "true", **more}
    with pytest.raises(UsageError):
        check_spec(TaskSpec("own", **whole), load_catalogue())  # type: ignore[arg-type]


def test_that_words_of_the_user_stay_words_in_the_program() -> None:
    order = TaskOrder("r1", "echo '$(x)' @START@ @EXPORTS@", environment=(TaskVariable("A", Secret("'; touch /tmp/owned; '@START@")),))
    text = task_script("0" * 32, order).decode()
    assert """CMD='echo '"'"'$(x)'"'"' @START@ @EXPORTS@'\n""" in text
    assert """  A=''"'"'; touch /tmp/owned; '"'"'@START@'\n  export A\n""" in text
    with pytest.raises(UsageError):
        task_script("0" * 32, TaskOrder("r1; x", "true"))


def test_that_a_log_that_stands_still_while_no_gpu_works_is_a_stall_with_its_line() -> None:
    found = again(LogAbout("finished", 0, stalls=((12, 35, 11),)), lines(30) + b"RuntimeError: CUDA error: unknown error\n")
    assert [(str(f.kind), f.number) for f in found.faults] == [("loader_stall", 12), ("cuda_error", 31)]
    assert found.faults[0].line == "(no progress for 35 s after step 11, and no GPU at work)"


@pytest.mark.parametrize(("second_idle", "found"), [(True, ((7, 30, 6),)), (False, ())])
def test_that_only_a_pause_in_which_no_gpu_works_is_a_stall(second_idle: bool, found: tuple[object, ...]) -> None:
    rings = {("gpu.util_percent", "GPU-1"): Ring(), ("gpu.util_percent", "GPU-2"): Ring(), ("gpu.power_w", "GPU-1"): Ring()}
    for n in range(60):
        for (_, uuid), ring in rings.items():
            idle = 20 <= n < 50 and (uuid == "GPU-1" or second_idle)
            ring.append(1000.0 + n, 1.0 if idle else 95.0)
    view = WatchView("n", 1.0, rings=rings)
    pauses = (Pause(7, 6, 1020.0, 1049.6), Pause(3, 2, 1000.0, 1018.0), Pause(9, 8, 2000.0, 2030.0))
    assert stalls(view, pauses) == found
    assert stalls(None, pauses) == () and gpu_use(None, 0, 9e9) == ()
    assert gpu_use(view, 1000.0, 1018.0) == (("GPU-1", 95.0), ("GPU-2", 95.0))


def test_that_a_speed_below_nought_is_no_figure_of_a_curve() -> None:
    """One was drawn, and lay in the mean of a range, while the verdict left it out."""
    told = TaskPoint(1.0, 7, -0.5, (("tokens/s", -5000.0), ("samples/s", 0.0), ("s/step", float("nan"))))
    assert values_of(told) == {"task.samples_s": 0.0, "task.loss": -0.5}
