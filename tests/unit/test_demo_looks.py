"""Do the simulated nodes answer a longer look in the form that the real parsers read?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gpulease_gui.demo.look_report import LOOKS, look
from gpulease_gui.demo.nodes import NAMES, demo_nodes
from gpulease_gui.facts import counters_after, idle_watch, leftovers, ram_copy

NOW = datetime(2026, 11, 30, 8, 15, 30, tzinfo=UTC)


def said(name: str, fact_id: str, *words: str):
    return look(demo_nodes()[name].machine, fact_id, words, NOW)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "ascend"])
def test_that_a_node_with_nvidia_cards_is_watched_and_counted_again(name: str) -> None:
    watch = idle_watch.parse(said(name, "idle_watch"))
    assert {len(looks) for looks in watch.cards()} == {LOOKS} and len(watch.traffic) == 10 * len(watch.cards())
    again = counters_after.parse(counters_after.combine(said(name, "counters_after", "-q"), said(name, "counters_after", "nvlink")))
    assert len(again.report.gpus) == len(watch.cards())


def test_that_every_node_tells_sizes_and_memory_speed_and_a_node_without_cards_nothing_of_them() -> None:
    for name in NAMES:
        assert [e.path for e in leftovers.parse(said(name, "leftovers")).entries] == ["/root"]
        assert len(ram_copy.parse(ram_copy.combine([said(name, "ram_copy")])).tests[0].nodes) == demo_nodes()[name].machine.host.sockets
    assert said("ascend", "idle_watch") is None and said("honest", "npu_diag") is None
