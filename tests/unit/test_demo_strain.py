"""Do the counters of simulated nodes show what is measured on them: network both ways, disk, processors?"""

from __future__ import annotations

from itertools import islice, pairwise

import pytest

from gpulease_gui.demo.active import Meeting, call_of, run_client
from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.strain import Measuring, Rates, Strain, with_tests
from gpulease_gui.demo.stream import stream_lines
from gpulease_gui.facts import disk_fill, disk_random, disk_sustained, disk_sync, fio_json, iperf3_json, iperf_sustained
from gpulease_gui.telemetry.source import Point, sources

NODE, PEER = "slow-net-a", "slow-net-b"


class Hand:
    """The second of the nodes' life; a measurement puts it forward by its length."""

    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def work(self, seconds: float) -> bool:
        self.now_s += seconds
        return True


def measured(argv: tuple[str, ...], name: str = NODE) -> tuple[Strain, float]:
    """(what it put on the nodes, in the middle of it) of a command on a node, with a server that waits on the other one."""
    hand, nodes = Hand(), demo_nodes()
    meeting = Meeting(nodes)
    meeting.strain = Strain(hand)
    assert meeting.open(nodes[PEER], 5201) is not None
    output = run_client(nodes[name], call_of(argv), meeting, lambda seconds: True, hand.work)
    assert output is not None and output.exit_code == 0
    return meeting.strain, (100.0 + hand.now_s) / 2


def shown(strain: Strain, name: str, metric: str, at_s: float) -> float:
    """The highest value of a metric in the second before `at_s`."""
    source = next(id_ for id_, one in sources().items() if any(m.id == metric for m in one.metrics))
    reader, told = sources()[source].reader(), list[Point]()
    for _, payload in islice(stream_lines(demo_nodes()[name], "B", (source,), at_s - 1.0, strain), 1, 3):
        told = [point for line in payload.decode().split("\n") if line.startswith(f"B {source} ") for point in reader.read(line.split(" ", 2)[2])]
    return max(point.value or 0.0 for point in told if point.metric == metric)


@pytest.mark.parametrize(("argv", "sends", "takes"), [
    (iperf3_json.client_command(PEER, 5201, 20, 8, reverse=False).argv, NODE, PEER),
    (iperf3_json.client_command(PEER, 5201, 20, 8, reverse=True).argv, PEER, NODE),
    (iperf_sustained.client_command(PEER, 5201, 600).argv, NODE, PEER),
])  # fmt: skip
def test_that_a_test_of_the_network_stands_in_the_counters_of_both_ends(argv: tuple[str, ...], sends: str, takes: str) -> None:
    strain, middle_s = measured(argv)
    rates = [shown(strain, sends, "net.tx_gbit_s", middle_s), shown(strain, takes, "net.rx_gbit_s", middle_s)]
    assert rates == [pytest.approx(24.3, abs=0.1)] * 2
    assert shown(strain, sends, "net.rx_gbit_s", middle_s) < 0.2 > shown(strain, takes, "net.tx_gbit_s", middle_s)


@pytest.mark.parametrize(("argv", "metric", "least", "most"), [
    (fio_json.command("read", 30, 4096, direct=True).argv, "disk.read_mb_s", 6400, 6600),
    (fio_json.command("write", 30, 4096, direct=True).argv, "disk.write_mb_s", 3250, 3400),
    (disk_random.command("randread", 30, 4096).argv, "disk.read_mb_s", 1900, 2000),
    (disk_random.command("randwrite", 30, 4096).argv, "disk.write_mb_s", 950, 1030),
    (("sh", "-c", disk_sync.command(20, 64).line), "disk.write_mb_s", 5, 20),
    (("sh", "-c", disk_sustained.command(900, 16384).line), "disk.write_mb_s", 3250, 3400),
    (("sh", "-c", disk_fill.command(4096, 300).line), "disk.write_mb_s", 3250, 3400),
])  # fmt: skip
def test_that_every_test_of_a_disk_stands_in_its_counters(argv: tuple[str, ...], metric: str, least: float, most: float) -> None:
    strain, middle_s = measured(argv)
    assert least <= shown(strain, NODE, metric, middle_s) <= most
    assert not least <= shown(Strain(), NODE, metric, middle_s) <= most, "that is the work of the node itself"


def test_that_a_counter_never_falls_and_goes_on_as_before_when_a_test_is_over() -> None:
    tests = (Measuring(Rates(cpu=2.0), 10.0, 20.0), Measuring(Rates(cpu=0.0), 15.0, 30.0), Measuring(Rates(read_mb_s=9.0), 31.0, 32.0), Measuring(Rates(cpu=5.0), 40.0))
    told = [with_tests(float(second), lambda at_s: at_s, tests, lambda rates: rates.cpu) for second in range(51)]
    steps = [after - before for before, after in pairwise(told)]
    assert steps == [1.0] * 10 + [2.0] * 10 + [0.0] * 10 + [1.0] * 10 + [5.0] * 10


def test_that_a_test_that_breaks_off_ends_in_the_counters_too() -> None:
    hand = Hand()
    strain = Strain(hand)
    with pytest.raises(RuntimeError), strain.under(NODE, Rates(tx_gbit_s=20.0)):
        hand.now_s = 105.0
        raise RuntimeError
    assert strain.on(NODE) == (Measuring(Rates(tx_gbit_s=20.0), 100.0, 105.0),) and strain.on(PEER) == ()
