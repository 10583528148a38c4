"""A stored run is judged again by other rules or another contract, without the node; the first answer stays."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKS = "gpu.count,gpu.model,power.limit,power.persistence,topo.matrix"


def gpulease(*words: str, tree: Path = ROOT, code: int = 0) -> str:
    """One command of the program as it lies in `tree`."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    command = [sys.executable, "-m", "gpulease_gui.cli.main", *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, cwd=tree)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    """A workspace with one run of a simulated node whose server is long gone."""
    path = tmp_path_factory.mktemp("rejudge") / "demo.db"
    return path, json.loads(gpulease("verify", "demo:honest", "--only", CHECKS, "--workspace", str(path), "--json"))


def rejudged(path: Path, *words: str, tree: Path = ROOT, code: int = 0) -> dict:
    return json.loads(gpulease("rejudge", *words, "--workspace", str(path), "--demo", "--json", tree=tree, code=code))


def test_that_the_same_rules_give_the_same_answer(stored: tuple[Path, dict]) -> None:
    path, report = stored
    again = rejudged(path, report["run"])
    assert [c for c in again["changed"] if c["before"]] == []
    assert again["original"] == report["run"] != again["run"]
    key = ("check", "term", "verdict", "measured", "promised", "evidence")
    asked = [f for f in again["findings"] if f["check"] in CHECKS.split(",")]
    assert sorted(str([f[k] for k in key]) for f in asked) == sorted(str([f[k] for k in key]) for f in report["findings"])


def with_a_stricter_rule(tree: Path) -> Path:
    """The program with another rule for power.persistence, a version higher."""
    skip = shutil.ignore_patterns("__pycache__", "resources")
    shutil.copytree(ROOT / "gpulease_gui", tree / "gpulease_gui", ignore=skip)
    shutil.copytree(ROOT / "resources", tree / "gpulease_gui" / "resources", ignore=skip)
    rule = tree / "gpulease_gui" / "checks" / "power_persistence.py"
    text = rule.read_text("utf-8")
    assert text.count("CHECK = Check(\n") == 1 and "rule_version" not in text
    text = text.replace("CHECK = Check(\n", "CHECK = Check(\n    rule_version=2,\n")
    rule.write_text(text.replace("def judge(", "def old_judge(") + NEW_JUDGE, "utf-8")
    return tree


def test_that_a_changed_rule_judges_a_run_of_the_earlier_program(stored: tuple[Path, dict], tmp_path: Path) -> None:
    path, report = stored
    tree = with_a_stricter_rule(tmp_path / "tree")
    again = rejudged(path, report["run"][:8], tree=tree, code=1)
    found = [f for f in again["findings"] if f["check"] == "power.persistence"]
    assert [(f["verdict"], f["rule_version"]) for f in found] == [("fail", 2)]
    known = [c for c in again["changed"] if c["before"]]
    assert [(c["check"], c["before"]["verdict"], c["before"]["rule_version"], c["after"]["verdict"]) for c in known] == [
        ("power.persistence", "pass", 1, "fail")
    ]
    assert (again["overall_before"], again["overall"]) == ("pass", "fail")
    with closing(sqlite3.connect(path)) as connection:
        kept = connection.execute("SELECT kind, original_id, overall FROM runs WHERE id = ?", (again["run"],)).fetchone()
        first = connection.execute("SELECT kind, overall FROM runs WHERE id = ?", (report["run"],)).fetchone()
        versions = connection.execute(
            "SELECT r.kind, f.rule_version FROM findings f JOIN runs r ON r.id = f.run_id WHERE f.check_id = 'power.persistence' "
            "AND r.id IN (?, ?) ORDER BY f.entry", (report["run"], again["run"]),
        ).fetchall()  # fmt: skip
    assert kept == ("rejudged", report["run"], "fail")
    assert first == ("verified", "pass")
    assert versions == [("verified", 1), ("rejudged", 2)]


NEW_JUDGE = '''

def judge(*readings):
    """A stricter rule."""
    from gpulease_gui.domain.finding import Verdict
    from gpulease_gui.domain.text import Text

    return (CHECK.finding(Verdict.FAIL, Text("stricter", "更严"), reason_code="stricter"),)
'''


def test_that_a_workspace_of_an_earlier_version_is_judged_again_by_a_changed_rule(tmp_path: Path) -> None:
    """The file was written by a version whose format was 5; its node exists nowhere."""
    path = tmp_path / "earlier.db"
    path.write_bytes(gzip.decompress((ROOT / "tests" / "store" / "data" / "format_5.db.gz").read_bytes()))
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (5,)
        (run,) = connection.execute("SELECT id FROM runs").fetchone()
    same = rejudged(path, run)
    newer = {c["check"] for c in same["changed"] if c["before"]}
    assert all(c["before"]["verdict"] == c["after"]["verdict"] and c["before"]["rule_version"] < c["after"]["rule_version"]
               for c in same["changed"] if c["before"])  # fmt: skip
    again = rejudged(path, run, tree=with_a_stricter_rule(tmp_path / "tree"), code=1)
    assert [(c["check"], c["before"]["verdict"], c["before"]["rule_version"], c["after"]["verdict"], c["after"]["rule_version"])
            for c in again["changed"] if c["before"] and c["check"] not in newer] == [("power.persistence", "pass", 1, "fail", 2)]  # fmt: skip
    assert {f["evidence"][0] for f in again["findings"] if f["check"] == "power.persistence"} <= evidence_in(path)


def evidence_in(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {sha256 for (sha256,) in connection.execute("SELECT sha256 FROM evidence")}


def test_that_other_terms_are_judged_with_the_old_evidence(stored: tuple[Path, dict], tmp_path: Path) -> None:
    path, report = stored
    terms = tmp_path / "terms.toml"
    terms.write_text("gpu.count = 9\n", encoding="utf-8")
    again = rejudged(path, report["run"], "--terms", str(terms), code=1)
    change = next(c for c in again["changed"] if c["check"] == "gpu.count")
    assert (change["before"]["promised"], change["before"]["verdict"]) == (8, "pass")
    assert (change["after"]["promised"], change["after"]["verdict"], change["after"]["measured"]) == (9, "fail", 8)


def test_that_a_run_judged_again_is_no_news_of_the_node(stored: tuple[Path, dict], tmp_path: Path) -> None:
    path, report = stored
    terms = tmp_path / "terms.toml"
    terms.write_text("gpu.count = 9\n", encoding="utf-8")
    contract = report["contract"]

    def claims() -> list[tuple]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute("SELECT term, state FROM claims WHERE contract_id = ? ORDER BY term", (contract,)).fetchall()

    before = claims()
    rejudged(path, report["run"], "--terms", str(terms), code=1)
    assert claims() == before and ("gpu.count", "verified") in before


def test_that_evidence_that_was_changed_on_the_disk_gives_no_verdict(stored: tuple[Path, dict], tmp_path: Path) -> None:
    path, report = stored
    broken = tmp_path / "broken.db"
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(broken)) as copy:
        source.backup(copy)
        trigger = copy.execute("SELECT sql FROM sqlite_master WHERE name = 'evidence_never_changed'").fetchone()[0]
        copy.execute("DROP TRIGGER evidence_never_changed")
        sha = copy.execute("SELECT stdout_sha256 FROM run_evidence WHERE fact_id = 'smi_xml' AND run_id = ?", (report["run"],)).fetchone()
        copy.execute("UPDATE evidence SET zlib_bytes = x'00' WHERE sha256 = ?", sha)
        copy.execute(trigger)
        copy.commit()
    again = rejudged(broken, report["run"], code=2)
    count = next(f for f in again["findings"] if f["check"] == "gpu.count")
    assert (count["verdict"], count["reason_code"]) == ("inconclusive", "evidence_changed")


def test_that_an_unknown_run_is_a_usage_error(stored: tuple[Path, dict]) -> None:
    gpulease("rejudge", "nothing", "--workspace", str(stored[0]), "--demo", code=64)
