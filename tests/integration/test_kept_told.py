"""Does everybody who looks at a run hear that readings which were kept of it were changed: window, PDF, JSON, command line?"""

from __future__ import annotations

import json
import subprocess
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.main import main
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.pages.verification_state import picture_of
from gpulease_gui.pdf.report import pdf_bytes
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.evaluate import evaluation_facts, make_document
from gpulease_gui.services.run_view import check_infos, run_findings
from gpulease_gui.store.kept_owed import keep_own
from gpulease_gui.store.records import Run, RunState, SampleBlock, Series
from gpulease_gui.store.runs import finish_run, save_run
from gpulease_gui.store.samples import append_blocks
from gpulease_gui.store.workspace import Workspace

CONTRACT, NODE, S = "demo-contract-BM-0047-1", "demo-capped", 1_000_000_000


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    """A demo node that was watched while a run ended, and whose readings were kept."""
    at = utc_now()
    made = tmp_path / "demo.gpulease.db"
    with closing(open_services(made, demo=True)) as services:
        services.workspace.submit(lambda db: save_run(db, Run("r1", NODE, at, CONTRACT, demo=True))).result()
        services.workspace.submit(lambda db: finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
        end_s = int(at.timestamp())
        block = SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (end_s - 20) * S, S, array("f", [690.0] * 10))
        services.workspace.submit(lambda db: append_blocks(db, (block,))).result()
        services.workspace.submit(lambda db: keep_own(db, "r1", end_s + 200.0)).result()
    yield made


def flip(workspace: Workspace) -> None:
    """One byte of the last reading in the file, as another program would."""
    ((entry, content),) = workspace.submit(
        lambda db: db.conn.execute("SELECT entry, content FROM sample_packs WHERE level = 0").fetchall()
    ).result()
    content = content[:-2] + bytes([content[-2] ^ 0x40]) + content[-1:]
    workspace.submit(lambda db: db.conn.execute("UPDATE sample_packs SET content = ? WHERE entry = ?", (content, entry))).result()


def told(workspace: Workspace) -> tuple[str, str, str]:
    """(what the window says of the run, the text of its PDF without blanks, its hash of the readings)."""
    with workspace.read() as connection:
        facts = evaluation_facts(connection, CONTRACT, load_catalogue())
        run = next(node.run for node in facts.nodes if node.node.id == NODE)
        assert run is not None
        words = picture_of(check_infos(), run_findings(connection, run.id), None, 1, {}).state_words
    printed = subprocess.run(["pdftotext", "-", "-"], input=pdf_bytes(make_document(facts, Language.EN)), capture_output=True, check=True)
    return str(words or ""), "".join(printed.stdout.decode().split()), run.readings[0].sha256


def test_that_a_flipped_byte_is_told_in_the_window_the_pdf_the_json_and_by_the_command(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    words = ["export", "--contract", CONTRACT, "--demo", "--workspace", str(path), "--out", str(out)]
    with closing(Workspace.open(path, demo=True)) as workspace:
        said, pdf, sha256 = told(workspace)
        assert "not what was kept" not in said and "notwhatwaskept" not in pdf and sha256 in pdf
        assert main(words) == 0 and "not what was kept" not in capsys.readouterr().err
        flip(workspace)
        said, pdf, same = told(workspace)
    assert same == sha256 and said.startswith("Readings kept of the run") and "blocks: 1 changed" in said and sha256 in said
    assert "theyarenotwhatwaskept;blocks:1changed" in pdf and f"{sha256}—changedafteritwassaved" in pdf
    assert main(words) == 0
    assert f"(SHA-256 when kept: {sha256})" in capsys.readouterr().err
    (run,) = [node["run"] for node in json.loads(out.read_text("utf-8"))["nodes"] if node["id"] == NODE]
    ((kept),) = run["kept_readings"]
    assert (kept["sha256"], kept["intact"]) == (sha256, False) and "1 changed" in kept["trouble"]["en"]
