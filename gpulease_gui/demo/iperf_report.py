"""How does `iperf3 -J` print a run between two simulated nodes?"""

from __future__ import annotations

import json
from dataclasses import dataclass

from gpulease_gui.demo.machine import Machine

_VERSION = "iperf 3.16"
_RULE = "-" * 59
IPERF_TAKEN = b"iperf3: error - unable to start listener for connections: Address already in use\niperf3: exiting\n"


@dataclass(frozen=True, slots=True)
class Trip:
    """One run: where to, how long (s), how many streams, who sends, the rate that the line gives, and how many went before."""

    host: str
    port: int
    seconds: int
    streams: int
    reverse: bool
    gbit_s: float
    turn: int = 0


def iperf_json(machine: Machine, trip: Trip) -> str:
    """The JSON that a client prints of a TCP run, one interval per second."""
    dice = machine.dice(f"iperf {trip.reverse} {trip.streams} {trip.turn}")
    seconds = trip.seconds
    rates = [trip.gbit_s * 1e9 * dice.uniform(0.985, 1.004) for _ in range(seconds)]
    sender = not trip.reverse
    intervals = [{"streams": [], "sum": _sum(n, n + 1, rate, sender, n % 3)} for n, rate in enumerate(rates)]
    mean = sum(rates) / len(rates)
    load = dice.uniform(31.0, 44.0)
    document = {
        "start": _start(machine, trip),
        "intervals": intervals,
        "end": {
            "streams": [_stream(5 + 2 * n, seconds, mean / trip.streams) for n in range(trip.streams)],
            "sum_sent": _sum(0, seconds, mean * 1.0004, True, 37 * trip.streams),
            "sum_received": {k: v for k, v in _sum(0, seconds, mean, False, 0).items() if k != "retransmits"},
            "cpu_utilization_percent": {
                "host_total": load, "host_user": load * 0.03, "host_system": load * 0.97,
                "remote_total": load * 1.2, "remote_user": load * 0.05, "remote_system": load * 1.15,
            },
            "sender_tcp_congestion": "cubic",
            "receiver_tcp_congestion": "cubic",
        },
    }  # fmt: skip
    return json.dumps(document, indent="\t") + "\n"


def iperf_listening(port: int) -> str:
    """The first words of a server."""
    return f"{_RULE}\nServer listening on {port} (test #1)\n{_RULE}\n"


def iperf_served(machine: Machine, as_json: bool) -> str:
    """What a server prints of a client that it has served; the figures are the client's to tell."""
    if as_json:
        start = {"connected": [], "version": _VERSION, "system_info": f"Linux {machine.host.hostname}"}
        return json.dumps({"start": start, "intervals": [], "end": {}}, indent="\t") + "\n"
    return "Accepted connection\n[SUM]   receiver\n"


def iperf_refused() -> str:
    """What a client prints when nobody listens."""
    return json.dumps(
        {
            "start": {"connected": [], "version": _VERSION, "system_info": "Linux"},
            "intervals": [],
            "end": {},
            "error": "unable to connect to server - server may have stopped running or use a different port, "
            "firewall issue, etc.: Connection refused",
        },
        indent="\t",
    )


def _sum(start: int, end: int, bits: float, sender: bool, retransmits: int) -> dict[str, object]:
    return {
        "start": start, "end": end, "seconds": end - start, "bytes": int(bits / 8 * (end - start)),
        "bits_per_second": bits, "retransmits": retransmits, "omitted": False, "sender": sender,
    }  # fmt: skip


def _stream(socket: int, seconds: int, bits: float) -> dict[str, object]:
    half = {"socket": socket, "start": 0, "end": seconds, "seconds": seconds, "bytes": int(bits / 8 * seconds),
            "bits_per_second": bits}  # fmt: skip
    return {"sender": {**half, "retransmits": 37, "sender": True}, "receiver": {**half, "sender": False}}


def _start(machine: Machine, trip: Trip) -> dict[str, object]:
    own = machine.fastest.address.split("/")[0]
    return {
        "connected": [
            {"socket": 5 + 2 * n, "local_host": own, "local_port": 41800 + 2 * n, "remote_host": trip.host or "10.0.0.1",
             "remote_port": trip.port} for n in range(trip.streams)
        ],
        "version": _VERSION,
        "system_info": f"Linux {machine.host.hostname} {machine.host.kernel} #1 SMP x86_64",
        "target_bitrate": 0,
        "test_start": {
            "protocol": "TCP", "num_streams": trip.streams, "blksize": 131072, "omit": 0, "duration": trip.seconds, "bytes": 0,
            "blocks": 0, "reverse": int(trip.reverse), "tos": 0, "bidir": 0,
        },
        "connecting_to": {"host": trip.host, "port": trip.port},
    }  # fmt: skip
