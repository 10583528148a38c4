"""Do the shell facts run on this very machine, in every small shell that it has?"""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts.fact import read, readers

SHELLS = [words for words in (("sh",), ("dash",), ("busybox", "sh"), ("bash", "--posix")) if shutil.which(words[0])]
FACTS = (
    "access", "clock_now", "cpu_limits", "cpu_state", "device_nodes", "edac", "environment", "limits", "load_now", "memory_limits", "mounts", "net_links",
    "fabric_manager", "graphics", "nvidia_proc", "pci_devices", "npu_versions", "port_counters", "roce_ports", "torch_files",
)  # fmt: skip

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the shell facts read /proc and /sys of Linux")


@pytest.mark.parametrize("fact_id", FACTS)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_that_a_shell_fact_is_readable_here(shell: tuple[str, ...], fact_id: str) -> None:
    reader = readers()[fact_id]
    assert reader.fact.command is not None
    done = subprocess.run([*shell, "-c", reader.fact.command.line], capture_output=True, timeout=10, check=False)
    output = CommandOutput(done.stdout, done.stderr, done.returncode)
    assert done.returncode == 0, output.error_text
    reading = read(reader, output)
    assert reader.as_dict(reading)


def test_that_a_node_without_anything_still_ends_every_shell_fact() -> None:
    for fact_id in FACTS:
        command = readers()[fact_id].fact.command
        assert command is not None
        done = subprocess.run(
            [shutil.which("sh") or "sh", "-c", command.line],
            capture_output=True,
            timeout=10,
            check=False,
            env={"PATH": "/nonexistent"},
        )
        assert done.returncode in (0, 127), (fact_id, done.stderr)


def test_that_the_scripts_hide_no_error() -> None:
    for fact_id in FACTS:
        command = readers()[fact_id].fact.command
        assert command is not None and "2>" not in command.line and "grep" not in command.line
