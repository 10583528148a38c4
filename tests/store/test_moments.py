"""Is each moment of a series told once where two programs watched a node, or where our clock was set back?"""

from __future__ import annotations

import math
import random
from array import array
from itertools import pairwise

import pytest

from gpulease_gui.store import moments, packing, samples, slots
from gpulease_gui.store.records import Gap, SampleBlock, Series

S = 1_000_000_000
START = 1_772_366_400 * S
NAN = math.nan
POWER, XID = Series("n1", "gpu.power_w", "GPU-a", "W"), Series("n1", "gpu.xid", "GPU-a", "")


def pack(*blocks, series_id=1):
    """Blocks of (second, step in seconds, readings) as one program keeps them at once."""
    return packing.pack_of([(series_id, round(at_s * S), round(step_s * S), array("f", values)) for at_s, step_s, values in blocks])


def told(*packs, events=()):
    """(second, reading) as they come out, in that order; None = not read."""
    return [
        ((at_ns + place * step_ns) / S, None if math.isnan(value) else value)
        for _, at_ns, step_ns, values in slots.pieces(moments.merged(packs, lambda: frozenset(events))) for place, value in enumerate(values)
    ]  # fmt: skip


def seconds(told_of):
    return [at_s for at_s, _ in told_of]


def test_that_what_was_kept_last_counts_where_our_clock_was_set_back():
    found = told(pack((0, 1, [500] * 40)), pack((30, 1, [300] * 20)))
    assert found == [(n, 500 if n < 30 else 300) for n in range(50)]


@pytest.mark.parametrize("later_s", [0.0, 0.2, 0.5, 0.8])
def test_that_readings_of_two_programs_are_those_of_one(later_s):
    packs = [pack((10 * n + of * later_s, 1, [100 + of] * 10)) for n in range(6) for of in (0, 1)]
    found = told(*packs)
    assert len(found) == 60 + (later_s > 0.5), "before the second program's first reading there is one of the first"
    assert all(0.5 < after - before < 1.5 for before, after in pairwise(seconds(found)))


def test_that_two_programs_whose_blocks_do_not_begin_together_tell_no_moment_twice_and_none_backwards():
    packs = [pack((5 * n + 0.3 * (n % 2), 1, [n % 2] * 10)) for n in range(12)]
    found = seconds(told(*packs))
    assert found == sorted(set(found)) and len(found) in (65, 66)
    assert min(after - before for before, after in pairwise(found)) > 0.5


def test_that_the_finer_readings_count_whenever_they_were_kept():
    coarse, fine = pack((0, 5, [1] * 4)), pack((3, 1, [2] * 8))
    for packs in ([coarse, fine], [fine, coarse]):
        assert told(*packs) == [(0, 1), *((n, 2) for n in range(3, 11)), (15, 1)]


def test_that_what_one_program_did_not_read_is_filled_by_another():
    one, other = pack((0, 1, [1, 1, NAN, NAN, NAN, 1])), pack((0, 1, [2, NAN, 2, NAN, NAN]))
    assert told(other, one) == [(0, 1), (1, 1), (2, 2), (3, None), (4, None), (5, 1)]


def test_that_blocks_that_lie_apart_stay_the_packs_that_they_are():
    packs = [pack((0, 1, [1] * 10)), pack((9.6, 1, [1] * 10)), pack((0, 1, [1] * 90), series_id=2), pack((30, 1, [1] * 10))]
    assert moments.merged(packs, pytest.fail) is packs
    assert moments.merged([*packs, pack((9.4, 1, [1] * 3))], frozenset) is not packs


def test_that_several_events_of_a_moment_stay_and_the_same_one_told_by_two_programs_is_one():
    one, other = pack((3, 1, [79]), (3.001, 1, [48]), (3.002, 1, [79])), pack((3.4, 1, [79]), (3.401, 1, [31]))
    assert told(one, other, events=(1,)) == [(3, 79), (3.001, 48), (3.002, 79), (3.401, 31)]


