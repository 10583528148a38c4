"""When is the user asked for the passphrase of which key? Against real sshds; the user is a list of answers."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes
from tests.keyrings import MemoryKeyring, system_keyring

pytestmark = pytest.mark.sshd

WORDS = {"a": "word of a", "b": "word of b", "gate": "word of gate"}


@dataclass
class User:
    """Types what stands next to the file in `types` (None gives up), else its right passphrase; remembers what was asked."""

    types: dict[str, list[str | None]] = field(default_factory=dict)
    asked: list[tuple[str, int, str]] = field(default_factory=list)
    keeps: Callable[[Node, str, Secret], None] | None = None

    def __call__(self, node: Node, asked: SecretAsked) -> Secret | None:
        name = Path(asked.what.removeprefix("passphrase of ")).name
        self.asked.append((name, asked.number, asked.hop))
        typed = self.types[name].pop(0) if self.types.get(name) else WORDS[name]
        if typed is not None and self.keeps is not None:
            self.keeps(node, asked.what, Secret(typed))
        return None if typed is None else Secret(typed)


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three encrypted keys."""
    folder = tmp_path_factory.mktemp("locked")
    for name, words in WORDS.items():
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", words, "-C", "", "-f", folder / name], check=True)
    return folder


def knows(make_sshd, locked: Path, name: str):
    """An sshd that takes one of the keys only."""
    return make_sshd(f"AuthorizedKeysFile {locked}/{name}.pub\nLogLevel VERBOSE\n")


def node_at(services: Services, server, locked: Path, *names: str, **more: str) -> Node:
    files = "\n".join(str(locked / name) for name in names)
    node = replace(Node("n1", "node-07", address=server.address, identity_file=files), **more)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    return node


def get_in(services: Services, node: Node, user: User) -> None:
    services.links.ask_secret = user
    services.links.open(node, CancelToken()).line.close()


def refused(services: Services, node: Node, user: User) -> NotConnected:
    with pytest.raises(NotConnected) as caught:
        get_in(services, node, user)
    return caught.value


def given_up(server) -> int:
    """Connections that ended before a login."""
    return (server.folder / "log").read_text().count("by authenticating user")


def test_that_the_second_key_is_asked_for_by_its_file_once_the_node_refused_the_first(services, make_sshd, locked):
    server = knows(make_sshd, locked, "b")
    node, user = node_at(services, server, locked, "a", "b"), User()
    get_in(services, node, user)
    assert user.asked == [("a", 1, ""), ("b", 1, "")]
    get_in(services, node, user)
    assert len(user.asked) == 2  # both are known now


def test_that_a_second_key_is_not_asked_for_where_the_first_lets_us_in(services, make_sshd, locked):
    user = User()
    get_in(services, node_at(services, knows(make_sshd, locked, "a"), locked, "a", "b"), user)
    assert user.asked == [("a", 1, "")]


def test_that_who_gives_a_key_up_is_asked_for_the_next(services, make_sshd, locked):
    user = User({"a": [None]})
    get_in(services, node_at(services, knows(make_sshd, locked, "b"), locked, "a", "b"), user)
    assert user.asked == [("a", 1, ""), ("b", 1, "")]


def test_that_a_key_has_three_tries_and_then_it_is_the_next_ones_turn(services, make_sshd, locked):
    user = User({"a": ["x", "y", "z", "never asked"], "b": ["x"]})
    get_in(services, node_at(services, knows(make_sshd, locked, "b"), locked, "a", "b"), user)
    assert user.asked == [("a", 1, ""), ("a", 2, ""), ("a", 3, ""), ("b", 1, ""), ("b", 2, "")]


def test_that_a_plain_key_between_two_locked_ones_is_shown_in_its_turn(services, make_sshd, locked, keys, until):
    server = knows(make_sshd, locked, "b")
    (locked / "plain").write_bytes(keys.user("stranger").read_bytes())
    (locked / "plain").chmod(0o600)
    user = User({"b": [None]})
    why = refused(services, node_at(services, server, locked, "a", "plain", "b"), user).why
    assert f"(tried in turn: {locked}/a, {locked}/plain); the key {locked}/b is encrypted" in why
    assert user.asked == [("a", 1, ""), ("b", 1, "")]
    assert until(lambda: given_up(server) == 1, 30)  # both on one connection, and none for the key that was given up
    get_in(services, node_at(services, server, locked, "a", "plain", "b"), User())


