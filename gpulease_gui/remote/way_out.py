"""From which of this computer's own addresses does a connection start?"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass

from gpulease_gui.remote.interfaces import addresses_of


class NoWayOut(OSError):
    """The socket can't start where it should."""


@dataclass(frozen=True, slots=True)
class WayOut:
    """As ssh has it: `family` inet or inet6 ("" = both), an own address, or else the address of an interface."""

    family: str = ""
    address: str = ""
    interface: str = ""

    @property
    def families(self) -> socket.AddressFamily:
        """What names are looked up for."""
        return {"inet": socket.AF_INET, "inet6": socket.AF_INET6}.get(self.family, socket.AF_UNSPEC)

    def bind(self, sock: socket.socket) -> None:
        """Let the socket start where this says. Raises NoWayOut with the reason in words."""
        try:
            if self.address:
                sock.bind(_of_name(self.address, sock.family))
            elif self.interface:
                sock.bind(_of_name(self._of_interface(sock.family), sock.family))
        except OSError as error:
            raise NoWayOut(f"{self}: {error.strerror or error}") from error

    def _of_interface(self, family: socket.AddressFamily) -> str:
        """One that others can answer to before one of this computer's or this cable's own."""
        found = [address for kind, address in addresses_of(self.interface) if kind == family]
        if not found:
            raise OSError("the interface is not up, or has no address of this kind")
        return next((one for one in found if not _near(one)), found[0])

    def __str__(self) -> str:
        return f"BindAddress {self.address}" if self.address else f"BindInterface {self.interface}"


ANY_WAY_OUT = WayOut()


def _of_name(address: str, family: socket.AddressFamily) -> tuple[str, int]:
    places = socket.getaddrinfo(address, 0, family, socket.SOCK_STREAM)
    return places[0][4]  # type: ignore[return-value]  # for IPv6 two numbers more, which bind takes


def _near(address: str) -> bool:
    known = ipaddress.ip_address(address)
    return known.is_loopback or (known.version == 6 and known.is_link_local)
