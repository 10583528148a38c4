"""Every pitfall of the list has a test: one named by its number, one of those below, or a reason why none can be.

1 to 22 and 33 are about connections and stand in tests/integration and tests/unit as `test_that_ux_NN_...`; some we
avoid by never going there, which the source shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpulease_gui.domain.text import visible
from gpulease_gui.remote.failures import no_channel

SOURCE = {path: path.read_text() for path in (Path(__file__).parents[2] / "gpulease_gui").rglob("*.py")}
REMOTE = {path: text for path, text in SOURCE.items() if path.parent.name == "remote"}

TESTS = Path(__file__).parents[1]

# Number -> where it is shown, for those whose tests are cases of their own: the words of nvidia-smi and of agents.
ELSEWHERE = {
    23: ("facts/smi_xml/two_cards_faults.json", "null"),
    25: ("facts/smi_xml/no_driver.json", "unreadable"),
    26: ("facts/smi_csv/refused_field.json", "unreadable"),
    27: ("unit/test_agent.py", "test_that_a_computer_without_a_driver_gets_one_clear_line"),
}
# Number -> the words that the source of remote/ never says.
AVOIDED = {
    4: "SSHClient",  # its stdin file, collected at the wrong moment, stops the transport
    5: "exec_command(command,",  # the second place is a buffer size
    15: "SSHConfig",  # get_hostnames fails after `Match all`
    16: "SSHConfig",  # unknown Match words would count for every host
    17: "load_host_keys",  # one odd line would stop the whole file
    28: "open_sftp",  # would measure our window, not the network
    29: "SFTPClient",  # no file name of a node ever becomes one here
}
# Number -> why no test on Linux can show it.
NOT_POSSIBLE_ON_LINUX = {
    11: "a laptop that sleeps: needs a machine that does",
    14: "Pageant beside the OpenSSH agent: Windows only",
}


@pytest.mark.parametrize(("number", "word"), sorted(AVOIDED.items()))
def test_that_ux_pitfalls_are_avoided_by_not_going_there(number, word):
    assert [path.name for path, text in REMOTE.items() if word in text] == [], f"pitfall {number}"
    assert number not in NOT_POSSIBLE_ON_LINUX


def test_that_every_pitfall_has_a_test_or_a_reason():
    named = {
        int(number)
        for path in TESTS.rglob("test_*.py")
        for number in re.findall(r"def test_that_ux_0?(\d+)_", path.read_text(encoding="utf-8"))
    }
    assert named | set(AVOIDED) | set(ELSEWHERE) | set(NOT_POSSIBLE_ON_LINUX) >= set(range(1, 34))
    assert not named & set(NOT_POSSIBLE_ON_LINUX)


@pytest.mark.parametrize("number", sorted(ELSEWHERE))
def test_that_a_pitfall_shown_elsewhere_is_there(number):
    path, word = ELSEWHERE[number]
    assert word in (TESTS / path).read_text(encoding="utf-8")


def test_that_ux_30_control_codes_of_a_node_are_drawn_and_never_obeyed():
    drawn = visible("PASS\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[2J\rFAIL\x9b1m")
    assert drawn == "PASS␛]0;title␇␛]52;c;aGk=␇␛[2J␍FAIL⟨U+009B⟩1m"


def test_that_ux_31_a_node_forges_no_line_of_a_message():
    error = no_channel("gw:22", "full\n2026-01-01 00:00 INFO verified: pass\x00" + "x" * 1000)
    assert "\n" not in str(error)
    assert "full␊2026-01-01" in error.why and len(error.why) < 300


def test_that_ux_32_bidi_and_zero_width_characters_are_visible_marks():
    assert visible("a\u202eb\u200bc\u2066") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+2066⟩"


def test_that_ux_19_a_pin_belongs_to_a_node_and_not_to_an_address():
    text = next(text for path, text in REMOTE.items() if path.name == "hostkeys.py")
    assert "Address" not in text


def test_that_nothing_here_runs_a_shell_string_on_this_computer():
    assert [path.name for path, text in REMOTE.items() if "shell=True" in text or "os.system" in text] == []
