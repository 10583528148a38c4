from __future__ import annotations

import socket
import subprocess
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.frame import COLLECT
from gpulease_gui.domain.node import Address, AuthMethod, HostKey
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote import wire
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, HostKeyChanged, Phase, UnknownHostKey
from gpulease_gui.remote.handshake import Deadlines, dial
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy
from gpulease_gui.remote.session import Connector, SshSession
from tests.integration.listening import listening

pytestmark = pytest.mark.sshd

OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def connect(
    address: Address,
    credentials: Credentials,
    trust: HostTrust,
    deadlines: Deadlines | None = None,
    cancel: CancelToken | None = None,
) -> SshSession:
    return Connector().connect(address, credentials, trust, deadlines or Deadlines(), cancel or CancelToken())


def failure(address: Address, credentials: Credentials, trust: HostTrust, **more: object) -> ConnectFailed:
    with pytest.raises(ConnectFailed) as caught:
        connect(address, credentials, trust, **more)  # type: ignore[arg-type]
    assert address.host_port in str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", ["id_ed25519", "id_rsa"])
def test_that_a_key_file_logs_in(sshd, name):
    with connect(sshd.address, Credentials(identity_file=str(sshd.keys.user(name))), sshd.trust) as session:
        assert session.alive
        assert session.trusted_by is TrustedBy.PIN
        assert session.host_key == sshd.keys.host_keys()[0]


def test_that_an_encrypted_key_asks_once_and_is_then_kept(sshd):
    asked: list[str] = []

    def ask(path: str, number: int) -> Secret:
        asked.append(path)
        return Secret("correct horse")

    connector = Connector()
    credentials = Credentials(identity_file=str(sshd.keys.user("encrypted")), ask_passphrase=ask)
    for _ in range(2):
        connector.connect(sshd.address, credentials, sshd.trust, Deadlines(), CancelToken()).close()
    assert asked == [str(sshd.keys.user("encrypted"))]


@pytest.mark.parametrize(
    ("name", "passphrase", "cause"),
    [
        ("encrypted", None, "key_encrypted"),
        ("encrypted", Secret("wrong pony"), "wrong_passphrase"),
        ("stranger", None, "key_refused"),
        ("id_rsa.pub", None, "key_public"),
        ("nowhere", None, "key_unreadable"),
        ("authorized_keys", None, "key_public"),
    ],
)
def test_that_trouble_with_the_key_is_told_by_name(sshd, name, passphrase, cause):
    error = failure(sshd.address, Credentials(identity_file=str(sshd.keys.user(name)), passphrase=passphrase), sshd.trust)
    assert (error.phase, error.cause) == (Phase.AUTH, cause)
    assert error.why_text.zh != error.why_text.en


def test_that_no_key_is_searched_for_when_none_was_named(sshd):
    assert failure(sshd.address, Credentials(), sshd.trust).cause == "no_key"


def test_that_a_password_that_no_way_takes_is_told_with_the_ways_that_the_node_takes(sshd):
    credentials = Credentials(AuthMethod.PASSWORD, password=Secret("guess"))
    error = failure(sshd.address, credentials, sshd.trust)
    assert (error.phase, error.cause) == (Phase.AUTH, "no_password_wanted")
    assert "publickey" in error.next_step


def test_that_an_absent_agent_is_told_by_name(sshd, monkeypatch):
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    assert failure(sshd.address, Credentials(AuthMethod.AGENT), sshd.trust).cause == "no_agent_key"


@contextmanager
def agent(folder: Path, keys: list[Path]) -> Iterator[None]:
    place = folder / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SSH_AUTH_SOCK", str(place))
            while not place.exists():
                time.sleep(0.01)
            for key in keys:
                subprocess.run(["ssh-add", "-q", key], check=True, capture_output=True)
            yield
    finally:
        process.terminate()
        process.wait(60)


def test_that_a_key_of_the_agent_logs_in_when_the_agent_was_picked(sshd, tmp_path):
    with agent(tmp_path, [sshd.keys.user("stranger"), sshd.keys.user("id_ed25519")]):
        connect(sshd.address, Credentials(AuthMethod.AGENT), sshd.trust).close()


