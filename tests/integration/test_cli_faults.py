"""Wrong calls, broken streams and peers that are none: each ends in words and the right exit code."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.terms import read_terms_file, validate_term
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.bundle import write_bundle
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.services.targets import same_node
from gpulease_gui.store.workspace import Workspace

COMMAND = [sys.executable, "-m", "gpulease_gui.cli.main"]
SMI_LIST = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n"


def gpulease(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *words], capture_output=True, text=True, encoding="utf-8", timeout=90, env={**os.environ, **environment}
    )


def target(server: Any) -> list[str]:
    prints = [word for key in server.keys.host_keys() for word in ("--fingerprint", key.fingerprint)]
    return [str(server.address), "--identity", server.key_file, *prints]


@pytest.mark.parametrize("peer", ["demo:honest", "demo:nobody"])
def test_that_a_demo_node_is_not_its_own_peer(peer: str, tmp_path: Path) -> None:
    done = gpulease("verify", "demo:honest", "--peer", peer, "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64 and peer in done.stderr


@pytest.mark.parametrize("peer", ["root@192.0.2.1:22", "192.0.2.1", "ssh root@192.0.2.1", "someone@192.0.2.1"])
def test_that_another_spelling_of_the_target_is_no_peer(peer: str, tmp_path: Path) -> None:
    done = gpulease("verify", "root@192.0.2.1", "--peer", peer, "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64 and "is the target itself" in done.stderr


def test_that_another_port_is_another_node_and_another_user_is_not() -> None:
    one = Node("1", "one", Reach.SSH, Address("a.example", 22, "root"))
    assert same_node(one, Node("2", "two", Reach.SSH, Address("A.example", 22, "ops")))
    assert not same_node(one, Node("2", "two", Reach.SSH, Address("a.example", 23, "root")))
    assert not same_node(one, Node("2", "two", Reach.SSH, Address("a.example", 22, "root"), jump="gate"))


@pytest.mark.sshd
def test_that_a_peer_on_the_same_machine_proves_no_network(make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    done = gpulease(
        "verify", *target(make_sshd()), "--peer", "local", "--peer-address", "127.0.0.1", "--json", "--seconds", "1",
        "--only", "net.iperf_multi,net.latency", "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    report = json.loads(done.stdout)
    assert {f["check"] for f in report["findings"]} == {"net.iperf_multi", "net.latency"}
    assert {(f["verdict"], f["reason_code"]) for f in report["findings"]} == {("inconclusive", "same_machine")}
    assert "error" not in report and "boot id" in report["findings"][0]["reason"]


def test_that_a_peer_that_is_not_there_ends_with_exit_3_and_keeps_the_findings(tmp_path: Path) -> None:
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        peer = f"root@127.0.0.1:{sock.getsockname()[1]}"
        done = gpulease(
            "verify", "local", "--peer", peer, "--peer-identity", str(key), "--only", "cpu.model,net.iperf_multi", "--json",
            "--workspace", str(tmp_path / "w.db"),
        )  # fmt: skip
    report = json.loads(done.stdout)
    assert done.returncode == 3 and report["error"]["phase"] == "tcp", done.stderr
    assert peer in report["error"]["next_step"] and peer in report["error"]["reason"]
    assert {"cpu.model", "net.iperf_multi"} == {f["check"] for f in report["findings"]}


@pytest.mark.sshd
def test_that_an_unknown_host_key_of_the_peer_is_shown_with_the_flag(make_sshd: Callable[..., Any], tmp_path: Path) -> None:
    server = make_sshd()
    done = gpulease(
        "verify", "local", "--peer", str(server.address), "--peer-identity", server.key_file, "--only", "net.iperf_multi",
        "--workspace", str(tmp_path / "w.db"),
    )  # fmt: skip
    assert done.returncode == 3 and str(server.address) in done.stdout
    assert any(f"--fingerprint {key.fingerprint}" in done.stdout for key in server.keys.host_keys())


@pytest.mark.parametrize("words", ["10.0.0.2:22", "10.0.0", "-c", "a b", "root@10.0.0.2"])
def test_that_a_peer_address_is_an_address(words: str, tmp_path: Path) -> None:
    done = gpulease("verify", "local", "--peer", "root@192.0.2.1", f"--peer-address={words}", "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64 and "--peer-address" in done.stderr
    assert not (tmp_path / "w.db").exists()


@pytest.mark.parametrize("bundle", ["", "nodir/evidence.zip"])
def test_that_a_place_for_no_bundle_is_refused_before_the_run(bundle: str, tmp_path: Path) -> None:
    words = ["verify", "demo:honest", "--bundle", str(tmp_path / bundle), "--workspace", str(tmp_path / "w.db")]
    assert gpulease(*words).returncode == 64
    assert list(tmp_path.iterdir()) == []


def test_that_a_bundle_that_can_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "w.db")
    blocked = tmp_path / "evidence.zip"
    blocked.mkdir()
    with pytest.raises(UserFacing, match="was not written"):
        write_bundle(workspace, Outcome("local", None, utc_now(), None, None, demo=False), blocked)
    workspace.close()
    assert not list(tmp_path.glob("*.part"))


def of_kind(kind: str, folder: Path) -> Path:
    path = folder / "named.db"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("this is a letter, not a database")
    elif kind in ("real", "demo"):
        Workspace.open(path, demo=kind == "demo").close()
    elif kind == "no_folder":
        path = folder / "nodir" / "named.db"
    return path


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("verify local --only cpu.model", "folder"), ("verify local --only cpu.model", "text"),
        ("verify local --only cpu.model", "demo"), ("verify demo:honest", "real"), ("verify local --only cpu.model", "no_folder"),
        ("export --contract x --out x.json", "missing"), ("export --contract x --out x.json", "demo"),
        ("rejudge abc", "missing"), ("diff abc def", "missing"), ("diff abc def", "text"),
    ],
)  # fmt: skip
def test_that_a_wrong_workspace_is_a_wrong_call(words: str, kind: str, tmp_path: Path) -> None:
    path = of_kind(kind, tmp_path)
    before = sorted(tmp_path.rglob("*"))
    done = gpulease(*words.split(), "--workspace", str(path))
    assert done.returncode == 64 and str(path.parent) in done.stderr, done.stderr
    assert kind not in ("missing", "no_folder") or sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["checks"], ["parse", "--json", "one"]])
def test_that_a_full_output_is_one_line_and_our_fault(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "one").write_text(SMI_LIST)
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 70
    assert len(done.stderr.splitlines()) == 1 and "could not be written" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the stream")
def test_that_a_closed_output_is_one_line_and_our_fault() -> None:
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *COMMAND, "checks"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 70 and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_that_json_is_utf_8_whatever_the_terminal_speaks(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "节点.txt"
    path.write_text(SMI_LIST)
    done = gpulease("parse", "--json", str(path), PYTHONIOENCODING=encoding)
    assert done.returncode == 0 and json.loads(done.stdout)["file"] == str(path)


def test_that_a_missing_file_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(SMI_LIST)
    done = gpulease("parse", "--json", str(tmp_path / "a"), str(tmp_path / "none"), str(tmp_path / "b"))
    first, missing, last = (json.loads(line) for line in done.stdout.splitlines())
    assert done.returncode == 1 and first["problem"] is None and last["reading"]["gpus"] == 1
    assert missing["reading"] is None and "none" in missing["problem"]["reason"] and missing["problem"]["next_step"]


def test_that_a_terms_file_of_a_windows_editor_is_read(tmp_path: Path) -> None:
    assert read_terms_file("\ufeffgpu.count = 8") == {"gpu.count": 8}
    path = tmp_path / "terms.toml"
    path.write_bytes(b'\xef\xbb\xbfgpu.count = "x"\n')
    done = gpulease("verify", "local", "--terms", str(path), "--workspace", str(tmp_path / "w.db"))
    assert "gpu.count" in done.stderr and "no TOML" not in done.stderr


def test_that_a_name_with_parts_is_answered_with_the_part_to_write() -> None:
    with pytest.raises(UsageError) as refused:
        validate_term("gpu", "x", load_catalogue())
    assert refused.value.next_step == "write gpu.model = ..."


def test_that_lines_of_many_nodes_name_the_node(tmp_path: Path) -> None:
    path = str(tmp_path / "d.db")
    first = json.loads(gpulease("verify", "demo:ascend", "--workspace", path, "--json").stdout)
    done = gpulease("verify", "--contract", first["contract"], "--all", "--demo", "--workspace", path, "--json")
    assert done.stderr and all(line.startswith("ascend: ") for line in done.stderr.splitlines())


@pytest.mark.parametrize(("passphrase", "step"), [(None, "--identity FILE"), ("secret words", "in a terminal")])
def test_that_a_missing_secret_is_asked_for_by_what_the_command_line_has(passphrase: str | None, step: str, tmp_path: Path) -> None:
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase or "", "-f", key], check=True)
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        words = ["verify", f"root@127.0.0.1:{sock.getsockname()[1]}", "--json", "--workspace", str(tmp_path / "w.db")]
        if passphrase:
            words += ["--identity", str(key)]
        done = gpulease(*words, SSH_AUTH_SOCK="")
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 3 and error["phase"] == "auth", error
    assert step in error["next_step"] and "password" not in error["next_step"]
