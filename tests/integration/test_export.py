"""Does a verified demo node become a report, from the store to the file?"""

from __future__ import annotations

import hashlib
import json
import math
import os
import resource
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Language
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.services.acceptance import promises_in
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.evaluate import evaluation_facts, export, write_whole
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.services.run_view import run_findings
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store import claims, evidence, settings
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.records import Gap, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks, append_gap
from gpulease_gui.store.workspace import Workspace

NUMBER = "VC-2026-118"
CONTRACT = f"demo-contract-{NUMBER}"
SECOND = 1_000_000_000
SLACK = 2.0 if "PYTEST_XDIST_WORKER" in os.environ else 1.0  # two workers on shared cores


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A demo workspace in which the node that was sold as SXM and is PCIe was verified and watched."""
    path = tmp_path_factory.mktemp("export") / "demo.gpulease.db"
    with closing(open_services(path, demo=True)) as services:
        verify(services, ())
        begin = int(utc_now().timestamp()) - 60
        values = array("f", [690.0] * 20 + [math.nan] * 20 + [350.0] * 20)
        block = SampleBlock(Series("demo-pcie-as-sxm", "gpu.power_w", "GPU-a", "W"), begin * SECOND, SECOND, values)
        gap = Gap("demo-pcie-as-sxm", (begin + 19) * SECOND, (begin + 40) * SECOND, "connection_lost")
        services.workspace.submit(lambda db: append_blocks(db, (block,))).result()
        services.workspace.submit(lambda db: append_gap(db, gap)).result()
    return path


def verify(services: Services, only: tuple[str, ...]) -> None:
    node = node_of(services.workspace, "demo:pcie-as-sxm")
    with services.workspace.read() as connection:
        terms = promises_in(connection, CONTRACT)
    services.verification.run(node, Request(terms, CONTRACT, only=only), CancelToken())


@pytest.fixture
def workspace(verified: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A copy of it that the test may change."""
    copy = tmp_path / "copy.gpulease.db"
    copy.write_bytes(verified.read_bytes())
    with closing(Workspace.open(copy, demo=True)) as opened:
        yield opened


def facts_of(workspace: Workspace, contract_id: str = CONTRACT) -> EvaluationFacts:
    with workspace.read() as connection:
        return evaluation_facts(connection, contract_id, load_catalogue())


def child(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpulease_gui.cli.main", "export", *words], capture_output=True, text=True, check=False
    )


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command in this process, with what it said on stderr: another one costs a second."""

    def call(*words: str) -> tuple[int, str]:
        try:
            code = main(["export", *words])
        except SystemExit as ended:
            code = int(str(ended.code))
        return code, capsys.readouterr().err

    return call


def cpu_of_children() -> float:
    """Seconds of CPU that ended children took: what else the machine does is not the export's."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pdf_text(path: Path) -> str:
    said = subprocess.run(["pdftotext", "-layout", str(path), "-"], capture_output=True, check=True)
    return said.stdout.decode()


@pytest.fixture(scope="module")
def printed(verified: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, subprocess.CompletedProcess[str], float]]:
    """The report in both languages, each with what the command said and the seconds of CPU that it took."""
    folder, found = tmp_path_factory.mktemp("printed"), {}
    for language in ("zh", "en"):
        begin, out = cpu_of_children(), folder / f"{language}.pdf"
        done = child("--contract", NUMBER, "--lang", language, "--out", str(out), "--workspace", str(verified), "--demo")
        found[language] = out, done, cpu_of_children() - begin
    return found


def test_that_the_command_writes_both_languages_in_ten_seconds_and_remembers_them(verified: Path, printed: dict[str, Any]) -> None:
    shas = []
    for language, word in (("zh", "承诺与实测"), ("en", "Promised and measured")):
        out, done, _ = printed[language]
        assert (done.returncode, done.stderr) == (0, "")
        shas.append(hashlib.sha256(out.read_bytes()).hexdigest())
        assert done.stdout == f"{out}\nSHA-256 {shas[-1]}\n"
        text = pdf_text(out)
        assert word in text and "DEMO" in text and "H100 PCIe" in text and "535.216.03" in text
    assert sum(seconds for _, _, seconds in printed.values()) < 10 * SLACK
    with closing(Workspace.open(verified, demo=True)) as opened, opened.read() as connection:
        written = [report for report in settings.list_reports(connection) if report.sha256 in shas]
    assert [(r.language, r.contract_id) for r in written] == [("en", CONTRACT), ("zh", CONTRACT)]


