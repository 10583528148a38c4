"""Is a node, or its clock, told wrong by a sleep of this computer or a pause of this program, through which what it said lay here unread?"""

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
from gpulease_gui.domain.finding import Reason, Verdict
from gpulease_gui.domain.frame import COLLECT, Frame, write_end, write_frame
from gpulease_gui.facts import clock_ticks
from gpulease_gui.remote import awake, collect
from gpulease_gui.remote.awake import VIGIL
from gpulease_gui.remote.failures import Phase, timed_out
from gpulease_gui.remote.transport import Chunk, LineLost
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
    """A far side that says one thing after the other, each after a while; then it is gone."""

    def __init__(self, clocks: Clocks, says: list[tuple[float, bytes]]) -> None:
        self._clocks, self._says = clocks, says

    def write(self, data: bytes) -> None:
        pass

    def read(self, seconds: float) -> Chunk:
        if not self._says:
            return Chunk(ended=True)
        pause_s, out = self._says.pop(0)
        self._clocks.run(pause_s)
        return Chunk(out)

    def end_input(self) -> None:
        pass

    def close(self) -> None:
        pass


def gathered(
    clocks: Clocks, pauses: list[tuple[float, bool]], *, ends: bool, open_: Callable[[], None] = lambda: None,
    on_frame: Callable[[Frame], None] = lambda _: None,
) -> collect.CollectEnd:  # fmt: skip
    """One frame after each of the pauses (seconds, whether a frame comes then), and the end mark; else the line is lost."""
    says: list[tuple[float, bytes]] = []
    ids = [f"f{number}" for number, (_, comes) in enumerate(pauses) if comes]

    def script(boundary: str) -> bytes:
        for number, (pause_s, comes) in enumerate(pauses):
            says.append((pause_s, write_frame(boundary, Frame(f"f{number}", CommandOutput(b"x"))) if comes else b""))
        if ends:
            says.append((0.0, write_end(boundary)))
        return b""

    def opened(_: str) -> Channel:
        open_()
        return Channel(clocks, says)

    line = SimpleNamespace(name="n", alive=ends, open=opened, close=lambda: None)
    return collect.gather(line, COLLECT, script, [*ids, "last"], on_frame, CancelToken(), Limits(60.0, math.inf, 30.0))


@pytest.mark.parametrize(
    ("pauses", "known"),
    [
        ([(0.2, True), (1.0, True), (0.2, True)], [True, True, True]),
        ([(0.2, True), (1.1, True), (0.2, True), (0.2, False), (0.2, True)], [True, False, False, True]),
        ([(0.2, True), (5.1, True), (0.2, True), (0.2, False), (0.2, True)], [True, False, False, False]),
    ],
    ids=["no pause", "a pause of ours, until all that lay here is read", "a sleep, over which it may still be on its way"],
)
def test_that_what_lay_unread_has_no_moment(
    pauses: list[tuple[float, bool]], known: list[bool], clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collect, "utc_now", lambda: NOW)
    found: list[datetime | None] = []
    gathered(clocks, pauses, ends=True, on_frame=lambda frame: found.append(frame.arrived_at))
    assert found == [NOW if one else None for one in known]


def passes(clocks: Clocks, seconds: float) -> None:
    """So much time goes by in which this computer is awake."""
    with VIGIL.kept() as watch:
        for _ in range(int(2 * seconds)):
            clocks.run(0.5)
            watch.now_s()


@pytest.mark.parametrize(
    ("opening_s", "slept_s", "frame_s", "reason"),
    [
        (0.0, 0.0, 0.0, Reason.CONNECTION_LOST), (50.0, 0.0, 0.0, Reason.CONNECTION_LOST), (0.0, 0.0, 50.0, Reason.CONNECTION_LOST),
        (0.0, 60.0, 0.0, Reason.COMPUTER_SLEPT),
    ],
    ids=["quick", "an opening that takes long", "a reader that takes long", "a sleep"],
)  # fmt: skip
def test_that_only_a_time_in_which_nobody_here_looks_is_a_sleep(
    opening_s: float, slept_s: float, frame_s: float, reason: Reason, clocks: Clocks
) -> None:
    def open_() -> None:
        passes(clocks, opening_s)
        clocks.run(slept_s)

    end = gathered(clocks, [(0.2, True)], ends=False, open_=open_, on_frame=lambda _: passes(clocks, frame_s))
    assert [(one.id, one.reason) for one in end.missing] == [("last", reason)]


