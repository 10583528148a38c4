"""The verify command against a real OpenSSH server, real iperf3 over a limited link, real fio."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.nodes import demo_nodes

pytestmark = pytest.mark.sshd

TERMS = """
gpu.model = "nvidia-h100-sxm5-80gb"
gpu.count = 8
gpu.interconnect = "nvswitch"
driver.min = "550"
"""
STAND_IN = """#!/bin/sh
case "$*" in
  "-q -x") exec cat {folder}/smi_xml ;;
  "-L") exec cat {folder}/smi_list ;;
  "topo -m") exec cat {folder}/topo ;;
  "nvlink -s") exec cat {folder}/nvlink ;;
  "mig -lgi") exec cat {folder}/mig ;;
  *) echo "Field is not a valid field to query." ; exit 2 ;;
esac
"""


@pytest.fixture
def stand_ins(tmp_path: Path) -> Path:
    """A folder with an nvidia-smi that replays what an honest machine prints."""
    folder = tmp_path / "tools"
    folder.mkdir()
    for fact in ("smi_xml", "smi_list", "topo", "nvlink", "mig"):
        (folder / fact).write_bytes(answer(demo_nodes()["honest"], fact, datetime.now(UTC)).stdout)
    tool = folder / "nvidia-smi"
    tool.write_text(STAND_IN.format(folder=folder))
    tool.chmod(0o755)
    return folder


def gpulease(*words: str, timeout: float = 100) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpulease_gui.cli.main", *words], capture_output=True, text=True, timeout=timeout
    )


def target(server: Any) -> list[str]:
    fingerprint = next(key.fingerprint for key in server.keys.host_keys())
    return [str(server.address), "--identity", server.key_file, "--fingerprint", fingerprint]


def findings(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str | None], dict[str, Any]]:
    return {(f["check"], f["term"]): f for f in json.loads(done.stdout)["findings"]}


def test_that_replayed_outputs_keep_their_promises_and_the_script_that_replays_them_is_found_out(
    make_sshd: Callable[..., Any], stand_ins: Path, tmp_path: Path
) -> None:
    server = make_sshd(env={"PATH": f"{stand_ins}:{os.environ['PATH']}"})
    terms = tmp_path / "terms.toml"
    terms.write_text(TERMS)
    done = gpulease("verify", *target(server), "--terms", str(terms), "--workspace", str(tmp_path / "w.db"), "--json")
    found = findings(done)
    for check, term in (
        ("gpu.count", "gpu.count"), ("gpu.model", "gpu.model"), ("gpu.pci_id", "gpu.model"),
        ("gpu.form_factor", "gpu.form_factor"), ("gpu.memory_total", "gpu.memory_gb"),
        ("topo.matrix", "gpu.interconnect"), ("nvlink.state", "gpu.interconnect"), ("power.limit", "gpu.power_w"),
        ("drv.version", "driver.min"), ("health.ecc_uncorrected", None), ("health.row_remap", None),
    ):  # fmt: skip
        assert found[(check, term)]["verdict"] == "pass", found[(check, term)]
    assert found[("gpu.memory_total", "gpu.memory_gb")]["reason_code"] == "implied_by_gpu_model"
    assert json.loads(done.stdout)["contract"] == "contract"
    # The stand-in is a script and drives no device: just that is found out.
    assert {f["check"] for f in found.values() if f["verdict"] == "fail"} == {"trust.smi_binary", "iso.devices"}
    # No second source for the cards on this machine: that is never a pass.
    assert found[("trust.cross_sources", None)]["verdict"] == "inconclusive"


def test_that_an_unknown_host_key_ends_with_exit_3_and_the_flag_to_add(make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    server = make_sshd()
    done = gpulease(
        "verify", str(server.address), "--identity", server.key_file, "--json", "--workspace", str(tmp_path / "w.db")
    )
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 3 and error["phase"] == "host_key"
    assert any(f"--fingerprint {key.fingerprint}" in error["next_step"] for key in server.keys.host_keys())


def test_that_fio_measures_the_disk_and_leaves_no_file(make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    server = make_sshd()
    terms = tmp_path / "terms.toml"
    terms.write_text("disk.read_mb_s = 1\ndisk.write_mb_s = 900000\n")
    done = gpulease(
        "verify", *target(server), "--terms", str(terms), "--only", "disk.seq", "--seconds", "2", "--json",
        "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    found = findings(done)
    assert found[("disk.seq", "disk.read_mb_s")]["verdict"] == "pass", done.stderr
    assert found[("disk.seq", "disk.read_mb_s")]["basis"] == "measured"
    assert found[("disk.seq", "disk.write_mb_s")]["verdict"] == "fail"
    assert 1 < found[("disk.seq", "disk.write_mb_s")]["measured"] < 900000
    assert done.returncode == 1
    assert fio_files(server.home) == []


def test_that_without_fio_the_own_disk_test_measures_says_so_and_leaves_no_file(make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    server = make_sshd(env={"PATH": f"{missing_tool(tmp_path, 'fio')}:/usr/bin:/bin:/usr/sbin:/sbin"})
    terms = tmp_path / "terms.toml"
    terms.write_text("disk.read_mb_s = 1\ndisk.write_mb_s = 900000\n")
    done = gpulease(
        "verify", *target(server), "--terms", str(terms), "--only", "disk.seq", "--seconds", "1", "--json", "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    found = findings(done)
    read, written = found[("disk.seq", "disk.read_mb_s")], found[("disk.seq", "disk.write_mb_s")]
    assert read["measured"] > 1 and written["measured"] > 1, (found, done.stderr)
    assert (read["verdict"], written["verdict"], written["reason_code"]) == ("pass", "inconclusive", "own_test")
    assert all("with the program's own disk test, not fio" in json.dumps(one["reason"]) for one in (read, written))
    assert not [path for path in server.home.rglob("*") if path.is_file()]


def missing_tool(folder: Path, name: str) -> Path:
    """A folder to be looked into first, with a program that is as good as not there."""
    tool = folder / name
    tool.write_text(f"#!/bin/sh\necho 'sh: 1: {name}: not found' >&2\nexit 127\n")
    tool.chmod(0o755)
    return folder


def can_make_namespaces() -> bool:
    if os.name != "posix" or os.geteuid() != 0 or not shutil.which("ip"):
        return False
    made = subprocess.run(["ip", "netns", "add", "gl-try"], capture_output=True).returncode == 0
    subprocess.run(["ip", "netns", "del", "gl-try"], capture_output=True)
    return made


@pytest.fixture
def two_hosts() -> Iterator[tuple[str, str]]:
    """Two network namespaces joined by a veth that passes 200 Mbit/s each way; 10.77.3.1 and 10.77.3.2."""
    if not can_make_namespaces():
        pytest.skip("network namespaces can't be made here (needs root and iproute2)")
    names = f"gl-a-{os.getpid()}", f"gl-b-{os.getpid()}"
    with contextlib.ExitStack() as stack:
        for name in names:
            subprocess.run(["ip", "netns", "add", name], check=True)
            stack.callback(subprocess.run, ["ip", "netns", "del", name], check=True)
        subprocess.run(["ip", "link", "add", "gla0", "netns", names[0], "type", "veth", "peer", "glb0", "netns", names[1]], check=True)
        for name, device, address in ((names[0], "gla0", "10.77.3.1/24"), (names[1], "glb0", "10.77.3.2/24")):
            for words in (
                f"ip -n {name} addr add {address} dev {device}", f"ip -n {name} link set {device} up", f"ip -n {name} link set lo up",
                f"tc -n {name} qdisc add dev {device} root tbf rate 200mbit burst 256kb latency 100ms",
            ):  # fmt: skip
                subprocess.run(words.split(), check=True)
        yield names


@pytest.mark.netns
def test_that_a_limited_link_is_measured_and_the_unlimited_claim_fails(
    make_sshd: Callable[..., Any], two_hosts: tuple[str, str], tmp_path: Path, until: Callable[..., bool]
) -> None:
    boots = tmp_path / "a", tmp_path / "b"
    for number, boot in enumerate(boots):
        boot.write_text(f"5d1c3a52-0f0e-4a0b-9a67-00000000000{number}\n")
    inside = (
        "ForceCommand ip netns exec {} sh -c 'mount --bind {} /proc/sys/kernel/random/boot_id && exec sh -c \"$SSH_ORIGINAL_COMMAND\"'\n"
    )
    servers = [make_sshd(extra=inside.format(*place)) for place in zip(two_hosts, boots, strict=True)]
    terms = tmp_path / "terms.toml"
    for promised, verdict, code in (("1", "fail", 1), ("0.17", "pass", 0)):  # frames take 5 %, a loaded machine some more
        terms.write_text(f"network.gbit_s = {promised}\n")
        done = gpulease(
            "verify", *target(servers[0]), "--peer", str(servers[1].address), "--peer-address", "10.77.3.2",
            "--only", "net.iperf_multi", "--seconds", "2", "--terms", str(terms), "--json", "--workspace", str(tmp_path / "w.db"),
        )  # fmt: skip
        report = json.loads(done.stdout)
        both = report["findings"]
        assert [f["subjects"][0]["id"] for f in both] == ["target->peer", "peer->target"], done.stderr
        assert [f["verdict"] for f in both] == [verdict, verdict], both
        assert all(0.15 < f["measured"] < 0.21 for f in both)
        assert done.returncode == code
    done = gpulease(
        "verify", *target(servers[0]), "--peer", str(servers[1].address), "--peer-address", "198.51.100.7",
        "--only", "net.iperf_multi", "--seconds", "2", "--terms", str(terms), "--json", "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    blocked = json.loads(done.stdout)["findings"]
    assert done.returncode == 2 and {f["verdict"] for f in blocked} == {"inconclusive"}
    assert any("reaches none of the ports 5201 to 5204" in json.dumps(f["reason"]) for f in blocked), blocked
    assert until(lambda: not any(inside_of(name) for name in two_hosts))


@pytest.mark.netns
def test_that_without_iperf3_the_own_tcp_test_measures_says_so_and_is_gone_afterwards(
    make_sshd: Callable[..., Any], two_hosts: tuple[str, str], tmp_path: Path, until: Callable[..., bool]
) -> None:
    missing_tool(tmp_path, "iperf3")
    servers = []
    for number, name in enumerate(two_hosts):
        boot = tmp_path / f"boot{number}"
        boot.write_text(f"5d1c3a52-0f0e-4a0b-9a67-00000000001{number}\n")
        inside = f"ForceCommand ip netns exec {name} sh -c 'mount --bind {boot} /proc/sys/kernel/random/boot_id && exec sh -c \"$SSH_ORIGINAL_COMMAND\"'\n"
        servers.append(make_sshd(extra=inside, env={"PATH": f"{tmp_path}:/usr/bin:/bin:/usr/sbin:/sbin"}))
    terms = tmp_path / "terms.toml"
    terms.write_text("network.gbit_s = 0.13\n")
    done = gpulease(
        "verify", *target(servers[0]), "--peer", str(servers[1].address), "--peer-address", "10.77.3.2", "--only", "net.iperf_multi",
        "--seconds", "2", "--terms", str(terms), "--json", "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    both = json.loads(done.stdout)["findings"]
    assert [f["subjects"][0]["id"] for f in both] == ["target->peer", "peer->target"], (both, done.stderr)
    assert [f["verdict"] for f in both] == ["pass", "pass"], both
    assert all("with the program's own TCP test, not iperf3" in json.dumps(f["reason"]) for f in both), both
    assert all(0.13 < f["measured"] < 0.21 for f in both), both
    assert until(lambda: not any(inside_of(name) for name in two_hosts))
    assert list(servers[0].home.iterdir()) == list(servers[1].home.iterdir()) == []


def test_that_a_killed_client_leaves_no_process(
    make_sshd: Callable[..., Any], tmp_path: Path, until: Callable[..., bool]
) -> None:
    server = make_sshd()
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "verify", *target(server), "--only", "disk.seq", "--seconds", "60"]
    client = subprocess.Popen([*words, "--workspace", str(tmp_path / "w.db")], stderr=subprocess.DEVNULL)
    assert until(lambda: fio_processes(server.home))
    os.kill(client.pid, signal.SIGKILL)
    client.wait(60)
    assert until(lambda: not fio_processes(server.home))
    assert until(lambda: not fio_files(server.home))


def fio_processes(folder: Path) -> list[str]:
    """Processes named fio that work below a folder (other tests may run fio, too)."""
    found = subprocess.run(["pgrep", "-x", "fio"], capture_output=True, text=True).stdout.split()
    return [pid for pid in found if str(folder) in works_in(pid)]


def fio_files(folder: Path) -> list[str]:
    return [name for _, _, names in os.walk(folder) for name in names if "fio" in name]


def works_in(pid: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""


def inside_of(namespace: str) -> list[str]:
    return subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True).stdout.split()
