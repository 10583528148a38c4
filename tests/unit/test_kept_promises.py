"""Which promises does a run prove?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.services.outcome import kept_promises


def said(check: str, term: str | None, verdict: Verdict, basis: Basis = Basis.REPORTED) -> Finding:
    return Finding(check, verdict, Text(check, check), term, basis=basis)


def test_that_a_pass_proves_nothing_beside_a_fail_or_an_open_question_of_the_same_term() -> None:
    for other in (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.WARN):
        both = [said("gpu.mig", "gpu.whole", Verdict.PASS), said("gpu.virtualization", "gpu.whole", other)]
        assert kept_promises(both) == () == kept_promises(reversed(both))


def test_that_the_measured_pass_of_a_term_is_the_one_that_counts() -> None:
    reported = said("net.inventory", "network.gbit_s", Verdict.PASS)
    measured = said("net.iperf_multi", "network.gbit_s", Verdict.PASS, Basis.MEASURED)
    assert kept_promises([reported, measured]) == (measured,) == kept_promises([measured, reported])


def test_that_what_speaks_of_no_term_or_does_not_apply_counts_for_nothing() -> None:
    beside = [said("health.xid", None, Verdict.FAIL), said("npu.memory", "npu.memory_gb", Verdict.NOT_APPLICABLE)]
    kept = said("gpu.count", "gpu.count", Verdict.PASS)
    assert kept_promises([*beside, kept]) == (kept,)
