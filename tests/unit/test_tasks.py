"""Do the built-in tasks run on old nodes, by themselves, and say so when PyTorch is not there?"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.task import variable
from gpulease_gui.facts.fact import read, readers, recognise
from gpulease_gui.services.plan import Choice, make_plan

TASKS = Path(__file__).resolve().parents[2] / "resources" / "tasks"
FILES = sorted(TASKS.glob("*.py"))
STANDARD = {"argparse", "ctypes", "json", "math", "os", "subprocess", "sys", "threading", "time"}


def imported(tree: ast.AST) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module).split(".")[0])
    return found


def test_that_there_are_three_tasks() -> None:
    assert [path.name for path in FILES] == ["gpu_copy.py", "matmul.py", "tiny_gpt.py"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_that_python_3_8_reads_a_task_and_that_it_imports_nothing_of_ours(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"), feature_version=(3, 8))
    assert imported(tree) <= STANDARD | {"torch", "numpy"}
    assert "GPULEASE_TASK" not in path.read_text("utf-8")  # the mark that ends it in its command


@pytest.mark.parametrize("fact_id", ["torch_matmul", "torch_copy", "torch_train", "torch_loader", "torch_soak"])
def test_that_a_node_without_pytorch_is_told_from_its_own_words(fact_id: str, tmp_path: Path) -> None:
    command = readers()[fact_id].fact.command
    assert command is not None
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -I "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(["/bin/sh", "-c", command.line], env=env, cwd=tmp_path, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr, recognise(done.stdout.decode())) == (3, b"", fact_id)
    (run,) = read(readers()[fact_id], CommandOutput(done.stdout, b"", 3)).runs
    assert run.head.code == "torch_absent"


def test_that_a_task_with_pytorch_says_what_the_reader_reads(torch_bin: Path) -> None:
    line = [str(torch_bin / "python3"), str(TASKS / "matmul.py"), "--device", "cpu", "--seconds", "1", "--kinds", "fp32", "--sizes", "64"]
    done = subprocess.run(line, capture_output=True, timeout=100, check=True)
    (run,) = read(readers()["torch_matmul"], CommandOutput(done.stdout)).runs
    assert run.head.complete and (run.rate("cpu", "fp32") or 0) > 0
    assert json.loads(done.stdout.splitlines()[0])["device"] == "cpu"


def test_that_copies_are_timed_before_anything_heats_the_cards() -> None:
    turns = [fact for rule in make_plan(Choice(heavy=True, sustained=True)).active for fact in rule.check.facts]
    copies = max(n for n, fact in enumerate(turns) if fact == "torch_copy")
    heat = [n for n, fact in enumerate(turns) if fact in ("torch_matmul", "torch_train", "torch_loader", "torch_soak")]
    assert copies < min(heat) and turns[-1] == "counters_after"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("HF_TOKEN", "x", True), ("DATABASE_URL", "postgres://u:S3cr3t@h/db", True), ("MYSQL_PWD", "x", True), ("SENTRY_DSN", "x", True),
        ("BASIC_AUTH", "a:b", True), ("GITHUB_PAT", "x", True), ("WHO", "ghp_abcdef", True), ("CERT", "-----BEGIN PRIVATE", True),
        ("SEED", "7", False), ("MASTER_ADDR", "tcp://10.0.0.1:29500", False), ("DATA", "s3://bucket/path@v1", False), ("PATH_TO", "/a:b@c", False),
    ],
)  # fmt: skip
def test_that_a_secret_is_known_by_its_name_or_its_value(name: str, value: str, secret: bool) -> None:
    assert variable(name, value).secret is secret
