"""A jump host that takes a password, or asks for one, is logged in to as a node is; against real sshds."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes
from tests.integration.conftest import children
from tests.integration.password_sshds import CODE, PASSWORD, make_password_sshd
from tests.keyrings import MemoryKeyring, system_keyring

__all__ = ["make_password_sshd"]
pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

ONLY_PASSWORD = "PasswordAuthentication yes\nPubkeyAuthentication no\n"
ONLY_QUESTIONS = "KbdInteractiveAuthentication yes\nPubkeyAuthentication no\n"


@dataclass
class User:
    """Types one after the other, None gives up; remembers what was asked, and what the host let be seen."""

    types: list[str | None]
    asked: list[SecretAsked] = field(default_factory=list)
    seen: list[SecretAsked] = field(default_factory=list)

    def __call__(self, node: Node, asked: SecretAsked) -> Secret | None:
        self.asked.append(asked)
        typed = self.types.pop(0)
        return None if typed is None else Secret(typed)

    def openly(self, node: Node, asked: SecretAsked) -> Secret | None:
        self.seen.append(asked)
        return self(node, asked)


def behind(services: Services, server, *hops, **changes: object) -> Node:
    """A node whose jump hosts, and itself, are known by their keys."""
    node = replace(Node("n1", "node-07", address=server.address, identity_file=server.key_file, jump=",".join(str(hop.address) for hop in hops)),
                   **changes)  # fmt: skip
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    for hop in hops:
        services.links.trust(node, server.keys.host_keys()[0], "the test", hop=hop.address.host_port)
    return node


def get_in(services: Services, node: Node, user: User) -> None:
    services.links.ask_secret = user
    services.links.show_while_typed(user.openly)
    services.links.open(node, CancelToken()).line.close()


def refused(services: Services, node: Node, user: User) -> NotConnected:
    with pytest.raises(NotConnected) as caught:
        get_in(services, node, user)
    return caught.value


def password_of(hop, number: int = 1) -> SecretAsked:
    return SecretAsked(f"password of the jump host {hop.address}", hop.address.host_port, number)


def failed(server, way: str) -> int:
    return (server.folder / "log").read_text().count(f"Failed {way} for ")


@pytest.mark.parametrize("config", [ONLY_PASSWORD, "PasswordAuthentication yes\nAuthorizedKeysFile none\n"])
def test_that_a_jump_host_that_takes_none_of_our_keys_gets_its_password_and_is_asked_for_once(services, sshd, make_password_sshd, config):
    gate = make_password_sshd(config)
    node, user = behind(services, sshd, gate), User([PASSWORD])
    for _ in range(2):
        get_in(services, node, user)
    assert user.asked == [password_of(gate)]


def test_that_a_jump_host_with_one_try_that_refuses_our_key_gets_its_password_and_else_is_told_as_that(services, sshd, make_password_sshd):
    gate = make_password_sshd("MaxAuthTries 1\nPasswordAuthentication yes\nAuthorizedKeysFile none\n")
    node, user = behind(services, sshd, gate), User([PASSWORD])
    get_in(services, node, user)
    assert user.asked == [password_of(gate)]
    services.links._ways.forget(node, gate.address.host_port)
    error = refused(services, node, User([None]))
    assert error.why.startswith(f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses {sshd.key_file} and ends the login: it takes no more tries")
    assert "MaxStartups" not in str(error)


def test_that_each_hop_is_a_question_of_its_own_by_its_name(services, sshd, make_password_sshd):
    hops = [make_password_sshd(ONLY_PASSWORD) for _ in range(2)]
    user = User([PASSWORD, PASSWORD])
    get_in(services, behind(services, sshd, *hops), user)
    assert user.asked == [password_of(hop) for hop in hops]


def test_that_a_wrong_password_of_a_jump_host_is_asked_for_three_times_and_then_it_is_named(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_PASSWORD)
    node, user = behind(services, sshd, gate), User(["a", "b", PASSWORD, "x", "y", "z", "never asked"])
    get_in(services, node, user)
    assert user.asked == [password_of(gate, number) for number in (1, 2, 3)]
    services.links._ways.forget(node, gate.address.host_port)
    error = refused(services, node, user)
    assert error.why == f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses the password"
    assert (user.types, failed(gate, "password")) == (["never asked"], 5)
    again = User([PASSWORD])
    get_in(services, node, again)
    assert again.asked == [password_of(gate)]


def test_that_a_jump_host_without_pam_that_asks_nothing_gets_the_password(services, sshd, make_password_sshd):
    gate = make_password_sshd(f"KbdInteractiveAuthentication yes\n{ONLY_PASSWORD}")
    user = User([PASSWORD])
    get_in(services, behind(services, sshd, gate), user)
    assert user.asked == [password_of(gate)]


def test_that_a_jump_hosts_own_questions_are_answered_each_as_it_is_asked(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_QUESTIONS, [("Password: ", PASSWORD), ("Verification <b>code: ", CODE), ("Your name: ", "anna", "shown")])
    place = gate.address.host_port
    node, user = behind(services, sshd, gate), User([PASSWORD, CODE, "anna", CODE, "anna"])
    for _ in range(2):
        get_in(services, node, user)
    code, name = SecretAsked(f"{place} asks: Verification <b>code:", place), SecretAsked(f"{place} asks: Your name:", place)
    assert user.asked == [password_of(gate), code, name, code, name]
    assert user.seen == [name, name]


def test_that_wrong_answers_to_a_jump_host_are_typed_three_times_at_most(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_QUESTIONS, [("Password: ", PASSWORD)])
    user = User(["a", "b", "c", "never asked"])
    error = refused(services, behind(services, sshd, gate), user)
    assert error.why == f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses the answers to its questions"
    assert user.asked == [password_of(gate, number) for number in (1, 2, 3)]


def test_that_who_types_no_password_is_told_of_both_ways(services, sshd, make_password_sshd):
    gate = make_password_sshd("PasswordAuthentication yes\nAuthorizedKeysFile none\n")
    error = refused(services, behind(services, sshd, gate), User([None]))
    assert error.why == (
        f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses this key for this user; no password was given"
    )
    assert failed(gate, "password") == 0


def test_that_a_jump_host_that_takes_keys_alone_asks_nobody(services, sshd, make_sshd):
    gate = make_sshd("AuthorizedKeysFile none\n")
    error = refused(services, behind(services, sshd, gate), User([]))
    assert error.why == f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses this key for this user"


def test_that_a_jump_host_that_takes_our_key_asks_nobody(services, sshd, make_password_sshd):
    get_in(services, behind(services, sshd, make_password_sshd()), User([]))


def test_that_a_jump_host_wants_key_and_password_on_one_connection(services, sshd, make_password_sshd):
    gate = make_password_sshd("PasswordAuthentication yes\nAuthenticationMethods publickey,password\n")
    user = User(["wrong", PASSWORD])
    get_in(services, behind(services, sshd, gate), user)
    assert user.asked == [password_of(gate), password_of(gate, 2)]
    assert (gate.folder / "log").read_text().count("Connection from ") == 2  # the fixture looked, and we


def test_that_a_password_of_a_jump_host_never_goes_to_the_node_behind_it(services, make_password_sshd):
    gate, server = make_password_sshd(ONLY_PASSWORD), make_password_sshd(ONLY_PASSWORD)
    node, user = behind(services, server, gate, auth=AuthMethod.PASSWORD, identity_file=""), User(["of the node", PASSWORD, None])
    refused(services, node, user)
    assert user.asked == [SecretAsked("password"), password_of(gate), SecretAsked("password", number=2)]
    assert (failed(server, "password"), failed(gate, "password")) == (1, 0)


def test_that_many_nodes_behind_one_jump_host_ask_once_for_it(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_PASSWORD)
    one = behind(services, sshd, gate)
    many = [replace(one, id=f"n{number}", name=f"node-{number}") for number in range(3)]
    for node in many:
        services.workspace.submit(lambda db, node=node: nodes.save_node(db, node)).result()
        services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    asked: list[SecretAsked] = []

    def ask(node: Node, question: SecretAsked) -> Secret:
        asked.append(question)
        return Secret(PASSWORD)

    services.links.ask_secret = ask
    for opening in [services.jobs.local(lambda node=node: services.links.open(node, CancelToken())) for node in many]:
        opening.result(60).line.close()
    assert asked == [password_of(gate)]


def test_that_only_a_ticked_box_puts_a_jump_hosts_password_into_the_keyring_and_only_once_it_was_right(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_PASSWORD)
    node, memory, kept = behind(services, sshd, gate), MemoryKeyring(), services.links.kept
    with system_keyring(memory):
        get_in(services, node, User([PASSWORD]))
        assert memory.held == {}
        services.links._ways.forget(node, gate.address.host_port)

        class Ticks(User):
            def __call__(self, node: Node, asked: SecretAsked) -> Secret | None:
                typed = super().__call__(node, asked)
                kept.keep_once_accepted(node, asked.what, typed)
                return typed

        get_in(services, node, Ticks(["wrong", PASSWORD]))
        assert list(memory.held.values()) == [PASSWORD]
        services.links._ways.forget(node, gate.address.host_port)
        get_in(services, node, User([]))


def test_that_a_jump_host_whose_key_was_replaced_a_moment_ago_gets_no_password(services, sshd, make_password_sshd):
    gate = make_password_sshd(ONLY_PASSWORD)
    node = behind(services, sshd, gate)
    services.links.replace_key(node, sshd.keys.host_keys()[0], "the test", hop=gate.address.host_port)
    services.links.trust(node, sshd.keys.host_keys()[0], "the test", hop=gate.address.host_port)
    error = refused(services, node, User([]))
    assert error.why == (
        f"at jump host {gate.address.host_port} (1 of 1): the jump host refuses this key for this user; "
        "its host key was replaced a moment ago: on the first connection after that no password is sent or asked for"
    )
    assert error.next_step.endswith("; the new key was shown again; connect again to log in with a password")
    assert failed(gate, "password") == 0
    user = User([PASSWORD])
    get_in(services, node, user)
    assert user.asked == [password_of(gate)]


@pytest.mark.parametrize(
    ("config", "questions", "why"),
    [
        (ONLY_PASSWORD, (), "the jump host refuses the password"),
        (ONLY_QUESTIONS, [("Password: ", PASSWORD)], "the jump host refuses the answers to its questions"),
    ],
)
def test_that_a_host_that_takes_fewer_tries_than_three_is_told_as_that(services, sshd, make_password_sshd, config, questions, why):
    gate = make_password_sshd(f"MaxAuthTries 2\n{config}", questions)
    user = User(["wrong", "wrong, too", "never asked"])
    error = refused(services, behind(services, sshd, gate), user)
    assert error.why == (
        f"at jump host {gate.address.host_port} (1 of 1): {why}; then it ended the login: it takes no more tries (MaxAuthTries)"
    )
    assert user.types == ["never asked"]


@pytest.mark.parametrize(
    ("config", "questions", "at_node"),
    [
        (ONLY_PASSWORD, (), False),
        ("PasswordAuthentication yes\nAuthenticationMethods publickey,password\n", (), True),
        (ONLY_QUESTIONS, [("Password: ", PASSWORD)], False),
    ],
)
def test_that_who_types_longer_than_the_host_waits_is_asked_once_and_gets_in(
    services, sshd, make_password_sshd, until, config, questions, at_node
):  # fmt: skip
    slow = make_password_sshd(f"LoginGraceTime 2\n{config}", questions)
    node = behind(services, slow) if at_node else behind(services, sshd, slow)

    def is_left() -> bool:
        """The server has gone, and who reads the connection, if that is not who asks, has seen it."""
        readers = [thread for thread in threading.enumerate() if isinstance(thread, paramiko.Transport)]
        return not children(slow.process.pid) and not [reader for reader in readers if reader is not threading.current_thread()]

    class Slow(User):
        def __call__(self, node: Node, asked: SecretAsked) -> Secret | None:
            assert until(is_left, 30)
            return super().__call__(node, asked)

    user = Slow([PASSWORD])
    get_in(services, node, user)
    assert user.asked == [SecretAsked("password") if at_node else password_of(slow)]
