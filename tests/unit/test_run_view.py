"""What does one look at a verification show?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.pasted_nodes import parse_list
from gpulease_gui.services import demo_data
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.nodes_view import new_nodes, nodes_view, read_hardware
from gpulease_gui.services.plan import Choice, make_plan
from gpulease_gui.services.run_view import (
    SHOWN_LINE,
    check_history,
    check_infos,
    coverage,
    differs,
    key_of,
    node_runs,
    outputs_of,
    prepare,
    run_findings,
    shortened,
    supplier_question,
)

NODE = "demo-pcie-as-sxm"


def finding(verdict: Verdict = Verdict.PASS, measured: int = 8, term: str = "gpu.count") -> Finding:
    return Finding("gpu.count", verdict, Text("", ""), term, 8, measured)


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A demo workspace in which one node was verified twice."""
    services = open_services(tmp_path_factory.mktemp("view") / "demo.db", demo=True)
    for _ in range(2):
        node, request = services.query(lambda connection: prepare(connection, NODE)).result()
        services.verification.run(node, request, CancelToken())
    yield services
    services.close()


def test_that_every_check_names_the_commands_that_it_sends() -> None:
    infos = check_infos()
    assert [c.line for c in infos["gpu.count"].commands] == ["nvidia-smi -q -x", "nvidia-smi -L"]
    assert [info.id for info in infos.values() if not info.commands] == ["work.task"]  # its log is received, not asked for
    assert infos["net.iperf_multi"].needs_peer and infos["net.iperf_multi"].impact is Impact.ACTIVE
    assert [info.order for info in infos.values()] == sorted(info.order for info in infos.values())


def test_that_a_new_question_is_no_difference_and_another_value_is() -> None:
    assert not differs(None, finding())
    assert not differs(finding(), finding())
    assert differs(finding(), finding(measured=7))
    assert differs(finding(), finding(Verdict.FAIL))


def test_that_coverage_counts_promises_that_a_check_judged() -> None:
    terms = (("gpu.count", 8), ("ram_gb", 512), ("sla.percent", 99.9))
    covered = coverage(terms, [finding(), finding(Verdict.INCONCLUSIVE, term="ram_gb")])
    assert (covered.judged, covered.stated) == (1, 2)


def test_that_hardware_is_what_the_run_read_and_nothing_else() -> None:
    model = Finding("gpu.model", Verdict.PASS, Text("", ""), measured="H100 PCIe 80GB")
    assert read_hardware([finding(), model]) == ("8 × H100 PCIe 80GB", "")
    assert read_hardware([]) == ("", "")


def test_that_the_story_of_a_demo_node_is_told_in_both_languages_unless_someone_wrote_another() -> None:
    node = demo_data.record(demo_nodes()["ascend"])
    assert demo_data.note_of(node) == demo_nodes()["ascend"].story
    assert demo_data.note_of(replace(node, note="mine")).zh == "mine"


def test_that_the_npus_of_an_ascend_node_are_read_as_well() -> None:
    said = Text("a", "b")
    count = Finding("npu.inventory", Verdict.PASS, said, term="npu.count", measured=8)
    model = Finding("npu.inventory", Verdict.PASS, said, term="npu.model", measured="910B3")
    fit = Finding("npu.versions", Verdict.PASS, said, measured="driver 24.1.0.3, firmware ?, CANN 8.0.0")
    assert read_hardware([count, model, fit]) == ("8 × 910B3", "24.1.0.3")
    assert read_hardware([replace(fit, measured="driver ?, firmware ?, CANN 8.0.0")]) == ("", "")


def test_that_a_line_too_long_for_a_screen_says_how_much_is_left_out() -> None:
    assert shortened("a\r\n" + "b" * (SHOWN_LINE + 12)) == "a\n" + "b" * SHOWN_LINE + "… (+12)"