@pytest.mark.parametrize(("ending", "start"), [("json", b'{\n "report"'), ("csv", b"\xef\xbb\xbfNode,"), ("html", b"<!DOCTYPE")])
def test_that_the_ending_of_the_file_decides_what_it_is(cli: Callable[..., tuple[int, str]], verified: Path, tmp_path: Path, ending: str, start: bytes) -> None:
    out = tmp_path / f"report.{ending}"
    assert cli("--contract", NUMBER, "--out", str(out), "--workspace", str(verified), "--demo") == (0, "")
    assert out.read_bytes().startswith(start)


def test_that_a_failed_export_keeps_the_file_that_was_there(cli: Callable[..., tuple[int, str]], verified: Path, tmp_path: Path) -> None:
    out = tmp_path / "kept.pdf"
    out.write_bytes(b"the report of last month")
    code, said = cli("--contract", "no-such", "--out", str(out), "--workspace", str(verified), "--demo")
    assert code == 64 and NUMBER in said
    assert (out.read_bytes(), list(tmp_path.iterdir())) == (b"the report of last month", [out])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [(("--out", "x.docx"), 64, "pdf, html, json, csv"), (("--out", "no-folder/x.pdf"), 64, "there is no folder")],
)
def test_that_a_wrong_call_is_told_what_to_write(cli: Callable[..., tuple[int, str]], verified: Path, words: tuple[str, ...], code: int, said: str) -> None:
    ended, told = cli("--contract", NUMBER, "--workspace", str(verified), "--demo", *words)
    assert (ended, said in told) == (code, True)


def test_that_a_workspace_that_is_not_there_is_not_made(cli: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    assert cli("--contract", "x", "--out", str(tmp_path / "x.pdf"), "--workspace", str(path), "--demo")[0] == 64
    assert not path.exists()


def test_that_the_window_exports_through_a_child_while_it_holds_the_workspace(workspace: Workspace, tmp_path: Path) -> None:
    out = tmp_path / "报告 1.pdf"
    assert export(workspace.path, CONTRACT, Language.ZH, out, CancelToken(), demo=True) == out
    assert "待供应商答复" in pdf_text(out)
    with workspace.read() as connection:
        assert settings.list_reports(connection)[0].sha256 == hashlib.sha256(out.read_bytes()).hexdigest()


def test_that_the_words_of_a_failing_child_reach_the_user(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(UserFacing, match="there is no contract 'gone'"):
        export(workspace.path, "gone", Language.EN, tmp_path / "x.pdf", CancelToken(), demo=True)


def test_that_a_cancelled_export_writes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        export(workspace.path, CONTRACT, Language.EN, tmp_path / "x.pdf", cancel, demo=True)
    assert not (tmp_path / "x.pdf").exists()


def test_that_the_store_becomes_facts_of_the_node_and_its_run(workspace: Workspace) -> None:
    facts = facts_of(workspace)
    run = facts.nodes[0].run
    assert run is not None
    assert (facts.verdict, facts.demo, facts.hash) == (Verdict.FAIL, True, run.hash)
    assert (len(run.devices), run.devices[0].name, run.driver) == (8, "NVIDIA H100 PCIe", "535.216.03")
    assert all(line.intact for line in run.evidence)
    assert facts.coverage() == (6, 6)
    assert "gpu.form_factor" in facts.sentence.en


def test_that_stored_readings_become_a_stretch_with_its_gap_and_contract_line(workspace: Workspace) -> None:
    stretch = facts_of(workspace).nodes[0].live[0]
    assert (stretch.unit, stretch.contract, stretch.implied, len(stretch.curves[0].times_s)) == ("W", 700.0, True, 40)
    assert [(b.end_s - b.start_s, b.reason.zh) for b in stretch.blanks] == [(21.0, "连接中断")]


def test_that_a_contract_whose_node_was_never_verified_is_no_pass(workspace: Workspace) -> None:
    with workspace.read() as connection:
        rows = connection.execute("SELECT id FROM contracts WHERE id != ? ORDER BY id", (CONTRACT,)).fetchall()
    facts = facts_of(workspace, rows[0][0])
    assert (facts.verdict, facts.nodes[0].run, facts.coverage()[0]) == (Verdict.INCONCLUSIVE, None, 0)


def test_that_a_run_of_one_check_is_no_acceptance_of_the_whole_contract(workspace: Workspace, tmp_path: Path) -> None:
    whole = facts_of(workspace)
    workspace.close()
    with closing(open_services(workspace.path, demo=True)) as services:
        verify(services, ("gpu.count",))
        after = facts_of(services.workspace)
    assert after.nodes[0].run == whole.nodes[0].run is not None
    with closing(open_services(tmp_path / "new.gpulease.db", demo=True)) as services:
        verify(services, ("gpu.count",))
        alone = facts_of(services.workspace)
    assert alone.nodes[0].run is None
    assert (alone.verdict, alone.sentence.en) == (Verdict.INCONCLUSIVE, "0 of 1 accepted")


def test_that_a_promise_that_was_changed_after_the_run_is_not_judged(workspace: Workspace) -> None:
    holder = Holder.contract(CONTRACT)
    changed = Claim("gpu.count", 16, ClaimState.EVIDENCED)
    workspace.submit(lambda db: claims.save_claim(db, holder, changed, by="test", at=utc_now())).result()
    run = facts_of(workspace).nodes[0].run
    assert run is not None and run.unjudged == ("gpu.count",)


def test_that_evidence_that_was_changed_on_the_disk_is_told(workspace: Workspace) -> None:
    run = facts_of(workspace).nodes[0].run
    assert run is not None
    line = next(line for line in run.evidence if line.fact_id == "smi_xml")
    forged = evidence.EvidenceBlob.of(b"<nvidia_smi_log>all is well</nvidia_smi_log>")

    def forge(db: Database) -> None:
        for (name,) in db.conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'evidence'").fetchall():
            db.conn.execute(f"DROP TRIGGER {name}")
        db.conn.execute("UPDATE evidence SET zlib_bytes = ? WHERE sha256 = ?", (forged.packed, line.sha256))

    workspace.submit(forge).result()
    after = facts_of(workspace).nodes[0].run
    assert after is not None
    assert [one.fact_id for one in after.evidence if not one.intact] == ["smi_xml"]
    assert after.devices == ()


def test_that_the_json_names_the_same_hash_as_the_pdf(cli: Callable[..., tuple[int, str]], verified: Path, printed: dict[str, Any], tmp_path: Path) -> None:
    machine = tmp_path / "a.json"
    assert cli("--contract", CONTRACT, "--out", str(machine), "--workspace", str(verified), "--demo") == (0, "")
    assert json.loads(machine.read_text(encoding="utf-8"))["sha256"] in pdf_text(printed["en"][0])


def test_that_a_file_is_put_in_place_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "r.pdf"
    assert write_whole(path, b"new") == hashlib.sha256(b"new").hexdigest()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserFacing):
        write_whole(tmp_path / "folder", b"newer")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "r.pdf"]


