from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.ssh_config import expand, resolve_alias, resolve_jumps
from gpulease_gui.remote.ssh_lines import programs_in


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


def test_that_a_proxy_command_is_refused_with_that_word(config):
    with pytest.raises(UsageError, match="ProxyCommand"):
        resolve_alias("n1", config_file=config("Host n1\n  ProxyCommand nc %h %p\n"))


def test_that_certificate_alias_and_known_hosts_of_the_config_are_taken_over(config, tmp_path):
    for name in ("key", "key-cert.pub", "held.pub"):
        (tmp_path / name).touch()
    file = config(
        f"Host n1\n IdentityFile {tmp_path}/key\n CertificateFile {tmp_path}/key-cert.pub\n"
        f" UserKnownHostsFile {tmp_path}/%h.known /etc/x\n ProxyJump ops@gate:2222,b\n"
        f"Host n2\n IdentityFile {tmp_path}/held\n UserKnownHostsFile none\n"
    )
    assert resolve_alias("n1", config_file=file) == Target(
        Address("n1", 22, getpass.getuser()), "n1", f"{tmp_path}/key", "", "ops@gate:2222,b", f"{tmp_path}/key-cert.pub",
        (f"{tmp_path}/n1.known", "/etc/x"),
    )  # fmt: skip
    held = resolve_alias("n2", config_file=file)
    assert (held.identity_file, held.known_hosts) == (f"{tmp_path}/held.pub", ("none",))


def test_that_the_first_jump_host_brings_its_own_and_the_others_do_not(config):
    file = config(
        "Host a\n HostName 10.0.0.1\n User anna\n ProxyJump front\nHost b\n HostName 10.0.0.2\n Port 2200\n ProxyJump lost\n"
        "Host front\n HostName 192.0.2.1\n"
    )
    chain = resolve_jumps("a,bert@b", config_file=file)
    assert [str(hop.address) for hop in chain] == [
        f"{getpass.getuser()}@192.0.2.1:22", "anna@10.0.0.1:22", "bert@10.0.0.2:2200",
    ]  # fmt: skip


def test_that_jump_hosts_in_a_circle_are_refused(config):
    with pytest.raises(UsageError, match="circle"):
        resolve_jumps("a", config_file=config("Host a\n ProxyJump b\nHost b\n ProxyJump a\n"))


def test_that_a_broken_config_is_quoted(config):
    with pytest.raises(UserFacing) as caught:
        resolve_alias("n1", config_file=config("Host n1\n  Port 22x\n"))
    assert "22x" in caught.value.why


@pytest.mark.parametrize("word", ["-oProxyCommand=touch /tmp/x", "root@-F", "a b", ""])
def test_that_no_option_reaches_ssh_as_an_alias(word):
    with pytest.raises(UsageError):
        resolve_alias(word)


def test_that_without_an_ssh_client_a_word_that_the_config_does_not_know_is_a_host(config, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert resolve_alias("ops@gw", config_file=config("")).address == Address("gw", 22, "ops")


def test_that_tokens_of_an_identity_file_are_filled_in(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    monkeypatch.setenv("KEYS", "/keys")
    address = Address("gw", 2200, "root")
    assert expand("~/.ssh/%h-%p-%r", address) == "/home/ops/.ssh/gw-2200-root"
    assert expand("${KEYS}/100%%/%d", address) == "/keys/100%//home/ops"


@pytest.mark.parametrize("line", ['Match exec "touch {mark}"', "Match host n1 exec 'touch {mark}'", 'Match !exec "touch {mark}"', 'match exec="touch {mark}"'])
def test_that_a_program_named_by_a_config_from_elsewhere_is_refused_and_never_run(config, tmp_path, line):
    mark = tmp_path / "it ran"
    (tmp_path / "part").write_text(f"Host n1\n Port 22\n{line.format(mark=mark)}\n Port 23\n")
    with pytest.raises(UserFacing) as refused:
        resolve_alias("n1", config_file=config(f"Include {tmp_path}/part\n"))
    assert refused.value.what == f"{tmp_path}/part:3 may run a program"
    assert refused.value.why.endswith("nothing was run")
    assert not mark.exists()


@pytest.mark.parametrize("line", ["Include ${HOME}/*", "Match exec 'touch x"])
def test_that_a_line_that_could_hide_a_program_is_refused_in_a_config_from_elsewhere(config, line):
    with pytest.raises(UserFacing, match="config:3 may run a program"):
        resolve_alias("n1", config_file=config(f"Host n1\n Port 22\n{line}\n"))


def test_that_the_users_own_config_is_their_own_sshs_business(tmp_path, monkeypatch):
    """OpenSSH takes the home of the account, whatever HOME says: what would be run is only seen here, not run."""
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text("Host n1\n Port 2200\nMatch exec true\n User ops\n")
    assert [found.place for found in programs_in()] == [f"{tmp_path}/.ssh/config:3"]
    resolve_alias("n1")
