"""Which stop on the way is it that failed, when one that we are logged in to may be lost?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.awake import VIGIL
from gpulease_gui.remote.driving import look
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import gone
from gpulease_gui.remote.route import Passed, Route, told_of_proxy
from gpulease_gui.remote.slept import computer_slept, of_a_sleep
from gpulease_gui.remote.way_out import OWN_NETWORK

# What runs through a connection hears of its end a moment before it is over.
_END_S = 0.1
_ON_THE_WAY = Text("the connection to it was lost on the way on", "继续连接后续主机时，与其的连接已断开")
_LOST = Text("the connection to it was lost", "与其的连接已断开")


@contextlib.contextmanager
def told(number: int, route: Route, passed: Sequence[Passed]) -> Iterator[None]:
    """What fails at the `number`th stop is said of the first jump host of `passed` that was lost, else of that stop: a
    jump host, or a proxy before SSH began. Of neither where this computer slept meanwhile.
    """
    with VIGIL.kept() as watch:
        try:
            yield
        except ConnectFailed as failed:
            if of_a_sleep(failed, watch):
                raise computer_slept(failed) from failed.__cause__
            raise _told(failed, number, route, passed) from failed.__cause__


def _told(failed: ConnectFailed, number: int, route: Route, passed: Sequence[Passed]) -> ConnectFailed:
    error, at = _first_lost(passed) or (failed, number)
    if error is failed and number == 1 and route.proxy is not None:
        error = told_of_proxy(failed, route.proxy)
    if at <= len(route.hops) and error.cause != OWN_NETWORK:
        error.at_hop(at, len(route.hops))
    return error


def lost_through(passed: Sequence[Passed]) -> Text:
    """Which of the jump hosts `passed` was lost, and so all that was reached through it; empty where none was."""
    error, at = _first_lost(passed, _LOST) or (None, 0)
    if error is None:
        return NO_TEXT
    error.at_hop(at, len(passed))
    return error.why_text


def _first_lost(passed: Sequence[Passed], why: Text = _ON_THE_WAY) -> tuple[ConnectFailed, int] | None:
    """Whose end ended all that was reached through it."""
    for number, stop in enumerate(passed, 1):
        if _is_over(stop):
            error = gone(stop.transport, Phase.CHANNEL, stop.host_port)
            return (error if error.cause == "renegotiates" else _lost(stop.host_port, why)), number
    return None


def _is_over(stop: Passed) -> bool:
    look(stop.transport)
    if stop.transport.is_active() and stop.transport.ident is not None:
        stop.transport.join(_END_S)
    return not stop.transport.is_active()


def _lost(host_port: str, why: Text) -> ConnectFailed:
    return ConnectFailed(
        Phase.CHANNEL, host_port, "lost", why,
        Text("connect again; if it is lost each time, ask who runs it", "请重新连接；若每次都断开，请联系其管理员"),
    )  # fmt: skip
