"""How does the command line ask for a secret?"""

from __future__ import annotations

import getpass
import sys

import pytest

from gpulease_gui.cli.verify import ask_on_terminal
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.ways import SecretAsked

NODE = Node("n1", "node-01", Reach.SSH, Address("203.0.113.1"))


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a terminal shows; what was typed is the last prompt's length, or nothing where it says `nothing`."""
    shown: list[str] = []

    def typed(prompt: str) -> str:
        shown.append(prompt)
        return "" if "nothing" in prompt else str(len(prompt))

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(getpass, "getpass", typed)
    return shown


def test_that_the_prompt_names_the_file_the_jump_host_and_the_try(prompts: list[str]) -> None:
    assert ask_on_terminal(NODE, SecretAsked("passphrase of /k/a")) == Secret("44")
    ask_on_terminal(NODE, SecretAsked("passphrase of /k/gate", "gw:2222", 3))
    assert prompts == [
        "passphrase of /k/a for root@203.0.113.1:22: ",
        "wrong, try 3 of 3: passphrase of /k/gate for jump host gw:2222 on the way to root@203.0.113.1:22: ",
    ]


def test_that_the_password_of_a_jump_host_is_asked_for_by_its_name_and_login(prompts: list[str]) -> None:
    ask_on_terminal(NODE, SecretAsked("password of the jump host ops@gw:2222", "gw:2222", 2))
    ask_on_terminal(NODE, SecretAsked("password"))
    assert prompts == [
        "wrong, try 2 of 3: password of the jump host ops@gw:2222 on the way to root@203.0.113.1:22: ", "password for root@203.0.113.1:22: ",
    ]  # fmt: skip


def test_that_an_empty_passphrase_gives_the_key_up_and_an_empty_answer_is_one(prompts: list[str]) -> None:
    assert ask_on_terminal(NODE, SecretAsked("passphrase of nothing")) is None
    assert ask_on_terminal(NODE, SecretAsked("gw:22 asks: nothing")) == Secret("")


def test_that_words_of_a_node_do_nothing_to_the_terminal(prompts: list[str]) -> None:
    ask_on_terminal(NODE, SecretAsked("gw:22 asks: \x1b]0;x\x07Code:"))
    assert "\x1b" not in prompts[0] and "Code:" in prompts[0]
