"""Does the command line verify many nodes as the window does, with the same rule for a second round?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

DEAD = "root@127.0.0.1:1"


def gpulease(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpulease_gui.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ, check=False)


def test_that_several_nodes_are_verified_and_a_second_round_asks_only_the_rest(tmp_path: Path) -> None:
    path = str(tmp_path / "d.db")
    first = gpulease("verify", "demo:ascend", "demo:capped", "--workspace", path, "--json")
    found = json.loads(first.stdout)
    assert [node["target"] for node in found["nodes"]] == ["demo:ascend", "demo:capped"]
    assert [node["overall"] for node in found["nodes"]] == ["pass", "fail"] and first.returncode == 1
    assert first.stderr.splitlines()[0] == "2 nodes: ascend, capped"
    rest = gpulease("verify", "demo:ascend", "demo:capped", "--rest", "--workspace", path, "--json")
    again = json.loads(rest.stdout)
    assert again["kept"] == ["ascend", "capped"] and again["nodes"] == []
    assert again["overall"] == {"ascend": "pass", "capped": "fail"} and rest.returncode == 1


def test_that_the_rest_of_a_level_is_what_that_level_lacks_and_other_terms_are_asked_anew(tmp_path: Path) -> None:
    path, terms = str(tmp_path / "d.db"), tmp_path / "other.toml"
    both = ("verify", "demo:ascend", "demo:honest", "--workspace", path, "--json", "--level", "trust")
    first, rest = (json.loads(gpulease(*both, *more).stdout) for more in ((), ("--rest",)))
    assert {tuple(lines) for lines in first["changed"].values()} == {("this is the first run",)}
    assert rest["kept"] == ["ascend", "honest"] and rest["overall"] == {node["target"].removeprefix("demo:"): node["overall"] for node in first["nodes"]}
    again = json.loads(gpulease(*both).stdout)
    assert not any("first run" in line for lines in again["changed"].values() for line in lines)
    terms.write_text('"gpu.count" = 4\n', encoding="utf-8")
    other = json.loads(gpulease(*both, "--rest", "--terms", str(terms)).stdout)
    assert other["kept"] == [] and len(other["nodes"]) == 2


def test_that_a_node_that_is_not_reached_is_told_and_is_the_rest(tmp_path: Path) -> None:
    path = str(tmp_path / "w.db")
    for words in ([DEAD, "root@127.0.0.1:2"], ["--all", "--rest"]):
        done = gpulease("verify", *words, "--workspace", path, "--json")
        assert done.returncode == 3, done.stderr
        assert [node["error"]["phase"] for node in json.loads(done.stdout)["nodes"]] == ["tcp", "tcp"] or (
            "--identity" in done.stdout
        )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name TARGETs, or --all"),
        ([DEAD, "--all"], "name TARGETs, or --all"),
        ([DEAD, "demo:honest"], "never verified together"),
        ([DEAD, DEAD], "named twice"),
        ([DEAD, "--rest"], "--rest belongs to several nodes"),
        ([DEAD, "local", "--peer", "root@127.0.0.1:2"], "--peer belongs to one TARGET"),
        (["--all", "--rest", "--within", "0"], "out of range"),
    ],
)
def test_that_a_wrong_call_is_told(words: list[str], said: str, tmp_path: Path) -> None:
    done = gpulease("verify", *words, "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64 and said in done.stderr
