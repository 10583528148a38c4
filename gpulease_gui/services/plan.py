"""Which checks will run on a node, which commands do they need, and how long will it take?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gpulease_gui.catalog.profiles import Profile
from gpulease_gui.checks.check import Check, Rule, rules
from gpulease_gui.checks.judgement import ALWAYS_REQUIRED
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact, readers

# Facts that need a second node, and the one check of them that runs as soon as there is one.
PAIR_FACTS = frozenset(["iperf_pair", "iperf_single", "iperf_sustained", "peer_ping", "peer_path", "ib_pair"])
PAIR_CHECK = "net.iperf_multi"
# Facts of addresses that the user must name first.
WEB_FACTS = frozenset(["web_rates"])
# A look at idle cards comes before anything that loads the node, counters are read again when all of it is over.
QUIET_FACTS, LAST_FACTS = frozenset(["idle_watch"]), frozenset(["counters_after"])
# What heats the cards comes after all that times a copy: a hot card is slow for a while.
HOT_FACTS = frozenset(["torch_matmul", "torch_train", "torch_loader", "torch_soak"])
# A measurement that takes this long is never part of a level: it is named by itself or with `sustained`.
LONG_S = 300
# What connecting takes, what a quick command takes, and how much of its time limit another one usually needs.
CONNECT_S, QUICK_S, USUAL_SHARE = 2.0, 0.2, 1 / 16
LANES = 3
MAKER_LANES = ("nvidia", "npu")


class Level(StrEnum):
    """How deep a run looks; each level holds the ones before it."""

    TRUST = "trust"
    INVENTORY = "inventory"
    PROBE = "probe"
    LOAD = "load"

    @property
    def number(self) -> int:
        """As checks count it: 0 to 3."""
        return _DEPTHS[self]


_DEPTHS = {level: depth for depth, level in enumerate(Level)}
LEVEL_WORDS: Mapping[Level, Text] = {
    Level.TRUST: Text("Trust only", "仅可信度"),
    Level.INVENTORY: Text("+ Inventory", "＋ 清点与健康"),
    Level.PROBE: Text("+ Measurements", "＋ 短时测量"),
    Level.LOAD: Text("+ Load", "＋ 负载"),
}


class LeftOutBy(StrEnum):
    """Why a check of the chosen level is not part of a run."""

    PROFILE = "profile"
    USER = "user"
    NO_PEER = "no_peer"
    NO_ADDRESS = "no_address"
    TAKES_LONG = "takes_long"


LEFT_OUT_WORDS: Mapping[LeftOutBy, Text] = {
    LeftOutBy.PROFILE: Text("not part of the profile", "不在所选方案内"),
    LeftOutBy.USER: Text("left out by you", "已由您取消"),
    LeftOutBy.NO_PEER: Text("needs a second node", "需要另一个节点"),
    LeftOutBy.NO_ADDRESS: Text("needs an address to download from", "需要指定下载地址"),
    LeftOutBy.TAKES_LONG: Text("takes ten minutes or more: choose it by itself", "需十分钟以上，请单独勾选"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What is to be asked.

    `only`: exactly these checks. Otherwise all read-only ones up to `level` (None = inventory), and those that load the
    node up to it; `heavy` takes the latter of all levels. `added` are asked besides, `left_out` are not. `peer` and
    `urls`: there is a second node, there are addresses to download. `sustained`: also those of ten minutes and more.
    """

    only: tuple[str, ...] = ()
    level: Level | None = None
    profile: Profile | None = None
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    heavy: bool = False
    sustained: bool = False
    peer: bool = False
    urls: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """Rules in the order in which they run: passive first; `passive` is each fact once, `active` one by one.

    `left_out`: checks of the chosen level that will not run, with the reason.
    """

    rules: tuple[Rule, ...]
    passive: tuple[Fact, ...]
    active: tuple[Rule, ...]
    left_out: Mapping[str, LeftOutBy]

    @property
    def checks(self) -> tuple[str, ...]:
        """Ids of the planned checks, in order."""
        return tuple(rule.check.id for rule in self.rules)

    @property
    def seconds(self) -> float:
        """How long it usually takes, from connect to the last finding."""
        return CONNECT_S + reading_seconds(self.passive) + measuring_seconds(rule.check for rule in self.active)

    def is_part(self, promise: Promise) -> bool:
        """Whether a check is missing without which no node is accepted: such a run only joins an earlier one."""
        asked = set(self.checks)
        return any(counts(rule.check, promise) for id_, rule in rules().items() if id_ not in asked)


def make_plan(choice: Choice | None = None, *, promise: Promise | None = None, only: Sequence[str] = (), heavy: bool = False,
              peer: bool = False) -> Plan:  # fmt: skip
    """The plan of a choice (or of the short form `only`, `heavy`, `peer`). With `promise` a profile leaves no promise out.

    Raises UsageError for an unknown check.
    """
    choice = choice or Choice(tuple(only), heavy=heavy, peer=peer)
    _refuse_unknown((*choice.only, *choice.added))
    if choice.only:
        return _plan([rules()[id_] for id_ in dict.fromkeys(choice.only)], {})
    asked = _of_level(choice)
    left_out = _left_out(asked, choice, promise)
    wanted = [rule for rule in asked if rule.check.id not in left_out]
    return _plan(_ordered(wanted, choice.profile), left_out)


def heavy_rules() -> tuple[Rule, ...]:
    """What loads a node and needs no second one, no address and no long time, in the order in which it runs."""
    return make_plan(Choice(heavy=True)).active


