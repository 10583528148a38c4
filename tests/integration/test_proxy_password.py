"""The password of a proxy's user is asked for once for all nodes behind it; against a scripted proxy and real sshds."""

from __future__ import annotations

import base64
import re
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes
from tests.integration.listening import listening
from tests.integration.test_ssh_jump_password import User, get_in, refused
from tests.keyrings import MemoryKeyring, system_keyring

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

RIGHT = "correct horse"


@dataclass
class Guard:
    """An HTTP proxy that lets anna in by one password, and remembers what it was shown."""

    to: Address
    shown: list[str] = field(default_factory=list)

    def __call__(self, caller: socket.socket) -> Address | None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += caller.recv(1)
        found = re.search(rb"Basic (\S+)", head)
        user, _, password = base64.b64decode(found[1] if found else b"").decode().partition(":")
        self.shown.append(password)
        let_in = (user, password) == ("anna", RIGHT)
        caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n" if let_in else b"HTTP/1.1 407 Who\r\n\r\n")
        return self.to if let_in else None


@pytest.fixture
def guard(sshd) -> Iterator[tuple[Guard, Address]]:
    guard = Guard(sshd.address)
    with listening(guard) as place:
        yield guard, place


def behind(services: Services, sshd, place: Address, name: str, **changes: object) -> Node:
    node = replace(Node(name, name, address=sshd.address, identity_file=sshd.key_file, proxy=f"http://anna@{place.host_port}"), **changes)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    return node


def password_of(place: Address, number: int = 1) -> SecretAsked:
    return SecretAsked(f"password of the proxy anna@{place.host_port}", number=number)


def side_by_side(services: Services, many: list[Node]) -> list[str]:
    """How each of them ends that are connected to at once: "" = it is."""

    def one(node: Node) -> str:
        try:
            services.links.open(node, CancelToken()).line.close()
        except NotConnected as error:
            return error.why
        return ""

    return [opening.result(60) for opening in [services.jobs.local(lambda node=node: one(node)) for node in many]]


def test_that_many_nodes_behind_one_proxy_ask_once_for_its_password(services, sshd, guard):
    seen, place = guard
    services.links.ask_secret = user = User([RIGHT])
    assert side_by_side(services, [behind(services, sshd, place, f"n{number}") for number in range(3)]) == ["", "", ""]
    assert user.asked == [password_of(place)] and seen.shown == [RIGHT] * 3


def test_that_a_wrong_one_is_asked_for_again_and_the_right_one_is_known_from_then_on(services, sshd, guard):
    seen, place = guard
    user = User(["wrong", RIGHT])
    get_in(services, behind(services, sshd, place, "n1"), user)
    get_in(services, behind(services, sshd, place, "n2"), user)
    assert user.asked == [password_of(place), password_of(place, 2)] and seen.shown == ["wrong", RIGHT, RIGHT]


def test_that_a_proxy_is_shown_three_wrong_ones_at_most_and_a_later_try_asks_anew(services, sshd, guard):
    seen, place = guard
    node, user = behind(services, sshd, place, "n1"), User(["a", "b", "c", RIGHT])
    why = refused(services, node, user).why
    assert why == f"proxy {place.host_port}: it refuses the user or the password" and seen.shown == ["a", "b", "c"]
    get_in(services, node, user)
    assert user.asked == [password_of(place, number) for number in (1, 2, 3, 1)]


def test_that_many_nodes_are_told_of_three_wrong_ones_without_more_questions(services, sshd, guard):
    seen, place = guard
    services.links.ask_secret = user = User(["a", "b", "c"])
    many = [behind(services, sshd, place, f"n{number}") for number in range(3)]
    begun = threading.Barrier(3)  # else the first could have had its three before the second is begun, which asks anew
    way_to = services.links._ways.way_to

    def together(*asked: object, **how: object):
        way = way_to(*asked, **how)
        begun.wait(30)
        return way

    services.links._ways.way_to = together
    assert side_by_side(services, many) == [f"proxy {place.host_port}: it refuses the user or the password"] * 3
    assert [asked.what for asked in user.asked] == [password_of(place).what] * 3
    assert sorted(set(seen.shown)) == ["a", "b", "c"]


def test_that_who_gives_up_shows_the_proxy_nothing(services, sshd, guard):
    seen, place = guard
    node = behind(services, sshd, place, "n1")
    assert refused(services, node, User([None])).why == f"proxy {place.host_port}: no password was given"
    assert seen.shown == []
    assert refused(services, node, User(["wrong", None])).why == f"proxy {place.host_port}: it refuses the user or the password"
    assert seen.shown == ["wrong"]


def test_that_another_user_of_the_same_proxy_has_another_password(services, sshd, guard):
    seen, place = guard
    bob = behind(services, sshd, place, "n2", proxy=f"http://bob@{place.host_port}")
    user = User([RIGHT, "of bob", None])
    get_in(services, behind(services, sshd, place, "n1"), user)
    refused(services, bob, user)
    assert [asked.what for asked in user.asked] == [f"password of the proxy {who}@{place.host_port}" for who in ("anna", "bob", "bob")]
    assert seen.shown == [RIGHT, "of bob"]


def test_that_a_stale_one_of_the_keyring_that_two_nodes_keep_is_shown_once(services, sshd, guard):
    seen, place = guard
    one, two = behind(services, sshd, place, "n1"), behind(services, sshd, place, "n2")
    memory, kept, what = MemoryKeyring(), services.links.kept, password_of(place).what
    with system_keyring(memory):
        for node in (one, two):
            kept.keep_once_accepted(node, what, Secret("of yesterday"))
            kept.accepted(node)
        get_in(services, one, user := User([RIGHT]))
        get_in(services, two, user)
    assert user.asked == [password_of(place, 2)] and seen.shown == ["of yesterday", RIGHT, RIGHT]


def test_that_the_password_is_in_no_file_of_the_workspace(services, sshd, guard, tmp_path):
    get_in(services, behind(services, sshd, guard[1], "n1"), User([RIGHT]))
    services.close()
    assert not [path for path in tmp_path.rglob("w.db*") if RIGHT.encode() in path.read_bytes()]
