"""Which options of an ssh config are this computer's side of a connection, and what do they ask for?"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.remote.algorithms import CIPHERS, CURVE25519, HOST_CERTIFICATES, HOST_KEYS, USER_KEYS, WireLists
from gpulease_gui.remote.interfaces import addresses_of
from gpulease_gui.remote.ssh_config import notes_of, resolve_alias
from gpulease_gui.remote.ssh_options import SshOptions, in_one_line, one_a_line, parse_options
from gpulease_gui.remote.way_out import WayOut
from gpulease_gui.store import nodes
from gpulease_gui.store.workspace import Workspace

WITH_SSH_AND_WITHOUT = pytest.mark.parametrize("path", [None, "/nowhere"], ids=["ssh", "own"])


def config(tmp_path: Path, text: str) -> str:
    (tmp_path / "config").write_text(text)
    return str(tmp_path / "config")


@WITH_SSH_AND_WITHOUT
def test_that_options_of_this_computers_side_are_taken_over_and_nothing_is_said_of_defaults(tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    file = config(
        tmp_path,
        "Host n1\n AddressFamily inet6\n BindAddress 10.0.0.5\n BindInterface eth1\n IdentityAgent /run/agents/%n-%r.sock\n User ops\n"
        "Host n2\n AddressFamily any\n IdentityAgent SSH_AUTH_SOCK\nHost n3\n IdentityAgent none\nHost n4\n IdentityAgent $OTHER\n",
    )
    found = resolve_alias("n1", config_file=file)
    assert found.ssh_options.split("\n") == [
        "AddressFamily inet6", "BindAddress 10.0.0.5", "BindInterface eth1", "IdentityAgent /run/agents/n1-ops.sock",
    ]  # fmt: skip
    assert parse_options(found.ssh_options) == SshOptions(WayOut("inet6", "10.0.0.5", "eth1"), "/run/agents/n1-ops.sock")
    assert [resolve_alias(f"n{number}", config_file=file).ssh_options for number in (2, 3, 4)] == [
        "", "IdentityAgent none", "IdentityAgent $OTHER",
    ]  # fmt: skip
    assert found.notes == ()


@WITH_SSH_AND_WITHOUT
def test_that_what_narrows_keys_and_hosts_is_taken_over(tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    (tmp_path / "key").write_text("k")
    file = config(
        tmp_path,
        f"Host n1\n IdentitiesOnly yes\n RevokedHostKeys {tmp_path}/revoked-%n\n GlobalKnownHostsFile /a/one /b/two\n"
        f"Host n2\n PubkeyAuthentication no\n IdentityFile {tmp_path}/key\n GlobalKnownHostsFile none\n"
        f"Host n3\n PreferredAuthentications keyboard-interactive,password\n IdentityFile {tmp_path}/key\n"
        f"Host n4\n PreferredAuthentications publickey\n IdentityFile {tmp_path}/key\n",
    )
    found = [resolve_alias(f"n{number}", config_file=file) for number in (1, 2, 3, 4)]
    one, two, three, four = (parse_options(target.ssh_options) for target in found)
    assert (one.only_named, one.no_key) == (True, False)
    assert (one.revoked_file, one.system_files) == (f"{tmp_path}/revoked-n1", ("/a/one", "/b/two"))
    assert two.no_key and two.system_files == ("none",)
    assert (three.no_key, three.methods) == (True, ("keyboard-interactive", "password"))
    assert four == SshOptions(methods=("publickey",))
    assert [target.identity_file for target in found[1:]] == ["", "", f"{tmp_path}/key"]
    assert [target.notes for target in found] == [()] * 4


@WITH_SSH_AND_WITHOUT
def test_that_what_is_not_followed_is_told_by_its_line_with_the_name_of_the_jump_host(tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    file = config(
        tmp_path,
        "Host n1\n HostKeyAlgorithms ssh-dss,rsa-sha2-512\n ProxyJump ops@gate,inner\nHost gate\n PKCS11Provider /lib/p11.so\n"
        "Host inner\n KnownHostsCommand /bin/known %H\n",
    )
    assert [note.en for note in notes_of(resolve_alias("n1", config_file=file), config_file=file)] == [
        f"{file}:2: HostKeyAlgorithms ssh-dss is not honoured",
        f"jump host gate: {file}:5: PKCS11Provider /lib/p11.so is not honoured: keys on cards sign through an agent",
        f"jump host inner: {file}:7: KnownHostsCommand is not honoured: no program of a config is run",
    ]


LISTS = {
    "HostKeyAlgorithms -*cert*": ("host_algorithms", HOST_KEYS),
    "HostKeyAlgorithms ssh-*": ("host_algorithms", ("ssh-ed25519", "ssh-ed25519-cert-v01@openssh.com")),
    "HostKeyAlgorithms ^rsa-sha2-256": ("host_algorithms", ("rsa-sha2-256", *HOST_CERTIFICATES, *HOST_KEYS[:-1])),
    "HostKeyAlgorithms +ssh-rsa": ("host_algorithms", ()),
    "CASignatureAlgorithms rsa-sha2-512,ssh-ed25519": ("ca_algorithms", ("rsa-sha2-512", "ssh-ed25519")),
    "PubkeyAcceptedKeyTypes rsa-sha2-???": ("key_algorithms", ("rsa-sha2-256", "rsa-sha2-512")),
    "PubkeyAcceptedAlgorithms -sk-*": ("key_algorithms", tuple(name for name in USER_KEYS if not name.startswith("sk-"))),
    "PreferredAuthentications hostbased,password,publickey": ("methods", ("password", "publickey")),
    "PasswordAuthentication no": ("methods", ("publickey", "keyboard-interactive")),
    "ChallengeResponseAuthentication no": ("methods", ("publickey", "password")),
    "Ciphers aes256-ctr,chacha20-poly1305@openssh.com,aes256-gcm@openssh.com": ("wire", WireLists(ciphers=("aes256-ctr", "aes256-gcm@openssh.com"))),
    "Ciphers ^aes256-ctr": ("wire", WireLists(ciphers=("aes256-ctr", "aes128-ctr", "aes192-ctr", *CIPHERS[:2]))),
    "Ciphers -chacha20*": ("wire", WireLists(ciphers=("aes128-ctr", "aes192-ctr", "aes256-ctr", *CIPHERS[:2]))),
    "KexAlgorithms curve25519-sha256": ("wire", WireLists(exchanges=("curve25519-sha256",))),
    "KexAlgorithms -ecdh-*": ("wire", WireLists(exchanges=(
        *CURVE25519, "diffie-hellman-group-exchange-sha256", "diffie-hellman-group16-sha512", "diffie-hellman-group14-sha256",
    ))),
    "MACs hmac-sha2-512,umac-64@openssh.com": ("wire", WireLists(digests=("hmac-sha2-512",))),
    "Ciphers aes128-cbc,3des-cbc": ("", "Ciphers aes128-cbc,3des-cbc leaves nothing that can be used"),
    "KexAlgorithms diffie-hellman-group1-sha1": ("", "KexAlgorithms diffie-hellman-group1-sha1 leaves nothing that can be used"),
    "MACs hmac-md5,hmac-sha1": ("", "MACs hmac-md5,hmac-sha1 leaves nothing that can be used"),
    "CASignatureAlgorithms ssh-rsa": ("", "CASignatureAlgorithms ssh-rsa leaves nothing that can be used"),
    "PubkeyAcceptedAlgorithms -*": ("", "PubkeyAcceptedAlgorithms leaves nothing that can be used"),
    "HostKeyAlgorithms sk-*": ("", "HostKeyAlgorithms sk-ssh-ed25519@openssh.com,"),
    "PreferredAuthentications gssapi-with-mic": ("", "PreferredAuthentications gssapi-with-mic leaves nothing that can be used"),
}


@WITH_SSH_AND_WITHOUT
@pytest.mark.parametrize("line", LISTS)
def test_that_a_list_of_algorithms_or_ways_is_what_ssh_makes_of_it_as_far_as_we_are_able_to_do_it(tmp_path, monkeypatch, path, line):
    if path:
        monkeypatch.setenv("PATH", path)
    field, wanted = LISTS[line]
    file = config(tmp_path, f"Host n1\n {line}\n")
    if field:
        found = resolve_alias("n1", config_file=file)
        kept = line in ("HostKeyAlgorithms ssh-*", "HostKeyAlgorithms ^rsa-sha2-256")
        assert parse_options(found.ssh_options) == replace(SshOptions(), **{field: wanted}, keeps_order=kept)
        left_out = {"+ssh-rsa": "ssh-rsa", "ssh-*": "ssh-dss,ssh-dss-cert-v01@openssh.com,ssh-rsa,ssh-rsa-cert-v01@openssh.com"}.get(line.split()[1])
        assert [note.en for note in found.notes] == ([f"{file}:2: HostKeyAlgorithms {left_out} is not honoured"] if left_out else [])
    else:
        with pytest.raises(UsageError) as caught:
            resolve_alias("n1", config_file=file)
        assert caught.value.what.startswith(f"{file}:2: {wanted}")


def test_that_a_list_that_ssh_refuses_is_refused_by_its_line_where_there_is_no_ssh(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for words in ("nope", "+nope", "rsa-sha2-512,nope", "!ssh-rsa", "SSH-ED25519", "+"):
        file = config(tmp_path, f"Host n1\n HostKeyAlgorithms {words}\n")
        with pytest.raises(UserFacing, match=f"{file}:2"):
            resolve_alias("n1", config_file=file)
        with pytest.raises(UsageError, match="HostKeyAlgorithms"):
            parse_options(f"HostKeyAlgorithms {words}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AddressFamily ipv4", "AddressFamily: write any, inet, inet6"), ("BindAddress -x", "not a host name"), ("BindInterface a b", "BindInterface: not the name"),
        ("IdentityAgent", "IdentityAgent has no value"), ("ForwardAgent yes", "'forwardagent'"),
    ],
)  # fmt: skip
def test_that_an_option_that_cannot_be_followed_is_refused_by_its_name(text, said):
    with pytest.raises(UsageError, match=said):
        parse_options(f"{text}\nIdentityAgent none")


def test_that_options_are_typed_in_one_line_and_kept_one_a_line():
    typed = "AddressFamily inet;  BindAddress 10.0.0.5 ;"
    assert one_a_line(typed) == "AddressFamily inet\nBindAddress 10.0.0.5"
    assert in_one_line(one_a_line(typed)) == "AddressFamily inet; BindAddress 10.0.0.5"
    assert parse_options(typed) == parse_options(one_a_line(typed)) == SshOptions(WayOut("inet", "10.0.0.5"))
    assert parse_options("IdentityAgent /run/a;b").identity_agent == "/run/a;b"


def test_that_the_agents_place_is_looked_up_when_it_is_needed(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    monkeypatch.setenv("RUN", "/run/user/7")
    monkeypatch.delenv("OTHER", raising=False)
    places = {
        "": "", "SSH_AUTH_SOCK": "", "none": "none", "$RUN": "/run/user/7", "$OTHER": "none", "~/a": "/home/ops/a",
        "${RUN}/a": "/run/user/7/a",
    }  # fmt: skip
    assert {words: SshOptions(identity_agent=words).agent for words in places} == places
    with pytest.raises(UsageError, match=r"\$\{OTHER\}"):
        _ = SshOptions(identity_agent="${OTHER}/a").agent


def test_that_options_stay_with_the_record_of_the_node_and_go_with_it(tmp_path):
    workspace = Workspace.open(tmp_path / "w.db")
    node = Node("n1", "node-07", ssh_options="AddressFamily inet\nIdentityAgent none")
    for record in (node, Node("n2", "node-08")):
        workspace.submit(lambda db, one=record: nodes.save_node(db, one)).result()
    with workspace.read() as connection:
        assert nodes.get_node(connection, "n1") == node
        assert [one.ssh_options for one in nodes.list_nodes(connection)] == [node.ssh_options, ""]
    workspace.submit(lambda db: nodes.remove_node(db, "n1")).result()
    workspace.submit(lambda db: nodes.save_node(db, Node("n1", "another"))).result()
    with workspace.read() as connection:
        assert nodes.get_node(connection, "n1").ssh_options == ""
    workspace.close()


# Runs in a network namespace of its own, in which the loopback interface has an address more.
ELSEWHERE = """
import socket
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import dial
from gpulease_gui.remote.way_out import WayOut
def source(host, way_out):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        try:
            with dial(Address(host, server.getsockname()[1]), 5, CancelToken(), way_out):
                return server.accept()[1][0]
        except ConnectFailed as error:
            return f"{error.phase} {error.cause}: {error.why}"
