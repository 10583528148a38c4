"""How does a terminal ask for a secret? With one question at a time, however many nodes want one."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from time import monotonic
from types import FrameType
from typing import Any, TextIO, cast

from gpulease_gui.cli.terminal import LOOK_S, Terminal

MOST_CHARACTERS = 4096
# A question takes nothing before its colon stands: who sees it needs longer than that, what comes sooner began before it stood.
SETTLE_S = 0.5
# Who was interrupted in mid-word for so long has stopped typing.
_SILENCE_S = 1.0
# Nodes that want a secret at the same time are asked for in their order, not in that of their threads.
_GATHER_S = 0.2
# How long the end of the program waits for somebody who goes on typing.
_LAST_S = 10.0
_READY = ": "
# The line of the question: what is printed stands in its place.
_ERASE = "\r\x1b[K"
_ENTER, _BACK, _ALL_BACK, _END = "\r\n", "\x7f\x08", "\x15", "\x04\x1a"
_STALE = "What was typed until now goes nowhere. Press Enter, then answer.\n"
_TOO_LONG = f"That was longer than {MOST_CHARACTERS} characters and goes nowhere.\n"


class _End(Enum):
    """How the typing of an answer ended. `ANEW`: the program was stopped meanwhile and goes on; `LEFT`: withdrawn."""

    ENTERED, TOO_LONG, GIVEN_UP, LEFT, ANEW = range(5)


class Desk:
    """Where the user sits. Any thread; who comes while another question stands there waits until it is answered."""

    def __init__(self, path: str = "/dev/tty", settle_s: float = SETTLE_S) -> None:
        self._path, self._settle_s = path, settle_s
        self._free, self._screen = threading.Condition(), threading.RLock()
        self._busy = self._stale = self._anew = self._closed = False
        self._order: dict[str, int] = {}
        self._waiting: list[tuple[int, int]] = []
        self._numbers = itertools.count()
        self._at: Terminal | None = None
        self._standing = ""

    def in_order(self, names: Sequence[str]) -> None:
        """Whose question comes first where several wait."""
        self._order = {name: number for number, name in enumerate(names)}

    def ask(self, question: str, withdrawn: Callable[[], bool], *, shown: bool, who: str = "") -> str | None:
        """What is typed (`shown`: seen while it is), without the Enter. None: `withdrawn`, given up by Ctrl+D, or no terminal is there.

        `who`: one of those `in_order`. What is typed from before the question stood until a moment after it, and what is
        longer than MOST_CHARACTERS, is no answer. An answer that is half typed when its question is withdrawn is not shown
        either, and not taken for that of the next one, which may be another machine's.
        """

        def over() -> bool:
            return self._closed or withdrawn()

        if not self._comes(self._order.get(who, len(self._order)), over):
            return None
        try:
            with self._screen:
                self._at = terminal = Terminal(self._path)
            return self._answer(terminal, question, over, shown)
        except OSError:  # it was closed, or there never was one: nobody answers
            return None
        finally:
            self._standing = ""
            if self._at is None:
                self._goes()
            else:  # nobody who asks waits for the typist to be still
                threading.Thread(target=self._linger, args=(self._at,), name="terminal").start()

    @contextlib.contextmanager
    def attended(self) -> Iterator[None]:
        """While a command runs: the terminal has its own ways while the program is stopped, and after its end, however that comes."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main one hears signals
            return
        self._closed = False
        before, streams = (sys.stdout, sys.stderr), (_above(sys.stdout, self), _above(sys.stderr, self))
        sys.stdout, sys.stderr = streams
        ways = {"SIGTSTP": self._stop, "SIGCONT": self._go_on, "SIGTERM": self._die, "SIGHUP": self._die}
        numbers = {number: way for name, way in ways.items() if (number := getattr(signal, name, None)) is not None}
        # nohup ignores some; under a shell without job control nobody stops anything
        heard = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
        for number in heard:
            signal.signal(number, numbers[number])
        try:
            yield
        finally:
            self.close()
            for stream, own in zip(streams, before, strict=True):
                if stream is not own:
                    stream.flush()
            if (sys.stdout, sys.stderr) == streams:  # else somebody else put his own there
                sys.stdout, sys.stderr = before
            for number in heard:
                signal.signal(number, signal.SIG_DFL)

    def print_above(self, stream: TextIO, lines: str) -> None:
        """Write whole lines to a terminal; a question that stands is shown anew below them."""
        with self._screen:
            if not self._standing or self._at is None:  # nobody is asked
                stream.write(lines)
                return
            stream.write(f"{_ERASE}{lines}" if lines.endswith("\n") else f"{_ERASE}{lines}\n")
            stream.flush()
            self._at.show(self._standing)

    def close(self) -> None:
        """Withdraw all questions, and wait until the terminal has its own ways."""
        self._closed = True
        with self._free:
            self._free.wait_for(lambda: not self._busy, _LAST_S)
        with self._screen:
            if self._at is not None:
                self._at.restore()

    def _comes(self, rank: int, over: Callable[[], bool]) -> bool:
        me, since = (rank, next(self._numbers)), monotonic()
        with self._free:
            self._waiting.append(me)
            try:
                while not over():
                    if not self._busy and me == min(self._waiting) and (rank == 0 or monotonic() - since >= _GATHER_S):
                        self._busy = True
                        return True
                    self._free.wait(LOOK_S)
                return False
            finally:
                self._waiting.remove(me)

    def _goes(self) -> None:
        with self._free:
            self._busy = False
            self._free.notify_all()

    def _answer(self, terminal: Terminal, question: str, over: Callable[[], bool], shown: bool) -> str | None:
        while True:
            self._anew = False
            if not self._settles(terminal, question, over):
                return None
            typed, end = self._line(terminal, question, shown, over)
            if end is _End.ANEW:
                continue
            self._show(terminal, "\n", "")
            if end is _End.TOO_LONG:
                terminal.show(_TOO_LONG)
                continue
            if end is _End.LEFT:
                self._stale = bool(typed)
                terminal.show("(nobody waits for this answer any more)\n")
            return typed if end is _End.ENTERED else None

    def _settles(self, terminal: Terminal, question: str, over: Callable[[], bool]) -> bool:
        """Show the question, and drop what comes until nobody types; whether it can be answered then."""
        told = half = self._stale
        begins = question.removesuffix(_READY)
        self._show(terminal, *((_STALE, _STALE) if told else (begins, begins)))
        since = monotonic()
        while not over():
            key = terminal.key()
            if key is None:
                if not half and monotonic() - since >= self._settle_s:
                    self._stale = False
                    self._show(terminal, question if told else question[len(begins) :], question)
                    return True
                continue
            if not key:
                return False
            since, half = monotonic(), key not in _ENTER
            self._stale = half
            if not told:
                self._show(terminal, f"\n{_STALE}", _STALE)
                told = True
        self._show(terminal, "\n", "")
        return False

    def _show(self, terminal: Terminal, words: str, standing: str) -> None:
        """Put `words` on the screen, after which `standing` is what may not be scrolled away."""
        with self._screen:
            terminal.show(words)
            self._standing = standing

    def _line(self, terminal: Terminal, question: str, shown: bool, over: Callable[[], bool]) -> tuple[str, _End]:
        """What was typed until it ended."""

        def echo(words: str) -> None:
            if shown:
                self._show(terminal, words, f"{question}{typed}")

        typed, too_long = "", False
        while not over():
            key = terminal.key()
            if self._anew:
                return "", _End.ANEW
            if key is None:
                continue
            if not key or (key in _END and not typed):
                return "", _End.GIVEN_UP
            if key in _ENTER:
                return typed, _End.TOO_LONG if too_long else _End.ENTERED
            if key in _BACK or key in _ALL_BACK:
                too_long &= key not in _ALL_BACK
                gone = len(typed) if key in _ALL_BACK else min(1, len(typed))
                typed = typed[: len(typed) - gone]
                echo("\b \b" * gone)
            elif len(typed) == MOST_CHARACTERS:
                too_long = True
            elif key >= " " or key == "\t":
                typed += key
                echo(" " if key == "\t" else key)
        return typed, _End.LEFT

    def _linger(self, terminal: Terminal) -> None:
        """Eat what is still typed, unseen, until an Enter or a silence; the next question goes on with that."""
        since = monotonic()
        try:
            while not self._waiting or self._stale or self._closed:  # who types on is not seen while the next one comes
                key = terminal.key()
                if key == "" or (key is None and monotonic() - since >= (_SILENCE_S if self._stale else self._settle_s)):
                    break
                if key is not None:
                    since, self._stale = monotonic(), key not in _ENTER
        finally:
            with self._screen:
                self._at = None
                terminal.close()
            self._goes()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        with self._screen:
            if self._at is not None:
                self._at.restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # here it stands still until somebody lets it go on
        signal.signal(number, self._stop)

    def _go_on(self, number: int, frame: FrameType | None) -> None:
        with self._screen, contextlib.suppress(OSError):
            if self._at is not None:
                self._at.quiet()
                self._anew = True

    def _die(self, number: int, frame: FrameType | None) -> None:
        with self._screen:
            if self._at is not None:
                self._at.restore()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)


class _Above:
    """A stream of a terminal. What threads print comes in whole lines, above the question that stands."""

    def __init__(self, stream: TextIO, desk: Desk) -> None:
        self._stream, self._desk, self._mine = stream, desk, threading.local()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, words: str) -> int:
        """Take `words`; they are written once their line is whole."""
        lines, end, rest = f"{getattr(self._mine, 'held', '')}{words}".rpartition("\n")
        self._mine.held = rest
        if end:
            self._desk.print_above(self._stream, f"{lines}{end}")
        return len(words)

    def flush(self) -> None:
        """Write a line that is not whole, too."""
        held, self._mine.held = getattr(self._mine, "held", ""), ""
        if held:
            self._desk.print_above(self._stream, held)
        self._stream.flush()


def _above(stream: TextIO, desk: Desk) -> TextIO:
    return cast("TextIO", _Above(stream, desk)) if stream is not None and stream.isatty() else stream


DESK = Desk()
