"""Is a lost line of a computer without network told apart from the fault of a node?"""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address
from gpulease_gui.remote import handshake, way_out
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.own_network import first_stop
from gpulease_gui.remote.way_out import has_way

# Runs in a network namespace of its own, where no interface is up.
WITHOUT = """
import sys
import time
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.remote.way_out import has_way
from gpulease_gui.remote.stream import StreamEnd, StreamEnding
from gpulease_gui.services.timeline import Clock, Timeline
from gpulease_gui.services.watch import _Watch
watch = object.__new__(_Watch)
watch._timeline = Timeline(Clock())
watch._timeline.begin(0.0)
def why(ending):
    return watch._why_lost(StreamEnd(ending, time.monotonic()))
watch.node = Node("n", "n", address=Address("203.0.113.9"))
print(has_way("203.0.113.9", 22), has_way("2001:db8::9", 22), why(StreamEnding.LOST), why(StreamEnding.PROGRAM_ENDED))
"""


def test_that_a_computer_without_network_is_told_and_the_node_is_not_blamed() -> None:
    words = without_a_network()
    done = subprocess.run([*words, sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "False", "own_network", "agent_ended"], done.stderr


CALLS = """
import sys
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector
who, trust = Credentials(AuthMethod.PASSWORD, password=Secret("x")), HostTrust(())
gate, node = Address("198.51.100.1", user="anna"), Address("203.0.113.9", user="anna")
ways = [Route(), Route((Hop(gate, who, trust),)), Route(proxy=parse_proxy("socks5://198.51.100.2:1080"))]
for target, route in [*((node, way) for way in ways), (Address("127.0.0.1", 9, user="anna"), Route()), (Address("2001:db8::9", user="anna"), Route())]:
    try:
        Connector().connect(target, who, trust, Deadlines(), CancelToken(), route)
    except ConnectFailed as error:
        print(error.phase, error.cause, error.hop or "-", error.why, "|", error.next_step)
"""
NO_NETWORK = "tcp own_network - this computer has no network | check the network of this computer and try again"


def without_a_network() -> list[str]:
    """Words that start a program in a network of its own, in which no interface is up."""
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            return words
    pytest.skip("no network namespace can be made here")


def test_that_a_call_without_a_network_blames_no_address_firewall_or_jump_host() -> None:
    words = without_a_network()
    done = subprocess.run([*words, sys.executable, "-c", CALLS], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [NO_NETWORK] * 5, done.stderr


@pytest.mark.parametrize(("errno", "routed", "ours"), [(socket.EAI_AGAIN, False, True), (socket.EAI_AGAIN, True, False), (socket.EAI_NONAME, False, False)])
def test_that_a_silent_name_server_is_our_network_only_where_nothing_leads_out(errno, routed, ours, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[object]:
        raise socket.gaierror(errno, "Temporary failure in name resolution")

    monkeypatch.setattr(way_out, "has_way", lambda host, port: routed)
    monkeypatch.setattr(handshake.socket, "getaddrinfo", unknown)
    with pytest.raises(ConnectFailed) as caught:
        handshake.dial(Address("gpu.example"), 1.0, CancelToken())
    assert (caught.value.phase, caught.value.cause) == ("dns", "own_network" if ours else "no_such_name")


def test_that_a_way_is_asked_for_without_sending_anything_and_a_wrong_name_is_no_network_trouble() -> None:
    assert has_way("127.0.0.1", 22) and has_way("::1", 22) and has_way("..", 22)


def test_that_the_first_stop_is_what_this_computer_connects_to() -> None:
    node = Address("10.0.0.5", 2222)
    assert first_stop(node, "", "") == ("10.0.0.5", 2222)
    assert first_stop(node, "ops@gate:2200,inner", "") == ("gate", 2200)
    assert first_stop(node, "gate", "socks5://proxy.example") == ("proxy.example", 1080)
    assert first_stop(node, "", "nonsense") == ("10.0.0.5", 2222)
