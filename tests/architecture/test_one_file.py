"""A new check is one file: it is listed, it runs, it is printed, and nothing else was touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEW_CHECK = '''"""Is the node's boot id told?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_now import ClockNow

CHECK = Check(
    id="trust.boot_told", title=Text("Boot id told", "启动编号可读"), why=Text("A reboot would show", "重启会被看到"),
    facts=("clock_now",), needs_promise=False,
)


def judge(clock: ClockNow, promise: Promise) -> tuple[Finding, ...]:
    """Pass when the kernel told it."""
    told = clock.boot_id is not None
    return (CHECK.finding(Verdict.PASS if told else Verdict.WARN, Text("the boot id is told", "启动编号可读"), measured=told),)
'''


def test_that_one_new_file_brings_a_check_into_list_run_and_paper(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "gpulease_gui", tree / "gpulease_gui", ignore=skip)
    shutil.copytree(ROOT / "resources", tree / "gpulease_gui" / "resources", ignore=skip)
    (tree / "gpulease_gui" / "checks" / "trust_boot_told.py").write_text(NEW_CHECK, encoding="utf-8")

    def gpulease(*words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(tree), "QT_QPA_PLATFORM": "offscreen"}
        command = [sys.executable, "-m", "gpulease_gui.cli.main", *words]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, cwd=tree)
        assert done.returncode == 0, done.stderr
        return done.stdout

    listed = {row["id"]: row["state"] for row in json.loads(gpulease("checks", "--json"))}
    assert listed["trust.boot_told"] == "ready"
    workspace = str(tmp_path / "demo.db")
    report = json.loads(gpulease("verify", "demo:honest", "--workspace", workspace, "--json"))
    assert [f["verdict"] for f in report["findings"] if f["check"] == "trust.boot_told"] == ["pass"]
    paper = tmp_path / "paper.pdf"
    gpulease("export", "--contract", report["contract"], "--lang", "en", "--out", str(paper), "--workspace", workspace, "--demo")
    text = subprocess.run(["pdftotext", "-layout", str(paper), "-"], capture_output=True, text=True, check=True).stdout
    assert "Boot id told" in text