def test_that_ux_12_a_full_agent_does_not_stand_in_the_way_of_the_chosen_key(make_sshd, tmp_path):
    server = make_sshd("MaxAuthTries 1\n")
    with agent(tmp_path, [server.keys.user("stranger")]):
        connect(server.address, server.credentials, server.trust).close()
        error = failure(server.address, Credentials(AuthMethod.AGENT), server.trust)
    assert error.phase is Phase.AUTH


def test_that_ux_13_a_second_factor_is_told_by_name(make_sshd):
    server = make_sshd("PasswordAuthentication yes\nAuthenticationMethods publickey,password\n")
    error = failure(server.address, server.credentials, server.trust)
    assert error.cause == "second_factor"
    assert "password" in error.next_step


def test_that_an_unknown_key_is_shown_with_the_hosts_other_keys(sshd):
    error = failure(sshd.address, sshd.credentials, HostTrust())
    assert isinstance(error, UnknownHostKey)
    assert (error.key, *error.others) == sshd.keys.host_keys()
    assert f"--fingerprint {error.key.fingerprint}" in error.next_step


def test_that_the_rsa_fingerprint_of_a_supplier_is_found_while_ed25519_is_negotiated(sshd):
    rsa = sshd.keys.host_keys()[1]
    with connect(sshd.address, sshd.credentials, HostTrust(fingerprints=(rsa.fingerprint,))) as session:
        assert session.host_key == rsa
        assert session.trusted_by is TrustedBy.FINGERPRINT


def test_that_a_fingerprint_of_another_machine_matches_none_of_the_keys(sshd):
    error = failure(sshd.address, sshd.credentials, HostTrust(fingerprints=(OTHER.fingerprint,)))
    assert isinstance(error, UnknownHostKey)
    assert error.cause == "fingerprint_differs"
    assert error.given == (OTHER.fingerprint,)


def test_that_a_changed_key_is_refused_before_login_even_with_its_fingerprint_given(sshd):
    new = sshd.keys.host_keys()[0]
    # A login with this key would be refused: that it is not told shows that none was tried.
    stranger = Credentials(identity_file=str(sshd.keys.user("stranger")))
    error = failure(sshd.address, stranger, HostTrust((OTHER,), (new.fingerprint,)))
    assert isinstance(error, HostKeyChanged)
    assert (error.old, error.new) == (OTHER, new)
    assert OTHER.fingerprint in str(error)
    assert new.fingerprint in str(error)


def test_that_the_pinned_type_is_asked_for_first(sshd):
    rsa = sshd.keys.host_keys()[1]
    with connect(sshd.address, sshd.credentials, HostTrust((rsa,))) as session:
        assert session.host_key == rsa


def test_that_a_new_type_of_key_of_a_known_host_is_a_case_of_its_own(sshd):
    pinned = HostKey("ecdsa-sha2-nistp256", "SHA256:" + "B" * 43)
    error = failure(sshd.address, sshd.credentials, HostTrust((pinned,)))
    assert isinstance(error, UnknownHostKey)
    assert (error.cause, error.known) == ("new_type", (pinned,))


def test_that_a_refused_port_names_phase_and_place(sshd):
    with socket.create_server(("127.0.0.1", 0)) as sock:
        address = Address("127.0.0.1", sock.getsockname()[1])
    error = failure(address, sshd.credentials, HostTrust())
    assert (error.phase, error.cause) == (Phase.TCP, "refused")


def test_that_an_unknown_name_is_told_as_such(sshd):
    error = failure(Address("no-such-host.invalid"), sshd.credentials, HostTrust())
    assert (error.phase, error.cause) == (Phase.DNS, "no_such_name")


def relay(caller: socket.socket, onward: socket.socket, hold_s: float) -> list[threading.Thread]:
    """Pass bytes on in both ways; each piece from onward waits for `hold_s` first."""

    def pump(source: socket.socket, sink: socket.socket, wait_s: float) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                threading.Event().wait(wait_s)
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    threads = [threading.Thread(target=pump, args=way) for way in ((caller, onward, 0.0), (onward, caller, hold_s))]
    for thread in threads:
        thread.start()
    return threads


