"""Is a driver dead because a source says so while it goes on telling readings of its cards, as only a node that lies does?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.store.samples import list_gaps
from tests.integration.test_watch_scripted import POWER, A, Scripted

SAYS = "! the NVIDIA driver does not answer"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


@pytest.mark.parametrize("first", [True, False])
def test_that_cards_that_are_read_are_behind_no_dead_driver_whatever_their_source_says_beside(node: Scripted, first: bool) -> None:
    for node.at in range(60):
        node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        if first and node.at > 20:
            node.say("gpu", SAYS)
        node.cards((0, A, "500"))
        if not first and node.at > 20:
            node.say("gpu", SAYS)
    assert (node.events(), node.degraded_s()) == ([], 0.0)
    assert {at for at, value in node.end()[POWER, A].items() if value == 500.0} == set(range(60))


@pytest.mark.parametrize("others", [True, False])
def test_that_a_source_that_says_it_once_right_after_a_reading_and_then_nothing_is_believed_once_one_is_missed(node: Scripted, others: bool) -> None:
    for node.at in range(40):
        if node.at <= 20:
            node.cards((0, A, "500"))
        if node.at == 20:
            node.say("gpu", SAYS)
        if others:
            node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        else:
            node.watch._on_beat(1000.0 + node.at)
        assert [event[:3] for event in node.events()] == ([] if node.at < 22 else [("watch.driver", "", 21)])
    with node.services.workspace.read() as connection:
        (words,) = connection.execute("SELECT document FROM watch_events").fetchone()
    assert "the NVIDIA driver does not answer" in words, "what it said is the reason, not its silence"


FAILED = "Failed to initialize NVML: Driver/library version mismatch"


@pytest.mark.parametrize("first", [(FAILED, "! nvidia-smi ended"), ("! nvidia-smi ended",)])
def test_that_a_driver_that_does_not_fit_is_told_in_its_words_by_event_gap_and_trouble(node: Scripted, first: tuple[str, ...]) -> None:
    """Whether it was killed without a word first, or could not be started first."""
    for node.at in range(50):
        node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        if not 10 <= node.at < 40:
            node.cards((0, A, "500"))
        else:
            node.say("gpu", *(first if node.at == 10 else (FAILED, "! nvidia-smi ended")))
        if node.at == 39:
            assert node.watch.view.troubles["gpu"] == f"nvidia-smi ended ({FAILED})"
    node.end()
    assert [event[:3] for event in node.events()] == [("watch.driver", "", 10)]
    assert node.watch.view.holes == 1, "of one source, though each of its metrics has it"
    with node.services.workspace.read() as connection:
        (words,) = connection.execute("SELECT document FROM watch_events").fetchone()
        stored = {gap.reason for gap in list_gaps(connection, "scripted", POWER, 0, 2**62)}
    assert f"nvidia-smi ended ({FAILED})" in words and f"nvidia-smi 已退出（{FAILED}）" in words
    assert stored == {f"not a GPU sample: {FAILED}" if first[0] == FAILED else f"nvidia-smi ended ({FAILED})"}


def test_that_a_trouble_does_not_change_to_and_fro_with_each_line_of_an_nvidia_smi_that_ends_again_and_again(node: Scripted) -> None:
    told = []
    node.cards((0, A, "500"))
    for node.at in range(1, 6):
        for line in (FAILED, "! nvidia-smi ended"):
            node.say("gpu", line)
            told.append(node.watch.view.troubles["gpu"])
    assert told == [f"not a GPU sample: {FAILED}", *[f"nvidia-smi ended ({FAILED})"] * 9]
    node.cards((0, A, "500"))
    node.say("gpu", "! nvidia-smi ended")
    assert node.watch.view.troubles["gpu"] == "nvidia-smi ended", "it was read since"
