"""What do interface counters say of the program's own TCP test, and when do they say nothing?"""

from __future__ import annotations

import pytest

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts.own_counters import Moved, grown


def told(exit_code: int = 0, **counters: tuple[int, int]) -> CommandOutput:
    rows = [f"{name:>6}: {got} 9 0 0 0 0 0 0 {sent} 7 0 0 0 0 0 0" for name, (got, sent) in counters.items()]
    head = ["Inter-|   Receive                                                |  Transmit", " face |bytes    packets errs"]
    return CommandOutput("\n".join([*head, *rows, ""]).encode(), b"", exit_code)


def test_that_the_busiest_interface_counts_each_way_and_a_bond_not_twice() -> None:
    before = told(lo=(5, 5), bond0=(100, 1_000), eth0=(60, 700), eth1=(40, 300))
    after = told(lo=(6, 6), bond0=(8_100, 1_500), eth0=(4_060, 1_000), eth1=(4_040, 500))
    assert grown(before, after) == (8_000, 500)


@pytest.mark.parametrize(("before", "after"), [
    (told(eth0=(9, 9)), told(eth0=(8, 20))), (told(eth0=(9, 9)), told(eth1=(20, 20))), (told(), told()),
    (told(127, eth0=(1, 1)), told(eth0=(9, 9))), (CommandOutput(b"eth0: 5 no numbers at all in these nine or more words\n"), told(eth0=(9, 9))),
])  # fmt: skip
def test_that_counters_that_fell_or_are_not_told_twice_say_nothing(before: CommandOutput, after: CommandOutput) -> None:
    assert grown(before, after) == (None, None)


def test_that_silence_speaks_against_nothing_and_a_second_of_lateness_is_borne() -> None:
    assert not Moved().speaks_against(10**12, 20.0)
    assert not Moved(came=95 * 10**8, sent=None).speaks_against(10**10, 20.0)
    assert Moved(came=90 * 10**8, sent=10**12).speaks_against(10**10, 20.0)
    assert not Moved(came=0).speaks_against(10**10, 1.0), "a test of a second is over before some drivers count"