def test_that_a_node_whose_every_answer_takes_longer_than_we_look_is_reached(sshd, monkeypatch):
    """The banner, the keys, the login, the channel and its words each come after several looks of the library's thread."""
    monkeypatch.setattr(wire, "_LOOK_S", 0.02)
    threads: list[threading.Thread] = []
    onward = socket.create_connection((sshd.address.host, sshd.address.port))
    with onward, listening(lambda caller: threads.extend(relay(caller, onward, 0.1))) as address:
        with connect(address, sshd.credentials, HostTrust(pins=sshd.trust.pins)) as session:
            channel = session.open("echo slow; cat")
            heard = b""
            while b"slow" not in heard:
                chunk = channel.read(60)
                assert not chunk.ended
                heard += chunk.out
            channel.close()
        for thread in threads:
            thread.join()


def test_that_ux_06_a_silent_port_names_the_banner_and_its_deadline(sshd, monkeypatch):
    monkeypatch.setattr(wire, "_LOOK_S", 0.02)
    with listening() as address:
        error = failure(address, sshd.credentials, HostTrust(), deadlines=Deadlines(banner_s=0.3))
    assert (error.phase, error.cause) == (Phase.BANNER, "timeout")
    assert "0.3 s" in str(error)


def test_that_ux_06_a_server_that_stops_after_its_banner_names_the_key_exchange(sshd):
    with listening(lambda caller: caller.sendall(b"SSH-2.0-slow\r\n")) as address:
        error = failure(address, sshd.credentials, HostTrust(), deadlines=Deadlines(kex_s=0.3))
    assert (error.phase, error.cause) == (Phase.KEX, "timeout")


@pytest.mark.parametrize("line", [b"x" * 65536, b"# no banner yet\r\n" * 4096], ids=["one line", "many lines"])
def test_that_ux_07_endless_bytes_before_the_banner_end_with_the_deadline_and_fill_no_memory(sshd, line):
    def flood(caller: socket.socket) -> None:
        with pytest.raises(OSError):
            while True:
                caller.sendall(line)

    with listening(flood) as address:
        started = time.monotonic()
        tracemalloc.start()
        error = failure(address, sshd.credentials, HostTrust(), deadlines=Deadlines(banner_s=0.5))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert time.monotonic() - started < 10
    assert error.phase is Phase.BANNER
    assert peak < 2 * 1024 * 1024


def test_that_a_web_server_is_told_as_no_ssh(sshd):
    def answer(caller: socket.socket) -> None:
        caller.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 100)

    with listening(answer) as address:
        error = failure(address, sshd.credentials, HostTrust())
    assert (error.phase, error.cause) == (Phase.BANNER, "not_ssh")
    assert error.why == "this is not an SSH server; it said: HTTP/1.1 400 Bad Request"


@pytest.mark.parametrize(
    ("sent", "cause", "why"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "not_ssh", "this is not an SSH server; it said: HTTP/1.1 400 Bad Request"),
        (b"220 mail\x1b[2J\r\n", "timeout", "no SSH banner within 4 s; it said: 220 mail␛[2J"),
        (b"\x15\x03\x01\xff\xfe\r\n", "not_ssh", "this is not an SSH server; it sent bytes that are no text (15 03 01 ff fe 0d 0a)"),
        (b"SSH-2.0-odd\r\n" + b"\x7f\xff\xff\xff" * 4, "protocol", "a packet came whose length SSH does not allow"),
        (b"SSH-2.0-odd\r\n" + b"\x7f\xff\xff\xfc" * 4, "protocol", "a packet came whose length SSH does not allow"),
    ],
)
def test_that_what_is_no_ssh_server_is_quoted_while_the_port_stays_open(sshd, sent, cause, why):
    with listening(lambda caller: caller.sendall(sent)) as address:
        error = failure(address, sshd.credentials, HostTrust(), deadlines=Deadlines(banner_s=4.0))
    assert (error.cause, error.why) == (cause, why)
    assert error.next_text.en and error.next_text.zh


