"""How do many bytes for a channel, or several messages, become packets that lie one behind the other?"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import paramiko

from gpulease_gui.remote.seals import Seals

_CHANNEL_DATA = 94
_TO, _COUNT = struct.Struct(">BI"), struct.Struct(">I")  # type and channel; bytes of data


class Several(paramiko.Message):
    """Messages that go together, as far as that is possible."""

    def __init__(self, messages: Sequence[paramiko.Message]) -> None:
        super().__init__()
        self.messages = messages


class Pieces(paramiko.Message):
    """Bytes for channel `number`, each copied once: cut into packets of `sizes`, that go together, as far as that is possible.

    `room` holds all packets, `scratch` one; both are used again for the next.
    """

    def __init__(self, number: int, data: memoryview, sizes: Sequence[int], room: memoryview, scratch: memoryview) -> None:
        super().__init__()
        self.number, self.data, self.sizes, self.room, self.scratch = number, data, sizes, room, scratch

    def sealed_by(self, seals: Seals) -> memoryview:
        """All packets."""
        return self.room[: seals.seal_into(self.room, self.scratch, _TO.pack(_CHANNEL_DATA, self.number), self.data, self.sizes)]

    @property
    def messages(self) -> Sequence[paramiko.Message]:
        """Each as one of the library's."""
        found, at = [], 0
        for size in self.sizes:
            found.append(paramiko.Message(_TO.pack(_CHANNEL_DATA, self.number) + _COUNT.pack(size) + self.data[at : at + size]))
            at += size
        return found
