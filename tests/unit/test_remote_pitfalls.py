"""Pitfalls of SSH that we avoid by never going there: the source shows it.

The others of the list have tests in tests/integration named by their number.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SOURCE = {path: path.read_text() for path in (Path(__file__).parents[2] / "gpulease_gui").rglob("*.py")}
REMOTE = {path: text for path, text in SOURCE.items() if path.parent.name == "remote"}

# Number -> why no test on Linux can show it.
NOT_POSSIBLE_ON_LINUX = {
    11: "a laptop that sleeps: needs a machine that does",
    14: "Pageant beside the OpenSSH agent: Windows only",
}


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (4, "SSHClient"),  # its stdin file, collected at the wrong moment, stops the transport
        (5, "exec_command(command,"),  # the second place is a buffer size
        (15, "SSHConfig"),  # get_hostnames fails after `Match all`
        (16, "SSHConfig"),  # unknown Match words would count for every host
        (17, "load_host_keys"),  # one odd line would stop the whole file
        (28, "open_sftp"),  # would measure our window, not the network
        (29, "SFTPClient"),  # no file name of a node ever becomes one here
    ],
)
def test_that_ux_pitfalls_are_avoided_by_not_going_there(number, word):
    assert [path.name for path, text in REMOTE.items() if word in text] == [], f"pitfall {number}"
    assert number not in NOT_POSSIBLE_ON_LINUX


def test_that_ux_19_a_pin_belongs_to_a_node_and_not_to_an_address():
    text = next(text for path, text in REMOTE.items() if path.name == "hostkeys.py")
    assert "Address" not in text


def test_that_nothing_here_runs_a_shell_string_on_this_computer():
    assert [path.name for path, text in REMOTE.items() if "shell=True" in text or "os.system" in text] == []
