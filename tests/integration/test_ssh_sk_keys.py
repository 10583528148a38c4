"""Keys of hardware (sk) in an agent: a real sshd lets us in, and only with the chosen one."""

from __future__ import annotations

import hashlib
import socket
import struct
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.session import Connector

pytestmark = pytest.mark.sshd
KIND = b"sk-ssh-ed25519@openssh.com"
TOUCHED = 1


def string(words: bytes) -> bytes:
    return struct.pack(">I", len(words)) + words


@dataclass
class Token:
    """A hardware key as an agent has it: it signs a digest, its flags and its counter (PROTOCOL.u2f)."""

    flags: int = TOUCHED
    secret: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    signed: int = 0

    @property
    def blob(self) -> bytes:
        return string(KIND) + string(self.secret.public_key().public_bytes_raw()) + string(b"ssh:")

    @property
    def line(self) -> str:
        return f"{KIND.decode()} {b64encode(self.blob).decode()} token\n"

    def sign(self, words: bytes) -> bytes:
        self.signed += 1
        tail = struct.pack(">BI", self.flags, self.signed)
        made = self.secret.sign(hashlib.sha256(b"ssh:").digest() + tail + hashlib.sha256(words).digest())
        return string(KIND) + string(made) + tail


class Agent:
    """Speaks the agent's protocol for some tokens."""

    def __init__(self, place: Path, tokens: list[Token]) -> None:
        self.tokens = tokens
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(place))
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            with caller, caller.makefile("rb") as heard:
                while head := heard.read(4):
                    caller.sendall(string(self._answer(heard.read(struct.unpack(">I", head)[0]))))

    def _answer(self, asked: bytes) -> bytes:
        if asked[0] == 11:
            return b"\x0c" + struct.pack(">I", len(self.tokens)) + b"".join(string(token.blob) + string(b"token") for token in self.tokens)
        (length,) = struct.unpack(">I", asked[1:5])
        blob, rest = asked[5 : 5 + length], asked[5 + length :]
        (length,) = struct.unpack(">I", rest[:4])
        token = next(token for token in self.tokens if token.blob == blob)
        return b"\x0e" + string(token.sign(rest[4 : 4 + length]))

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(60)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Agent]:
    made = Agent(tmp_path / "agent", [Token(), Token()])
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    yield made
    made.close()


def allowed(make_sshd, tmp_path: Path, *tokens: Token):
    (tmp_path / "allowed").write_text("".join(token.line for token in tokens))
    return make_sshd(f"AuthorizedKeysFile {tmp_path}/allowed\nLogLevel VERBOSE\nStrictModes no\n")


def connect(server, credentials: Credentials) -> None:
    Connector().connect(server.address, credentials, server.trust, Deadlines(), CancelToken()).close()


def test_that_the_chosen_hardware_key_logs_in_and_no_other_is_touched(make_sshd, tmp_path, agent):
    first, second = agent.tokens
    server = allowed(make_sshd, tmp_path, first, second)
    (tmp_path / "id_sk.pub").write_text(second.line)
    connect(server, Credentials(AuthMethod.AGENT, str(tmp_path / "id_sk.pub")))
    assert (first.signed, second.signed) == (0, 1)
    shown = subprocess.run(["ssh-keygen", "-l", "-f", tmp_path / "id_sk.pub"], capture_output=True, text=True, check=True).stdout.split()[1]
    connect(server, Credentials(AuthMethod.AGENT, shown))
    assert (first.signed, second.signed) == (0, 2)
    assert f"Accepted publickey for {server.address.user}" in (server.folder / "log").read_text()


def test_that_a_hardware_key_that_was_not_touched_is_refused_by_the_node_and_told(make_sshd, tmp_path, agent):
    agent.tokens[:] = [Token(flags=0)]
    server = allowed(make_sshd, tmp_path, *agent.tokens)
    with pytest.raises(ConnectFailed) as caught:
        connect(server, Credentials(AuthMethod.AGENT))
    assert (caught.value.cause, agent.tokens[0].signed) == ("key_refused", 1)


def test_that_of_several_hardware_keys_without_a_choice_only_the_one_that_the_node_takes_is_touched(make_sshd, tmp_path, agent):
    server = allowed(make_sshd, tmp_path, agent.tokens[1])
    connect(server, Credentials(AuthMethod.AGENT))
    assert [token.signed for token in agent.tokens] == [0, 1]
    agent.tokens[:] = [Token(), Token()]
    with pytest.raises(ConnectFailed) as caught:
        connect(server, Credentials(AuthMethod.AGENT))
    assert (caught.value.cause, [token.signed for token in agent.tokens]) == ("key_refused", [0, 0])


def stub(token: Token) -> str:
    """The file that ssh-keygen leaves of a hardware key: its head is all that we read."""
    body = b"openssh-key-v1\0" + string(b"none") * 2 + string(b"") + struct.pack(">I", 1) + string(token.blob) + string(b"\0" * 64)
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{b64encode(body).decode()}\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize("has_private", [True, False], ids=["with its file", "with its public half alone"])
def test_that_named_hardware_keys_sign_in_the_agent_and_only_the_one_that_the_node_takes_is_touched(make_sshd, tmp_path, agent, has_private):
    for number, token in enumerate(agent.tokens):
        if has_private:
            (tmp_path / f"k{number}").write_text(stub(token))
            (tmp_path / f"k{number}").chmod(0o600)
        else:
            (tmp_path / f"k{number}.pub").write_text(token.line)
    named = "\n".join(str(tmp_path / f"k{number}") for number in range(2))
    server = allowed(make_sshd, tmp_path, agent.tokens[1])
    connect(server, Credentials(AuthMethod.KEY, named))
    assert [token.signed for token in agent.tokens] == [0, 1]
    with pytest.raises(ConnectFailed) as caught:
        connect(server, Credentials(AuthMethod.KEY, named, agent="none"))
    assert (caught.value.cause, agent.tokens[1].signed) == ("key_hardware" if has_private else "key_unreadable", 1)
