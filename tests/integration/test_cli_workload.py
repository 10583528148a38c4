"""Does the workload command say and exit as scripts need it?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli.main import main

GPULEASE = (sys.executable, "-m", "gpulease_gui.cli.main")
STEPS = "".join(f"iter {n}: loss {9 - n / 30:.4f}, time {10 + n % 3:.2f}ms, mfu 40.00%\n" for n in range(30))
pytestmark = pytest.mark.skipif(os.name != "posix", reason="this computer is the node")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a task on this computer is unpacked."""
    folder = tmp_path / "home"
    (folder / "tmp").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder / "tmp"))
    return folder


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def gpulease(capsys: pytest.CaptureFixture[str]) -> Callable[..., Done]:
    """The command in this process: another one costs seconds."""

    def call(*words: str) -> Done:
        try:
            code = main(["workload", *words])
        except SystemExit as ended:
            code = int(str(ended.code))
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return call


def left(home: Path) -> list[Path]:
    return [*home.glob("gpulease*"), *home.glob("tmp/gpulease*")]


def test_that_a_script_runs_on_this_computer_and_its_json_says_all(home: Path, gpulease: Callable[..., Done], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "t.py"
    script.write_text(f"import os\nprint({STEPS!r}, end='')\nprint(os.environ['API_KEY'], os.environ['LR'])\n")
    monkeypatch.setenv("API_KEY", "sk-9f3ab1")
    done = gpulease(
        "run", "local", "--script", str(script), "--env", "API_KEY", "--env", "LR=1e-4", "--expect", "work.step_s=0.011", "--time-limit", "1m",
        "--no-watch", "--workspace", str(tmp_path / "w.db"), "--json",
    )  # fmt: skip
    whole: dict[str, Any] = json.loads(done.stdout)
    task = whole["task"]
    assert (done.returncode, whole["overall"], task["end"], task["exit_code"], task["clean"]) == (0, "pass", "finished", 0, True)
    assert task["size"] == {"bytes": script.stat().st_size, "entries": 1}
    assert task["reading"]["rates"]["s/step"]["median"] == 0.011 and len(task["reading"]["points"]) == 30
    assert task["environment"] == {"API_KEY": "•••", "LR": "1e-4"} and task["id"] == whole["run"]
    assert f"sends {script.stat().st_size:,} bytes in 1 files and folders" in done.stderr
    assert "sk-9f3ab1" not in done.stdout + done.stderr
    assert left(home) == []


def test_that_a_low_speed_is_a_warning_and_a_broken_task_inconclusive(home: Path, gpulease: Callable[..., Done], tmp_path: Path) -> None:
    script = tmp_path / "t.sh"
    script.write_text(f"cat <<'X'\n{STEPS}X\nexit $1\n")
    common = ("--no-watch", "--workspace", str(tmp_path / "w.db"))
    slow = gpulease("run", "local", "--script", str(script), "--command", "sh t.sh 0", "--expect", "work.step_s=0.005", *common)
    assert slow.returncode == 0 and "local: warn; 1 warn, 1 pass" in slow.stdout
    broken = gpulease("run", "local", "--script", str(script), "--command", "sh t.sh 4", "--expect", "work.step_s=0.011", *common)
    assert broken.returncode == 2 and "t.sh: failed (exit code 4)" in broken.stdout
    assert "again: gpulease workload run local --script" in broken.stdout


def test_that_an_interrupt_ends_the_task_cleanly(home: Path, tmp_path: Path, marker: Any) -> None:
    script = tmp_path / "t.sh"
    script.write_text(f"sleep {marker.seconds} & sleep {marker.seconds}\n")
    words = [*GPULEASE, "workload", "run", "local", "--script", str(script), "--no-watch", "--workspace", str(tmp_path / "w.db"), "--json"]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert marker.seen(2)
    client.send_signal(signal.SIGINT)
    out, _ = client.communicate(timeout=60)
    assert client.returncode == 130 and json.loads(out)["task"]["end"] == "cancelled" and json.loads(out)["task"]["clean"] is True
    assert marker.gone() and left(home) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "local"), "one of the arguments --script --folder --builtin is required"),
        (("run", "local", "--folder", "/no/such", "--command", "x"), "can't read /no/such"),
        (("run", "local", "--folder", "."), "a folder needs a command"),
        (("run", "local", "--builtin", "matmul", "--expect", "gpu.count=8"), "a task can't prove this"),
        (("run", "local", "--builtin", "matmul", "--expect", "work.tokens_s=lots"), "is no figure"),
        (("run", "local", "--builtin", "matmul", "--expect", "work.tokens_s"), "the contract does not state it"),
        (("run", "local", "--builtin", "matmul", "--time-limit", "soon"), "is no time"),
        (("run", "local", "--builtin", "matmul", "--network", "host"), "belong to --image"),
        (("run", "local", "--builtin", "matmul", "--env", "NOT_SET_ANYWHERE"), "there is no such variable here"),
        (("try-pattern", "--pattern", "(a+)+", "x"), "pattern"),
    ],
)
def test_that_a_wrong_call_is_one(gpulease: Callable[..., Done], tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    more = () if words[0] == "try-pattern" else ("--workspace", str(tmp_path / "w.db"))
    done = gpulease(*words, *more)
    assert done.returncode == 64 and said in done.stderr


def test_that_a_pattern_is_tried_on_a_log(gpulease: Callable[..., Done], tmp_path: Path) -> None:
    log = tmp_path / "own.log"
    log.write_text("".join(f"[{n}] took {1 + n % 2} s\n" for n in range(20)))
    unknown = gpulease("try-pattern", str(log))
    assert unknown.returncode == 2 and "no line of a known trainer" in unknown.stdout
    done = gpulease("try-pattern", "--pattern", r"\[(?P<step>\d+)\] took (?P<step_s>\d+) s", str(log), "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0 and (told["form"], told["steps"], told["rates"]["s/step"]["median"]) == ("own pattern", 20, 1.5)


def test_that_a_log_is_followed_until_its_time_is_over(home: Path, gpulease: Callable[..., Done], tmp_path: Path) -> None:
    (tmp_path / "run.log").write_text(STEPS)
    done = gpulease("log", "local", str(tmp_path / "run.log"), "--time-limit", "2s", "--expect", "work.step_s=0.011", "--no-watch", "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 0 and "run.log: time_limit" in done.stdout and "local: pass; 2 pass" in done.stdout
    assert left(home) == []
