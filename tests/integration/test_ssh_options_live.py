"""Do AddressFamily, BindAddress and IdentityAgent of an ssh config do on a real sshd what they do in ssh?"""

from __future__ import annotations

import getpass
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, AuthMethod, Node
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.ssh_aliases import read_aliases
from gpulease_gui.services.composition import Services
from gpulease_gui.services.config_nodes import nodes_of
from gpulease_gui.services.events import ConfigDiffers
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.targets import node_of
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd


@pytest.fixture
def agent(sshd, tmp_path: Path, until: Callable[..., bool]) -> Iterator[Path]:
    """The socket of an agent that holds the key that sshds know; the environment does not name it."""
    place = tmp_path / "other agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    assert until(place.exists, 30)
    add = ["ssh-add", "-q", sshd.keys.user("id_ed25519")]
    subprocess.run(add, check=True, capture_output=True, env={"PATH": "/usr/bin:/bin", "SSH_AUTH_SOCK": str(place)})
    yield place
    process.terminate()
    process.wait(60)


def in_config(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> dict[str, Node]:
    """The nodes of an ssh config, which is also the one that jump hosts are looked up in."""
    (tmp_path / "config").write_text(text)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {tmp_path}/config "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    made = nodes_of(read_aliases(str(tmp_path / "config"), CancelToken()), None, ())
    for node in made:
        services.workspace.submit(lambda db, one=node: nodes.save_node(db, one)).result()
    with services.workspace.read() as connection:
        return {node.name: node for node in nodes.list_nodes(connection)}


def trusting(services: Services, node: Node, server, *hops: str) -> Node:
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    for hop in hops:
        services.links.trust(node, server.keys.host_keys()[0], "the test", hop=hop)
    return node


def callers(server) -> list[str]:
    """From where somebody logged in; who only asks whether the server is up does not."""
    lines = (server.folder / "log").read_text().splitlines()
    return [line.partition(" from ")[2].split()[0] for line in lines if line.startswith("Accepted publickey for ")]


def here(server, name: str, *lines: str, host: str = "127.0.0.1") -> str:
    return "\n ".join([f"Host {name}", f"HostName {host}", f"Port {server.port}", f"User {getpass.getuser()}", *lines]) + "\n"


def test_that_a_node_and_a_jump_host_are_called_from_the_address_that_the_config_names(services, make_sshd, tmp_path, monkeypatch):
    gate, inner = (make_sshd("LogLevel VERBOSE\n") for _ in range(2))
    key = f"IdentityFile {gate.key_file}"
    made = in_config(
        services, tmp_path, monkeypatch,
        here(gate, "gate", key, "BindAddress 127.0.0.7") + here(inner, "inner", key, "ProxyJump gate", "BindAddress 192.0.2.1"),
    )  # fmt: skip
    assert made["gate"].ssh_options == "BindAddress 127.0.0.7"
    services.links.open(trusting(services, made["gate"], gate), CancelToken()).line.close()
    # Behind a jump host the node's own BindAddress binds nothing, in ssh too: only the jump host is called from here.
    node = replace(made["inner"], jump="gate")
    services.links.open(trusting(services, node, inner, gate.address.host_port), CancelToken()).line.close()
    assert (callers(gate), callers(inner)) == (["127.0.0.7", "127.0.0.7"], ["127.0.0.1"])


def test_that_an_address_that_is_not_ours_is_told_with_the_option(services, sshd, tmp_path, monkeypatch):
    made = in_config(services, tmp_path, monkeypatch, here(sshd, "n1", f"IdentityFile {sshd.key_file}", "BindAddress 192.0.2.1"))
    with pytest.raises(NotConnected) as caught:
        services.links.open(trusting(services, made["n1"], sshd), CancelToken())
    assert "(BindAddress 192.0.2.1: Cannot assign requested address)" in caught.value.why
    assert caught.value.next_step == "correct the node's SSH options, or take that one out"


@pytest.mark.parametrize(("family", "caller"), [("inet", "127.0.0.1"), ("inet6", "::1")])
def test_that_only_the_named_family_is_called(services, make_sshd, tmp_path, monkeypatch, family, caller):
    both = make_sshd("LogLevel VERBOSE\nListenAddress ::1\n")
    monkeypatch.setattr("socket.getaddrinfo", of_both_families)
    node = Node("n1", "n1", address=Address("two-ways.example", both.port, getpass.getuser()), identity_file=both.key_file)
    node = replace(node, ssh_options=f"AddressFamily {family}")
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.open(trusting(services, node, both), CancelToken()).line.close()
    assert callers(both) == [caller]


def of_both_families(host, port, family=0, type=0, *_, **__):  # noqa: A002 - its name in the library
    """A name server that knows both addresses of this computer."""
    import socket

    known = [(socket.AF_INET6, ("::1", port, 0, 0)), (socket.AF_INET, ("127.0.0.1", port))]
    return [(kind, type, 6, "", place) for kind, place in known if family in (0, kind)]


def test_that_the_named_agent_signs_and_another_one_is_not_asked(services, sshd, agent, tmp_path, monkeypatch):
    made = in_config(
        services, tmp_path, monkeypatch,
        here(sshd, "there", f'IdentityAgent "{agent}"') + here(sshd, "none", "IdentityAgent none")
        + here(sshd, "usual") + here(sshd, "gone", f"IdentityAgent {tmp_path}/nobody"),
    )  # fmt: skip
    assert {name: node.auth for name, node in made.items()} == {
        "there": AuthMethod.AGENT, "none": AuthMethod.KEY, "usual": AuthMethod.KEY, "gone": AuthMethod.AGENT,
    }  # fmt: skip
    services.links.open(trusting(services, made["there"], sshd), CancelToken()).line.close()
    with pytest.raises(NotConnected, match=f"no agent listens at {tmp_path}/nobody"):
        services.links.open(trusting(services, made["gone"], sshd), CancelToken())
    monkeypatch.setenv("SSH_AUTH_SOCK", str(agent))
    for name, why in (("usual", ""), ("none", "no agent answers"), ("gone", "no agent listens")):
        node = replace(trusting(services, made[name], sshd), auth=AuthMethod.AGENT)
        if not why:
            services.links.open(node, CancelToken()).line.close()
        else:
            with pytest.raises(NotConnected, match=why):
                services.links.open(node, CancelToken())


def test_that_each_hop_has_its_own_agent(services, make_sshd, agent, keys, tmp_path, monkeypatch):
    gate, inner = make_sshd(f"AuthorizedKeysFile {keys.folder}/id_ed25519.pub\n"), make_sshd()
    made = in_config(
        services, tmp_path, monkeypatch,
        here(gate, "gate", "IdentityAgent $THE_OTHER") + here(inner, "inner", "ProxyJump gate", f"IdentityFile {keys.user('id_rsa')}"),
    )  # fmt: skip
    node = trusting(services, replace(made["inner"], jump="gate"), inner, gate.address.host_port)
    monkeypatch.setenv("THE_OTHER", str(agent))
    services.links.open(node, CancelToken()).line.close()
    monkeypatch.delenv("THE_OTHER")
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    assert caught.value.why.startswith("at jump host ")


def test_that_an_alias_of_before_is_read_anew_and_what_leads_elsewhere_is_said(services, sshd, tmp_path, monkeypatch):
    place = f"Host n\n HostName 127.0.0.1\n Port {sshd.address.port}\n User {sshd.address.user}\n IdentityFile {sshd.keys.user('id_ed25519')}\n"
    trusting(services, in_config(services, tmp_path, monkeypatch, place)["n"], sshd)
    said: list[Text] = []
    with services.links.open(node_of(services.workspace, "n", note=said.append), CancelToken()):
        assert said == []
    revoked = tmp_path / "revoked"
    revoked.write_text("".join(file.read_text() for file in sshd.keys.folder.glob("host*.pub")))
    (tmp_path / "config").write_text(f"{place} RevokedHostKeys {revoked}\n".replace(f"Port {sshd.address.port}", "Port 9"))
    node = node_of(services.workspace, "n", note=said.append)
    assert (node.address.port, ["9 in the ssh config" in words.en for words in said]) == (sshd.address.port, [True])
    with pytest.raises(NotConnected, match="revoked"):
        services.links.open(node, CancelToken())


def test_that_in_the_window_an_alias_is_read_anew_at_each_use_and_what_differs_is_said_once(services, sshd, tmp_path, monkeypatch):
    place = f"Host n\n HostName 127.0.0.1\n Port {sshd.address.port}\n User {sshd.address.user}\n IdentityFile {sshd.keys.user('id_ed25519')}\n"
    record = trusting(services, in_config(services, tmp_path, monkeypatch, place)["n"], sshd)
    said: list[ConfigDiffers] = []
    services.bus.subscribe(lambda event: said.append(event) if isinstance(event, ConfigDiffers) else None)
    (tmp_path / "home" / ".ssh" / "config").write_text((tmp_path / "config").read_text())
    services.links.follow_config()
    services.links.open(record, CancelToken()).line.close()
    assert said == []
    revoked = tmp_path / "revoked"
    revoked.write_text("".join(file.read_text() for file in sshd.keys.folder.glob("host*.pub")))
    text = f"{place} RevokedHostKeys {revoked}\n".replace(f"Port {sshd.address.port}", "Port 9")
    for file in (tmp_path / "config", tmp_path / "home" / ".ssh" / "config"):
        file.write_text(text)
    for _ in range(2):
        with pytest.raises(NotConnected, match="revoked"):
            services.links.open(record, CancelToken())
    assert ["9 in the ssh config" in one.words.en for one in said] == [True]
    # A name that the config does not speak of is not asked about.
    asked = replace(record, name="somewhere else")
    services.workspace.submit(lambda db: nodes.save_node(db, asked)).result()
    services.links.open(record, CancelToken()).line.close()


def test_that_an_option_that_the_config_has_no_more_counts_no_more(services, sshd, tmp_path, monkeypatch):
    place = f"Host n\n HostName 127.0.0.1\n Port {sshd.address.port}\n User {sshd.address.user}\n IdentityFile {sshd.keys.user('id_ed25519')}\n"
    before = trusting(services, in_config(services, tmp_path, monkeypatch, f"{place} AddressFamily inet6\n")["n"], sshd)
    said: list[Text] = []
    for text, options, differs in ((f"{place} PreferredAuthentications password\n", "PreferredAuthentications password", True), (place, "", True)):
        (tmp_path / "config").write_text(text)
        said.clear()
        assert node_of(services.workspace, "n", note=said.append).ssh_options == options
        assert any("AddressFamily inet6 in its record" in words.en for words in said) is differs
    services.links.open(node_of(services.workspace, "n"), CancelToken()).line.close()
    # What a record asks for itself is still there for the day when the config speaks of it no more.
    with services.workspace.read() as connection:
        assert nodes.get_node(connection, before.id).ssh_options == "AddressFamily inet6"


def test_that_a_record_counts_where_the_config_has_no_such_host_and_what_is_refused_stays_refused(services, sshd, tmp_path, monkeypatch):
    record = in_config(services, tmp_path, monkeypatch, f"Host n\n HostName 127.0.0.1\n Port {sshd.address.port}\n User root\n")["n"]
    own = tmp_path / "home" / ".ssh" / "config"
    said: list[Text] = []
    (tmp_path / "config").write_text("Host other\n Port 9\n")
    assert (node_of(services.workspace, "n", note=said.append).address, said) == (record.address, [])
    for text, why in (("Host n\n ProxyCommand run this\n", "ProxyCommand"), ("Host n\n HostKeyAlgorithms ssh-rsa\n", "HostKeyAlgorithms")):
        # A config that does not speak of the name may be as bad as it likes.
        own.write_text("")
        (tmp_path / "config").write_text(text)
        assert node_of(services.workspace, "n", note=said.append).address == record.address
        assert why in said.pop().en
        own.write_text(text)
        with pytest.raises(UserFacing, match=why):
            node_of(services.workspace, "n")
        services.links.follow_config()
        with pytest.raises(NotConnected, match=why):
            services.links.open(record, CancelToken())
