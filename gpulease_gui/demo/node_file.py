"""How does the file of a simulated node become a machine?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpulease_gui.demo.boards import BOARDS
from gpulease_gui.demo.machine import Disk, Driver, GpuCard, Host, Machine, Npu, Port, mac_of, uuid_of

_IDLE_MHZ = 345
_LOOPBACK = Port("lo", -1, "", "00:00:00:00:00:00", mtu=65536, address="127.0.0.1/8")


def machine_from(name: str, table: dict[str, Any]) -> Machine:
    """The machine that `table` describes. Raises KeyError, TypeError or ValueError for an unknown or missing key."""
    driver = table.pop("driver", None)
    cards = _cards(name, table.pop("gpus")) if "gpus" in table else ()
    gone = set(table.pop("lost", []))
    left = [card for card in cards if card.index not in gone]
    machine = Machine(
        name=name,
        host=Host(**table.pop("host")),
        driver=Driver(**driver) if driver else None,
        gpus=tuple(replace(card, index=n) for n, card in enumerate(left)),
        npus=_npus(table.pop("npus")) if "npus" in table else (),
        ports=(_LOOPBACK, *(_port(name, port) for port in table.pop("ports"))),
        disks=tuple(Disk(**disk) for disk in table.pop("disks")),
        iperf_gbit_s=float(table.pop("iperf_gbit_s")),
        nvlink_up=table.pop("nvlink_up", True),
        quirks=frozenset(table.pop("quirks", [])),
        lost=tuple(card for card in cards if card.index in gone),
        torch=table.pop("torch", None),
    )
    if table:
        raise ValueError(f"the file of {name} has unknown keys: {', '.join(sorted(table))}")
    return machine


def _cards(name: str, table: dict[str, Any]) -> tuple[GpuCard, ...]:
    board = BOARDS[table.pop("board")]
    special = {int(index): changes for index, changes in table.pop("special", {}).items()}
    first_serial, buses = table.pop("first_serial"), table.pop("buses")
    plain: Mapping[str, Any] = {
        "name": board.name, "power_limit_w": board.power_w, "sm_mhz": _IDLE_MHZ, "reasons": ("gpu_idle",), **table,
    }  # fmt: skip
    cards = []
    for index, bus in enumerate(buses):
        fields = {
            **plain,
            "draw_w": plain["draw_w"] + 1.37 * (index * 5 % 8),
            "temperature_c": plain["temperature_c"] + index * 3 % 5,
        }
        fields |= special.pop(index, {})
        fields["reasons"] = tuple(fields["reasons"])
        cards.append(GpuCard(
            index=index, board=board, bus=bus, uuid=uuid_of(name, index), serial=str(first_serial + index * 17), **fields
        ))  # fmt: skip
    if special:
        raise ValueError(f"{name} has no card {sorted(special)}")
    return tuple(cards)


def _npus(table: dict[str, Any]) -> tuple[Npu, ...]:
    buses = table.pop("buses")
    return tuple(
        Npu(index=n, bus=bus, temperature_c=36 + n * 3 % 7, power_w=round(91.4 + n * 7 % 5 * 1.3, 1), **table)
        for n, bus in enumerate(buses)
    )


def _port(name: str, table: dict[str, Any]) -> Port:
    return Port(mac=mac_of(name, table["name"]), **table)
