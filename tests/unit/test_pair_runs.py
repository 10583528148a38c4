"""Does a report over all pairs name who is slow, and does a missing rate blame nobody?"""

from __future__ import annotations

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.cli.pairs import report_json, report_text
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.finding import Reason, Verdict
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.outcome import Outcome
from gpulease_gui.services.pair_runs import PairReport, PairResult, refuse, report, result_of, usual_seconds
from gpulease_gui.services.pairs import Pair

NAMES = ("n1", "n2", "n3", "n4")


def made(rates: dict[Pair, float | None], promised: float | None = None) -> PairReport:
    return report(NAMES, {pair: PairResult(pair, rate, rate) for pair, rate in rates.items()}, promised)


ALL: dict[Pair, float | None] = {(a, b): 95.0 for a in range(4) for b in range(a + 1, 4)}


def test_that_even_pairs_pass() -> None:
    even = made(ALL)
    assert even.verdict is Verdict.PASS
    assert [s.en for s in even.sentences] == ["no node and no pair is slower than the others"]


def test_that_the_slow_node_and_the_slow_line_are_named() -> None:
    node = made({**ALL, (0, 2): 20.0, (1, 2): 21.0, (2, 3): 20.0}, 100)
    assert node.verdict is Verdict.FAIL and node.sentences[0].en == "n3 is slow with several partners: the node or its port"
    line = made({**ALL, (0, 3): 20.0})
    assert line.sentences[0].en == "only n1 and n4 are slow with each other: the line between them"
    assert report_json(line)["slow_pairs"] == [["n1", "n4"]]


def test_that_most_pairs_slow_without_a_promise_is_no_pass() -> None:
    uneven = made({**ALL, **{pair: 24.0 for pair in ALL if pair != (0, 3)}})
    assert uneven.verdict is Verdict.INCONCLUSIVE and "24.0–95.0 Gbit/s" in uneven.sentences[0].en
    told = made({**ALL, **{pair: 24.0 for pair in ALL if pair != (0, 3)}}, 100)
    assert told.verdict is Verdict.FAIL and told.blame.nodes == (1, 2)


def test_that_a_pair_without_a_rate_is_never_good() -> None:
    gap = made({pair: rate for pair, rate in ALL.items() if pair != (1, 3)})
    assert gap.verdict is Verdict.INCONCLUSIVE and gap.blame.unmeasured == ((1, 3),)
    assert gap.sentences[-1].en == "1 pair was not measured and blames nobody"
    assert gap.result(3, 1) == gap.result(1, 3) and report_json(gap)["unmeasured"] == [["n2", "n4"]]
    half = report(("a", "b"), {(0, 1): PairResult((0, 1), 95.0, None)}, None)
    assert half.verdict is Verdict.INCONCLUSIVE and half.results[0].rate is None


def test_that_a_test_which_could_not_be_made_says_why() -> None:
    same = Unreadable(
        "the peer b runs on the machine that is measured: both show the boot id 7", code=Reason.SAME_MACHINE,
        next_step="name a node on another machine",
    )  # fmt: skip
    findings = judge(rules()["net.iperf_multi"], {"iperf_pair": Evidence(trouble=same)}, Promise(load_catalogue()))
    (finding,) = findings
    assert finding.reason.en == f"the test was not made: {same.reason}" and finding.next_step.zh == "请指定位于另一台机器上的节点"
    result = result_of((0, 1), Outcome("a", "r1", utc_now(), None, None, False, findings))
    assert (result.rate, result.reason) == (None, finding.reason)


def test_that_the_matrix_shows_the_slower_direction_both_ways() -> None:
    lines = report_text(report(("a", "b"), {(0, 1): PairResult((0, 1), 95.0, 40.0)}, None)).splitlines()
    assert [line.split() for line in lines[1:4]] == [["a", "b"], ["a", "-", "40.00"], ["b", "40.00", "-"]]


def test_that_rounds_run_their_pairs_at_one_time() -> None:
    assert usual_seconds(2, 5) == 14 and usual_seconds(4, 5) == 3 * 14 and usual_seconds(5, 5) == 5 * 14


def test_that_nodes_that_are_no_pair_are_a_wrong_call() -> None:
    one = Node("1", "one", Reach.SSH, Address("10.0.0.1", 22, "root"))
    same = Node("2", "two", Reach.SSH, Address("10.0.0.1", 22, "root"))
    with pytest.raises(UsageError, match="1 nodes can't be measured"):
        refuse([one])
    with pytest.raises(UsageError, match="one and two are one node"):
        refuse([one, same])
    with pytest.raises(UsageError, match="demo node and a real one"):
        refuse([one, Node("3", "three", Reach.DEMO, demo_name="honest")])
