"""A node or a proxy that sends back the secret that it was given; real sshds, a scripted proxy, the stored evidence."""

from __future__ import annotations

import base64
import socket
from dataclasses import replace

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.masking import DOTS
from tests.integration.listening import listening
from tests.integration.password_sshds import PASSWORD, make_password_sshd
from tests.integration.test_ssh_jump_password import ONLY_PASSWORD, User, behind, refused

__all__ = ["make_password_sshd"]
pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]
CODED = base64.b64encode(PASSWORD.encode()).decode()


def test_that_a_password_that_a_node_prints_is_masked_before_it_is_judged_or_kept(services, make_password_sshd, fact):
    server = make_password_sshd(ONLY_PASSWORD)
    node = behind(services, server, auth=AuthMethod.PASSWORD)
    services.links.ask_secret = User([PASSWORD])
    frames = {}
    with services.links.open(node, CancelToken()) as opened:
        facts = [fact("echo", f"echo 'it is {PASSWORD}'; echo {CODED} >&2")]
        assert collect(opened.line, facts, lambda frame: frames.update({frame.id: frame}), CancelToken()).complete
    output = frames["echo"].output
    assert (output.stdout, output.stderr.rstrip(b"=\n")) == (f"it is {DOTS}\n".encode(), DOTS.encode())


def test_that_a_node_that_says_the_password_and_runs_nothing_is_quoted_without_it(services, make_password_sshd, fact):
    server = make_password_sshd(f"{ONLY_PASSWORD}ForceCommand echo 'you sent {PASSWORD}' >&2\n")
    node = behind(services, server, auth=AuthMethod.PASSWORD)
    services.links.ask_secret = User([PASSWORD])
    with services.links.open(node, CancelToken()) as opened:
        end = collect(opened.line, [fact("echo", "echo yes")], lambda _: None, CancelToken())
    assert end.said == f"you sent {DOTS}"


def test_that_a_proxy_that_sends_back_what_it_was_shown_is_quoted_without_it(services, sshd):
    def echo(caller: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += caller.recv(1)
        coded = head.partition(b"Basic ")[2].split()[0]
        caller.sendall(b"HTTP/1.1 403 %s %s\r\n\r\n" % (coded, base64.b64decode(coded)))
        caller.shutdown(socket.SHUT_WR)

    with listening(echo) as place:
        node = replace(behind(services, sshd), proxy=f"http://anna@{place.host_port}")
        error = refused(services, node, User([PASSWORD]))
    assert error.why.rstrip("'") == f"proxy {place.host_port}: it answers 'HTTP/1.1 403 {DOTS} anna:{DOTS}"
    assert PASSWORD not in str(error) and CODED[:12] not in str(error)
