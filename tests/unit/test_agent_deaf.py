"""Is it told, once, that nobody hears the Xids of a card?"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.agent import node_agent
from gpulease_gui.telemetry.source import Point, sources
from tests.unit import test_agent
from tests.unit.test_agent import FIRST, SECOND, Running, both_ways

library, faults, start, no_keeper_stays = test_agent.library, test_agent.faults, test_agent.start, test_agent.no_keeper_stays


def cards(running: Running, count: int) -> list[dict[str, Any]]:
    """The next lines of cards."""
    lines = (json.loads(payload) for id_, payload in running.lines() if id_ == "gpu" and payload.startswith("{"))
    return list(islice(lines, count))


@both_ways
@pytest.mark.parametrize(("wrong", "deaf"), [("deaf0", {FIRST}), ("deaf0 deaf1", {FIRST, SECOND}), ("mute", {FIRST, SECOND}), ("", set())])
def test_that_a_card_whose_events_are_refused_is_told_to_be_deaf_once(
    way: str, wrong: str, deaf: set[str], start: Callable[..., Running], faults: Path
) -> None:
    faults.write_text(wrong)
    lines = cards(start(way), 12)
    assert [(line["uuid"], line["deaf"]) for line in lines if "deaf" in line] == [(uuid, True) for uuid in (FIRST, SECOND) if uuid in deaf]
    assert {line["uuid"] for line in lines[:2] if "deaf" in line} == deaf, "by its first line"


class Card:
    """As many cards as are wished, of a driver that answers what is asked for here."""

    NVMLError = node_agent.Refusal
    refuses = True

    def nvmlEventSetCreate(self) -> int:
        return 1

    def nvmlEventSetFree(self, events: int) -> None:
        pass

    def nvmlDeviceRegisterEvents(self, handle: int, kinds: int, events: int) -> None:
        if self.refuses:
            raise node_agent.Refusal(4)

    def nvmlEventSetWait_v2(self, events: int, timeout_ms: int) -> None:
        raise node_agent.Refusal(node_agent.TIMEOUT)


def test_that_a_card_that_is_heard_after_a_while_is_told_to_be_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    voice: Any = node_agent.Voice("")
    monkeypatch.setattr(voice, "say", lambda source, payload: said.append(payload))
    gpus, card = node_agent.Gpus(voice, 1.0), Card()
    gpus._nvml, gpus._known = card, {FIRST: 0}
    for at_s in (100.0, 101.0, 131.0, 132.0, 163.0):
        monkeypatch.setattr(node_agent.time, "monotonic", lambda at_s=at_s: at_s)
        card.refuses = at_s < 131
        gpus._hear({FIRST: 7})
        gpus._say(FIRST, {})
    assert [json.loads(line).get("deaf") for line in said] == [True, None, False, None, None]


def test_that_a_deaf_card_that_is_lost_is_not_told_to_be_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    voice: Any = node_agent.Voice("")
    monkeypatch.setattr(voice, "say", lambda source, payload: said.append(payload))
    gpus = node_agent.Gpus(voice, 1.0)
    gpus._nvml, gpus._known = Card(), {FIRST: 0, SECOND: 1}
    for at_s, cards in ((100.0, {FIRST: 7, SECOND: 8}), (131.0, {SECOND: 8})):
        monkeypatch.setattr(node_agent.time, "monotonic", lambda at_s=at_s: at_s)
        gpus._hear(cards)
        gpus._say(FIRST, {} if FIRST in cards else {"lost": "GPU is lost"})
    assert [json.loads(line).get("deaf") for line in said] == [True, None]


def xids(*lines: str) -> list[list[tuple[float | None, str]]]:
    """(value, why) of the Xids that each line tells."""
    reader = sources()["gpu"].reader()
    return [[(point.value, point.why) for point in reader.read(line) if point.metric == "gpu.xid"] for line in lines]


def test_that_a_deaf_card_has_an_unknown_xid_and_never_a_zero() -> None:
    line = {"index": 0, "uuid": FIRST, "power_w": 400}
    assert xids(*(json.dumps({**line, **more}) for more in ({"deaf": True}, {}, {"deaf": False}, {"xids": [79]}, {"deaf": "yes"}))) == [
        [(None, "unheard")], [], [(None, "")], [(79.0, "")], [],
    ]  # fmt: skip


def test_that_rows_of_nvidia_smi_tell_once_that_no_xid_is_heard() -> None:
    rows = [f"{index}, {uuid}, 97, 41, 71680, 400, 63, 1755, 2619, 0x0" for index, uuid in ((0, FIRST), (1, SECOND), (0, FIRST), (1, SECOND))]
    assert xids(*rows) == [[(None, "unheard")], [], [], []]
    assert sources()["gpu"].reader().read(rows[0])[0] == Point("gpu.xid", "", None, why="unheard"), "of the whole node, not of each card"
