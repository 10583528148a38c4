from __future__ import annotations

from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.ssh_config import expand, resolve_alias


@pytest.fixture
def config(tmp_path: Path):
    def write(text: str) -> str:
        path = tmp_path / "config"
        path.write_text(text)
        return str(path)

    return write


def test_that_an_alias_is_what_the_users_own_ssh_says(config, tmp_path):
    key = tmp_path / "rent key"
    key.touch()
    file = config(
        f'Host h100-*\n  HostName 203.0.113.9\n  Port 34446\n  User ops\n  IdentityFile "{key}"\n  HostKeyAlias node-07\n'
    )
    assert resolve_alias("h100-a", config_file=file) == Target(
        Address("203.0.113.9", 34446, "ops"), "h100-a", str(key), "node-07"
    )


def test_that_a_character_class_matches_as_ssh_says_and_not_as_a_shell_would(config):
    assert resolve_alias("n1", config_file=config("Host n[12]\n  HostName 203.0.113.9\n")).address.host == "n1"


@pytest.mark.parametrize(
    ("line", "word"), [("ProxyJump gate", "ProxyJump"), ("ProxyCommand nc %h %p", "ProxyCommand")]
)
def test_that_a_jump_host_is_refused_with_that_word(config, line, word):
    with pytest.raises(UsageError, match=word):
        resolve_alias("n1", config_file=config(f"Host n1\n  {line}\n"))


def test_that_a_broken_config_is_quoted(config):
    with pytest.raises(UserFacing) as caught:
        resolve_alias("n1", config_file=config("Host n1\n  Port 22x\n"))
    assert "22x" in caught.value.why


@pytest.mark.parametrize("word", ["-oProxyCommand=touch /tmp/x", "root@-F", "a b", ""])
def test_that_no_option_reaches_ssh_as_an_alias(word):
    with pytest.raises(UsageError):
        resolve_alias(word)


def test_that_without_an_ssh_client_the_word_is_a_host(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert resolve_alias("ops@gw") == Target(Address("gw", 22, "ops"))


def test_that_tokens_of_an_identity_file_are_filled_in(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    monkeypatch.setenv("KEYS", "/keys")
    address = Address("gw", 2200, "root")
    assert expand("~/.ssh/%h-%p-%r", address) == "/home/ops/.ssh/gw-2200-root"
    assert expand("${KEYS}/100%%/%d", address) == "/keys/100%//home/ops"
