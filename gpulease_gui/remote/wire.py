"""What does the SSH library do for each connection, without what nobody asked for?

It words a log that nobody reads and starts a thread that only watches the clock of the handshake; on a fleet both are paid
for with every node. And it takes a packet's word for its length.
"""

from __future__ import annotations

import socket
import time

import paramiko
from paramiko.packet import Packetizer

# As OpenSSH has it: no peer makes us keep more than this for one packet.
PACKET_MAX_BYTES = 256 * 1024
# A server may say something before its version; so much of it is read at most, and so much kept to be shown.
_GREETING_MAX_BYTES = 64 * 1024
_SAID_BYTES = 512


class Packets(Packetizer):
    """The packets of one connection: bounded, and without a thread that watches their clock."""

    def __init__(self, sock: socket.socket | paramiko.Channel) -> None:
        super().__init__(sock)  # type: ignore[arg-type]  # the stubs know no channels
        self._deadline: float | None = None
        self._patience_s = 0.0
        self._greeting_bytes = 0
        self.said = b""

    def _read_timeout(self, timeout: float) -> bytes:
        """What comes next of the greeting; its start stays in `said`. Raises TimeoutError, EOFError, OSError, SSHException.

        The library gives each line but the first 2 s; a gateway that says whom it calls may need as long as for the first.
        """
        self._patience_s = max(self._patience_s, timeout)
        came: bytes = super()._read_timeout(self._patience_s)  # type: ignore[misc]  # the stubs lack it
        self._greeting_bytes += len(came)
        self.said += came[: _SAID_BYTES - len(self.said)]
        if self.said.startswith(b"HTTP/") or self._greeting_bytes > _GREETING_MAX_BYTES:
            raise paramiko.SSHException("no SSH server greets so")
        return came

    def start_handshake(self, timeout: float) -> None:
        """Seconds until reading gives the handshake up."""
        self._deadline = time.monotonic() + timeout

    def handshake_timed_out(self) -> bool:
        """Whether that time is over."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def complete_handshake(self) -> None:
        """The handshake is done, or of no interest any more."""
        self._deadline = None

    def read_all(self, n: int, check_rekey: bool = False) -> bytes:
        """The next `n` bytes. Raises EOFError, OSError, SSHException for a packet that no peer has a reason to send."""
        if not 0 <= n <= PACKET_MAX_BYTES:
            raise paramiko.SSHException(f"a packet of {n} bytes")
        return super().read_all(n, check_rekey)


class Wire(paramiko.Transport):
    """One connection: the library's, on packets of our own, with nothing worded for a log."""

    def __init__(self, sock: socket.socket | paramiko.Channel) -> None:
        super().__init__(sock, packetizer_class=Packets)

    @property
    def said(self) -> bytes:
        """The first bytes that came, as far as they were read as a greeting; foreign."""
        return self.packetizer.said if isinstance(self.packetizer, Packets) else b""

    def _filter_algorithm(self, type_: str) -> tuple[str, ...]:
        """All that are preferred: none is switched off besides."""
        return tuple(getattr(self, f"_preferred_{type_}"))

    def _log(self, level: int, msg: object, *args: object) -> None:
        """Every failure is told by our own errors."""

    def _parse_debug(self, m: paramiko.Message) -> None:
        """Words of the node for its own maintainers."""
