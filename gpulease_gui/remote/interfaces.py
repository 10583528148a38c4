"""Which addresses does a network interface of this computer have?"""

from __future__ import annotations

import ctypes
import socket
import sys
from collections.abc import Iterator
from ctypes import POINTER, Structure, byref, c_char_p, c_ubyte, c_uint, c_void_p

_UP = 1


class _Entry(Structure):
    """The start of `struct ifaddrs`, which Linux and the BSDs have alike."""


_Next = POINTER(_Entry)
_Entry._fields_ = [
    ("next", _Next), ("name", c_char_p), ("flags", c_uint), ("address", POINTER(c_ubyte * 28)), ("mask", c_void_p),
]  # fmt: skip


def addresses_of(name: str) -> tuple[tuple[socket.AddressFamily, str], ...]:
    """Family and address of an interface that is up, `ADDRESS%NAME` for a link-local one; () for one that is not there.

    Raises OSError where the system has no list of them that we can read.
    """
    try:
        library = ctypes.CDLL(None, use_errno=True)
        get, free = library.getifaddrs, library.freeifaddrs
    except (AttributeError, TypeError, OSError) as error:
        raise OSError(0, "this system has no list of interfaces that can be read") from error
    free.argtypes = [_Next]
    first = _Next()
    if get(byref(first)) != 0:
        raise OSError(ctypes.get_errno(), "the list of interfaces can't be read")
    try:
        return tuple(_listed(first, name))
    finally:
        free(first)


def _listed(entry: ctypes._Pointer[_Entry], name: str) -> Iterator[tuple[socket.AddressFamily, str]]:
    while entry:
        one = entry.contents
        if one.name == name.encode() and one.flags & _UP and one.address:
            yield from _address(bytes(one.address.contents), name)
        entry = one.next


def _address(raw: bytes, name: str) -> Iterator[tuple[socket.AddressFamily, str]]:
    """A `sockaddr`: the BSDs have its length in front of the family."""
    family = int.from_bytes(raw[:2], sys.byteorder) if sys.platform == "linux" else raw[1]
    if family == socket.AF_INET:
        yield socket.AF_INET, socket.inet_ntop(socket.AF_INET, raw[4:8])
    elif family == socket.AF_INET6:
        local = raw[8] == 0xFE and raw[9] & 0xC0 == 0x80
        yield socket.AF_INET6, socket.inet_ntop(socket.AF_INET6, raw[8:24]) + (f"%{name}" if local else "")
