"""The command line: exit codes, messages, and the JSON that scripts rely on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.demo.nodes import NAMES

PLACES = ("name", "target", "run", "started", "host_key", "contract", "demo", "findings", "totals", "overall")
FINDING_KEYS = {
    "check", "verdict", "term", "required", "promised", "measured", "unit", "subjects", "reason", "reason_code", "next_step",
    "basis", "rule_version", "evidence", "judged_by",
}  # fmt: skip
# Demo node -> the checks that must name its fraud, and the exit code.
FRAUDS = {
    "honest": (set(), 0),
    "pcie-as-sxm": ({"gpu.form_factor", "gpu.model", "gpu.pci_id"}, 1),
    "no-nvlink": ({"topo.matrix", "nvlink.state"}, 1),
    "slow-net-a": ({"net.inventory", "net.iperf_multi"}, 1),
    "slow-net-b": ({"net.inventory", "net.iperf_multi"}, 1),
    "capped": ({"power.limit", "clock.event_reasons"}, 1),
    "sick": ({"gpu.count", "health.ecc_uncorrected", "health.row_remap", "health.xid"}, 1),
    "ascend": (set(), 0),
    "hostile": ({"trust.cross_sources"}, 1),
}


def gpulease(*words: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gpulease_gui.cli.main", *words], capture_output=True, text=True, timeout=90, input=text,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_that_each_demo_node_gets_its_right_verdict(name: str, tmp_path: Path) -> None:
    done = gpulease("verify", f"demo:{name}", "--workspace", str(tmp_path / "demo.db"), "--json")
    report = json.loads(done.stdout)
    failed = {f["check"] for f in report["findings"] if f["verdict"] == "fail"}
    caught, code = FRAUDS[name]
    assert caught <= failed if caught else not failed
    assert done.returncode == code, done.stderr
    assert report["demo"] is True and set(PLACES) <= set(report)
    assert all(set(f) == FINDING_KEYS for f in report["findings"])
    assert all(f["evidence"] for f in report["findings"] if f["verdict"] in ("pass", "warn", "fail"))
    assert sum(report["totals"].values()) == len(report["findings"])
    if name == "hostile":
        assert not [f for f in report["findings"] if f["check"] == "gpu.model" and f["verdict"] == "pass"]
        assert "\x1b" not in done.stderr


def test_that_every_command_but_export_runs_without_qt(tmp_path: Path) -> None:
    blocked = tmp_path / "PySide6"
    blocked.mkdir()
    (blocked / "__init__.py").write_text("raise ImportError('blocked')")
    for words in (["checks"], ["checks", "--commands"], ["demo", "--list"], ["agent", "--count", "1"]):
        assert gpulease(*words, PYTHONPATH=str(tmp_path)).returncode == 0
    done = gpulease("verify", "demo:ascend", "--workspace", str(tmp_path / "d.db"), PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ("gpu.cuont = 8", ["gpu.cuont", "gpu.count"]),
        ('network.gbit_s = "100G"', ["network.gbit_s", "Gbit/s"]),
        ('gpu.model = "NVIDIA H100"', ["nvidia-h100-sxm5"]),
        ('gpu.form_factor = "blade"', ["sxm", "pcie"]),
        ("gpu.count = ", ["terms.toml"]),
        ("driver.min = 550", ["driver.min"]),
    ],
)
def test_that_a_wrong_terms_file_is_refused_with_what_where_and_what_to_do(
    terms: str, words: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "terms.toml"
    path.write_text(terms)
    done = gpulease("verify", "local", "--terms", str(path), "--workspace", str(tmp_path / "w.db"))
    assert done.returncode == 64
    assert all(word in done.stderr for word in [*words, "terms.toml"]), done.stderr
    assert not (tmp_path / "w.db").exists()


@pytest.mark.parametrize(
    "words",
    [["verify"], ["verify", "local", "--only", "gpu.nonsense"], ["verify", "local", "--only", "evidence.bundle"], ["verify", "demo:nobody"],
     ["verify", "local", "--seconds", "0"], ["verify", "local", "--url", "-o/etc/x"], ["verify", "local", *["--url", "http://h/f"] * 5],
     ["verify", "local", "--fingerprint", "MD5:00"], ["frobnicate"],
     ["parse", "--kind", "nothing", "x"], ["parse", "/does/not/exist"], ["verify", "-oProxyCommand=true"]],
)  # fmt: skip
def test_that_a_wrong_call_is_a_usage_error(words: list[str], tmp_path: Path) -> None:
    done = gpulease(*words, *(["--workspace", str(tmp_path / "w.db")] if words[0] == "verify" else []))
    assert done.returncode == 64 and done.stderr.strip(), done.stdout


def test_that_a_planned_check_is_listed_but_can_not_be_run() -> None:
    rows = {row["id"]: row for row in json.loads(gpulease("checks", "--json").stdout)}
    assert rows["evidence.bundle"]["state"] == "planned" and rows["gpu.model"]["state"] == "ready"
    assert len(rows) >= 136


def test_that_every_command_that_can_run_on_a_node_is_printed_with_its_impact() -> None:
    said = gpulease("checks", "--commands").stdout
    for words in ("nvidia-smi -q -x", "nvidia-smi topo -m", "npu-smi info", "iperf3 -c", "fio --name", "(active,", "(passive,", "stream gpu"):
        assert words in said


@pytest.mark.parametrize(("port", "phase"), [("closed", "tcp"), ("silent", "banner")])
def test_that_a_node_that_is_not_there_ends_with_exit_3_and_the_phase(port: str, phase: str, tmp_path: Path) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        if port == "silent":
            sock.listen()
        key = tmp_path / "id"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        target = f"root@127.0.0.1:{sock.getsockname()[1]}"
        done = gpulease("verify", target, "--identity", str(key), "--json", "--workspace", str(tmp_path / "w.db"))
    error = json.loads(done.stdout)["error"]
    assert done.returncode == 3 and error["phase"] == phase
    assert error["reason"] and error["next_step"]


def test_that_an_interrupt_keeps_the_findings_so_far(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "verify", "demo:hostile", "--json", "--workspace", str(tmp_path / "d.db")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    first = process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate(timeout=60)
    report = json.loads(out)
    assert process.returncode == 130, rest
    assert report["findings"] and first.split()[1].rstrip(":") in {f["check"] for f in report["findings"]}


def test_that_a_bundle_holds_the_outputs_under_their_hashes(tmp_path: Path) -> None:
    import hashlib

    bundle = tmp_path / "evidence.zip"
    gpulease("verify", "demo:capped", "--workspace", str(tmp_path / "d.db"), "--bundle", str(bundle), "--json")
    with zipfile.ZipFile(bundle) as file:
        manifest: dict[str, Any] = json.loads(file.read("manifest.json"))
        outputs = {name.removeprefix("outputs/"): file.read(name) for name in file.namelist() if name.startswith("outputs/")}
        assert json.loads(file.read("verdict.json"))["overall"] == "fail"
    assert all(hashlib.sha256(content).hexdigest() == name for name, content in outputs.items())
    facts = {line["fact"]: line for line in manifest["outputs"]}
    assert facts["smi_xml"]["stdout"] in outputs and facts["smi_xml"]["exit_code"] == 0
    assert abs(manifest["node_clock_minus_ours_s"]) < 3600


def test_that_a_contract_is_verified_again_and_says_what_changed(tmp_path: Path) -> None:
    path = str(tmp_path / "d.db")
    first = json.loads(gpulease("verify", "demo:ascend", "--workspace", path, "--json").stdout)
    done = gpulease("verify", "--contract", first["contract"], "--all", "--demo", "--workspace", path, "--json")
    again = json.loads(done.stdout)
    assert done.returncode == 0 and len(again["nodes"]) == 1
    assert again["changed"] == {"ascend": []} or all(" now" in line for line in again["changed"]["ascend"])


def test_that_saved_outputs_are_read_and_foreign_ones_are_said_to_be(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n")
    bad.write_text("hello, this is the weather\n")
    done = gpulease("parse", "--json", str(good), str(bad))
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["kind"] == "smi_list" and first["reading"]["gpus"] == 1 and first["problem"] is None
    assert second["reading"] is None and second["problem"]["next_step"] and done.returncode == 1


def test_that_our_own_fault_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    broken = tmp_path / "sitecustomize.py"
    broken.write_text("import gpulease_gui.cli.checks as c\ndef run(options): raise ZeroDivisionError\nc.run = run\n")
    done = gpulease("checks", PYTHONPATH=str(tmp_path))
    assert done.returncode == 70 and "ZeroDivisionError" in done.stderr
