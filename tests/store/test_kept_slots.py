"""Is every change to the summaries of readings that were kept of a run found, and nothing said of those that nobody touched?"""

from __future__ import annotations

import random
from array import array
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gpulease_gui.services.kept_words import trouble_of
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.store import retention, runs, samples
from gpulease_gui.store.kept_slots import SlotsState, slot_states
from gpulease_gui.store.kept_state import kept_states
from gpulease_gui.store.packing import FIELDS, ids_of, pack_slots, slots_head, unpacked
from gpulease_gui.store.records import SampleBlock, Series

S = 1_000_000_000
START = 1_772_366_400 * S
CARDS = [Series("n1", "gpu.power_w", card, "W") for card in ("GPU-a", "GPU-b")]
MASK = Series("n1", "gpu.event_reasons", "GPU-a", "")
HOURS = 5
FROM, TO = START + 700 * S, START + HOURS * 3600 * S - 500 * S


def filled(db, first, last, seed=1):
    """Readings of each second, some not read; `first` and `last` in tens of seconds."""
    made = random.Random(seed)
    for n in range(first, last):
        values = [array("f", [made.choice((float("nan"), *[made.random() * 700] * 9)) for _ in range(10)]) for _ in CARDS]
        masks = array("f", [float(made.choice((0, 4, 64))) for _ in range(10)])
        pairs = zip([*CARDS, MASK], [*values, masks], strict=True)
        samples.append_blocks(db, [SampleBlock(one, START + n * 10 * S, S, told) for one, told in pairs])


@pytest.fixture
def kept(desk):
    desk.write(lambda db: filled(db, 0, HOURS * 360))
    return desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", FROM, TO))


def states(desk, start_ns=FROM, end_ns=TO):
    desk.write(lambda db: None)
    with desk.workspace.read() as connection:
        return tuple(replace(one, series=()) for one in slot_states(connection, "n1", start_ns, end_ns))


def told(desk):
    desk.write(lambda db: None)
    with desk.workspace.read() as connection:
        (found,) = kept_states(connection, "r1")
        altered = {one.title.en for one in live_stretches(connection, runs.get_run(connection, "r1"), {}, (), [found])}
    return found, trouble_of(found), altered


def row(desk, level, at_ns):
    ((entry, content),) = desk.rows(f"SELECT entry, content FROM sample_packs WHERE level = {level} AND start_ns <= {at_ns} AND end_ns > {at_ns}")
    return entry, content


def put(desk, entry, content):
    desk.write(lambda db: db.conn.execute("UPDATE sample_packs SET content = ? WHERE entry = ?", (content, entry)))


def with_number(content, series, slot, field, value):
    slots, ids, place = slots_head(content)
    values = unpacked(content[place:])
    values[(series * slots + slot) * FIELDS + field] = value
    return pack_slots(ids_of(ids), slots, values)


@pytest.mark.parametrize(("level", "step_s", "words"), [(1, 10, "10 s"), (2, 60, "1 min"), (3, 300, "5 min"), (4, 1800, "30 min")])
def test_that_a_summary_that_was_changed_is_found_at_each_level_and_said(desk, kept, level, step_s, words):
    assert told(desk)[:2][1] is None
    at_ns = START + 7200 * S
    entry, content = row(desk, level, at_ns)
    for field, value in enumerate((1.0, 350.0, 700.5, 9999.0, 1e6)):
        put(desk, entry, with_number(content, 1, 0, field, value))
        assert states(desk) == (SlotsState(step_s * S, 1, 0, 0, at_ns),), field
    found, said, altered = told(desk)
    assert (found.fits, found.copy_fits, found.intact) == (True, True, False)
    assert said.en == (
        "Readings kept of the run, 2026-03-01 12:11:40 UTC – 2026-03-01 16:51:40 UTC: the readings are unchanged, but the summaries that longer "
        f"charts of Power (GPU-b) are drawn from are not what they make; of {words}: 1 changed, the first at 2026-03-01 14:00:00 UTC (SHA-256 when kept: {kept.sha256})"
    )
    assert "长时段图表所用的汇总与读数不符" in said.zh and "（GPU-b）" in said.zh
    assert altered == {"Power: its summaries are not what its readings make"}
    put(desk, entry, content)
    assert told(desk)[0].intact, "what was put back is what it was"


