"""A server without strict key exchange (CVE-2023-48795): AES-GCM is forced where it has that, else nobody logs in."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.credentials import AuthMethod, Credentials
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.session import Connector
from tests.integration.listening import listening, serving

pytestmark = pytest.mark.timeout(60)
ETM = ("hmac-sha2-256-etm@openssh.com",)


class Greeter(paramiko.ServerInterface):
    """Lets in whoever comes, and counts them."""

    def __init__(self) -> None:
        self.passwords = 0

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        self.passwords += 1
        return paramiko.AUTH_SUCCESSFUL


class OneSided(paramiko.Transport):
    """A server that encrypts one direction otherwise than the other."""

    to_server: tuple[str, ...] = ()
    to_client: tuple[str, ...] = ()
    asked = 0

    @property
    def preferred_ciphers(self) -> tuple[str, ...]:
        """The library names what it takes and what it sends, and when it agrees it asks the other way round."""
        self.asked += 1
        return self.to_server if self.asked % 4 < 2 else self.to_client


@contextmanager
def server(ciphers: Sequence[str], *, strict: bool, greeter: Greeter, to_client: Sequence[str] = ()) -> Iterator[tuple[Address, HostTrust, list[paramiko.Transport]]]:
    key = paramiko.ECDSAKey.generate()

    def make(caller: socket.socket) -> OneSided:
        line = OneSided(caller, strict_kex=strict)
        line.to_server, line.to_client = tuple(ciphers), tuple(to_client or ciphers)
        line.get_security_options().digests = ETM
        return line

    with serving(greeter, key, make) as (address, lines):
        yield address, HostTrust((host_key_of(key),)), lines


WITH_WORD = Credentials(AuthMethod.PASSWORD, password=Secret("word"))


@pytest.mark.parametrize("ciphers", [("aes128-ctr",), ("aes256-ctr", "aes128-ctr", "aes256-cbc")])
def test_that_nobody_logs_in_without_strict_exchange_and_without_an_authenticated_cipher(ciphers) -> None:
    greeter = Greeter()
    with server(ciphers, strict=False, greeter=greeter) as (address, trust, _), pytest.raises(ConnectFailed) as caught:
        Connector().connect(address, WITH_WORD, trust, Deadlines(), CancelToken())
    assert (caught.value.phase, caught.value.cause, greeter.passwords) == (Phase.KEX, "weak_transport", 0)
    assert "CVE-2023-48795" in caught.value.next_step and caught.value.why_text.zh != caught.value.why_text.en


@pytest.mark.parametrize(("to_server", "to_client"), [("aes128-ctr", "aes128-gcm@openssh.com"), ("aes128-gcm@openssh.com", "aes128-ctr")])
def test_that_one_direction_without_an_authenticated_cipher_is_enough_to_refuse(to_server, to_client) -> None:
    greeter = Greeter()
    with server((to_server,), strict=False, greeter=greeter, to_client=(to_client,)) as (address, trust, lines), pytest.raises(ConnectFailed) as caught:
        Connector().connect(address, WITH_WORD, trust, Deadlines(), CancelToken())
    assert (lines[0].remote_cipher, lines[0].local_cipher) == (to_server, to_client)
    assert (caught.value.cause, greeter.passwords) == ("weak_transport", 0)


@pytest.mark.parametrize(("ciphers", "strict", "agreed"), [
    (("aes256-ctr", "aes128-cbc", "aes256-gcm@openssh.com"), False, "aes256-gcm@openssh.com"), (("aes128-ctr",), True, "aes128-ctr"),
])  # fmt: skip
def test_that_gcm_is_forced_where_the_exchange_is_not_strict(ciphers, strict, agreed) -> None:
    greeter = Greeter()
    with server(ciphers, strict=strict, greeter=greeter) as (address, trust, lines):
        Connector().connect(address, WITH_WORD, trust, Deadlines(), CancelToken()).close()
        assert (lines[0].remote_cipher, lines[0].local_cipher, greeter.passwords) == (agreed, agreed, 1)


def test_that_a_server_of_chacha20_and_cbc_alone_shares_no_cipher() -> None:
    def packet(body: bytes) -> bytes:
        fill = 8 - (len(body) + 5) % 8 + 8
        return (len(body) + fill + 1).to_bytes(4, "big") + bytes([fill]) + body + bytes(fill)

    offer = paramiko.Message()
    offer.add_bytes(b"\x14" + bytes(16))
    ciphers = ["chacha20-poly1305@openssh.com", "aes128-cbc"]
    for names in (["curve25519-sha256"], ["ssh-ed25519"], ciphers, ciphers, list(ETM), list(ETM), ["none"], ["none"], [], []):
        offer.add_list(names)
    offer.add_boolean(False)
    offer.add_int(0)
    with listening(lambda caller: caller.sendall(b"SSH-2.0-Old\r\n" + packet(offer.asbytes()))) as address, pytest.raises(ConnectFailed) as caught:
        Connector().connect(address, WITH_WORD, HostTrust(), Deadlines(), CancelToken())
    assert (caught.value.phase, caught.value.cause) == (Phase.KEX, "no_common_algorithm")
    assert "cipher" in caught.value.why and "加密算法" in caught.value.why_text.zh
