"""What do the %-tokens of an ssh config stand for, which `ssh -G` leaves as they are?"""

from __future__ import annotations

import getpass
import hashlib
import os
import re
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.text import Text

_JUMP_TOKENS = "%hnpr"


class TokenUnknown(UsageError):
    """A %-token or a variable that can't be filled in. `words`: those of the config in which it stands."""

    def __init__(self, words: str, token: str) -> None:
        super().__init__(
            Text(f"{words!r} of the ssh config has {token}", f"ssh 配置中的 {words!r} 含有 {token}"),
            Text("this token can't be filled in", "无法展开该占位符"), Text("write the name out", "请写出完整名称"),
        )  # fmt: skip
        self.words = words


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of one host: `name` as it was asked for, `key_alias` its HostKeyAlias, `jump_host` the last one before it."""

    address: Address
    name: str = ""
    key_alias: str = ""
    jump_host: str = ""

    def fill(self, path: str) -> str:
        """The path of a file with `~`, %-tokens and ${VAR} filled in. Raises TokenUnknown for one that can't be."""

        def variable(match: re.Match[str]) -> str:
            if match[1] not in os.environ:  # ssh ends there, too
                raise TokenUnknown(path, match[0])
            return os.environ[match[1]]

        filled = re.sub(r"\$\{(\w+)\}", variable, self._filled(path, "".join(self._known())))
        if filled.startswith("~/"):
            return str(Path.home()) + filled[1:]
        return os.path.expanduser(filled)

    def fill_signs(self, words: str) -> str:
        """The %-tokens of a file's name only: the rest is filled in when it is used."""
        return self._filled(words, "".join(self._known()))

    def fill_jump(self, jump: str) -> str:
        """The same of ProxyJump, which has fewer tokens."""
        return self._filled(jump, _JUMP_TOKENS)

    def _filled(self, text: str, allowed: str) -> str:
        known = self._known()

        def one(match: re.Match[str]) -> str:
            if match[1] not in allowed or match[1] == "":
                raise TokenUnknown(text, match[0])
            return known[match[1]]()

        return re.sub(r"(?s)%(.?)", one, text)

    def _known(self) -> Mapping[str, Callable[[], str]]:
        """`%i` only where users have numbers. `%C` is not the same in all ssh clients where there is a jump host."""
        address, machine = self.address, socket.gethostname
        known: dict[str, Callable[[], str]] = {
            "%": lambda: "%", "d": lambda: str(Path.home()), "h": lambda: address.host, "j": lambda: self.jump_host,
            "k": lambda: self.key_alias or self.name, "L": lambda: machine().split(".")[0], "l": machine,
            "n": lambda: self.name, "p": lambda: str(address.port), "r": lambda: address.user, "u": getpass.getuser,
        }  # fmt: skip
        if sys.platform != "win32":
            known["i"] = lambda: str(os.getuid())
        if not self.jump_host:
            known["C"] = self._connection
        return known

    def _connection(self) -> str:
        words = f"{socket.gethostname()}{self.address.host}{self.address.port}{self.address.user}"
        return hashlib.sha1(words.encode(), usedforsecurity=False).hexdigest()
