"""Which machine is meant, and how is it reached?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.text import Text

# What the record of this computer is called, in the language of who reads it, until the user gives it a name.
THIS_COMPUTER = Text("this computer", "本机")


class Reach(StrEnum):
    """How commands get to a node."""

    SSH = "ssh"
    LOCAL = "local"
    DEMO = "demo"


class AuthMethod(StrEnum):
    """The one way of logging in that is tried."""

    KEY = "key"
    AGENT = "agent"
    PASSWORD = "password"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a node answers. `host` without brackets."""

    host: str
    port: int = 22
    user: str = "root"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}"

    @property
    def host_port(self) -> str:
        """host:port, IPv6 in brackets."""
        return str(self).split("@", 1)[1]


@dataclass(frozen=True, slots=True)
class Node:
    """One rented machine. Its host key goes with the record to another address, and counts for other records of the same place.

    `jump` names jump hosts as `ssh -J` does; `proxy` is `socks5://host:port` or `http://host:port`; `known_hosts` are
    files of ssh that may vouch for its key, one a line ("" = ssh's own, "none" = no file). `ssh_options`: what an ssh
    config says of this computer's side (AddressFamily, IdentityAgent, HostKeyAlgorithms and the like), one option a line.
    """

    id: str
    name: str
    reach: Reach = Reach.SSH
    address: Address | None = None
    contract_id: str | None = None
    auth: AuthMethod = AuthMethod.KEY
    identity_file: str = ""
    demo_name: str = ""
    use_sudo: bool = True
    note: str = ""
    jump: str = ""
    proxy: str = ""
    certificate_file: str = ""
    host_key_alias: str = ""
    known_hosts: str = ""
    ssh_options: str = ""

    @property
    def target(self) -> str:
        """How the command line writes this node."""
        if self.reach is Reach.LOCAL:
            return "local"
        if self.reach is Reach.DEMO:
            return f"demo:{self.demo_name}"
        return str(self.address) if self.address else self.name


@dataclass(frozen=True, slots=True)
class HostKey:
    """A server's public key: type (such as ssh-ed25519) and `SHA256:...` as ssh prints it."""

    kind: str
    fingerprint: str
