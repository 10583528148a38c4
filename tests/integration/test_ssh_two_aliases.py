"""Have two aliases of one address a record each, on a real sshd, whatever each of them may do?"""

from __future__ import annotations

import getpass
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.targets import node_of
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd


@pytest.fixture(autouse=True)
def config(home, sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`taken` has a key that the node knows, `refused` one that it does not, `keyless` none; no agent is there."""
    known = tmp_path / "known"
    key = (sshd.keys.folder / "host_ed25519.pub").read_text()
    known.write_text(f"[127.0.0.1]:{sshd.address.port} {key}")
    place = f" HostName 127.0.0.1\n Port {sshd.address.port}\n User {getpass.getuser()}\n UserKnownHostsFile {known}\n"
    file = tmp_path / "home" / ".ssh" / "config"
    file.write_text(
        f"Host taken\n{place} IdentityFile {sshd.keys.user('id_ed25519')}\n"
        f"Host refused\n{place} IdentityFile {sshd.keys.user('stranger')}\n IdentitiesOnly yes\n"
        f"Host keyless\n{place} IdentityFile none\n"
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {file} "$@"\n')
    (tmp_path / "bin" / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return file


def kept(services: Services) -> dict[str, Node]:
    with services.workspace.read() as connection:
        return {node.name: node for node in nodes.list_nodes(connection)}


def log_in(services: Services, target: str, said: list[Text] | None = None) -> str:
    """"" or why it failed."""
    try:
        with services.links.open(node_of(services.workspace, target, note=(said if said is not None else []).append), CancelToken()):
            return ""
    except NotConnected as error:
        return f"{error.what} {error.why}"


@pytest.mark.parametrize("order", [("taken", "refused", "keyless"), ("keyless", "refused", "taken")])
def test_that_each_alias_of_an_address_logs_in_by_its_own_key_in_any_order(services, sshd, order):
    for _ in range(2):
        ended = {alias: log_in(services, alias) for alias in order}
        assert ended["taken"] == ""
        assert "refused" in ended["refused"] or "refuses" in ended["refused"]
        assert ended["keyless"] != ""
    keys = {name: node.identity_file for name, node in kept(services).items()}
    assert keys == {"taken": str(sshd.keys.user("id_ed25519")), "refused": str(sshd.keys.user("stranger")), "keyless": ""}


def test_that_a_login_of_another_alias_writes_nothing_into_the_record_of_the_first(services):
    assert log_in(services, "taken") == ""
    before, said = kept(services)["taken"], list[Text]()
    assert log_in(services, "refused", said) != ""
    assert kept(services)["taken"] == before
    assert [words.en for words in said] == ["refused is a new node; taken has the same address: name that to go on with its record"]
    said.clear()
    assert (log_in(services, "taken", said), log_in(services, "refused", said) != "", said) == ("", True, [])


def test_that_a_user_before_an_alias_means_the_record_of_the_alias(services):
    node = node_of(services.workspace, "taken")
    assert node_of(services.workspace, f"{getpass.getuser()}@taken").id == node.id
    assert list(kept(services)) == ["taken"]


def test_that_a_bare_address_has_the_record_that_no_alias_has_and_writes_nothing_into_another(services, sshd):
    for alias in ("refused", "taken"):
        node_of(services.workspace, alias)
    before = kept(services)
    assert node_of(services.workspace, str(sshd.address)).id == before["refused"].id, "there is no other yet"
    assert kept(services) == before
    plain = Node("plain", "zz", Reach.SSH, sshd.address, auth=AuthMethod.KEY, identity_file=str(sshd.keys.user("id_rsa")))
    services.workspace.submit(lambda db: nodes.save_node(db, plain)).result()
    assert node_of(services.workspace, str(sshd.address)) == plain
    assert kept(services) == {**before, "zz": plain}


def test_that_what_the_config_says_of_a_bare_address_is_not_written_into_the_record_of_another_name(services, sshd, config):
    config.write_text(f"Host *\n IdentityFile {sshd.keys.user('stranger')}\n User ops\n UserKnownHostsFile {config}\n")
    plain = Node("plain", "h100", Reach.SSH, Address("10.9.9.9", 22, "ops"), identity_file=str(sshd.keys.user("id_rsa")))
    services.workspace.submit(lambda db: nodes.save_node(db, plain)).result()
    node = node_of(services.workspace, "10.9.9.9")
    assert (node.id, node.identity_file, node.known_hosts) == ("plain", plain.identity_file, str(config))
    assert kept(services) == {"h100": plain}
    # A key that the user names is the record's from now on.
    named = str(sshd.keys.user("id_ed25519"))
    assert node_of(services.workspace, "10.9.9.9", named).identity_file == kept(services)["h100"].identity_file == named


def test_that_a_record_with_a_key_says_so_where_the_config_wants_none(services, sshd):
    before = node_of(services.workspace, "keyless")
    named = str(sshd.keys.user("id_ed25519"))
    services.workspace.submit(lambda db: nodes.save_node(db, replace(before, identity_file=named))).result()
    said: list[Text] = []
    assert log_in(services, "keyless", said) == ""
    assert [words.en for words in said] == [
        f"the key of keyless is {named} in its record and none in the ssh config: the record counts; to follow the config, change "
        "it under Nodes, or give that node another name: then the alias is a node anew"
    ]
    renamed = replace(kept(services)["keyless"], name="by hand")
    services.workspace.submit(lambda db: nodes.save_node(db, renamed)).result()
    anew = node_of(services.workspace, "keyless", note=said.append)
    assert (anew.id != before.id, anew.identity_file) == (True, "")
    assert "in its record" not in said[-1].en and kept(services)["by hand"] == renamed


def test_that_a_jump_host_of_which_the_config_wants_no_key_is_not_shown_that_of_the_node(services, sshd, config):
    config.write_text(config.read_text() + f"Host inner\n HostName 127.0.0.1\n Port {sshd.address.port}\n User {getpass.getuser()}\n"
                      f" UserKnownHostsFile {config.parents[2]}/known\n IdentityFile {sshd.keys.user('id_ed25519')}\n ProxyJump keyless\n")  # fmt: skip
    assert "at jump host" in log_in(services, "inner")
    config.write_text(config.read_text().replace(" IdentityFile none\n", ""))
    assert log_in(services, "inner") == ""
