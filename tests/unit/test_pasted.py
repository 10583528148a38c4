"""What a supplier sends is split where that is certain, judged like our own, and never proves a claim."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.cli.main import main
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.finding import Basis, Verdict
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.services.pasted import Judged, after_paste, judge_pieces, open_questions, question_for, save_judged
from gpulease_gui.services.pasted_pieces import pieces_of
from gpulease_gui.store import claims
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.pastes import list_pastes
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.workspace import Workspace

OUTPUTS = Path(__file__).parents[1] / "outputs"
XML = (OUTPUTS / "h100_sxm8.xml").read_text("utf-8")
TOPO = (OUTPUTS / "d_topo_nv18.txt").read_text("utf-8")
LIST = "".join(f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f{n})\n" for n in range(8))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def kinds(text: str) -> list[tuple[str | None, str]]:
    return [(piece.kind, piece.command) for piece in pieces_of(text.encode())]


@pytest.mark.parametrize("prompt", ["root@gpu-07:~# ", "[root@gpu-07 ~]# ", "(base) li@node:/data$ ", "$ ", "# ", "root@gpu-07:~#"])
def test_that_outputs_behind_prompts_are_told_apart(prompt: str) -> None:
    chat = f"{prompt}nvidia-smi -L\n{LIST}{prompt}sudo nvidia-smi topo -m\n{TOPO}{prompt.rstrip()}\n"
    assert kinds(chat) == [("smi_list", "nvidia-smi -L"), ("topo", "sudo nvidia-smi topo -m")]


def test_that_windows_line_ends_and_greetings_before_the_first_prompt_do_no_harm() -> None:
    chat = f"好的，您看一下\nroot@gpu-07:~# nvidia-smi -L\n{LIST}".replace("\n", "\r\n")
    assert kinds(chat) == [("smi_list", "nvidia-smi -L")]


def test_that_two_outputs_without_prompts_are_split_at_their_first_lines() -> None:
    assert kinds(LIST + "\n" + XML) == [("smi_list", ""), ("smi_xml", "")]


def test_that_what_is_no_output_stays_one_piece_without_a_kind() -> None:
    assert kinds("the node has eight H100, I swear\n") == [(None, "")]
    assert kinds("price: $ 12 per hour # all in\n") == [(None, "")]
    assert kinds(" \n\t\n") == []


def test_that_a_prompt_inside_an_output_is_data_unless_a_known_tool_stands_behind_it() -> None:
    assert kinds(LIST + "# rm -rf /\n") == [("smi_list", "")]


def test_that_a_named_kind_is_believed_and_nothing_is_split() -> None:
    both = f"# nvidia-smi -L\n{LIST}# nvidia-smi topo -m\n{TOPO}".encode()
    assert [piece.kind for piece in pieces_of(both, "", "topo")] == ["topo"]


def test_that_more_than_8_mib_is_cut_and_said_to_be() -> None:
    found = pieces_of(LIST.encode() + b"x" * MAX_STDOUT_BYTES)
    assert [piece.cut for piece in found] == [True] and len(found[0].data) == MAX_STDOUT_BYTES
    assert not pieces_of(LIST.encode())[0].cut


def judged(catalogue: Catalogue, text: str, **terms: object) -> Judged:
    return judge_pieces(catalogue, pieces_of(text.encode()), {key.replace("__", "."): value for key, value in terms.items()})


def verdict(found: Judged, check: str) -> list[tuple[Verdict, object]]:
    return [(f.verdict, f.measured) for f in found.findings if f.check == check]


def test_that_every_finding_says_that_the_supplier_sent_it_and_is_only_reported(catalogue: Catalogue) -> None:
    found = judged(catalogue, XML, gpu__count=8, gpu__model="nvidia-h100-sxm5-80gb")
    assert verdict(found, "gpu.count") == [(Verdict.PASS, 8)] and len(found.findings) > 15
    assert {f.basis for f in found.findings} == {Basis.REPORTED}
    assert all(f.reason.en.startswith("as sent by the supplier: ") and f.reason.zh.startswith("供应商提供：") for f in found.findings)
    assert all(f.evidence == (found.outputs[0].blob.sha256,) for f in found.findings if f.check == "gpu.count")
    assert not [f for f in found.findings if f.check in ("trust.identity_pin", "evidence.drift", "trust.duplicate_node")]


def test_that_a_list_of_cards_answers_promises_and_is_no_sign_of_health(catalogue: Catalogue) -> None:
    found = judged(catalogue, LIST, gpu__count=9)
    assert verdict(found, "gpu.count") == [(Verdict.FAIL, 8)]
    assert found.overall is Verdict.FAIL
    assert [f.check for f in found.findings] == ["gpu.count"]


def test_that_a_cut_report_passes_nothing(catalogue: Catalogue) -> None:
    found = judged(catalogue, XML[: len(XML) // 2], gpu__count=8)
    assert found.outputs[0].problem is not None and dict(found.outputs[0].values)["gpus"] == 4
    assert Verdict.PASS not in {f.verdict for f in found.findings}


def test_that_an_iperf3_run_is_judged_in_the_direction_that_it_tells(catalogue: Catalogue) -> None:
    run = json.dumps({
        "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 8, "duration": 10, "reverse": 0}},
        "intervals": [], "end": {
            "sum_sent": {"bits_per_second": 9.1e9, "seconds": 10, "retransmits": 3},
            "sum_received": {"bits_per_second": 9.0e9, "seconds": 10},
            "cpu_utilization_percent": {"host_total": 12.0, "remote_total": 9.0},
        },
    })  # fmt: skip
    found = judged(catalogue, run, network__gbit_s=100)
    sent = [f for f in found.findings if f.check == "net.iperf_multi" and f.measured is not None]
    # One test that is too slow is a warning: two are a fail.
    assert [(f.verdict, f.measured, f.basis) for f in sent] == [(Verdict.WARN, 9.0, Basis.REPORTED)]


@pytest.mark.parametrize(("state", "verdict", "after"), [
    (ClaimState.NOT_ASKED, Verdict.PASS, ClaimState.EVIDENCED), (ClaimState.ANSWERED, Verdict.PASS, ClaimState.EVIDENCED),
    (ClaimState.EVIDENCED, Verdict.FAIL, ClaimState.REFUTED), (ClaimState.ANSWERED, Verdict.WARN, ClaimState.ANSWERED),
    (ClaimState.ANSWERED, Verdict.INCONCLUSIVE, ClaimState.ANSWERED), (ClaimState.VERIFIED, Verdict.FAIL, ClaimState.VERIFIED),
    (ClaimState.VERIFIED, Verdict.PASS, ClaimState.VERIFIED), (ClaimState.REFUTED, Verdict.PASS, ClaimState.REFUTED),
])  # fmt: skip
def test_that_what_was_sent_is_at_most_a_document_and_never_undoes_a_run(state: ClaimState, verdict: Verdict, after: ClaimState) -> None:
    assert after_paste(Claim("gpu.count", 8, state), verdict).state is after


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "w.db")
    opened.submit(lambda db: save_supplier(db, Supplier("s1", "supplier"))).result()
    opened.submit(lambda db: save_contract(db, Contract("c1", "s1", "2026-1"))).result()
    opened.submit(lambda db: save_node(db, Node("n1", "node-01", contract_id="c1"))).result()
    for term, value in (("gpu.count", 8), ("gpu.memory_gb", 141), ("gpu.interconnect", "nvswitch"), ("price.note", None)):
        claim = Claim(term, value, ClaimState.ANSWERED)
        opened.submit(lambda db, claim=claim: claims.save_claim(db, Holder.contract("c1"), claim, by="me", at=utc_now())).result()
    yield opened
    opened.close()


def test_that_a_paste_is_kept_by_hash_and_noted_on_the_claims_of_its_contract(workspace: Workspace, catalogue: Catalogue) -> None:
    found = judged(catalogue, XML, gpu__count=8, gpu__memory_gb=141, gpu__interconnect="nvswitch")
    paste = save_judged(workspace, found, "c1")
    with workspace.read() as connection:
        assert list_pastes(connection, "c1") == (paste,)
        assert get_content(connection, paste.outputs[0].sha256) == XML.encode()
        held = {c.term: c for c in claims.list_claims(connection, Holder.contract("c1"))}
        history = claims.list_claim_history(connection, Holder.contract("c1"), "gpu.count")
    assert (held["gpu.count"].state, held["gpu.count"].node_id) == (ClaimState.EVIDENCED, None)
    assert (held["gpu.memory_gb"].state, held["gpu.memory_gb"].node_id) == (ClaimState.REFUTED, None)
    assert held["gpu.interconnect"].state is ClaimState.ANSWERED
    assert history[-1].by == "supplier" and "as sent by the supplier" in history[-1].note


def test_that_each_open_claim_has_one_command_and_a_settled_one_none(workspace: Workspace, catalogue: Catalogue) -> None:
    def asked() -> dict[str, str]:
        with workspace.read() as connection:
            return {q.term: q.command for q in open_questions(connection, "c1")}

    assert asked() == {"gpu.count": "nvidia-smi -q -x", "gpu.memory_gb": "nvidia-smi -q -x", "gpu.interconnect": "nvidia-smi topo -m"}
    save_judged(workspace, judged(catalogue, LIST, gpu__count=8), "c1")
    assert list(asked()) == ["gpu.interconnect", "gpu.memory_gb"]


def test_that_a_question_names_a_plain_command_before_a_script_and_none_for_what_no_check_reads() -> None:
    isolation = question_for("isolation")
    assert isolation is not None and isolation.command.startswith("sh <<'GPULEASE'\n") and isolation.command.endswith("\nGPULEASE")
    assert "不要截图" in isolation.message.zh and isolation.command in isolation.message.en
    assert question_for("price.currency") is None


def test_that_the_command_judges_files_and_prints_the_object_of_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terms, file, other = tmp_path / "t.toml", tmp_path / "chat.txt", tmp_path / "talk.txt"
    terms.write_text("gpu.count = 8\n", encoding="utf-8")
    file.write_text(f"root@n:~# nvidia-smi -L\n{LIST}", encoding="utf-8")
    other.write_text("all is well\n", encoding="utf-8")
    words = ["judge", "--terms", str(terms), "--workspace", str(tmp_path / "w.db")]
    assert main([*words, "--json", str(file), str(other)]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["target"], said["sent_by"], said["overall"], said["run"]) == ("pasted", "supplier", "pass", None)
    assert [(o["kind"], o["command"], o["problem"] is None) for o in said["outputs"]] == [("smi_list", "nvidia-smi -L", True), (None, "", False)]
    assert {f["check"]: f["verdict"] for f in said["findings"]}["gpu.count"] == "pass"
    assert main([*words, "--ask"]) == 0
    assert capsys.readouterr().out == "# gpu.count\nnvidia-smi -q -x\n"
    assert main([*words, str(other)]) == 2
    assert main([*words, "--kind", "nothing", str(file)]) == 64
    assert main(["judge", str(file), "--workspace", str(tmp_path / "w.db")]) == 64
