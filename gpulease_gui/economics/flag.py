"""What is a red flag, and which does an offer raise?"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.offer_facts import OfferFacts, Reference


class FlagSeverity(StrEnum):
    """Whether it can cost much money or the purpose, or is only worth a question."""

    SERIOUS = "serious"
    NOTABLE = "notable"


class FlagState(StrEnum):
    """Seen in the offer, or not to be told from it: then it is a question to the supplier."""

    RAISED = "raised"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class RedFlag:
    """One thing that buyers are caught by. `about` is the field, promise or line of the comparison that it speaks of."""

    id: str
    title: Text
    severity: FlagSeverity
    about: str = ""


@dataclass(frozen=True, slots=True)
class Flagged:
    """Why a flag is up, or why nothing can be said."""

    reason: Text
    state: FlagState = FlagState.RAISED


def unsaid(what: Text) -> Flagged:
    """An open flag: the offer does not say `what`."""
    return Flagged(Text(f"the offer does not say {what.en}", f"报价没有说明{what.zh}"), FlagState.OPEN)


def unsaid_parts(parts: Sequence[tuple[bool, Text]]) -> Flagged | None:
    """The open flag that names the parts which are not there, and no others; None when all are there (True)."""
    missing = [what for there, what in parts if not there]
    if not missing:
        return None
    head, last = missing[:-1], missing[-1]
    en = f"{', '.join(what.en for what in head)} and {last.en}" if head else last.en
    zh = f"{'、'.join(what.zh for what in head)}与{last.zh}" if head else last.zh
    return unsaid(Text(en, zh))


@dataclass(frozen=True, slots=True)
class FlagRule:
    """A flag with its judge: None means that the offer is clear of it."""

    flag: RedFlag
    judge: Callable[[OfferFacts, Reference], Flagged | None]


@dataclass(frozen=True, slots=True)
class FlagFinding:
    """A flag that is up or open on an offer."""

    flag: RedFlag
    flagged: Flagged


@cache
def flag_rules() -> Mapping[str, FlagRule]:
    """All red flags by id, found by looking in the folder flags."""
    found: dict[str, FlagRule] = {}
    package = importlib.import_module("gpulease_gui.economics.flags")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        if not hasattr(module, "FLAG"):
            continue
        flag: RedFlag = module.FLAG
        if flag.id in found:
            raise ValueError(f"two red flags are called {flag.id}")
        found[flag.id] = FlagRule(flag, module.judge)
    return dict(sorted(found.items()))


def flags_of(facts: OfferFacts, reference: Reference) -> tuple[FlagFinding, ...]:
    """The flags of an offer: raised before open, serious before notable, then by id."""
    judged = [(rule.flag, rule.judge(facts, reference)) for rule in flag_rules().values()]
    found = [FlagFinding(flag, flagged) for flag, flagged in judged if flagged is not None]
    return tuple(sorted(found, key=_worst_first))


def _worst_first(finding: FlagFinding) -> tuple[bool, bool, str]:
    quiet = finding.flagged.state is FlagState.OPEN
    return quiet, finding.flag.severity is FlagSeverity.NOTABLE, finding.flag.id
