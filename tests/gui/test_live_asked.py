"""Is a line that carries a part of its promise a word with a way to the test, that neither flickers nor comes back when put away?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.checks.watch_rules import Judged
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live, verification
from gpulease_gui.gui.pages.live_asked import SAYS_AGAIN_S, STAYS_S
from gpulease_gui.services.composition import Services
from gpulease_gui.services.watch import WatchView

NODE = "demo-honest"


class Hand:
    """A clock that is put forward by hand."""

    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def watched(make_window: Callable[..., MainWindow], demo: Services, qtbot: QtBot) -> live.LivePage:
    window = make_window(live.PAGE, verification.PAGE)
    window.attach(demo)
    window.go("live", NODE, "watch")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.running and page.charted, timeout=20000)
    return page


def carrying(gbit_s: float, node_id: str = NODE) -> WatchView:
    return WatchView(node_id, 1.0, unjudged=(Judged(None, gbit_s, "Gbit/s", "network.gbit_s", 100.0, "net.tx_gbit_s"),))


def test_that_a_part_of_a_promise_is_told_with_its_test_and_can_be_put_away(watched: live.LivePage, english: Translations, qtbot: QtBot) -> None:
    clock, asked = Hand(), watched.acts.asked
    asked._clock = clock
    asked.tell(carrying(10.0))
    band = asked.band
    assert (band.headline.text(), band.sentence.text()) == ("Sent: 10 of 100 Gbit/s asked for or allowed", "Run the network test to know")
    clock.now_s += SAYS_AGAIN_S / 2
    asked.tell(carrying(11.0))
    assert band.headline.text().startswith("Sent: 10 of"), "words do not flicker"
    clock.now_s += SAYS_AGAIN_S
    asked.tell(carrying(12.0))
    assert band.headline.text().startswith("Sent: 12 of")
    english.switch(Language.ZH)
    qtbot.waitUntil(lambda: (band.headline.text(), band.sentence.text()) == ("发送：12 / 100 Gbit/s，需求少或受限，尚不可知", "运行网络测试即可判断"), timeout=20000)
    clock.now_s += STAYS_S
    asked.tell(WatchView(NODE, 1.0))
    assert not band.isHidden(), "a job that rests does not move the chart"
    clock.now_s += 1
    asked.tell(WatchView(NODE, 1.0))
    assert band.isHidden()
    asked.tell(carrying(10.0))
    asked.away.click()
    asked.tell(carrying(10.0))
    assert band.isHidden()
    asked.tell(carrying(10.0, "demo-capped"))
    asked.test.click()
    window = watched.window()
    assert isinstance(window, MainWindow) and isinstance(window.page, verification.VerificationPage)
