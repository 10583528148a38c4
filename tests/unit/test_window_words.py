"""What the window says names its buttons; flags are words of the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import gpulease_gui
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import HostKeyChanged, UnknownHostKey
from gpulease_gui.services.links import NotConnected

ROOT = Path(gpulease_gui.__file__).parent
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+|\bgpulease [a-z]+")
KEY = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def own_flags() -> set[str]:
    return {flag for path in (ROOT / "cli").glob("*.py") for flag in re.findall(r'add_argument\(\s*(?:"-\w", )?"(--[a-z-]+)"', path.read_text())}


def said(call: ast.Call) -> Iterator[ast.expr]:
    """What of a call both the window and the command line show."""
    name = getattr(call.func, "id", "") or getattr(call.func, "attr", "")
    if name in ("Text", "tr"):
        yield from call.args
    elif name in ("UsageError", "UserFacing", "NoPeer", "ConnectFailed", "key_trouble"):
        yield from call.args[:3]
        yield from (word.value for word in call.keywords if word.arg in ("what", "why", "next_step"))


def test_that_no_sentence_of_the_window_names_a_flag_of_the_command_line() -> None:
    flags, found = own_flags(), []
    assert {"--fingerprint", "--identity", "--scratch-gib", "--replace-host-key"} <= flags
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).parts[0] in ("cli", "agent"):
            continue
        for call in (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)):
            for part in (part for words in said(call) if not isinstance(words, ast.Call) for part in ast.walk(words)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    plain = re.sub(r"(?:command line: |命令行：)[^)）]*|`(?!gpulease|--)[^`]*`", "", part.value)  # what is done there alone; a node's commands
                    found += [f"{path.name}:{part.lineno} {word}" for word in _FLAG.findall(plain) if word in flags or word.startswith("gpulease ")]
    assert found == []


@pytest.mark.parametrize(("error", "button", "flag"), [
    (UnknownHostKey("a:22", KEY), Text("“Trust this key”", "“信任此密钥”"), f"--fingerprint {KEY.fingerprint}"),
    (HostKeyChanged("a:22", KEY, KEY), Text("“Replace key”", "“替换密钥”"), "--replace-host-key"),
])  # fmt: skip
def test_that_a_host_key_names_a_button_in_the_window_and_a_flag_on_the_command_line(error: UserFacing, button: Text, flag: str) -> None:
    told = NotConnected(Node("n1", "node-07", address=Address("a")), "host_key", error)
    assert button.en in told.next_text.en and button.zh in told.next_text.zh
    assert "--" not in told.next_text.en + told.next_text.zh + told.whole_text.en
    assert flag in told.next_step and flag in str(told) and "“" not in str(told)


def test_that_what_is_done_at_a_jump_host_is_said_of_it_in_both() -> None:
    from gpulease_gui.remote.agent_keys import Held

    error = Held((), 9).too_many("gate:22")
    assert error.next_step.endswith("as the node's key (--identity KEY.pub)") and "--" not in error.next_text.en
    error.at_hop(1, 1)
    assert error.next_step == error.next_text.en == "choose one: name its public key file as the IdentityFile of the jump host gate:22 in the ssh config"
