"""What do we offer in a key exchange, and which keys come of it?

As the library does it, but what is the same on each connection of a fleet is worded once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, cast

import paramiko

from gpulease_gui.remote.algorithms import CURVE25519

_LIBRARY = cast("Any", paramiko.Transport)  # the stubs lack most of it
_KEX_INIT, _COOKIE_BYTES = b"\x14", 16
_NONE = ("none",)
_STRICT = "kex-strict-s-v00@openssh.com"
# Kept are the words of so many kinds of node, none of them longer than any server's.
_KINDS, _USUAL_BYTES = 32, 4096

# Which key exchanges, host keys, ciphers and digests are asked for, best first.
_Asked = tuple[tuple[str, ...], ...]


def _best(names: Iterable[str], good: str, bad: str = "sha1") -> tuple[str, ...]:
    """All names without `bad` in them, those with `good` first."""
    return tuple(sorted((name for name in names if bad not in name), key=lambda name: good not in name))


@lru_cache(maxsize=8)
def _offer(kex: tuple[str, ...], keys: tuple[str, ...], ciphers: tuple[str, ...], digests: tuple[str, ...]) -> bytes:
    """What a KEXINIT says after its cookie (RFC 4253, 7.1): nothing is compressed, no language, no guess."""
    message = paramiko.Message()
    asked = (*kex, "ext-info-c", "kex-strict-c-v00@openssh.com")
    for names in (asked, keys, ciphers, ciphers, digests, digests, _NONE, _NONE, (), ()):
        message.add_list(list(names))
    message.add_boolean(False)
    message.add_int(0)
    return message.asbytes()


@dataclass(frozen=True, slots=True)
class _Agreed:
    """The first of ours that the node has of each. Outwards and inwards; `used`: bytes of its KEXINIT that are hashed."""

    kex: str
    host_key: str
    ciphers: tuple[str, str]
    digests: tuple[str, str]
    strict: bool
    used: int


@lru_cache(maxsize=_KINDS)
def _agreed(said: bytes, asked: _Asked) -> _Agreed | None:
    """What a node's KEXINIT (after its cookie) and what we asked for come to; None where the library is to say what is wrong."""
    message = paramiko.Message(said)
    try:
        kex, keys, *both_ways = [message.get_list() for _ in range(10)]
    except UnicodeDecodeError:
        return None
    message.get_boolean()
    message.get_int()
    marks = [name for name in kex if name.startswith("kex-strict-")]
    wanted = (asked[0], asked[1], asked[2], asked[2], asked[3], asked[3], _NONE, _NONE)
    first = [next((name for name in ours if name in theirs), "") for ours, theirs in zip(wanted, (kex, keys, *both_ways), strict=False)]
    if not all(first) or marks not in ([], [_STRICT]):
        return None
    used = len(message.get_so_far())
    return _Agreed(first[0], first[1], (first[2], first[3]), (first[4], first[5]), bool(marks), used)


class Agreeing(paramiko.Transport):
    """The fast and safe algorithms first; md5, sha1, cbc and 3des not at all.

    P-256 before all: an OpenSSH node computes it in a fifth less of its own time for a whole login than Curve25519.
    """

    _kex_info: ClassVar[dict[str, Any]] = {**_LIBRARY._kex_info, CURVE25519[0]: _LIBRARY._kex_info[CURVE25519[1]]}
    _preferred_kex: tuple[str, ...] = _best(_best((CURVE25519[0], *_LIBRARY._preferred_kex), "curve25519"), "ecdh-sha2-nistp256")
    _preferred_ciphers: tuple[str, ...] = _best(_LIBRARY._preferred_ciphers, "gcm", "cbc")
    _preferred_macs: tuple[str, ...] = _best((name for name in _LIBRARY._preferred_macs if "sha2" in name), "etm")
    _start = b""
    _asked: _Asked = ()

    def _send_kex_init(self) -> None:
        """Say what we can do; from now on no message of the user's goes until there are new keys."""
        known: Any = self
        with known.clear_to_send_lock:
            known.clear_to_send.clear()
        known.in_kex = True
        self._asked = known.preferred_kex, known.preferred_keys, known.preferred_ciphers, known.preferred_macs
        offer = _offer(*self._asked)
        message = paramiko.Message()
        message.add_bytes(_KEX_INIT + os.urandom(_COOKIE_BYTES) + offer)
        known.local_kex_init = known._latest_kex_init = message.asbytes()
        known._send_message(message)

    def _parse_kex_init(self, m: paramiko.Message) -> None:
        """Choose; what was chosen of the same words before is chosen again. Raises IncompatiblePeer, SSHException."""
        known: Any = self
        said = m.asbytes()
        first = not known.initial_kex_done and known.advertise_strict_kex and len(said) <= _USUAL_BYTES
        agreed = _agreed(said[_COOKIE_BYTES:], self._asked) if first and self._asked else None
        if agreed is None or (agreed.strict and cast("Any", m).seqno):
            super()._parse_kex_init(m)  # type: ignore[misc]  # the stubs lack it
            return
        known.agreed_on_strict_kex = agreed.strict
        known.kex_engine, known.host_key_type = known._kex_info[agreed.kex](self), agreed.host_key
        known.local_cipher, known.remote_cipher = agreed.ciphers
        known.local_mac, known.remote_mac = agreed.digests
        known.local_compression = known.remote_compression = _NONE[0]
        known.remote_kex_init = _KEX_INIT + said[: _COOKIE_BYTES + agreed.used]

    def _set_K_H(self, k: int | bytes, h: bytes) -> None:
        """The secret and the hash of an exchange. All of its keys start with both."""
        known: Any = self
        super()._set_K_H(k, h)  # type: ignore[misc]  # the stubs lack it
        secret = paramiko.Message()
        known._add_K(secret)
        self._start = secret.asbytes() + h

    def _compute_key(self, id: str, nbytes: int) -> bytes:
        """One of the six keys of RFC 4253, 7.2. Raises SSHException for an exchange without a digest."""
        known: Any = self
        digest = getattr(known.kex_engine, "hash_algo", None)
        if digest is None or not self._start:
            raise paramiko.SSHException("a key exchange without a digest")
        key: bytes = digest(self._start + id.encode() + known.session_id).digest()
        while len(key) < nbytes:
            key += digest(self._start + key).digest()
        return key[:nbytes]
