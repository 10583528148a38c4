"""Is a node watched for hours: samples arrive, a cut is a gap with a reason, blocks are saved, nothing is left?"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpulease_gui.checks.watch_rules import Episode, Values, WatchRules
from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.domain.task import TaskPhase, TaskPoint, TaskProgress
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.gui.pages.live_lanes import Lanes, promise_of
from gpulease_gui.services import recording
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import Event, GapClosed, GapOpened, NodeState, NodeStateChanged, TaskProgressed
from gpulease_gui.services.watch import WatchView, _Watch
from gpulease_gui.store.nodes import get_node, save_node
from gpulease_gui.store.samples import list_gaps, read_blocks, read_range

from .conftest import SshServer

Until = Callable[..., bool]
_NS = 1_000_000_000


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    services = open_services(tmp_path / "own.gpulease.db")
    yield services
    services.close()


@pytest.fixture
def heard() -> list[Event]:
    return []


def demo_node(services: Services, name: str) -> Node:
    with services.workspace.read() as connection:
        return get_node(connection, f"demo-{name}")


def simulated(services: Services) -> DemoServer:
    return services.links._demo_server()


def watchers() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("watch-")]


def count(view: WatchView, metric: str) -> int:
    return sum(ring.total for (id_, _), ring in view.rings.items() if id_ == metric)


def test_that_starting_and_stopping_wait_neither_for_the_node_nor_for_the_thread(demo: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    returned, live = threading.Event(), _Watch._live

    def slow(watch: _Watch) -> None:
        returned.wait(30)
        live(watch)

    monkeypatch.setattr(_Watch, "_live", slow)
    node = demo_node(demo, "honest")
    view = demo.watching.start(node)
    demo.watching.stop(node.id)
    assert watchers() == ["watch-honest"] and not view.rings
    returned.set()


def test_that_samples_of_every_source_arrive_and_troubles_are_words(demo: Services, until: Until) -> None:
    view = demo.watching.start(demo_node(demo, "honest"))
    wanted = ("gpu.power_w", "net.tx_gbit_s", "disk.read_mb_s", "cpu.util_percent", "ram.used_gib")
    assert until(lambda: all(count(view, metric) for metric in wanted))
    assert len([subject for metric, subject in view.rings if metric == "gpu.power_w"]) == 8
    assert view.state is NodeState.CONNECTED
    assert view.troubles == {"npu": "npu-smi is not installed on the node"}


def test_that_a_watched_node_is_not_watched_twice(demo: Services) -> None:
    node = demo_node(demo, "honest")
    assert demo.watching.start(node) is demo.watching.start(node)
    assert watchers() == ["watch-honest"]


def test_that_a_cut_line_is_a_gap_with_its_reason_within_three_seconds_and_comes_back(
    demo: Services, until: Until, heard: list[Event]
) -> None:
    demo.bus.subscribe(heard.append)
    view = demo.watching.start(demo_node(demo, "honest"))
    assert until(lambda: count(view, "gpu.power_w") >= 16)
    read_s = max(ring.last[0] for ring in view.rings.values() if ring.last is not None)
    simulated(demo).cut("honest")
    cut_s = time.time()
    assert until(lambda: any(isinstance(event, GapOpened) for event in heard), 3)
    gap = view.gaps[-1]
    assert gap.reason == "connection_lost"
    assert read_s - 0.1 < gap.start_s < cut_s + 0.5, "from the last that was read"
    ring = next(ring for (metric, _), ring in view.rings.items() if metric == "gpu.power_w")
    assert math.isnan(ring.view().values[-1]), "no line may be drawn over the gap"
    assert until(lambda: any(isinstance(event, GapClosed) for event in heard))
    assert gap.end_s is not None and gap.resumed and view.state is NodeState.CONNECTED
    states = [event.state for event in heard if isinstance(event, NodeStateChanged)]
    assert NodeState.LOST in states and states[-1] is NodeState.CONNECTED
    assert sum(isinstance(event, GapClosed) for event in heard) == 1
    demo.watching.close()
    with demo.workspace.read() as connection:
        kept = list_gaps(connection, "demo-honest", "gpu.power_w", 0, 2**62)
    assert [(k.reason, k.start_ns) for k in kept] == [("connection_lost", int(gap.start_s * _NS))]


def test_that_everything_sampled_is_saved_and_no_thread_is_left(demo: Services, until: Until) -> None:
    view = demo.watching.start(demo_node(demo, "honest"))
    assert until(lambda: count(view, "gpu.power_w") >= 24)
    demo.watching.close()
    demo.watching.close()
    assert watchers() == []
    drawn = sorted(
        round(value, 3) for (metric, _), ring in view.rings.items() if metric == "gpu.power_w"
        for value in ring.view().values if not math.isnan(value)
    )  # fmt: skip
    demo.workspace.submit(lambda db: None).result()
    with demo.workspace.read() as connection:
        kept = [(one, block) for one, blocks in read_blocks(connection, "demo-honest", 0, 2**62).items() for block in blocks]
    powers = [(one.unit, value) for one, block in kept if one.metric == "gpu.power_w" for value in block.values]
    assert sorted(round(value, 3) for _, value in powers if not math.isnan(value)) == drawn
    assert {unit for unit, _ in powers} == {"W"}


def test_that_stopping_keeps_what_was_sampled(demo: Services, until: Until) -> None:
    node = demo_node(demo, "ascend")
    view = demo.watching.start(node)
    assert until(lambda: count(view, "npu.power_w") >= 8)
    demo.watching.stop(node.id)
    assert until(lambda: not demo.watching.views())
    assert demo.watching.view(node.id) is view and count(view, "npu.power_w") >= 8


def test_that_invented_names_of_a_node_do_not_fill_the_memory(demo: Services, monkeypatch: pytest.MonkeyPatch, until: Until) -> None:
    monkeypatch.setattr("gpulease_gui.services.watch.MOST_SERIES", 5)
    view = demo.watching.start(demo_node(demo, "honest"))
    assert until(lambda: any("5 series" in words for words in view.troubles.values()))
    assert len(view.rings) == 5


def ssh_node(sshd: SshServer, contract_id: str | None = None) -> Node:
    where = Address(sshd.address.host, sshd.address.port, sshd.address.user)
    return Node("n1", "real", Reach.SSH, where, contract_id, identity_file=sshd.key_file)


def known(services: Services, node: Node, key: HostKey) -> Node:
    services.workspace.submit(lambda db: save_node(db, node)).result()
    services.links.trust(node, key, "the test")
    return node


def test_that_a_real_sshd_is_watched_and_a_killed_session_is_a_gap(
    own: Services, make_sshd: Callable[..., SshServer], until: Until
) -> None:
    sshd = make_sshd()
    node = known(own, ssh_node(sshd), sshd.keys.host_keys()[0])
    view = own.watching.start(node)
    assert until(lambda: count(view, "ram.used_gib") >= 2 and count(view, "cpu.util_percent") >= 2), view
    sshd.cut_sessions()
    assert until(lambda: bool(view.gaps))
    assert view.gaps[0].reason == "connection_lost"
    before = count(view, "ram.used_gib")
    assert until(lambda: view.gaps[0].resumed and count(view, "ram.used_gib") > before)


def test_that_an_untrusted_key_is_refused_once_and_never_tried_again(
    own: Services, sshd: SshServer, until: Until, heard: list[Event]
) -> None:
    own.bus.subscribe(heard.append)
    node = ssh_node(sshd)
    own.workspace.submit(lambda db: save_node(db, node)).result()
    view = own.watching.start(node)
    assert until(lambda: not own.watching.views())
    assert view.state is NodeState.REFUSED and view.rings == {}
    assert not view.gaps[-1].resumed and view.gaps[-1].reason
    assert not any(isinstance(event, GapClosed) for event in heard)


def test_that_this_computer_is_watched_through_the_same_scripts(own: Services, until: Until) -> None:
    node = Node("here", "this computer", Reach.LOCAL)
    own.workspace.submit(lambda db: save_node(db, node)).result()
    view = own.watching.start(node)
    assert until(lambda: count(view, "ram.used_gib") >= 2 and count(view, "gpu.util_percent") + ("gpu" in view.troubles))
    with open("/proc/meminfo", encoding="ascii") as lines:
        total_gib = int(lines.readline().split()[1]) / 1024**2
    used = view.rings["ram.used_gib", ""].last
    assert used is not None and 0 < used[1] < total_gib


def test_that_a_full_disk_is_told_watching_goes_on_and_the_time_is_a_gap(
    demo: Services, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "BLOCK_S", 0.5)
    view = demo.watching.start(demo_node(demo, "honest"), interval_s=0.2)
    assert until(lambda: count(view, "gpu.power_w") >= 24)
    (pages,) = demo.workspace.submit(lambda db: db.execute("PRAGMA page_count").fetchone()).result()
    demo.workspace.submit(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall()).result()
    assert until(lambda: "full" in view.unsaved.en and "已满" in view.unsaved.zh)
    drawn = count(view, "gpu.power_w")
    assert until(lambda: count(view, "gpu.power_w") > drawn + 16), "the picture goes on"
    demo.workspace.submit(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchall()).result()

    def told() -> list[str]:
        with demo.workspace.read() as connection:
            return [gap.reason for gap in list_gaps(connection, "demo-honest", "gpu.power_w", 0, 2**62)]

    assert until(lambda: view.unsaved.en == "" and "not_saved" in told())
    assert view.holes == 1


def test_that_the_speed_in_a_tasks_log_is_sampled_stored_and_a_lane_beside_its_promise(demo: Services, until: Until) -> None:
    node = demo_node(demo, "honest")
    view = demo.watching.start(node)
    assert until(lambda: count(view, "cpu.util_percent") >= 2)
    told = TaskPoint(1.0, 10, 2.5, ((str(Unit.TOKENS_S), 61_000.0),))
    demo.bus.publish(TaskProgressed(TaskProgress("run", node.id, TaskPhase.RUNNING, points=(told,))))
    assert until(lambda: count(view, "task.tokens_s") >= 2)
    demo.bus.publish(TaskProgressed(TaskProgress("run", node.id, TaskPhase.COLLECTING)))
    assert until(lambda: math.isnan(view.rings["task.tokens_s", ""].view().values[-1]))
    lanes = Lanes(promise_of(demo.catalogue, {"work.tokens_s": 64_000.0})).of(view)
    assert lanes[0].id == "task_tokens:work.tokens_s" and lanes[0].promised is not None and lanes[0].promised.value == 64_000.0
    demo.watching.close()
    demo.workspace.submit(lambda db: None).result()
    with demo.workspace.read() as connection:
        (stretch,) = read_range(connection, node.id, "task.tokens_s", 0, 2**62, 1000).stretches
    assert set(stretch.low) == {61_000.0} and stretch.series.unit == "tokens/s"


@pytest.mark.allows_log("the watch of honest broke")
def test_that_a_fault_of_our_own_is_a_gap_with_a_reason_and_watching_goes_on(
    demo: Services, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed, faults = WatchRules.feed, [ZeroDivisionError("planted")]

    def breaking(rules: WatchRules, subject: str, values: Values, at_s: float) -> tuple[Episode, ...]:
        if count(view, "gpu.power_w") > 20 and faults:
            raise faults.pop()
        return feed(rules, subject, values, at_s)

    view = demo.watching.start(demo_node(demo, "honest"), interval_s=0.2)
    monkeypatch.setattr(WatchRules, "feed", breaking)
    assert until(lambda: view.gaps and view.gaps[0].resumed)
    assert (view.gaps[0].reason, view.state, faults) == ("fault", NodeState.CONNECTED, [])
    demo.watching.close()
    demo.workspace.submit(lambda db: None).result()
    with demo.workspace.read() as connection:
        kept = read_range(connection, "demo-honest", "gpu.power_w", 0, 2**62, 10_000).stretches
        assert min(one.times_ns[0] for one in kept) < view.gaps[0].start_s * _NS, "what was read before is stored"
        assert [gap.reason for gap in list_gaps(connection, "demo-honest", "", 0, 2**62)][0] == "fault"
