"""Is what is left of old readings told as the summaries that it is, in the chart and in the report?"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.gui.widgets.chart_spec import Coarser, Curve, LaneSpec, Picture
from gpulease_gui.gui.widgets.lane_rows import RECEIVED, received_words
from gpulease_gui.gui.widgets.lane_stack import LaneStack
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.live_export import REPORT_MARK, put_into_report
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.services.series import Ring
from gpulease_gui.store import runs, samples
from gpulease_gui.store.records import Mark, Run, RunState, SampleBlock, Series
from gpulease_gui.store.retention import remove_some

NODE, START_S, S = "demo-capped", 1_764_601_200, 1_000_000_000
POWER = Series(NODE, "gpu.power_w", "GPU-a", "W")


@pytest.fixture
def old(tmp_path: Path) -> Iterator[Services]:
    """Two half hours of which the first is left as summaries of 10 s only."""
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    blocks = [SampleBlock(POWER, (START_S + n) * S, S, array("f", [350.0] * 10)) for n in range(0, 3600, 10)]
    services.workspace.submit(lambda db: [samples.append_blocks(db, [block]) for block in blocks]).result()
    late = datetime.fromtimestamp(START_S + 30 * 86_400 + 1800, UTC)
    while services.workspace.submit(lambda db: remove_some(db, late)).result():
        pass
    yield services
    services.close()


def test_that_what_is_left_as_summaries_is_told_where_readings_could_be_drawn_and_only_there(old: Services) -> None:
    def told(columns: int) -> tuple[Coarser, ...]:
        with old.workspace.read() as connection:
            return read_past(connection, Wish(NODE, START_S, START_S + 3600, columns, (START_S, START_S + 3600)), {}).coarser

    assert told(900) == (Coarser(START_S, START_S + 1800, 10.0),)
    assert told(100) == (), "a column of 36 s is drawn of summaries anyway"


def test_that_a_stretch_in_the_report_says_from_when_to_when_it_is_of_summaries(old: Services) -> None:
    at = datetime.fromtimestamp(START_S + 5, UTC)
    words = f"{(START_S + 600) * S}\t{(START_S + 3600) * S}"
    mark = Mark("m1", NODE, at, REPORT_MARK, words, "r1")
    old.workspace.submit(lambda db: runs.save_run(db, Run("r1", NODE, at, demo=True))).result()
    old.workspace.submit(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, at, Verdict.PASS)).result()
    old.workspace.submit(lambda db: samples.save_mark(db, mark)).result()
    with old.workspace.read() as connection:
        (shown,) = live_stretches(connection, runs.get_run(connection, "r1"), {})
    assert shown.coarser == ((START_S + 600, START_S + 1800, 10.0),)
    with pytest.raises(UserFacing, match="only summaries are left of this stretch"):
        old.workspace.submit(lambda db: put_into_report(db, NODE, START_S, START_S + 600)).result()


def test_that_the_chart_shows_summaries_on_a_ground_of_their_own(theme: Theme) -> None:
    ring = Ring()
    for second in range(61):
        ring.append(START_S + second, 500.0)
    lane = LaneSpec("power:", Text("Power", "功耗"), "W", (Curve("a", 0, "a", ring),))
    stack = LaneStack(lambda: START_S + 60)
    stack.resize(900, 300)
    stack.show_picture(Picture((lane,), coarser=(Coarser(START_S, START_S + 30, 10.0),)))
    stack.show()
    stack.set_window(60.0)
    try:
        image, plot = stack.lanes[0].grab().toImage(), stack.lanes[0].columns.plot(stack.lanes[0].height())
        coarse, fine = (image.pixelColor(plot.left() + round(plot.width() * share), plot.bottom() - 12).name() for share in (0.3, 0.8))
        assert coarse != fine
    finally:
        stack.close()
        stack.deleteLater()


def test_that_the_cursor_says_what_is_left_of_the_readings_of_its_time() -> None:
    coarser = (Coarser(0.0, 30.0, 10.0), Coarser(30.0, 60.0, 300.0))
    assert received_words(coarser, 29.9) == Text("10 s summaries here", "此处仅有 10 秒汇总")
    assert received_words(coarser, 30.0) == Text("5 min summaries here", "此处仅有 5 分钟汇总")
    assert received_words(coarser, 60.0) == RECEIVED
