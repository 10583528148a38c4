"""Are the simulated nodes what their stories say, in formats that the real parsers read?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.nodes import NAMES, demo_nodes
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.facts.fact import read, readers

NOW = datetime(2026, 11, 30, 8, 15, 30, tzinfo=UTC)
PASSIVE = {id_: r for id_, r in readers().items() if r.fact.command and r.fact.impact is Impact.PASSIVE}
NVIDIA_ONLY = {id_ for id_, r in PASSIVE.items() if r.fact.command and r.fact.command.tool == "nvidia-smi"}
NVIDIA_ONLY |= {"clock_samples", "p2p", "smi_binary", "smi_extra"} & PASSIVE.keys()
ASCEND_ONLY = ["npu_ecc", "npu_links", "npu_ports", "npu_smi"]


def reading(name: str, fact_id: str):
    return read(readers()[fact_id], answer(demo_nodes()[name], fact_id, NOW))


def told(name: str, fact_id: str) -> dict[str, object]:
    return readers()[fact_id].as_dict(reading(name, fact_id))


def missing(name: str) -> dict[str, str]:
    found = {}
    for id_ in PASSIVE:
        try:
            reading(name, id_)
        except Unreadable as trouble:
            found[id_] = str(trouble.code)
    return found


@pytest.mark.parametrize("name", [n for n in NAMES if n != "ascend"])
def test_that_a_node_with_nvidia_cards_answers_every_fact_but_the_ascend_ones(name: str) -> None:
    assert missing(name) == dict.fromkeys(ASCEND_ONLY, Reason.MISSING_TOOL)


def test_that_the_ascend_node_has_no_nvidia_tool() -> None:
    assert missing("ascend") == dict.fromkeys(NVIDIA_ONLY, Reason.MISSING_TOOL)
    assert told("ascend", "npu_smi")["names"] == ["910B3"] * 8


def test_that_a_missing_tool_is_told_as_sh_tells_it() -> None:
    said = {
        id_: answer(demo_nodes()["ascend"], id_, NOW).stderr for id_ in ("smi_xml", "clock_samples", "driver_files")
    }
    assert said == {
        "smi_xml": b"sh: nvidia-smi: not found\n",
        "clock_samples": b"sh: 3: nvidia-smi: not found\n" * 2,
        "driver_files": b"sh: 18: nvidia-smi: not found\n",
    }


def test_that_every_promise_is_a_term_with_a_fitting_value() -> None:
    catalogue = load_catalogue()
    for node in demo_nodes().values():
        assert {key: validate_term(key, value, catalogue) for key, value in node.terms.items()} == dict(node.terms)


def test_that_every_passive_fact_has_an_answer_of_its_own() -> None:
    codes = {id_: answer(demo_nodes()["honest"], id_, NOW).exit_code for id_ in PASSIVE}
    assert [id_ for id_, code in codes.items() if code != 0] == ASCEND_ONLY
    assert answer(demo_nodes()["honest"], "never_heard_of", NOW).exit_code == 127


def test_that_no_two_nodes_share_an_identity() -> None:
    machines = [node.machine for node in demo_nodes().values()]
    cards = [c for m in machines for c in (*m.gpus, *m.lost)]
    disks = [d.serial for m in machines for d in m.disks]
    for values in ([c.uuid for c in cards], [c.serial for c in cards], disks, [m.host.hostname for m in machines]):
        assert len(set(values)) == len(values)
    buses = [tuple(c.bus for c in m.gpus) for m in machines if m.gpus]
    assert len(set(buses)) == len(buses)
    drivers = {m.name: m.driver.version for m in machines if m.driver}
    assert len(set(drivers.values())) == len(drivers)
    assert {version[:3] for version in drivers.values()} == {"535", "550", "570", "580", "595"}


def test_that_the_same_question_gets_the_same_bytes() -> None:
    for name in NAMES:
        for id_ in PASSIVE:
            assert answer(demo_nodes()[name], id_, NOW) == answer(demo_nodes()[name], id_, NOW)


def test_that_every_node_has_its_papers_in_both_languages() -> None:
    for node in demo_nodes().values():
        for text in (node.title, node.story, node.deal.supplier, node.deal.offer):
            assert text.en and text.zh and text.en != text.zh
        assert node.deal.start < node.deal.end
        assert "demo" in node.deal.supplier.en and "演示" in node.deal.supplier.zh
    assert demo_nodes()["slow-net-a"].peer == "slow-net-b"
    assert demo_nodes()["slow-net-b"].peer == "slow-net-a"


def test_that_the_form_factor_fraud_shows_in_the_cards() -> None:
    report = told("pcie-as-sxm", "smi_xml")
    assert (report["gpus"], set(report["names"])) == (8, {"NVIDIA H100 PCIe"})
    assert demo_nodes()["pcie-as-sxm"].terms["gpu.form_factor"] == "sxm"


def test_that_no_pair_of_the_node_without_nvlink_is_linked() -> None:
    assert told("no-nvlink", "topo")["gpu_pair_link_counts"] == {"PHB": 4, "NODE": 8, "SYS": 16}
    assert told("no-nvlink", "nvlink")["links_active"] == [0] * 8
    assert told("honest", "topo")["gpu_pair_link_counts"] == {"NV18": 28}


def test_that_the_ports_of_the_pair_run_at_25_gbit_s() -> None:
    for name in ("slow-net-a", "slow-net-b"):
        assert [s for s in told(name, "net_links")["speeds_mbit_s"] if s] == [25000]


def test_that_the_capped_node_may_draw_500_w_and_is_hot() -> None:
    cards = reading("capped", "smi_xml").gpus
    assert {(c.power_enforced_limit_w or c.power_limit_w, c.power_default_limit_w) for c in cards} == {(500, 700)}
    assert all("hw_thermal_slowdown" in (c.active_clock_reasons or ()) for c in cards)


def test_that_the_sick_node_has_lost_a_card_and_repairs_fail() -> None:
    cards = reading("sick", "smi_xml").gpus
    assert len(cards) == 7
    assert [(c.ecc_uncorrected_volatile, c.remap_failure) for c in cards if c.ecc_uncorrected_volatile] == [(6, "Yes")]
    assert told("sick", "dmesg")["xid_counts"] == {"79": 1, "48": 1, "64": 1}


def test_that_the_hostile_node_floods_lies_and_injects() -> None:
    log = answer(demo_nodes()["hostile"], "dmesg", NOW)
    assert (len(log.stdout), log.stdout_cut) == (MAX_STDOUT_BYTES, True)
    assert {d.pci_id for d in reading("hostile", "pci_devices").nvidia_gpus} == {"10de:20b5"}
    report = reading("hostile", "smi_xml")
    assert {c.pci_device_id for c in report.gpus} == {"10de:2330"}
    assert "<img src=" in (report.gpus[0].name or "")
    assert "\u202e" in report.gpus[3].processes[0].name
    assert "\x1b" in (reading("hostile", "environment").hostname or "")


def test_that_the_demo_data_stay_small() -> None:
    folder = Path(__file__).parents[2] / "resources" / "demo"
    files = [f for f in folder.rglob("*") if f.is_file()]
    assert len([f for f in files if f.name == "node.toml"]) == len(NAMES)
    assert sum(f.stat().st_size for f in files) < 100_000
