"""Does a watch name what it kept, so that its own readings are told from those of another program?"""

from __future__ import annotations

from array import array
from pathlib import Path

from gpulease_gui.store.records import SampleBlock, Series
from tests.integration.test_watch_scripted import NS, POWER, START_S, A, Scripted


def spoken(node: Scripted, *seconds: int) -> None:
    for node.at in seconds:
        node.cards((0, A, "500"))


def test_that_a_cut_shorter_than_the_time_between_two_readings_is_a_gap_of_the_watch_that_noted_it(tmp_path: Path) -> None:
    node = Scripted(tmp_path, interval_s=10.0)
    spoken(node, 0, 10, 20, 30)
    node.at = 33
    node.watch._gap(START_S + 30.0, "connection_lost")
    node.watch._close_gap(START_S + 36.0, resumed=True)
    node.end()
    with node.services.workspace.read() as connection:
        packs = connection.execute("SELECT DISTINCT watch FROM sample_packs WHERE level = 0").fetchall()
        gaps = connection.execute("SELECT DISTINCT watch FROM sample_gaps WHERE metric IS NULL").fetchall()
    assert node.gaps() == [("connection_lost", 30, 36)]
    assert packs == gaps and len(packs[0][0]) == 32
    node.services.close()


def test_that_a_clock_that_was_set_back_gives_what_is_read_from_then_on_another_name(tmp_path: Path) -> None:
    node = Scripted(tmp_path)
    for second in (100, 110, 20, 30):
        block = SampleBlock(Series("scripted", POWER, A, "W"), (START_S + second) * NS, NS, array("f", [500.0] * 10))
        node.watch._saving.readings([block], START_S + second + 9.0, {})
    node.services.workspace.submit(lambda db: None).result()
    with node.services.workspace.read() as connection:
        rows = connection.execute("SELECT min(start_ns), count(*) FROM sample_packs WHERE level = 0 GROUP BY watch").fetchall()
    assert sorted((start_ns // NS - START_S, packs) for start_ns, packs in rows) == [(20, 2), (100, 2)]
    node.services.close()
