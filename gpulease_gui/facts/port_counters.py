"""Which errors have the network ports counted?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# Virtual interfaces have no cable: only ports with a device are shown.
_SCRIPT = (
    SHELL
    + """\
if [ -d /sys/class/net ]; then say counters yes; else say counters no; fi
for dir in /sys/class/net/*; do
  [ -e "$dir/device" ] || continue
  say link "${dir##*/}"
  put carrier_changes "$dir/carrier_changes"
  for name in rx_packets tx_packets rx_errors tx_errors rx_dropped tx_dropped rx_crc_errors rx_frame_errors rx_missed_errors; do
    put "$name" "$dir/statistics/$name"
  done
done
for port in /sys/class/infiniband/*/ports/*; do
  [ -d "$port" ] || continue
  card=${port%/ports/*}
  say rdma "${card##*/}/${port##*/}"
  for name in symbol_error link_downed link_error_recovery port_rcv_errors local_link_integrity_errors port_xmit_discards \\
    excessive_buffer_overrun_errors; do put "$name" "$port/counters/$name"; done
done
"""
    + END
)

FACT = Fact(id="port_counters", title=Text("Error counters of the ports", "网络端口错误计数"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class PortCounts:
    """One port, its counters by the kernel's names; a counter that was not told is not there."""

    name: str
    counts: tuple[tuple[str, int], ...]

    def get(self, name: str) -> int | None:
        """One counter; None if it was not told."""
        return dict(self.counts).get(name)

    def total(self, *names: str) -> int | None:
        """The sum of those counters that were told; None if none was."""
        told = [n for name in names if (n := self.get(name)) is not None]
        return sum(told) if told else None


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Network interfaces with a card behind them, and RDMA ports (`mlx5_0/1`)."""

    links: tuple[PortCounts, ...]
    rdma: tuple[PortCounts, ...]


def parse(output: CommandOutput) -> PortCounters:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "counters")
    heads = ("link", "rdma")
    starts = [n for n, (key, _) in enumerate(lines.pairs) if key in heads] + [len(lines.pairs)]
    found = [KeyedLines(lines.pairs[one:two]) for one, two in zip(starts, starts[1:], strict=False)]
    return PortCounters(
        tuple(_port(r, "link") for r in found if r.pairs[0][0] == "link"), tuple(_port(r, "rdma") for r in found if r.pairs[0][0] == "rdma")
    )


def _port(record: KeyedLines, head: str) -> PortCounts:
    counts = [(key, n) for key, value in record.pairs[1:] if (n := whole(value)) is not None and n >= 0]
    return PortCounts(record.first(head) or "?", tuple(counts))


def as_dict(reading: PortCounters) -> dict[str, object]:
    """links and rdma: counters that are not zero, by port."""
    return {
        "links": {p.name: {name: n for name, n in p.counts if n} for p in reading.links},
        "rdma": {p.name: {name: n for name, n in p.counts if n} for p in reading.rdma},
        "told": [len(p.counts) for p in (*reading.links, *reading.rdma)],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("counters: yes\n", "counters: no\n")) else 0
