"""A node that wants more than one thing, and questions that a known password does not answer; against real sshds with PAM."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.composition import Services
from gpulease_gui.services.ways import SecretAsked
from tests.integration.password_sshds import CODE, PASSWORD, make_password_sshd
from tests.integration.test_ssh_jump_password import User, behind, failed, get_in, refused

__all__ = ["make_password_sshd"]
pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

BOTH = "PasswordAuthentication yes\nAuthenticationMethods publickey,password\n"
ASKED = SecretAsked("password")


def said(server, words: str) -> SecretAsked:
    return SecretAsked(f"{server.address.host_port} asks: {words}")


def connections(server) -> int:
    """Without the one of the fixture, which looks whether it answers."""
    return (server.folder / "log").read_text().count("Connection from ") - 1


def by_password(services: Services, server) -> Node:
    return behind(services, server, auth=AuthMethod.PASSWORD, identity_file="")


def test_that_a_node_that_wants_key_and_password_asks_for_it_after_the_key_on_one_connection(services, make_password_sshd):
    server = make_password_sshd(BOTH)
    node, user = behind(services, server), User(["wrong", PASSWORD])
    get_in(services, node, user)
    assert (user.asked, connections(server), failed(server, "password")) == ([ASKED, SecretAsked("password", number=2)], 1, 1)
    get_in(services, node, User([]))


def test_that_three_wrong_passwords_after_a_key_are_the_end(services, make_password_sshd):
    server, user = make_password_sshd(BOTH), User(["a", "b", "c", "never asked"])
    assert refused(services, behind(services, server), user).why == "the node refuses the password"
    assert (user.types, connections(server), failed(server, "password")) == (["never asked"], 1, 3)


def test_that_who_types_no_password_after_the_key_is_told_what_the_node_wants(services, make_password_sshd):
    server = make_password_sshd(BOTH)
    error = refused(services, behind(services, server), User([None]))
    assert (error.why, error.next_step) == ("the node asks for a second factor", "check user, key or password; the node takes: password")


def test_that_a_refused_key_gets_no_password_of_a_node_that_is_logged_in_to_by_key(services, make_password_sshd):
    server = make_password_sshd("PasswordAuthentication yes\nAuthorizedKeysFile none\n")
    assert refused(services, behind(services, server), User([])).why == "the node refuses this key for this user"


def test_that_key_password_and_questions_follow_each_other_on_one_connection(services, make_password_sshd):
    methods = "KbdInteractiveAuthentication yes\nPasswordAuthentication yes\nAuthenticationMethods publickey,password,keyboard-interactive:pam\n"
    server = make_password_sshd(methods, [("Password: ", PASSWORD)])
    user = User([PASSWORD, PASSWORD])
    get_in(services, behind(services, server), user)
    # The password was accepted a moment ago, so that the question after it is the user's to answer.
    assert (user.asked, connections(server)) == ([ASKED, said(server, "Password:")], 1)


def test_that_ux_13_a_key_and_pams_questions_go_over_one_connection(services, make_password_sshd):
    methods = "KbdInteractiveAuthentication yes\nAuthenticationMethods publickey,keyboard-interactive:pam\n"
    server = make_password_sshd(methods, [("Password: ", PASSWORD), ("Verification code: ", CODE)])
    user, code = User([PASSWORD, "wrong", PASSWORD, CODE]), said(server, "Verification code:")
    get_in(services, behind(services, server), user)
    # Which of the two answers was wrong is not said, so that both are asked for again.
    assert (user.asked, connections(server)) == ([ASKED, code, SecretAsked("password", number=2), code], 1)


@pytest.mark.parametrize("words", ["Verification code:", "Token:", "OTP:", "动态密码：", "验证码："])
def test_that_a_code_that_is_asked_for_first_is_never_answered_by_the_password(services, make_password_sshd, words):
    server = make_password_sshd("KbdInteractiveAuthentication yes\n", [(f"{words} ", CODE), ("Password: ", PASSWORD)])
    user = User([PASSWORD, CODE])
    get_in(services, by_password(services, server), user)
    assert user.asked == [ASKED, said(server, words)]
    assert failed(server, "keyboard-interactive/pam") == 0


@pytest.mark.parametrize("words", ["Password:", "密码：", "请输入密码:", "root@gate's password:"])
def test_that_a_known_password_answers_the_question_for_it_in_its_common_words(services, make_password_sshd, words):
    server = make_password_sshd("KbdInteractiveAuthentication yes\n", [(f"{words} ", PASSWORD)])
    user = User([PASSWORD])
    get_in(services, by_password(services, server), user)
    assert user.asked == [ASKED]


def test_that_a_question_for_the_password_that_would_be_seen_goes_to_the_user(services, make_password_sshd):
    server = make_password_sshd("KbdInteractiveAuthentication yes\n", [("Password: ", PASSWORD, "shown")])
    user = User(["x", PASSWORD])
    get_in(services, by_password(services, server), user)
    assert (user.asked, user.seen) == ([ASKED, said(server, "Password:")], [said(server, "Password:")])


def test_that_a_pasted_password_is_tried_once_and_then_the_user_is_asked(services, make_password_sshd):
    server = make_password_sshd()
    node, user = by_password(services, server), User([PASSWORD])
    services.links.know_password(node, Secret("an old one"))
    get_in(services, node, user)
    assert (user.asked, failed(server, "password")) == ([SecretAsked("password", number=2)], 1)


def test_that_a_typed_password_is_not_sent_to_where_the_node_is_said_to_be_now(services, make_password_sshd):
    """Behind another address, login or way is perhaps another machine, even of a record whose key was accepted."""
    node, user = by_password(services, make_password_sshd()), User([PASSWORD])
    get_in(services, node, user)
    server = make_password_sshd()
    moved, user = replace(node, address=server.address), User([PASSWORD])
    services.links.trust(moved, server.keys.host_keys()[0], "test")
    get_in(services, moved, user)
    assert user.asked == [ASKED]
    get_in(services, node, User([]))


def test_that_who_gives_up_at_the_first_question_for_the_password_is_not_asked_a_second_time(services, make_password_sshd):
    server, user = make_password_sshd(), User([None])
    told = refused(services, by_password(services, server), user)
    assert (told.why, told.next_step) == ("no password was given", "it is asked for in a terminal, where Ctrl+D gives up; or use a key")
    assert user.asked == [ASKED]
