"""What does a simulated node show when it is looked at for longer, or once more?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from gpulease_gui.demo.detail_report import nvlink_errors
from gpulease_gui.demo.host_report import keyed
from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.smi_report import smi_xml
from gpulease_gui.domain.command import CommandOutput

LOOKS = 30


def look(machine: Machine, fact_id: str, words: Sequence[str], now: datetime) -> CommandOutput | None:
    """The output of a longer look at `now`; None for another fact, or a node that lacks the tool."""
    if fact_id == "leftovers":
        return _said(keyed([("home", "/root"), ("uid", "0"), ("entry", "/root"), ("owner", "0 root 1764000000"), ("du_code", "0"), ("kib", "212")]), 1.5)
    if fact_id == "ram_copy":
        nodes = [{"node": n, "workers": 8, "gb_s": 96.4 + n / 2} for n in range(machine.host.sockets)]
        return _said(json.dumps({"nodes": nodes}), 3.0 * len(nodes))
    if machine.driver is None:
        return None
    if fact_id == "idle_watch":
        return _said(_idle(machine), 62.0)
    if fact_id == "counters_after":
        return _said(nvlink_errors(machine) if "nvlink" in words else smi_xml(machine, now), 1.9)
    return None


def _said(text: str, seconds: float) -> CommandOutput:
    return CommandOutput(text.encode(), b"", 0, seconds)


def _idle(machine: Machine) -> str:
    """A minute of rest; a card with a process of somebody's works."""
    pairs = [("watch", "index,uuid,utilization.gpu,power.draw,clocks.sm,power.limit,power.default_limit,persistence_mode"), ("traffic_code", "0")]
    pairs += [("traffic", "# gpu  rxpci  txpci"), ("traffic", "# Idx   MB/s   MB/s")]
    pairs += [("traffic", f"{card.index} {900 if card.process else 1} 1") for _ in range(10) for card in machine.gpus]
    for _ in range(LOOKS):
        pairs.append(("smi_code", "0"))
        pairs += [
            ("row", f"{c.index}, {c.uuid}, {71 if c.process else 0}, {c.draw_w:.2f}, {c.sm_mhz}, {c.power_limit_w}.00, {c.board.power_w}.00, Enabled")
            for c in machine.gpus
        ]
    return keyed(pairs)
