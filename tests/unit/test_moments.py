"""Is the clock of a node told wrong by a sleep of this computer, through which what it said lay here unread?"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.checks import trust_clock
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.frame import COLLECT, Frame, write_end, write_frame
from gpulease_gui.facts import clock_ticks
from gpulease_gui.remote import awake, collect
from gpulease_gui.remote.transport import Chunk
from gpulease_gui.remote.wrap import Limits
from gpulease_gui.services import measure_host
from gpulease_gui.services.measure_host import measure_clock

NOW = datetime(2026, 12, 3, 5, 0, tzinfo=UTC)


class Clocks:
    """Ours: seconds of one that runs on in a sleep, of time.monotonic and of time.time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lasting_s = self.steady_s = self.wall_s = 1000.0
        monkeypatch.setattr(awake, "lasting_s", lambda: self.lasting_s)
        monkeypatch.setattr(measure_host, "time", SimpleNamespace(monotonic=lambda: self.steady_s, time=lambda: self.wall_s))

    def run(self, seconds: float, *, steady: bool = True) -> None:
        self.lasting_s, self.wall_s = self.lasting_s + seconds, self.wall_s + seconds
        self.steady_s += seconds if steady else 0.0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    return Clocks(monkeypatch)


class Channel:
    """A far side that says one thing after the other, each after a while."""

    def __init__(self, clocks: Clocks, says: list[tuple[float, bytes]]) -> None:
        self._clocks, self._says = clocks, says

    def write(self, data: bytes) -> None:
        pass

    def read(self, seconds: float) -> Chunk:
        pause_s, out = self._says.pop(0)
        self._clocks.run(pause_s)
        return Chunk(out)

    def end_input(self) -> None:
        pass

    def close(self) -> None:
        pass


def arrivals(clocks: Clocks, pauses: list[float]) -> list[datetime | None]:
    """When each of the frames was here that were read after these pauses."""
    found: list[datetime | None] = []
    says: list[tuple[float, bytes]] = []
    ids = [f"f{number}" for number in range(len(pauses))]

    def script(boundary: str) -> bytes:
        says.extend(
            (pause_s, write_frame(boundary, Frame(id_, CommandOutput(b"x")))) for id_, pause_s in zip(ids, pauses, strict=True)
        )
        says.append((0.0, write_end(boundary)))
        return b""

    line = SimpleNamespace(name="n", alive=True, open=lambda _: Channel(clocks, says), close=lambda: None)
    end = collect.gather(
        line, COLLECT, script, ids, lambda frame: found.append(frame.arrived_at), CancelToken(), Limits(60.0, math.inf, math.inf)
    )
    assert end.complete
    return found


def test_that_what_lay_unread_through_a_sleep_has_no_moment(clocks: Clocks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "utc_now", lambda: NOW)
    assert arrivals(clocks, [0.2, 5.0, 5.1, 0.2]) == [NOW, NOW, None, None]


class Server:
    """Prints four stamps, of a clock that is right, each at its time; `asleep`: what this computer does before a look."""

    ended = False

    def __init__(self, clocks: Clocks, asleep: Callable[[int], None]) -> None:
        self._clocks, self._asleep, self._looks = clocks, asleep, 0
        began_s = clocks.lasting_s
        self._due = [began_s + after_s for after_s in (0.1, 0.35, 0.6, 5.6)]
        self.output = b"".join(b"gpulease-tick %.3f %.3f %d\n" % (due, due, number) for number, due in enumerate(self._due))

    def wait_for(self, words: bytes, seconds: float, cancel: CancelToken) -> bool:
        self._looks += 1
        self._asleep(self._looks)
        left_s = max(0.0, self._due[int(words)] - self._clocks.lasting_s)
        self._clocks.run(min(seconds, left_s))
        return left_s <= seconds

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        pass


PROMISE = Promise(Catalogue(GpuCatalogue(), {}))
SLEPT = (Verdict.INCONCLUSIVE, "computer_slept", "this computer slept or stood still while the stamps came", None)
RIGHT = (
    Verdict.PASS, "", "5 s passed on the node while 5 s passed here (line sways by 0 ms); its time is 0 s off ours", 1.0,
)  # fmt: skip


@pytest.mark.parametrize(
    ("look", "seconds", "steady", "told"),
    [
        (99, 0.0, True, RIGHT),
        (1, 1800.0, True, SLEPT), (1, 1800.0, False, SLEPT), (1, 3.0, True, SLEPT),
        (40, 1800.0, True, SLEPT), (40, 1800.0, False, SLEPT), (40, 3.0, True, SLEPT),
    ],
    ids=[
        "awake", "a sleep before the first stamp, as on Windows", "as on Linux", "a pause before the first stamp",
        "a sleep before the last stamp, as on Windows", "as on Linux", "a pause before the last stamp",
    ],
)  # fmt: skip
def test_that_the_clock_of_a_node_is_not_judged_by_stamps_that_lay_unread(
    look: int, seconds: float, steady: bool, told: tuple, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asleep(number: int) -> None:
        if number == look:
            clocks.run(seconds, steady=steady)

    monkeypatch.setattr(measure_host, "start_server", lambda *_: Server(clocks, asleep))
    task = SimpleNamespace(lines=SimpleNamespace(line=None), seconds=5, cancel=CancelToken(), before=None)
    (found,) = trust_clock.judge(clock_ticks.parse(measure_clock(task)), PROMISE)
    assert (found.verdict, found.reason_code, found.reason.en, found.measured) == told