def test_that_facts_are_the_same_each_time_but_for_their_moment(workspace: Workspace) -> None:
    once, again = facts_of(workspace), facts_of(workspace)
    assert replace(once, made_at=again.made_at) == again


def test_that_the_whole_workspace_shows_the_same_run_on_a_second_computer_and_the_report_says_where_it_came_from(
    cli: Callable[..., tuple[int, str]], workspace: Workspace, tmp_path: Path
) -> None:
    with workspace.read() as connection:
        data = export_bundle(connection, at=utc_now(), demo=True)
        run = evaluation_facts(connection, CONTRACT, load_catalogue()).nodes[0].run
        assert run is not None
        before = run_findings(connection, run.id)
    path = tmp_path / "second.db"
    with closing(Workspace.open(path, demo=True)) as second:
        bundle = valid_bundle(parse_bundle(data), load_catalogue())
        with second.read() as connection:
            merge = merge_in(connection, bundle, demo=True)
        second.submit(lambda db: apply_merge(db, merge, "first.json")).result()
        with second.read() as connection:
            after = run_findings(connection, run.id)
            facts = evaluation_facts(connection, CONTRACT, load_catalogue())
            again = json.loads(export_bundle(connection, at=utc_now(), demo=True))
        assert (after.findings, after.run, after.before) == (before.findings, before.run, before.before)
        assert facts.nodes[0].run is not None and facts.nodes[0].run.hash == run.hash and facts.verdict is facts_of(workspace).verdict
        assert {k: v for k, v in again.items() if k != "made_at"} == {k: v for k, v in json.loads(data).items() if k != "made_at"}
    out = tmp_path / "second.html"
    assert cli("--contract", NUMBER, "--lang", "en", "--out", str(out), "--workspace", str(path), "--demo") == (0, "")
    text = out.read_text("utf-8")
    assert "Imported from first.json" in text and run.hash[:8] in text.replace(" ", "")
