"""Does a plan hold what was chosen, name what it leaves out, and take no longer than a level may?"""

from __future__ import annotations

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.profiles import find_profile, load_profiles
from gpulease_gui.checks.check import NOTHING_WRITTEN, rules
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermValue
from gpulease_gui.services import measure_disk, measure_host, measure_network
from gpulease_gui.services.plan import PAIR_FACTS, Choice, LeftOutBy, Level, asks_the_node, make_plan

MOST_S = {Level.TRUST: 15, Level.INVENTORY: 30}


def promise(**terms: TermValue) -> Promise:
    return Promise(load_catalogue(), {key.replace("__", "."): value for key, value in terms.items()})


def test_that_trust_and_inventory_usually_end_in_their_time() -> None:
    for level, most_s in MOST_S.items():
        plan = make_plan(Choice(level=level))
        assert 0 < plan.seconds < most_s and plan.active == ()


def test_that_each_level_holds_the_one_before_and_is_longer() -> None:
    plans = [make_plan(Choice(level=level, peer=True, urls=True)) for level in Level]
    for less, more in zip(plans, plans[1:], strict=False):
        assert set(less.checks) < set(more.checks) and less.seconds < more.seconds
    assert {rule.check.level for rule in plans[0].rules} == {0}
    assert {rule.check.level for rule in plans[3].rules} == {0, 1, 2, 3}


def test_that_without_a_level_all_read_only_checks_run_and_nothing_else() -> None:
    passive = {id_ for id_, rule in rules().items() if rule.check.impact is Impact.PASSIVE and asks_the_node(rule.check)}
    assert set(make_plan().checks) == set(make_plan(Choice(level=Level.INVENTORY)).checks) == passive


def test_that_trust_comes_first_and_then_what_decides_for_the_use() -> None:
    plan = make_plan(Choice(profile=find_profile("finetune")))
    levels = [rule.check.level for rule in plan.rules]
    assert levels == sorted(levels)
    trusted = levels.count(0)
    assert plan.checks[trusted : trusted + 2] == ("gpu.count", "gpu.model")
    assert plan.passive[0].id in rules()[plan.checks[0]].check.facts


def test_that_a_load_without_a_peer_says_what_it_could_not_ask() -> None:
    left_out = make_plan(Choice(level=Level.LOAD)).left_out
    assert (left_out["net.latency"], left_out["net.egress"]) == (LeftOutBy.NO_PEER, LeftOutBy.NO_ADDRESS)
    assert left_out["disk.burst"] is LeftOutBy.TAKES_LONG
    whole = make_plan(Choice(level=Level.LOAD, peer=True, urls=True, sustained=True))
    assert not whole.left_out and {"disk.burst", "net.sustained", "net.egress"} <= set(whole.checks)


def test_that_a_long_measurement_runs_when_it_is_named() -> None:
    assert "disk.burst" in make_plan(Choice(added=("disk.burst",))).checks
    assert make_plan(Choice(only=("disk.burst",))).checks == ("disk.burst",)


def test_that_a_profile_leaves_nothing_out_that_was_promised() -> None:
    graphics = find_profile("graphics")
    plain = make_plan(Choice(profile=graphics), promise=promise())
    assert plain.left_out["topo.matrix"] is LeftOutBy.PROFILE and "topo.matrix" not in plain.checks
    stated = make_plan(Choice(profile=graphics), promise=promise(gpu__interconnect="nvswitch"))
    assert "topo.matrix" in stated.checks and "topo.matrix" not in stated.left_out
    implied = make_plan(Choice(profile=graphics), promise=promise(gpu__model="nvidia-h100-sxm5-80gb"))
    assert "topo.matrix" in implied.checks


def test_that_what_the_user_leaves_out_is_out_even_where_it_was_promised() -> None:
    plan = make_plan(Choice(left_out=("gpu.count",)), promise=promise(gpu__count=8))
    assert plan.left_out["gpu.count"] is LeftOutBy.USER and "gpu.count" not in plan.checks
    assert plan.is_part(promise(gpu__count=8)) and not plan.is_part(promise())


@pytest.mark.parametrize("choice", [Choice(level=Level.TRUST), Choice(only=("gpu.count",)), Choice(left_out=("health.xid",))])
def test_that_a_run_without_what_every_acceptance_needs_is_a_part(choice: Choice) -> None:
    assert make_plan(choice).is_part(promise())


def test_that_every_profile_is_enough_for_an_acceptance() -> None:
    terms = promise(gpu__model="nvidia-h100-sxm5-80gb", gpu__count=8, tenancy="exclusive", network__gbit_s=100)
    for profile in load_profiles().values():
        assert not make_plan(Choice(profile=profile), promise=terms).is_part(terms), profile.id


def test_that_profiles_name_checks_that_are_there() -> None:
    assert set(load_profiles()) == {"finetune", "fp64", "inference", "graphics"}
    for profile in load_profiles().values():
        ids = (*profile.first, *profile.leaves_out)
        assert [id_ for id_ in ids if id_ not in rules()] == [] and len(ids) == len(set(ids)), profile.id


def test_that_an_unknown_profile_or_check_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="finetune, fp64"):
        find_profile("gaming")
    with pytest.raises(UsageError, match="no check 'gpu.magic'"):
        make_plan(Choice(added=("gpu.magic",)))


def test_that_every_measurement_says_what_it_writes_and_how_long_it_takes() -> None:
    for rule in rules().values():
        asks_first = rule.check.impact is not Impact.PASSIVE
        assert asks_first == (rule.check.takes_s > 0) and rule.check.writes.zh, rule.check.id
        assert asks_first or rule.check.writes is NOTHING_WRITTEN, rule.check.id


def test_that_the_lengths_of_the_checks_are_those_of_the_measurements() -> None:
    takes = {id_: rule.check.takes_s for id_, rule in rules().items()}
    assert takes["net.iperf_multi"] == 2 * measure_network.IPERF_SECONDS
    assert takes["net.iperf_single"] == 2 * measure_network.SINGLE_SECONDS
    assert takes["net.sustained"] == measure_network.SUSTAINED_SECONDS
    assert takes["net.latency"] == measure_network.PING_SECONDS
    assert takes["disk.seq"] == takes["disk.rand"] == 2 * measure_disk.FIO_SECONDS
    assert takes["disk.burst"] == measure_disk.SUSTAINED_SECONDS
    assert takes["disk.capacity_honest"] == 2 * measure_disk.FILL_SECONDS
    assert takes["cpu.steal"] == measure_host.LOAD_SECONDS


def test_that_a_measurement_of_two_checks_is_counted_once() -> None:
    one = make_plan(Choice(only=("net.iperf_multi",), peer=True)).seconds
    assert make_plan(Choice(only=("net.iperf_multi", "net.iperf_reverse"), peer=True)).seconds == one
    assert PAIR_FACTS >= {"iperf_pair"}
