"""How do the same commands run on this computer?"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.transport import SLICE_S, Channel, Chunk, LineLost

_READ_BYTES = 256 * 1024
# The lifeline takes up to 2 s for commands that ignore TERM.
_END_SECONDS = 4.0


class NoShell(UserFacing):
    """This computer has no POSIX shell."""

    def __init__(self) -> None:
        super().__init__(
            Text("this computer can't run the checks", "本机无法执行检查"),
            Text("there is no POSIX shell (sh)", "没有 POSIX shell（sh）"),
            Text("check it over SSH from another computer, or run GPULease under Linux, macOS or WSL",
                 "请从另一台计算机通过 SSH 检查，或在 Linux、macOS 或 WSL 下运行 GPULease"),
        )


class LocalLine:
    """This computer as a node. Raises NoShell when there is no `sh`."""

    def __init__(self) -> None:
        shell = shutil.which("sh") if sys.platform != "win32" else None
        if shell is None:
            raise NoShell
        self._shell = shell
        self._lock = threading.Lock()
        self._channels: list[LocalChannel] = []
        self._open = True

    @property
    def name(self) -> str:
        """Which machine, as messages name it."""
        return "this computer"

    @property
    def alive(self) -> bool:
        """Whether commands can still be started."""
        return self._open

    @property
    def lost_at(self) -> Text:
        """Nothing lies between."""
        return NO_TEXT

    def open(self, exec_string: str) -> Channel:
        """Start `sh ...` or `python3 ...`, which is the Python that we run on.

        Raises LineLost after `close`, UserFacing when the system has no such program, or no room for a process.
        """
        program, *words = shlex.split(exec_string)
        with self._lock:
            if not self._open:
                raise LineLost(self.name)
            try:
                channel = LocalChannel([self._shell if program == "sh" else own_python(), *words])
            except OSError as error:
                raise UserFacing(Text("no command can be started on this computer", "无法在本机启动命令"), os_reason(error)) from error
            self._channels = [known for known in self._channels if not known.closed]
            self._channels.append(channel)
        return channel

    def close(self) -> None:
        """End everything that runs on this line; any number of times."""
        with self._lock:
            self._open = False
            channels, self._channels = self._channels, []
        for channel in channels:
            channel.close()


class LocalChannel:
    """One `sh` in a process group of its own."""

    def __init__(self, argv: list[str]) -> None:
        self._process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
        self._closing = threading.Lock()
        self.closed = False
        self._selector = selectors.DefaultSelector()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            self._selector.register(pipe, selectors.EVENT_READ)

    def write(self, data: bytes) -> None:
        """Send `data` to the command's stdin. Raises LineLost."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except (OSError, ValueError) as error:
            raise LineLost("this computer", "the shell ended") from error

    def end_input(self) -> None:
        """End the command's stdin. Never raises."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.close()

    def read(self, seconds: float = SLICE_S) -> Chunk:
        """What there is, after waiting up to `seconds` for something. Never raises."""
        parts = {self._process.stdout: b"", self._process.stderr: b""}
        try:
            for key, _ in self._selector.select(max(0.0, seconds)):
                data = os.read(key.fd, _READ_BYTES)
                parts[key.fileobj] = data  # type: ignore[index]
                if not data:
                    self._selector.unregister(key.fileobj)
            ended = not self._selector.get_map()
        except (OSError, ValueError, KeyError, TypeError):  # closed by another thread
            ended = True
        return Chunk(parts[self._process.stdout], parts[self._process.stderr], ended)

    def listen(self, take: Callable[[bytes, bytes], None], wake: Callable[[], None]) -> bool:
        """Never: who reads is the one who waits for the pipes."""
        return False

    def behind(self) -> bool:
        """Whether something waits in the pipes."""
        try:
            return bool(self._selector.select(0))
        except (OSError, ValueError, KeyError):  # closed by another thread
            return False

    def exit_status(self, seconds: float) -> int | None:
        """The exit code, waiting up to `seconds`; None if it is not known."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """End stdin, let the lifeline work, then kill what is left of the group."""
        with self._closing:
            if self.closed:
                return
            self.closed = True
            self.end_input()
            self._await_end()
            if sys.platform != "win32":  # there is no LocalLine
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._selector.close()
            for pipe in (self._process.stdout, self._process.stderr):
                assert pipe is not None
                pipe.close()

    def _await_end(self) -> None:
        """Wait for the end of the shell; its outputs are thrown away, so that it never waits for us."""
        deadline = time.monotonic() + _END_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            if self.read(SLICE_S).ended:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(max(0.0, deadline - time.monotonic()))
                return


def own_python() -> str:
    """The Python that runs this program; a frozen program has none of its own."""
    return "python3" if getattr(sys, "frozen", False) else sys.executable


def has_shell() -> bool:
    """Whether this computer can run the shell facts."""
    return os.name == "posix" and shutil.which("sh") is not None
