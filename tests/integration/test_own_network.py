"""Is a lost line of a computer without network told apart from the fault of a node?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpulease_gui.domain.node import Address
from gpulease_gui.remote.own_network import first_stop, has_way

# Runs in a network namespace of its own, where no interface is up.
WITHOUT = """
import sys
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.remote.own_network import has_way
from gpulease_gui.remote.stream import StreamEnd, StreamEnding
from gpulease_gui.services.timeline import Clock, Timeline
from gpulease_gui.services.watch import _Watch
watch = object.__new__(_Watch)
watch._timeline = Timeline(Clock())
watch._timeline.begin(0.0)
def why(ending):
    return watch._why_lost(StreamEnd(ending, 0.0))
watch.node = Node("n", "n", address=Address("203.0.113.9"))
print(has_way("203.0.113.9", 22), has_way("2001:db8::9", 22), why(StreamEnding.LOST), why(StreamEnding.PROGRAM_ENDED))
"""


def test_that_a_computer_without_network_is_told_and_the_node_is_not_blamed() -> None:
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip("no network namespace can be made here")
    done = subprocess.run([*words, sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "False", "own_network", "agent_ended"], done.stderr


def test_that_a_way_is_asked_for_without_sending_anything_and_a_wrong_name_is_no_network_trouble() -> None:
    assert has_way("127.0.0.1", 22) and has_way("::1", 22) and has_way("..", 22)


def test_that_the_first_stop_is_what_this_computer_connects_to() -> None:
    node = Address("10.0.0.5", 2222)
    assert first_stop(node, "", "") == ("10.0.0.5", 2222)
    assert first_stop(node, "ops@gate:2200,inner", "") == ("gate", 2200)
    assert first_stop(node, "gate", "socks5://proxy.example") == ("proxy.example", 1080)
    assert first_stop(node, "", "nonsense") == ("10.0.0.5", 2222)
