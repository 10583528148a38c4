"""The rules of the code that no library checks."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "gpulease_gui").rglob("*.py"))
# Module -> why it is longer than 400 lines.
LONG_FOR_A_REASON: dict[str, str] = {"agent/node_agent.py": "it travels through stdin as one file"}
BROAD_EXCEPTS = {"services/jobs.py", "gui/app.py"}
PUBLIC = ("domain", "facts", "checks", "remote", "store", "services", "catalog", "telemetry", "economics")


def test_that_sources_were_found() -> None:
    assert len(SOURCES) > 40


def name(path: Path) -> str:
    return path.relative_to(ROOT / "gpulease_gui").as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_that_no_module_outgrows_400_lines(path: Path) -> None:
    assert name(path) in LONG_FOR_A_REASON or len(path.read_text(encoding="utf-8").splitlines()) <= 400


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_that_each_module_says_what_it_answers(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert not source.strip() or ast.get_docstring(ast.parse(source))


@pytest.mark.parametrize("path", [p for p in SOURCES if name(p).split("/")[0] in PUBLIC], ids=name)
def test_that_the_public_api_is_documented(path: Path) -> None:
    bare = [
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_") and not ast.get_docstring(node)
    ]
    assert bare == []


def test_that_no_name_hides_whether_bits_or_bytes_are_meant() -> None:
    # "ib_write_bw"-like tool words may hold the letters; our own names may not.
    hits = [name(p) for p in SOURCES if re.search(r"\w_gbps\b", p.read_text(encoding="utf-8"))]
    assert hits == []


def test_that_only_two_places_keep_a_fault_to_themselves() -> None:
    broad = {
        name(p)
        for p in SOURCES
        for node in ast.walk(ast.parse(p.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
        and not name(p).startswith("agent/")
        # Letting go of a resource and passing the fault on catches nothing.
        and not isinstance(node.body[-1], ast.Raise)
    }
    assert broad <= BROAD_EXCEPTS


def test_that_no_failure_is_swallowed_without_a_word() -> None:
    silent = [
        f"{name(p)}:{node.lineno}"
        for p in SOURCES
        for node in ast.walk(ast.parse(p.read_text(encoding="utf-8")))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") == "Exception")
        and len(node.body) == 1
        and isinstance(node.body[0], ast.Pass)
    ]
    assert silent == []


@pytest.mark.parametrize(
    "banned",
    ["AutoAddPolicy", "WarningPolicy", "processEvents", "shell=True", "os.system", "QThread)", "setStyleSheet(f", "eval("],
)
def test_that_banned_calls_stay_out(banned: str) -> None:
    assert [name(p) for p in SOURCES if banned in p.read_text(encoding="utf-8")] == []


def test_that_no_drawer_of_odds_and_ends_exists() -> None:
    drawers = {"utils", "util", "helpers", "helper", "misc", "common", "tools"}
    assert [name(p) for p in SOURCES if drawers & set(name(p).removesuffix(".py").split("/"))] == []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                assert not re.search(r"(Manager|Handler|Helper|Util)s?$", node.name), f"{name(path)}: {node.name}"


def test_that_every_package_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = set(project["tool"]["setuptools"]["packages"])
    present = {
        "gpulease_gui" + ("." + p.parent.relative_to(ROOT / "gpulease_gui").as_posix().replace("/", ".")).rstrip(".")
        for p in SOURCES
        if p.name == "__init__.py"
    }
    assert present | {"gpulease_gui.resources"} == listed


def test_that_the_lock_names_no_host_and_keeps_qt_below_the_broken_version() -> None:
    for lock in (ROOT / "packaging" / "lock").glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        assert "://" not in text and "--index" not in text
        major, minor = re.search(r"^pyside6-essentials==(\d+)\.(\d+)", text, re.M).groups()  # type: ignore[union-attr]
        assert (6, 8) <= (int(major), int(minor)) < (6, 12)


def test_that_packaging_is_no_package() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
