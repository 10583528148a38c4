"""Do cost, score and size keep their promises for every input, not only for the examples?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.economics.billed import billed, billed_seconds
from gpulease_gui.economics.billing_terms import (
    Alignment,
    BillingTerms,
    CommittedHours,
    CommittedSpend,
    Discount,
    EgressPrice,
    Fee,
    MinimumScope,
    PrepaidPeriod,
    PriceUnit,
    Step,
    StoragePrice,
    Tax,
    TierMode,
    Tiers,
)
from gpulease_gui.economics.cost import cost
from gpulease_gui.economics.ranking import Candidate, pareto, ranked
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.scoring import Answer, EvidenceKind, Item, Status, score
from gpulease_gui.economics.sizing import Method, Setup, need
from gpulease_gui.economics.workload import Session, Workload

prices = st.decimals(0, 1000, places=4)
parts = st.decimals(0, 1, places=3)
zones = st.integers(-12 * 4, 14 * 4).map(lambda quarters: timezone(timedelta(minutes=15 * quarters)))
starts = st.builds(lambda at, zone: at.astimezone(zone), st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(
    lambda at: at.replace(microsecond=0)), zones)  # fmt: skip
sessions = st.builds(Session, st.integers(0, 10**6), starts, st.booleans())
steps = st.tuples(st.integers(1, 500), st.integers(1, 500), prices, prices, prices).map(
    lambda s: (Step(Decimal(s[0]), s[2]), Step(Decimal(s[0] + s[1]), s[3]), Step(None, s[4]))
)
graduated = steps.map(lambda s: Tiers(TierMode.GRADUATED, s))
hours = st.decimals(1, 1000, places=2)
commitments = st.none() | st.builds(CommittedHours, hours, prices, prices) | st.builds(CommittedSpend, prices) | st.builds(
    PrepaidPeriod, st.just(Decimal(720)), st.just(Decimal(1)), prices)  # fmt: skip
terms = st.builds(
    BillingTerms,
    unit_price=prices,
    price_unit=st.sampled_from([PriceUnit.GPU_HOUR, PriceUnit.NODE_HOUR, PriceUnit.GPU_DAY, PriceUnit.NODE_DAY]),
    gpus_per_node=st.integers(1, 16),
    whole_node_only=st.booleans(),
    gpu_increment=st.integers(1, 8),
    min_gpus=st.integers(0, 16),
    granularity_s=st.sampled_from([1, 60, 900, 3600, 86400]),
    alignment=st.sampled_from(Alignment),
    min_billed_s=st.integers(0, 10**5),
    min_scope=st.sampled_from(MinimumScope),
    stopped_rate=parts,
    bill_provisioning=st.booleans(),
    commitment=commitments,
    tiers=st.none() | graduated,
    storage=st.none() | st.builds(StoragePrice, parts, st.sampled_from([Decimal(720), Decimal(730)]), prices),
    egress=st.none() | st.builds(EgressPrice, parts, prices),
    fees=st.lists(st.builds(Fee, prices), max_size=3).map(tuple),
    discounts=st.lists(st.builds(Discount, parts), max_size=3).map(tuple),
    tax=st.builds(Tax, parts, st.booleans(), st.booleans()),
)
workloads = st.builds(
    Workload, st.integers(0, 64), st.lists(sessions, max_size=6).map(tuple), st.integers(0, 10**6), prices, prices, prices, parts
)
MODELS = load_scenarios().models


@given(terms, workloads)
def test_that_the_lines_of_a_bill_add_up_to_the_cent(offer: BillingTerms, load: Workload) -> None:
    found = cost(offer, load)
    lines = found.compute + found.storage + found.egress + found.fees
    subtotal = found.gross_total if offer.tax.included else found.net_total
    # Each of the five shown figures is rounded once, so together they are off by less than 2.5 cents.
    assert abs(lines - subtotal) <= Decimal("0.025")
    assert abs(found.net_total + found.tax - found.gross_total) <= Decimal("0.015")
    assert found.comparison_cost in (found.net_total, found.gross_total)
    assert abs(Fraction(found.comparison_cost) - found.exact_comparison) <= Fraction(1, 200)


@given(terms, workloads)
def test_that_many_small_bills_lose_no_cent(offer: BillingTerms, load: Workload) -> None:
    plain = replace(offer, commitment=None, tiers=None, min_scope=MinimumScope.SESSION, storage=None, egress=None, fees=(), stopped_rate=Decimal(0))
    each = [cost(plain, replace(load, sessions=(session,))).exact_comparison for session in load.sessions]
    assert sum(each, Fraction(0)) == cost(plain, load).exact_comparison


@given(terms, workloads, st.integers(0, 5), st.integers(1, 10**5))
def test_that_longer_sessions_never_cost_less(offer: BillingTerms, load: Workload, which: int, more_s: int) -> None:
    if not load.sessions:
        return
    at = which % len(load.sessions)
    longer = replace(load.sessions[at], duration_s=load.sessions[at].duration_s + more_s)
    changed = replace(load, sessions=(*load.sessions[:at], longer, *load.sessions[at + 1 :]))
    assert cost(offer, changed).exact_comparison >= cost(offer, load).exact_comparison


@given(terms, workloads, st.integers(1, 64))
def test_that_more_gpus_never_cost_less(offer: BillingTerms, load: Workload, more: int) -> None:
    assert cost(offer, replace(load, gpus=load.gpus + more)).exact_comparison >= cost(offer, load).exact_comparison


@given(terms, workloads)
def test_that_charged_time_covers_ready_time_in_whole_steps(offer: BillingTerms, load: Workload) -> None:
    quantity = billed(offer, load)
    assert quantity.total_s >= sum(s.duration_s for s in load.sessions if s.ready)
    assert all(seconds % offer.granularity_s == 0 for seconds in (*quantity.per_session_s, quantity.total_s))
    assert quantity.gpus >= max(load.gpus, offer.min_gpus)


@given(terms, sessions)
def test_that_the_clock_charges_at_most_one_step_more(offer: BillingTerms, session: Session) -> None:
    rolling = billed_seconds(replace(offer, alignment=Alignment.ROLLING), session)
    clock = billed_seconds(replace(offer, alignment=Alignment.CLOCK), session)
    assert rolling <= clock <= rolling + offer.granularity_s


@given(st.integers(-(10**9), 10**9), st.integers(0, 6), st.sampled_from([-1, 0, 1]))
def test_that_every_half_goes_up_and_its_neighbours_stay(steps: int, places: int, nudge: int) -> None:
    tiny = Fraction(nudge, 10**12)
    exact = (Fraction(2 * steps + 1, 2) + tiny) / 10**places
    with localcontext(prec=40):
        by_decimal = (Decimal(exact.numerator) / Decimal(exact.denominator)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    found = half_up(exact, places)
    assert found == by_decimal and not (found == 0 and found.is_signed())
    assert found.as_tuple().exponent == -places


items = st.builds(
    Item, st.text("ab", min_size=1), st.sampled_from("xyz"), st.sampled_from(Importance), st.sampled_from(Answer),
    st.sampled_from(EvidenceKind), st.none() | parts,
)  # fmt: skip
weights = st.fixed_dictionaries({name: st.decimals("0.01", 10, places=2) for name in "xyz"})
TODAY = date(2026, 6, 1)
STRONGER = {EvidenceKind.CLAIM: EvidenceKind.DOCUMENT, EvidenceKind.DOCUMENT: EvidenceKind.CONTRACT}


@given(st.lists(items, max_size=8), weights)
def test_that_a_score_is_a_range_and_coverage_a_part(answers: list[Item], of: dict[str, Decimal]) -> None:
    found = score(answers, of, TODAY)
    if found.score_low is None or found.score_high is None or found.coverage is None:
        assert all(item.answer is Answer.NOT_APPLICABLE for item in answers)
        return
    assert 0 <= found.score_low <= found.score_high <= 100
    assert 0 <= found.coverage <= 1
    assert all(found.dimension_low[name] <= found.dimension_high[name] for name in found.dimension_low)


@given(st.lists(items, min_size=1, max_size=8), weights, st.integers(0, 7), parts)
def test_that_more_evidence_never_lowers_what_is_proven(answers: list[Item], of: dict[str, Decimal], which: int, value: Decimal) -> None:
    at = which % len(answers)
    known = answers[at]
    proven = replace(known, evidence=STRONGER.get(known.evidence, EvidenceKind.MEASURED))
    if known.answer is Answer.UNKNOWN:
        proven = replace(known, answer=Answer.PASS, value=value)
    before = score(answers, of, TODAY)
    after = score([*answers[:at], proven, *answers[at + 1 :]], of, TODAY)
    if before.score_low is not None and after.score_low is not None:
        assert after.score_low >= before.score_low


candidates = st.lists(
    st.builds(Candidate, st.text("abc", min_size=1, max_size=3), st.sampled_from(Status), st.decimals(0, 100, places=2), prices),
    max_size=8, unique_by=lambda candidate: candidate.name,
)  # fmt: skip


@given(candidates)
def test_that_the_front_beats_the_rest_and_the_order_is_the_same_from_any_start(offers: list[Candidate]) -> None:
    front = pareto(offers)
    assert sorted((*front.names, *front.dominated)) == sorted(c.name for c in offers)
    assert set(front.dominated.values()) <= set(front.names)
    assert ranked(reversed(offers)) == ranked(offers)


@given(
    st.sampled_from(sorted(MODELS)), st.sampled_from(Method), st.integers(1, 6), st.integers(1, 32768), st.integers(1, 8)
)
def test_that_each_of_more_gpus_needs_no_more_and_a_longer_text_does(
    model: str, method: Method, doublings: int, sequence: int, batch: int
) -> None:
    setup = Setup(MODELS[model], method, 2**doublings, sequence=sequence, micro_batch=batch)
    fewer, more = need(setup), need(replace(setup, gpu_count=2 ** (doublings + 1)))
    assert more.per_gpu <= fewer.per_gpu
    assert need(replace(setup, sequence=sequence + 1, tokens_per_sequence=8192)).per_gpu > fewer.per_gpu
