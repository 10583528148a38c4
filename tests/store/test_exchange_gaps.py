"""Does a bundle say what of the stretches of its events nobody read and why, and can nobody write gaps anywhere else with it?"""

from __future__ import annotations

import json
from array import array

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.pages.live_lanes import holes_of
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.recall import recall
from gpulease_gui.store import nodes
from gpulease_gui.store.exchange import bundle_gaps
from gpulease_gui.store.records import Gap, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks, append_gap, list_gaps

from .test_exchange_watch import BEGAN_NS, HOUR_NS, NODE, event, keep, look, make, merged, said_of

NS = 1_000_000_000
MIN_NS = 60 * NS
END_NS = BEGAN_NS + HOUR_NS
DRIVER = "the NVIDIA driver does not answer"
LINE = Gap("n1", BEGAN_NS + 10 * MIN_NS, BEGAN_NS + 12 * MIN_NS, "connection_lost")
__all__ = ["make"]


def gap(first_ns: int, last_ns: int, reason: str = "connection_lost", metric: str | None = None):
    return lambda db: append_gap(db, Gap("n1", first_ns, last_ns, reason, metric), "w1")


def read(first_ns: int, seconds: int):
    series, values = Series("n1", "gpu.power_w", "GPU-b", "W"), array("f", [350.0] * 10)
    return lambda db: [append_blocks(db, [SampleBlock(series, first_ns + n * NS, NS, values)], "w2") for n in range(0, seconds, 10)]


STEPS = (
    lambda db: nodes.save_node(db, NODE),
    lambda db: keep(db, event("dead.e1")),
    gap(LINE.start_ns, LINE.end_ns),
    gap(END_NS + 30 * NS, END_NS + 90 * NS, "no_answer"),  # why nobody saw its end
    gap(BEGAN_NS + MIN_NS, BEGAN_NS + 2 * MIN_NS, DRIVER, "gpu.power_w"),
    gap(BEGAN_NS + MIN_NS, BEGAN_NS + 2 * MIN_NS, DRIVER, "gpu.temperature_c"),
    gap(BEGAN_NS - 10 * MIN_NS, BEGAN_NS - 5 * MIN_NS),  # of no event
    gap(BEGAN_NS + 5 * MIN_NS, BEGAN_NS + 9 * MIN_NS, "clock_wrong"),
)
TOLD = {
    (None, BEGAN_NS + 10 * MIN_NS, BEGAN_NS + 12 * MIN_NS, "connection_lost"), (None, END_NS + 30 * NS, END_NS + 90 * NS, "no_answer"),
    ("gpu.power_w", BEGAN_NS + MIN_NS, BEGAN_NS + 2 * MIN_NS, DRIVER), ("gpu.temperature_c", BEGAN_NS + MIN_NS, BEGAN_NS + 2 * MIN_NS, DRIVER),
}  # fmt: skip


def gaps(workspace) -> tuple[Gap, ...]:
    with workspace.read() as connection:
        return list_gaps(connection, "n1", None, 0, 2**62)


def said_gaps(workspace) -> list[dict[str, str]]:
    return json.loads(said_of(workspace))["watch_gaps"]


def test_that_the_gaps_in_and_beside_an_event_come_along_to_the_nanosecond_and_say_that_they_were_imported(make):
    here, there = make("here", *STEPS), make("there")
    data = said_of(here)
    assert json.loads(data)["watch_gaps"][0] == {
        "node_id": "n1", "began_ns": str(BEGAN_NS + MIN_NS), "ended_ns": str(BEGAN_NS + 2 * MIN_NS), "reason": DRIVER, "metrics": "gpu.power_w gpu.temperature_c",
    }  # fmt: skip
    assert merged(there, data).counts()["watch_gaps"] == (3, 0)
    assert {(one.metric, one.start_ns, one.end_ns, one.reason) for one in gaps(there)} == TOLD and all(one.imported for one in gaps(there))
    assert not any(one.imported for one in gaps(here))
    assert said_of(there) == data
    told = {reason_words(one) for one in gaps(there)}
    assert Text("connection lost (imported)", "连接中断（导入）") in told
    assert Text(f"NVIDIA GPUs: {DRIVER} (imported)", "NVIDIA GPU：NVIDIA 驱动无应答（导入）") in told
    with there.read() as connection:
        past = read_past(connection, Wish("n1", BEGAN_NS / NS - 600, END_NS / NS + 600, 1000, (BEGAN_NS / NS, END_NS / NS)), {})
        assert "connection lost 120 s, reconnected (imported)" in {str(hole.reason) for hole in holes_of(past.view)}


def test_that_the_same_gaps_twice_double_nothing_and_their_own_workspace_takes_none_of_them(make):
    here, there = make("here", *STEPS), make("there")
    merged(there, said_of(here))
    before = gaps(there)
    assert (merged(there, said_of(here)).has_work, gaps(there)) == (False, before)
    own = gaps(here)
    assert (merged(here, said_of(there)).has_work, gaps(here)) == (False, own)