def test_that_pasted_lines_get_names_of_their_own() -> None:
    lines = parse_list("ssh -p 34446 root@203.0.113.1\nssh -p 34447 root@203.0.113.1\nroot@198.51.100.7\nssh -J ops@192.0.2.1 root@192.0.2.9")
    template = Node("", "", Reach.SSH, contract_id="c", auth=AuthMethod.AGENT)
    made = new_nodes((line.target for line in lines if line.target), template, ["198.51.100.7"])
    assert [node.name for node in made] == ["203.0.113.1", "203.0.113.1:34447", "198.51.100.7:22", "192.0.2.9"]
    assert [node.jump for node in made] == ["", "", "", "ops@192.0.2.1"]
    assert made[1].address == Address("203.0.113.1", 34447, "root")
    assert {(node.contract_id, node.auth) for node in made} == {("c", AuthMethod.AGENT)}


def test_that_a_heavy_run_holds_all_passive_checks_and_the_confirmed_one(verified: Services) -> None:
    wanted = Choice(added=("net.iperf_multi",))
    _, request = verified.query(lambda c: prepare(c, "demo-slow-net-a", wanted, "demo-slow-net-b")).result()
    passive = {info.id for info in check_infos().values() if info.impact is Impact.PASSIVE and info.commands}
    assert set(make_plan(request.choice).checks) == passive | {"net.iperf_multi"}
    assert request.peer is not None and request.peer.name == "slow-net-b"
    assert request.contract_label == "HG-1204-C"
    _, plain = verified.query(lambda c: prepare(c, "demo-slow-net-a")).result()
    assert (plain.only, plain.added, plain.peer) == ((), (), None)


def test_that_a_run_is_told_with_its_number_and_the_run_before(verified: Services) -> None:
    node = verified.query(lambda connection: node_runs(connection, None)).result()
    assert node is not None and node.node.id == NODE
    newest, first = node.runs
    assert (node.number(newest.id), node.number(first.id), node.number("other")) == (2, 1, 0)
    found = verified.query(lambda connection: run_findings(connection, newest.id)).result()
    assert found.before_run is not None and found.before_run.id == first.id
    form = next(f for f in found.findings if f.check == "gpu.form_factor")
    assert (form.promised, str(form.measured), form.verdict) == ("sxm", "pcie", Verdict.FAIL)
    assert not differs(found.before[key_of(form)], form)
    past = verified.query(lambda connection: check_history(connection, NODE, key_of(form))).result()
    assert [line.number for line in past] == [2, 1]


def test_that_an_output_is_shown_with_where_it_came_from(verified: Services) -> None:
    node = verified.query(lambda connection: node_runs(connection, NODE)).result()
    assert node is not None
    outputs = verified.query(lambda connection: outputs_of(connection, node.runs[0].id, "gpu.count")).result()
    assert [output.evidence.fact_id for output in outputs] == ["smi_xml", "smi_list"]
    assert outputs[0].text.startswith("<?xml") and outputs[0].evidence.command == "nvidia-smi -q -x"
    assert outputs[0].size > 10_000 and outputs[0].trouble == ""


def test_that_the_question_to_the_supplier_holds_promise_finding_and_hash(verified: Services) -> None:
    node = verified.query(lambda connection: node_runs(connection, NODE)).result()
    assert node is not None
    found = verified.query(lambda connection: run_findings(connection, node.runs[0].id)).result()
    form = next(f for f in found.findings if f.check == "gpu.form_factor")
    words = supplier_question(node.node, node.contract, form, found.run, verified.catalogue.terms)
    assert "VC-2026-118" in words.en and "Promised: SXM\nFound: PCIe" in words.en
    assert "承诺：SXM\n实测：PCIe" in words.zh
    assert all(sha256 in words.zh for sha256 in form.evidence)


def test_that_nodes_stand_under_their_contract_with_what_was_read(verified: Services) -> None:
    view = verified.query(nodes_view).result()
    row = next(row for row in view.rows if row.node.id == NODE)
    assert (row.cards, row.runs, row.key_was_changed) == ("8 × H100 PCIe 80GB", 2, False)
    assert row.contract is not None and view.acceptances[row.contract.id].sentence.en.startswith(
        "0 of 1 accepted, pcie-as-sxm fails gpu.form_factor"
    )
    assert [row.contract.number for row in view.rows if row.contract] == sorted(
        row.contract.number for row in view.rows if row.contract
    )
