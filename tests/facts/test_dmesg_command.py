"""Does the kernel log command take every way that is open, and never end well when all are closed?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts.dmesg import FACT
from gpulease_gui.facts.fact import read, readers

SH = shutil.which("sh")
pytestmark = pytest.mark.skipif(SH is None, reason="this system has no POSIX shell")

REFUSED = "echo 'dmesg: read kernel buffer failed: Operation not permitted' >&2; exit 1"
LOG = "echo '2025-03-11T08:14:01,000000+00:00 {}: link becomes ready'"
NO_ENTRIES = (
    "echo 'Hint: You are currently not seeing messages from other users and the system.' >&2; echo '-- No entries --'"
)


def run(folder: Path, *, sudo_allowed: bool = True, **tools: str) -> CommandOutput:
    """Run the command with nothing but stand-ins of `tools` on the PATH."""
    for name, body in tools.items():
        script = folder / name
        script.write_text(f"#!{SH}\n{body}\n")
        script.chmod(0o755)
    environment = {"PATH": str(folder), "GPULEASE_SUDO": "1" if sudo_allowed else "0"}
    done = subprocess.run([SH, "-c", FACT.command.line], env=environment, capture_output=True, check=False, timeout=20)
    return CommandOutput(done.stdout, done.stderr, done.returncode)


def test_that_dmesg_alone_is_enough(tmp_path: Path) -> None:
    output = run(tmp_path, dmesg=LOG.format("eth0"), sudo="echo never >&2; exit 9", journalctl="echo never >&2")
    assert (output.exit_code, output.stderr) == (0, b"")
    assert output.text.count("eth0") == 1


def test_that_sudo_is_tried_next_and_the_refusal_stays_visible(tmp_path: Path) -> None:
    output = run(tmp_path, dmesg=REFUSED, sudo=LOG.format("eth1"))
    assert output.exit_code == 0
    assert "eth1" in output.text and "not permitted" in output.error_text


def test_that_sudo_can_be_switched_off(tmp_path: Path) -> None:
    output = run(tmp_path, sudo_allowed=False, dmesg=REFUSED, sudo=LOG.format("eth1"), journalctl=LOG.format("eth2"))
    assert "eth2" in output.text and "eth1" not in output.text


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        ({"dmesg": REFUSED, "sudo": "echo 'sudo: a password is required' >&2; exit 1"}, "denied"),
        ({"dmesg": REFUSED, "journalctl": NO_ENTRIES}, "denied"),
        ({"journalctl": NO_ENTRIES}, "denied"),
        ({"dmesg": REFUSED}, "denied"),
        ({}, "missing_tool"),
        ({"dmesg": "exit 0"}, "unreadable"),
    ],
)
def test_that_a_closed_missing_or_empty_log_is_never_clean(tmp_path: Path, tools: dict[str, str], code: str) -> None:
    output = run(tmp_path, **tools)
    assert (output.exit_code == 0) == (code == "unreadable")
    with pytest.raises(Unreadable) as refusal:
        read(readers()["dmesg"], output)
    assert refusal.value.code == code
