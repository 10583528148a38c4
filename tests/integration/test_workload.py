"""Tasks over a real sshd: whatever happens, the state is right and no process and no file is left on the node."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.task import (
    SourceKind,
    TaskContainer,
    TaskEnd,
    TaskPhase,
    TaskProgress,
    TaskSource,
    TaskSpec,
    variable,
)
from gpulease_gui.remote.task import run_task
from gpulease_gui.remote.task_pack import pack_folder
from gpulease_gui.remote.task_wrap import TaskOrder
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.task_runs import TaskOutcome, TaskRequest
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.task_runs import get_task_run
from tests.integration.conftest import wait_until

# A loaded machine of two cores takes its time: each wait ends with its condition, these limits are for a hang only.
pytestmark = [pytest.mark.sshd, pytest.mark.timeout(300)]
PATIENCE_S = 90

TRAINING = """
import os, sys, time
for n in range(30):
    print(f"iter {n}: loss {9 - n / 30:.4f}, time {10 + n % 3:.2f}ms, mfu 40.00%", flush=True)
    time.sleep(float(os.environ.get("PAUSE", "0.01")))
print("token", os.environ.get("HUB_TOKEN"))
"""


@pytest.fixture
def services(tmp_path: Path, sshd: Any) -> Iterator[Services]:
    found = open_services(tmp_path / "w.db", fingerprints=tuple(key.fingerprint for key in sshd.keys.host_keys()))
    yield found
    found.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "task folder"
    made.mkdir()
    (made / "train.py").write_text(TRAINING)
    return made


def left_on(server: Any) -> list[str]:
    """Files and processes of sessions on a server."""
    mark = f"HOME={server.home}".encode()
    found = [str(path) for path in (*server.home.iterdir(), *server.folder.glob("tmp/*"))]
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes():
                found.append((path.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def command_lines() -> list[bytes]:
    """How the processes of this machine were started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(path.read_bytes())
    return found


class Tasks:
    """Runs commands on a node and looks at what is left there."""

    def __init__(self, services: Services, server: Any, folder: Path) -> None:
        self.services, self.server, self.folder = services, server, folder
        self.node: Node = node_of(services.workspace, str(server.address), server.key_file)
        self.cancel = CancelToken()
        self.told: list[TaskProgress] = []

    def spec(self, command: str, **more: Any) -> TaskSpec:
        return TaskSpec("own", TaskSource(SourceKind.FOLDER, str(self.folder)), command, **{"time_limit_s": 240, **more})

    def run(self, command: str, **more: Any) -> TaskOutcome:
        return self.go(self.spec(command, **more))

    def go(self, spec: TaskSpec) -> TaskOutcome:
        return self.services.tasks.run(self.node, TaskRequest(spec, watch=False), self.cancel, self.told.append)

    def beside(self, command: str, **more: Any) -> tuple[threading.Thread, list[TaskOutcome]]:
        found: list[TaskOutcome] = []
        thread = threading.Thread(target=lambda: found.append(self.run(command, **more)))
        thread.start()
        return thread, found

    def log_of(self, outcome: TaskOutcome) -> bytes:
        with self.services.workspace.read() as connection:
            return get_content(connection, str(outcome.task.log_sha256))

    @property
    def left(self) -> list[str]:
        return left_on(self.server)


