"""Which keys and certificates does a list that ssh-keygen -k made (a KRL) revoke?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

# "SSHKRL", a line end and a zero: how every list starts (OpenSSH's PROTOCOL.krl).
MAGIC = b"SSHKRL\n\0"
_VERSION = 1
_CERTIFICATES, _KEYS, _SHA1, _SHA256, _EXTENSION = 1, 2, 3, 5, 255
_SERIALS, _RANGE, _BITMAP, _NAMES, _CERTIFICATE_EXTENSION = 0x20, 0x21, 0x22, 0x23, 0x39
_SERIAL_MAX = 2**64 - 1


@dataclass(frozen=True, slots=True)
class OfAuthority:
    """Certificates of one authority (its key as ssh sends it, b"" = of every one) that are revoked.

    By serial number: from and to, or a first number and a bit for each from there on; by the name in the certificate.
    """

    authority: bytes = b""
    serials: frozenset[int] = frozenset()
    ranges: tuple[tuple[int, int], ...] = ()
    bitmaps: tuple[tuple[int, int], ...] = ()
    names: frozenset[bytes] = frozenset()

    def has(self, serial: int, name: bytes) -> bool:
        """Whether it names a certificate. Serial 0 is none: authorities that don't count write it."""
        if name in self.names:
            return True
        if not serial:
            return False
        if serial in self.serials or any(first <= serial <= last for first, last in self.ranges):
            return True
        return any(serial >= first and bits >> (serial - first) & 1 for first, bits in self.bitmaps)


@dataclass(frozen=True, slots=True)
class RevocationList:
    """What one list revokes: digests of keys, and certificates by authority."""

    sha1: frozenset[bytes] = frozenset()
    sha256: frozenset[bytes] = frozenset()
    certificates: tuple[OfAuthority, ...] = ()

    def has_key(self, key: bytes) -> bool:
        """Whether it revokes a bare key, as ssh sends it."""
        # SHA-1 is what the list holds; a second key of one digest would be refused, never let in.
        return hashlib.sha256(key).digest() in self.sha256 or hashlib.sha1(key, usedforsecurity=False).digest() in self.sha1

    def has_certificate(self, authority: bytes, serial: int, name: bytes) -> bool:
        """Whether it revokes a certificate with this serial number and name, or its authority as a whole."""
        meant = (one for one in self.certificates if one.authority in (b"", authority))
        return self.has_key(authority) or any(one.has(serial, name) for one in meant)


class _Cut(ValueError):
    """The list ends, or goes on, where it should not."""


class _Reader:
    """Takes the parts of SSH's wire format off the front."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    @property
    def more(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        part = self._data[self._at : self._at + count]
        if len(part) != count:
            raise _Cut("it is cut off")
        self._at += count
        return part

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "big")

    def string(self) -> bytes:
        return self.take(self.number(4))

    def strings(self, size: int = 0) -> Iterator[bytes]:
        """All strings up to the end, each of `size` bytes (0 = of any)."""
        while self.more:
            one = self.string()
            if size and len(one) != size:
                raise _Cut("a digest has another size")
            yield one

    def end(self) -> None:
        if self.more:
            raise _Cut("a part is longer than it should be")


@lru_cache(maxsize=2)
def read_list(content: bytes) -> RevocationList:
    """The list in a file. Raises ValueError, which says why, for anything that is not known: no key may pass unread.

    Kept, as a fleet asks the same file for each of its nodes.
    """
    reader = _Reader(content)
    if reader.take(len(MAGIC)) != MAGIC or reader.number(4) != _VERSION:
        raise _Cut("it is no list of a version that is known")
    reader.take(24)  # its number, when it was made, flags
    reader.string(), reader.string()  # reserved, comment
    digests: dict[int, set[bytes]] = {_SHA1: set(), _SHA256: set()}
    certificates: list[OfAuthority] = []
    while reader.more:
        kind, part = reader.number(1), _Reader(reader.string())
        if kind == _CERTIFICATES:
            certificates.append(_of_authority(part))
        elif kind == _KEYS:
            digests[_SHA256].update(hashlib.sha256(key).digest() for key in part.strings())
        elif kind in digests:
            digests[kind].update(part.strings(20 if kind == _SHA1 else 32))
        else:
            _skip(kind == _EXTENSION, part)
    return RevocationList(frozenset(digests[_SHA1]), frozenset(digests[_SHA256]), tuple(certificates))


def _skip(known: bool, part: _Reader) -> None:
    """An extension that may be left out."""
    if not known:
        raise _Cut("it has a part that is not known")
    part.string()
    if part.number(1):
        raise _Cut("it asks for an extension that is not known")
    part.string()
    part.end()


def _of_authority(part: _Reader) -> OfAuthority:
    authority, _ = part.string(), part.string()
    if authority:
        _Reader(authority).string()
    serials: set[int] = set()
    names: set[bytes] = set()
    ranges: list[tuple[int, int]] = []
    bitmaps: list[tuple[int, int]] = []
    while part.more:
        kind, of = part.number(1), _Reader(part.string())
        if kind == _SERIALS:
            serials.update(_numbers(of))
        elif kind == _NAMES:
            names.update(of.strings())
        elif kind == _RANGE:
            ranges.append(_range(of))
        elif kind == _BITMAP:
            bitmaps.append(_bitmap(of))
        else:
            _skip(kind == _CERTIFICATE_EXTENSION, of)
    return OfAuthority(authority, frozenset(serials), tuple(ranges), tuple(bitmaps), frozenset(names))


def _numbers(part: _Reader) -> Iterator[int]:
    while part.more:
        serial = part.number(8)
        if not serial:
            raise _Cut("0 is no serial number")
        yield serial


def _range(part: _Reader) -> tuple[int, int]:
    first, last = part.number(8), part.number(8)
    part.end()
    if not 0 < first <= last:
        raise _Cut("a range of serial numbers is none")
    return first, last


def _bitmap(part: _Reader) -> tuple[int, int]:
    first, bits = part.number(8), part.string()
    part.end()
    if bits[:1] >= b"\x80" or first + 8 * len(bits.lstrip(b"\0")) - 8 > _SERIAL_MAX:
        raise _Cut("a bitmap of serial numbers is none")
    return first, int.from_bytes(bits, "big")
