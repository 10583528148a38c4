"""Does anything grow while nodes are watched for hours? Simulated: the clock is ours, all between line and store is the program's.

    python -m tests.soak.hours HOURS NODES

It prints what was found as one object of JSON: memory over time, threads and file handles, what was stored, what the chart showed.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.pages.live_lanes import Lanes, promise_of
from gpulease_gui.remote.stream import LineCutter
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.log_gauge import LogGauge
from gpulease_gui.services.small_heap import search_seldom
from gpulease_gui.services.timeline import Clock
from gpulease_gui.services.upkeep import ROUND_S, Upkeep
from gpulease_gui.services.watch import _Watch
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.store.samples import append_blocks, list_gaps, read_blocks, series_by_id
from gpulease_gui.store.slot_reading import read_outline
from gpulease_gui.store.slots import level_for, slots_of
from gpulease_gui.store.watch_events import list_events
from gpulease_gui.telemetry.source import streamed
from tests.soak import lines

HOUR_S, HALF_HOUR_S, S = 3600, 1800, 1_000_000_000
STEADY_S = 5000.0
START_S = 1_772_323_200  # midnight
OLD_S = START_S - 40 * 24 * HOUR_S  # older than readings are kept
LOOK_S, FLUSH_S, MOST_TOLD = 300, 10, 5


@dataclass
class Growth:
    """What the process held, looked at again and again; `rings_mib` is the room of the readings that a chart can look at."""

    rss_mib: list[float] = field(default_factory=list)
    rings_mib: list[float] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)

    def look(self, views: Iterable[WatchView]) -> None:
        self.rss_mib.append(rss_mib())
        self.rings_mib.append(rings_mib(views))
        self.threads.append(threading.active_count())
        self.handles.append(len(os.listdir("/proc/self/fd")))


@dataclass
class Stored:
    """What the store holds of a node: readings by series, the first tick that is not where it belongs, gaps, events."""

    counts: dict[str, int] = field(default_factory=dict)
    wrong_tick: int | None = None
    wrong_rates: list[str] = field(default_factory=list)
    wrong_slots: list[str] = field(default_factory=list)
    half_hours: int = 0
    gaps: int = 0
    events: int = 0


def rss_mib() -> float:
    """Memory of this process that is in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1048576


def rings_mib(views: Iterable[WatchView]) -> float:
    """Room that the rings have: it grows with what comes in, for five quarters of an hour."""
    pages = [track._page for track in {ring.track for view in views for ring in tuple(view.rings.values())}]
    return sum(len(page.times) * (8 + 4 * len(page.columns)) for page in pages) / 1048576


