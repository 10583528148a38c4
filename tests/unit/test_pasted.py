"""What a supplier sends is split where that is certain, judged like our own, and never proves a claim."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.cli.main import main
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.finding import Basis, Verdict, worst
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


CLEAN_LOG = (OUTPUTS / "d_dmesg_clean.txt").read_text("utf-8")
LINKS = (OUTPUTS / "d_nvlink_18x8.txt").read_text("utf-8")
H100 = {"gpu__model": "nvidia-h100-sxm5-80gb", "gpu__count": 8}


def open_terms(found: Judged) -> list[tuple[str | None, str]]:
    return [(f.term, f.next_step.en) for f in found.findings if f.reason_code == "not_collected" and f.required]


def test_that_promises_which_nothing_sent_answers_stay_open_with_the_command_to_ask_for(catalogue: Catalogue) -> None:
    found = judged(catalogue, CLEAN_LOG, **H100, gpu__interconnect="nvswitch")
    assert found.overall is Verdict.INCONCLUSIVE
    assert open_terms(found) == [
        ("gpu.model", "ask the supplier for: nvidia-smi -q -x"), ("gpu.count", "ask the supplier for: nvidia-smi -q -x"),
        ("gpu.interconnect", "ask the supplier for: nvidia-smi topo -m"),
    ]  # fmt: skip
    ascend = judged(catalogue, XML, npu__model="910B3", npu__count=8)
    assert (ascend.overall, [term for term, _ in open_terms(ascend)]) == (Verdict.INCONCLUSIVE, ["npu.model", "npu.count"])


def test_that_cards_named_beside_their_links_speak_against_another_promise(catalogue: Catalogue) -> None:
    found = judged(catalogue, LINKS.replace("H100 80GB HBM3", "A100-SXM4-80GB"), **H100, gpu__interconnect="nvswitch")
    assert found.overall is Verdict.INCONCLUSIVE
    assert [(f.verdict, f.measured) for f in found.findings if f.check == "gpu.model"] == [(Verdict.INCONCLUSIVE, "A100 SXM4 80GB")]


def torn(found: Judged) -> list[tuple[str, tuple[str, ...]]]:
    return [(f.direction, f.evidence) for f in found.findings if f.reason_code == "outputs_contradict"]


@pytest.mark.parametrize(("old", "new"), [
    ("<pci_device_id>233010DE", "<pci_device_id>232910DE"), ("<product_name>NVIDIA H100 80GB HBM3", "<product_name>NVIDIA H20"),
    ("<uuid>GPU-3f1c", "<uuid>GPU-77aa"),
])  # fmt: skip
def test_that_two_reports_that_contradict_are_both_named_and_their_order_decides_nothing(catalogue: Catalogue, old: str, new: str) -> None:
    other = XML.replace(old, new)
    assert other != XML
    pieces = [*pieces_of(XML.encode(), "first.xml"), *pieces_of(other.encode(), "second.xml")]
    one, two = (judge_pieces(catalogue, order, {"gpu.count": 8, "gpu.model": "H100"}) for order in (pieces, pieces[::-1]))
    assert torn(one) == [("smi_xml", tuple(sorted(o.blob.sha256 for o in one.outputs)))]
    assert all(name in f.reason.en for name in ("first.xml", "second.xml") for f in one.findings if f.reason_code == "outputs_contradict")
    assert one.overall is not Verdict.PASS
    assert set(one.findings) == set(two.findings)


def test_that_identical_outputs_and_a_warmer_card_contradict_nothing(catalogue: Catalogue) -> None:
    warmer = re.sub(r"<gpu_temp>\d+ C", "<gpu_temp>41 C", XML)
    assert warmer != XML
    for other in (XML, warmer):
        both = judge_pieces(catalogue, [*pieces_of(XML.encode()), *pieces_of(other.encode()), *pieces_of(LIST.encode())], {"gpu.count": 8})
        assert (torn(both), both.overall) == ([], Verdict.PASS)


RULE = "+-----------------------------------------+------------------------+----------------------+\n"
NO_PROCESS = "|  No running processes found                                                             |"


def table(*, ecc: str = "0", draw: str = "71W", mode: str = "Default", name: str = "NVIDIA H100 80GB HBM3", process: str = NO_PROCESS) -> str:
    cards = "".join(
        f"|   {n}  {name:<27} On  |   00000000:{27 + n:02X}:00.0 Off |{ecc:>21} |\n"
        f"| N/A   31C    P0        {draw:>10} / 700W |       1MiB / 81559MiB |      0%  {mode:>11} |\n"
        f"|                                         |                        |             Disabled |\n{RULE}"
        for n in range(8)
    )
    head = "| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |\n"
    titles = "| Processes:                                                                              |\n"
    return f"{RULE}{head}{RULE}{cards}\n{RULE}{titles}{process}\n{RULE}"


MINER = "|    3   N/A  N/A     41234      C   /opt/w/miner --gpu 3                          21340MiB |"


def of_checks(found: Judged, *checks: str) -> list[tuple[str, Verdict, object]]:
    return [(f.check, f.verdict, f.measured) for f in found.findings if f.check in checks]


def test_that_a_pasted_table_tells_of_processes_errors_and_modes_and_says_what_it_cannot_tell(catalogue: Catalogue) -> None:
    clean = judged(catalogue, table(), gpu__count=8, tenancy="exclusive")
    assert of_checks(clean, "iso.foreign_procs", "health.ecc_uncorrected", "health.err_fields", "iso.compute_mode") == [
        ("health.ecc_uncorrected", Verdict.INCONCLUSIVE, None), ("health.err_fields", Verdict.PASS, 0),
        ("iso.compute_mode", Verdict.PASS, "Default"), ("iso.foreign_procs", Verdict.PASS, "none"),
    ]  # fmt: skip
    busy = judged(catalogue, table(process=MINER), gpu__count=8, tenancy="exclusive")
    assert of_checks(busy, "iso.foreign_procs") == [("iso.foreign_procs", Verdict.FAIL, "/opt/w/miner --gpu 3")]
    assert of_checks(judged(catalogue, table(ecc="2"), gpu__count=8), "health.ecc_uncorrected") == [("health.ecc_uncorrected", Verdict.FAIL, 2)]
    broken = judged(catalogue, table(ecc="ERR!", draw="ERR!"), gpu__count=8)
    assert of_checks(broken, "health.err_fields") == [("health.err_fields", Verdict.FAIL, 2)]
    assert of_checks(judged(catalogue, table(mode="Prohibited")), "iso.compute_mode") == [("iso.compute_mode", Verdict.FAIL, "Prohibited")]


def test_that_a_table_drawn_with_lines_is_the_same_table(catalogue: Catalogue) -> None:
    drawn = table().replace("|", "│").replace("+", "┼").replace("-----", "─────")
    assert verdict(judged(catalogue, drawn, gpu__count=8), "gpu.count") == [(Verdict.PASS, 8)]


FIO = {
    "fio version": "fio-3.33", "jobs": [{
        "jobname": "seq", "error": 0, "job options": {"rw": "read", "bs": "1M", "direct": "1"}, "job_runtime": 30000,
        "read": {"io_bytes": 81_000_000_000, "bw_bytes": 2_700_000_000, "iops": 2575.0, "runtime": 30000, "total_ios": 77250},
    }],
}  # fmt: skip
IPERF = """Connecting to host 10.8.0.2, port 5201
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-1.00   sec  11.0 GBytes  94.4 Gbits/sec    0
- - - - - - - - - - - - - - - - - - - - - - - - -
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec   110 GBytes  94.4 Gbits/sec    7             sender
[  5]   0.00-10.04  sec   110 GBytes  94.1 Gbits/sec                  receiver