def test_that_a_summary_that_was_deleted_and_one_that_nobody_read_are_told_apart(desk, kept):
    entry, content = row(desk, 2, START + 7200 * S)
    desk.write(lambda db: db.conn.execute("DELETE FROM sample_packs WHERE entry = ?", (entry,)))
    assert states(desk) == (SlotsState(60 * S, 0, 15, 0, START + 7200 * S),), "five minutes of three series"
    slots, ids, place = slots_head(content)
    made = [*ids_of(ids), 99], [*unpacked(content[place:]), *[float("nan")] * 4, 0.0, *[1.0] * 5, *([float("nan")] * 4 + [0.0]) * 3]
    desk.write(lambda db: db.conn.execute(
        "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content) VALUES ('n1', 2, ?, ?, ?)",
        (START + 7200 * S, START + 7500 * S, pack_slots(made[0], slots, array("f", made[1]))),
    ))  # fmt: skip
    assert states(desk) == (SlotsState(60 * S, 0, 0, 1, START + 7260 * S),)


def test_that_a_row_that_stands_twice_or_at_no_place_of_a_row_is_found(desk, kept):
    entry, _ = row(desk, 3, START + 7200 * S)
    for first_s, last_s in ((0, 0), (7, 0)):
        desk.write(lambda db, first_s=first_s, last_s=last_s: db.conn.execute(
            "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content) SELECT node_id, level, start_ns + ?, end_ns + ?, content "
            "FROM sample_packs WHERE entry = ?", (first_s * S, last_s * S, entry),
        ))  # fmt: skip
    (found,) = states(desk)
    assert found.step_ns == 300 * S and found.changed == 18 and found.added == 19, "twice; seven seconds later, and the row itself"


def test_that_each_flipped_byte_of_a_summary_is_found_and_stops_no_report_and_no_chart(desk, kept):
    at_ns = START + 7200 * S
    entry, content = row(desk, 4, at_ns)
    for place in range(len(content)):
        put(desk, entry, content[:place] + bytes([content[place] ^ 0x81]) + content[place + 1 :])
        with desk.workspace.read() as connection:
            (found,) = slot_states(connection, "n1", at_ns, at_ns + 1800 * S)
            assert (found.step_ns, found.first_ns) == (1800 * S, at_ns)
            samples.read_range(connection, "n1", "gpu.power_w", START, START + HOURS * 3600 * S, 3)
    put(desk, entry, b"")
    assert states(desk) == (SlotsState(1800 * S, 0, 3, 0, at_ns),)


