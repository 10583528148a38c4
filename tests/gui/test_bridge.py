"""Do the events of many nodes reach the window in their order, without keeping it from anything else?"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QEventLoop, QTimer
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import CheckState
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.services.events import Bus, CheckChanged, Event, JobChanged, RecordsChanged


def test_that_a_flood_of_events_lets_the_window_do_other_things_in_between(qtbot: QtBot) -> None:
    bus, bridge = Bus(), Bridge()
    bridge.attach(bus)
    heard: list[Event] = []

    def hear(event: Event) -> None:
        until = time.perf_counter() + 0.001
        while time.perf_counter() < until:
            pass
        heard.append(event)

    bridge.arrived.connect(hear)
    sent = [JobChanged(str(number), "job") for number in range(60)]
    with ThreadPoolExecutor(1) as pool:
        pool.submit(lambda: [bus.publish(event) for event in sent]).result()
    before: list[int] = []
    QTimer.singleShot(0, bridge, lambda: before.append(len(heard)))
    qtbot.waitUntil(lambda: len(heard) == 60)
    assert heard == sent
    assert before and before[0] <= 8


def test_that_results_and_events_come_in_the_order_in_which_they_happened(qtbot: QtBot) -> None:
    bus, bridge, done = Bus(), Bridge(), Future[str]()
    bridge.attach(bus)
    heard: list[object] = []
    bridge.arrived.connect(lambda event: heard.append(next(iter(event.kinds))))
    bridge.when_done(done, heard.append)
    bus.publish(RecordsChanged(frozenset(["first"])))
    done.set_result("second")
    bus.publish(RecordsChanged(frozenset(["third"])))
    qtbot.waitUntil(lambda: len(heard) == 3)
    assert heard == ["first", "second", "third"]


def test_that_what_checks_say_is_gathered_until_something_else_comes(qtbot: QtBot) -> None:
    bus, bridge = Bus(), Bridge()
    bridge.attach(bus)
    heard: list[Event] = []
    bridge.arrived.connect(heard.append)
    said = [CheckChanged("run", f"check.{number}", CheckState.DONE) for number in range(3)]
    first = JobChanged("first", "job")
    bus.publish(first)
    qtbot.waitUntil(lambda: heard == [first])
    early: list[int] = []
    for event in said[:2]:
        bus.publish(event)
    QTimer.singleShot(0, bridge, lambda: early.append(len(heard)))
    qtbot.waitUntil(lambda: len(heard) == 3)
    assert early == [1]
    last = JobChanged("last", "job")
    bus.publish(said[2])
    bus.publish(last)
    QTimer.singleShot(0, bridge, lambda: early.append(len(heard)))
    qtbot.waitUntil(lambda: len(early) == 2)
    assert early == [1, 5] and heard == [first, *said, last]


def test_that_a_dialog_opened_by_an_event_hears_the_next_ones(qtbot: QtBot) -> None:
    bus, bridge, loop = Bus(), Bridge(), QEventLoop()
    bridge.attach(bus)
    heard: list[str] = []

    def hear(event: Event) -> None:
        assert isinstance(event, JobChanged)
        heard.append(event.job_id)
        if event.job_id == "opens":
            loop.exec()
        elif event.job_id == "closes":
            loop.quit()

    bridge.arrived.connect(hear)
    bus.publish(JobChanged("opens", "job"))
    bus.publish(JobChanged("closes", "job"))
    qtbot.waitUntil(lambda: heard == ["opens", "closes"])


def test_that_nothing_of_an_earlier_workspace_comes_late(qtbot: QtBot) -> None:
    bus, bridge, done = Bus(), Bridge(), Future[None]()
    bridge.attach(bus)
    heard: list[object] = []
    bridge.arrived.connect(heard.append)
    bridge.when_done(done, heard.append)
    bus.publish(JobChanged("old", "job"))
    done.set_result(None)
    bridge.detach()
    bridge.attach(bus)
    bus.publish(JobChanged("new", "job"))
    qtbot.waitUntil(lambda: bool(heard))
    assert heard == [JobChanged("new", "job")]
