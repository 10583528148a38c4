"""Is every change to readings that were kept of a run found afterwards, and said what it was?"""

from __future__ import annotations

from array import array
from datetime import timedelta

import pytest

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.kept_words import trouble_of
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.store import retention, runs, samples
from gpulease_gui.store.kept_state import kept_states, state_of
from gpulease_gui.store.packing import pack, unpack
from gpulease_gui.store.records import RunState, SampleBlock, Series

S = 1_000_000_000
START = 1_772_366_400 * S
CARDS = [Series("n1", "gpu.power_w", card, "W") for card in ("GPU-a", "GPU-b")]


@pytest.fixture
def kept(desk):
    """Five minutes of two cards in the store, of which the second to the fourth were kept for the run."""
    for n in range(30):
        blocks = [SampleBlock(one, START + n * 10 * S, S, array("f", [350.0 + n] * 10)) for one in CARDS]
        desk.write(lambda db, blocks=blocks: samples.append_blocks(db, blocks))
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, desk.noon + timedelta(minutes=3), Verdict.PASS))
    return desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + 60 * S, START + 240 * S))


def state(desk):
    desk.write(lambda db: None)
    with desk.workspace.read() as connection:
        (found,) = kept_states(connection, "r1")
    return found


def rows(desk):
    return desk.rows(f"SELECT entry, content FROM sample_packs WHERE level = 0 AND start_ns = {START + 100 * S}")


def put(desk, entry, content):
    desk.write(lambda db: db.conn.execute("UPDATE sample_packs SET content = ? WHERE entry = ?", (content, entry)))


def counted(found):
    return found.changed, found.missing, found.added, None if found.first_ns is None else (found.first_ns - START) // S


def test_that_what_nobody_touched_is_what_was_kept_also_after_more_was_read(desk, kept):
    assert state(desk).intact and trouble_of(state(desk)) is None
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(CARDS[0], START + 300 * S, S, array("f", [1.0] * 10))]))
    assert state(desk).intact


def test_that_a_flipped_byte_of_a_reading_is_found_and_said_with_the_hash_of_then(desk, kept):
    ((entry, content),) = rows(desk)
    put(desk, entry, content[:-2] + bytes([content[-2] ^ 0x40]) + content[-1:])
    assert counted(state(desk)) == (1, 0, 0, 100)
    words = trouble_of(state(desk))
    assert words.en == (
        "Readings kept of the run, 2026-03-01 12:01:00 UTC – 2026-03-01 12:04:00 UTC: they are not what was kept; blocks: 1 changed, "
        f"the first at 2026-03-01 12:01:40 UTC (SHA-256 when kept: {kept.sha256})"
    )
    put(desk, entry, content)
    assert state(desk).intact, "what was put back is what it was"


def test_that_each_flipped_byte_of_a_pack_is_found_and_stops_no_report(desk, kept):
    ((entry, content),) = rows(desk)
    words = set()
    for place in range(len(content)):
        put(desk, entry, content[:place] + bytes([content[place] ^ 0x81]) + content[place + 1 :])
        with desk.workspace.read() as connection:
            found = state_of(connection, kept)
            assert not found.fits and found.copy_fits and found.changed + found.missing + found.added > 0
            words |= {one.title.en for one in live_stretches(connection, runs.get_run(connection, "r1"), {})}
            samples.read_blocks(connection, "n1", START, START + 300 * S)
    assert words == {"Power: not the readings that were kept"}


def test_that_a_deleted_pack_is_missing(desk, kept):
    ((entry, _),) = rows(desk)
    desk.write(lambda db: db.conn.execute("DELETE FROM sample_packs WHERE entry = ?", (entry,)))
    assert counted(state(desk)) == (0, 2, 0, 100)


def test_that_all_readings_deleted_are_missing_and_nobody_says_that_the_node_was_not_watched(desk, kept):
    desk.write(lambda db: db.conn.execute("DELETE FROM sample_packs"))
    assert counted(state(desk)) == (0, 36, 0, 60)


def test_that_a_reading_that_came_later_is_found(desk, kept):
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(CARDS[1], START + 155 * S, S, array("f", [700.0]))]))
    assert counted(state(desk)) == (0, 0, 1, 155)


def test_that_a_shortened_block_is_changed_and_one_taken_out_of_its_pack_is_missing(desk, kept):
    ((entry, content),) = rows(desk)
    whole = unpack(content)
    first, second = whole.values[:10], whole.values[10:]
    put(desk, entry, pack([(whole.ids[0], START + 100 * S, S, first), (whole.ids[1], START + 100 * S, S, second[:9])]))
    assert counted(state(desk)) == (1, 0, 0, 100)
    put(desk, entry, pack([(whole.ids[0], START + 100 * S, S, first)]))
    assert counted(state(desk)) == (0, 1, 0, 100)


def test_that_a_pack_whose_time_was_moved_out_of_the_stretch_is_missing(desk, kept):
    ((entry, _),) = rows(desk)
    desk.write(lambda db: db.conn.execute("UPDATE sample_packs SET start_ns = 1, end_ns = 2 WHERE entry = ?", (entry,)))
    assert counted(state(desk)) == (0, 2, 0, 100)


def test_that_cards_whose_names_were_exchanged_are_found(desk, kept):
    desk.write(lambda db: db.conn.execute("UPDATE sample_series SET subject = 'GPU-c' WHERE subject = 'GPU-a'"))
    assert counted(state(desk)) == (0, 18, 18, 60)


def test_that_a_copy_that_was_changed_is_told_from_the_readings(desk, kept):
    for (name,) in desk.rows("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'evidence'"):
        desk.write(lambda db, name=name: db.conn.execute(f"DROP TRIGGER {name}"))
    desk.write(lambda db: db.conn.execute("UPDATE evidence SET zlib_bytes = x'00' WHERE sha256 = ?", (kept.sha256,)))
    found = state(desk)
    assert (found.fits, found.copy_fits) == (True, False) and "the copy that was kept was changed" in trouble_of(found).en
    ((entry, _),) = rows(desk)
    put(desk, entry, b"")
    found = state(desk)
    assert (found.fits, found.copy_fits) == (False, False) and "nobody can say which" in trouble_of(found).en


def test_that_a_run_without_readings_has_none_to_compare(desk):
    desk.write(lambda db: None)
    with desk.workspace.read() as connection:
        assert kept_states(connection, "r1") == () and runs.get_run(connection, "r1").id == "r1"
