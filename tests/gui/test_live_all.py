"""Are many watched nodes looked over at once: worst first, gaps as gaps, in both languages, without a stall?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.watched import Watched
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_all_parts import Sums
from gpulease_gui.gui.pages.live_bar import ALL_NODES
from gpulease_gui.gui.pages.live_cards import fewer_cards
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.live_target import target_of
from gpulease_gui.gui.pages.live_tile import Known, tile_of
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.chart_spec import Promised, Rule
from gpulease_gui.gui.widgets.header import TargetBand
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.tile_lines import LaneChoice
from gpulease_gui.gui.widgets.tile_paint import state_words
from gpulease_gui.gui.widgets.tile_spec import Broken, Order, Rank, Tile
from gpulease_gui.gui.widgets.tiles import MOST_PICTURES, TileView, spoken
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import NodeState, WatchAlarm
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import GapSpan, WatchView

from .guards import StallGuard

NOW_S = 1_764_600_000.0
MakeWindow = Callable[..., MainWindow]


def view_of(seconds: int, *, cards: int = 2, util: float = 90.0, state: NodeState = NodeState.CONNECTED) -> WatchView:
    view = WatchView("n", 1.0, state=state)
    for card in range(cards):
        for metric, value in (("gpu.util_percent", util), ("gpu.power_w", 350.0), ("gpu.temperature_c", 60.0 + card)):
            ring = view.rings[metric, f"GPU-{card}"] = Ring()
            for second in range(seconds):
                ring.append(NOW_S - seconds + second, value)
    return view


def known(view: WatchView | None, *broken: Broken, running: bool = True, contract: str = "C-1") -> Known:
    promise = {"gpu.power_w": Promised(700.0, Rule.HELD)}
    return Known(LiveNode(Node("n", "node-07", Reach.SSH), contract, "Haiqiong"), view, running, broken, promise)


def tile(view: WatchView | None, *broken: Broken, lane: LaneChoice = LaneChoice.UTIL, running: bool = True) -> Tile:
    return tile_of(known(view, *broken, running=running), lane, NOW_S, 1800.0)


def test_that_a_node_below_its_promise_is_told_with_figure_time_and_strip() -> None:
    made = tile(view_of(600), Broken("watch.floor", "GPU-1", NOW_S - 300, None, True, "gpu.power_w"))
    assert made.rank is Rank.BROKEN
    assert made.words == Text("Under the contract, GPU-1, 5 min 0 s", "低于合同，GPU-1，5 分 0 秒")
    assert [(one.value, one.token) for one in made.figures] == [("90", "t1"), ("350", "fail"), ("61", "t1"), ("–", "t3")]
    assert made.strip == ("",) * 40 + ("kept",) * 10 + ("fail",) * 10


def test_that_a_tile_leaves_out_the_cards_before_it_cuts_how_long_a_promise_is_broken() -> None:
    made = tile(view_of(600), Broken("watch.floor", "GPU-1", NOW_S - 300, None, True, "gpu.power_w"))
    metrics = QFontMetrics(QFont())
    whole, short = (metrics.horizontalAdvance(words.en) for words in (made.words, made.short))
    assert state_words(made, metrics, whole) == "Under the contract, GPU-1, 5 min 0 s"
    assert state_words(made, metrics, whole - 1) == state_words(made, metrics, short) == "Under the contract, 5 min 0 s"
    assert state_words(made, metrics, short - 1).endswith("…")
    assert spoken(made).startswith("node-07, Haiqiong, "), "what is cut of the supplier is in the tip"


def test_that_power_lies_on_the_scale_of_its_promise() -> None:
    made = tile(view_of(600), lane=LaneChoice.POWER)
    assert made.promise == pytest.approx(1 / 1.12) and made.line[-1] == round(0.5 / 1.12, 3)


def test_that_what_was_not_read_is_no_nought_and_no_line() -> None:
    view = view_of(600, state=NodeState.LOST)
    view.gaps.append(GapSpan(NOW_S - 134.0, "connection_lost"))
    for ring in view.rings.values():
        ring.append(NOW_S, None)
    made = tile(view)
    assert made.rank is Rank.LOST and made.words == Text("2 min 14 s: connection lost", "2 分 14 秒：连接中断")
    assert [one.value for one in made.figures] == ["–"] * 4
    assert made.line[:40] == (None,) * 40 and made.line[40] == round(90 / 105, 3)


def test_that_a_gap_inside_of_the_line_stays_open() -> None:
    view = view_of(0)
    ring = view.rings["gpu.util_percent", "GPU-0"]
    for second in (*range(600, 400, -1), *range(200, 0, -1)):
        ring.append(NOW_S - second, 50.0)
    shares = tile(view).line
    assert [share is None for share in shares] == [True] * 40 + [False] * 7 + [True] * 6 + [False] * 7


def test_that_a_stale_reading_is_not_shown_as_that_of_now() -> None:
    view = view_of(60)
    assert [one.value for one in tile_of(known(view), LaneChoice.UTIL, NOW_S + 60, 300.0).figures][:2] == ["–", "–"]


def counted(view: WatchView, promised: int | None, *broken: Broken) -> Tile:
    one = known(view, *broken)
    terms = {} if promised is None else {"gpu.count": promised}
    return tile_of(replace(one, node=replace(one.node, terms=terms)), LaneChoice.UTIL, NOW_S, 1800.0)


def test_that_a_node_with_fewer_cards_than_promised_is_not_told_as_well() -> None:
    made = counted(view_of(600, cards=7), 8)
    assert (made.rank, made.words) == (Rank.WARNED, Text("7 of 8 cards", "7 / 8 张卡"))
    hot = Broken("watch.hot", "GPU-1", NOW_S - 300, None, False)
    assert counted(view_of(600, cards=7), 8, hot).words.en == "7 of 8 cards"
    for seen, promised in ((8, 8), (9, 8), (7, None), (0, 8)):
        assert counted(view_of(600, cards=seen), promised).rank is Rank.FINE
    assert counted(view_of(600, cards=7), 8, Broken("watch.floor", "GPU-1", NOW_S - 300, None, True)).rank is Rank.BROKEN


def test_that_cards_that_come_one_by_one_and_those_taken_away_by_agreement_are_not_missed() -> None:
    begun, again, away = view_of(5, cards=7), view_of(600, cards=7), view_of(600, cards=7)
    again.gaps.append(GapSpan(NOW_S - 60.0, "connection_lost", NOW_S - 4.0, resumed=True))
    away.away = {"GPU-old": NOW_S - 500.0}
    assert [counted(view, 8).rank for view in (begun, again, away)] == [Rank.FINE] * 3
    assert counted(away, 9).words.en == "7 of 8 cards"


@pytest.mark.parametrize(("chips", "promised", "said"), [
    (14, 8, "7 of 8 cards"), (14, 16, "14 of 16 cards"), (14, 7, ""), (14, 14, ""),
])  # fmt: skip
def test_that_modules_and_chips_of_npus_are_counted_as_what_claims_less(chips: int, promised: int, said: str) -> None:
    view = WatchView("n", 1.0, state=NodeState.CONNECTED)
    for chip in range(chips):
        ring = view.rings["npu.temperature_c", f"{chip // 2}/{chip % 2}"] = Ring()
        for second in range(60):
            ring.append(NOW_S - 60 + second, 50.0)
    made = fewer_cards(LiveNode(Node("n", "node-07", Reach.SSH), "C-1", terms={"npu.count": promised}), view, NOW_S)
    assert (made.en if made else "") == said


def test_that_the_head_of_a_node_warns_of_fewer_cards_than_promised(qtbot: QtBot) -> None:
    band = TargetBand()
    qtbot.addWidget(band)
    band.resize(1000, 32)
    node = LiveNode(Node("n", "node-07", Reach.LOCAL), "C-1", terms={"gpu.count": 8})
    for view, said in ((view_of(600, cards=7), ["7 of 8 cards"]), (view_of(600, cards=8), [])):
        band.show_target(target_of(node, NodeState.CONNECTED, Impact.PASSIVE, None, None, fewer_cards(node, view, NOW_S)))
        shown = [label.text() for label in band.findChildren(PlainLabel) if label.property("level") == "warn" and not label.isHidden()]
        assert shown == said


def test_that_a_vanished_card_is_named_by_its_number_with_the_reason() -> None:
    view = view_of(60)
    view.numbers, view.lost = {"GPU-0": 4, "GPU-1": 6}, {"GPU-1": "not in the driver's list any more"}
    made = tile(view)
    assert made.rank is Rank.BROKEN and made.words.en == "GPU 6 lost: not in the driver's list any more"


def test_that_the_worst_comes_first_and_the_choice_stays(qtbot: QtBot) -> None:
    grid = TileView()
    qtbot.addWidget(grid)
    grid.nodes.set_tiles([Tile(name, name, rank=rank) for name, rank in (("b", Rank.FINE), ("a", Rank.FINE), ("c", Rank.UNWATCHED))])
    assert list(grid.nodes.shown) == ["a", "b", "c"]
    grid.setCurrentIndex(grid.nodes.index(1))
    grid.nodes.put(Tile("c", "c", rank=Rank.BROKEN, words=Text("GPU lost", "丢卡")))
    grid.nodes.arrange()
    assert (list(grid.nodes.shown), list(grid.chosen)) == (["c", "a", "b"], ["b"])
    assert spoken(grid.nodes.tiles[2]) == "c, Fail, GPU lost"
    grid.nodes.only(lambda one: one.rank is Rank.BROKEN)
    assert (list(grid.nodes.shown), list(grid.chosen)) == (["c"], [])


def test_that_tiles_stand_by_name_or_by_supplier_with_numbers_as_numbers(qtbot: QtBot) -> None:
    grid = TileView()
    qtbot.addWidget(grid)
    named = (("node-10", "Beta", Rank.BROKEN), ("node-9", "", Rank.LOST), ("Node-2", "beta", Rank.FINE), ("x", "Alpha", Rank.FINE))
    grid.nodes.set_tiles([Tile(name, name, note, rank) for name, note, rank in named])
    orders = {}
    for order in Order:
        grid.nodes.sort_by(order)
        orders[order] = list(grid.nodes.shown)
    assert orders == {
        Order.WORST: ["node-10", "node-9", "Node-2", "x"], Order.NAME: ["Node-2", "node-9", "node-10", "x"],
        Order.SUPPLIER: ["x", "Node-2", "node-10", "node-9"],
    }  # fmt: skip
    grid.nodes.put(Tile("x", "x", "Alpha", Rank.BROKEN))
    grid.nodes.arrange()
    assert grid.nodes.shown[0] == "x", "a node that gets worse does not move in an order that is not about that"


class Crowd:
    """Watches of more nodes than the demo has."""

    def __init__(self, held: dict[str, WatchView]) -> None:
        self.held = held

    def views(self) -> tuple[WatchView, ...]:
        return tuple(replace(view, node_id=id_) for id_, view in self.held.items())

    def view(self, node_id: str) -> WatchView | None:
        return self.held.get(node_id)


def test_that_of_many_tiles_only_those_that_changed_are_painted_again(qtbot: QtBot, theme: Theme) -> None:
    view = TileView()
    qtbot.addWidget(view)
    view.resize(1000, 700)
    some = [replace(tile(view_of(30)), node_id=f"n{number}") for number in range(6)]
    view.nodes.set_tiles(some)
    view.show()
    first = view.viewport().grab().toImage()
    kept = {id_: picture for id_, (_, picture) in view._painter._pictures.items()}
    assert set(kept) == {one.node_id for one in some}
    view.nodes.put(replace(some[2], name="another name"))
    second = view.viewport().grab().toImage()
    assert [id_ for id_, (_, picture) in view._painter._pictures.items() if picture is not kept[id_]] == ["n2"]
    changed = view.visualRect(view.nodes.index(2))
    assert second.copy(changed) != first.copy(changed)
    others = [view.visualRect(view.nodes.index(place)) for place in (0, 1, 3, 4, 5)]
    assert all(second.copy(one) == first.copy(one) for one in others)
    view.nodes.put(some[2])
    assert view.viewport().grab().toImage() == first
    theme.choose(ThemeMode.DARK)
    assert view.viewport().grab().toImage().copy(others[0]) != first.copy(others[0])


def test_that_no_more_pictures_of_tiles_are_kept_than_a_screen_shows(qtbot: QtBot) -> None:
    view = TileView()
    qtbot.addWidget(view)
    view.resize(1000, 700)
    view.nodes.set_tiles([replace(tile(None, running=False), node_id=f"n{number}") for number in range(2 * MOST_PICTURES)])
    view.show()
    for place in range(0, 2 * MOST_PICTURES, 10):
        view.scrollTo(view.nodes.index(place))
        view.viewport().grab()
    assert len(view._painter._pictures) == MOST_PICTURES


@pytest.fixture
def page(make_window: MakeWindow, demo: Services, qtbot: QtBot) -> live.LivePage:
    window = make_window(live.PAGE)
    window.resize(1440, 900)
    window.attach(demo)
    window.go("live")
    made = window.page
    assert isinstance(made, live.LivePage)
    qtbot.waitUntil(lambda: made.crumbs() == (ALL_NODES,), timeout=5000)
    return made


def test_that_nodes_are_watched_opened_and_left_from_the_grid(page: live.LivePage, demo: Services, translations: Translations, qtbot: QtBot) -> None:
    grid = page.all.grid
    assert grid.nodes.rowCount() == 9 and [button.text().strip() for button in page.buttons()] == ["Watch rules…", "Watch 9 nodes"]
    assert page.target() is None and not page.bar.isVisible()
    place = grid.nodes.shown.index("demo-honest")
    grid.setCurrentIndex(grid.nodes.index(place))
    assert [button.text().strip() for button in page.buttons()] == ["Watch rules…", "Watch 1 node"]
    page.bulk.watch_button.click()
    qtbot.waitUntil(lambda: "demo-honest" in grid.nodes.shown[:1], timeout=20000)
    qtbot.waitUntil(lambda: page.all.sums.watched.figure.text() == "1 of 9", timeout=5000)
    demo.bus.publish(WatchAlarm("demo-honest", "watch.hot", "", int(time.time() * 1000), None, Text("x", "x")))
    qtbot.waitUntil(lambda: any(tile.words.en.startswith("Too hot") for tile in grid.nodes.tiles), timeout=5000)
    page.all.bar.choose("unwatched")
    qtbot.waitUntil(lambda: grid.nodes.rowCount() == 8, timeout=5000)
    page.all.bar.choose("all")
    page.all.order.picked.emit("name")
    assert list(grid.nodes.shown) == sorted(grid.nodes.shown, key=lambda id_: id_.casefold())
    page.all.order.picked.emit("worst")
    translations.switch(Language.ZH)
    qtbot.waitUntil(lambda: page.bulk.stop_button.text().strip() == "停止监控 1 个节点", timeout=5000)
    translations.switch(Language.EN)
    grid.setCurrentIndex(grid.nodes.index(grid.nodes.shown.index("demo-honest")))
    QTest.keyClick(grid, Qt.Key.Key_Return)
    assert page.crumbs() == ("honest",) and page.bar.isVisible()
    page.bar.all_nodes.click()
    assert page.crumbs() == (ALL_NODES,)
    page.bulk.stop_button.click()
    qtbot.waitUntil(lambda: demo.watching.views() == (), timeout=10000)


def test_that_a_node_in_sight_that_is_watched_from_elsewhere_is_live_when_it_is_opened(page: live.LivePage, demo: Services, qtbot: QtBot) -> None:
    page.open("demo-honest")
    assert page.watch_button.text().strip() == "Watch honest" and page.view is None
    page.bar.all_nodes.click()
    demo.watching.start(page.all.node("demo-honest"))  # type: ignore[arg-type]
    page.open("demo-honest")
    assert page.view is demo.watching.view("demo-honest") and not page.chart.paused
    assert page.watch_button.text().strip() == "Stop watching honest"
    page.stop()
    assert page.watch_button.text().strip() == "Watch honest" and page.chart.paused
    demo.watching.start(page.node.node)  # type: ignore[union-attr]
    page.look()
    assert page.watch_button.text().strip() == "Stop watching honest" and not page.chart.paused
    demo.watching.stop("demo-honest")


def sums_of(views: list[WatchView], told: Watched | None = None) -> Sums:
    nodes = [LiveNode(Node(view.node_id, view.node_id, Reach.SSH), "C-1", "Haiqiong") for view in views]
    tiles = [tile_of(Known(node, view, True), LaneChoice.UTIL, NOW_S, 1800.0) for node, view in zip(nodes, views, strict=True)]
    sums = Sums()
    sums.show_all(nodes, {view.node_id: view for view in views}, tiles, told, NOW_S, 1800.0)
    return sums


def paused(node_id: str, *gaps: tuple[int, int, str]) -> WatchView:
    """A node that was read for half an hour but for these seconds before now, for which there is this reason."""
    view = WatchView(node_id, 1.0, state=NodeState.CONNECTED)
    ring = view.rings["gpu.util_percent", "GPU-0"] = Ring()
    for second in range(1800, 0, -1):
        if not any(begin >= second > end for begin, end, _ in gaps):
            ring.append(NOW_S - second, 90.0)
    view.gaps += [GapSpan(NOW_S - begin, why, NOW_S - end, True) for begin, end, why in gaps]
    return view


@pytest.mark.parametrize(("views", "words", "chinese"), [
    ([paused("a", (900, 300, "computer_slept")), paused("b", (900, 300, "computer_slept"))],
     "100.0\u2009% of expected (10 min not watched)", "应有的 100.0\u2009%（10 分未监控）"),
    ([paused("a", (900, 300, "not_watched")), paused("b")], "100.0\u2009% of expected (up to 10 min not watched)", "应有的 100.0\u2009%（最长 10 分未监控）"),
    ([paused("a", (1801, 300, "not_watched"))], "100.0\u2009% of expected (25 min not watched)", "应有的 100.0\u2009%（25 分未监控）"),
    ([paused("a", (1801, 300, "before the first reading"))], "100.0\u2009% of expected (25 min not watched)", "应有的 100.0\u2009%（25 分未监控）"),
    ([paused("a", (900, 300, "no_answer")), paused("b")], "83.3\u2009% of expected", "应有的 83.3\u2009%"),
    ([paused("a", (4000, 1800, "not_watched")), paused("b")], "100.0\u2009% of expected", "应有的 100.0\u2009%"),
])  # fmt: skip
def test_that_the_sum_of_samples_says_for_how_long_nobody_watched(
    views: list[WatchView], words: str, chinese: str, translations: Translations, qtbot: QtBot
) -> None:
    translations.switch(Language.EN)
    sums = sums_of(views)
    qtbot.addWidget(sums)
    assert sums.samples.figure.text() == words
    assert sums.minimumSizeHint().width() < sums.sizeHint().width() - sums.samples.figure.sizeHint().width() / 2, "it makes no window wider"
    translations.switch(Language.ZH)
    qtbot.waitUntil(lambda: sums.samples.figure.text() == chinese, timeout=5000)


@pytest.mark.parametrize(("seen", "words"), [(True, "none seen"), (False, "–")])
def test_that_of_a_day_on_which_nobody_watched_it_is_not_said_that_nothing_was_under_promise(
    seen: bool, words: str, english: Translations, qtbot: QtBot
) -> None:
    sums = sums_of([], Watched({}, NOW_S - 3600, seen=seen))
    qtbot.addWidget(sums)
    assert (sums.degraded.figure.text(), sums.idle.figure.text(), sums.worth.figure.text()) == (words, words, "–")


def test_that_the_filter_counts_what_the_tiles_say(page: live.LivePage) -> None:
    nodes, view = page.all, view_of(600)
    nodes._timer.stop()
    nodes.watching = Crowd({"n": view})
    nodes._clock = lambda: NOW_S
    nodes.set_nodes([LiveNode(Node("n", "node-07", Reach.SSH), "C-1")])
    for state, said, lost in ((NodeState.CONNECTED, "no rule broken", "Lost  0"), (NodeState.LOST, "lost", "Lost  1")):
        view.state, nodes._round_s = state, 0.0
        nodes.turn()
        assert ([tile.words.en for tile in nodes.grid.nodes.tiles], nodes.bar._chips["lost"].text()) == ([said], lost)


def test_that_a_hundred_nodes_do_not_stall_the_window(page: live.LivePage, qtbot: QtBot, stalls: StallGuard) -> None:
    with stalls.allow("the tiles of a hundred nodes are made"):
        now_s, views = time.time(), [view_of(600, cards=8) for _ in range(2)]
        for ring in (ring for view in views for ring in view.rings.values()):
            ring.append(now_s, 50.0)
        crowd = Crowd({f"n{number}": views[number % 2] for number in range(100)})
        page.all.watching = crowd
        page.all.set_nodes([LiveNode(Node(id_, f"node-{number:03}", Reach.SSH), "C-1", "Haiqiong") for number, id_ in enumerate(crowd.held)])
        qtbot.waitUntil(lambda: all(tile.rank is not Rank.UNWATCHED for tile in page.all.grid.nodes.tiles), timeout=10000)
    qtbot.wait(2000)
    qtbot.waitUntil(lambda: len(stalls.turns) > 20)
    assert page.all.grid.nodes.rowCount() == 100
