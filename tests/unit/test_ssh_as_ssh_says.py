"""Is a config that is read here, without an ssh client, what `ssh -G` makes of it, or refused by its line? Never something else.

Beside the property test of tests/unit/test_remote_ssh_own.py, a list: what people write.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.known_hosts import revoked_in
from gpulease_gui.remote.ssh_config import resolve_alias

_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIKt2kXk0F0i0nM4u4K1J7h1m0mZr0vY8u8f4cYwX2d5S"
CONFIGS = {
    "plain": "Host n1\n HostName 10.0.0.1\n Port 2200\n User root\n IdentityFile DIR/k1\n IdentityFile DIR/k2\n",
    "glob include": "Include DIR/parts/*.conf\nHost n1\n Port 9\n",
    "two includes": "Include DIR/parts/b.conf DIR/parts/a.conf\n",
    "include in a block": "Host n2\n Include DIR/parts/cond.conf\nHost n1\n User me\n",
    "include in its block": "Host n1\n Include DIR/parts/cond.conf\n Port 5\n",
    "include nothing": "Include DIR/parts/none*.conf\nHost n1\n Port 5\n",
    "include ~": "Include ~/nothing-there/*.conf\nHost n1\n Port 5\n",
    "include rel": "Include nothing-there.d/*.conf\nHost n1\n Port 5\n",
    "tokens id": "Host n1\n HostName 10.0.0.1\n Port 2200\n User root\n IdentityFile DIR/k-%r-%n-%p\n",
    "tokens many": "Host n1\n HostName 10.0.0.1\n UserKnownHostsFile /k/%h.%n.%p.%r.%u.%d.%i.%L.%l.%k.%%\n",
    "token C": "Host n1\n HostName 10.0.0.1\n UserKnownHostsFile /k/%C\n",
    "token C jump": "Host n1\n ProxyJump gate\n UserKnownHostsFile /k/%C\n",
    "token T": "Host n1\n UserKnownHostsFile /k/%T\n",
    "token H": "Host n1\n UserKnownHostsFile /k/%H\n",
    "env id": "Host n1\n IdentityFile DIR/${RENTED}-key\n",
    "env known": "Host n1\n UserKnownHostsFile DIR/${RENTED}.known\n",
    "env known missing": "Host n1\n UserKnownHostsFile DIR/${NO_SUCH_VAR}.known\n",
    "env id missing": "Host n1\n IdentityFile DIR/${NO_SUCH_VAR}\n",
    "env cert": "Host n1\n IdentityFile DIR/k1\n CertificateFile DIR/${RENTED}-key\n",
    "alias token": "Host n1\n HostKeyAlias %n-x\n",
    "alias h": "Host n1\n HostName 10.0.0.1\n HostKeyAlias node-%h\n",
    "alias env": "Host n1\n HostKeyAlias ${RENTED}\n",
    "alias caps": "Host n1\n HostKeyAlias RACK\n",
    "user token": "Host n1\n User %u\n",
    "user env": "Host n1\n User ${RENTED}\n",
    "host token": "Host n1\n HostName %h.example.org\n",
    "host token n": "Host n1\n HostName %n.example.org\n",
    "host pct": "Host n1\n HostName a%%b\n",
    "port env": "Host n1\n Port ${RENTED}\n",
    "jump token": "Host n1\n HostName x\n ProxyJump gw-%h\n",
    "jump token n": "Host n1\n HostName x\n ProxyJump gw-%n\n",
    "jump none": "Host n1\n ProxyJump none\nHost *\n ProxyJump gate\n",
    "jump chain": "Host n1\n ProxyJump a@x:22,b@y:23\n",
    "jump v6": "Host n1\n ProxyJump [2001:db8::1]:22\n",
    "proxycommand none": "Host n1\n ProxyCommand none\n",
    "proxycommand": "Host n1\n ProxyCommand nc %h %p\n",
    "command after jump": "Host n1\n ProxyJump gate\n ProxyCommand nc %h\n",
    "jump after command none": "Host n1\n ProxyCommand none\n ProxyJump gate\n",
    "match all": "Match all\n Port 77\n",
    "match host": "Host n1\n HostName 10.0.0.1\nMatch host 10.0.0.1\n Port 77\n",
    "match originalhost": "Host n1\n HostName 10.0.0.1\nMatch originalhost n1\n Port 77\n",
    "match host neg": "Match host *,!n1\n Port 77\nMatch host !n2,*\n Port 78\n",
    "match user": "Match user root\n Port 77\n",
    "match final": "Host n1\n Port 5\nMatch final\n User fin\n",
    "match canonical": "Match canonical\n Port 77\n",
    "match exec": "Match exec true\n Port 77\n",
    "match two": "Match host n1 originalhost n1\n Port 77\n",
    "match localuser": "Match localuser root\n Port 77\n",
    "match =": "Match host=n1\n Port 77\n",
    "match final all": "Match final all\n Port 77\n",
    "canon": "CanonicalizeHostname yes\nCanonicalDomains example.org\nHost n1\n Port 5\n",
    "canon no": "CanonicalizeHostname no\nHost n1\n Port 5\n",
    "canon none": "CanonicalizeHostname none\nHost n1\n Port 5\n",
    "knownhostscommand": "Host n1\n KnownHostsCommand /bin/known %H\n",
    "pkcs11": "Host n1\n PKCS11Provider /usr/lib/p11.so\n",
    "pkcs11 none": "Host n1\n PKCS11Provider none\n",
    "neg host": "Host * !n1\n Port 77\n",
    "glob host": "Host n?\n Port 77\nHost n*\n Port 78\n",
    "class": "Host n[12]\n Port 77\n",
    "caps host": "Host N1\n Port 77\n",
    'quoted': 'Host "n1"\n IdentityFile "DIR/k1"\n',
    "equals": "Host=n1\nPort = 77\n",
    "identity none": "Host n1\n IdentityFile none\n",
    "identity none and one": "Host n1\n IdentityFile none\n IdentityFile DIR/k1\n",
    "identity pub": "Host n1\n IdentityFile DIR/k3\n",
    "known none": "Host n1\n UserKnownHostsFile none\n",
    "known two": "Host n1\n UserKnownHostsFile DIR/knownx DIR/other\n",
    "global known": "Host n1\n GlobalKnownHostsFile DIR/knownx\n",
    "agent none": "Host n1\n IdentityAgent none\n",
    "agent env": "Host n1\n IdentityAgent $RENTED\n",
    "agent env2": "Host n1\n IdentityAgent ${RENTED}/s\n",
    "agent tok": "Host n1\n IdentityAgent /a/%r-%h\n",
    "revoked": "Host n1\n RevokedHostKeys DIR/rev\n",
    "revoked tok": "Host n1\n RevokedHostKeys DIR/%h\n",
    "revoked env": "Host n1\n RevokedHostKeys DIR/${RENTED}\n",
    "unknown kw": "Host n1\n Nonsense yes\n",
    "ignoreunknown": "IgnoreUnknown Nonsense\nHost n1\n Nonsense yes\n Port 5\n",
    "ignoreunknown later": "Host n1\n Nonsense yes\nIgnoreUnknown Nonsense\n",
    "unknown in other": "Host other\n Nonsense yes\nHost n1\n Port 5\n",
    "deprecated": "Host n1\n Protocol 2\n UsePrivilegedPort yes\n Port 5\n",
    "tag": "Host n1\n Tag x\nMatch tagged x\n Port 7\n",
    "bad port elsewhere": "Host other\n Port 99999\nHost n1\n Port 5\n",
    "port name": "Host n1\n Port ssh\n",
    "yes/true": "Host n1\n IdentitiesOnly true\n PubkeyAuthentication false\n",
    "YES caps": "Host n1\n IdentitiesOnly YES\n",
    "empty match": "Match\n Port 5\n",
    "host none": "Host\n Port 5\n",
    "comment": "Host n1 # c\n Port 5 # c\n",
    "crlf": "Host n1\r\n Port 5\r\n",
    "prefauth": "Host n1\n PreferredAuthentications password,publickey\n",
    "addrfam": "Host n1\n AddressFamily inet6\n BindAddress 127.0.0.1\n",
    "user after match user": "Host n1\n User a\nMatch host n1\n User b\n",
    'include quoted': 'Include "DIR/parts/a.conf"\n',
    "include tilde user": "Include ~root/nothing\nHost n1\n Port 5\n",
}
# What ssh takes and is refused here: each by its line.
ONLY_SSH = {
    "match user", "match final", "match canonical", "match two", "match localuser", "match =", "match final all", "canon", "port name",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RENTED", "rent")
    monkeypatch.delenv("NO_SUCH_VAR", raising=False)
    (tmp_path / "parts").mkdir()
    for name in ("k1", "k2", "k3.pub", "rent-key", "k-root-n1-2200", "knownx"):
        (tmp_path / name).touch()
    (tmp_path / "parts" / "a.conf").write_text("Host n1\n Port 2201\n")
    (tmp_path / "parts" / "b.conf").write_text("Host n1\n Port 2202\n User fromb\n")
    (tmp_path / "parts" / "cond.conf").write_text(" User inc\n")
    return tmp_path


def read(folder: Path) -> Target | UserFacing:
    try:
        found = resolve_alias("n1", config_file=str(folder / "config"))
    except UserFacing as error:
        return error
    # ssh fills a variable in when it is asked, we when the agent is.
    return replace(found, ssh_options=os.path.expandvars(found.ssh_options))


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh client to compare with")
def test_that_what_is_read_here_is_what_ssh_says_or_refused_by_its_line(folder, monkeypatch):
    wrong, only_ssh = {}, set()
    for name, text in CONFIGS.items():
        (folder / "config").write_text(text.replace("DIR", str(folder)), newline="")
        theirs = read(folder)
        with monkeypatch.context() as away:
            away.setenv("PATH", "/nowhere")
            ours = read(folder)
        if isinstance(ours, UserFacing):
            if not isinstance(theirs, UserFacing):
                only_ssh.add(name)
                if not re.search(r"config:\d", ours.what):
                    wrong[name] = (theirs, ours)
        elif ours != theirs:
            wrong[name] = (theirs, ours)
    assert wrong == {}
    assert only_ssh == ONLY_SSH


@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["ssh", "own"])
@pytest.mark.parametrize("words", ["IdentityFile DIR/${NO_SUCH_VAR}", "UserKnownHostsFile DIR/${NO_SUCH_VAR}", "IdentityFile DIR/%T"])
def test_that_what_can_not_be_filled_in_is_refused_and_not_left_as_it_is(folder, monkeypatch, path, words):
    if path:
        monkeypatch.setenv("PATH", path)
    (folder / "config").write_text(f"Host n1\n {words.replace('DIR', str(folder))}\n")
    refused = read(folder)
    assert isinstance(refused, UserFacing)
    assert re.search(r"NO_SUCH_VAR|%T", str(refused)) and "Pseudo-terminal" not in str(refused)


def test_that_a_variable_in_the_name_of_a_list_of_revoked_keys_is_filled_in_when_it_is_read(folder):
    (folder / "rent.revoked").write_text(f"ssh-ed25519 {_KEY}\n")
    assert [placed.key.kind for placed in revoked_in(f"{folder}/${{RENTED}}.revoked")[0]] == ["ssh-ed25519"]
    with pytest.raises(UserFacing, match="NO_SUCH_VAR"):
        revoked_in(f"{folder}/${{NO_SUCH_VAR}}.revoked")


def test_that_relative_and_home_includes_start_where_ssh_starts_them(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / ".ssh" / "conf.d").mkdir(parents=True)
    (tmp_path / ".ssh" / "conf.d" / "10").write_text("Host n1\n Port 2201\n")
    (tmp_path / "mine").write_text("Host n1\n User ops\n Port 9\n")
    (tmp_path / ".ssh" / "config").write_text("Include conf.d/*\nInclude ~/mine\n")
    found = resolve_alias("n1").address
    assert (found.port, found.user) == (2201, "ops")