@pytest.fixture
def node(make_sshd: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """A server of the test's own, with the folder `tools` before its PATH."""

    def make(tools: Path) -> Any:
        temp = tmp_path / "sshd0" / "tmp"
        server = make_sshd(env={"PATH": f"{tools}:{os.environ['PATH']}", "TMPDIR": str(temp)})
        temp.mkdir()
        return server

    return make


@pytest.fixture
def tasks(services: Services, own_tmp_sshd: Any, folder: Path) -> Tasks:
    return Tasks(services, own_tmp_sshd, folder)


def test_that_an_own_script_runs_live_is_judged_and_leaves_nothing(tasks: Tasks) -> None:
    found = tasks.run("python3 train.py", environment=(variable("PAUSE", "0.03"),), serves=(("work.step_s", 0.011),))
    task = found.task
    assert (task.end, task.exit_code, task.clean, task.left_processes) == (TaskEnd.FINISHED, 0, True, 0)
    assert task.reading is not None and task.reading.form == "nanoGPT" and len(task.reading.points) == 30
    assert [(f.check, f.term, str(f.verdict)) for f in found.outcome.findings] == [
        ("work.task", "work.step_s", "pass"), ("work.task", None, "pass"),
    ]  # fmt: skip
    assert str(found.outcome.overall) == "pass"
    phases = list(dict.fromkeys(p.phase for p in tasks.told))
    assert phases == [TaskPhase.QUEUED, TaskPhase.SENDING, TaskPhase.RUNNING, TaskPhase.COLLECTING]
    assert sum(len(p.points) for p in tasks.told) == 30
    running = [p.seconds for p in tasks.told if p.phase is TaskPhase.RUNNING]
    assert len(running) > 2 and all(b - a > 0.15 for a, b in zip(running[1:], running[2:], strict=False))
    with tasks.services.workspace.read() as connection:
        assert get_task_run(connection, task.id).reading == task.reading
    assert tasks.left == []


def test_that_a_secret_reaches_the_task_and_stands_nowhere_else(tasks: Tasks, tmp_path: Path, marker: Any) -> None:
    secret = "hf_WqPlmZ8823kk"
    seen = tmp_path / "seen"
    thread, found = tasks.beside(
        f"python3 train.py; sleep {marker.seconds} & while ! [ -e '{seen}' ]; do sleep 0.02; done; kill $!",
        environment=(variable("HUB_TOKEN", secret), variable("PAUSE", "0")), serves=(("work.step_s", 0.011),),
    )  # fmt: skip
    assert marker.seen(1, PATIENCE_S)
    assert not any(secret.encode() in words for words in command_lines())
    seen.touch()
    thread.join()
    task = found[0].task
    assert task.end is TaskEnd.FINISHED and str(found[0].outcome.overall) == "pass"
    log = tasks.log_of(found[0])
    assert "token •••\n".encode() in log and secret.encode() not in log
    assert secret not in repr(found) and secret not in repr(tasks.told) and "•••" in task.repeat_command
    tasks.services.close()
    assert not [p for p in tmp_path.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]


def test_that_a_cancel_is_clean(tasks: Tasks, marker: Any) -> None:
    thread, found = tasks.beside(f"(sleep {marker.seconds} &) ; echo begun; sleep {marker.seconds}")
    assert marker.seen(2, PATIENCE_S)
    tasks.cancel.cancel()
    thread.join(PATIENCE_S)
    assert (found[0].task.end, found[0].task.clean, found[0].outcome.cancelled) == (TaskEnd.CANCELLED, True, True)
    assert marker.gone() and tasks.left == [] and b"begun\n" in tasks.log_of(found[0])


class CancelsAt:
    """Ears that cancel a task in the middle of its large file: once `part` lies on the node."""

    def __init__(self, cancel: CancelToken, part: Callable[[], list[Path]]) -> None:
        self.cancel, self.part = cancel, part
        self.seen: list[Path] = []

    def sent(self, size_bytes: int) -> None:
        if size_bytes > 6 * 1024 * 1024 and not self.seen:
            assert wait_until(self.part, PATIENCE_S)
            self.seen = self.part()
            self.cancel.cancel()

    def started(self) -> None: ...

    def log(self, data: bytes) -> None: ...

    def tick(self) -> None: ...

    def stopping(self) -> None: ...


def test_that_a_cancel_in_the_middle_of_a_large_file_leaves_no_part_of_it(own_tmp_sshd: Any, folder: Path, tasks: Tasks) -> None:
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    pack = pack_folder(folder)
    ears = CancelsAt(CancelToken(), lambda: [path for path in own_tmp_sshd.folder.rglob("weights.bin") if path.stat().st_size])
    with own_tmp_sshd.connect() as session:
        order = TaskOrder("r1", "cat weights.bin", pack.stream_bytes, large=pack.large)
        report = run_task(session, order, pack.blocks(), ears, ears.cancel)
        assert session.alive
    assert len(ears.seen) == 1 and pack.large[0].name == "weights.bin"
    assert (report.why, report.cancelled) == ("cancelled", True)
    assert tasks.left == [] and not list(own_tmp_sshd.folder.rglob("weights.bin"))


HIDING = """
(setsid sh -c 'env -i sh -c "cd /; (setsid env -i sleep MARK </dev/null >/dev/null 2>&1 &)"' &)
(env -i setsid sleep MARK </dev/null >/dev/null 2>&1 &)
(trap '' TERM HUP INT; sleep MARK; sleep MARK) &
python3 -c 'import os, time
for n in range(2):
    if os.fork(): os._exit(0)
    os.setsid()
os.chdir("/"); os.execve("/bin/sleep", ["sleep", "MARK"], {})' &
while ! [ "$(grep -ls MARK /proc/[0-9]*/cmdline | wc -l)" -ge 6 ]; do sleep 0.1; done
"""


def test_that_what_forks_and_hides_is_found_and_ended(tasks: Tasks, marker: Any) -> None:
    found = tasks.run(HIDING.replace("MARK", marker.seconds) + "exit 7")
    assert (found.task.end, found.task.exit_code, found.task.clean) == (TaskEnd.FAILED, 7, True)
    assert found.task.left_processes >= 4
    assert marker.gone() and tasks.left == []


def test_that_a_node_without_python_finds_them_by_their_marks(services: Services, node: Callable[..., Any], folder: Path, tmp_path: Path, marker: Any) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    # Its tool folders stand before the real ones: python3 is there, and broken.
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    tasks = Tasks(services, node(tools), folder)
    found = tasks.run(f"(setsid sleep {marker.seconds} &); (cd / && sleep {marker.seconds} &); seq 1 400000; echo over; exit 5")
    assert (found.task.exit_code, found.task.clean, found.task.log_left_out) == (5, True, 0)
    assert tasks.log_of(found).endswith(b"400000\nover\n")
    assert marker.gone() and tasks.left == []


def test_that_a_cut_line_ends_the_task_on_the_node(tasks: Tasks, marker: Any, until: Callable[..., bool]) -> None:
    thread, found = tasks.beside(f"setsid sleep {marker.seconds} & sleep {marker.seconds}")
    assert marker.seen(2, PATIENCE_S)
    tasks.server.cut_sessions()
    thread.join(PATIENCE_S)
    assert found[0].task.end is TaskEnd.CUT and found[0].outcome.error is not None and found[0].task.clean is None
    assert marker.gone(PATIENCE_S) and until(lambda: not tasks.left, PATIENCE_S)


def test_that_a_client_that_is_killed_leaves_nothing_on_the_node(own_tmp_sshd: Any, folder: Path, tmp_path: Path, marker: Any, until: Callable[..., bool]) -> None:
    server = own_tmp_sshd
    fingerprint = next(key.fingerprint for key in server.keys.host_keys())
    client = subprocess.Popen(
        [sys.executable, "-m", "gpulease_gui.cli.main", "workload", "run", str(server.address), "--identity", server.key_file, "--fingerprint", fingerprint,
         "--folder", str(folder), "--command", f"sleep {marker.seconds}", "--workspace", str(tmp_path / "k.db"), "--no-watch"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        # The client itself names the duration, too.
        assert marker.seen(3, PATIENCE_S)
    finally:
        client.send_signal(signal.SIGKILL)
        client.wait()
    assert marker.gone(PATIENCE_S) and until(lambda: not left_on(own_tmp_sshd), PATIENCE_S)


def test_that_a_log_without_an_end_fills_nothing_and_waits_for_nobody(tasks: Tasks) -> None:
    begin, before_kib = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = tasks.run("python3 train.py; yes some words that a chatty task repeats | head -c 200000000; echo; python3 train.py", environment=(variable("PAUSE", "0"),))
    assert found.task.end is TaskEnd.FINISHED
    assert found.task.log_bytes == pytest.approx(200_003_000, abs=2000)
    log = tasks.log_of(found)
    assert found.task.log_left_out == pytest.approx(179e6, abs=2e6) and len(log) < 21 << 20
    assert log.endswith(b"token None\n") and b"bytes of the log were not kept here]\n" in log
    # The head and the tail were read: the training before the flood and the one behind it.
    assert found.task.reading is not None and found.task.reading.steps == 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 100 << 10
    assert time.monotonic() - begin < 90
    assert tasks.left == []


def test_that_a_task_that_writes_ten_gigabytes_is_stopped_at_its_limit(tasks: Tasks) -> None:
    many = "for i in $(seq 1 1000); do head -c 10485760 /dev/zero >f$i; sleep 0.05; done"
    found = tasks.run(many, scratch_gib=0.0625)
    assert (found.task.end, found.task.clean) == (TaskEnd.OUT_OF_SPACE, True) and tasks.left == []
    one = tasks.run("truncate -s 10G sparse || exec dd if=/dev/zero of=whole bs=1M count=10240", scratch_gib=0.0625)
    assert (one.task.end, one.task.clean) == (TaskEnd.OUT_OF_SPACE, True) and tasks.left == []


def test_that_a_folder_is_kept_on_request_and_said(tasks: Tasks) -> None:
    found = tasks.run("echo result >out.txt; echo $TMPDIR; touch $TMPDIR/t", keep_folder=True)
    kept = Path(found.task.kept_folder)
    assert (kept / "work" / "out.txt").read_text() == "result\n" and not (kept / "tmp").exists()
    assert found.task.kept_bytes > 0 and found.task.clean
    subprocess.run(found.task.remove_command, shell=True, check=True)
    assert tasks.left == []


@pytest.mark.parametrize(
    ("command", "end", "code", "words"),
    [
        ("no-such-program --help", TaskEnd.NO_TOOL, 127, "no-such-program: not found"),
        ("kill -SEGV $$", TaskEnd.FAILED, 139, "SIGSEGV"),
        ("echo broken >&2; exit 9", TaskEnd.FAILED, 9, "exit code 9: broken"), ("sleep 600", TaskEnd.TIME_LIMIT, None, "its time was over"),
    ],
)
def test_that_each_end_has_its_words(tasks: Tasks, command: str, end: TaskEnd, code: int | None, words: str) -> None:
    found = tasks.run(command, time_limit_s=1 if end is TaskEnd.TIME_LIMIT else 240)
    assert (found.task.end, found.task.exit_code) == (end, code)
    assert words in found.task.reason.en
    assert {str(f.verdict) for f in found.outcome.findings} == {"inconclusive"}


def test_that_a_built_in_task_on_a_node_without_torch_is_inconclusive_with_the_install_line(services: Services, node: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f"#!/bin/sh\nexec {sys.executable} -S \"$@\"\n")  # without any packages
    (tools / "python3").chmod(0o755)
    tasks = Tasks(services, node(tools), folder)
    found = tasks.go(TaskSpec("gpt", TaskSource(SourceKind.BUILTIN, "tiny_gpt"), time_limit_s=240))
    assert found.task.end is TaskEnd.NO_TOOL and found.task.clean
    assert [(f.check, str(f.verdict), f.reason_code) for f in found.outcome.findings] == [("work.train", "inconclusive", "torch_absent")]
    assert "pip install torch" in found.outcome.findings[0].next_step.en


def test_that_nothing_leaves_a_folder_and_nothing_odd_is_sent(tasks: Tasks, tmp_path: Path) -> None:
    inside = tasks.folder / "sub dir" / "-rf"
    inside.mkdir(parents=True)
    (inside / "$(touch owned) `x` 'q' \"d\" 数据.txt").write_text("quoted")
    assert b"quoted" in tasks.log_of(tasks.run("cat -- 'sub dir'/-rf/*; ls -la; find . -name owned"))
    (tasks.folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(UsageError, match="link is a link"):
        tasks.run("cat link")
    (tasks.folder / "link").unlink()
    os.mkfifo(tasks.folder / "pipe")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        tasks.run("true")
    (tasks.folder / "pipe").unlink()
    with socket.socket(socket.AF_UNIX) as sock:
        os.chdir(tasks.folder)
        sock.bind("sock")
        os.chdir(Path(__file__).parent)
        with pytest.raises(UsageError, match="neither a file nor a folder"):
            tasks.run("true")
    (tasks.folder / "sock").unlink()
    (tasks.folder / "a\nb\x1b[2J").write_text("x")
    with pytest.raises(UsageError, match="control characters"):
        tasks.run("true")


DOCKER = """#!/bin/sh
# Stands in for docker: a container is a folder below $STATE, its processes live outside of the caller's tree.
echo "$0 $*" >>"STATE/calls"
verb=$1
shift
case $verb in
  run)
    while [ "$1" != --entrypoint ]; do
      case $1 in --name) name=$2 ;; -v) case $2 in *:/gpulease/work) work=${2%%:*} ;; esac ;; esac
      shift
    done
    shift 4
    mkdir "STATE/$name" && env -i PATH="$PATH" HUB_TOKEN="$HUB_TOKEN" setsid sh -c "echo \\$\\$ >STATE/$name/pid; cd $work && exec sh -c '$1'" &
    wait $!
    code=$?
    rm -rf "STATE/$name"
    exit $code ;;
  rm)
    [ -e "STATE/$2/pid" ] && kill -KILL -"$(cat "STATE/$2/pid")"
    rm -rf "STATE/$2" ;;
  ps) ls STATE | grep gpulease ;;
esac
"""


def test_that_a_container_gets_the_task_and_is_removed_in_any_case(services: Services, node: Callable[..., Any], folder: Path, tmp_path: Path, marker: Any) -> None:
    tools, state = tmp_path / "tools", tmp_path / "state"
    tools.mkdir()
    state.mkdir()
    (tools / "docker").write_text(DOCKER.replace("STATE", str(state)))
    (tools / "docker").chmod(0o755)
    tasks = Tasks(services, node(tools), folder)
    box = TaskContainer("registry.example/team/train:1.2", network="host")
    secret = (variable("HUB_TOKEN", "hf_geheim123"),)
    found = tasks.run("python3 train.py", container=box, environment=secret)
    assert (found.task.end, found.task.clean) == (TaskEnd.FINISHED, True)
    assert found.task.environment.container == "docker registry.example/team/train:1.2"
    assert b"iter 29" in tasks.log_of(found) and "token •••".encode() in tasks.log_of(found)
    calls = (state / "calls").read_text()
    assert f"--name gpulease-{found.task.id}" in calls and "--log-driver none" in calls and "--network host" in calls
    assert "-e HUB_TOKEN " in calls and "geheim" not in calls
    thread, ended = tasks.beside(f"sleep {marker.seconds}", container=box)
    assert marker.seen(1, PATIENCE_S)
    tasks.cancel.cancel()
    thread.join(PATIENCE_S)
    assert (ended[0].task.end, ended[0].task.clean) == (TaskEnd.CANCELLED, True)
    assert marker.gone() and [p.name for p in state.iterdir()] == ["calls"] and tasks.left == []


def test_that_a_node_without_room_is_said_before_anything_is_sent(services: Services, node: Callable[..., Any], folder: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "df").write_text("#!/bin/sh\necho Filesystem 1024-blocks Used Available Capacity Mounted on\necho /dev/x 9000000 8900000 102400 99% /\n")
    (tools / "df").chmod(0o755)
    tasks = Tasks(services, node(tools), folder)
    found = tasks.run("true")
    assert (found.task.end, found.task.reason.en) == (TaskEnd.OUT_OF_SPACE, "the node has only 100 MiB free where it could go")
    assert all(p.phase is not TaskPhase.SENDING for p in tasks.told) and tasks.left == []


def test_that_a_container_without_its_tool_is_said(tasks: Tasks) -> None:
    found = tasks.run("true", container=TaskContainer("team/train:1", tool="podman"))  # type: ignore[arg-type]
    assert (found.task.end, found.task.reason.en, tasks.left) == (TaskEnd.NO_TOOL, "podman is not on the node", [])


def test_that_a_log_on_the_node_is_followed_over_rotation_and_truncation(tasks: Tasks, tmp_path: Path, until: Callable[..., bool]) -> None:
    log = tmp_path / "run log.txt"
    lines = [f"iter {n}: loss {9 - n / 30:.4f}, time {10 + n % 3:.2f}ms, mfu 40.00%\n" for n in range(30)]
    log.write_text("".join(lines[:10]))
    found: list[TaskOutcome] = []
    spec = TaskSpec("followed", TaskSource(SourceKind.LOG, str(log)), time_limit_s=240)
    thread = threading.Thread(target=lambda: found.append(tasks.go(spec)))
    thread.start()

    def seen() -> int:
        return sum(len(p.points) for p in tasks.told)

    assert until(lambda: seen() == 10, PATIENCE_S)
    log.rename(tmp_path / "run log.1")
    log.write_text("".join(lines[10:20]))
    assert until(lambda: seen() == 20, PATIENCE_S)
    with log.open("r+") as file:
        file.truncate(0)
    assert until(lambda: "cut short and begins anew" in tasks.told[-1].last_words, PATIENCE_S)
    with log.open("a") as file:
        file.write("".join(lines[20:]))
    assert until(lambda: seen() == 30, PATIENCE_S)
    tasks.cancel.cancel()
    thread.join(PATIENCE_S)
    task = found[0].task
    assert task.reading is not None and (task.end, task.clean, task.reading.steps) == (TaskEnd.CANCELLED, True, 30)
    assert not found[0].outcome.cancelled and tasks.left == []


def test_that_the_small_gpt_trains_live_and_on_processors_judges_no_gpu(services: Services, node: Callable[..., Any], folder: Path, torch_bin: Path) -> None:
    tasks = Tasks(services, node(torch_bin), folder)
    spec = TaskSpec("gpt", TaskSource(SourceKind.BUILTIN, "tiny_gpt"), "--steps 9 --seconds 240", (variable("OMP_NUM_THREADS", "1"),), 240)
    found = tasks.go(spec)
    task = found.task
    assert (task.end, task.clean, task.exit_code) == (TaskEnd.FINISHED, True, 0)
    assert task.environment.torch is not None and task.environment.torch.startswith("2.")
    assert task.reading is not None and task.reading.form == "GPULease task" and task.reading.steps == 9
    assert [rate.unit for rate in task.reading.rates] == ["tokens/s", "s/step", "TFLOP/s per GPU"]
    assert (task.reading.last_loss or 9) < (task.reading.first_loss or 0)
    assert [(f.check, str(f.verdict), f.reason_code) for f in found.outcome.findings] == [("work.train", "inconclusive", "no_gpu")]
    assert tasks.left == []
