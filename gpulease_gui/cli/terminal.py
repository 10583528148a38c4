"""How are single keys read from a terminal that shows none of them, and how does it get its own ways back?"""

from __future__ import annotations

import codecs
import contextlib
import os
import signal
import sys
from typing import Any

# How long reading one key waits for it.
LOOK_S = 0.1

if sys.platform == "win32":
    import msvcrt
    import time

    class Terminal:
        """The console. What was typed before is dropped."""

        def __init__(self, path: str) -> None:
            self.quiet()

        def quiet(self) -> None:
            """Drop what was typed until now; read in this way nothing is shown."""
            while msvcrt.kbhit():
                msvcrt.getwch()

        def key(self) -> str | None:
            """One character, or None where none was typed for a moment."""
            if not msvcrt.kbhit():
                time.sleep(LOOK_S)
                return None
            key = msvcrt.getwch()
            if key == "\x03":  # Ctrl+C, which read in this way interrupts nobody
                signal.raise_signal(signal.SIGINT)
                return None
            return key

        def show(self, words: str) -> None:
            """Put `words` on the screen."""
            for one in words.replace("\n", "\r\n"):
                msvcrt.putwch(one)

        def restore(self) -> None:
            """Drop what was typed until now."""
            self.quiet()

        def close(self) -> None:
            """As `restore`."""
            self.quiet()

else:
    import select
    import termios

    class Terminal:
        """The terminal of this process, which shows nothing of what is typed until it is closed. What was typed before is dropped, and what
        after. Raises OSError where there is none.
        """

        def __init__(self, path: str) -> None:
            self._fd = _opened(path)
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            try:
                self._before = _modes(self._fd)
                self.quiet()
            except OSError:
                os.close(self._fd)
                raise

        def quiet(self) -> None:
            """Show nothing of what is typed from now on, and drop what was. Raises OSError where the terminal is gone."""
            now = _modes(self._fd)
            if now[3] & termios.ECHO:  # else it is quiet already, and these are not the ways that it had
                self._before = _modes(self._fd)
            now[3] &= ~(termios.ECHO | termios.ICANON)
            now[6][termios.VMIN], now[6][termios.VTIME] = 0, 0
            _set(self._fd, now)

        def key(self) -> str | None:
            """One character, or None where none was typed for a moment; "" where the terminal is gone."""
            if not select.select([self._fd], [], [], LOOK_S)[0]:
                return None
            try:
                came = os.read(self._fd, 1)
            except OSError:  # the terminal was closed
                return ""
            if not came:  # Ctrl+Z took the key away between the two calls, or the terminal is gone
                return "" if self._is_gone() else None
            return self._decoder.decode(came) or None

        def _is_gone(self) -> bool:
            looks = select.poll()
            looks.register(self._fd, select.POLLIN)
            return any(what & (select.POLLHUP | select.POLLERR) for _, what in looks.poll(0))

        def show(self, words: str) -> None:
            """Put `words` on the screen."""
            with contextlib.suppress(OSError):  # reading tells of a terminal that is gone
                os.write(self._fd, words.encode("utf-8", "replace"))

        def restore(self) -> None:
            """Give the terminal its own ways back, and drop what was typed."""
            with contextlib.suppress(OSError):  # as above
                _set(self._fd, self._before)

        def close(self) -> None:
            """Restore it and let it go."""
            self.restore()
            os.close(self._fd)

    def _modes(fd: int) -> list[Any]:
        try:
            return termios.tcgetattr(fd)
        except termios.error as error:
            raise OSError(*error.args) from error

    def _set(fd: int, modes: list[Any]) -> None:
        try:
            termios.tcsetattr(fd, termios.TCSAFLUSH, modes)
        except termios.error as error:
            raise OSError(*error.args) from error

    def _opened(path: str) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_NOCTTY)
        except OSError:  # a process without a terminal of its own may have been given one as its input
            return os.open(os.ttyname(sys.stdin.fileno()), os.O_RDWR | os.O_NOCTTY)
