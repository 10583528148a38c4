"""By which way, over jump hosts and a proxy, is a trusted host reached?"""

from __future__ import annotations

import random
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.algorithms import HOST_CERTIFICATES, HOST_KEYS, WireLists
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.driving import go_alone
from gpulease_gui.remote.failures import (
    ConnectFailed,
    HostKeyRevoked,
    HungUp,
    Phase,
    proxy_failed,
    proxy_hung_up,
    timed_out,
    tunnel_refused,
)
from gpulease_gui.remote.handshake import Deadlines, cut, dial, gone, hang_up, shake
from gpulease_gui.remote.host_certificates import certificate_key, certificate_of, fields_of, signer_of, why_not
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy, host_key_of, judge, key_types, kind_of, unknown
from gpulease_gui.remote.proxy import Proxy, lead_through
from gpulease_gui.remote.revoked_words import authority_revoked, certificate_revoked
from gpulease_gui.remote.rsa_length import is_too_short, short_host_key
from gpulease_gui.remote.way_out import ANY_WAY_OUT, OWN_NETWORK, WayOut

_TRIES = 4
_DECIDED_HERE = (TrustedBy.PIN, TrustedBy.FINGERPRINT)

# Opens a fresh way to a host:port each time.
Way = Callable[[], "socket.socket | paramiko.Channel"]


@dataclass(frozen=True, slots=True)
class Hop:
    """One stop: with its own login and its own host keys."""

    address: Address
    credentials: Credentials
    trust: HostTrust


@dataclass(frozen=True, slots=True)
class Route:
    """The way to a node: out through `proxy`, then from jump host to jump host, the first is reached first.

    `way_out`: where on this computer it starts.
    """

    hops: tuple[Hop, ...] = ()
    proxy: Proxy | None = None
    way_out: WayOut = ANY_WAY_OUT


STRAIGHT = Route()


@dataclass(frozen=True, slots=True)
class Passed:
    """A stop that we are logged in to."""

    transport: paramiko.Transport
    host_port: str
    host_key: HostKey
    trusted_by: TrustedBy


def way_to(
    address: Address, route: Route, before: Passed | None, deadlines: Deadlines, cancel: CancelToken
) -> Way:
    """How to get bytes to `address`: through the stop before, else through the proxy, else straight."""
    if before is not None:
        return lambda: _tunnel(before, address, deadlines.tcp_s, cancel)
    proxy = route.proxy
    if proxy is not None:
        return lambda: _through(proxy, address, route.way_out, deadlines, cancel)
    return lambda: dial(address, deadlines.tcp_s, cancel, route.way_out)


def _through(proxy: Proxy, address: Address, way_out: WayOut, deadlines: Deadlines, cancel: CancelToken) -> socket.socket:
    if proxy.user and proxy.password is None:  # an empty one would be one more that it refuses
        raise proxy_failed(address.host_port, proxy.host_port, "no_password", Text("no password was given", "未提供密码"))
    try:
        sock = dial(Address(proxy.host, proxy.port), deadlines.tcp_s, cancel, way_out)
    except ConnectFailed as error:
        if error.cause == OWN_NETWORK:
            raise
        raise proxy_failed(address.host_port, proxy.host_port, error.cause, error.why_text) from error
    try:
        lead_through(sock, proxy, address, deadlines.proxy_s, cancel)
    except BaseException:
        sock.close()
        raise
    return sock


def told_of_proxy(error: ConnectFailed, proxy: Proxy) -> ConnectFailed:
    """A failure of the first stop behind a proxy: who hangs up without a word, or talks no SSH, may be the proxy."""
    if error.phase is Phase.BANNER:
        if isinstance(error, HungUp) and error.silent:
            return proxy_hung_up(error.host_port, proxy.host_port)
        error.also(Text(f"through the proxy {proxy.host_port}", f"经由代理 {proxy.host_port}"))
    return error


def _tunnel(before: Passed, address: Address, seconds: float, cancel: CancelToken) -> paramiko.Channel:
    """A channel from the last jump host to the next address."""
    started = time.monotonic()
    go_alone(before.transport)
    take_back = cancel.on_cancel(partial(cut, before.transport))
    try:
        return before.transport.open_channel("direct-tcpip", (address.host, address.port), ("127.0.0.1", 0), timeout=seconds)
    except paramiko.ChannelException as error:
        raise tunnel_refused(address.host_port, before.host_port, error.text) from error
    except (paramiko.SSHException, EOFError, OSError) as error:
        cancel.check()
        if not before.transport.is_active():
            raise gone(before.transport, Phase.TCP, before.host_port) from error
        if time.monotonic() - started >= seconds:
            raise timed_out(Phase.TCP, address.host_port, seconds) from error
        raise tunnel_refused(address.host_port, before.host_port, str(error)) from error
    finally:
        take_back()


def hang_up_all(transports: Sequence[paramiko.Transport]) -> None:
    """Close connections that run through each other, the innermost (last) first."""
    for transport in reversed(transports):
        hang_up(transport)


