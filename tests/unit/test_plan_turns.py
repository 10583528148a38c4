"""Does a plan look at idle cards first, read counters last, and download only what was named?"""

from __future__ import annotations

from gpulease_gui.services.plan import Choice, Level, make_plan


def test_that_idle_cards_are_watched_before_any_load_and_counters_read_after_all_of_it() -> None:
    active = [rule.check.id for rule in make_plan(Choice(level=Level.LOAD, peer=True, urls=True, sustained=True)).active]
    quiet = {"iso.idle_activity", "power.limit_sticks"}
    assert set(active[:2]) == quiet and active[-1] == "health.ecc_corrected_rate"
    assert {"cpu.bench", "disk.seq", "net.iperf_multi", "npu.flops"} < set(active[2:-1])


def test_that_two_checks_of_one_idle_minute_cost_it_once() -> None:
    both = make_plan(Choice(only=("iso.idle_activity", "power.limit_sticks")))
    one = make_plan(Choice(only=("power.limit_sticks",)))
    assert len(both.active) == 2 and both.seconds - one.seconds < 30


def test_that_naming_an_address_asks_for_the_download_and_silence_for_none() -> None:
    assert "net.egress" in make_plan(Choice(urls=True)).checks
    assert "net.egress" not in make_plan(Choice()).checks
    assert "iso.leftovers" not in make_plan(Choice()).checks
