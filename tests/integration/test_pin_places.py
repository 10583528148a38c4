"""A pinned key belongs to the place where it was met: an edit of the address accuses no supplier, a change at the same place does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.remote.failures import UnknownHostKey
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, HostKeyQuestion, NodeState
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.neighbours import others_at
from gpulease_gui.services.pin_places import SAME_KEY, moved, place_of, replaced_lately, tell_moved
from gpulease_gui.store import nodes
from gpulease_gui.store.hostkeys import list_key_decisions, save_key_decision
from gpulease_gui.store.records import KeyDecision, KeyState

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def edited(services: Services, server, pinned: HostKey) -> Node:
    """A node whose key was pinned at 10.0.0.5, and which was then edited to the address of the server."""
    before = Node("n1", "node-07", address=Address("10.0.0.5", 22, "root"), identity_file=server.key_file)
    services.workspace.submit(lambda db: nodes.save_node(db, before)).result()
    services.links.trust(before, pinned, "the test")
    now = replace(before, address=server.address)
    services.workspace.submit(lambda db: nodes.save_node(db, now)).result()
    return now


def refused(services: Services, node: Node) -> tuple[NotConnected, HostKeyQuestion]:
    heard: list[Event] = []
    forget = services.bus.subscribe(heard.append)
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    forget()
    return caught.value, next(event for event in heard if isinstance(event, HostKeyQuestion))


def test_that_another_key_at_an_edited_address_is_asked_about_and_accuses_nobody(services: Services, sshd) -> None:
    node, key = edited(services, sshd, OTHER), sshd.keys.host_keys()[0]
    there = sshd.address.host_port
    error, question = refused(services, node)
    assert error.phase == "host_key" and error.offered == key
    assert error.why_text.en == (
        f"the address was edited since the host key ssh-ed25519 {OTHER.fingerprint} was pinned: 10.0.0.5:22 → {there}, which shows "
        f"ssh-ed25519 {key.fingerprint}"
    )
    assert f"地址被修改过：10.0.0.5:22 → {there}" in error.why_text.zh
    for words in (error.next_text.en, error.at_terminal):
        assert words.startswith("correct the address, or compare the new key") and "rebuilt" not in words
    assert (question.edited, question.replaced, question.pinned) == (("10.0.0.5:22", there), 0, (OTHER,))
    assert services.links.states["n1"] is NodeState.REFUSED
    # What is decided there counts from then on, and an edit is no change of the node's key.
    services.links.trust(node, key, "the test")
    services.links.replace_key(node, OTHER, "the address was edited")
    services.links.open(node, CancelToken()).line.close()
    with services.workspace.read() as connection:
        assert replaced_lately(connection, node) == 0


def test_that_a_key_that_changed_at_its_place_is_told_as_before(services: Services, sshd) -> None:
    node = edited(services, sshd, OTHER)
    services.links.trust(node, OTHER, "the test")  # met at the new address, too
    error, question = refused(services, node)
    assert "host key has changed from" in error.why and "rebuilt" in error.next_text.en
    assert question.edited is None and services.links.states["n1"] is NodeState.KEY_CHANGED
    services.links.replace_key(node, OTHER, "rebuilt")
    with services.workspace.read() as connection:
        assert replaced_lately(connection, node) == 1


def test_that_a_pin_of_an_older_program_whose_place_is_unknown_is_told_as_before(services: Services, sshd) -> None:
    node = Node("n1", "node-07", address=sshd.address, identity_file=sshd.key_file)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.workspace.submit(lambda db: save_key_decision(db, KeyDecision("n1", OTHER, KeyState.TRUSTED, utc_now()))).result()
    error, question = refused(services, node)
    assert "host key has changed from" in error.why and question.edited is None


def test_that_the_same_key_at_an_edited_address_is_known_there_from_then_on(services: Services, sshd) -> None:
    """Else a key that changes there later would be excused by the edit of long ago."""
    key = sshd.keys.host_keys()[0]
    node = edited(services, sshd, key)
    with services.workspace.read() as connection:
        assert moved(connection, node, key) == ("10.0.0.5:22", sshd.address.host_port)
    for _ in range(2):
        services.links.open(node, CancelToken()).line.close()
    with services.workspace.read() as connection:
        assert moved(connection, node, key) is None
        history = [(one.compared_with, one.place) for one in list_key_decisions(connection, "n1")]
    assert history == [("the test", "10.0.0.5:22"), (SAME_KEY, sshd.address.host_port)]


def test_that_the_command_line_says_that_the_address_was_edited(services: Services, sshd, tmp_path, capsys) -> None:
    edited(services, sshd, OTHER)
    words = ["verify", "node-07", "--workspace", str(tmp_path / "w.db"), "--only", "trust.clock"]
    assert main(words) == 3
    said = capsys.readouterr().out
    assert f"the address was edited since the host key ssh-ed25519 {OTHER.fingerprint} was pinned: 10.0.0.5:22 → " in said
    assert "has changed" not in said and "ask the supplier" not in said and "verify --replace-host-key" in said
    assert main([*words, "--replace-host-key", sshd.keys.host_keys()[0].fingerprint]) != 3


def test_that_a_key_of_another_type_at_an_edited_address_is_told_as_that() -> None:
    error = UnknownHostKey("10.0.0.6:22", HostKey("ssh-rsa", OTHER.fingerprint), known=(OTHER,))
    tell_moved(error, ("10.0.0.5:22", "10.0.0.6:22"))
    assert error.why_text.en.startswith("the address was edited since the host key ssh-ed25519 ") and "another type" not in error.why_text.zh
    assert error.next_text.en.startswith("compare it with the supplier's")


def test_that_a_neighbour_whose_key_was_met_elsewhere_says_nothing_of_this_place(services: Services, sshd) -> None:
    edited(services, sshd, OTHER)
    with services.workspace.read() as connection:
        said = others_at(connection, Node("n2", "node-08", address=sshd.address), sshd.keys.host_keys())
    assert [words.en for words in said] == ["node-07 has the same address"]


def test_that_a_place_is_host_port_and_way_whoever_logs_in() -> None:
    node = Node("n1", "node-07", address=Address("Node.example", 2222, "root"))
    assert place_of(node) == "node.example:2222" == place_of(replace(node, address=Address("node.example", 2222, "ubuntu")))
    far = replace(node, jump="ops@gate:22, inner", proxy="socks5://anna@127.0.0.1:1080")
    assert place_of(far) == "node.example:2222 via inner via gate:22 via socks5://127.0.0.1:1080"
    assert place_of(replace(node, address=None)) == ""