def test_that_nobody_thinks_while_the_server_counts_the_seconds_of_a_login(services, make_sshd, locked, until):
    server = knows(make_sshd, locked, "b")

    class Slow(User):
        def __call__(self, node: Node, asked: SecretAsked) -> Secret | None:
            assert until(lambda: given_up(server) == len(self.asked), 30)
            return super().__call__(node, asked)

    user = Slow()
    get_in(services, node_at(services, server, locked, "a", "b"), user)
    assert [name for name, _, _ in user.asked] == ["a", "b"]


def test_that_each_hop_is_asked_for_by_its_own_name(services, make_sshd, locked, tmp_path, monkeypatch):
    gate, server = knows(make_sshd, locked, "gate"), knows(make_sshd, locked, "b")
    config = tmp_path / "config"
    config.write_text(
        f"Host gate\n HostName 127.0.0.1\n Port {gate.port}\n User {gate.address.user}\n"
        f" IdentityFile {locked}/a\n IdentityFile {locked}/gate\n"
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    node = node_at(services, server, locked, "b", jump="gate")
    services.links.trust(node, server.keys.host_keys()[0], "the test", hop=gate.address.host_port)
    user = User()
    get_in(services, node, user)
    place = gate.address.host_port
    assert user.asked == [("a", 1, place), ("gate", 1, place), ("b", 1, "")]


def test_that_only_a_passphrase_that_opened_its_key_is_kept(services, make_sshd, locked):
    node = node_at(services, knows(make_sshd, locked, "b"), locked, "a", "b")
    memory = MemoryKeyring()
    with system_keyring(memory):
        get_in(services, node, User({"a": ["x", "y", "z"], "b": ["wrong"]}, keeps=services.links.kept.keep_once_accepted))
    assert list(memory.held.values()) == ["word of b"]


def test_that_a_kept_passphrase_that_opens_nothing_is_asked_for_at_once_and_replaced(services, make_sshd, locked):
    node = node_at(services, knows(make_sshd, locked, "b"), locked, "b")
    memory, kept = MemoryKeyring(), services.links.kept
    with system_keyring(memory):
        kept.keep_once_accepted(node, f"passphrase of {locked}/b", Secret("an old one"))
        assert kept.accepted(node)
        user = User()
        get_in(services, node, user)
        assert user.asked == [("b", 2, "")]
        assert memory.held == {}  # wrong, and the right one was not to be kept


def test_that_a_question_for_one_key_holds_up_nobody_with_another_and_giving_up_counts_for_all_who_wait(
    services, make_sshd, locked, keys, until
):  # fmt: skip
    server = knows(make_sshd, locked, "b")
    node, (asked, answered) = node_at(services, server, locked, "b"), (threading.Event(), threading.Event())
    count: list[str] = []

    def away(_: Node, question: SecretAsked) -> None:
        count.append(question.what)
        asked.set()
        answered.wait(60)

    services.links.ask_secret = away
    waiting = [services.jobs.local(lambda: services.links.open(node, CancelToken())) for _ in range(3)]
    assert asked.wait(30)
    (locked / "both").write_text((locked / "b.pub").read_text() + keys.user("id_ed25519.pub").read_text())
    other = make_sshd(f"AuthorizedKeysFile {locked}/both\n")
    plain = replace(node, address=other.address, identity_file=other.key_file)
    services.links.open(plain, CancelToken()).line.close()
    assert until(lambda: sum(frame.f_code.co_name == "_plain" for frame in sys._current_frames().values()) == 2, 30)  # they wait
    answered.set()
    assert all(isinstance(one.exception(60), NotConnected) for one in waiting)
    assert len(count) == 1
