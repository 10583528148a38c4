"""Which failures are the world's fault, and what do they tell the user?"""

from __future__ import annotations


class UserFacing(Exception):
    """A failure with its cause outside the program.

    `what` failed on which target, `why` in one sentence, `next_step` says what the user can do.
    """

    def __init__(self, what: str, why: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next_step = next_step

    def __str__(self) -> str:
        return ". ".join(part.rstrip(".") for part in (self.what, self.why, self.next_step) if part)


class UsageError(UserFacing):
    """The caller asked for something that can't be: an unknown key, a wrong unit, an ambiguous name (exit 64)."""


class Unreadable(Exception):
    """An output that holds no reading.

    `code` is a reason code (see `domain.finding`), `reason` one English sentence, `next_step` what to do.
    `reading` is what the output still says, if anything.
    """

    def __init__(
        self, reason: str, *, code: str = "unreadable", next_step: str = "", reading: object | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.next_step = next_step
        self.reading = reading


class Cancelled(Exception):
    """The user ended the work; never a failure."""
