"""Is a node that is no longer what was accepted named on every page that shows it, in words?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, overview, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.overview import OverviewPage
from gpulease_gui.gui.pages.verification import VerificationPage
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.identity_pin import sightings_of
from gpulease_gui.store import runs
from gpulease_gui.store.evidence import collected, save_run_evidence
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.sightings import save_sightings

XML = (Path(__file__).parents[1] / "outputs" / "h100_sxm8.xml").read_text("utf-8")
FIRST, OTHER = "GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f0", "GPU-00000000-aaaa-4bbb-8ccc-000000000001"
SWAPPED = XML.replace(FIRST, OTHER)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def keep_run(services: Services, id_: str, node: str, at: datetime, overall: Verdict, xml: str = XML) -> None:
    """A finished run that read this report, with one finding that says how it went."""
    output = CommandOutput(xml.encode())
    line, blobs = collected(id_, "smi_xml", "nvidia-smi -q -x", output, at)
    evidence = {"smi_xml": Evidence(read(readers()["smi_xml"], output))}
    finding = Finding("gpu.count", overall, Text("8 GPUs", "8 张卡"), "gpu.count", 8, 8, "GPUs", required=True)

    def work(db) -> None:
        runs.save_run(db, Run(id_, node, at))
        save_run_evidence(db, line, blobs)
        runs.save_finding(db, id_, finding, saved_at=at)
        save_sightings(db, sightings_of(id_, node, at, evidence, (finding,)))
        runs.finish_run(db, id_, RunState.FINISHED, at, overall)

    services.workspace.submit(work).result()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "own.db")
    for number in (1, 2):
        node = Node(f"n{number}", f"node-0{number}", address=Address("203.0.113.9", 2200 + number, "root"))
        opened.workspace.submit(lambda db, node=node: save_node(db, node)).result()
    keep_run(opened, "old", "n1", NOON, Verdict.PASS)
    keep_run(opened, "new", "n1", NOON + timedelta(days=1), Verdict.FAIL, SWAPPED)
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


@pytest.fixture
def window(own: Services, make_window: Callable[..., MainWindow]) -> MainWindow:
    made = make_window(overview.PAGE, nodes.PAGE, verification.PAGE)
    made.resize(1440, 900)
    made.attach(own)
    return made


def shown(window: MainWindow, page: str, *path: str) -> QWidget:
    window.go(page, *path)
    return window._pages[page]


def words_of(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisibleTo(widget))


def test_that_the_table_of_nodes_names_the_change_and_the_inspector_tells_it(window: MainWindow, qtbot: QtBot) -> None:
    page = shown(window, "nodes")
    assert isinstance(page, NodesPage)
    qtbot.waitUntil(lambda: any(row.drifted for row in page.model.rows))
    changed = next(row for row in page.model.rows if row.row.node.id == "n1")
    assert changed.needs_attention and page._chips["changed"].text().endswith("1")
    page.table.choose("n1")
    cell = page.model.cell(page.model.index(page.model.place_of("n1") or 0, 0))
    assert cell is not None and (str(cell.text), cell.tone) == ("card swapped", "fail")
    qtbot.waitUntil(lambda: f"was swapped: {FIRST} before, {OTHER} now" in words_of(page.inspector))
    assert page.inspector.changed.note.text() == f"{NOON.astimezone():%m-%d %H:%M}"


def test_that_the_overview_and_the_verification_say_it_first(window: MainWindow, qtbot: QtBot) -> None:
    page = shown(window, "overview")
    assert isinstance(page, OverviewPage)
    qtbot.waitUntil(lambda: "was swapped" in words_of(page.aside))
    run = shown(window, "verification", "n1")
    assert isinstance(run, VerificationPage)
    qtbot.waitUntil(lambda: run.findings.drifts[True].isVisible())
    assert not run.findings.drifts[False].isVisible()
    assert run.findings.drifts[True].headline.text().startswith("node-01 is no longer what was accepted on")


def test_that_the_differences_are_those_of_the_accepted_run(window: MainWindow, qtbot: QtBot) -> None:
    page = shown(window, "verification", "n1", "differences")
    assert isinstance(page, VerificationPage)
    qtbot.waitUntil(lambda: len(page.differences.model.rows) == 2)
    machine, answer = page.differences.model.rows
    assert (page.differences.old.current, page.differences.new.current) == ("old", "new")
    assert (str(machine.before), str(machine.now), machine.verdict) == (FIRST, OTHER, Verdict.FAIL)
    assert (str(answer.before), str(answer.now)) == ("8 · Pass", "8 · Fail")
    page.differences.old.choose("new")
    page.differences._compare()
    qtbot.waitUntil(lambda: page.differences.note.isVisible())
    assert page.differences.note.headline.text() == "Nothing changed" and page.differences.model.rows == ()


def test_that_one_card_in_two_nodes_is_named_with_the_other_node(window: MainWindow, own: Services, qtbot: QtBot) -> None:
    page = shown(window, "nodes")
    assert isinstance(page, NodesPage)
    own.query(lambda _: keep_run(own, "twin", "n2", NOON + timedelta(days=1), Verdict.PASS, SWAPPED)).result()
    page._drift._read(None)
    qtbot.waitUntil(lambda: len([row for row in page.model.rows if row.twice]) == 2)
    assert "8 cards are in node-01 and node-02 at once" in page.model.rows[1].twice[0].words.en
    page.table.choose("n2")
    qtbot.waitUntil(lambda: "one machine is sold twice" in words_of(page.inspector))