def test_that_what_this_computer_read_is_no_part_of_a_gap_that_came_in_a_file_and_its_watch_minds_none(make):
    here = make("here", *STEPS)
    there = make("there", STEPS[0], read(BEGAN_NS, 11 * 60))
    merged(there, said_of(here))
    told = [(one.metric, one.start_ns, one.end_ns) for one in gaps(there)]
    assert told == [(None, BEGAN_NS + 11 * MIN_NS - NS, LINE.end_ns), (None, END_NS + 30 * NS, END_NS + 90 * NS)]
    with there.read() as connection:
        assert recall(connection, "n1", END_NS / NS + 600, 1.0)[1] == ()


def test_that_what_another_program_read_of_a_gap_is_told_as_no_gap(make):
    here = make("here", *STEPS[:3], read(LINE.start_ns - 10 * NS, 300))
    assert said_gaps(here) == []


def test_that_only_the_longest_gaps_of_a_node_come_along(make, monkeypatch):
    monkeypatch.setattr(bundle_gaps, "MOST_GAPS", 2)
    here = make("here", *STEPS[:2], *(gap(BEGAN_NS + n * MIN_NS, BEGAN_NS + n * MIN_NS + length * NS) for n, length in ((1, 20), (3, 40), (5, 30))))
    assert [int(one["began_ns"]) for one in said_gaps(here)] == [BEGAN_NS + 3 * MIN_NS, BEGAN_NS + 5 * MIN_NS]


def first(**changes):
    return lambda said: said["watch_gaps"][0].update(changes)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("watch_gaps[0].began_ns can't be 1", first(began_ns=1)),
        ('watch_gaps[0].began_ns can\'t be "-1"', first(began_ns="-1")),
        ('watch_gaps[0].ended_ns can\'t be "9223372036854775808"', first(ended_ns="9223372036854775808")),
        ("watch_gaps[0].reason can't be null", first(reason=None)),
        ("watch_gaps[0].reason can't be", first(reason="x" * 1001)),
        ("watch_gaps[0].metrics can't be [", first(metrics=["gpu.power_w"])),
        ("it ends at 5 ns, before it begins", first(ended_ns="5")),
        ("no event of the bundle is near it", first(began_ns="5", ended_ns=str(BEGAN_NS - MIN_NS - 1))),
        ("no event of the bundle is near it", first(began_ns=str(END_NS + MIN_NS + 1), ended_ns=str(END_NS + HOUR_NS))),
        ("no event of the bundle is near it", first(node_id="n9")),
        ("no event of the bundle is near it", lambda said: said["watch_events"].clear()),
        ("watch_gaps holds a record twice", lambda said: said["watch_gaps"].append(said["watch_gaps"][0])),
        ("watch_gaps is no list", lambda said: said.update(watch_gaps={})),
    ],
)  # fmt: skip
def test_that_a_gap_that_nobody_can_have_noted_is_refused_in_words_and_nothing_is_written(make, words, change):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there", STEPS[0])
    change(said)
    with pytest.raises(UserFacing) as trouble:
        merged(there, json.dumps(said).encode())
    assert words in str(trouble.value) and trouble.value.next_step
    assert gaps(there) == ()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("watch_gaps: n1 ends in the time to come", first(ended_ns=str(2**63 - 1))),
        ("watch_gaps: clock_wrong", first(reason="clock_wrong")),
        ("watch_gaps: ", first(reason=" \n")),
        ("watch_gaps.metrics: gpu.evil", first(metrics="gpu.evil")),
    ],
)  # fmt: skip
def test_that_a_gap_that_this_version_can_not_mean_is_left_out_and_named(make, words, change):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    change(said)
    assert words in merged(there, json.dumps(said).encode()).bundle.unknown
    assert {one.reason for one in gaps(there)} == {"connection_lost", "no_answer"}


def test_that_words_of_a_node_in_a_gap_are_one_line_that_hides_nothing(make):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    first(reason="all\nis \u202ewell\x1b[2J", metrics="gpu.power_w gpu.evil")(said)
    found = merged(there, json.dumps(said).encode())
    assert found.bundle.unknown == ("watch_gaps.metrics: gpu.evil",)
    told = {one.metric: one.reason for one in gaps(there)}
    assert told["gpu.power_w"].startswith("all is ") and not set(told["gpu.power_w"]) & {"\n", "\u202e", "\x1b"}
    assert not look(there, json.dumps(said).encode()).has_work


def test_that_a_file_of_before_says_nothing_of_gaps_and_a_version_before_leaves_them_out(make):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    del said["watch_gaps"]
    merged(there, json.dumps(said).encode())
    assert gaps(there) == ()
