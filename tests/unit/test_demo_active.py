"""Are measuring commands understood in the forms in which they can be sent?"""

from __future__ import annotations

import pytest

from gpulease_gui.demo.active import Call, call_of
from gpulease_gui.facts import fio_json, iperf3_json


@pytest.mark.parametrize(
    ("argv", "call"),
    [
        (("fio", "--rw=read", "--runtime=5"), Call("fio", ("--rw=read", "--runtime=5"))),
        (("timeout", "30", "/usr/bin/iperf3", "-c", "h"), Call("iperf3", ("-c", "h"))),
        (("sh", "-c", "cd /tmp && iperf3 -c h -p 7\necho done"), Call("iperf3", ("-c", "h", "-p", "7"))),
        (("sh", "-c", "command -v fio; df -P ."), Call("", ("command", "-v", "fio", ";", "df", "-P", "."))),
        (("sh", "-c", "echo 'broken"), Call("", ())),
    ],
)
def test_that_the_tool_is_found_in_the_words(argv: tuple[str, ...], call: Call) -> None:
    assert call_of(argv) == call


def test_that_the_commands_of_the_facts_are_understood() -> None:
    server, client = iperf3_json.server_command(5203).argv, iperf3_json.client_command("peer", 5203, 7, 8, True).argv
    assert (call_of(server).is_server, call_of(server).once, call_of(server).port) == (True, True, 5203)
    assert (call_of(client).is_server, call_of(client).port, call_of(client).option("-t", "--time")) == (
        False,
        5203,
        "7",
    )
    assert call_of(fio_json.command("write", 5, 256, True).argv).option("-x", "--rw") == "write"
