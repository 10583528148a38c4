"""Is of a jump host never said that "the node" refuses us, in both languages, whatever the reason?"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpulease_gui.remote
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.agent_keys import Held
from gpulease_gui.remote.failures import (
    ConnectFailed,
    HungUp,
    Phase,
    key_trouble,
    login_refused,
    no_password_yet,
    no_way_out,
    timed_out,
)
from gpulease_gui.remote.hop_words import of_jump_host
from gpulease_gui.remote.login import _WHY, too_many_tries
from gpulease_gui.remote.said_words import in_both

GATE = "gate:2222"
# What is said of an open connection's sessions: a jump host has none.
_OF_SESSIONS = {"no_channel", "channels_full", "exec_refused"}
_MODULES = ("failures", "login", "agent_keys", "agent_line", "key_shapes", "key_files", "key_certificates", "keys_in_turn", "rsa_length", "handshake", "route", "said_words", "answers")


def at_gate(error: ConnectFailed) -> tuple[str, str, str]:
    """Why and the next step in English, and the whole in Chinese."""
    error.at_hop(1, 2)
    assert (error.why, error.next_step) == (error.why_text.en, error.next_text.en)
    assert "the node" not in str(error) and "节点" not in error.whole_text.zh
    return error.why.removeprefix(f"at jump host {GATE} (1 of 2): "), error.next_step, error.whole_text.zh


@pytest.mark.parametrize(("cause", "en", "zh"), [
    ("key_refused", "the jump host refuses this key for this user", "跳板机拒绝该用户使用此密钥"),
    ("password_refused", "the jump host refuses the password", "跳板机拒绝该密码"),
    ("answer_refused", "the jump host refuses the answers to its questions", "跳板机不接受所填的验证信息"),
])  # fmt: skip
def test_that_a_jump_host_that_refuses_and_what_it_takes_are_told_of_it(cause: str, en: str, zh: str) -> None:
    why, step, whole = at_gate(login_refused(GATE, cause, _WHY[cause], ("publickey",)))
    assert (why, step) == (en, f"check user, key or password; the jump host {GATE} takes: publickey")
    assert whole == f"跳板机 {GATE}：登录认证失败。在跳板机 {GATE}（第 1 个，共 2 个）：{zh}。检查用户名、密钥或密码；跳板机 {GATE} 接受：publickey"


def test_that_what_to_do_about_a_jump_host_is_told_of_it() -> None:
    assert at_gate(Held((), 9).too_many(GATE))[1] == f"choose one: name its public key file as the IdentityFile of the jump host {GATE} in the ssh config"
    assert at_gate(no_way_out(GATE, "x"))[1] == f"correct the SSH options of the jump host {GATE} in the ssh config, or take that one out"
    assert at_gate(timed_out(Phase.AUTH, GATE, 5))[1] == f"try again; the jump host {GATE} may be overloaded"
    why, step, _ = at_gate(too_many_tries(GATE, ["a"], ["b"]))
    assert why == "the jump host ended the login after it had refused a; it takes no more tries (MaxAuthTries), so not judged: b"
    assert step == f"name the key that belongs to the jump host {GATE} alone, or first"
    assert at_gate(login_refused(GATE, "second_factor", Text("the node asks for a second factor", "节点要求第二种认证"), ()))[0] == "the jump host asks for a second factor"
    assert at_gate(key_trouble(GATE, "x", in_both("the node accepts another service than was asked for")))[0] == "the jump host accepts another service than was asked for"


def test_that_words_of_a_server_stay_as_they_came_and_those_of_a_node_too() -> None:
    words = "node-07 is full; the node is in repair 节点维护中"
    error = HungUp(Phase.BANNER, GATE, "hung_up", Text(f"it said: {words}", f"对方发来：{words}"))
    error.at_hop(1, 1)
    assert error.why.endswith(words) and error.why_text.zh.endswith(words)
    refused = login_refused("n:22", "password_refused", _WHY["password_refused"], ())
    assert (refused.why, refused.why_text.zh) == ("the node refuses the password", "节点拒绝该密码")


def test_that_a_lack_of_a_password_at_a_jump_host_is_told_of_it() -> None:
    error = login_refused(GATE, "password_refused", _WHY["password_refused"], ())
    error.at_hop(1, 2)
    for once in (True, False):
        told = no_password_yet(error, once=once)
        assert told.hop == GATE and "the node" not in str(told) and "节点" not in told.whole_text.zh


def reasons() -> Iterator[tuple[str, Text]]:
    """All sentences in both languages of the modules that connect and log in, with x for what is filled in."""
    for name in _MODULES:
        tree = ast.parse((Path(gpulease_gui.remote.__file__).parent / f"{name}.py").read_text("utf-8"))
        for function in ast.walk(tree):
            for child in ast.iter_child_nodes(function):
                child.parent = function  # type: ignore[attr-defined]
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Text" and not _OF_SESSIONS & set(around(call)):
                en, zh = ("".join(each(part)) for part in call.args)
                yield f"{name}:{call.lineno}", Text(en, zh)


def around(node: ast.AST) -> Iterator[str]:
    while node := getattr(node, "parent", None):  # type: ignore[assignment]
        if isinstance(node, ast.FunctionDef):
            yield node.name


def each(node: ast.AST) -> Iterator[str]:
    """All literal words of an expression."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.JoinedStr):
        yield from (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from [*each(node.body), " | ", *each(node.orelse)]


def test_that_no_reason_of_connecting_and_logging_in_speaks_of_a_node_at_a_jump_host() -> None:
    found = dict(reasons())
    assert len(found) > 100 and sum("the node" in words.en for words in found.values()) > 8
    left = {place: words for place, words in found.items() if "the node" in (told := of_jump_host(words)).en or "节点" in told.zh}
    assert left == {}