@pytest.mark.parametrize(("seconds", "slept"), [(60.0, True), (4.0, False)])
@pytest.mark.parametrize("error", [LineLost("n"), timed_out(Phase.CHANNEL, "n:22", 15.0)], ids=["lost", "timeout"])
def test_that_an_opening_that_did_not_outlast_a_sleep_blames_no_node(error: Exception, seconds: float, slept: bool, clocks: Clocks) -> None:
    def open_() -> None:
        clocks.run(seconds)
        raise error

    if slept:
        assert [one.reason for one in gathered(clocks, [], ends=False, open_=open_).missing] == [Reason.COMPUTER_SLEPT]
        return
    with pytest.raises(type(error)):
        gathered(clocks, [], ends=False, open_=open_)


class Server:
    """Prints four stamps, of a clock that is right, each at its time; `asleep`: what this computer does before a look."""

    ended = False

    def __init__(self, clocks: Clocks, asleep: Callable[[int], None]) -> None:
        self._clocks, self._asleep, self._looks = clocks, asleep, 0
        began_s = clocks.lasting_s
        self._due = [began_s + after_s for after_s in (0.1, 0.35, 0.6, 5.6)]
        self.output = b"".join(b"gpulease-tick %.3f %.3f %d\n" % (due, due, number) for number, due in enumerate(self._due))

    def wait_for(self, words: bytes, seconds: float, cancel: CancelToken) -> bool:
        due_s = self._due[int(words)]
        self._looks += 1
        self._asleep(LAST if due_s == self._due[3] and due_s - self._clocks.lasting_s <= seconds else self._looks)
        left_s = max(0.0, due_s - self._clocks.lasting_s)
        self._clocks.run(min(seconds, left_s))
        return left_s <= seconds

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        pass


LAST = -1  # the look that finds the last stamp
PROMISE = Promise(Catalogue(GpuCatalogue(), {}))
SLEPT = (Verdict.INCONCLUSIVE, "computer_slept", "this computer slept or stood still while the stamps came", None)
RIGHT = (
    Verdict.PASS, "", "5 s passed on the node while 5 s passed here (line sways by 0 ms); its time is 0 s off ours", 1.0,
)  # fmt: skip
LATE, SOON = (
    (Verdict.PASS, "", f"5 s passed on the node while {ours} s passed here (line sways by {sway} ms); its time is 0 s off ours", ratio)
    for ours, sway, ratio in (("5.090", "90.0", 0.9823), ("5.020", 0, 0.996))
)


@pytest.mark.parametrize(
    ("look", "seconds", "steady", "told"),
    [
        (0, 0.0, True, RIGHT),
        (1, 1800.0, True, SLEPT), (1, 1800.0, False, SLEPT), (1, 3.0, True, SLEPT),
        (40, 1800.0, True, SLEPT), (40, 1800.0, False, SLEPT), (40, 3.0, True, SLEPT),
        (40, 0.9, True, RIGHT), (1, 0.9, True, SLEPT), (LAST, 0.9, True, SLEPT), (LAST, 0.09, True, LATE), (LAST, 0.02, True, SOON),
    ],
    ids=[
        "awake", "a sleep before the first stamp, as on Windows", "as on Linux", "a pause before the first stamp",
        "a sleep before the last stamp, as on Windows", "as on Linux", "a pause before the last stamp",
        "a short pause of ours while nothing comes", "while the first stamps come", "when the last one comes", "a still shorter one",
        "one that hardly matters",
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
