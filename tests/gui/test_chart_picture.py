"""Does a picture of a chart say by itself of which node it is, from when, in which zone, and what was promised?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.theme.theme import Theme, ThemeMode, colours
from gpulease_gui.gui.widgets.chart_picture import Caption, caption_of, chart_image
from gpulease_gui.gui.widgets.chart_spec import LaneSpec, Promised, Rule

POWER = LaneSpec("power", Text("Power", "功耗"), "W", promised=Promised(700.0, Rule.HELD), term="gpu.power_w")
CPU = LaneSpec("cpu", Text("CPU", "CPU"), "%")


@pytest.fixture
def zone() -> Iterator[None]:
    before = os.environ.get("TZ")

    def wear(name: str | None) -> None:
        os.environ.pop("TZ", None)
        if name is not None:
            os.environ["TZ"] = name
        time.tzset()

    yield wear  # type: ignore[misc]
    wear(before)


def test_that_it_names_node_contract_span_zone_groups_and_contract_lines(zone, english) -> None:
    zone("Asia/Shanghai")
    said = caption_of("node\x1b07", "2026-031", (1_764_600_000.0, 1_764_600_900.0), (POWER, CPU))
    assert said == Caption(
        "node␛07 · contract 2026-031", "2025-12-01 22:40:00 – 2025-12-01 22:55:00 UTC+8", "Power [W], CPU [%]",
        "Power: Contract 700 W (gpu.power_w)",
    )  # fmt: skip
    assert caption_of("n", "", (0.0, 60.0), (CPU,)).lines == "no contract line"
    english.switch(Language.ZH)
    said = caption_of("n", "", (0.0, 60.0), (POWER, CPU))
    assert (said.groups, said.lines) == ("功耗 [W]，CPU [%]", "功耗：合同 700 W（gpu.power_w）"), "signs of the same language"


def test_that_a_clock_put_back_in_between_leaves_no_doubt(zone, english) -> None:
    zone("Europe/Berlin")
    assert caption_of("n", "", (1_792_886_400.0, 1_792_900_800.0), ()).span == "2026-10-25 02:00:00 UTC+2 – 2026-10-25 05:00:00 UTC+1"


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_that_the_caption_stands_above_the_whole_chart_in_the_colours_that_it_wears(theme: Theme, qtbot: QtBot, mode: ThemeMode) -> None:
    theme.choose(mode)
    chart = QWidget()
    qtbot.addWidget(chart)
    chart.setStyleSheet("background: #123456")
    chart.resize(600, 200)
    image = chart_image(chart, Caption("node-07", "a span", "group " * 60, "Contract 700 W"))
    ratio = image.devicePixelRatio()
    head = image.height() - round(200 * ratio)
    assert image.width() == round(600 * ratio) and head > 5 * chart.fontMetrics().height() * ratio, "a long line takes several rows"
    assert image.pixelColor(2, 2).name() == colours().surface.lower() and image.pixelColor(2, head + 2).name() == "#123456"
    inks = {image.pixelColor(x, y).name() for x in range(16, 120) for y in range(4, head // 3)}
    assert colours().t1.lower() in inks, "the words are in the ink of the theme"
    assert image.text("Title") == "node-07, a span"
    theme.choose(ThemeMode.LIGHT)