def _plan(chosen: Sequence[Rule], left_out: Mapping[str, LeftOutBy]) -> Plan:
    passive_rules = [rule for rule in chosen if rule.check.impact is Impact.PASSIVE]
    active_rules = sorted((rule for rule in chosen if rule.check.impact is not Impact.PASSIVE), key=_turn)
    facts = facts_of(passive_rules) + [f for f in facts_of(active_rules) if f.impact is Impact.PASSIVE]
    unique = {fact.id: fact for fact in facts}
    return Plan((*passive_rules, *active_rules), tuple(unique.values()), tuple(active_rules), left_out)


def _turn(rule: Rule) -> int:
    """When a measurement has its turn; those of one turn keep their order."""
    facts = rule.check.facts
    if QUIET_FACTS.intersection(facts):
        return -1
    return 2 if LAST_FACTS.intersection(facts) else 1 if HOT_FACTS.intersection(facts) else 0


def _refuse_unknown(ids: Iterable[str]) -> None:
    unknown = [id_ for id_ in ids if id_ not in rules()]
    if unknown:
        raise UsageError(
            Text(f"there is no check {unknown[0]!r} that can run", f"没有可执行的检查项 {unknown[0]!r}"), next_step=Text("choose one of the list", "请从列表中选择"), at_terminal="`gpulease checks` lists those that are ready"
        )


def _of_level(choice: Choice) -> list[Rule]:
    """The rules of the chosen level, those that need a peer or take long too."""
    return [rule for rule in rules().values() if rule.check.id in choice.added or _is_of_level(rule.check, choice)]


def asks_the_node(check: Check) -> bool:
    """Whether a command can answer it; what is only received (the log of a task) is judged where it comes in."""
    return _received().isdisjoint(check.facts)


@cache
def _received() -> frozenset[str]:
    """The facts that no command brings."""
    return frozenset(id_ for id_, reader in readers().items() if reader.fact.command is None)


def _is_of_level(check: Check, choice: Choice) -> bool:
    level = choice.level or Level.INVENTORY
    if not asks_the_node(check):
        return False
    if check.impact is Impact.PASSIVE:
        return check.level <= level.number
    if choice.heavy or choice.level in (Level.PROBE, Level.LOAD) and check.level <= level.number:
        return True
    if choice.level is not None:
        return False
    # To name a peer or an address is to ask for the check that needs it.
    return choice.peer and check.id == PAIR_CHECK or choice.urls and bool(WEB_FACTS.intersection(check.facts))


def _left_out(asked: Iterable[Rule], choice: Choice, promise: Promise | None) -> dict[str, LeftOutBy]:
    found = {rule.check.id: _reason(rule.check, choice, promise) for rule in asked}
    return {id_: reason for id_, reason in found.items() if reason is not None}


def _reason(check: Check, choice: Choice, promise: Promise | None) -> LeftOutBy | None:
    if check.id in choice.left_out:
        return LeftOutBy.USER
    if check.id in choice.added:
        return None
    if choice.profile and check.id in choice.profile.leaves_out and not counts(check, promise):
        return LeftOutBy.PROFILE
    if not choice.peer and PAIR_FACTS.intersection(check.facts):
        return LeftOutBy.NO_PEER
    if not choice.urls and WEB_FACTS.intersection(check.facts):
        return LeftOutBy.NO_ADDRESS
    return LeftOutBy.TAKES_LONG if check.takes_s >= LONG_S and not choice.sustained else None


def counts(check: Check, promise: Promise | None) -> bool:
    """Whether a node can't be accepted without this read-only check, or it judges something that was promised."""
    promised = promise is not None and any(promise.get(term) is not None for term in check.terms)
    if check.impact is not Impact.PASSIVE:
        return False
    return check.level == Level.TRUST.number or check.id in ALWAYS_REQUIRED or promised


def _ordered(chosen: Sequence[Rule], profile: Profile | None) -> list[Rule]:
    """Trust first, since it colours all the rest, then what decides for the use, then the rest."""
    first = profile.first if profile else ()

    def place(rule: Rule) -> tuple[bool, int]:
        id_ = rule.check.id
        return rule.check.level != Level.TRUST.number, first.index(id_) if id_ in first else len(first)

    return sorted(chosen, key=place)


def facts_of(chosen: Iterable[Rule]) -> list[Fact]:
    """Every fact that these rules need or would use, once, in their order."""
    ids = dict.fromkeys(id_ for rule in chosen for id_ in (*rule.check.facts, *rule.check.optional))
    return [readers()[id_].fact for id_ in ids if id_ in readers()]


def reading_seconds(facts: Iterable[Fact]) -> float:
    """How long the read-only commands usually take, in as many lanes as a collection has.

    A lane of facts that run in turn is never shorter than their sum; of the tools of two makers a node has one at most.
    """
    turns: dict[str, float] = {}
    for fact in facts:
        if fact.command is not None:
            lane = fact.lane or fact.id
            turns[lane] = turns.get(lane, 0.0) + max(QUICK_S, fact.seconds * USUAL_SHARE)
    makers = [turns.pop(lane) for lane in MAKER_LANES if lane in turns]
    each = [*turns.values(), max(makers, default=0.0)]
    return max(sum(each) / LANES, max(each))


def measuring_seconds(checks: Iterable[Check]) -> float:
    """How long the measurements of these checks take one after the other; one that two checks share counts once."""
    by_facts = {check.facts: check.takes_s for check in checks}
    return float(sum(by_facts.values()))
