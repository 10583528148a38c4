"""How does a terminal ask for a secret? With one question at a time, however many nodes want one."""

from __future__ import annotations

import codecs
import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

# How often a question looks whether somebody still waits for its answer.
_LOOK_S = 0.1
_MOST_CHARACTERS = 4096
_ENTER, _BACK, _ALL_BACK, _INTERRUPT, _END = "\r\n", "\x7f\x08", "\x15", "\x03", "\x04\x1a"
_STALE = "What was typed until now goes nowhere. Press Enter, then answer.\n"

# One character, or None where none was typed for a moment; "" where the terminal is gone.
NextKey = Callable[[], str | None]
Show = Callable[[str], object]


class Desk:
    """Where the user sits. Any thread; who comes while another question stands there waits until it is answered."""

    def __init__(self, path: str = "/dev/tty") -> None:
        self._path = path
        self._one = threading.Lock()
        self._stale = False

    def ask(self, question: str, withdrawn: Callable[[], bool], *, shown: bool) -> str | None:
        """What is typed (`shown`: seen while it is), without the Enter. None: `withdrawn`, given up by Ctrl+D, or no terminal is there.

        An answer that is half typed when its question is withdrawn is not taken for that of the next one, which may be another
        machine's.
        """
        while not self._one.acquire(timeout=_LOOK_S):
            if withdrawn():
                return None
        try:
            if withdrawn():
                return None
            with _terminal(self._path) as (next_key, show):
                return self._answer(question, withdrawn, next_key, show, shown)
        except OSError:  # it was closed, or there never was one: nobody answers
            return None
        finally:
            self._one.release()

    def _answer(self, question: str, withdrawn: Callable[[], bool], next_key: NextKey, show: Show, shown: bool) -> str | None:
        if self._stale:
            show(_STALE)
            if _line(next_key, lambda words: None, withdrawn)[1] is not True:
                return None
            self._stale = False
        show(question)
        typed, done = _line(next_key, show if shown else lambda words: None, withdrawn)
        show("\n")
        if done is None:
            self._stale = bool(typed)
            show("(nobody waits for this answer any more)\n")
        return typed if done else None


DESK = Desk()


def _line(next_key: NextKey, echo: Show, withdrawn: Callable[[], bool]) -> tuple[str, bool | None]:
    """What was typed, and whether Enter ended it; False: given up; None: withdrawn."""
    typed = ""
    while not withdrawn():
        key = next_key()
        if key is None:
            continue
        if not key or (key in _END and not typed):
            return "", False
        if key in _ENTER:
            return typed, True
        if key in _BACK or key in _ALL_BACK:
            gone = len(typed) if key in _ALL_BACK else min(1, len(typed))
            typed = typed[: len(typed) - gone]
            echo("\b \b" * gone)
        elif key >= " " and len(typed) < _MOST_CHARACTERS:
            typed += key
            echo(key)
    return typed, None


if sys.platform == "win32":
    import msvcrt
    import time

    @contextlib.contextmanager
    def _terminal(path: str) -> Iterator[tuple[NextKey, Show]]:
        """The console. What was typed before is dropped."""

        def next_key() -> str | None:
            if not msvcrt.kbhit():
                time.sleep(_LOOK_S)
                return None
            key = msvcrt.getwch()
            if key == _INTERRUPT:  # read in this way it interrupts nobody
                signal.raise_signal(signal.SIGINT)
                return None
            return key

        def show(words: str) -> None:
            for one in words.replace("\n", "\r\n"):
                msvcrt.putwch(one)

        while msvcrt.kbhit():
            msvcrt.getwch()
        yield next_key, show

else:
    import select
    import termios

    @contextlib.contextmanager
    def _terminal(path: str) -> Iterator[tuple[NextKey, Show]]:
        """The terminal of this process, which shows nothing of what is typed. What was typed before is dropped, and what after."""
        fd = _opened(path)
        try:
            before, quiet = _modes(fd), _modes(fd)
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            quiet[6][termios.VMIN], quiet[6][termios.VTIME] = 1, 0
            decoder = codecs.getincrementaldecoder("utf-8")("replace")

            def next_key() -> str | None:
                if not select.select([fd], [], [], _LOOK_S)[0]:
                    return None
                try:
                    came = os.read(fd, 1)
                except OSError:  # the terminal was closed
                    return ""
                return (decoder.decode(came) or None) if came else ""

            def show(words: str) -> None:
                with contextlib.suppress(OSError):  # reading tells of a terminal that is gone
                    os.write(fd, words.encode("utf-8", "replace"))

            termios.tcsetattr(fd, termios.TCSAFLUSH, quiet)
            try:
                yield next_key, show
            finally:
                with contextlib.suppress(termios.error):  # as above
                    termios.tcsetattr(fd, termios.TCSAFLUSH, before)
        finally:
            os.close(fd)

    def _modes(fd: int) -> list[Any]:
        try:
            return termios.tcgetattr(fd)
        except termios.error as error:
            raise OSError(*error.args) from error

    def _opened(path: str) -> int:
        try:
            return os.open(path, os.O_RDWR | os.O_NOCTTY)
        except OSError:  # a process without a terminal of its own may have been given one as its input
            return os.open(os.ttyname(sys.stdin.fileno()), os.O_RDWR | os.O_NOCTTY)
