"""When did it happen?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime


def utc_now() -> datetime:
    """This moment in UTC, with its zone."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clocks:
    """One moment on our clock (UTC) and, if the node said it, on the node's (UTC)."""

    ours: datetime
    node: datetime | None = None

    @property
    def offset_s(self) -> float | None:
        """Node minus ours, in seconds; None if the node's clock was not read."""
        return (self.node - self.ours).total_seconds() if self.node else None