iperf Done.
"""
IB_PORT = """CA '{name}'
\tNumber of ports: 1
\tPort 1:
\t\tState: {state}
\t\tRate: 400
\t\tLink layer: InfiniBand
"""
TWO_PORTS = IB_PORT.format(name="mlx5_0", state="Active") + IB_PORT.format(name="mlx5_1", state="Down")
ETHTOOL = "Settings for eth0:\n\tSpeed: 25000Mb/s\n\tDuplex: Full\n\tLink detected: yes\n"
BUS = "".join(f"{27 + n:02x}:00.0 3D controller [0302]: NVIDIA Corporation GA100 [10de:20b2] (rev a1)\n" for n in range(8))
QUERY = "index, name, pci.device_id, memory.total [MiB], power.limit [W]\n" + "".join(
    f"{n}, NVIDIA H100 80GB HBM3, 0x233010DE, 81559 MiB, 500.00 W\n" for n in range(8)
)


@pytest.mark.parametrize(("text", "terms", "check", "expected"), [
    (QUERY, H100, "gpu.model", [(Verdict.PASS, "H100 SXM5 80GB")]), (QUERY, {"gpu__power_w": 700}, "power.limit", [(Verdict.FAIL, 500.0)]),
    (BUS, H100, "gpu.pci_id", [(Verdict.FAIL, "10de:20b2")]),
    (json.dumps(FIO), {"disk__read_mb_s": 2500}, "disk.seq", [(Verdict.PASS, 2700.0)]),
    (json.dumps(FIO), {"disk__read_mb_s": 9000}, "disk.seq", [(Verdict.WARN, 2700.0)]),
    (IPERF, {"network__gbit_s": 100}, "net.iperf_multi", [(Verdict.PASS, 94.1)]),
    (TWO_PORTS, {"rdma__ports": 2}, "rdma.ports", [(Verdict.FAIL, 1)]),
    (ETHTOOL, {"network__gbit_s": 25}, "net.inventory", [(Verdict.PASS, 25.0)]),
    (ETHTOOL, {"network__gbit_s": 100}, "net.inventory", [(Verdict.INCONCLUSIVE, 25.0)]),
])  # fmt: skip
def test_that_what_suppliers_send_in_place_of_our_own_outputs_is_judged(
    catalogue: Catalogue, text: str, terms: dict[str, object], check: str, expected: list[tuple[Verdict, object]]
) -> None:
    found = judged(catalogue, text, **terms)
    stated = [f for f in found.findings if f.check == check and f.term and f.term.replace(".", "__") in terms and f.measured is not None]
    assert [(f.verdict, f.measured) for f in stated] == expected


def test_that_an_error_of_nvidia_smi_is_the_reason_and_contradicts_a_list_of_cards(catalogue: Catalogue) -> None:
    error = "No devices were found\n"
    found = judged(catalogue, error, gpu__count=8)
    assert [f.reason_code for f in found.findings if f.term == "gpu.count"] == ["no_devices"]
    assert found.overall is Verdict.INCONCLUSIVE
    both = judge_pieces(catalogue, [*pieces_of(error.encode()), *pieces_of(LIST.encode())], {"gpu.count": 8})
    assert (len(torn(both)), both.overall) == (1, Verdict.INCONCLUSIVE)


def test_that_an_output_which_no_check_reads_is_said_to_be_unused(catalogue: Catalogue) -> None:
    found = judged(catalogue, "# gpu   pwr gtemp mtemp\n# Idx     W     C     C\n    0    71    31    38\n", gpu__count=8)
    assert [o.note.en if o.note else None for o in found.outputs] == ["read, but no ready check uses it"]
    assert judged(catalogue, LIST, gpu__count=8).outputs[0].note is None


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


def test_that_every_question_is_one_line_that_can_be_sent_and_whose_answer_is_read(catalogue: Catalogue) -> None:
    found = {term: question for term in catalogue.terms if (question := question_for(term)) is not None}
    assert len(found) > 25
    for question in found.values():
        assert "\n" not in question.line.en and "\n" not in question.line.zh
        assert not re.search(r"\b(?:PEER|PORT|SECONDS|WORD|URL|COUNT|DEVICE)\b", question.line.en)
    assert {term: found[term].command for term in ("access.root", "isolation", "rdma.ports", "network.kind")} == {
        "access.root": "id", "isolation": "systemd-detect-virt", "rdma.ports": "ibstat", "network.kind": "ibstat",
    }  # fmt: skip
    assert found["network.gbit_s"].line.zh == "iperf3 -c <我方节点地址> -J -t 30 -P 8"
    assert "--rw=write" in found["disk.write_mb_s"].command
    assert "不要截图" in found["isolation"].message.zh and found["isolation"].command in found["isolation"].message.en
    assert question_for("price.currency") is None and question_for("network.ports") is None


CPUS = "Architecture:        x86_64\nCPU(s):              64\n"
MEMORY = "MemTotal:       2113456128 kB\nMemAvailable:   2013456128 kB\n"


@pytest.mark.parametrize(("text", "term", "value", "expected"), [
    (CPUS + "3200000 100000\n", "cpu.cores", 64, Verdict.FAIL), (CPUS + "max 100000\n", "cpu.cores", 64, Verdict.PASS),
    (CPUS, "cpu.cores", 64, Verdict.INCONCLUSIVE), (MEMORY + "274877906944\n", "ram_gb", 2000, Verdict.FAIL),
    (MEMORY + "max\n", "ram_gb", 2000, Verdict.PASS), (MEMORY, "ram_gb", 2000, Verdict.INCONCLUSIVE),
    ("uid=0(root) gid=0(root) groups=0(root)\n", "access.root", True, Verdict.PASS),
    ("uid=1001(li) gid=1001(li) groups=1001(li)\n", "access.root", True, Verdict.FAIL),
    ("kvm\n", "isolation", "bare_metal", Verdict.FAIL), ("none\n", "isolation", "bare_metal", Verdict.PASS),
    ("docker\n", "isolation", "vm", Verdict.FAIL),
])  # fmt: skip
def test_that_the_answers_to_the_plain_commands_are_judged(
    catalogue: Catalogue, text: str, term: str, value: object, expected: Verdict
) -> None:
    found = judge_pieces(catalogue, pieces_of(text.encode()), {term: value})
    assert worst(f.verdict for f in found.findings if f.term == term) is expected


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


def test_that_terms_which_exclude_each_other_are_named_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terms, file = tmp_path / "t.toml", tmp_path / "out.xml"
    terms.write_text('gpu.model = "nvidia-h100-sxm5-80gb"\ngpu.form_factor = "pcie"\n', encoding="utf-8")
    file.write_text(XML, encoding="utf-8")
    assert main(["judge", "--terms", str(terms), "--workspace", str(tmp_path / "w.db"), str(file)]) == 2
    assert "the contract contradicts itself: gpu.form_factor = pcie, but H100 SXM5 80GB has sxm" in capsys.readouterr().err
