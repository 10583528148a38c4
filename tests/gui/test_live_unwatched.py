"""Does the share of samples say for how long nobody watched, so that the node is not blamed for it?"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.gui.language import Translations, say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_unwatched import samples_words, unwatched_s
from gpulease_gui.services.composition import Services
from gpulease_gui.services.intake import GapSpan
from gpulease_gui.store.records import Gap, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks, append_gap

NODE, NS = "demo-capped", 1_000_000_000


@pytest.mark.parametrize(("gaps", "seconds"), [
    ([], 0),
    ([(10, 40, "not_watched")], 30),
    ([(10, 40, "connection_lost"), (40, 50, "no_answer"), (60, None, "agent_ended")], 0),
    ([(-50, 10, "not_watched"), (90, 500, "computer_slept")], 20),
    ([(80, None, "own_network")], 20),
    ([(10, 40, "not_watched"), (20, 30, "fault"), (30, 60, "not_watched")], 50),
])  # fmt: skip
def test_that_only_time_for_which_we_are_the_reason_is_not_watched_and_none_counts_twice(
    gaps: list[tuple[float, float | None, str]], seconds: float
) -> None:
    assert unwatched_s([GapSpan(begin, why, end) for begin, end, why in gaps], 0.0, 100.0) == seconds


def test_that_the_share_says_beside_it_for_how_long_nobody_watched() -> None:
    assert [str(words) for words in samples_words(263, 1047, 760.0)] == ["Samples 25.1\u2009% of expected (12 min not watched)", "Samples 25.1\u2009%"]
    assert samples_words(263, 1047, 760.0)[0].zh == "样本 25.1\u2009%（12 分未监控）"
    assert str(samples_words(990, 1000, 0.4)[0]) == "Samples 99.0\u2009% of expected"


def test_that_the_page_says_so_of_the_stretch_in_sight(make_window: Callable[..., MainWindow], demo: Services, english: Translations, qtbot: QtBot) -> None:
    begin_s = int(time.time()) - 3600  # what is a year old is removed
    blocks = [SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (begin_s + at) * NS, NS, array("f", [500.0] * 300)) for at in (0, 900)]
    demo.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    demo.workspace.submit(lambda db: append_gap(db, Gap(NODE, (begin_s + 300) * NS, (begin_s + 900) * NS, "not_watched"))).result()
    window = make_window(live.PAGE)
    window.attach(demo)
    window.go("live", NODE)
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: "not watched" in say(page.bar._sampled[0]), timeout=5000)
    assert say(page.bar._sampled[0]) == "Samples 50.0\u2009% of expected (10 min not watched)"
