"""Which promises can be written down, and what values may they take?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.text import Text

TermValue = int | float | str | bool


class TermKind(StrEnum):
    """The kind decides the editor and what values are accepted."""

    GPU_MODEL = "gpu_model"
    COUNT = "count"
    NUMBER = "number"
    CHOICE = "choice"
    YES_NO = "yes_no"
    VERSION = "version"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Term:
    """One technical promise that a supplier can make. `checks` are the ids of the checks that verify it."""

    key: str
    kind: TermKind
    label: Text
    unit: str = ""
    better: str | None = None
    checks: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
