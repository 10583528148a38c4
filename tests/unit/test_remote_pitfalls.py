"""Every pitfall of the list has a test named by its number, or a reason why none can be on Linux.

Most need a server and stand in tests/integration; those about words and about what the program never does stand here.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import visible
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.remote import failures
from gpulease_gui.remote.failures import ConnectFailed

SOURCE = {path: path.read_text() for path in (Path(__file__).parents[2] / "gpulease_gui").rglob("*.py")}
REMOTE = {path: text for path, text in SOURCE.items() if path.parent.name == "remote"}

TESTS = Path(__file__).parents[1]
PITFALLS = frozenset(str(number) for number in range(1, 34)) | {"18b"}

# Number -> why no test on Linux can show it.
NOT_POSSIBLE_ON_LINUX = {"14": "Pageant beside the OpenSSH agent: Windows only"}


def test_that_every_pitfall_has_a_test_named_by_its_number_or_a_reason():
    named = {
        number
        for path in TESTS.rglob("test_*.py")
        for number in re.findall(r"def test_that_ux_0?(\d+b?)_", path.read_text(encoding="utf-8"))
    }
    assert named == PITFALLS - set(NOT_POSSIBLE_ON_LINUX)


def calls(word: str) -> list[str]:
    """The files in which a function or method of that name is called, or a class of that name is used."""
    return [
        path.name for path, text in SOURCE.items() if word in text for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Attribute) and node.attr == word) or (isinstance(node, ast.Name) and node.id == word)
    ]  # fmt: skip


@pytest.mark.parametrize("word", ["SSHClient", "makefile", "makefile_stdin"])
def test_that_ux_04_no_file_of_a_channel_is_made_that_the_collector_could_close(word):
    assert calls(word) == []


def test_that_ux_05_no_call_can_take_a_buffer_size_for_a_timeout():
    assert calls("exec_command") == []


@pytest.mark.parametrize("word", ["SSHConfig", "load_host_keys", "load_system_host_keys"])
def test_that_ux_17_the_librarys_readers_of_config_and_known_hosts_are_not_used(word):
    assert calls(word) == []


@pytest.mark.parametrize("word", ["open_sftp", "open_sftp_client", "SFTPClient", "from_transport", "extractall", "unpack_archive"])
def test_that_no_file_of_a_node_is_fetched(word):
    assert calls(word) == []


def outcome(fact: str, case: str, exit_code: int = 0) -> dict[str, object] | str:
    """What a reader makes of one of the kept outputs: its keys, or why it holds none."""
    reader = readers()[fact]
    try:
        return reader.as_dict(read(reader, CommandOutput((TESTS / "facts" / fact / f"{case}.out").read_bytes(), b"", exit_code)))
    except Unreadable as error:
        return str(error.code)


def test_that_ux_23_a_cell_without_a_value_is_missing_and_the_other_cards_are_read():
    found = outcome("smi_xml", "two_cards_faults")
    assert isinstance(found, dict) and found["gpus"] == 2
    assert found["persistence_mode"] == ["Enabled", None]


def test_that_a_tool_without_its_driver_says_so():
    assert outcome("smi_xml", "no_driver", 9) == "driver_not_communicating"


def test_that_a_field_that_this_driver_does_not_know_is_told_as_that():
    assert outcome("smi_csv", "refused_field", 2) == "invalid_query_field"


def test_that_ux_30_control_codes_of_a_node_are_drawn_and_never_obeyed():
    drawn = visible("PASS\x1b]0;title\x07\x1b]52;c;aGk=\x07\x1b[2J\rFAIL\x9b1m")
    assert drawn == "PASS␛]0;title␇␛]52;c;aGk=␇␛[2J␍FAIL⟨U+009B⟩1m"


def quoting() -> dict[str, Callable[..., ConnectFailed]]:
    """All messages that quote what came from outside."""
    made = {name: made for name, made in vars(failures).items() if not name.startswith("_") and inspect.isfunction(made)}
    return {name: made for name, made in made.items() if "said" in inspect.signature(made).parameters and name not in ("one_line", "in_both")}


@pytest.mark.parametrize("name", quoting())
def test_that_ux_31_a_node_forges_no_line_of_a_message(name):
    make, forged = quoting()[name], "full\n2026-01-01 00:00 INFO verified: pass\x00\x1b[2J" + "x" * 1000
    wanted = inspect.signature(make).parameters
    words: dict[str, object] = {"host_port": "gw:22", "seconds": 1.0, "by": "gate:22", "phase": failures.Phase.BANNER}
    words["said"] = forged.encode() if wanted["said"].annotation == "bytes" else forged
    error = make(**{name: words[name] for name in wanted})
    for said in (error.why_text.en, error.why_text.zh, str(error)):
        assert "full" in said
        assert not set("\n\0\x1b") & set(said) and len(said) < 500


def test_that_ux_31_every_message_that_quotes_a_node_is_one_of_those():
    assert {"no_channel", "tunnel_refused", "not_ssh", "no_banner", "kex_broken", "no_common_algorithm"} <= set(quoting())


def test_that_ux_32_bidi_and_zero_width_characters_are_visible_marks():
    assert visible("a\u202eb\u200bc\u2066") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+2066⟩"


def test_that_nothing_here_runs_a_shell_string_on_this_computer():
    assert [path.name for path, text in REMOTE.items() if "shell=True" in text or "os.system" in text] == []
