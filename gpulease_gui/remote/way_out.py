"""From which of this computer's own addresses does a connection start, and has it a network to start on?"""

from __future__ import annotations

import errno
import ipaddress
import socket
from dataclasses import dataclass

from gpulease_gui.domain.text import Text
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.interfaces import addresses_of

_NO_WAY = frozenset({errno.ENETUNREACH, errno.ENETDOWN, errno.EADDRNOTAVAIL})
# Of nobody, and reached as the rest of the world is.
_SOMEWHERE = ("192.0.2.1", "2001:db8::1")
OWN_NETWORK = "own_network"


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


def has_way(host: str, port: int) -> bool:
    """Whether this computer's own routes lead towards `host`: nothing is sent, and who is there is not asked.

    A name that no name server answers for is no way either; one that they do not know is no trouble of the network.
    """
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except socket.gaierror as error:
        return error.errno != socket.EAI_AGAIN
    except (OSError, UnicodeError):
        return True
    return any(_routed(family, place) for family, _, _, _, place in places)


def _routed(family: int, place: object) -> bool:
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        return sock.connect_ex(place) not in _NO_WAY  # type: ignore[arg-type]


def of_own_network(phase: Phase, host_port: str, host: str, failed: OSError) -> ConnectFailed | None:
    """A call of `host` that failed because this computer has no network, told as that; None: it failed for something else."""
    if isinstance(failed, socket.gaierror):  # a name server that is silent may be at fault itself
        ours = failed.errno == socket.EAI_AGAIN and not any(has_way(place, 1) for place in _SOMEWHERE)
    else:
        ours = failed.errno in _NO_WAY and not has_way(host, 1)
    if not ours:
        return None
    return ConnectFailed(
        phase, host_port, OWN_NETWORK, Text("this computer has no network", "本机无网络"),
        Text("check the network of this computer and try again", "请检查本机网络并重试"),
    )  # fmt: skip


def _of_name(address: str, family: socket.AddressFamily) -> tuple[str, int]:
    places = socket.getaddrinfo(address, 0, family, socket.SOCK_STREAM)
    return places[0][4]  # type: ignore[return-value]  # for IPv6 two numbers more, which bind takes


def _near(address: str) -> bool:
    known = ipaddress.ip_address(address)
    return known.is_loopback or (known.version == 6 and known.is_link_local)
