"""An agent that hangs, lies, hangs up, refuses or is not there: told as that, in time, and with no thread left behind."""

from __future__ import annotations

import base64
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.remote import agent_line
from gpulease_gui.remote.agent_keys import agent_holds
from gpulease_gui.remote.agent_line import AgentLine
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.session import Connector

pytestmark = [pytest.mark.sshd, pytest.mark.timeout(60)]
FAILURE = b"\x05"


@contextmanager
def agent(place: Path, *answers: bytes | None) -> Iterator[str]:
    """Gives each caller these answers in turn, None = it says nothing more; then it hangs up."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(place))
    listener.listen()
    over = threading.Event()

    def serve() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            with caller, suppress(OSError):
                for answer in answers:
                    if answer is None:
                        over.wait(30)
                        break
                    if not caller.recv(65536):
                        break
                    caller.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield str(place)
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


def keys(*blobs: bytes) -> bytes:
    return framed(b"\x0c" + struct.pack(">I", len(blobs)) + b"".join(framed(blob) + framed(b"\xffcomment") for blob in blobs))


def failure(server, place: str, **deadlines: float) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        Connector().connect(server.address, Credentials(AuthMethod.AGENT, agent=place), server.trust, Deadlines(**deadlines), CancelToken())
    assert caught.value.phase is Phase.AUTH and caught.value.why_text.zh != caught.value.why_text.en
    return caught.value


def known(sshd) -> bytes:
    return base64.b64decode(sshd.keys.user("id_ed25519.pub").read_text().split()[1])


@pytest.mark.parametrize(("answers", "why"), [
    ((None,), "the agent does not answer within 0.3 s"),
    ((), "the agent hung up"),
    ((b"\0\0",), "the agent hung up"),
    ((b"\0\0", None), "the agent does not answer within 0.3 s"),
    ((b"\xff\xff\xff\xff\x0c",), "what answers there is no agent"),
    ((b"\0\0\0\0",), "what answers there is no agent"),
    ((b"HTTP/1.1 400 Bad Request\r\n",), "what answers there is no agent"),
    ((framed(FAILURE),), "what answers there is no agent"),
    ((framed(b"\x0c\xff\xff\xff\xff"),), "what answers there is no agent"),
    ((framed(b"\x0c\0\0\0\x02\0\0\0\0\0\0\0\0"),), "what answers there is no agent"),
])  # fmt: skip
def test_that_an_agent_that_gives_no_keys_is_told_as_what_it_does(sshd, tmp_path, monkeypatch, answers, why) -> None:
    monkeypatch.setattr(agent_line, "LIST_S", 0.3 if None in answers else 60.0)  # one that does answer has all the time it needs
    with agent(tmp_path / "a", *answers) as place:
        started = time.monotonic()
        error = failure(sshd, place)
        assert (error.cause, error.why) == ("no_agent_key", why)
        assert not agent_holds(str(sshd.keys.user("id_ed25519")), place)
        assert time.monotonic() - started < 10


def test_that_an_agent_that_is_not_there_is_told_with_its_place(sshd, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "gone"))
    error = failure(sshd, "")
    assert (error.cause, error.why) == ("no_agent_key", f"no agent listens at {tmp_path}/gone (No such file or directory)")
    assert failure(sshd, "none").why == "no agent answers, or it holds no key (IdentityAgent none)"


def test_that_an_agent_of_twenty_keys_is_asked_for_three(sshd, tmp_path) -> None:
    blobs = [framed(b"ssh-ed25519") + framed(bytes([number]) * 32) for number in range(20)]
    with agent(tmp_path / "a", keys(*blobs), *[framed(b"\x0e" + framed(framed(b"ssh-ed25519") + framed(b"s" * 64)))] * 20) as place:
        error = failure(sshd, place)
    assert (error.cause, error.why) == ("too_many_failures", "the agent holds 20 keys and the first ones were refused")


def test_that_a_denied_signature_is_the_agents_and_not_the_nodes(sshd, tmp_path) -> None:
    with agent(tmp_path / "a", keys(known(sshd)), framed(FAILURE)) as place:
        error = failure(sshd, place)
    assert error.cause == "agent_refused" and error.why.startswith("the agent refuses to sign with the key")
    assert "ssh-add -X" in error.next_step


def test_that_an_agent_that_hangs_up_instead_of_signing_is_told(sshd, tmp_path) -> None:
    with agent(tmp_path / "a", keys(known(sshd))) as place:
        error = failure(sshd, place)
    assert (error.cause, error.why) == ("agent_refused", "the agent hung up")


def test_that_an_agent_that_waits_for_a_finger_in_vain_is_told_and_leaves_no_thread(sshd, tmp_path, monkeypatch, until: Callable[..., bool]) -> None:
    monkeypatch.setattr(agent_line, "SIGN_S", 0.4)
    with agent(tmp_path / "a", keys(known(sshd)), None) as place:
        before = threading.active_count()
        error = failure(sshd, place)
        assert (error.cause, error.why) == ("agent_silent", "the agent did not sign within 0.4 s")
        assert "touch the hardware key" in error.next_step
        assert until(lambda: threading.active_count() <= before)


def test_that_a_real_agent_that_is_locked_shows_no_keys_and_one_whose_question_is_denied_refuses(sshd, tmp_path, until: Callable[..., bool]) -> None:
    place = str(tmp_path / "agent")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", "SSH_ASKPASS": "/bin/false"})
    try:
        assert until(lambda: subprocess.run(["ssh-add", "-l"], env={"SSH_AUTH_SOCK": place, "PATH": "/usr/bin:/bin"}, capture_output=True).returncode == 1), "it answers"
        subprocess.run(["ssh-add", "-q", "-c", sshd.keys.user("id_ed25519")], env={"SSH_AUTH_SOCK": place, "PATH": "/usr/bin:/bin"}, check=True, capture_output=True)
        line = AgentLine(place)
        assert len(line.get_keys()) == 1 and line.trouble is None
        line.close()
        assert failure(sshd, place).cause == "agent_refused"
    finally:
        process.terminate()
        process.wait(60)