def trusted(
    way: Way, host_port: str, trust: HostTrust, deadlines: Deadlines, cancel: CancelToken
) -> tuple[paramiko.Transport, HostKey, TrustedBy]:
    """A connection to a trusted host. For an unknown key the host's other key types are asked for, too.

    Certificates are asked for where an authority is known, as ssh does.
    """
    shown: list[HostKey] = []
    for types in _rounds(_asked(trust), shown):
        try:
            transport = _shake_patiently(way, host_port, types, deadlines, cancel, trust.wire)
        except ConnectFailed as error:
            if shown and error.cause == "no_common_algorithm":  # the host has no key of this type
                continue
            _say_what_is_left(error, trust)
            raise
        try:
            remote_key = transport.get_remote_server_key()
            if is_too_short(remote_key.asbytes(), trust.rsa_bits_least):
                raise short_host_key(host_port, remote_key.asbytes(), trust.rsa_bits_least)
            key, why = host_key_of(remote_key), _why_uncertified(host_port, remote_key, trust)
            if why:
                trust = replace(trust, notes=(*trust.notes, f"the host's certificate: {why}"))
            trusted_by = judge(host_port, key, trust, certified=why == "")
        except BaseException as error:
            hang_up(transport)
            if shown and isinstance(error, ConnectFailed) and error.cause == "host_key_too_short":  # it was asked for besides
                continue
            raise
        # In a user's own order ssh knows a host by the first key that it has; what was decided here is about one key.
        if trusted_by is not None and not (shown and trust.keeps_order and trusted_by not in _DECIDED_HERE):
            return transport, key, trusted_by
        hang_up(transport)
        shown.append(key)
    raise unknown(host_port, shown[0], tuple(shown[1:]), trust)


def _asked(trust: HostTrust) -> tuple[str, ...]:
    """The algorithms of host keys to ask for, as far as the config leaves them.

    A certificate of a revoked authority, or a revoked one, speaks against a host even where its bare key is known.
    """
    left = trust.algorithms or (*HOST_CERTIFICATES, *HOST_KEYS)
    if trust.keeps_order:
        return left
    bare = tuple(name for name in left if name in HOST_KEYS)
    speaks_against = bool(trust.revoked or trust.lists)
    wants_certificate = speaks_against or (bool(trust.authorities) and not trust.pins) or not bare
    certified = tuple(name for name in left if name not in HOST_KEYS) if wants_certificate else ()
    if trust.pins:
        return key_types(trust.pins, (*certified, *bare))
    return (*certified, *key_types(trust.expected, bare))


def _say_what_is_left(error: ConnectFailed, trust: HostTrust) -> None:
    """Where the host has some, but none of those that the config leaves, the option is named."""
    left = {
        "host key": ("HostKeyAlgorithms", trust.algorithms), "key exchange": ("KexAlgorithms", trust.wire.exchanges),
        "cipher": ("Ciphers", trust.wire.ciphers), "MAC": ("MACs", trust.wire.digests),
    }  # fmt: skip
    for what, (option, names) in left.items():
        if names and error.cause == "no_common_algorithm" and what in error.why:
            shown = ", ".join(names)
            error.also(Text(f"{option} leaves {shown}", f"{option} 只允许 {shown}"))
            error.next_text = Text("add one that the host has, or take the option out", "请加入主机支持的一种，或去掉该选项")
            return


def _why_uncertified(host_port: str, key: paramiko.PKey, trust: HostTrust) -> str | None:
    """Why the certificate that came with a key does not vouch for it, "" = it does; None without a certificate.

    Raises HostKeyRevoked for one that is revoked or of a revoked authority, and for a key or a certificate that a list revokes.
    """
    certificate = certificate_of(key)
    _refuse_listed(host_port, key, certificate, trust)
    if not certificate:
        return None
    signer, own = signer_of(certificate), certificate_key(certificate)
    for placed in trust.revoked:
        if placed.key == signer:
            raise authority_revoked(host_port, placed.key, placed.place)
        if placed.key == own:
            raise certificate_revoked(host_port, own, placed.place)
    authorities, revoked = ([placed.key for placed in keys] for keys in (trust.authorities, trust.revoked))
    return why_not(certificate, trust.principal, authorities, revoked, trust.ca_algorithms)


def _refuse_listed(host_port: str, key: paramiko.PKey, certificate: bytes, trust: HostTrust) -> None:
    said = fields_of(certificate) if certificate else None
    for listed in trust.lists:
        revoked = listed.revoked
        if revoked.has_key(key.asbytes()):
            raise HostKeyRevoked(host_port, host_key_of(key), listed.place)
        if said and revoked.has_key(said.authority):
            raise authority_revoked(host_port, signer_of(certificate) or host_key_of(key), listed.place)
        if said and revoked.has_certificate(said.authority, said.serial, said.name):
            raise certificate_revoked(host_port, certificate_key(certificate), listed.place)


def _rounds(offered: tuple[str, ...], shown: list[HostKey]) -> Iterator[tuple[str, ...]]:
    """All types first; then each family that has not been shown."""
    yield offered
    for family in ("ssh-ed25519", "ecdsa-sha2", "ssh-rsa"):
        if not any(key.kind.startswith(family) for key in shown):
            types = tuple(algorithm for algorithm in offered if kind_of(algorithm).startswith(family))
            if types:
                yield types


def _shake_patiently(
    way: Way, host_port: str, types: tuple[str, ...], deadlines: Deadlines, cancel: CancelToken, lists: WireLists
) -> paramiko.Transport:
    """Open the way and shake hands; a server that hangs up before its banner (full, starting) is asked again."""
    for attempt in range(_TRIES):
        try:
            return shake(way(), host_port, types, deadlines, cancel, lists)
        except ConnectFailed as error:
            if (error.phase, error.cause) != (Phase.BANNER, "hung_up") or attempt == _TRIES - 1:
                raise
        cancel.wait(0.2 * 2**attempt * random.uniform(0.5, 1.5))
        cancel.check()
    raise AssertionError("unreachable")
