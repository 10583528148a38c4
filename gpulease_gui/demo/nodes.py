"""Which simulated nodes are there, and what was promised for each?"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from gpulease_gui.demo.keys import host_key_of, pin_of
from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.node_file import machine_from
from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text

# In the order in which people should meet them.
NAMES = ("honest", "pcie-as-sxm", "no-nvlink", "slow-net-a", "slow-net-b", "capped", "sick", "ascend", "hostile")
_FOLDER = resources.files("gpulease_gui.resources") / "demo"


@dataclass(frozen=True, slots=True)
class DemoDeal:
    """The papers of a simulated node: invented supplier, offer and contract. Prices as decimal text."""

    supplier: Text
    country: str
    contact: str
    quote_no: str
    offer: Text
    contract_no: str
    price: str
    currency: str
    start: date
    end: date


@dataclass(frozen=True, slots=True)
class DemoNode:
    """One simulated node. `story` says what is wrong with it, `terms` what its supplier promised.

    `peer` is the node that network measurements go to; `noise` are bytes that it writes between frames.
    """

    name: str
    title: Text
    story: Text
    terms: Mapping[str, TermValue]
    peer: str | None
    deal: DemoDeal
    host_key: HostKey
    machine: Machine
    noise: bytes = b""


@cache
def demo_nodes() -> Mapping[str, DemoNode]:
    """All simulated nodes by name, the honest one first. Raises KeyError or ValueError for a broken node.toml."""
    return MappingProxyType({name: _node(name) for name in NAMES})


def _node(name: str) -> DemoNode:
    table = tomllib.loads((_FOLDER / name / "node.toml").read_text(encoding="utf-8"))
    return DemoNode(
        name=name,
        title=_text(table.pop("title")),
        story=_text(table.pop("story")),
        terms=MappingProxyType(dict(table.pop("terms"))),
        peer=table.pop("peer", None),
        deal=_deal(table.pop("deal")),
        host_key=pin_of(host_key_of(name)),
        noise=table.pop("noise", "").encode(),
        machine=machine_from(name, table),
    )


def _text(table: dict[str, str]) -> Text:
    return Text(**table)


def _deal(table: dict[str, Any]) -> DemoDeal:
    return DemoDeal(supplier=_text(table.pop("supplier")), offer=_text(table.pop("offer")), **table)
