from __future__ import annotations

import getpass
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.credentials import Credentials, KeyRing
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.ssh_config import resolve_alias, resolve_jumps
from gpulease_gui.remote.ssh_lines import programs_in
from gpulease_gui.remote.ssh_tokens import Tokens


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


def test_that_a_key_and_a_certificate_that_are_not_there_are_named_with_their_line(config, tmp_path):
    """With IdentitiesOnly connecting said that no key file was named. One was."""
    key, gone, certificate = tmp_path / "key", tmp_path / "gone-n1", tmp_path / "gone-cert.pub"
    key.touch()
    file = config(
        f"Host n1 n3\n IdentitiesOnly yes\n IdentityFile {tmp_path}/gone-%n\nHost n2\n IdentityFile {gone}\n IdentityFile {key}\n"
        f" CertificateFile {certificate}\nHost n4\n HostName 10.0.0.4\nHost n5\n IdentityFile {gone}\nHost n6\n IdentityFile %x\n"
    )
    only, beside, none, agent = (resolve_alias(name, config_file=file) for name in ("n1", "n2", "n4", "n5"))
    assert only.identity_file == str(gone)
    assert [words.en for words in only.notes] == [f"{file}:3: IdentityFile {gone} does not exist"]
    assert only.notes[0].zh == f"{file}:3：IdentityFile {gone} 不存在"
    assert beside.identity_file == str(key)
    assert [words.en for words in beside.notes] == [f"{file}:7: CertificateFile {certificate} does not exist"]
    assert (none.identity_file, none.notes) == ("", ())  # the files that ssh tries unasked
    assert (agent.identity_file, len(agent.notes)) == ("", 1)  # the agent may have one
    credentials = Credentials(AuthMethod.KEY, only.identity_file)
    with pytest.raises(ConnectFailed) as caught:
        KeyRing().load("n1:22", credentials)
    assert caught.value.why == f"the key file {gone} can't be read: No such file or directory"


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
    tokens = Tokens(Address("gw", 2200, "root"), "n1", "rack-7", "gate")
    assert tokens.fill("~/.ssh/%h-%p-%r") == "/home/ops/.ssh/gw-2200-root"
    assert tokens.fill("${KEYS}/100%%/%d") == "/keys/100%//home/ops"
    assert tokens.fill("%n-%k-%j") == "n1-rack-7-gate"
    assert tokens.fill_jump("%n%%-%h") == "n1%-gw"


@pytest.mark.parametrize(("path", "token"), [("k%x", "%x"), ("k%C", "%C"), ("k%", "%")])
def test_that_a_token_that_cannot_be_filled_in_is_refused_by_its_name(path, token):
    with pytest.raises(UsageError, match=f"has {token}[.] "):
        Tokens(Address("gw"), "n1", jump_host="gate").fill(path)


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


def test_that_tokens_mean_what_ssh_takes_them_for(config):
    """ssh -G fills them in for UserKnownHostsFile only."""
    names = "/k/%h,%n,%k,%r,%p,%L,%l,%i,%C,%u,%d,%%"
    file = config(f"Host n1\n HostName 203.0.113.9\n HostKeyAlias rack\n UserKnownHostsFile {names}\n")
    asked = subprocess.run(["ssh", "-F", file, "-G", "n1"], capture_output=True, text=True, check=True).stdout
    theirs = next(line for line in asked.splitlines() if line.startswith("userknownhostsfile ")).split(" ", 1)[1]
    found = resolve_alias("n1", config_file=file)
    assert found.known_hosts == (theirs,)
    assert Tokens(found.address, "n1", "rack").fill(names) == theirs


@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["ssh", "own"])
def test_that_names_with_blanks_tokens_and_the_word_none_are_read_as_ssh_does(config, tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    (tmp_path / "id_gpu_rack").touch()
    file = config(
        f"Host gpu\n HostName 203.0.113.9\n HostKeyAlias nonesuch-gw\n UserKnownHostsFile '{tmp_path}/a b' /c%%\n"
        f" IdentityFile {tmp_path}/id_%n_rack\n ProxyJump gw-%h\nHost n2\n UserKnownHostsFile none\n HostKeyAlias none\n"
    )
    found = resolve_alias("gpu", config_file=file)
    assert (found.host_key_alias, found.known_hosts) == ("nonesuch-gw", (f"{tmp_path}/a b", "/c%"))
    assert (found.identity_file, found.jump) == (f"{tmp_path}/id_gpu_rack", "gw-203.0.113.9")
    found = resolve_alias("n2", config_file=file)
    assert (found.host_key_alias, found.known_hosts) == ("", ("none",))


def test_that_five_named_keys_are_tried_in_their_order_and_a_sixth_is_a_note(config, tmp_path):
    keys = [tmp_path / name for name in "dbcafe"]
    for key in keys:
        key.touch()
    file = config("".join(f"IdentityFile {key}\n" for key in (*keys, tmp_path / "missing")))
    found = resolve_alias("n1", config_file=file)
    assert found.identity_file.split("\n") == [str(key) for key in keys[:5]]
    assert [note.en for note in found.notes] == [f"only 5 keys are tried, not {keys[5]}"]


def test_that_digits_are_an_alias_where_the_config_makes_an_address_of_them(config, monkeypatch, tmp_path):
    (tmp_path / "mine").write_text("Host 127\n HostName %h.0.0.1\n")
    for path in (None, "/nowhere"):
        if path:
            monkeypatch.setenv("PATH", path)
        assert resolve_alias("127", config_file=str(tmp_path / "mine")).address.host == "127.0.0.1"
        with pytest.raises(UsageError, match="not an IPv4 address"):
            resolve_alias("128", config_file=str(tmp_path / "mine"))
