"""A node laid out in a mount namespace, with a compiled nvidia-smi and a real sshd: an honest one keeps its promises.

Cards, bus, driver files and devices are the stand-in's; processors, memory, disks and kernel log are this machine's.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.workspace import Workspace
from tests.integration.conftest import Keys, SshServer
from tests.standin.node import Lie, make_node

pytestmark = pytest.mark.sshd

TERMS = """
gpu.model = "nvidia-h100-sxm5-80gb"
gpu.count = 8
gpu.whole = true
gpu.ecc = true
gpu.interconnect = "nvswitch"
nvlink.gb_s_per_gpu = 900
pcie.gen = 5
pcie.width = 16
driver.min = "550"
cuda.min = "12.4"
framework = "torch 2.6 cu124"
network.rails = 8
rdma.ports = 8
rdma.gbit_s = 400
"""
CARDS = ("clock.", "drv.", "gpu.", "health.", "iso.", "mem.", "nvlink.", "pcie.", "power.", "rdma.", "thermal.", "topo.", "trust.")

# What an idle node on its first day leaves open: check -> reason code.
OPEN = {
    "clock.event_reasons": {"no_load"},
    "clock.lock": {"no_load"},
    "cpu.model": {"not_promised"},
    "cpu.quota": {"not_promised"},
    "disk.inventory": {"not_promised"},
    "evidence.drift": {"no_baseline"},
    "iso.access": {"not_promised"},
    "iso.neighbours": {"not_promised"},
    "net.bond_vlan_qos": {"not_promised"},
    "net.inventory": {"not_promised"},
    "ram.total": {"not_promised"},
    "thermal.gpu": {"no_load"},
    "trust.environment": {"not_promised"},
    "trust.identity_pin": {"no_baseline"},
}
_LOG = {"denied", "cut_off", "missing_tool", "other_boot", "stretch_unknown", "unreadable"}
# What one machine can answer and another can't.
THIS_MACHINE = {
    "cpu.freq": {"not_visible"},
    "disk.health": {"missing_tool", "not_visible", "unreadable"},
    "health.host_mce": {"not_visible"},
    "health.sxid": _LOG,
    "health.xid": _LOG,
    "net.errors": {"not_visible", "unreadable"},
}
# Until the digest of the file is known from other nodes with the same driver.
UNKNOWN_DIGEST = {("warn", "host_file"), ("warn", "hash_unknown")}


def can_mount() -> bool:
    return os.name == "posix" and os.geteuid() == 0 and bool(shutil.which("unshare")) and not subprocess.call(
        ["unshare", "-m", "mount", "-t", "tmpfs", "stand-in", "/mnt"], stderr=subprocess.DEVNULL
    )  # fmt: skip


@contextlib.contextmanager
def node(keys: Keys, folder: Path, lie: Lie = Lie.NONE) -> Iterator[SshServer]:
    if not can_mount():
        pytest.skip("mount namespaces can't be made here (needs root)")
    (folder / "node").mkdir()
    script = make_node(folder / "node", lie)
    server = SshServer(keys, folder, env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                       within=("unshare", "-m", "sh", str(script)))  # fmt: skip
    try:
        server.start()
        yield server
    finally:
        server.stop()


def verify(server: SshServer, folder: Path, *words: str) -> dict[str, Any]:
    terms = folder / "terms.toml"
    terms.write_text(TERMS)
    key = server.keys.host_keys()[0]
    command = [sys.executable, "-m", "gpulease_gui.cli.main", "verify", str(server.address), "--identity", server.key_file,
               "--fingerprint", key.fingerprint, "--workspace", str(folder / "w.db"), "--json", "--terms", str(terms), *words]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def named(report: dict[str, Any], verdict: str) -> set[tuple[str, str]]:
    """Check and reason code of the findings with this verdict."""
    return {(f["check"], f["reason_code"]) for f in report["findings"] if f["verdict"] == verdict}


@pytest.fixture(scope="module")
def honest(keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], SshServer, Path]]:
    folder = tmp_path_factory.mktemp("honest")
    with node(keys, folder) as server:
        yield verify(server, folder), server, folder


def test_that_an_honest_node_fails_in_nothing_and_all_checks_of_its_cards_pass(honest: tuple[dict[str, Any], SshServer, Path]) -> None:
    report = honest[0]
    assert named(report, "fail") == set()
    left = {(f["check"], f["verdict"], f["reason_code"]) for f in report["findings"] if f["check"].startswith(CARDS) and f["verdict"] != "pass"}
    known = {(check, "inconclusive", code) for check, codes in {**OPEN, **THIS_MACHINE}.items() for code in codes}
    known |= {("health.retired_pages", "not_applicable", ""), ("rdma.roce_config", "not_applicable", "")}
    known |= {("iso.access", "warn", "open_ways")}
    known |= {("trust.smi_binary", *answer) for answer in UNKNOWN_DIGEST}
    assert left <= known
    unproven = {f["check"] for f in report["findings"] if f["required"] and f["verdict"] != "pass"}
    assert unproven <= {"health.xid", "health.retired_pages"}


def test_that_what_an_honest_node_leaves_open_is_named_with_its_reason(honest: tuple[dict[str, Any], SshServer, Path]) -> None:
    report = honest[0]
    silent = named(report, "inconclusive")
    here = {(check, code) for check, codes in THIS_MACHINE.items() for code in codes}
    assert silent - here == {(check, code) for check, codes in OPEN.items() for code in codes}
    assert all(f["next_step"] for f in report["findings"] if f["verdict"] == "inconclusive")


def test_that_a_second_look_finds_the_same_machine_and_a_clock_that_runs_true(honest: tuple[dict[str, Any], SshServer, Path]) -> None:
    _, server, folder = honest
    again = verify(server, folder, "--only", "trust.identity_pin,evidence.drift,trust.clock")
    assert {f["check"]: f["verdict"] for f in again["findings"]} == {
        "trust.identity_pin": "pass", "evidence.drift": "pass", "trust.clock": "pass"
    }  # fmt: skip


def test_that_a_file_known_from_nodes_of_several_suppliers_passes(honest: tuple[dict[str, Any], SshServer, Path]) -> None:
    report, server, folder = honest
    with contextlib.closing(Workspace.open(folder / "w.db")) as workspace:
        workspace.submit(lambda db: three_more_nodes(db, report["run"])).result(10)
    known = verify(server, folder, "--only", "trust.smi_binary,drv.version")
    assert named(known, "pass") == {("trust.smi_binary", ""), ("drv.version", "")}


def three_more_nodes(db: Database, run: str) -> None:
    """The same file and driver on three nodes of two suppliers, in runs like `run`."""
    for n in range(3):
        supplier, contract, name = f"s{n % 2}", f"c{n}", f"n{n}"
        save_supplier(db, Supplier(supplier, supplier))
        save_contract(db, Contract(contract, supplier, contract))
        save_node(db, Node(name, name, Reach.SSH, Address(f"10.7.0.{n + 1}", 22, "root"), contract))
        copy_row(db, "runs", f"id = '{run}'", id=f"r{n}", node_id=name, contract_id=contract)
        for check in ("trust.smi_binary", "drv.version"):
            copy_row(db, "findings", f"run_id = '{run}' AND check_id = '{check}'", entry=None, id=f"{check} {n}", run_id=f"r{n}")


def copy_row(db: Database, table: str, where: str, **changes: str | None) -> None:
    row = next(iter(db.query(f"SELECT * FROM {table} WHERE {where}")))
    db.table(table).insert({**row, **changes})


def test_that_a_script_before_the_tool_is_found(keys: Keys, tmp_path: Path) -> None:
    with node(keys, tmp_path, Lie.WRAPPER) as server:
        report = verify(server, tmp_path, "--only", "trust.smi_binary,gpu.count,trust.cross_sources")
    assert named(report, "fail") == {("trust.smi_binary", "script")}
    assert report["overall"] == "fail"


def test_that_slots_with_another_product_than_the_tool_names_are_found(keys: Keys, tmp_path: Path) -> None:
    with node(keys, tmp_path, Lie.PCI_ID) as server:
        report = verify(server, tmp_path, "--only", "trust.smi_binary,gpu.count,gpu.pci_id,trust.cross_sources")
    assert ("trust.cross_sources", "inconsistent") in named(report, "fail")
    assert ("gpu.pci_id", "inconsistent") in named(report, "fail")


def test_that_a_card_that_only_the_tool_leaves_out_is_missed(keys: Keys, tmp_path: Path) -> None:
    with node(keys, tmp_path, Lie.CARD_MISSING) as server:
        report = verify(server, tmp_path, "--only", "trust.smi_binary,gpu.count,gpu.pci_id,trust.cross_sources")
    assert {check for check, _ in named(report, "fail")} == {"gpu.count"}
    count = next(f for f in report["findings"] if f["check"] == "gpu.count")
    assert (count["promised"], count["measured"]) == (8, 7)
