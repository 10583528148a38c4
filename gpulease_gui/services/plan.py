"""Which checks will run on a node, and which commands do they need?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpulease_gui.checks.check import Rule, rules
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.facts.fact import Fact, readers

# Facts that need a second node, and the one check of them that runs as soon as there is one.
PAIR_FACTS = frozenset(["iperf_pair", "iperf_single", "iperf_sustained", "peer_ping", "peer_path", "ib_pair"])
PAIR_CHECK = "net.iperf_multi"


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules in the order in which they run: passive first; `passive` is each fact once, `active` one by one."""

    rules: tuple[Rule, ...]
    passive: tuple[Fact, ...]
    active: tuple[Rule, ...]

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of the planned checks, in order."""
        return tuple(rule.check.id for rule in self.rules)


def make_plan(*, only: Sequence[str] = (), heavy: bool = False, peer: bool = False) -> Plan:
    """The plan: all passive checks (or those in `only`), active ones only when named, by `peer` or with `heavy`.

    Raises UsageError for an unknown id.
    """
    chosen = _chosen(only, heavy=heavy, peer=peer)
    passive_rules = [rule for rule in chosen if rule.check.impact is Impact.PASSIVE]
    active_rules = [rule for rule in chosen if rule.check.impact is not Impact.PASSIVE]
    facts = facts_of(passive_rules) + [f for f in facts_of(active_rules) if f.impact is Impact.PASSIVE]
    unique = {fact.id: fact for fact in facts}
    return Plan((*passive_rules, *active_rules), tuple(unique.values()), tuple(active_rules))


def _chosen(only: Sequence[str], *, heavy: bool, peer: bool) -> list[Rule]:
    unknown = [id_ for id_ in only if id_ not in rules()]
    if unknown:
        raise UsageError(
            f"there is no check {unknown[0]!r} that can run", next_step="`gpulease checks` lists those that are ready"
        )
    if only:
        return [rules()[id_] for id_ in dict.fromkeys(only)]
    return [rule for rule in rules().values() if _wanted(rule, heavy=heavy, peer=peer)]


def _wanted(rule: Rule, *, heavy: bool, peer: bool) -> bool:
    if rule.check.impact is Impact.PASSIVE:
        return True
    if PAIR_FACTS.intersection(rule.check.facts):
        return peer and (heavy or rule.check.id == PAIR_CHECK)
    return heavy


def facts_of(chosen: Iterable[Rule]) -> list[Fact]:
    """Every fact that these rules need or would use, once, trust and quick ones first."""
    ids = dict.fromkeys(id_ for rule in chosen for id_ in (*rule.check.facts, *rule.check.optional))
    return [readers()[id_].fact for id_ in ids if id_ in readers()]