for host, way_out in [
    ("127.0.0.1", WayOut()), ("127.0.0.1", WayOut(interface="lo")), ("127.0.0.1", WayOut(address="127.0.0.9", interface="lo")),
    ("::1", WayOut(interface="lo")), ("127.0.0.1", WayOut(interface="eth9")), ("127.0.0.1", WayOut(address="192.0.2.1")),
    ("127.0.0.1", WayOut(interface="d0")), ("127.0.0.1", WayOut("inet6")),
]:
    print(source(host, way_out))
"""
SET_UP = "ip link set lo up && ip addr add 10.9.8.7/32 dev lo && ip addr add fd00::7/128 dev lo nodad && ip link add d0 type dummy 2>&-; exec \"$@\""


def test_that_a_connection_starts_at_the_named_address_or_interface_and_what_is_impossible_is_told():
    for words in (["unshare", "-n"], ["unshare", "-r", "-n"]):
        if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip("no network namespace can be made here")
    done = subprocess.run([*words, "sh", "-c", SET_UP, "sh", sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert said[:4] == ["127.0.0.1", "10.9.8.7", "127.0.0.9", "fd00::7"], done.stderr
    start = "tcp no_way_out: this computer can't connect from where it should"
    assert said[4] == f"{start} (BindInterface eth9: the interface is not up, or has no address of this kind)"
    assert said[5] == f"{start} (BindAddress 192.0.2.1: Cannot assign requested address)"
    assert said[6] == said[4].replace("eth9", "d0")
    assert said[7].startswith("dns no_such_name: the name can't be resolved (AddressFamily inet6: ")


def test_that_the_addresses_of_an_interface_are_those_that_the_system_lists():
    listed = subprocess.run(["ip", "-o", "addr", "show", "up", "dev", "lo"], capture_output=True, text=True, check=True).stdout
    theirs = [line.split()[3].split("/")[0] for line in listed.splitlines()]
    assert [address for _, address in addresses_of("lo")] == theirs
    assert addresses_of("no such one") == ()
