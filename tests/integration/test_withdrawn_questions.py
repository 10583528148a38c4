"""Is a question taken back when the login that it was for is over, and asked on for who still waits?"""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes
from tests.integration.test_ssh_auth import Doorman, kept_by

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]


def saved(services: Services, node: Node) -> Node:
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    return node


def test_that_a_question_of_the_node_is_withdrawn_when_its_login_ran_out_of_time(services, sshd):
    withdrawn = threading.Event()
    asked: list[str] = []

    def ask(node: Node, about: SecretAsked) -> Secret | None:
        asked.append(about.what)
        for _ in range(1000):
            if about.withdrawn():
                withdrawn.set()
                break
            withdrawn.wait(0.02)
        return None

    links = Links(services.workspace, services.bus, ask_secret=ask, deadlines=Deadlines(ask_s=0.3))
    with kept_by(Doorman(((("Code:", False),),))) as gate:
        node = saved(services, Node("n1", "node-07", address=gate.address, identity_file=sshd.key_file))
        links.trust(node, gate.trust.pins[0], "the test")
        with pytest.raises(NotConnected) as caught:
            links.open(node, CancelToken())
    assert caught.value.why == "no answer to 'Code:' within 0.3 s"
    assert withdrawn.wait(5) and asked == [f"{gate.address.host_port} asks: Code: (Gate␛[2J\nsecond step)"]
    links.close()


def test_that_a_question_that_quotes_the_password_is_shown_without_it(services, sshd):
    asked: list[str] = []

    def ask(node: Node, about: SecretAsked) -> Secret | None:
        asked.append(about.what)
        return Secret("s3cr3tPW" if len(asked) == 1 else "314159")

    services.links.ask_secret = ask
    doorman = Doorman(((("Password:", False),), (("not s3cr3tPW, the code:", False),)), ("s3cr3tPW", "314159"), wants_key=False)
    with kept_by(doorman) as gate:
        node = saved(services, Node("n1", "node-07", address=gate.address, auth=AuthMethod.PASSWORD))
        services.links.trust(node, gate.trust.pins[0], "the test")
        services.links.open(node, CancelToken()).line.close()
    assert doorman.heard == [["s3cr3tPW"], ["314159"]]
    assert asked == ["password", f"{gate.address.host_port} asks: not •••, the code: (Gate␛[2J\nsecond step)"]


def test_that_who_is_cancelled_while_a_passphrase_is_asked_for_gives_up_for_nobody_else(services, sshd, tmp_path: Path, until):
    key = tmp_path / "locked"
    key.write_bytes(sshd.keys.user("id_ed25519").read_bytes())
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", key], check=True, capture_output=True)
    node = saved(services, Node("n1", "node-07", address=sshd.address, identity_file=str(key)))
    services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    other = saved(services, replace(node, id="n2", name="node-08"))
    first, is_asked, asked = CancelToken(), threading.Event(), []
    ended: list[object] = []

    def ask(of: Node, about: SecretAsked) -> Secret | None:
        asked.append((of.name, about.what, about.shared))
        if of.id == "n2":
            return Secret("open sesame")
        is_asked.set()
        first.on_cancel(is_asked.clear)
        while not about.withdrawn():
            first.wait(0.02)
        return None

    def open_(of: Node, cancel: CancelToken) -> None:
        try:
            services.links.open(of, cancel).line.close()
            ended.append(of.id)
        except Cancelled as error:
            ended.append(type(error))

    services.links.ask_secret = ask
    one, two = (threading.Thread(target=open_, args=args) for args in ((node, first), (other, CancelToken())))
    one.start()
    assert is_asked.wait(10)
    two.start()
    assert until(lambda: sys._current_frames()[two.ident].f_code.co_name == "_plain")  # it waits for the same key
    first.cancel()
    one.join(20)
    two.join(20)
    assert ended == [Cancelled, "n2"]
    passphrase = f"passphrase of {key}", ("file", str(key))
    assert asked == [("node-07", *passphrase), ("node-08", *passphrase)]
