"""A jump host dies while what lies behind it is called: it is the one that is blamed, by its name and number; real sshds."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.remote import own_network
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.route import Hop, Route
from gpulease_gui.remote.session import Connector
from gpulease_gui.remote.transport import LineLost
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes as stored
from tests.integration.listening import listening
from tests.integration.test_ssh_auth import Doorman, kept_by

pytestmark = pytest.mark.sshd


def called(then: Callable[[], object], greeting: bytes = b"") -> AbstractContextManager[Address]:
    """Where something listens that does `then` once it is called, and says nothing more; it hangs up on nobody."""

    def answer(caller: socket.socket) -> None:
        caller.sendall(greeting)
        then()

    return listening(answer, "anna")


def hop(server) -> Hop:
    return Hop(server.address, server.credentials, server.trust)


def blamed(server, hops: tuple[Hop, ...], last: Hop) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        Connector().connect(last.address, last.credentials, last.trust, Deadlines(), CancelToken(), Route(hops))
    return caught.value


def is_blamed(error: ConnectFailed, server, number: int, count: int) -> None:
    place = server.address.host_port
    assert (error.cause, error.hop) == ("lost", place)
    assert error.what == f"jump host {place}: opening a channel failed"
    assert error.why == f"at jump host {place} ({number} of {count}): the connection to it was lost on the way on"
    assert error.why_text.zh.startswith(f"在跳板机 {place}（第 {number} 个，共 {count} 个）：")


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.9\r\n"])
def test_that_the_first_of_two_jump_hosts_is_blamed_for_its_own_end_while_the_second_is_called(make_sshd, sshd, greeting):
    first = make_sshd()
    with called(first.cut_sessions, greeting) as place:
        second = replace(hop(sshd), address=place)
        is_blamed(blamed(sshd, (hop(first), second), hop(sshd)), first, 1, 2)


@pytest.mark.parametrize("dying", [1, 2])
def test_that_whichever_jump_host_ends_while_the_node_is_called_is_blamed_and_not_the_node(make_sshd, sshd, dying):
    hops = [make_sshd(), make_sshd()]
    with called(hops[dying - 1].cut_sessions) as place:
        error = blamed(sshd, (hop(hops[0]), hop(hops[1])), replace(hop(sshd), address=place))
    is_blamed(error, hops[dying - 1], dying, 2)


@pytest.mark.parametrize("dying", [1, 2])
def test_that_a_jump_host_that_ends_while_the_node_logs_us_in_is_blamed(make_sshd, sshd, dying):
    hops = [make_sshd(), make_sshd()]
    with kept_by(Doorman(((("Code:", False),),))) as gate:

        def ask(_: object) -> Secret:
            hops[dying - 1].cut_sessions()
            return Secret("otp")

        node = Hop(gate.address, replace(sshd.credentials, ask_prompt=ask), gate.trust)
        error = blamed(sshd, (hop(hops[0]), hop(hops[1])), node)
    is_blamed(error, hops[dying - 1], dying, 2)


def test_that_a_jump_host_that_lives_is_not_blamed_for_a_node_that_hangs_up(make_sshd, sshd):
    with listening(lambda caller: caller.shutdown(socket.SHUT_RDWR), "anna") as place:
        error = blamed(sshd, (hop(make_sshd()),), replace(hop(sshd), address=place))
    assert (error.cause, error.host_port, error.hop) == ("hung_up", place.host_port, "")


@pytest.mark.parametrize("dying", [1, 2])
def test_that_a_session_that_ends_with_a_jump_host_names_it(make_sshd, sshd, until, dying):
    """It was told only that the line to the node was lost."""
    hops = [make_sshd(), make_sshd()]
    node, route = hop(sshd), Route((hop(hops[0]), hop(hops[1])))
    with Connector().connect(node.address, node.credentials, node.trust, Deadlines(), CancelToken(), route) as session:
        begun = session.open("exec cat")
        begun.write(b"a")
        hops[dying - 1].cut_sessions()
        assert until(lambda: not session.alive)
        place = hops[dying - 1].address.host_port
        told = f"at jump host {place} ({dying} of 2): the connection to it was lost"
        for call in (lambda: session.open("true"), lambda: begun.write(b"b")):
            with pytest.raises(LineLost) as caught:
                call()
            assert (caught.value.why, caught.value.what) == (told, f"the connection to {sshd.address} was lost")
            assert caught.value.why_text.zh.startswith(f"在跳板机 {place}（第 {dying} 个，共 2 个）：")


def test_that_a_session_that_the_node_ends_blames_no_jump_host(make_sshd, sshd, until):
    node = make_sshd()
    with Connector().connect(node.address, node.credentials, node.trust, Deadlines(), CancelToken(), Route((hop(sshd),))) as session:
        node.cut_sessions()
        assert until(lambda: not session.alive)
        with pytest.raises(LineLost) as caught:
            session.open("true")
    assert caught.value.why == ""


def test_that_the_end_of_a_node_reaches_who_waits_though_its_jump_host_can_no_longer_be_told(make_sshd, sshd, until, monkeypatch):
    """The jump host ended in the moment between: telling it raised, and who waited for the node was not woken."""

    def over(_: object) -> None:
        raise EOFError

    node = make_sshd()
    with Connector().connect(node.address, node.credentials, node.trust, Deadlines(), CancelToken(), Route((hop(sshd),))) as session:
        begun = session.open("exec cat")
        begun.write(b"a")
        monkeypatch.setattr(session._beneath[0].transport, "_send_user_message", over)
        event = session._transport.channel_events[99] = threading.Event()
        node.cut_sessions()
        assert event.wait(60)
        assert until(lambda: not session._transport.is_alive())
        assert not session.alive
        with pytest.raises(LineLost):
            begun.write(b"b")


def saved(services, server, jump: str = "") -> Node:
    node = Node("n", "n", Reach.SSH, server.address, identity_file=server.key_file, jump=jump)
    services.workspace.submit(lambda db: stored.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "test")
    return node


def verifying(services, node: Node, until, begun: Path, then: Callable[[], object], check: str) -> Finding:
    """What a check of a node says of which something has `begun` when `then` is done; one other has said all by then."""
    outcomes, told = [], []
    request = Request(only=("cpu.model", check))
    thread = threading.Thread(target=lambda: outcomes.append(services.verification.run(node, request, CancelToken(), told.append)))
    thread.start()
    assert until(lambda: begun.exists() and told)
    then()
    thread.join(60)
    (found,) = (one for one in outcomes[0].findings if one.check == check)
    return found


def tool(folder: Path, name: str) -> dict[str, str]:
    """The environment of a node on which that program says nothing."""
    (folder / name).write_text(f"#!/bin/sh\ntouch {folder}/begun\nexec sleep 60\n")
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def test_that_what_a_jump_host_took_along_names_it(make_sshd, services, until, tmp_path):
    """Of a verification: one output had come, the command of the other one ran."""
    gate, server = make_sshd(), make_sshd(env=tool(tmp_path, "nvidia-smi"))
    place = gate.address.host_port
    node = saved(services, server, f"{gate.address.user}@{place}")
    services.links.trust(node, gate.keys.host_keys()[0], "test", hop=place)
    found = verifying(services, node, until, tmp_path / "begun", gate.cut_sessions, "gpu.model")
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "connection_lost")
    assert found.reason == Text(
        f"the connection was lost before the output ended: at jump host {place} (1 of 1): the connection to it was lost",
        f"输出结束前连接中断：在跳板机 {place}（第 1 个，共 1 个）：与其的连接已断开",
    )


def test_that_a_measurement_that_our_lost_network_ends_says_so(make_sshd, services, until, tmp_path, monkeypatch):
    server = make_sshd(env=tool(tmp_path, "python3"))

    def lose() -> None:
        monkeypatch.setattr(own_network, "has_way", lambda host, port: False)
        server.cut_sessions()

    found = verifying(services, saved(services, server), until, tmp_path / "begun", lose, "trust.clock")
    assert (found.verdict, found.reason_code) == (Verdict.INCONCLUSIVE, "own_network")
    assert found.reason.en == f"this computer had no network before the output ended: the connection to {server.address} was lost"
    assert found.next_step.en == "check the network of this computer and run it again"
