"""Does a round over several nodes say which node each line and each place of its JSON is about, whatever they are called?"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli import verify_many
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.main import main
from gpulease_gui.cli.verify import _exit_of, _print
from gpulease_gui.cli.verify_many import Round, _in_short, exit_of_round, names_in_round, print_round
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.drift import Duplicate
from gpulease_gui.services.outcome import Outcome, outcome_json
from gpulease_gui.services.verify import Request, Verification
from gpulease_gui.store.nodes import save_node

GATED = Address("127.0.0.1", 1)


def gpulease(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpulease_gui.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=os.environ, check=False)


@pytest.fixture
def gated(tmp_path: Path) -> str:
    """Three nodes of one address, two of one name; one whose name would begin a line of its own."""
    path = tmp_path / "w.db"
    services = open_services(path)
    for id_, name in (("a", "alpha"), ("b", "beta"), ("c", "beta"), ("d", "evil\x1b\nroot: pass")):
        node = Node(id_, name, Reach.SSH, replace(GATED, port=2) if id_ == "c" else GATED)
        services.workspace.submit(lambda db, node=node: save_node(db, node)).result()
    services.close()
    return str(path)


def test_that_nodes_of_one_address_are_told_apart_and_joined_by_name(gated: str) -> None:
    names = ["alpha", "beta (root@127.0.0.1:1)", "beta (root@127.0.0.1:2)", "evil␛ root: pass"]
    told = json.loads(gpulease("verify", "--all", "--workspace", gated, "--json").stdout)
    assert [node["name"] for node in told["nodes"]] == names and list(told["changed"]) == names
    assert [node["target"][-1] for node in told["nodes"]] == ["1", "1", "2", "1"]
    text = gpulease("verify", "--all", "--workspace", gated)
    heads = [line.partition(": not connected")[0] for line in text.stdout.splitlines()[:-1] if not line.startswith("  ")]
    assert heads == ["alpha (root@127.0.0.1:1)", names[1], names[2], "evil␛ root: pass (root@127.0.0.1:1)"]
    assert text.stderr.splitlines()[0] == f"4 nodes: {', '.join(names)}"


def test_that_two_records_of_one_name_keep_their_own_verdicts(tmp_path: Path) -> None:
    one, other, third = (Node(id_, "gpu", Reach.SSH, GATED) for id_ in ("1", "2", "3"))
    third = replace(third, address=replace(GATED, port=2))
    names = names_in_round((one, other, third))
    assert list(names.values()) == ["gpu (root@127.0.0.1:1) (1)", "gpu (root@127.0.0.1:1) (2)", "gpu (root@127.0.0.1:2)"]
    made = Round(names, kept=["1", "2"], overall={"1": Verdict.FAIL, "2": Verdict.PASS})
    services = open_services(tmp_path / "w.db")
    assert exit_of_round(services, made, _exit_of) is Exit.FAIL
    services.close()


def test_that_what_has_no_record_has_no_name() -> None:
    pasted = Outcome("pasted", None, utc_now(), None, None, demo=False)
    assert outcome_json(pasted)["name"] is None and pasted.called == "pasted"
    typed = replace(pasted, target="root@10.0.0.5:22", name="root@10.0.0.5:22")
    assert typed.called == "root@10.0.0.5:22" and replace(typed, name="n7").called == "n7 (root@10.0.0.5:22)"


def test_that_the_last_line_counts_each_node_once_by_what_is_known_now(gated: str) -> None:
    text = gpulease("verify", "--all", "--workspace", gated).stdout
    assert text.splitlines()[-1] == "4 nodes: 4 not connected"
    fleet = [Node(id_, id_, Reach.SSH, GATED) for id_ in "abcd"]
    late = Outcome("c", "r", utc_now(), None, None, demo=False, cancelled=True)
    made = Round(names_in_round(fleet), {"c": late}, kept=["a", "b"], untried=["d"], overall={"a": Verdict.PASS, "b": Verdict.FAIL})
    assert _in_short(made) == "4 nodes: 1 fail, 1 pass, 1 not tried, 1 cancelled"
    assert outcome_json(late)["cancelled"] is True and outcome_json(replace(late, cancelled=False))["cancelled"] is False


def test_that_what_failed_is_told_before_what_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    said = [Finding(check, verdict, Text(check, check), required=True) for check, verdict in (
        ("a", Verdict.INCONCLUSIVE), ("b", Verdict.FAIL), ("c", Verdict.INCONCLUSIVE), ("d", Verdict.FAIL))]  # fmt: skip
    _print(Outcome("n", "r", utc_now(), None, None, False, tuple(said)), as_json=False)
    assert [line.split()[1][0] for line in capsys.readouterr().out.splitlines()[1:]] == ["b", "d", "a", "c"]


@pytest.mark.skipif(os.name != "posix", reason="the reader of a pipe goes")
def test_that_the_work_goes_on_where_nobody_reads_its_progress(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "verify", "demo:ascend", "demo:capped", "--workspace", str(tmp_path / "d.db")]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=writer, text=True, timeout=120, check=False)
    os.close(writer)
    assert done.returncode == 1 and done.stdout.splitlines()[-1] == "2 nodes: 1 fail, 1 pass"


def test_that_cards_in_two_nodes_of_one_name_are_told_by_the_names_of_the_round(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    services = open_services(tmp_path / "d.db", demo=True)
    try:
        pair = [Node(id_, "gpu", Reach.DEMO, demo_name=demo) for id_, demo in (("a", "honest"), ("b", "capped"))]
        smi = services.verification
        for node in pair:
            services.workspace.submit(lambda db, node=node: save_node(db, node)).result()
        runs = {node.id: replace(smi.run(node, Request(only=("gpu.count", "gpu.uuid_unique")), CancelToken()), name="") for node in pair}
        made = Round(names_in_round(pair), runs)
        found = Duplicate("gpu", "gpu", ("GPU-1",), ("a", "b"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(verify_many, "shared_cards", lambda workspace, ids: (found,))
            print_round(services, argparse.Namespace(json=False, contract=None), made, lambda outcome: None)
    finally:
        services.close()
    assert "1 card is in gpu (demo:honest) and gpu (demo:capped) at once" in capsys.readouterr().out


def test_that_a_node_that_breaks_by_our_fault_hides_no_other(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that filled up was a traceback, and nothing of the nodes that had answered."""
    usual = Verification.run

    def run(self: Verification, node: Node, *more: Any) -> Outcome:
        if node.demo_name == "capped":
            raise UserFacing(Text("the workspace can't be written", "无法写入工作区"), Text("no space left", "空间不足"))
        return usual(self, node, *more)

    monkeypatch.setattr(Verification, "run", run)
    words = ["verify", "demo:honest", "demo:capped", "--only", "gpu.count", "--workspace", str(tmp_path / "d.db")]
    assert main(words) == Exit.OUR_FAULT
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("honest (demo:honest): pass") and lines[-1] == "2 nodes: 1 pass, 1 broke off"
    assert lines[-2] == "capped: broke off by our own fault: the workspace can't be written. no space left"
    assert main([*words, "--json"]) == Exit.OUR_FAULT
    assert list(json.loads(capsys.readouterr().out)["broken"]) == ["capped"]
