"""Does the Live page watch nodes of the demo: lines, contract, gaps, pause, languages, themes, no stall?"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_checks import Checks
from gpulease_gui.gui.pages.live_nodes import make_this_computer
from gpulease_gui.gui.theme.theme import Theme, ThemeMode, colours
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.gui.widgets.labels import ElidedLabel
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import CheckChanged, NodeState, RunEnded, RunStarted

from .guards import StallGuard

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def page(make_window: MakeWindow, demo: Services, qtbot: QtBot) -> live.LivePage:
    window = make_window(live.PAGE)
    window.resize(1440, 900)
    window.attach(demo)
    window.go("live", "demo-honest")
    made = window.page
    assert isinstance(made, live.LivePage)
    qtbot.waitUntil(lambda: made.crumbs() == ("honest",), timeout=5000)
    return made


@pytest.fixture
def watched(page: live.LivePage, qtbot: QtBot) -> live.LivePage:
    page.watch()
    qtbot.waitUntil(lambda: page.chart.segments > 4, timeout=20000)
    return page


def power_lane(page: live.LivePage) -> int:
    return next(place for place, lane in enumerate(page.chart.lanes) if lane.lane.id.startswith("power"))


def shown_words(page: live.LivePage) -> list[str]:
    labels = [label.text() for label in page.findChildren(QLabel) if label.isVisible()]
    return labels + [button.text() for button in page.findChildren(QAbstractButton) if button.isVisible()]


def cut_labels(page: live.LivePage) -> list[str]:
    """Words that are wider than their place, and may not be."""
    window = page.window()
    widgets = [*window.findChildren(QLabel), *window.findChildren(QAbstractButton)]
    return [
        w.text() for w in widgets
        if w.isVisible() and w.text() and not isinstance(w, ElidedLabel) and w.sizeHint().width() > w.width() + 1
        and not (isinstance(w, QLabel) and w.wordWrap())
    ]  # fmt: skip


def test_that_the_page_opens_on_the_demo_and_names_what_its_button_does(page: live.LivePage, demo: Services) -> None:
    assert [page.bar.nodes.itemText(n) for n in range(page.bar.nodes.count())] == sorted(
        ["honest", "pcie-as-sxm", "no-nvlink", "slow-net-a", "slow-net-b", "capped", "sick", "ascend", "hostile"]
    )
    assert page.watch_button.text().strip() == "Watch honest"
    assert page.empty.line.text() == "honest is not watched"
    target = page.target()
    assert target is not None and (target.node, target.state) == ("honest", NodeState.NOT_WATCHED)
    assert target.contract == "NL-C-7741" and str(target.facts[-1][1]).startswith("北辰算力")
    assert demo.watching.views() == ()


def test_that_watching_draws_lines_beside_the_promise(watched: live.LivePage, qtbot: QtBot) -> None:
    before = watched.chart.segments
    qtbot.waitUntil(lambda: watched.chart.segments > before, timeout=5000)
    lane = watched.chart.lanes[power_lane(watched)]
    assert lane.accessibleName() == "Power, W, Contract 700 W"
    assert watched.target().state is NodeState.CONNECTED  # type: ignore[union-attr]
    assert watched.watch_button.text().strip() == "Stop watching honest"
    qtbot.waitUntil(lambda: any(row.figures.count for row in watched.table.rows), timeout=5000)
    titles = [row.lane.id for row in watched.table.rows]
    assert titles[:2] == ["util:", "power:gpu.power_w"]


def test_that_starting_to_watch_does_not_stall_the_window(page: live.LivePage, qtbot: QtBot, stalls: StallGuard) -> None:
    """The first ten lanes are a first build; from then on frames, figures and events are ordinary turns."""
    with stalls.allow("first lanes of a chart"):
        page.watch()
        qtbot.waitUntil(lambda: len(page.table.rows) >= 10, timeout=20000)
        qtbot.wait(2000)  # the agent's rarer sources bring their lanes a little later
        stalls.turns.clear()  # the building of the fixtures is no turn of the window
    qtbot.wait(4000)


def test_that_a_cut_line_is_hatched_within_three_seconds(watched: live.LivePage, demo: Services, qtbot: QtBot) -> None:
    watched.chart.set_window(60.0)
    demo.links._demo_server().cut("honest")
    begun = time.monotonic()

    def told() -> list[Hole]:
        return [hole for hole in watched.chart.picture.holes if not hole.quiet]

    qtbot.waitUntil(lambda: bool(told()), timeout=3000)
    assert time.monotonic() - begun < 3
    qtbot.waitUntil(lambda: told()[0].end_s is not None, timeout=20000)
    watched.look()
    qtbot.wait(250)
    lane = watched.chart.lanes[0]
    hole, scale = told()[0], watched.chart.scale()
    plot = lane.columns.plot(lane.height())
    assert hole.end_s is not None
    middle = plot.left() + round(scale.x((hole.start_s + hole.end_s) / 2))
    image = lane.grab().toImage()
    seen = {QColor(image.pixel(middle, y)).name() for y in range(4, lane.height() - 8)}
    assert colours().surface2.lower() in seen
    assert "reconnected" in str(hole.reason)


def test_that_space_pauses_and_resumes(watched: live.LivePage, qtbot: QtBot) -> None:
    watched.chart.setFocus()
    QTest.keyClick(watched.chart, Qt.Key.Key_Space)
    assert watched.chart.paused
    span = watched.chart.span_s
    total = sum(ring.total for ring in watched._view.rings.values())  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: sum(ring.total for ring in watched._view.rings.values()) > total)  # type: ignore[union-attr]  # recording goes on
    qtbot.wait(500)
    assert watched.chart.span_s == span
    assert watched.bar.pause.text().strip() == "Resume"
    QTest.keyClick(watched.chart, Qt.Key.Key_Space)
    assert not watched.chart.paused and watched.chart.span_s[1] > span[1]


def test_that_stopping_keeps_the_picture_and_frees_the_node(watched: live.LivePage, demo: Services, qtbot: QtBot) -> None:
    watched.watch_button.click()
    assert not watched.running
    target = watched.target()
    assert target is not None and target.state is NodeState.NOT_WATCHED
    assert set(watched._states.of(watched._nodes).values()) == {NodeState.NOT_WATCHED}
    assert watched.stack.currentWidget() is watched.parts
    assert watched.watch_button.text().strip() == "Watch honest"
    qtbot.waitUntil(lambda: not demo.watching.views(), timeout=8000)


def test_that_language_and_theme_change_while_it_runs(
    watched: live.LivePage, english: Translations, theme: Theme, qtbot: QtBot
) -> None:
    english.switch(Language.ZH)
    qtbot.wait(700)
    assert watched.watch_button.text().strip() == "停止监控 honest"
    assert watched.chart.lanes[power_lane(watched)].accessibleName() == "功耗, W, 合同 700 W"
    left = [words for words in shown_words(watched) if words.strip() in ("Pause", "Spread", "All lines", "5 min")]
    assert left == []
    light = watched.grab().toImage().pixelColor(400, 300)
    theme.choose(ThemeMode.DARK)
    qtbot.wait(300)
    dark = watched.grab().toImage().pixelColor(400, 300)
    assert light.lightness() > 128 > dark.lightness()


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("larger", [0.0, 3.0])
def test_that_no_word_is_cut(
    watched: live.LivePage, english: Translations, theme: Theme, language: Language, larger: float, qtbot: QtBot
) -> None:
    english.switch(language)
    theme.enlarge(larger)
    qtbot.wait(700)
    cut = cut_labels(watched)
    theme.enlarge(0.0)
    assert cut == []


def test_that_another_node_starts_with_its_own_series(watched: live.LivePage, qtbot: QtBot) -> None:
    watched.choose("demo-capped")
    assert watched.stack.currentWidget() is watched.empty
    watched.watch()
    qtbot.waitUntil(lambda: watched.chart.lanes[0].lane.curves[0].number == 0 and watched.crumbs() == ("capped",), timeout=20000)
    qtbot.waitUntil(lambda: len(watched.chart.lanes[0].lane.curves) == 8, timeout=20000)
    assert [curve.number for curve in watched.chart.lanes[0].lane.curves] == list(range(8))
    watched.choose("demo-honest")
    assert watched.running and watched.stack.currentWidget() is watched.parts


def test_that_out_of_sight_nothing_ticks(watched: live.LivePage) -> None:
    watched.hide()
    assert not watched.chart.ticking and not watched._timer.isActive()
    watched.show()
    assert watched.chart.ticking


def test_that_a_lane_can_be_put_away(watched: live.LivePage) -> None:
    watched.bar.toggled.emit("util:", False)
    assert "util:" not in [lane.lane.id for lane in watched.chart.lanes]
    watched.bar.toggled.emit("util:", True)
    assert watched.chart.lanes[0].lane.id == "util:"


def test_that_this_computer_becomes_a_node_with_one_button(
    make_window: MakeWindow, services: Services, english: Translations, qtbot: QtBot
) -> None:
    window = make_window(live.PAGE)
    window.attach(services)
    window.go("live")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.empty.line.text() == "No node to watch yet", timeout=5000)
    assert page.buttons() == (page.local_button,)
    assert page.add_node.isVisible() and not page.bar.isVisible(), "nothing to choose from yet, but what to do next"
    english.switch(Language.ZH)
    page.local_button.click()
    english.switch(Language.EN)
    qtbot.waitUntil(lambda: page.running, timeout=5000)
    assert page.local_button not in page.buttons() and page.buttons()[-1] is page.watch_button
    qtbot.waitUntil(lambda: any(lane.lane.id == "ram:ram_gb" for lane in page.chart.lanes), timeout=20000)
    assert make_this_computer(services, "another name").name == "本机", "as the page of nodes names it, in the language of the window"
    assert page.crumbs() == ("本机",)
    target = page.target()
    assert target is not None and target.address == "", "no English word where there is no address"
    assert not page.add_node.isVisible() and page.bar.isVisible()


def test_that_words_of_a_node_are_never_read_as_html(watched: live.LivePage, qtbot: QtBot) -> None:
    view = watched._view
    assert view is not None
    view.troubles["gpu"] = "<b>broken</b>"
    view.rings = {key: ring for key, ring in view.rings.items() if not key[0].startswith("gpu")}
    watched.look()
    lane = next(lane for lane in watched.chart.lanes if lane.lane.trouble)
    assert lane.accessibleDescription() == "<b>broken</b>"
    assert lane.trouble_words == "<b>broken</b>"


def test_that_only_checks_that_load_the_node_are_events_and_risk() -> None:
    clock = [100.0]
    checks = Checks(lambda: clock[0])
    checks.hear(RunStarted("r", "n", ("net.iperf_multi", "gpu.count")))
    checks.hear(CheckChanged("r", "gpu.count", CheckState.RUNNING))
    assert checks.of("n") == () and checks.impact("n") is Impact.PASSIVE
    checks.hear(CheckChanged("r", "net.iperf_multi", CheckState.RUNNING))
    assert checks.impact("n") is not Impact.PASSIVE
    clock[0] = 110.0
    checks.hear(RunEnded("r", "n", Verdict.PASS))
    (one,) = checks.of("n")
    assert (one.start_s, one.end_s) == (100.0, 110.0) and "network.gbit_s" in one.terms
    assert checks.impact("n") is Impact.PASSIVE


def test_that_an_hour_of_looking_away_costs_the_page_nothing(watched: live.LivePage, qtbot: QtBot) -> None:
    watched.hide()
    before = watched.chart.segments
    qtbot.wait(1200)
    assert watched.chart.segments == before
    watched.show()
    QCoreApplication.processEvents()
    qtbot.waitUntil(lambda: watched.chart.segments > before, timeout=5000)
