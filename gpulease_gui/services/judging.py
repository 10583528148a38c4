"""When are the readings of a check together, and what does it say then?"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from gpulease_gui.checks.check import Rule
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Finding, Reason
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.fact import read, readers

_log = logging.getLogger(__name__)


class RuleFault(Exception):
    """A rule of ours broke: an error of the check, never a finding about the node."""


def evidence_of(fact_id: str, output: CommandOutput, sha256: str) -> Evidence:
    """The reading of an output, or why there is none."""
    try:
        return Evidence(read(readers()[fact_id], output), sha256=sha256)
    except Unreadable as trouble:
        # The calls that it went through hold all that was collected of the node, until Python searches for cycles.
        trouble.__traceback__ = trouble.__cause__ = trouble.__context__ = None
        return Evidence(trouble=trouble, sha256=sha256)


class Judging:
    """Collects readings and says which rules can be judged with them; each rule is handed out once."""

    def __init__(self, rules: Iterable[Rule], promise: Promise) -> None:
        self.promise = promise
        self._waiting: dict[str, Rule] = {rule.check.id: rule for rule in rules}
        self._using: dict[str, list[Rule]] = {}
        for rule in self._waiting.values():
            for fact_id in dict.fromkeys(_facts(rule)):
                self._using.setdefault(fact_id, []).append(rule)
        self.evidence: dict[str, Evidence] = {}

    def take(self, fact_id: str, evidence: Evidence) -> list[Rule]:
        """Keep a reading; the rules that were waiting for it alone."""
        self.evidence[fact_id] = evidence
        return self._hand_out([rule for rule in self._using.get(fact_id, ()) if self.evidence.keys() >= set(_facts(rule))])

    def give_up(self, fact_id: str, reason: Reason, said: Text = NO_TEXT) -> None:
        """A fact that will not come: its checks say why. `said`: more of it than the reason says by itself."""
        trouble = Unreadable(said.en or _WORDS.get(reason, ""), code=reason, reason_zh=said.zh)
        self.evidence.setdefault(fact_id, Evidence(trouble=trouble))

    def rest(self) -> list[Rule]:
        """All rules that were never handed out."""
        return self._hand_out(list(self._waiting.values()))

    def _hand_out(self, ready: Iterable[Rule]) -> list[Rule]:
        return [rule for rule in ready if self._waiting.pop(rule.check.id, None) is not None]

    def findings(self, rule: Rule) -> tuple[Finding, ...]:
        """What the rule says. Raises RuleFault when the rule itself breaks."""
        try:
            return judge(rule, self.evidence, self.promise)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError) as fault:
            _log.exception("the rule %s broke", rule.check.id)
            raise RuleFault(f"{type(fault).__name__} in the rule of {rule.check.id}") from fault


def _facts(rule: Rule) -> tuple[str, ...]:
    return (*rule.check.facts, *rule.check.optional)


# What the reason code does not say by itself.
_WORDS = {
    Reason.CUT_OFF: "the node sent more than is kept",
    Reason.NOT_COLLECTED: "the node did not send it",
}