def give_back() -> None:
    """Let go of what is free already, so that memory in use is what is needed."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # a C library without it
        ctypes.CDLL(None).malloc_trim(0)


class Hours:
    """Nodes on one simulated clock, a tick a second."""

    def __init__(self, services: Services, nodes: int) -> None:
        self.services, self.now_s = services, float(START_S)
        clock = Clock(wall=lambda: self.now_s, steady=lambda: self.now_s - START_S + STEADY_S)
        rules = RuleKeeper(services.workspace, services.bus, services.catalogue, lambda: self.now_s)
        self.upkeep = Upkeep(services.workspace, services.bus, lambda: self.now_s)
        self.watches = [self._watch(f"n{number}", clock, rules) for number in range(nodes)]
        self.cutters = [LineCutter(watch.view.node_id, list(streamed())) for watch in self.watches]
        self.lanes = Lanes(promise_of(load_catalogue(), {"gpu.power_w": 700, "network.gbit_s": 100}))
        self.shown: set[int] = set()

    def _watch(self, id_: str, clock: Clock, rules: RuleKeeper) -> _Watch:
        node = Node(id_, id_, Reach.LOCAL)
        self.services.workspace.submit(lambda db: save_node(db, node)).result()
        watch = _Watch(node, 1.0, self.services.workspace, self.services.bus, self.services.links, clock, LogGauge())
        watch.rules = rules.of(node)
        watch.rules.renew()
        watch._timeline.begin(0.0)
        return watch

    def tick(self, number: int) -> None:
        """What all nodes say in a second; each line comes a little late, in two pieces."""
        for place, (watch, cutter) in enumerate(zip(self.watches, self.cutters, strict=True)):
            self.now_s = START_S + number + 0.02 * ((7 * number + place) % 5)
            text = lines.text_of(watch.view.node_id, number)
            cut = 1 + (number * 131) % (len(text) - 2)
            for piece in (text[:cut], text[cut:]):
                for line in cutter.feed(piece):
                    assert line.payload is not None
                    watch._on_line(line.source, line.payload, self.now_s - START_S + STEADY_S)
        if number % FLUSH_S == 0:
            self.services.workspace.submit(lambda db: None).result()  # what was handed in is written before time goes on
        if number % 60 == 59:
            self.shown.add(len(self.lanes.of(self.watches[number // 60 % len(self.watches)].view)))
        if number % HALF_HOUR_S == HALF_HOUR_S - 1:
            self._scrub(self.watches[number // HALF_HOUR_S % len(self.watches)])
        if number % ROUND_S == 0:
            while self.upkeep.step():
                continue

    def _scrub(self, watch: _Watch) -> None:
        """Look at all that was stored so far, as the chart does."""
        with self.services.workspace.read() as connection:
            wish = Wish(watch.view.node_id, START_S, self.now_s, 1200, (START_S, self.now_s), 1.0)
            self.shown.add(len(self.lanes.of(read_past(connection, wish, watch.view.rings).view)))

    def end(self) -> None:
        for watch in self.watches:
            watch._flush()
        self.services.workspace.submit(lambda db: None).result()


def plant_old(services: Services) -> None:
    """Half an hour of a node that is older than readings are kept."""
    one = Series("n0", lines.POWER, lines.UUIDS[0], "W")
    for second in range(0, HALF_HOUR_S + FLUSH_S, FLUSH_S):
        block = SampleBlock(one, (OLD_S + second) * S, S, array("f", [500.0] * FLUSH_S))
        services.workspace.submit(lambda db, block=block: append_blocks(db, [block])).result()


def old_readings(services: Services) -> tuple[int, int]:
    """(packs, rows of summaries) of what was planted that are still there."""
    with services.workspace.read() as connection:
        rows = connection.execute("SELECT level = 0, count(*) FROM sample_packs WHERE start_ns < ? GROUP BY 1", (START_S * S - S,))
        found = {bool(readings): count for readings, count in rows}
    return found.get(True, 0), found.get(False, 0)


def stored_of(services: Services, node_id: str, ticks: int) -> Stored:
    """Compare the store with what the node said, second by second and half hour by half hour."""
    found = Stored()
    told = {lines.MEMORY: array("f", map(lines.memory_gib, range(ticks))), lines.POWER: array("f", map(lines.power_w, range(ticks)))}
    with services.workspace.read() as connection:
        for hour in range(0, ticks, HOUR_S):
            start_ns, end_ns = (START_S + hour) * S, (START_S + min(ticks, hour + HOUR_S)) * S
            for series, blocks in read_blocks(connection, node_id, start_ns, end_ns).items():
                _compare(found, series, blocks, told)
        known = {id_: one.subject for id_, one in series_by_id(connection, node_id).items() if one.metric == lines.MEMORY}
        step_ns = HALF_HOUR_S * S
        assert level_for(step_ns) == 4
        for slab in read_outline(connection, node_id, START_S * S, (START_S + ticks) * S, step_ns).slabs:
            for place, id_ in enumerate(slab.ids):
                if id_ in known:
                    _compare_slots(found, list(slots_of(slab, place)), slab.step_ns // S)
        found.gaps = len(list_gaps(connection, node_id, lines.MEMORY, 0, (START_S + ticks) * S))
        found.events = len(list_events(connection, node_id, 0, (START_S + ticks) * S))
    return found


def _compare(found: Stored, series: Series, blocks: list[SampleBlock], told: Mapping[str, array[float]]) -> None:
    """Readings of one series: how many, and whether each is what was said in its second. `told`: all of a metric by second."""
    name, rate, right, counted = f"{series.metric} {series.subject}", lines.RATES.get(series.metric), told.get(series.metric), 0
    for block in blocks:
        values = block.values
        total = sum(values)
        read = values if total == total else array("f", [value for value in values if value == value])
        counted += len(read)
        if right is not None:
            first = round(block.start_ns / S - START_S - 0.04)
            if values != right[first : first + len(values)]:
                found.wrong_tick = first if found.wrong_tick is None else min(first, found.wrong_tick)
        elif rate is not None and read and (abs(min(read) / rate - 1) > 1e-5 or abs(max(read) / rate - 1) > 1e-5):
            found.wrong_rates.append(name)
    found.counts[name] = found.counts.get(name, 0) + counted


def _compare_slots(found: Stored, told: list[tuple[int, tuple[float, ...]]], step_s: int) -> None:
    """Lowest, mean, 95th percentile, highest and count of each slot."""
    for at_ns, values in told:
        first = at_ns // S - START_S
        last = first + step_s - 1
        ticks = first, (first + last) / 2, first + round(0.95 * (step_s - 1)), last
        wanted = (*(tick / lines.TICKS_A_GIB for tick in ticks), float(step_s))
        found.half_hours += step_s == HALF_HOUR_S
        if any(abs(value - right) > 0.001 for value, right in zip(values, wanted, strict=True)) and len(found.wrong_slots) < MOST_TOLD:
            found.wrong_slots.append(f"{first}: {values} for {wanted}")


def live(hours: float, nodes: int, folder: Path) -> dict[str, object]:
    """The hours, then what is left of them."""
    services, ticks, growth = open_services(folder / "soak.db"), int(hours * HOUR_S), Growth()
    try:
        soak = Hours(services, nodes)
        search_seldom()  # as gui/app does
        plant_old(services)
        planted = old_readings(services)
        begun = time.process_time()
        for number in range(ticks):
            soak.tick(number)
            if number % LOOK_S == LOOK_S - 1:
                give_back()
                growth.look(watch.view for watch in soak.watches)
        soak.end()
        cpu_s = time.process_time() - begun
        rings = [ring for watch in soak.watches for ring in watch.view.rings.values()]
        return {
            **asdict(growth), "cpu_s": cpu_s, "ticks": ticks, "series": len(rings), "curves_broken": sum(len(w.view.gaps) for w in soak.watches),
            "troubles": sorted({words for w in soak.watches for words in w.view.troubles.values()}), "lanes": sorted(soak.shown),
            "ring_totals": sorted({ring.total for ring in rings}), "old": [planted, old_readings(services)],
            "stored": [asdict(stored_of(services, watch.view.node_id, ticks)) for watch in soak.watches],
            "said": str(datetime.fromtimestamp(soak.now_s, UTC)),
        }  # fmt: skip
    finally:
        services.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gpulease-soak-") as name:
        print(json.dumps(live(float(sys.argv[1]), int(sys.argv[2]), Path(name))))
