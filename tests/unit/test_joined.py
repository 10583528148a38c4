"""Does a check that was asked again join the whole run without rewriting it?"""

from __future__ import annotations

from datetime import UTC, datetime

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.services.joined import join
from gpulease_gui.store.records import Run

AT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


def finding(check: str, verdict: Verdict, term: str | None = None) -> Finding:
    return Finding(check, verdict, Text("said", "说明"), term, required=True)


def part(id_: str) -> Run:
    return Run(id_, "node", AT, original_id="whole")


WHOLE = (finding("power.limit", Verdict.FAIL, "gpu.power_w"), finding("gpu.count", Verdict.PASS, "gpu.count"))


def test_that_the_newer_answer_takes_the_place_of_the_older_one() -> None:
    now = finding("power.limit", Verdict.PASS, "gpu.power_w")
    joined = join(WHOLE, [(part("p"), (now,))])
    assert joined.findings == (now, WHOLE[1]) and joined.overall is Verdict.PASS
    assert joined.reruns["power.limit"].before == (WHOLE[0],) and joined.reruns["power.limit"].run.id == "p"


def test_that_a_check_that_could_not_be_read_clears_no_fail() -> None:
    joined = join(WHOLE, [(part("p"), (finding("power.limit", Verdict.INCONCLUSIVE, "gpu.power_w"),))])
    assert joined.findings == WHOLE and joined.overall is Verdict.FAIL
    assert not joined.reruns["power.limit"].stands


def test_that_a_pass_that_can_no_longer_be_read_is_no_pass() -> None:
    joined = join(WHOLE[1:], [(part("p"), (finding("gpu.count", Verdict.INCONCLUSIVE, "gpu.count"),))])
    assert joined.overall is Verdict.INCONCLUSIVE


def test_that_all_findings_of_a_check_are_replaced_together() -> None:
    before = (finding("disk.seq", Verdict.FAIL, "disk.read_mb_s"), finding("disk.seq", Verdict.PASS, "disk.write_mb_s"))
    now = finding("disk.seq", Verdict.PASS, "disk.read_mb_s")
    assert join(before, [(part("p"), (now,))]).findings == (now,)


def test_that_of_two_parts_the_later_one_counts_and_new_checks_come_last() -> None:
    first = finding("power.limit", Verdict.PASS, "gpu.power_w")
    later, new = finding("power.limit", Verdict.FAIL, "gpu.power_w"), finding("disk.seq", Verdict.PASS)
    joined = join(WHOLE, [(part("a"), (first,)), (part("b"), (later, new))])
    assert joined.findings == (later, WHOLE[1], new)
    assert joined.reruns["power.limit"].run.id == "b" and joined.reruns["power.limit"].before == (first,)


def test_that_a_run_knows_whether_it_is_a_part() -> None:
    assert (part("p").is_part, part("p").joins, part("p").evidence_run) == (True, "whole", "p")
    alone = Run("own", "node", AT, original_id="own")
    assert (alone.is_part, alone.joins) == (True, None)
    assert not Run("r", "node", AT).is_part
