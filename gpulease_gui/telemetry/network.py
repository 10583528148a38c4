"""How much goes in and out of each network interface?"""

from __future__ import annotations

import re

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.rates import Present, Rates, counter, split_sample
from gpulease_gui.telemetry.source import Metric, Point, Source, proc_loop

METRICS = (
    Metric("net.rx_gbit_s", Text("Received", "接收"), "Gbit/s", "network", term="network.gbit_s"),
    Metric("net.tx_gbit_s", Text("Sent", "发送"), "Gbit/s", "network", term="network.gbit_s"),
)
# Loopback, and what comes and goes with containers and pods: it carries nothing that the node's own interfaces do not. The agent
# leaves the same ones out.
_SKIPPED = re.compile(
    r"(?:lo|sit\d|tunl\d|ip6tnl\d|kube-ipvs\d|nodelocaldns)\Z|(?:docker|veth|cali|lxc|lxd|cilium|cni|flannel|virbr|vnet|tap|vxlan|geneve?|genev_|kube-|dummy|ifb|podman|weave|azv|gke)"
    r"|(?:br|vmbr|fwbr|fwln|fwpr)-[0-9a-f]{12}\Z|eni[0-9a-f]{11}\Z"
)
_GBIT_PER_BYTE = 8 / 1e9
# Four ports of 800 Gbit/s in one bond; links of today end at 800.
_MOST_GBIT_S = 3_200.0


class _Reader:
    def __init__(self) -> None:
        self._rates, self._present = Rates(_MOST_GBIT_S / _GBIT_PER_BYTE), Present()

    def read(self, line: str) -> tuple[Point, ...]:
        """/proc/net/dev: name, then 8 receive and 8 transmit counters; bytes are the first of each."""
        at_s, rows = split_sample(line)
        points: list[Point] = []
        for row in rows:
            name, colon, counters = row.partition(":")
            words, name = counters.split(), name.strip()
            if not colon or _SKIPPED.match(name):
                continue
            got, sent = (counter(word) for word in (words[0], words[8])) if len(words) > 8 else (None, None)
            if got is None or sent is None:
                raise Unreadable(f"not an interface row: {row[:80]}")
            points += [self._point("net.rx_gbit_s", name, at_s, got), self._point("net.tx_gbit_s", name, at_s, sent)]
        return self._present.with_missing(points)

    def _point(self, metric: str, name: str, at_s: float, bytes_: int) -> Point:
        rate = self._rates.per_second(metric + name, at_s, float(bytes_))
        return Point(metric, name, rate * _GBIT_PER_BYTE) if rate is not None else Point(metric, name, None, why=self._rates.why(metric + name))


SOURCE = Source("network", Text("Network interfaces", "网络接口"), proc_loop("network", "cat /proc/net/dev"), METRICS, _Reader)
