"""What may a server with bad intentions get from us?"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, HostKeyChanged, UnknownHostKey
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.session import Connector, SshSession
from tests.integration.listening import serving


class Rules(paramiko.ServerInterface):
    """Writes down what it is told; knows one password, and can ask questions instead."""

    def __init__(self, asks: tuple[str, ...] = ()) -> None:
        self.heard: list[str] = []
        self.answers: list[str] = []
        self.asks = asks

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive" if self.asks else "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self.heard.append(password)
        return paramiko.AUTH_SUCCESSFUL if password == "open sesame" and not self.asks else paramiko.AUTH_FAILED

    def check_auth_interactive(self, username: str, submethods: str) -> paramiko.InteractiveQuery:
        return paramiko.InteractiveQuery("", "", *((ask, False) for ask in self.asks))

    def check_auth_interactive_response(self, responses: list[str]) -> int:
        self.answers += responses
        return paramiko.AUTH_SUCCESSFUL if responses == ["open sesame"] else paramiko.AUTH_FAILED


@dataclass
class Trap:
    """A paramiko server for one test."""

    address: Address
    transports: list[paramiko.Transport]


@pytest.fixture
def key(keys) -> paramiko.PKey:
    return paramiko.PKey.from_path(str(keys.folder / "host_ed25519"))


@pytest.fixture
def trap(key):
    with ExitStack() as stack:
        yield lambda rules: Trap(*stack.enter_context(serving(rules, key)))


def connect(trap: Trap, password: str, trust: HostTrust) -> SshSession:
    credentials = Credentials(AuthMethod.PASSWORD, password=Secret(password))
    return Connector().connect(trap.address, credentials, trust, Deadlines(), CancelToken())


def test_that_a_password_logs_in(trap, key):
    rules = Rules()
    with connect(trap(rules), "open sesame", HostTrust((host_key_of(key),))) as session:
        assert session.alive
    assert rules.heard == ["open sesame"]


def test_that_no_password_is_sent_before_the_host_key_is_trusted(trap, keys):
    rules = Rules()
    wrong = host_key_of(paramiko.PKey.from_path(str(keys.folder / "stranger")))
    trap = trap(rules)
    with pytest.raises(UnknownHostKey):
        connect(trap, "open sesame", HostTrust())
    with pytest.raises(HostKeyChanged):
        connect(trap, "open sesame", HostTrust((wrong,)))
    assert rules.heard == []


def test_that_a_wrong_password_is_tried_once_and_shown_nowhere(trap, key):
    rules = Rules()
    with pytest.raises(ConnectFailed) as caught:
        connect(trap(rules), "hunter2", HostTrust((host_key_of(key),)))
    assert caught.value.cause == "password_refused"
    assert "hunter2" not in str(caught.value) + caught.value.why_text.zh
    assert rules.heard == ["hunter2"]


def test_that_one_hidden_question_gets_the_password_and_two_get_nothing(trap, key):
    one, two = Rules(("Password:",)), Rules(("Password:", "Password of your laptop:"))
    connect(trap(one), "open sesame", HostTrust((host_key_of(key),))).close()
    with pytest.raises(ConnectFailed):
        connect(trap(two), "open sesame", HostTrust((host_key_of(key),)))
    assert one.answers == ["open sesame"]
    assert two.answers == []


@pytest.mark.parametrize("kind", ["auth-agent@openssh.com", "forwarded-tcpip", "x11", "session"])
def test_that_a_server_can_open_no_channel_towards_us(trap, key, kind):
    trap = trap(Rules())
    with connect(trap, "open sesame", HostTrust((host_key_of(key),))):
        place = ("127.0.0.1", 1)
        with pytest.raises(paramiko.ChannelException) as caught:
            trap.transports[-1].open_channel(kind, place, place, timeout=60)
    assert caught.value.code == 1  # administratively prohibited


def test_that_no_source_file_accepts_unknown_keys_silently():
    for path in (Path(__file__).parents[2] / "gpulease_gui").rglob("*.py"):
        text = path.read_text()
        assert "AutoAddPolicy" not in text and "WarningPolicy" not in text, path
