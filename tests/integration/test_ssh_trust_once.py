"""A host key that is trusted for one connection, and the first connection after one was replaced: what is kept, and what is sent?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.node import AuthMethod, HostKey, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.services.checklist_edit import Given, answer_items
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, HostKeyQuestion, NodeState, NodeStateChanged, StatedKey
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes, suppliers
from gpulease_gui.store.hop_keys import list_trusted_hop_keys
from gpulease_gui.store.hostkeys import list_key_decisions

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]
OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def saved(services: Services, server, **changes: object) -> Node:
    node = replace(Node("n1", "node-07", address=server.address, identity_file=server.key_file), **changes)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    return node


def refused(services: Services, node: Node) -> NotConnected:
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    return caught.value


def decided(services: Services) -> int:
    with services.workspace.read() as connection:
        return len(list_key_decisions(connection, "n1"))


def test_that_a_key_that_is_trusted_once_counts_for_one_connection_and_its_state_says_so(services, sshd, make_sshd):
    gate = make_sshd()
    node, key, hop = saved(services, sshd, jump=str(gate.address)), sshd.keys.host_keys()[0], gate.address.host_port
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    services.links.trust_once(node, key, hop=hop)
    # The jump host's is let through, then the node's own is asked for: what was decided of the first one still counts.
    assert refused(services, node).why.startswith("the host key is not known yet")
    services.links.trust_once(node, key)
    services.links.open(node, CancelToken()).line.close()
    told = [event for event in heard if isinstance(event, NodeStateChanged)][-1]
    assert told.state is NodeState.CONNECTED
    assert told.reason == f"connected once: its host key is not pinned ({hop} {key.fingerprint}, {key.fingerprint})"
    assert told.reason_text.zh.startswith("仅此次连接：") and "asks again" in told.next_step
    assert decided(services) == 0
    with services.workspace.read() as connection:
        assert list_trusted_hop_keys(connection, hop) == ()
    assert refused(services, node).why.startswith(f"at jump host {hop} (1 of 1): the host key is not known yet")


def test_that_another_key_than_the_one_trusted_once_is_refused_and_nothing_lingers(services, sshd):
    node = saved(services, sshd)
    services.links.trust_once(node, OTHER)
    assert "has changed from" in refused(services, node).why
    assert refused(services, node).why.startswith("the host key is not known yet")
    assert decided(services) == 0


def test_that_a_host_whose_key_is_trusted_once_gets_no_password(services, sshd, make_sshd):
    server = make_sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n")
    node = saved(services, server, auth=AuthMethod.PASSWORD)
    asked: list[SecretAsked] = []
    services.links.ask_secret = lambda _, what: asked.append(what) or Secret("open sesame")
    services.links.trust_once(node, sshd.keys.host_keys()[0])
    error = refused(services, node)
    assert (error.phase, asked) == ("auth", [])
    assert error.why == "its host key is trusted for this connection only, so no password is sent or asked for"


@pytest.mark.parametrize("behind", [False, True])
def test_that_the_first_connection_after_a_key_was_replaced_sends_no_password_and_the_second_does(services, sshd, make_sshd, behind):
    server = make_sshd("PasswordAuthentication yes\nPubkeyAuthentication no\n")
    hop = server.address.host_port if behind else ""
    node = saved(services, sshd, jump=str(server.address)) if behind else saved(services, server, auth=AuthMethod.PASSWORD)
    key = sshd.keys.host_keys()[0]
    asked: list[SecretAsked] = []
    services.links.ask_secret = lambda _, what: asked.append(what) or Secret("open sesame")
    services.links.trust(node, key, "the test", hop=hop)
    services.links.replace_key(node, OTHER, "rebuilt", hop=hop)
    error = refused(services, node)
    if behind:  # this jump host takes no key at all, and never was asked for a password
        assert error.why.startswith(f"at jump host {hop} (1 of 1): ") and asked == []
        return
    assert error.why == "its host key was replaced a moment ago: on the first connection after that no password is sent or asked for"
    assert asked == [] and error.next_step.endswith("connect again to log in with a password")
    refused(services, node)
    assert asked == [SecretAsked("password", number=number) for number in (1, 2, 3)]


def test_that_a_replaced_key_does_not_hinder_a_node_that_takes_our_key(services, sshd):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    services.links.trust(node, key, "the test")
    services.links.replace_key(node, OTHER, "rebuilt")
    services.links.open(node, CancelToken()).line.close()


def test_that_the_question_brings_what_the_supplier_named_and_where_it_stands(services, sshd):
    key, bare = sshd.keys.host_keys()[1], "B" * 43
    workspace = services.workspace
    workspace.submit(lambda db: suppliers.save_supplier(db, Supplier("s", "Haven"))).result()
    workspace.submit(lambda db: suppliers.save_contract(db, Contract("c", "s", "HT-1", note=f"node-08 is SHA256:{'C' * 43}."))).result()
    subject = Subject(HolderOf.CONTRACT, "c")
    given = Given(AnswerState.ANSWERED, AnswerValue.YES, note=f"2048 {key.fingerprint} root@node (RSA); {bare}")
    workspace.submit(lambda db: answer_items(db, subject, ["SC-01"], given)).result()
    node = saved(services, sshd, contract_id="c", note=f"of the supplier: SHA256:{'D' * 43}=")
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    refused(services, node)
    (question,) = (event for event in heard if isinstance(event, HostKeyQuestion))
    assert [(one.fingerprint[7:8], one.where.en) for one in question.stated if one.fingerprint != key.fingerprint] == [
        ("D", "note of the node"), ("C", "contract HT-1"),
    ]  # fmt: skip
    assert next(one for one in question.stated if one.fingerprint == key.fingerprint).where.zh == "合同 HT-1，清单 SC-01"
    assert StatedKey(f"SHA256:{bare}", question.stated[0].where) not in question.stated and len(question.stated) == 3
