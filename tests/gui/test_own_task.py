"""Is a task of one's own run from the window on a real sshd: asked first, watched, stopped, kept, compared?"""

from __future__ import annotations

import getpass
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskRun
from gpulease_gui.gui.forms.pattern_dialog import PatternDialog
from gpulease_gui.gui.forms.task_form import TaskForm, start_line, without_secrets
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import verification
from gpulease_gui.gui.pages.verification import VerificationPage
from gpulease_gui.gui.pages.verification_task import TaskPane
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.services.composition import Services
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.settings import list_drafts
from gpulease_gui.store.task_runs import list_task_runs, list_task_specs

from .opened import wait_for

pytestmark = pytest.mark.timeout(300)
CONFIG = """ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
UseDNS no
LogLevel ERROR
"""
# A log as nanoGPT writes it.
TRAIN = 'i=0; while [ $i -lt {steps} ]; do echo "iter $i: loss $((9 - i / 8)).25, time 20.00ms, mfu 40.00%"; i=$((i+1)); sleep {pause}; done\n'


def answers(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    """A real server on loopback, as the record of a node."""
    folder = tmp_path_factory.mktemp("task-sshd")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", folder / "config", "-E", folder / "log"])
    end = time.monotonic() + 60
    while not answers(port):
        assert time.monotonic() < end and process.poll() is None, (folder / "log").read_text()
        time.sleep(0.02)
    yield Node("real", "node-11", Reach.SSH, Address("127.0.0.1", port, getpass.getuser()), identity_file=str(folder / "user"))
    process.terminate()
    process.wait(10)


@pytest.fixture
def pane(sshd: Node, services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> TaskPane:
    services.workspace.submit(lambda db: stored.save_node(db, sshd)).result()
    public = (Path(str(sshd.identity_file)).parent / "host.pub").read_text().split()[1]
    shown = subprocess.run(["ssh-keygen", "-lf", "-"], input=f"ssh-ed25519 {public}\n", capture_output=True, text=True, check=True)
    services.links.trust(sshd, HostKey("ssh-ed25519", shown.stdout.split()[1]), "by the test")
    services.workspace.forbid_main_thread()
    window = make_window(verification.PAGE)
    window.resize(1440, 900)
    window.attach(services)
    window.go("verification", "real")
    page = window._pages["verification"]
    assert isinstance(page, VerificationPage)
    wait_for(qtbot, lambda: page._node is not None)
    QTest.mouseClick(page.task_button, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: page.tasks is not None and page.tasks.isVisible())
    assert page.tasks is not None
    return page.tasks


def script(folder: Path, *, steps: int, pause: float = 0.0) -> Path:
    path = folder / "train.sh"
    path.write_text(TRAIN.format(steps=steps, pause=pause))
    return path


def fill(form: TaskForm, path: Path, *, tokens_s: str = "") -> None:
    form.kind.choose(SourceKind.SCRIPT)
    form._fit()
    form.name.setText("nightly")
    form._picked(str(path))
    form.figures["work.step_s"].setText("0.02")
    form.figures["work.tokens_s"].setText(tokens_s)


def confirm(pane: TaskPane, qtbot: QtBot) -> list[str]:
    """Press Run, read the confirmation, agree."""
    QTest.mouseClick(pane.run, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: any(d.isVisible() for d in pane.window().findChildren(FactDialog)))
    dialog = next(d for d in pane.window().findChildren(FactDialog) if d.isVisible())
    said = [label.text() for label in dialog.findChildren(QLabel)]
    dialog.accept()
    return said


def ended(services: Services, qtbot: QtBot, count: int = 1) -> TaskRun:
    def over() -> bool:
        found = services.query(list_task_runs).result()
        return len(found) == count and all(run.end is not None for run in found)

    wait_for(qtbot, over)
    return services.query(list_task_runs).result()[0]


def test_that_a_task_is_confirmed_run_and_kept_and_a_second_run_stands_beside_it_step_by_step(pane: TaskPane, services: Services, tmp_path: Path, qtbot: QtBot) -> None:
    fill(pane.form, script(tmp_path, steps=60))
    assert pane.form.command.text() == "sh ./'train.sh'"
    said = confirm(pane, qtbot)
    assert any(words.startswith("node-11 (") for words in said) and "20 min" in said
    run = ended(services, qtbot)
    assert (run.end, run.exit_code, run.clean) == (TaskEnd.FINISHED, 0, True), run.reason.en
    assert run.reading is not None and run.reading.form == "nanoGPT" and run.reading.last_step == 59
    wait_for(qtbot, lambda: pane.result.title.text() == "nightly" and pane.result.refer.isVisible())
    assert pane.result.said.text().startswith("finished after") and "iter 59" in pane.result.log.toPlainText()
    assert [lane.lane.id for lane in pane.chart.stack.lanes][:2] == ["task:s/step", "task:loss"]
    QTest.mouseClick(pane.result.refer, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: [line.is_reference for line in pane.runs.model.rows] == [True])
    wait_for(qtbot, pane.run.isEnabled)
    confirm(pane, qtbot)
    ended(services, qtbot, 2)
    wait_for(qtbot, lambda: len(pane.runs.model.rows) == 2 and pane.runs.compare.isEnabled())
    QTest.mouseClick(pane.runs.compare, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: "as fast as the reference" in pane.comparison.said.text())
    assert pane.comparison.model.rows[0].loss == 9.25 and all(chart.chart is not None for chart in pane.comparison.charts)
    QTest.keyClick(pane.comparison.back, Qt.Key.Key_Space)
    assert not pane.comparison.isVisible()


def test_that_stop_ends_the_task_and_leaves_nothing_on_the_node(pane: TaskPane, services: Services, tmp_path: Path, qtbot: QtBot) -> None:
    fill(pane.form, script(tmp_path, steps=10_000, pause=0.05))
    confirm(pane, qtbot)
    wait_for(qtbot, lambda: "running for" in pane.result.said.text() and "iter 5:" in pane.result.log.toPlainText())
    wait_for(qtbot, lambda: "task:loss" in [lane.lane.id for lane in pane.chart.stack.lanes])
    assert not pane.run.isEnabled()
    QTest.mouseClick(pane.result.stop, Qt.MouseButton.LeftButton)
    run = ended(services, qtbot)
    assert (run.end, run.clean) == (TaskEnd.CANCELLED, True) and run.log_bytes > 0
    wait_for(qtbot, lambda: pane.result.said.text().startswith("cancelled after"))


def test_that_what_cannot_be_run_is_said_at_its_field(pane: TaskPane, tmp_path: Path, qtbot: QtBot) -> None:
    QTest.mouseClick(pane.run, Qt.MouseButton.LeftButton)
    assert "Give it a name" in pane.form._name_row.error.text()
    fill(pane.form, script(tmp_path, steps=1), tokens_s="-3")
    QTest.mouseClick(pane.run, Qt.MouseButton.LeftButton)
    assert "above 0" in pane.form._figure_rows["work.tokens_s"].error.text()
    pane.form.figures["work.tokens_s"].setText("")
    pane.form.environment.setPlainText("HF_TOKEN=")
    QTest.mouseClick(pane.run, Qt.MouseButton.LeftButton)
    assert "never stored" in pane.form._environment_row.error.text()
    pane.form.environment.setPlainText("no equals sign")
    QTest.mouseClick(pane.run, Qt.MouseButton.LeftButton)
    assert "NAME=value" in pane.form._environment_row.error.text()


def test_that_a_secret_reaches_neither_draft_nor_saved_task(pane: TaskPane, services: Services, tmp_path: Path, qtbot: QtBot) -> None:
    fill(pane.form, script(tmp_path, steps=1))
    pane.form.environment.setPlainText("HF_TOKEN=hf_planted_1234\nSEED=7")
    pane._drafts.write()
    QTest.mouseClick(pane.form.band.save, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: len(services.query(list_task_specs).result()) == 1)
    wait_for(qtbot, lambda: not pane.form.dirty)
    services.query(list_drafts).result()
    raw = b"".join(path.read_bytes() for path in tmp_path.glob("own.db*"))
    assert b"SEED" in raw and b"hf_planted_1234" not in raw
    pane.form.environment.setPlainText("")
    wait_for(qtbot, lambda: len(pane._specs) == 1)
    pane._choose("nightly")
    assert pane.form.environment.toPlainText() == "HF_TOKEN=\nSEED=7"


def test_that_a_pattern_is_tried_on_a_pasted_log_first(pane: TaskPane, qtbot: QtBot) -> None:
    pane.form.tried.emit()
    dialog = pane.window().findChildren(PatternDialog)[0]
    dialog.log.setPlainText("\n".join(f"[{n}] L={3 - n / 100:.2f} r={500 + n % 3}" for n in range(40)))
    wait_for(qtbot, lambda: "No line of progress" in dialog.said.text())
    QTest.keyClicks(dialog.pattern, r"\[(?P<step>\d+)\] L=(?P<loss>[\d.]+) r=(?P<tokens_s>\d+)")
    wait_for(qtbot, lambda: dialog.said.text() == "40 lines of progress")
    QTest.mouseClick(dialog.take, Qt.MouseButton.LeftButton)
    assert pane.form.pattern.text().endswith(r"r=(?P<tokens_s>\d+)") and not dialog.isVisible()


@pytest.mark.parametrize(("path", "line"), [("/a/train.py", "python3 ./'train.py'"), ("C:\\x\\go.sh", "sh ./'go.sh'"), ("/a/it's.py", ""), ("/a/model", "")])
def test_that_a_script_is_started_by_its_ending(path: str, line: str) -> None:
    assert start_line(path) == line


def test_that_lines_of_an_environment_lose_the_values_of_secrets() -> None:
    assert without_secrets("A=1\nWANDB_API_KEY=x=y\nnothing") == "A=1\nWANDB_API_KEY=\nnothing"
