"""Do the simulated nodes live as their cards, lines and disks allow?"""

from __future__ import annotations

from itertools import islice

import pytest

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.stream import stream_lines
from gpulease_gui.telemetry.gpu import BY_SMI
from gpulease_gui.telemetry.source import Point, sources

BOUNDARY = "0" * 32


def points(name: str, seconds: int, *ids: str) -> list[list[Point]]:
    """The points of each second, as the real telemetry reads them."""
    readers = {id_: sources()[id_].reader() for id_ in ids}
    found = []
    for _, payload in islice(stream_lines(demo_nodes()[name], BOUNDARY, ids), 1, seconds + 1):
        found.append([])
        for line in payload.decode().rstrip("\n").split("\n"):  # splitlines() also cuts at the record mark
            mark, id_, *rest = line.split(" ", 2)
            assert mark == BOUNDARY
            if id_ != "BEAT":
                found[-1] += readers[id_].read(rest[0])
    return found


def values(second: list[Point], metric: str) -> list[float | None]:
    return [p.value for p in second if p.metric == metric]


@pytest.mark.parametrize(("name", "missing"), [("honest", {"npu"}), ("ascend", {"gpu"})])
def test_that_only_the_other_makers_source_is_refused(name: str, missing: set[str]) -> None:
    scripts = {id_ for id_, source in sources().items() if source.script}
    first = next(iter(stream_lines(demo_nodes()[name], BOUNDARY, tuple(scripts))))[1].decode()
    assert {id_ for id_ in scripts if f" {id_} ! " in first} == missing
    assert f"{BOUNDARY} END rdma 0\n" in first
    for id_ in scripts - missing - {"rdma"}:
        metrics = {metric.id for metric in sources()[id_].metrics if id_ != "gpu" or metric in BY_SMI}
        assert {p.metric for p in points(name, 2, id_)[1] if p.value is not None} == metrics


def test_that_an_honest_card_idles_cold_and_works_near_700_w() -> None:
    seconds = points("honest", 60, "gpu")
    assert max(values(seconds[0], "gpu.power_w")) < 90
    assert values(seconds[0], "gpu.util_percent") == [0] * 8
    busy = values(seconds[59], "gpu.power_w")
    assert len(busy) == 8 and 670 < min(busy) and max(busy) <= 701.5
    assert min(values(seconds[59], "gpu.clock_sm_mhz")) > 1800


def test_that_a_capped_card_stays_at_its_cap_and_slow() -> None:
    busy = points("capped", 60, "gpu")[59]
    assert max(values(busy, "gpu.power_w")) <= 501.5
    assert max(values(busy, "gpu.clock_sm_mhz")) <= 1155
    assert values(busy, "gpu.event_reasons") == [0x4 + 0x8 + 0x20 + 0x40] * 8


def test_that_the_traffic_fits_the_line_and_not_the_contract() -> None:
    rates = {}
    for name in ("honest", "slow-net-a"):
        seconds = points(name, 60, "network")
        port = demo_nodes()[name].machine.fastest.name
        rates[name] = max(p.value for p in seconds[59] if p.subject == port)
    assert rates == {"honest": pytest.approx(87.5, abs=1), "slow-net-a": pytest.approx(22.6, abs=0.5)}


def test_that_disk_and_processor_figures_are_plausible() -> None:
    second = points("honest", 60, "disk", "host")[59]
    assert 100 < max(v for v in values(second, "disk.read_mb_s") if v is not None) < 6780
    assert values(second, "cpu.util_percent") == [pytest.approx(20, abs=1)]
    assert values(second, "cpu.steal_percent") == [0]


def test_that_a_stream_told_again_is_the_same() -> None:
    once, again = (
        [b for _, b in islice(stream_lines(demo_nodes()["sick"], BOUNDARY, ("gpu", "disk")), 50)] for _ in "ab"
    )
    assert once == again


def test_that_life_goes_on_while_nobody_looks() -> None:
    late = list(islice(stream_lines(demo_nodes()["honest"], BOUNDARY, ("gpu",), 40.0), 2))
    early = list(islice(stream_lines(demo_nodes()["honest"], BOUNDARY, ("gpu",)), 42))
    assert late[1] == early[41]
