"""Does any line, however often it tells a curve, end and begin the gaps of single curves by what it says of them last?"""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.flood_gaps import flood_gaps
from gpulease_gui.services.intake import Intake, WatchView
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series_gaps import SeriesGaps
from gpulease_gui.services.source_gaps import SourceGaps
from gpulease_gui.store.records import Gap
from gpulease_gui.telemetry.gpu_agent import UNHEARD, XID
from gpulease_gui.telemetry.source import Point, metrics

A, B = (f"GPU-0000000{n}-0000-0000-0000-000000000000" for n in (1, 2))
START_S, NS, UTIL = 1_700_000_000.0, 1_000_000_000, "gpu.util_percent"


class Heard:
    """A watch of which each line is heard a second after the one before."""

    def __init__(self) -> None:
        self.view = WatchView("node", 1.0)
        self.recorder, self.gaps, self.at_s = Recorder("node", 1.0, metrics()), SeriesGaps(self.view), START_S
        self.intake = Intake(self.view, self.recorder)

    def say(self, **said: object) -> list[tuple[str, int, int]]:
        """What a line of the agent ends: why, from and to which second."""
        told = self.intake.read("gpu", json.dumps({"index": 0, "uuid": A, "util_percent": 90, **said}))
        assert told is not None
        return self.hear(told if isinstance(told, tuple) else tuple(map(Point, *zip(*told.form.keys, strict=True), told.values)))

    def hear(self, told: tuple[Point, ...]) -> list[tuple[str, int, int]]:
        made = [(gap.reason, *self._span(gap)) for gap in self.gaps.hear(told, self.at_s)]
        self.intake.take("gpu", told, self.at_s)
        self.at_s += 1
        return made

    def _span(self, gap: Gap) -> tuple[int, int]:
        return gap.start_ns // NS - int(START_S), gap.end_ns // NS - int(START_S)

    @property
    def lasting(self) -> set[tuple[str, str]]:
        return {(gap.metric, gap.reason.rpartition(" ")[2]) for gap in self.view.lasting}

    def xids(self) -> list[float]:
        return [value for block in self.recorder.take() if block.series.metric == XID for value in block.values]


def test_that_xids_in_the_line_that_says_that_they_are_heard_again_are_kept_and_end_the_gap_once() -> None:
    heard = Heard()
    assert (heard.say(deaf=True), heard.lasting) == ([], {(XID, A)})
    assert heard.say(deaf=False, xids=[79]) == [(f"{UNHEARD} {A}", 0, 1)]
    assert (heard.lasting, heard.xids()) == (set(), [79.0])


def test_that_several_xids_of_a_card_that_was_not_heard_are_all_kept() -> None:
    heard = Heard()
    heard.say(deaf=True)
    assert heard.say(xids=[31, 31, 79]) == [(f"{UNHEARD} {A}", 0, 1)]
    assert heard.xids() == [31.0, 31.0, 79.0]


def test_that_a_card_that_tells_an_xid_and_is_not_heard_from_then_on_has_a_gap_that_lasts() -> None:
    heard = Heard()
    heard.say(deaf=True)
    assert heard.say(xids=[79], deaf=True) == [(f"{UNHEARD} {A}", 0, 1)]
    assert heard.lasting == {(XID, A)}
    for _ in range(3):
        heard.say()
    assert heard.say(deaf=False) == [(f"{UNHEARD} {A}", 1, 5)]


def test_that_a_gap_that_lasts_is_told_however_many_come_and_go_after_it() -> None:
    heard = Heard()
    heard.say(deaf=True)
    sources = SourceGaps(heard.view)
    for _ in range(600):
        sources.begin("gpu", "the NVIDIA driver does not answer", heard.at_s)
        heard.at_s += 10
        assert sources.end("gpu", heard.at_s)
    for n in range(600):
        flood_gaps(heard.view, {UTIL: (heard.at_s + 100 * n, heard.at_s + 100 * n + 1)})
    assert heard.lasting == {(XID, A)}
    assert len(heard.view.source_gaps) == 502, "it is bounded"
    for _ in range(600):
        heard.hear((Point(UTIL, A, None),))
        heard.at_s += 10
        assert heard.hear((Point(UTIL, A, 90.0),))
    assert heard.lasting == {(XID, A)}


POINTS = st.builds(
    lambda metric, subject, state: Point(metric, subject, **{"value": None, **state}),
    st.sampled_from([XID, UTIL]),
    st.sampled_from([A, B]),
    st.sampled_from([{"value": 79.0}, {}, {"why": UNHEARD}, {"lost": "GPU is lost"}]),
)


@given(st.lists(st.lists(POINTS, max_size=8).map(tuple), max_size=8))
def test_that_any_lines_leave_open_what_they_said_last_is_not_told_and_end_each_gap_before_it_begins_anew(lines: list[tuple[Point, ...]]) -> None:
    heard = Heard()
    for line in lines:
        heard.hear(line)
        last = {(point.metric, point.subject): point for point in line}
        ended = {key for key, point in last.items() if point.value is not None or (key[0] == XID and not point.why and not point.lost)}
        assert not ended & heard.lasting
        assert {key for key, point in last.items() if point.why} <= heard.lasting
        assert len(heard.view.lasting) == len(heard.lasting), "no curve has two gaps"
    heard.gaps.end_all(heard.at_s)
    assert not heard.view.lasting
