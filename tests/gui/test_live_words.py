"""Does the Live page speak Chinese only where the window does, down to tips, menus, painted words and names for assistive tools?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from gpulease_gui.catalog.xid import CLOCKS_HELD_BACK
from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_lanes import GAPS
from gpulease_gui.gui.widgets.chart_spec import Mode
from gpulease_gui.services.composition import Services
from gpulease_gui.services.gap_words import SERIES_WORDS
from gpulease_gui.services.watch import WatchView
from gpulease_gui.telemetry.source import metrics

from .live_data import told_view
from .live_walk import painted, told

MakeWindow = Callable[..., MainWindow]
# What is written so in Chinese too: hardware, units, keys, kinds of files, marks of statistics.
ALLOWED = {
    "GPU", "NPU", "CPU", "SM", "NVLink", "PCIe", "ECC", "Xid", "RDMA", "HBM", "SSH", "TCP", "AI", "Core", "GPULease",
    "W", "MHz", "Hz", "C", "GiB", "GB", "MB", "k", "M", "UTC", "USD", "CNY",
    "p", "p5", "p95", "CSV", "PNG", "PDF", "English", "Ctrl", "K", "Enter", "Shift",
}  # fmt: skip
RATES, COMMANDS = ("Gbit/s", "GB/s", "MB/s"), ("npu-smi info -t health", "nvidia-smi", "npu-smi")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9]*")


def foreign_words(demo: Services, views: dict[str, WatchView]) -> list[str]:
    """Rates, and names that nodes and suppliers gave, the longest first."""
    with demo.workspace.read() as connection:
        names = [str(value) for table, column in (("nodes", "name"), ("suppliers", "name"), ("contracts", "number"))
                 for (value,) in connection.execute(f"SELECT {column} FROM {table}")]  # fmt: skip
    subjects = {subject for view in views.values() for _, subject in view.rings}
    return sorted({*RATES, *names, *subjects, *(f"demo:{name}" for name in names)} - {""}, key=len, reverse=True)


def english_left(words: list[str], foreign: list[str]) -> dict[str, str]:
    """Latin words that stand in none of the lists, with where they stand."""
    found: dict[str, str] = {}
    for said in words:
        rest = said
        for name in foreign:
            rest = rest.replace(name, " ")
        found |= {word: said for word in _LATIN.findall(rest) if word not in ALLOWED}
    return found


def test_that_no_english_is_left_in_the_chinese_words_of_rules_gaps_metrics_and_slowdowns() -> None:
    said = [words.zh for rule in WATCH_RULES for words in (rule.title, rule.why, rule.next_step)]
    said += [words.zh for words in (*GAPS.values(), *SERIES_WORDS.values(), *CLOCKS_HELD_BACK.values(), *(metric.title for metric in metrics().values()))]
    assert english_left(said, list(COMMANDS)) == {}


@pytest.fixture
def views(demo: Services, monkeypatch: pytest.MonkeyPatch) -> dict[str, WatchView]:
    """What watches of three demo nodes hold: cards, chips, and one that is lost."""
    now_s = time.time()
    made = {f"demo-{name}": told_view(name, 90, now_s, gap=(40, 60)) for name in ("capped", "ascend", "sick")}
    monkeypatch.setattr(demo.watching, "view", made.get)
    monkeypatch.setattr(demo.watching, "views", lambda: tuple(made.values()))
    return made


@pytest.fixture
def window(make_window: MakeWindow, demo: Services, views: dict[str, WatchView]) -> MainWindow:
    made = make_window(live.PAGE)
    made.resize(1440, 900)
    made.attach(demo)
    made.speak(Language.ZH)
    return made


def walk(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return [*told(window), *painted(window, monkeypatch)]


@pytest.mark.parametrize("node", ["capped", "ascend", "sick", "honest"])
def test_that_no_english_is_left_in_the_chinese_page_of_a_node(
    node: str, window: MainWindow, demo: Services, views: dict[str, WatchView], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.go("live", f"demo-{node}")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == (node,) and page.charted == (node != "honest"))
    words = walk(window, monkeypatch)
    if page.charted:
        page.chart.set_mode(Mode.ALL)
        qtbot.waitUntil(lambda: len(page.table.rows) > 4)
        words += walk(window, monkeypatch)
        words += [page.chart._events.told_at(x) for x in range(0, page.chart.row_width, 8)]
        words += [lane.identity_words() for lane in page.chart.lanes]
        assert "包络" in words and any(word.startswith("最新") for word in words)
    else:
        assert "尚未监控 honest" in words
    assert english_left(words, foreign_words(demo, views)) == {}


def test_that_no_english_is_left_in_the_chinese_page_of_all_nodes(
    window: MainWindow, demo: Services, views: dict[str, WatchView], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.go("live")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.whole and sum(1 for tile in page.all.grid.nodes.tiles if any(tile.line)) == 3)
    words = walk(window, monkeypatch)
    assert "无数据" in words and "全部节点" in words
    assert english_left(words, foreign_words(demo, views)) == {}


def test_that_no_english_is_left_in_the_dialogs_of_the_chinese_page(
    window: MainWindow, demo: Services, views: dict[str, WatchView], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window.go("live", "demo-capped")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.charted)
    for show in (page.acts.show_rules, page.acts.show_rate, page.acts.show_retention, page.acts._add_note, page.acts.show_stretches):
        show()
        qtbot.waitUntil(lambda: any(isinstance(one, QDialog) and one.isVisible() for one in QApplication.topLevelWidgets()) and window.bridge.is_at_rest)
        dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, QDialog) and one.isVisible())
        assert english_left([*told(dialog), dialog.windowTitle()], foreign_words(demo, views)) == {}
        dialog.reject()