def test_that_slots_beside_the_stretch_are_no_part_of_it_and_those_at_its_ends_are(desk, kept):
    for at_s, found in ((0, ()), (600, ((690, 1),)), (HOURS * 3600 - 500, ()), (HOURS * 3600 - 510, ((HOURS * 3600 - 510, 1),))):
        at_ns = START + (at_s + (90 if at_s == 600 else 0)) * S
        entry, content = row(desk, 1, at_ns)
        slot = (at_ns // S % 60) // 10
        put(desk, entry, with_number(content, 0, slot, 3, 9999.0))
        first = START + 695 * S
        assert [((one.first_ns - START) // S, one.changed) for one in states(desk, start_ns=first)] == list(found), at_s
        put(desk, entry, content)


def test_that_a_slot_that_reaches_beyond_the_stretch_may_know_of_readings_that_went_for_their_age(desk, kept):
    def removed(days):
        now = datetime.fromtimestamp(START / S, UTC) + timedelta(days=days)
        desk.write(lambda db: [None for _ in range(100) if retention.remove_some(db, now)])

    removed(400)
    assert desk.rows(f"SELECT count(*) FROM sample_packs WHERE level = 0 AND end_ns <= {FROM}") == [(0,)]
    assert states(desk) == ()
    entry, content = row(desk, 4, FROM)
    put(desk, entry, with_number(content, 0, 0, 3, 1.0))
    assert states(desk) == (SlotsState(1800 * S, 1, 0, 0, START),), "it tells less than the readings that are there"


def test_that_readings_that_were_gone_before_they_were_kept_are_held_against_no_summary(desk):
    def removed(days, hours=0.0):
        now = datetime.fromtimestamp(START / S, UTC) + timedelta(days=days, hours=hours)
        desk.write(lambda db: [None for _ in range(100) if retention.remove_some(db, now)])

    def kept(first_s, last_s):
        desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + first_s * S, START + last_s * S))

    desk.write(lambda db: filled(db, 0, HOURS * 360))
    kept(1000, 1400)
    removed(30, hours=2.2)
    kept(300, 16_000)
    kept(8000, 12_000)
    removed(400)
    there = desk.rows(f"SELECT (min(start_ns) - {START}) / {S}, (max(end_ns) - {START}) / {S} FROM sample_packs WHERE level = 0 GROUP BY start_ns < {START + 3600 * S}")
    assert sorted(there) == [(1000, 1400), (7200, 16_000)]
    for start_s, end_s in ((1000, 1400), (300, 16_000), (8000, 12_000)):
        assert states(desk, START + start_s * S, START + end_s * S) == ()
    entry, content = row(desk, 4, START + 9000 * S)
    put(desk, entry, with_number(with_number(content, 0, 0, 4, 1900.0), 0, 0, 3, 9999.0))
    for start_s, end_s in ((300, 16_000), (8000, 12_000)):
        assert states(desk, START + start_s * S, START + end_s * S) == (SlotsState(1800 * S, 1, 0, 0, START + 9000 * S),)


def test_that_readings_that_came_late_and_twice_and_the_last_minute_are_as_they_should_be(desk):
    desk.write(lambda db: filled(db, 0, 300))
    desk.write(lambda db: filled(db, 330, 500))
    desk.write(lambda db: filled(db, 280, 335, seed=2))
    late = SampleBlock(CARDS[0], START + 1000 * S + S // 2, S // 2, array("f", [1.0] * 77))
    desk.write(lambda db: samples.append_blocks(db, [late]))
    assert desk.rows("SELECT count(*) FROM sample_packs WHERE level = 1")[0][0] > 80
    for start_s, end_s in ((0, 5000), (1, 4999), (2805, 3333), (995, 1040), (4900, 5100)):
        assert states(desk, START + start_s * S, START + end_s * S) == (), (start_s, end_s)


def test_that_only_the_series_whose_summaries_were_changed_is_named_and_no_chart_of_another_is_accused(desk):
    sent = Series("n1", "net.tx_gbit_s", "eth0", "Gbit/s")

    def both(db):
        filled(db, 0, HOURS * 360)
        for n in range(HOURS * 360):
            samples.append_blocks(db, [SampleBlock(sent, START + n * 10 * S, S, array("f", [80.0 + n % 7] * 10))])

    desk.write(both)
    desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", FROM, TO))
    for entry, content in desk.rows(f"SELECT entry, content FROM sample_packs WHERE level = 1 AND start_ns >= {FROM + 3600 * S} AND end_ns < {TO - 3600 * S}"):
        slots, ids, place = slots_head(content)
        values, powers = unpacked(content[place:]), slots * FIELDS  # the first series of a row is the power of GPU-a
        values[:powers] = array(values.typecode, [number * 2 if at % FIELDS < 4 else number for at, number in enumerate(values[:powers])])
        put(desk, entry, pack_slots(ids_of(ids), slots, values))
    found, said, altered = told(desk)
    (slots,) = found.slots
    assert (found.fits, slots.step_ns, slots.series) == (True, 10 * S, (("gpu.power_w", "GPU-a"),))
    assert "the readings are unchanged, but the summaries that longer charts of Power (GPU-a) are drawn from are not what they make; of 10 s:" in said.en
    assert altered == {"Power: its summaries are not what its readings make", "Sent"}


def test_that_where_readings_were_changed_each_chart_says_so(desk, kept):
    entry, content = row(desk, 0, START + 7200 * S)
    desk.write(lambda db: db.conn.execute("DELETE FROM sample_packs WHERE entry = ?", (entry,)))
    found, said, altered = told(desk)
    assert (found.fits, found.slots, altered) == (False, (), {"Power: not the readings that were kept"})
    assert "they are not what was kept" in said.en