def test_that_of_any_blocks_each_moment_is_told_once_in_its_order_and_each_reading_stands_or_one_beside_it():
    for seed in range(300):
        chance = random.Random(seed)
        packs = [
            pack((chance.randint(0, 60), step_s, [NAN if chance.random() < 0.2 else n * 100 + k for k in range(chance.randint(1, 12))]))
            for n in range(chance.randint(2, 6)) for step_s in [chance.choice([1, 1, 2, 0.5])]
        ]  # fmt: skip
        found = told(*packs)
        assert seconds(found) == sorted(set(seconds(found))), seed
        read = [at_s for at_s, value in found if value is not None]
        for _, at_ns, step_ns, values in slots.pieces(packs):
            for place, value in enumerate(values):
                at_s = (at_ns + place * step_ns) / S
                assert math.isnan(value) or any(-step_ns / 2 / S <= other - at_s <= step_ns / 2 / S for other in read), seed


def keep(desk, *blocks):
    for at_s, values, series in blocks:
        block = SampleBlock(series, START + round(at_s * S), S, array("f", values))
        desk.write(lambda db, block=block: samples.append_blocks(db, [block]))


def summaries(desk, step_s):
    with desk.workspace.read() as connection:
        made = samples.outline(connection, "n1", START, START + 1800 * S, step_s * S)
        names = samples.series_by_id(connection, "n1")
    return [
        ((at_ns - START) // S, *numbers) for slab in made.slabs for place, id_ in enumerate(slab.ids) if names[id_] == POWER
        for at_ns, numbers in slots.slots_of(slab, place)
    ]  # fmt: skip


@pytest.mark.parametrize("late_s", [0, 30, 700])
def test_that_summaries_are_those_of_the_merged_readings_whenever_the_second_program_wrote_its(desk, late_s):
    blocks = [(10 * n + at_s, 10 * n + at_s + (late_s if of else 0), of) for n in range(180) for of, at_s in ((0, 0.0), (1, 0.4))]
    for at_s, _, of in sorted(blocks, key=lambda one: one[1]):
        keep(desk, (at_s, [of * 1000 + at_s + n for n in range(10)], POWER))
    keep(desk, (1805, [7.0], POWER))
    with desk.workspace.read() as connection:
        (readings,) = samples.read_blocks(connection, "n1", START, START + 1800 * S).values()
    read = [((one.start_ns + n * one.step_ns - START) / S, value) for one in readings for n, value in enumerate(one.values)]
    assert len(read) == 1800
    for step_s in (10, 60, 300, 1800):
        made = summaries(desk, step_s)
        assert [one[5] for one in made] == [step_s] * (1800 // step_s), step_s
        for at_s, low, mean, _, high, _ in made:
            held = [value for second, value in read if at_s <= second < at_s + step_s]
            assert (low, high) == (min(held), max(held)) and mean == pytest.approx(sum(held) / len(held), rel=1e-6)


def test_that_summaries_in_which_an_older_program_counted_moments_twice_are_made_anew_when_more_comes(desk):
    both = [(10 * n + at_s, [watts] * 10, POWER) for n in range(6) for at_s, watts in ((0.0, 500.0), (0.4, 400.0))]
    keep(desk, *both, (62, [400.0] * 8, POWER))
    twice = packing.pack_slots([1], 6, array("f", [400.0, 450.0, 500.0, 500.0, 20.0] * 6))
    desk.write(lambda db: db.conn.execute("UPDATE sample_packs SET content = ? WHERE level = 1", (twice,)))
    assert [one[5] for one in summaries(desk, 10)] == [20.0] * 6
    keep(desk, (55.4, [400.0] * 5, POWER), (72, [500.0] * 10, POWER))
    assert [one[5] for one in summaries(desk, 10)] == [10.0] * 6


def test_that_each_event_of_a_card_stays_beside_its_readings(desk):
    keep(desk, (0, [500.0] * 10, POWER), (3, [79.0], XID), (3.001, [48.0], XID), (0.3, [400.0] * 10, POWER))
    with desk.workspace.read() as connection:
        found = samples.read_blocks(connection, "n1", START, START + 60 * S)
    assert [list(one.values) for one in found[XID]] == [[79.0], [48.0]] and sum(len(one.values) for one in found[POWER]) == 10


def gaps(desk, *spans, reason="not_watched"):
    for begin_s, end_s in spans:
        desk.write(lambda db, begin_s=begin_s, end_s=end_s: samples.append_gap(db, Gap("n1", START + round(begin_s * S), START + round(end_s * S), reason)))
    with desk.workspace.read() as connection:
        return [((one.start_ns - START) / S, (one.end_ns - START) / S) for one in samples.list_gaps(connection, "n1", "", START, START + 1800 * S)]


def test_that_a_gap_that_another_program_covers_is_none_whenever_its_readings_were_kept(desk):
    assert gaps(desk, (100, 108), (300, 390), (600, 900)) == [(100, 108), (300, 390), (600, 900)]
    keep(desk, *((at_s, [500.0] * 10, POWER) for at_s in (90, 100, 300, 310, 320, 880, 890, 900)), (700, [500.0] * 5, POWER))
    assert gaps(desk) == [(330, 390), (600, 700), (705, 880)]


def test_that_a_cut_shorter_than_the_time_between_two_readings_stays_a_gap_unless_another_program_read_on(desk):
    keep(desk, (90, [500.0] * 10, POWER), (99.95, [500.0] * 10, POWER))
    assert gaps(desk, (99.0, 99.9), reason="connection_lost") == [(99.0, 99.9)]
    keep(desk, (95.4, [500.0] * 10, POWER))
    assert gaps(desk) == []


def test_that_a_gap_that_begins_or_ends_with_a_reading_of_its_own_watch_stays(desk):
    keep(desk, (90, [500.0] * 10, POWER), (159, [500.0] * 10, POWER))
    assert gaps(desk, (99, 160), (400, 400)) == [(99, 160), (400, 400)]
    assert gaps(desk, (150, 170), reason="clock_wrong") == [(99, 160), (150, 170), (400, 400)]


def named(desk, watch, at_s, values, step_s=1):
    block = SampleBlock(POWER, START + round(at_s * S), step_s * S, array("f", values))
    desk.write(lambda db: samples.append_blocks(db, [block], watch))


def named_gap(desk, watch, begin_s, end_s, reason="connection_lost"):
    desk.write(lambda db: samples.append_gap(db, Gap("n1", START + round(begin_s * S), START + round(end_s * S), reason), watch))


def test_that_a_reading_of_the_watch_itself_is_no_part_of_its_gap_however_seldom_it_asks(desk):
    named(desk, "w1", 69, [500.0] * 4, step_s=10)  # the last one at 99: its step reaches to 109
    named_gap(desk, "w1", 99, 160)
    named_gap(desk, "w1", 400, 406)
    named(desk, "w1", 370, [500.0] * 4, step_s=10)  # reaches over all of it
    assert gaps(desk) == [(99, 160), (400, 406)]
    named(desk, "w2", 65, [500.0] * 7, step_s=10)  # another one read up to 125, and again from 155 on
    named(desk, "w2", 155, [500.0] * 3, step_s=10)
    named(desk, "w2", 395, [500.0] * 3, step_s=10)
    assert gaps(desk) == [(125, 155)]


def test_that_another_program_that_lost_the_node_at_the_same_time_covers_no_cut(desk):
    named_gap(desk, "w1", 99.0, 102.5)
    named(desk, "w2", 90.5, [500.0] * 9)  # to 98.5, and again from 102.6 on
    named(desk, "w2", 102.6, [500.0] * 9)
    assert gaps(desk) == [(99.0, 102.5)]
    named(desk, None, 89.8, [500.0] * 10)  # one of before this format, in two packs: it read on
    named(desk, None, 99.8, [500.0] * 10)
    assert gaps(desk) == []


def test_that_gaps_of_before_packs_had_names_are_told_as_they_were(desk):
    named(desk, None, 90, [500.0] * 10)
    named_gap(desk, None, 99.0, 99.9)
    assert gaps(desk) == [(99.0, 99.9)]