@pytest.mark.parametrize(
    ("sent", "cause"), [(b"HTTP/1.1 400 Bad Request", "not_ssh"), (b"\x00\x01", "not_ssh"), (b"Exceeded MaxStartups\r\n", "hung_up")]
)
def test_that_who_says_something_and_hangs_up_is_told_from_a_full_server(sshd, sent, cause):
    def answer(caller: socket.socket) -> None:
        caller.sendall(sent)
        caller.shutdown(socket.SHUT_WR)

    with listening(answer) as address:
        assert failure(address, sshd.credentials, HostTrust()).cause == cause


@pytest.mark.parametrize("start", [b"SSH-2.0-", b"Exceeded MaxStartups ", b"hello "])
def test_that_a_greeting_without_an_end_is_told_as_that_and_never_as_a_full_server(sshd, start):
    with listening(lambda caller: caller.sendall(start + b"A" * 100_000)) as address:
        error = failure(address, sshd.credentials, HostTrust())
    assert (error.phase, error.cause) == (Phase.BANNER, "not_ssh")
    shown = (start + b"A" * 80)[:80].decode()
    assert error.why == f"its greeting is longer than that of any SSH server; it said: {shown}"
    assert "MaxStartups" not in error.next_step


def test_that_a_server_that_hangs_up_before_its_banner_is_asked_again(sshd):
    calls: list[int] = []

    def hang_up(caller: socket.socket) -> None:
        calls.append(1)
        caller.close()

    with listening(hang_up) as address:
        error = failure(address, sshd.credentials, HostTrust())
    assert (error.phase, error.cause) == (Phase.BANNER, "hung_up")
    assert len(calls) == 4


def test_that_the_socket_has_no_nagle_and_notices_a_dead_peer():
    with listening() as address, dial(address, 5, CancelToken()) as sock:
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 30_000


def test_that_no_common_algorithm_is_told_by_name(make_sshd):
    server = make_sshd("KexAlgorithms diffie-hellman-group14-sha1\n")
    error = failure(server.address, server.credentials, server.trust)
    assert (error.phase, error.cause) == (Phase.KEX, "no_common_algorithm")


def test_that_md5_sha1_and_cbc_are_not_offered(make_sshd):
    server = make_sshd("Ciphers aes128-cbc,3des-cbc\nMACs hmac-sha1\n")
    assert failure(server.address, server.credentials, server.trust).cause == "no_common_algorithm"


def test_that_a_connect_can_be_cancelled(sshd, until):
    cancel = CancelToken()
    with listening() as address:
        timer = threading.Timer(0.2, cancel.cancel)
        timer.start()
        started = time.monotonic()
        with pytest.raises(Cancelled):
            connect(address, sshd.credentials, HostTrust(), cancel=cancel)
        assert time.monotonic() - started < 3
        timer.join()


def test_that_eight_connects_at_once_share_four_places(sshd):
    connector = Connector()
    sessions: list[SshSession] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            sessions.append(
                connector.connect(sshd.address, sshd.credentials, sshd.trust, Deadlines(), CancelToken())
            )
        except ConnectFailed as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for session in sessions:
        session.close()
    assert (len(sessions), errors) == (8, [])


def test_that_ux_09_a_session_too_many_is_told_by_name(make_sshd):
    server = make_sshd("MaxSessions 1\n")
    with server.connect() as session:
        session._deadlines = replace(session._deadlines, channel_s=4.0)
        channel = session.open(COLLECT)
        with pytest.raises(ConnectFailed) as caught:
            session.open(COLLECT)
        channel.close()
    assert (caught.value.phase, caught.value.cause) == (Phase.CHANNEL, "no_channel")
    assert caught.value.why_text.zh == "节点只允许此连接同时打开 1 个会话（MaxSessions），且均在使用中"


def test_that_a_gateway_without_commands_is_told_by_name(make_sshd):
    server = make_sshd("PermitTTY yes\nForceCommand /bin/false\n")
    with server.connect() as session:
        channel = session.open(COLLECT)
        assert channel.exit_status(5) == 1
        channel.close()
