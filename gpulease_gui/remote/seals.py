"""How is a packet under AES-GCM opened and sealed at a third of the library's cost?

The library asks the socket for each part of a packet and decides anew for each how it is sealed. Under AES-GCM, without
compression, all of that is known beforehand; where it is not so, or a seal does not fit, nothing is touched and the library
does it all.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from typing import Any

import paramiko
from cryptography.exceptions import InvalidTag
from paramiko.packet import Packetizer

_LENGTH, _HEAD = struct.Struct(">I"), struct.Struct(">IB")
_TAG_BYTES, _BLOCK_BYTES = 16, 16
AROUND_BYTES = 4 + _TAG_BYTES
_LEAST_BYTES, _MOST_BYTES = 4 + _BLOCK_BYTES + _TAG_BYTES, 48 * 1024
_LEAST_PADDING, _MOST_PADDING = 4, 19
_COUNTER = 0xFFFFFFFFFFFFFFFF
# What the library keeps to itself: without all of it, it does everything itself.
_NEEDED = frozenset(
    f"_Packetizer__{name}" for name in (
        "aead_in", "iv_in", "block_engine_in", "compress_engine_in", "sequence_number_in", "received_bytes", "received_packets",
        "aead_out", "iv_out", "block_engine_out", "compress_engine_out", "sequence_number_out", "sent_bytes", "sent_packets",
        "dump_packets", "remainder", "need_rekey", "write_lock",
    )
)  # fmt: skip


def known(packets: Packetizer) -> bool:
    """Whether the library keeps all that is needed here under the names that it has today."""
    return _NEEDED.issubset(vars(packets))


class Told(paramiko.Message):
    """A message that came: as the library's, its numbers read at once."""

    def get_int(self) -> int:
        """The next 32 bits; what is not there is zeros, as the library has it."""
        return int.from_bytes(self.packet.read(4).ljust(4, b"\0"), "big")


