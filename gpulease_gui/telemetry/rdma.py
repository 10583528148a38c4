"""How much goes through each RDMA port, and what goes wrong there?"""

from __future__ import annotations

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.rates import Changes, Present, Rates, counter, split_sample
from gpulease_gui.telemetry.source import Metric, Point, Source, proc_loop

METRICS = (
    Metric("rdma.rx_gbit_s", Text("RDMA received", "RDMA 接收"), "Gbit/s", "rdma"),
    Metric("rdma.tx_gbit_s", Text("RDMA sent", "RDMA 发送"), "Gbit/s", "rdma"),
    Metric("rdma.errors", Text("New RDMA errors", "新增 RDMA 错误"), "", "events", decimals=0),
)
# The port counters count words of four bytes (InfiniBand specification, PortRcvData and PortXmitData).
_GBIT_PER_WORD = 4 * 8 / 1e9
# Twice the fastest port of today (XDR).
_MOST_GBIT_S = 1_600.0
_PORTS = "/sys/class/infiniband/*/ports/*"

# A node without RDMA is no trouble: the source ends without a word.
SCRIPT = (
    f"ls {_PORTS}/counters/port_rcv_data >/dev/null 2>&1 || exit 0\n"
    "ports() {\n"
    f"  for port in {_PORTS}; do\n"
    '    read -r got < "$port/counters/port_rcv_data" && read -r sent < "$port/counters/port_xmit_data" || continue\n'
    "    device=${port#/sys/class/infiniband/}\n"
    '    printf \'%s/%s %s %s -\\n\' "${device%%/*}" "${port##*/}" "$got" "$sent"\n'
    "  done\n"
    "}\n"
) + proc_loop("rdma", "ports")


class _Reader:
    def __init__(self) -> None:
        self._rates, self._changes, self._present = Rates(_MOST_GBIT_S / _GBIT_PER_WORD), Changes(), Present()

    def read(self, line: str) -> tuple[Point, ...]:
        """Rows of device/port, words received, words sent, errors ("-": not told)."""
        at_s, rows = split_sample(line)
        points: list[Point] = []
        for row in rows:
            words = row.split()
            got, sent, errors = (counter(word) for word in words[1:]) if len(words) == 4 else (None, None, None)
            if got is None or sent is None:
                raise Unreadable(f"not an RDMA port row: {row[:80]}")
            points += self._port(words[0], at_s, (got, sent), errors)
        return self._present.with_missing(points)

    def _port(self, name: str, at_s: float, moved: tuple[int, int], errors: int | None) -> list[Point]:
        points: list[Point] = []
        for metric, count in zip(("rdma.rx_gbit_s", "rdma.tx_gbit_s"), moved, strict=True):
            rate = self._rates.per_second(metric + name, at_s, float(count))
            said = None if rate is None else rate * _GBIT_PER_WORD
            points.append(Point(metric, name, said, why="" if rate is not None else self._rates.why(metric + name)))
        if errors is not None:
            risen, why = self._changes.since(name, float(errors))
            points.append(Point("rdma.errors", name, risen, why=why))
        return points


SOURCE = Source("rdma", Text("RDMA ports", "RDMA 端口"), SCRIPT, METRICS, _Reader)
