"""Is this host key the one that we trust?"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

import paramiko

from gpulease_gui.domain.node import HostKey
from gpulease_gui.remote.algorithms import WireLists
from gpulease_gui.remote.failures import HostKeyChanged, HostKeyRevoked, UnknownHostKey
from gpulease_gui.remote.revocation import RevocationList

_SHA256 = re.compile(r"(?<![A-Za-z0-9+/])(?:SHA256:)?([A-Za-z0-9+/]{43})=?(?![A-Za-z0-9+/=])")


class TrustedBy(StrEnum):
    """Why a host key was trusted."""

    PIN = "pin"
    FINGERPRINT = "fingerprint"
    USER_FILE = "user_file"
    AUTHORITY = "authority"


@dataclass(frozen=True, slots=True)
class PlacedKey:
    """A key that a file of the user's ssh names for the host. `place`: path and line."""

    key: HostKey
    place: str


@dataclass(frozen=True, slots=True)
class PlacedList:
    """A list of ssh-keygen -k. `place`: its path."""

    revoked: RevocationList
    place: str


@dataclass(frozen=True, slots=True)
class HostTrust:
    """What we know of a host: pinned keys, and fingerprints (`SHA256:...`) that the user or the supplier gave.

    A given fingerprint speaks for a new host or a new type of key, never against a pin of the same type.
    `listed` keys of the user's own ssh count only while nothing is pinned; `revoked` ones refuse in any case.
    `notes`: lines of those files that could not be used. `authorities` sign certificates of the host `principal`; they
    count, too, only while nothing is pinned. `lists` of revoked keys and certificates refuse in any case. `algorithms` of
    host keys and those that an authority may sign with: () = all of ours. `wire`: what the connection may agree on besides.
    `keeps_order`: `algorithms` are asked for as they stand, else those of known keys first. A shorter RSA key than
    `rsa_bits_least` is no host's.
    """

    pins: tuple[HostKey, ...] = ()
    fingerprints: tuple[str, ...] = ()
    listed: tuple[PlacedKey, ...] = ()
    revoked: tuple[PlacedKey, ...] = ()
    notes: tuple[str, ...] = ()
    authorities: tuple[PlacedKey, ...] = ()
    principal: str = ""
    lists: tuple[PlacedList, ...] = ()
    algorithms: tuple[str, ...] = ()
    ca_algorithms: tuple[str, ...] = ()
    wire: WireLists = WireLists()
    keeps_order: bool = False
    rsa_bits_least: int = 0

    @property
    def expected(self) -> tuple[HostKey, ...]:
        """The keys that the host should show."""
        return self.pins or tuple(placed.key for placed in self.listed)


def host_key_of(key: paramiko.PKey) -> HostKey:
    """Type and `SHA256:...` of a key, as ssh prints them (base64 without padding)."""
    digest = hashlib.sha256(key.asbytes()).digest()
    return HostKey(key.get_name(), "SHA256:" + base64.b64encode(digest).decode().rstrip("="))


def fingerprints_in(text: str) -> tuple[str, ...]:
    """All SHA256 fingerprints in what a user pasted (a line of ssh-keygen -l, with or without SHA256: and padding)."""
    return tuple(dict.fromkeys(f"SHA256:{match}" for match in _SHA256.findall(text)))


def key_types(pins: tuple[HostKey, ...], offered: tuple[str, ...]) -> tuple[str, ...]:
    """The algorithms to ask for, those of pinned keys and their certificates first, so that a known key is shown again."""
    kinds = {pin.kind for pin in pins}
    return tuple(sorted(offered, key=lambda algorithm: kind_of(algorithm) not in kinds))


def kind_of(algorithm: str) -> str:
    """The key type of a signature algorithm: rsa-sha2-256 and rsa-sha2-512 sign with a key of type ssh-rsa."""
    return "ssh-rsa" if algorithm.startswith("rsa-sha2-") else algorithm.removesuffix("-cert-v01@openssh.com")


def judge(host_port: str, key: HostKey, trust: HostTrust, *, certified: bool = False) -> TrustedBy | None:
    """Why `key` is trusted; None when nothing speaks for or against it. Raises HostKeyChanged, HostKeyRevoked.

    `certified`: an authority of `trust` vouches for the key.
    """
    for placed in trust.revoked:
        if placed.key == key:
            raise HostKeyRevoked(host_port, key, placed.place)
    if key in trust.pins:
        return TrustedBy.PIN
    same_kind = [pin for pin in trust.pins if pin.kind == key.kind]
    if same_kind:
        raise HostKeyChanged(host_port, same_kind[0], key)
    if key.fingerprint in trust.fingerprints:
        return TrustedBy.FINGERPRINT
    if trust.pins:
        return None
    return TrustedBy.AUTHORITY if certified else _listed(host_port, key, trust)


def _listed(host_port: str, key: HostKey, trust: HostTrust) -> TrustedBy | None:
    same_kind = [placed for placed in trust.listed if placed.key.kind == key.kind]
    if any(placed.key == key for placed in same_kind):
        return TrustedBy.USER_FILE
    if same_kind:
        raise HostKeyChanged(host_port, same_kind[0].key, key, same_kind[0].place)
    return None


def unknown(host_port: str, key: HostKey, others: tuple[HostKey, ...], trust: HostTrust) -> UnknownHostKey:
    """The refusal of a key that nothing speaks for."""
    return UnknownHostKey(host_port, key, others, trust.expected, trust.fingerprints, trust.notes)


