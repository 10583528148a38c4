"""What is run on a node, and what came back?"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from enum import StrEnum


class Impact(StrEnum):
    """What a command does to the node: the last two ask first."""

    PASSIVE = "passive"
    ACTIVE = "active"
    DISRUPTIVE = "disruptive"


@dataclass(frozen=True, slots=True, init=False)
class Command:
    """A constant command: words, or a POSIX sh text that never filters errors away on the node.

    >>> Command("nvidia-smi", "topo", "-m").line
    'nvidia-smi topo -m'
    """

    argv: tuple[str, ...]
    script: str

    def __init__(self, *argv: str, script: str = "") -> None:
        object.__setattr__(self, "argv", argv)
        object.__setattr__(self, "script", script)

    @property
    def line(self) -> str:
        """The POSIX sh text that is sent to the node."""
        return self.script or shlex.join(self.argv)

    @property
    def tool(self) -> str:
        """The program that a missing-tool message names."""
        return self.argv[0] if self.argv else "sh"


@dataclass(frozen=True, slots=True)
class CommandOutput:
    """The raw bytes of one run of a command.

    `exit_code` is None when the end was not seen (line cut). 124 and 137 are the node's time-out, 126 denied,
    127 missing. `stdout_cut` says that only the head was kept.
    """

    stdout: bytes
    stderr: bytes = b""
    exit_code: int | None = 0
    seconds: float = 0.0
    stdout_cut: bool = False
    stderr_cut: bool = False

    @property
    def text(self) -> str:
        """Standard output as text: UTF-16 where its byte order mark says so (a redirect of PowerShell), else UTF-8.

        Bytes that are neither become replacement marks.
        """
        encoding = "utf-16" if self.stdout[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
        return self.stdout.decode(encoding, "replace")

    @property
    def error_text(self) -> str:
        """Standard error as text."""
        return self.stderr.decode("utf-8", "replace")
