"""Is a node that has not answered yet given up for a sleep of this computer? `time.monotonic` runs on in it on Windows."""

from __future__ import annotations

import threading
import time

import pytest

from gpulease_gui.remote import openings
from gpulease_gui.remote.driving import go_alone
from tests.integration.conftest import wait_until
from tests.integration.test_ssh_openings import Scripted, Stalling, node, said

__all__ = ["node"]


@pytest.fixture
def sleep(monkeypatch):
    """Lets half an hour go by on that clock."""
    steady, by = time.monotonic, [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: steady() + by[0])

    def asleep() -> None:
        by[0] += 1800.0

    return asleep


def test_that_a_channel_is_waited_for_over_a_sleep(node, sleep):
    rules = Stalling("channel")
    session = node(rules).session
    go_alone(session._transport)

    def work() -> None:
        rules.reached.wait(60)
        sleep()
        threading.Timer(0.5, rules.go_on.set).start()

    threading.Thread(target=work, daemon=True).start()
    assert said(session, "a") == b"did a"


def test_that_a_command_is_waited_for_over_a_sleep(node, sleep):
    rules = Stalling("command")
    session = node(rules).session
    channel = session.open("a")
    assert rules.reached.wait(60)
    sleep()
    threading.Timer(0.5, rules.go_on.set).start()
    channel.write(b"")
    assert channel.read(60).out == b"did a"
    channel.close()


def test_that_a_channel_that_was_asked_for_before_a_sleep_is_not_used_after_it(node, monkeypatch):
    rules = Scripted()
    session = node(rules).session
    for command in ("a", "b"):
        said(session, command)
    assert wait_until(lambda: len(rules.asked) == 3)
    lasting = openings.lasting_s
    monkeypatch.setattr(openings, "lasting_s", lambda: lasting() + 1800.0)
    assert said(session, "c") == b"did c"
    assert wait_until(lambda: len(rules.asked) == 5)