class Seals:
    """The seals of one connection. What comes is one thread's; what goes is that of who holds the library's lock."""

    def __init__(self, packets: Packetizer) -> None:
        self._packets: Any = packets
        self._held: dict[str, Any] = vars(packets)

    # -- what comes -------------------------------------------------------------------------------------------------------

    def usual_in(self) -> bool:
        """Whether what comes is as it is nearly always: AES-GCM, no compression, no new keys wanted."""
        held = self._held
        return bool(
            held["_Packetizer__aead_in"] and held["_Packetizer__compress_engine_in"] is None and not held["_Packetizer__need_rekey"]
            and not held["_Packetizer__remainder"] and not held["_Packetizer__dump_packets"]
        )  # fmt: skip

    def opened(self, ahead: bytes) -> bytes | None:
        """Of the packet that `ahead` begins with: padding length, type and content, padding; with `AROUND_BYTES` that is all of it.

        b"" if more of it has to come; None if it is for the library: not as usual, of an odd length, the one with which new keys are
        asked for, a seal that does not fit. What is opened has not come yet, as long as `came` does not say so.
        """
        if not self.usual_in():
            return None
        if len(ahead) < _LEAST_BYTES:
            return b""
        length = int.from_bytes(ahead[:4], "big")
        size, held, packets = length + AROUND_BYTES, self._held, self._packets
        if (
            not _BLOCK_BYTES <= length <= _MOST_BYTES
            or held["_Packetizer__received_bytes"] + size >= packets.REKEY_BYTES
            or held["_Packetizer__received_packets"] + 1 >= packets.REKEY_PACKETS
        ):
            return None
        if len(ahead) < size:
            return b""
        try:
            plain: bytes = held["_Packetizer__block_engine_in"].decrypt(held["_Packetizer__iv_in"], ahead[4:size], ahead[:4])
        except (InvalidTag, ValueError):
            return None
        return plain

    def came(self, size: int) -> int:
        """Note what the library notes of each packet; the packet's number."""
        held = self._held
        held["_Packetizer__iv_in"] = _next_nonce(held["_Packetizer__iv_in"])
        number: int = held["_Packetizer__sequence_number_in"]
        held["_Packetizer__sequence_number_in"] = (number + 1) & 0xFFFFFFFF
        held["_Packetizer__received_bytes"] += size
        held["_Packetizer__received_packets"] += 1
        return number

    # -- what goes --------------------------------------------------------------------------------------------------------

    def usual_out(self, size: int) -> bool:
        """Whether a message of that size goes as it does nearly always, and no new keys are asked for with it."""
        held, packets = self._held, self._packets
        return bool(
            held["_Packetizer__aead_out"] and held["_Packetizer__compress_engine_out"] is None
            and not held["_Packetizer__dump_packets"] and held["_Packetizer__sent_packets"] + 1 < packets.REKEY_PACKETS
            and held["_Packetizer__sent_bytes"] + size + 2 * _LEAST_BYTES < packets.REKEY_BYTES
        )  # fmt: skip

    def seal(self, payload: bytes) -> bytes:
        """The packet of a message, noted as the library notes it."""
        held, head = self._held, _head(len(payload))
        plain = head[4:] + payload + os.urandom(head[4])
        packet: bytes = head[:4] + held["_Packetizer__block_engine_out"].encrypt(
            held["_Packetizer__iv_out"], plain, head[:4]
        )
        self._went(len(packet), _next_nonce(held["_Packetizer__iv_out"]))
        return packet

    def seal_into(self, room: memoryview, scratch: memoryview, start: bytes, data: memoryview, sizes: Sequence[int]) -> int:
        """As `seal`, of messages of `start`, a length and so much of `data`, into `room`; how many bytes they have.

        `scratch` holds one packet. What packets of the same size have in common is made once.
        """
        engine, nonce = self._held["_Packetizer__block_engine_out"], self._held["_Packetizer__iv_out"]
        in_place = getattr(engine, "encrypt_into", None)  # not before cryptography 47
        padding, padded = os.urandom(_MOST_PADDING * len(sizes)), 0
        last = used = at = 0
        for size in sizes:
            if size != last:
                begin, last = len(start) + 5, size
                head = _head(begin - 1 + size)
                length, filled = head[:4], begin + size + head[4]
                scratch[:begin] = head[4:] + start + _LENGTH.pack(size)
                plain, piece, rest = scratch[:filled], scratch[begin : begin + size], scratch[begin + size : filled]
            piece[:] = data[at : at + size]
            rest[:] = padding[padded : padded + len(rest)]
            room[used : used + 4] = length
            end = used + 4 + filled + _TAG_BYTES
            if in_place is not None:
                in_place(nonce, plain, length, room[used + 4 : end])
            else:
                room[used + 4 : end] = engine.encrypt(nonce, plain, length)
            nonce, used, at, padded = _next_nonce(nonce), end, at + size, padded + _MOST_PADDING
        self._went(used, nonce, len(sizes))
        return used

    def _went(self, size: int, nonce: bytes, packets: int = 1) -> None:
        """Note what the library notes of each packet; the next one's nonce."""
        held = self._held
        held["_Packetizer__iv_out"] = nonce
        held["_Packetizer__sequence_number_out"] = (held["_Packetizer__sequence_number_out"] + packets) & 0xFFFFFFFF
        held["_Packetizer__sent_bytes"] += size
        held["_Packetizer__sent_packets"] += packets


def _head(length: int) -> bytes:
    """The length of a packet whose message has `length` bytes, and the length of its padding."""
    padding = _BLOCK_BYTES - (length + 1) % _BLOCK_BYTES
    padding += _BLOCK_BYTES if padding < _LEAST_PADDING else 0
    return _HEAD.pack(length + padding + 1, padding)


def _next_nonce(nonce: bytes) -> bytes:
    """RFC 5647, 7.1: its last eight bytes count the packets."""
    counted = int.from_bytes(nonce, "big") + 1
    return counted.to_bytes(12, "big") if counted & _COUNTER else nonce[:4] + bytes(8)
