"""What does every measurement get to work with, and how is one described?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.raw_runs import unpack
from gpulease_gui.services.links import Links, Opened

# Told a load, whether it runs, and at its end whether it is believed.
OnLoad = Callable[[Load, bool, bool], None]


def unheard(load: Load, runs: bool, believed: bool) -> None:
    """Where nobody watches."""


class Ending:
    """How a test ended that may have been the limit itself: it is not believed unless somebody says so."""

    believed = False


class NoPeer(UserFacing):
    """A measurement between two nodes without a second one, or without an address of it."""


_NO_PEER = Text("no peer node was named", "未指定第二个节点"), "", Text("name the second node", "请选择第二个节点")


class MeasureLines:
    """The lines of one measurement: the node's, and its peer's once it is needed; and the promise it is made for."""

    def __init__(
        self, opened: Opened, node: Node, peer: Node | None, peer_address: str, links: Links, promise: Promise,
        urls: tuple[str, ...] = (), on_load: OnLoad = unheard,
    ) -> None:  # fmt: skip
        self.line = opened.line
        self.node = node
        self.promise = promise
        self.urls = urls
        self._on_load = on_load
        self._peer = peer
        self._peer_address = peer_address
        self._links = links
        self._peer_opened: Opened | None = None
        self.reached_port: int | None = None  # of the peer, once the node came through to it

    def peer(self, cancel: CancelToken) -> Opened:
        """The peer's line. Raises NotConnected, NoPeer."""
        if self._peer is None:
            raise NoPeer(*_NO_PEER, at_terminal="name the second node: --peer user@host")
        if self._peer_opened is None:
            self._peer_opened = self._links.open(self._peer, cancel)
        return self._peer_opened

    @property
    def peer_host(self) -> str:
        """The address under which the node reaches its peer. Raises NoPeer."""
        if self._peer is None:
            raise NoPeer(*_NO_PEER, at_terminal="name the second node: --peer user@host")
        own = self._peer.address.host if self._peer.address else self._peer.demo_name or "127.0.0.1"
        host = self._peer_address or own
        if host.startswith("-"):
            raise NoPeer(
                Text(f"{host!r} is no address of a peer", f"{host!r} 不是第二个节点的地址"), next_step=Text("name it as an IP address, such as 10.0.0.2", "请填写 IP 地址，如 10.0.0.2"),
                at_terminal="name it as an IP address: --peer-address 10.0.0.2",
            )
        return host

    @contextmanager
    def loaded(self, load: Load | None) -> Iterator[Ending]:
        """While a test asks for all of it that the node gives; None: this one asks for less."""
        ending = Ending()
        if load is not None:
            self._on_load(load, True, False)
        try:
            yield ending
        finally:
            if load is not None:
                self._on_load(load, False, ending.believed)

    def close(self) -> None:
        """Close the peer's line; the node's own stays open."""
        if self._peer_opened is not None:
            self._peer_opened.line.close()
            self._peer_opened = None


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be measured now: these directions, for `seconds` (None = the measurement's own length).

    `before` holds the tests that were made already; they are kept.
    """

    lines: MeasureLines
    seconds: int | None
    cancel: CancelToken
    directions: tuple[str, ...]
    before: CommandOutput | None = None


# Blocks while it measures. Raises Cancelled, UserFacing.
Measure = Callable[[Task], CommandOutput]


def never_again(reading: Any, promise: Promise) -> tuple[str, ...]:
    """Of a measurement that is not repeated at once."""
    return ()


@dataclass(frozen=True, slots=True)
class Measurement:
    """How an active fact is measured: all its directions first, then those that `again` names once more."""

    directions: tuple[str, ...]
    measure: Measure
    again: Callable[[Any, Promise], tuple[str, ...]] = never_again


def tests_of(before: CommandOutput | None, direction: str) -> list[CommandOutput]:
    """The tests of one direction that `before` holds; none without it."""
    if before is None:
        return []
    told: Any = json.loads(before.stdout)
    return list(unpack(told.get(direction)))
