"""How is a training log read piece by piece, whatever its length?"""

from __future__ import annotations

import re

from gpulease_gui.domain.task import TaskPoint
from gpulease_gui.facts.train_curve import Curve
from gpulease_gui.facts.train_faults import FaultKind, Faults
from gpulease_gui.facts.train_forms import FORMS
from gpulease_gui.facts.train_forms.form import Form, StepLine
from gpulease_gui.facts.train_pattern import own_form

LONGEST_LINE = 2000
# Written into a log by who followed it, where another file begins; a line that it ends is torn there.
REPLACED, SHORTENED = " [another file of this name begins here]", " [the file was cut short and begins anew here]"
_ANEW = (REPLACED, SHORTENED)
_DECIDED = 40  # a form with so many lines ahead of the others is the trainer's
_COLOUR = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_RANK = re.compile(r"\[(?:rank|default)(\d{1,5})\]: ?")  # as torchrun and PyTorch write it before what a process prints


def plain_line(line: str, *, ranks: bool = True) -> tuple[str, str]:
    """(rank, the line without colours and rank): of several processes that tell the same steps the first one counts."""
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    found = _RANK.match(line) if ranks and line.startswith("[") else None
    return (found[1], line[found.end() :]) if found else ("", line)


class LogReader:
    """Feed it text as it comes; lines may be broken anywhere. Memory does not grow with the log."""

    def __init__(self, pattern: str = "") -> None:
        """`pattern`: the user's own in place of the known forms. Raises UsageError."""
        forms = (own_form(pattern),) if pattern else FORMS
        self._curves: dict[str, tuple[Form, Curve]] = {form.name: (form, Curve()) for form in forms}
        self._own = bool(pattern)
        self._rank: str | None = None
        self.faults = Faults()
        self.lines = 0
        self.cut_lines = 0
        self._held = ""
        self._dull = ""
        self._at_s: float | None = None
        self._dropping = False
        self._returned = False  # the piece before ended in a carriage return, whose line feed may come now

    def feed(self, piece: str, at_s: float | None = None) -> None:
        """The next piece, that came `at_s` after the start. A bare carriage return ends a line, too, as progress bars write it."""
        self._at_s = at_s
        if piece and self._returned:
            piece = piece.removeprefix("\n")
        self._returned = piece.endswith("\r") or (self._returned and not piece)
        lines = (self._held + piece).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._held = lines.pop()
        for line in lines:
            self._line(line)
        if len(self._held) > LONGEST_LINE:
            if not self._dropping:
                self._line(self._held)
                self.lines -= 1  # its end is still to come
            self._held, self._dropping = "", True

    def skip(self) -> None:
        """Some of the log is left out here: what was begun of a line is told no more."""
        self._held, self._dropping, self._returned = "", True, False

    def close(self) -> None:
        """The log is over. A last line without an end may be torn inside a number: only words of trouble count in it."""
        if self._held and not self._dropping:
            self.lines += 1
            self.faults.look(self.lines, self._held[:LONGEST_LINE])
        self._held = ""

    def _torn(self, line: str) -> None:
        """Where another file begins: what was begun of a line counts as in `close`, and the words alone are no line of the log."""
        begun = next(line.removesuffix(words) for words in _ANEW if line.endswith(words))
        if begun:
            self.faults.look(self.lines, begun[:LONGEST_LINE])
        else:
            self.lines -= 1

    def _line(self, line: str) -> None:
        self.lines += 1
        if self._dropping:
            self._dropping = False
            return
        if line.endswith(_ANEW):
            self._torn(line)
            return
        # What said nothing says nothing when it is repeated; a log may hold a million such lines.
        if line == self._dull or not line or line.isspace():
            return
        if len(line) > LONGEST_LINE:
            self.cut_lines += 1
            line = line[:LONGEST_LINE]
        if not self._progress(line) and not self.faults.look(self.lines, line):
            self._dull = line

    def _progress(self, line: str) -> bool:
        """Let each form still in question read the line."""
        known, (rank, line) = False, plain_line(line, ranks=not self._own)
        for form, curve in tuple(self._curves.values()):
            told = form.read(line)
            if told is not None:
                known = True
                self._rank = rank if self._rank is None else self._rank
                if rank in ("", self._rank):
                    self._take(curve, told, line)
        if known and len(self._curves) > 1:
            self._decide()
        return known

    def _take(self, curve: Curve, told: StepLine, line: str) -> None:
        if told.counts:
            curve.step(told.step, told.loss)
        for unit, rate in told.speeds:
            curve.speed(unit, rate, told.of)
        if told.counts or told.speeds:
            curve.point(TaskPoint(self._at_s, told.step, told.loss, tuple((str(unit), rate) for unit, rate in told.speeds)))
        curve.lines += 1
        if told.bad_loss:
            self.faults.add(FaultKind.NAN_LOSS, self.lines, line)

    def _decide(self) -> None:
        ordered = sorted((curve.lines for _, curve in self._curves.values()), reverse=True)
        if ordered[0] - ordered[1] >= _DECIDED:
            best = self._best
            self._curves = {best[0].name: best}

    @property
    def _best(self) -> tuple[Form, Curve]:
        return max(self._curves.values(), key=lambda one: (one[1].lines, -one[0].rank))

    @property
    def form(self) -> str:
        """The trainer whose lines were found; empty if none were."""
        form, curve = self._best
        return form.name if curve.lines else ""

    @property
    def curve(self) -> Curve:
        """What its lines say so far."""
        return self._best[1]
