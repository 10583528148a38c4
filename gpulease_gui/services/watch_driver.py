"""Does the driver of a watched node answer, by what the source of its cards says and by how long it says nothing?

A source that says itself that it can't be read (a line with `!`) is believed as soon as a line of a card is missed: it speaks of all
cards, and some say it once and then nothing; but where cards are read on beside it, their readings count. A line that only can't be read is one odd line: it counts when nothing but such lines came for some
samples. A source that says nothing at all, while others of the node go on, hangs. Either way the cards are not read from the first
line on that was missed, though that shows only later.
"""

from __future__ import annotations

ODD_SAMPLES = 3
# A driver that wakes eight cards up may take half a minute; the agent itself speaks up after some seconds.
SILENT_S, SILENT_INTERVALS = 60.0, 4.0
SILENT = "nothing is heard of its cards any more"
# The agent's words, and those of nvidia-smi, where there is nothing to be driven.
NO_CARDS = ("no nvidia gpu on the node", "no devices were found")
NOT_INSTALLED = "is not installed"
# What the script of a node says whose nvidia-smi ended without another word; where no card was ever known that breaks no promise.
ENDED = "nvidia-smi ended"
# Before a line of nvidia-smi that is no row.
NO_ROW = "not a GPU sample: "
# Lines of one moment may come some time after each other.
_LATE_S = 1.0
_NEVER = float("inf")


def why_dead(before: str, said: str) -> str:
    """Why a source can't be read by what it said before, since it was read last, and now: that nvidia-smi ended says less than the
    line that it printed before.
    """
    printed = said.removeprefix(NO_ROW)
    if before == f"{ENDED} ({printed})" or (said == ENDED and before.startswith(f"{ENDED} (")):
        return before
    return f"{ENDED} ({before.removeprefix(NO_ROW)})" if said == ENDED and before.startswith(NO_ROW) else said


class Driver:
    """What one source of cards says, over its connections. Used by the watch's thread only; times are UTC seconds."""

    def __init__(self, interval_s: float) -> None:
        self._interval_s = interval_s
        self._word_s: float | None = None
        self._first_s: float | None = None
        self._read_s: float | None = None
        self._pause_s = 0.0
        self._odd_s, self._odds, self._odd_words = 0.0, 0, ""
        self._said = ""  # what the source said while cards were read

    @property
    def missed_s(self) -> float | None:
        """When the first line was missed: after the last one of a card, else after the first one of another source; None: not known."""
        before_s = self._first_s if self._read_s is None else self._read_s
        return None if before_s is None else before_s + max(self._interval_s, self._pause_s)

    def begin(self) -> None:
        """A connection begins, or one ended: what it did not say before is no silence."""
        self._word_s, self._odds, self._odd_words, self._said = None, 0, "", ""
        self._first_s, self._read_s, self._pause_s = None, None, 0.0

    def read(self, at_s: float) -> None:
        """A line of a card was read."""
        if self._read_s is not None and not self._odds and self._word_s == self._read_s and at_s > self._read_s:
            self._pause_s = at_s - self._read_s
        self._read_s = self._word_s = at_s
        self._odds, self._odd_words, self._said = 0, "", ""

    def trouble(self, words: str, at_s: float, *, said: bool, known: bool) -> bool:
        """A line brought no reading; whether the driver is dead by it. `said`: the source tells it of itself; `known`: cards
        were there. Of a node that never had any, a source that finds none says nothing of a driver.
        """
        self._word_s = _NEVER if said else at_s
        if not said:
            self._odd_s = self._odd_s if self._odds else at_s
            self._odds, self._odd_words = self._odds + 1, words
            if self._odds < ODD_SAMPLES or at_s - self._odd_s < (ODD_SAMPLES - 1.5) * self._interval_s:
                return False
        if NOT_INSTALLED in words or (words == ENDED and not known and not self._odds):
            return False
        whole = f"{self._odd_words} {words}".lower()
        is_dead = known or not any(one in whole for one in NO_CARDS)
        if said and is_dead and not self._is_missed(at_s):
            self._said = words
            return False
        return is_dead

    def silent(self, at_s: float) -> str:
        """Another source was read; why this one is dead by it: it said so and no card was read since, or it has said nothing for too long.
        "" = it is not.
        """
        if self._word_s is None:
            self._first_s = self._word_s = at_s
        if why := self.overdue(at_s):
            return why
        return SILENT if at_s - self._word_s >= max(SILENT_S, SILENT_INTERVALS * self._interval_s) else ""

    def overdue(self, at_s: float) -> str:
        """What the source said while its cards were read, if one was missed since; else ""."""
        return self._said if self._said and self._is_missed(at_s) else ""

    def _is_missed(self, at_s: float) -> bool:
        """Whether a line of a card should have come; of a source that told of none nothing is missed."""
        missed_s = None if self._read_s is None else self.missed_s
        return missed_s is None or at_s >= missed_s + min(_LATE_S, self._interval_s) / 2
