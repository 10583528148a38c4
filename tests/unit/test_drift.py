"""What changed between two looks at a machine is said in the renter's words, and silence is no change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gpulease_gui.checks.machine import CardMarks, ChangeKind, Machine
from gpulease_gui.checks.machine import changes as machine_changes
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.drift import Rate, Snapshot, changes, duplicates
from gpulease_gui.store.records import Run

CARDS = tuple(CardMarks(f"0000:{n}8:00.0", f"GPU-{n}", f"16{n}", "H100", "96.00", 81559, 700.0, 18) for n in range(4))
OLD = Machine(CARDS, "550.127.08", "boot-1", "machine-1", "XE9680", "SHA256:a")
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def seen(old: Machine, new: Machine) -> list[tuple[ChangeKind, Verdict, str]]:
    return [(c.kind, c.verdict, c.subject) for c in machine_changes(old, new)]


def with_card(at: int, **fields: object) -> Machine:
    return replace(OLD, cards=tuple(replace(c, **fields) if n == at else c for n, c in enumerate(CARDS)))


def test_that_an_unchanged_machine_has_no_changes() -> None:
    assert machine_changes(OLD, OLD) == ()


@pytest.mark.parametrize(("fields", "kind", "verdict"), [
    ({"uuid": "GPU-new", "serial": "999"}, ChangeKind.CARD_SWAPPED, Verdict.FAIL),
    ({"serial": "999"}, ChangeKind.SERIAL, Verdict.FAIL),
    ({"vbios": "92.00"}, ChangeKind.VBIOS, Verdict.WARN),
    ({"power_limit_w": 350.0}, ChangeKind.POWER_LIMIT, Verdict.FAIL),
    ({"power_limit_w": 660.0}, ChangeKind.POWER_LIMIT, Verdict.WARN),
    ({"power_limit_w": 690.0}, ChangeKind.POWER_LIMIT, Verdict.PASS),
    ({"memory_mib": 40960}, ChangeKind.MEMORY, Verdict.FAIL),
    ({"links": 17}, ChangeKind.LINKS, Verdict.FAIL),
])  # fmt: skip
def test_that_a_change_of_one_card_is_named_and_weighed(fields: dict, kind: ChangeKind, verdict: Verdict) -> None:
    assert seen(OLD, with_card(2, **fields)) == [(kind, verdict, fields.get("uuid", "GPU-2"))]


@pytest.mark.parametrize("fields", [
    {"vbios": None}, {"power_limit_w": None}, {"memory_mib": None}, {"links": None}, {"serial": None},
    {"power_limit_w": 750.0}, {"links": 20}, {"place": "0000:ff:00.0"}, {"uuid": None, "serial": None},
])  # fmt: skip
def test_that_silence_more_power_and_another_slot_are_no_change(fields: dict) -> None:
    assert seen(OLD, with_card(2, **fields)) == []


def test_that_a_card_that_left_and_one_that_came_elsewhere_are_two_changes() -> None:
    left = replace(OLD, cards=CARDS[1:])
    assert seen(OLD, left) == [(ChangeKind.CARD_MISSING, Verdict.FAIL, "GPU-0")]
    assert seen(left, OLD) == [(ChangeKind.CARD_ADDED, Verdict.WARN, "GPU-0")]


@pytest.mark.parametrize(("field", "value", "kind"), [
    ("driver", "535.54.03", ChangeKind.DRIVER), ("boot_id", "boot-2", ChangeKind.REBOOT),
    ("machine_id", "m2", ChangeKind.MACHINE_ID), ("product", "R760", ChangeKind.PRODUCT), ("host_key", "SHA256:b", ChangeKind.HOST_KEY),
])  # fmt: skip
def test_that_a_change_of_the_system_is_a_warning_and_silence_is_none(field: str, value: str, kind: ChangeKind) -> None:
    assert seen(OLD, replace(OLD, **{field: value})) == [(kind, Verdict.WARN, "")]
    assert seen(OLD, replace(OLD, **{field: None})) == []


def snapshot(node: str, machine: Machine, *rates: Rate) -> Snapshot:
    return Snapshot(Run(f"run-of-{node}", node, NOON), node, machine, rates)


@pytest.mark.parametrize(("rate", "verdicts"), [(98.0, []), (97.0, []), (95.0, [Verdict.WARN]), (92.0, [Verdict.WARN]), (91.0, [Verdict.FAIL]), (120.0, [])])
def test_that_a_rate_may_fall_by_three_percent_and_not_by_more_than_eight(rate: float, verdicts: list[Verdict]) -> None:
    old = snapshot("a", OLD, Rate("net.iperf_multi out", 100.0, "Gbit/s"))
    found = changes(old, snapshot("a", OLD, Rate("net.iperf_multi out", rate, "Gbit/s")))
    assert [c.verdict for c in found] == verdicts


def test_that_a_rate_in_another_unit_or_not_measured_is_not_compared() -> None:
    old = snapshot("a", OLD, Rate("disk", 100.0, "MB/s"))
    assert changes(old, snapshot("a", OLD, Rate("disk", 1.0, "GB/s"))) == changes(old, snapshot("a", OLD)) == ()


def test_that_the_worst_change_comes_first_and_is_said_in_both_languages() -> None:
    new = replace(with_card(1, uuid="GPU-new", serial="9", name="H20"), driver="535.54.03")
    found = changes(snapshot("a", OLD), snapshot("a", new))
    assert [c.kind for c in found] == [ChangeKind.CARD_SWAPPED, ChangeKind.DRIVER]
    assert found[0].words.en == "the card at 0000:18:00.0 was swapped: GPU-1 before, GPU-new now and is a H20"
    assert found[0].words.zh == "0000:18:00.0 的卡被更换：原为 GPU-1，现为 GPU-new，型号变为 H20"


def test_that_a_card_in_two_nodes_is_a_duplicate_and_a_slice_or_the_same_node_is_none() -> None:
    one, other = snapshot("a", OLD), snapshot("b", replace(OLD, cards=CARDS[3:]))
    assert [(d.first, d.second, d.cards) for d in duplicates([one, other])] == [("a", "b", ("GPU-3",))]
    slices = replace(OLD, cards=tuple(replace(card, sliced=True) for card in CARDS))
    assert duplicates([snapshot("a", slices), snapshot("b", slices)]) == ()
    assert duplicates([one, one]) == ()
