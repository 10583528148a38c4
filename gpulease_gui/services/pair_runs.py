"""How fast is the line between every two of some nodes, and which node or which pair is the slow one?

Every pair is a run of its own on the first of its two nodes: its outputs are kept, and it joins that node's newest run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UsageError, UserFacing
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.events import Bus, PairMeasured
from gpulease_gui.services.measure_network import IPERF_SECONDS
from gpulease_gui.services.pairs import Blame, Pair, blame, rounds
from gpulease_gui.services.plan import CONNECT_S, PAIR_CHECK
from gpulease_gui.services.targets import same_node
from gpulease_gui.services.verify import Request

if TYPE_CHECKING:
    from gpulease_gui.services.outcome import Outcome
    from gpulease_gui.services.verify import Verification

TERM = "network.gbit_s"
MOST_NODES = 64
_NOT_MEASURED = Text("not measured", "未测量")


@dataclass(frozen=True, slots=True)
class PairRequest:
    """What is measured: `seconds` each way (None = the usual length), what was promised in Gbit/s, and under which address
    each node is reached by the others (by node id; the address of its record where none is named).
    """

    seconds: int | None = None
    promised: float | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PairResult:
    """One pair (numbers of the nodes, the smaller first): Gbit/s from the first to the second and back.

    None = not measured, `reason` says why. `run_id` holds the outputs.
    """

    pair: Pair
    forward: float | None = None
    backward: float | None = None
    reason: Text = NO_TEXT
    run_id: str | None = None

    @property
    def rate(self) -> float | None:
        """The slower direction; None unless both were measured: half a result names nobody."""
        if self.forward is None or self.backward is None:
            return None
        return min(self.forward, self.backward)


@dataclass(frozen=True, slots=True)
class PairReport:
    """All pairs of the nodes in order; those that a cancel left are there as not measured."""

    nodes: tuple[str, ...]
    results: tuple[PairResult, ...]
    blame: Blame
    promised: float | None = None
    cancelled: bool = False

    def result(self, one: int, other: int) -> PairResult | None:
        """What two nodes gave, in either order."""
        wanted = (min(one, other), max(one, other))
        return next((result for result in self.results if result.pair == wanted), None)

    @property
    def verdict(self) -> Verdict:
        """Fail where somebody is slow, inconclusive where a pair was not measured, else pass."""
        if self.blame.nodes or self.blame.pairs or self.blame.all_low:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.blame.unmeasured or self.blame.uneven else Verdict.PASS

    @property
    def sentences(self) -> tuple[Text, ...]:
        """Who is slow, in words; one sentence that nobody is where that is so."""
        found = [*self._slow_nodes(), *self._slow_pairs(), *self._rest()]
        if not found:
            found = [Text("no node and no pair is slower than the others", "没有哪个节点或节点对明显偏慢")]
        return tuple(found)

    def _slow_nodes(self) -> Iterable[Text]:
        for number in self.blame.nodes:
            name = self.nodes[number]
            yield Text(f"{name} is slow with several partners: the node or its port", f"{name} 与多个节点之间都慢：问题在该节点或其网口")

    def _slow_pairs(self) -> Iterable[Text]:
        for one, other in self.blame.pairs:
            a, b = self.nodes[one], self.nodes[other]
            yield Text(f"only {a} and {b} are slow with each other: the line between them", f"仅 {a} 与 {b} 之间慢：问题在两者间的链路")

    def _rest(self) -> Iterable[Text]:
        if self.blame.all_low:
            yield Text("every pair is below the promise: no single part can be named", "所有节点对都低于承诺，无法归到某一部件")
        if self.blame.uneven:
            rates = [result.rate for result in self.results if result.rate is not None]
            span = f"{min(rates):.1f}–{max(rates):.1f} Gbit/s"
            yield Text(f"the pairs differ ({span}) and most are slow: only the promised rate can tell who",
                       f"各节点对差异较大（{span}）且多数偏慢：须给出承诺速率才能判断")  # fmt: skip
        count = len(self.blame.unmeasured)
        if count:
            pairs_en = "1 pair was not measured and blames" if count == 1 else f"{count} pairs were not measured and blame"
            yield Text(f"{pairs_en} nobody", f"{count} 对未测得，不作判断")


def usual_seconds(nodes: int, seconds: int | None) -> float:
    """How long all pairs usually take: the pairs of a round share no node and run at one time."""
    each = 2 * (seconds or IPERF_SECONDS) + 2 * CONNECT_S
    return len(rounds(nodes)) * each


def refuse(nodes: Sequence[Node]) -> None:
    """Raises UsageError for fewer than two nodes, too many, one that is there twice, or demo nodes beside real ones."""
    if not 2 <= len(nodes) <= MOST_NODES:
        raise UsageError(Text(f"{len(nodes)} nodes can't be measured against each other", f"{len(nodes)} 个节点无法做节点间测量"), next_step=Text(f"name 2 to {MOST_NODES} nodes", f"请选择 2 至 {MOST_NODES} 个节点"))
    twice = next(((a, b) for a, b in combinations(nodes, 2) if same_node(a, b)), None)
    if twice is not None:
        raise UsageError(Text(f"{twice[0].name} and {twice[1].name} are one node", f"{twice[0].name} 与 {twice[1].name} 是同一节点"), next_step=Text("name each node once", "每个节点只选一次"))
    if len({node.reach is Reach.DEMO for node in nodes}) > 1:
        raise UsageError(Text("a demo node and a real one can't be measured against each other", "演示节点与真实节点之间无法测量"))


class PairRuns:
    """Measures all pairs of some nodes, round by round."""

    def __init__(self, verification: Verification, bus: Bus) -> None:
        self._verification = verification
        self._bus = bus

    def run(
        self, nodes: Sequence[Node], request: PairRequest, cancel: CancelToken,
        on_result: Callable[[PairResult], None] | None = None,
    ) -> PairReport:  # fmt: skip
        """Blocks. A cancel ends the pairs under way and keeps what was measured. Raises UsageError (see `refuse`)."""
        refuse(nodes)
        plan = rounds(len(nodes))
        total = sum(len(one) for one in plan)
        found: dict[Pair, PairResult] = {}
        with ThreadPoolExecutor(max(1, len(nodes) // 2), thread_name_prefix="pair") as pool:
            for pairs in plan:
                if cancel.cancelled:
                    break
                for result in pool.map(lambda pair: self._pair(nodes, pair, request, cancel), pairs):
                    found[result.pair] = result
                    if on_result is not None:
                        on_result(result)
                    self._bus.publish(PairMeasured(result.pair, result.rate, len(found), total))
        return report(tuple(node.name for node in nodes), found, request.promised, cancelled=cancel.cancelled)

    def _pair(self, nodes: Sequence[Node], pair: Pair, request: PairRequest, cancel: CancelToken) -> PairResult:
        one, other = nodes[pair[0]], nodes[pair[1]]
        terms: dict[str, TermValue] = {TERM: request.promised} if request.promised is not None else {}
        wanted = Request(
            terms, only=(PAIR_CHECK,), seconds=request.seconds, peer=other, peer_address=request.addresses.get(other.id, "")
        )
        try:
            outcome = self._verification.run(one, wanted, cancel)
        except Cancelled:
            return PairResult(pair, reason=_NOT_MEASURED)
        except UserFacing as trouble:
            return PairResult(pair, reason=trouble.whole_text)
        return result_of(pair, outcome)


def result_of(pair: Pair, outcome: Outcome) -> PairResult:
    """What a run of two nodes says of them; without a rate, why: also where the test as a whole could not be made."""
    if outcome.error is not None:
        return PairResult(pair, reason=outcome.error.reason_text, run_id=outcome.run)
    by_way = {finding.direction: finding for finding in outcome.findings if finding.check == PAIR_CHECK}
    forward, backward = (by_way.get(way) for way in ("target->peer", "peer->target"))
    silent = [f.reason for f in (forward, backward, *by_way.values()) if f is not None and _rate(f) is None]
    no_reason = NO_TEXT if forward and backward else _NOT_MEASURED
    reason = silent[0] if silent else no_reason
    return PairResult(pair, _rate(forward), _rate(backward), reason, outcome.run)


def _rate(finding: Finding | None) -> float | None:
    """The rate that a finding stands for; one whose sender may have been the limit is none."""
    if finding is None or isinstance(finding.measured, str | bool) or finding.measured is None:
        return None
    if finding.verdict is Verdict.INCONCLUSIVE and finding.reason_code not in (Reason.NOT_PROMISED, "measured_once"):
        return None
    return float(finding.measured)


def report(
    names: tuple[str, ...], found: Mapping[Pair, PairResult], promised: float | None, *, cancelled: bool = False
) -> PairReport:
    """The report over all pairs of `names`; those that are not in `found` were not measured."""
    missing = PairResult((0, 1), reason=_NOT_MEASURED)
    results = tuple(found.get(pair, replace(missing, pair=pair)) for pair in combinations(range(len(names)), 2))
    return PairReport(names, results, blame({r.pair: r.rate for r in results}, promised), promised, cancelled)
