"""The agent runs on old Pythons, reads NVML right in both ways, and no driver can stop it."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.agent import node_agent
from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.stream import stream_lines
from gpulease_gui.domain.frame import AGENT
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.telemetry import gpu_agent
from gpulease_gui.telemetry.source import Point, metrics, sources
from tests.standin.build import build_nvml

FILE = Path(__file__).resolve().parents[2] / "gpulease_gui" / "agent" / "node_agent.py"
MARK, BUS = "5" * 32, Path("/sys/bus/pci/devices")
FIRST, SECOND = "GPU-aaaa0000-0000-4000-8000-000000000000", "GPU-bbbb1111-0000-4000-8000-000000000001"
GIB = 2**30 / 1e9
no_driver = pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this computer has an NVIDIA driver")
both_ways = pytest.mark.parametrize("way", ["pynvml", "ctypes"])


class Running:
    """The agent as it is started on a node: its program through stdin, which stays open."""

    def __init__(self, way: str, environment: Mapping[str, str], deadline_s: float = 5.0, bus: Path = BUS) -> None:
        _, option, code = shlex.split(AGENT)
        python = [sys.executable, *(["-S"] if way == "ctypes" else [])]  # pynvml is a package of this environment
        self.process = subprocess.Popen(
            [*python, option, code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
        wish = json.dumps({"mark": MARK, "interval_s": 0.1, "deadline_s": deadline_s}).encode()
        program = FILE.read_bytes().replace(str(BUS).encode(), str(bus).encode())
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.process.stdin.write(b"%d\n%b%b\n" % (len(program), program, wish))
        self.process.stdin.flush()
        self.readers = {id_: source.reader() for id_, source in sources().items()}
        self.ended: tuple[int, bytes] | None = None
        self.alarm = threading.Timer(100, self.process.kill)
        self.alarm.start()

    def lines(self) -> Iterator[tuple[str, str]]:
        """(source, payload), until the agent ends."""
        assert self.process.stdout
        for line in self.process.stdout:
            mark, source, payload = line.decode().rstrip("\n").split(" ", 2)
            assert mark == MARK
            yield source, payload

    def first(self, source: str, fits: Callable[[str], bool] = lambda payload: True) -> str:
        return next(payload for id_, payload in self.lines() if id_ == source and fits(payload))

    def points(self, source: str, fits: Callable[[tuple[Point, ...]], bool] = lambda points: True) -> tuple[Point, ...]:
        """The first points that fit; troubles on the way are passed over."""
        for id_, payload in self.lines():
            if id_ == source and not payload.startswith("!"):
                points = self.readers[source].read(payload)
                if fits(points):
                    return points
        raise AssertionError("the agent ended")

    def kill(self) -> None:
        """As the kernel ends what takes too much memory: no word is left to it."""
        self.process.kill()
        self.process.wait()
        self.end()
        self.ended = 0, b""

    def end(self) -> tuple[int, bytes]:
        """Let go of its stdin: (exit code, what it complained)."""
        if self.ended is None:
            assert self.process.stdin and self.process.stdout and self.process.stderr
            self.process.stdin.close()
            code = self.process.wait(60)
            self.alarm.cancel()
            self.process.stdout.close()
            with self.process.stderr as said:
                self.ended = code, said.read()
        return self.ended


@pytest.fixture(autouse=True)
def no_keeper_stays() -> Iterator[None]:
    yield
    while node_agent.KEEPERS:
        keeper = node_agent.KEEPERS.pop()
        keeper.stdin.close()
        assert keeper.wait(20) == 0


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvml")
    build_nvml(folder)
    return folder


@pytest.fixture
def faults(tmp_path: Path) -> Path:
    """What is wrong with the driver at this moment."""
    path = tmp_path / "faults"
    path.write_text("")
    return path


@pytest.fixture
def start(library: Path, faults: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def begin(way: str, *, driver: bool = True, path: str | None = None, deadline_s: float = 5.0, modules: str = "", bus: Path = BUS) -> Running:
        environment = {**os.environ, "NVML_STANDIN": str(faults)}
        if modules:
            environment["PYTHONPATH"] = modules
        if driver:
            environment["LD_LIBRARY_PATH"] = str(library)
        if path is not None:
            environment["PATH"] = path + os.pathsep + os.environ["PATH"]
        started.append(Running(way, environment, deadline_s, bus))
        return started[-1]

    yield begin
    for running in started:
        assert running.end() == (0, b"")


def of(points: tuple[Point, ...], uuid: str) -> dict[str, float | None]:
    return {point.metric: point.value for point in points if point.subject == uuid}


def is_card(uuid: str) -> Callable[[tuple[Point, ...]], bool]:
    return lambda points: points[0].subject == uuid


def at_s(payload: str) -> float:
    return float(json.loads(payload)["counters"]["at_s"])


def test_that_python_3_6_can_read_it_and_it_imports_nothing_of_ours() -> None:
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert imported - sys.stdlib_module_names == {"pynvml"}
    newer = {"capture_output", "text", "CLOCK_BOOTTIME", "time_ns"}  # of 3.7
    words = {getattr(node, "attr", "") or getattr(node, "arg", "") for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.keyword)}
    assert not words & newer


@both_ways
def test_that_every_gauge_is_read_in_the_unit_of_its_metric(way: str, start: Callable[..., Running]) -> None:
    running = start(way)
    told = of(running.points("gpu", is_card(SECOND)), SECOND)
    gauges = {id_: value for id_, value in told.items() if value is not None}
    assert gauges == {
        "gpu.util_percent": 88, "gpu.memory_util_percent": 33, "gpu.memory_used_gib": 8, "gpu.power_w": 412.5,
        "gpu.power_limit_w": 700, "gpu.temperature_c": 58, "gpu.temperature_memory_c": 71, "gpu.clock_sm_mhz": 1755,
        "gpu.clock_memory_mhz": 2619, "gpu.event_reasons": 2**40 + 4, "gpu.remap_pending": 1, "gpu.remap_failed": 0,
        "gpu.processes": 2, "gpu.process_memory_gib": 8,
    }  # fmt: skip
    assert json.loads(running.first("agent", lambda p: '"via": ""' not in p))["via"] == way


@both_ways
def test_that_counters_become_rates_and_new_errors(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    reader, seen = sources()["gpu"].reader(), dict[str, float]()
    before = 0.0
    for id_, payload in running.lines():
        if id_ != "gpu" or FIRST not in payload:
            continue
        points = reader.read(payload)
        passed_s, before = at_s(payload) - before, at_s(payload)
        for point in points:
            if point.value and point.metric not in GAUGES_OF_ONE:
                seen[point.metric] = point.value * (passed_s if "gb_s" in point.metric else 1)
        if "ecc_corrected" in payload and not faults.read_text():
            faults.write_text("more")
        if "gpu.ecc_corrected" in seen:
            break
    assert seen == pytest.approx({
        "gpu.pcie_rx_gb_s": 6, "gpu.pcie_tx_gb_s": 3, "gpu.nvlink_tx_gb_s": GIB, "gpu.nvlink_rx_gb_s": 2 * GIB,
        "gpu.pcie_replays": 4, "gpu.nvlink_errors": 6, "gpu.ecc_corrected": 7, "gpu.ecc_uncorrected": 2, "gpu.remapped_rows": 2,
    })  # fmt: skip


GAUGES_OF_ONE = {
    "gpu.util_percent", "gpu.memory_util_percent", "gpu.memory_used_gib", "gpu.power_w", "gpu.power_limit_w", "gpu.temperature_c",
    "gpu.temperature_memory_c", "gpu.clock_sm_mhz", "gpu.clock_memory_mhz", "gpu.event_reasons", "gpu.remap_pending",
    "gpu.remap_failed", "gpu.processes", "gpu.process_memory_gib",
}  # fmt: skip


def test_that_the_two_tests_above_see_every_metric_of_a_gpu() -> None:
    counted = {"pcie_rx_gb_s", "pcie_tx_gb_s", "nvlink_tx_gb_s", "nvlink_rx_gb_s", "pcie_replays", "nvlink_errors",
               "ecc_corrected", "ecc_uncorrected", "remapped_rows", "xid"}  # fmt: skip
    assert {id_ for id_ in metrics() if id_.startswith("gpu.")} == GAUGES_OF_ONE | {f"gpu.{name}" for name in counted}


@both_ways
def test_that_an_old_driver_is_read_by_the_calls_it_has(way: str, start: Callable[..., Running], faults: Path) -> None:
    faults.write_text("old")
    told = of(start(way).points("gpu", lambda points: points[0].subject == FIRST), FIRST)
    assert told["gpu.memory_used_gib"] == 9
    assert (told["gpu.pcie_tx_gb_s"], told["gpu.pcie_rx_gb_s"]) == (12, 24)
    assert "gpu.nvlink_tx_gb_s" not in told and "gpu.temperature_memory_c" not in told


@both_ways
def test_that_a_gpu_that_falls_off_the_bus_is_lost_and_the_other_keeps_its_name(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    running.points("gpu", is_card(SECOND))
    faults.write_text("lost0 swapped")
    lost = running.points("gpu", lambda points: bool(points[0].lost))
    assert {(p.subject, p.value, p.index) for p in lost} == {(FIRST, None, 0)}
    other = running.points("gpu", lambda points: points[0].index == 0 and not points[0].lost)
    assert of(other, SECOND)["gpu.util_percent"] == 88
    faults.write_text("")
    assert of(running.points("gpu", lambda points: points[0].subject == FIRST and not points[0].lost), FIRST)["gpu.util_percent"] == 87


@both_ways
def test_that_a_reloaded_driver_is_told_and_read_again(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    running.points("gpu")
    faults.write_text("unloaded")
    assert running.first("gpu", lambda payload: payload.startswith("!")).startswith("! ")
    faults.write_text("")
    assert of(running.points("gpu", is_card(FIRST)), FIRST)["gpu.power_w"] == 412.5


@both_ways
def test_that_a_driver_that_was_never_loaded_is_told_apart_from_a_computer_without_a_card(way: str, start: Callable[..., Running], faults: Path) -> None:
    """The library can be there without a card: the PCI bus knows."""
    listed = [path.read_text().strip() for path in Path("/sys/bus/pci/devices").glob("*/vendor")]
    bare = bool(listed) and "0x10de" not in listed
    faults.write_text("unloaded")
    said = start(way).first("gpu")
    assert said == "! no NVIDIA GPU on the node" if bare else said.startswith("! no NVIDIA driver answers here (")


@both_ways
def test_that_a_wedged_driver_is_told_while_everything_else_goes_on(way: str, start: Callable[..., Running], faults: Path) -> None:
    faults.write_text("hang")
    running = start(way, deadline_s=0.4)
    assert running.first("gpu") == "! the NVIDIA driver does not answer"
    assert running.points("host", lambda points: points[0].value is not None)
    faults.write_text("")
    assert of(running.points("gpu", is_card(FIRST)), FIRST)["gpu.power_w"] == 412.5
    faults.write_text("hang")
    assert running.first("gpu", lambda payload: payload.startswith("!")) == "! the NVIDIA driver does not answer"
    assert running.end() == (0, b""), "a call that hangs must not keep the agent"


@both_ways
def test_that_a_figure_that_stops_is_no_zero_and_an_xid_is_told_by_number(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    running.points("gpu")
    faults.write_text("na xid79")
    seen: dict[str, Any] = {}
    for id_, payload in running.lines():
        if id_ == "gpu" and FIRST in payload:
            seen |= of(running.readers["gpu"].read(payload), FIRST)
        if "gpu.xid" in seen and seen["gpu.power_w"] is None:
            break
    assert seen["gpu.xid"] == 79 and seen["gpu.util_percent"] == 87


def seen_until(running: Running, over: Callable[[str, dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """What is said of the cards, up to the first line by which it is over; words of trouble are passed over."""
    seen: list[dict[str, Any]] = []
    for id_, payload in running.lines():
        if id_ == "gpu" and payload.startswith("{"):
            seen.append(json.loads(payload))
            if over(seen[-1]["uuid"], seen[-1]):
                return seen
    raise AssertionError("the agent ended")


def both_are_heard(running: Running, faults: Path) -> None:
    """Wait until the events of both cards come: one that is lost sooner than that is never heard."""
    faults.write_text("xid31")
    assert seen_until(running, lambda uuid, line: "xids" in line)[-1]["xids"] == [31]


@both_ways
def test_that_the_xid_of_a_lost_card_is_told_and_the_others_are_heard_on(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    both_are_heard(running, faults)
    faults.write_text("lost0 xid79")
    lost = seen_until(running, lambda uuid, line: "xids" in line)[-1]
    assert (lost["uuid"], lost["xids"], lost["index"]) == (FIRST, [79], 0) and "lost" in lost
    faults.write_text("lost0 xid79 xid48")
    other = seen_until(running, lambda uuid, line: "xids" in line)[-1]
    assert (other["uuid"], other["xids"], other["util_percent"]) == (SECOND, [48], 88)


@both_ways
def test_that_the_xid_by_which_the_last_card_went_is_told(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    both_are_heard(running, faults)
    faults.write_text("lost0 lost1 xid79")
    lost = seen_until(running, lambda uuid, line: "xids" in line)[-1]
    assert (lost["uuid"], lost["xids"]) == (FIRST, [79]) and "lost" in lost


@both_ways
def test_that_a_card_that_refuses_events_is_deaf_alone(way: str, start: Callable[..., Running], faults: Path) -> None:
    faults.write_text("deaf0 xid48")
    told = seen_until(start(way), lambda uuid, line: "xids" in line)[-1]
    assert (told["uuid"], told["xids"]) == (SECOND, [48])


@both_ways
def test_that_two_cards_with_one_uuid_are_kept_apart_by_their_bus_address(way: str, start: Callable[..., Running], faults: Path) -> None:
    faults.write_text("twins")
    running = start(way)
    seen = seen_until(running, lambda uuid, line: uuid != FIRST)
    assert [(line["uuid"], line["index"], line["util_percent"]) for line in seen[-2:]] == [(FIRST, 0, 87), (f"{FIRST}/00000000:1B:00.0", 1, 88)]
    assert gpu_agent.UUID.match(seen[-1]["uuid"])


@both_ways
def test_that_a_temperature_of_a_million_degrees_is_a_gap_with_a_reason(way: str, start: Callable[..., Running], faults: Path) -> None:
    running = start(way)
    running.points("gpu", is_card(SECOND))
    faults.write_text("hot")
    points = running.points("gpu", lambda points: any(point.why for point in points))
    assert [(p.metric, p.value, p.why) for p in points if p.why] == [("gpu.temperature_c", None, "impossible_figure")]
    assert of(points, points[0].subject)["gpu.power_w"] == 412.5


def test_that_a_lost_card_with_an_xid_stays_lost() -> None:
    reader = sources()["gpu"].reader()
    reader.read(json.dumps({"index": 0, "uuid": FIRST, "power_w": 400}))
    points = reader.read(json.dumps({"index": 0, "uuid": FIRST, "lost": "GPU is lost", "xids": [79]}))
    assert [(point.metric, point.value, point.lost) for point in points] == [("gpu.xid", 79, ""), ("gpu.power_w", None, "GPU is lost")]


@pytest.mark.parametrize("module", [
    "def (", "raise RuntimeError('torn')", "import sys; sys.exit(3)", "", "nvmlInit = 1", "def nvmlInit(): pass\nNVMLError = 'x'",
    "class NVMLError(Exception): pass\ndef nvmlInit(): raise RuntimeError('torn')", "class NVMLError(Exception): pass\ndef nvmlInit(): pass",
    "class NVMLError(Exception): value = 999\ndef nvmlInit(): raise NVMLError", "import time; time.sleep(1000)",
])  # fmt: skip
def test_that_ux_27_a_pynvml_that_cannot_be_used_is_passed_over_without_a_word(module: str, start: Callable[..., Running], tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "pynvml.py").write_text(module)
    running = start("pynvml", modules=str(tmp_path / "modules"))
    assert of(running.points("gpu", is_card(FIRST)), FIRST)["gpu.power_w"] == 412.5
    assert json.loads(running.first("agent", lambda p: '"via": "ctypes"' in p))["via"] == "ctypes"


# As before version 11: words are bytes.
OF_BYTES = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("of_today", {path!r})
of_today = sys.modules["of_today"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(of_today)
globals().update({{name: value for name, value in vars(of_today).items() if name[:1] != "_"}})
def nvmlDeviceGetUUID(handle): return of_today.nvmlDeviceGetUUID(handle).encode()
"""


def test_that_ux_27_a_pynvml_whose_words_are_bytes_names_the_cards_alike(start: Callable[..., Running], tmp_path: Path) -> None:
    spec = importlib.util.find_spec("pynvml")
    assert spec and spec.origin
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "pynvml.py").write_text(OF_BYTES.format(path=spec.origin))
    running = start("pynvml", modules=str(tmp_path / "modules"))
    assert of(running.points("gpu", is_card(FIRST)), FIRST)["gpu.power_w"] == 412.5
    assert json.loads(running.first("agent", lambda p: '"via": ""' not in p))["via"] == "pynvml"


def pci_bus(folder: Path, *devices: tuple[str, str]) -> Path:
    """A bus with devices of these vendors and classes."""
    for number, (vendor, kind) in enumerate(devices):
        (folder / "bus" / f"0000:0{number}:00.0").mkdir(parents=True)
        (folder / "bus" / f"0000:0{number}:00.0" / "vendor").write_text(f"{vendor}\n")
        (folder / "bus" / f"0000:0{number}:00.0" / "class").write_text(f"{kind}\n")
    return folder / "bus"


OTHERS = (("0x10de", "0x068000"), ("0x10de", "0x040300"), ("0x1a03", "0x030000"))  # a switch and a sound device of NVIDIA, a console
TWO_CARDS = (("0x10de", "0x030200"), ("0x10de", "0x030000"), *OTHERS)
BLIND = "class NVMLError(Exception): pass\ndef nvmlInit(): pass\ndef nvmlDeviceGetCount(): return 0\ndef nvmlShutdown(): pass"


def test_that_a_pynvml_that_shows_no_card_of_those_on_the_bus_hands_over_to_the_library(start: Callable[..., Running], tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "pynvml.py").write_text(BLIND)
    running = start("pynvml", modules=str(tmp_path / "modules"), bus=pci_bus(tmp_path, *TWO_CARDS))
    assert running.first("gpu").startswith("{"), "nothing is told of a way that another one makes up for"
    assert json.loads(running.first("agent", lambda p: '"via": "ctypes"' in p))["via"] == "ctypes"


@no_driver
@pytest.mark.parametrize(("devices", "said"), [
    (TWO_CARDS, "! the NVIDIA driver shows none of 2 NVIDIA GPUs on the PCI bus"), (OTHERS, "! no NVIDIA GPU on the node"),
    ((), "! the NVIDIA driver shows no GPU"),
])  # fmt: skip
@pytest.mark.parametrize("smi", ["exit 127", "echo No devices were found; exit 6", ""])
def test_that_a_driver_that_shows_no_card_is_no_computer_without_one(
    devices: tuple[tuple[str, str], ...], said: str, smi: str, start: Callable[..., Running], faults: Path, tmp_path: Path
) -> None:
    faults.write_text("none")
    if smi:
        tool(tmp_path / "bin", "nvidia-smi", f'case "$*" in --help*) exit;; esac\n{smi}\n')
    running = start("ctypes", path=str(tmp_path / "bin"), bus=pci_bus(tmp_path, *devices))
    assert [running.first("gpu"), running.first("gpu")] == [said, said]
    faults.write_text("")
    assert of(running.points("gpu", is_card(FIRST)), FIRST)["gpu.power_w"] == 412.5
    assert trouble_words(said[2:]).zh != said[2:]


def test_that_an_nvidia_smi_that_sees_cards_is_read_where_the_library_shows_none(start: Callable[..., Running], faults: Path, tmp_path: Path) -> None:
    faults.write_text("none")
    tool(tmp_path / "bin", "nvidia-smi", (
        f"case \"$*\" in --help*) exit;; esac\necho '1, {SECOND}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x0000000000000004'\nexec sleep 60\n"
    ))  # fmt: skip
    running = start("ctypes", path=str(tmp_path / "bin"), bus=pci_bus(tmp_path, *TWO_CARDS))
    assert running.first("gpu").startswith(f"1, {SECOND}")


class Listener:
    """A voice that keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, source: str, payload: str) -> None:
        self.said.append(f"{source} {payload}")


def test_that_a_reading_that_breaks_off_says_by_what_and_is_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    listener, ends = Listener(), [SystemExit(3), TypeError("odd"), None]
    monkeypatch.setattr(node_agent, "AGAIN_S", 0.0)

    def read_on() -> None:
        if (end := ends.pop(0)) is not None:
            raise end

    node_agent.keep(listener, "gpu", read_on)
    assert listener.said == ["gpu ! its reading broke off (SystemExit)", "gpu ! its reading broke off (TypeError)"]
    assert trouble_words("its reading broke off (TypeError)").zh == "读取中断（TypeError）"


def test_that_ways_that_all_break_off_say_so_and_not_that_a_tool_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(node_agent.Direct):
        def __init__(self) -> None:
            pass

        def nvmlInit(self) -> None:
            raise ZeroDivisionError

    listener = Listener()
    monkeypatch.setattr(node_agent, "ways_to_nvml", lambda: [Broken()])
    monkeypatch.setattr(node_agent, "PCI_VENDORS", "/none")
    monkeypatch.setattr(node_agent.shutil, "which", lambda name: None)
    gpus = node_agent.Gpus(listener, 0.1)
    gpus.run()
    assert listener.said == ["gpu ! ctypes broke off (ZeroDivisionError)"] and gpus.since is None
    assert trouble_words("ctypes broke off (ZeroDivisionError)").zh == "ctypes 读取中断（ZeroDivisionError）"


def test_that_a_tool_that_hangs_in_what_it_started_is_ended_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_agent, "TOOL_S", 4.0)  # it has begun what it hangs in by then
    tool(tmp_path, "hangs", f"echo first\nsleep 60 & echo $! > {tmp_path}/kid\nsleep 60\n")
    late: list[str] = []
    assert node_agent.answer([str(tmp_path / "hangs")], lambda: late.append("late")) == ("first\n", -signal.SIGKILL)
    assert late == ["late"] and not node_agent.CHILDREN
    with contextlib.suppress(ProcessLookupError):
        kid = os.pidfd_open(int((tmp_path / "kid").read_text()))
        assert select.select([kid], [], [], 20)[0], "the sleep of a minute is over"
        os.close(kid)


HANGS = {
    "itself": "exec sleep 60", "in what it started": "sleep 60 & echo $! >> {kids}; wait",
    "two below": "sh -c 'sleep 60 & echo $! >> {kids}; wait' & wait", "apart": "setsid sh -c 'echo $$ >> {kids}; exec sleep 60' & wait",
}  # fmt: skip


@no_driver
@pytest.mark.parametrize("hangs", HANGS.values(), ids=HANGS.keys())
def test_that_an_agent_that_is_killed_leaves_no_tool_behind_that_hangs(hangs: str, start: Callable[..., Running], tmp_path: Path) -> None:
    kids = tmp_path / "kids"
    os.mkfifo(kids)
    told, said = os.open(kids, os.O_RDWR), b""
    for name in ("nvidia-smi", "npu-smi"):
        tool(tmp_path / "bin", name, f"echo $$ >> {kids}\n{hangs.format(kids=kids)}\n")
    running = start("ctypes", driver=False, path=str(tmp_path / "bin"))
    while said.count(b"\n") < 2 * (1 + hangs.count("{kids}")):
        assert select.select([told], [], [], 20)[0]
        said += os.read(told, 4096)
    os.close(told)
    left = [os.pidfd_open(int(pid)) for pid in said.split()]
    running.kill()
    for one in left:
        assert select.select([one], [], [], 20)[0], "the sleep of a minute is over"
        os.close(one)


def test_that_what_a_tool_left_behind_does_not_hold_its_answer(tmp_path: Path) -> None:
    tool(tmp_path, "leaves", f"setsid sleep 60 & echo $! > {tmp_path}/kid\necho table\n")
    try:
        assert node_agent.answer([str(tmp_path / "leaves")]) == ("table\n", 0)
    finally:
        os.kill(int((tmp_path / "kid").read_text()), signal.SIGKILL)


@pytest.mark.parametrize("flood", ["exec yes table", "exec tr '\\0' x </dev/zero"])
def test_that_a_flood_and_a_line_without_end_are_no_answer(flood: str, tmp_path: Path) -> None:
    tool(tmp_path, "floods", flood)
    said, code = node_agent.answer([str(tmp_path / "floods")])
    assert code == -signal.SIGKILL and len(said) <= node_agent.TOOL_BYTES + 2**16


def test_that_a_table_without_end_is_told_and_the_next_good_one_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "npu-smi", (
        f'echo x >> {tmp_path}/calls\ncase $(wc -l < {tmp_path}/calls) in 1|2) exec yes table;; 3) echo good;; *) rm "$0"; exit 1;; esac\n'
    ))  # fmt: skip
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(node_agent, "AGAIN_S", 0.0)
    listener = Listener()
    node_agent.npus(listener, 0.0)
    silent = "npu ! npu-smi does not answer"
    assert listener.said == [silent, silent, silent, "npu good\x1e", "npu ! npu-smi is not installed on the node"]


def test_that_an_nvidia_smi_that_falls_silent_is_ended_and_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool(tmp_path, "nvidia-smi", (
        f'case "$*" in --help*) exit;; esac\necho x >> {tmp_path}/calls\necho row\n'
        f'[ $(wc -l < {tmp_path}/calls) = 1 ] || {{ head -c 9000 /dev/zero; echo; echo last; rm "$0"; exit; }}\nsleep 60 & wait\n'
    ))  # fmt: skip
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(node_agent, "PCI_VENDORS", "/none")
    monkeypatch.setattr(node_agent, "ROWS_S", 4.0)  # one that does not hang says its rows in that time
    listener = Listener()
    node_agent.Gpus(listener, 0.001)._by_smi()
    assert listener.said == [
        "gpu row", "gpu ! the NVIDIA driver does not answer", "gpu row", "gpu last", "gpu ! nvidia-smi ended",
        "gpu ! nvidia-smi is not installed on the node",
    ]  # fmt: skip


def test_that_a_card_that_is_on_no_bus_is_there_when_nvidia_smi_told_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = f"0, {FIRST}, 97"
    tool(tmp_path, "nvidia-smi", f'case "$*" in --help*) exit;; esac\necho \'{row}\'; rm "$0"\n')
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(node_agent, "PCI_VENDORS", str(pci_bus(tmp_path, *OTHERS) / "*" / "vendor"))
    listener = Listener()
    node_agent.Gpus(listener, 0.001)._by_smi()
    assert listener.said == [f"gpu {row}", "gpu ! nvidia-smi ended", "gpu ! nvidia-smi is not installed on the node"]


BURNS = "import os,time\nwhile time.process_time() < 0.4: pass\nprint('burnt', flush=True)\ntime.sleep(60)"


@pytest.mark.parametrize("how", ["exec {}", "{} &\nwait"])
def test_that_what_a_tool_uses_is_counted_while_it_lives_and_once(how: str, tmp_path: Path) -> None:
    (tmp_path / "burns.py").write_text(BURNS)
    tool(tmp_path, "tool", how.format(f"{sys.executable} -S {tmp_path}/burns.py") + "\n")
    cost, began = node_agent.Cost(), time.monotonic()
    child = node_agent.begin([str(tmp_path / "tool")])
    assert next(node_agent.rows(child, 0.1)) == "burnt"
    alone_mib = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    first = json.loads(cost.line("nvidia-smi"))
    used_s = first["cpu_percent"] / 100 * (time.monotonic() - began)
    assert used_s >= 0.35 and first["memory_mib"] > alone_mib + 3
    before_s = cost._now()[0]
    node_agent.end(child)
    after_s = cost._now()[0]
    assert after_s - before_s < 0.2, "what has ended is counted no second time"
    assert after_s > before_s or how.endswith("wait"), "what its parent reaped is not forgotten"
    assert (json.loads(cost.line("nvidia-smi"))["cpu_percent"] or 0.0) >= 0


def tool(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n" + script)
    (folder / name).chmod(0o755)


@no_driver
def test_that_without_the_library_the_rows_of_nvidia_smi_are_passed_on(start: Callable[..., Running], tmp_path: Path) -> None:
    tool(tmp_path / "bin", "nvidia-smi", (
        'case "$*" in --help-query-gpu) echo clocks_event_reasons.active; exit;; *clocks_event_reasons*"-lms 100") ;; *) exit 2;; esac\n'
        f"echo '1, {SECOND}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x0000000000000004'\nexec sleep 60\n"
    ))  # fmt: skip
    running = start("ctypes", driver=False, path=str(tmp_path / "bin"))
    points = running.points("gpu")
    assert of(points, SECOND)["gpu.power_w"] == 688.41 and points[-1].index == 1
    assert json.loads(running.first("agent"))["via"] == "nvidia-smi"


@no_driver
def test_that_an_ascend_node_is_read_through_npu_smi(start: Callable[..., Running], tmp_path: Path) -> None:
    (tmp_path / "table").write_text(_npu_table())
    tool(tmp_path / "bin", "npu-smi", f"[ $1 = info ] && exec cat {tmp_path / 'table'}\n")
    running = start("ctypes", driver=False, path=str(tmp_path / "bin"))
    assert len({point.subject for point in running.points("npu")}) == 8
    (tmp_path / "table").unlink()
    assert running.first("npu", lambda payload: payload.startswith("!")) == "! npu-smi does not answer"


def _npu_table() -> str:
    payload = list(islice(stream_lines(demo_nodes()["ascend"], MARK, ("npu",)), 2))[1][1].decode()
    return next(line for line in payload.split("\n") if f"{MARK} npu " in line).split(" ", 2)[2].replace("\x1e", "\n")


@no_driver
def test_that_ux_27_a_computer_without_a_driver_gets_one_clear_line_and_the_rest(start: Callable[..., Running]) -> None:
    running = start("ctypes", driver=False)
    assert running.first("gpu") == "! nvidia-smi is not installed on the node"
    assert {metric.metric for metric in running.points("agent")} == {"agent.cpu_percent", "agent.memory_mib"}


@no_driver
@both_ways
def test_that_a_library_without_a_driver_is_no_driver_that_does_not_answer(way: str, start: Callable[..., Running]) -> None:
    running, told, ticks = start(way, driver=False, deadline_s=2.0), [], 0
    for source, payload in running.lines():
        told += [payload] if source == "gpu" else []
        ticks += source == "agent"
        if ticks == 40:  # of a tenth of a second each: twice the deadline
            break
    assert told == ["! nvidia-smi is not installed on the node"]


@no_driver
def test_that_without_a_mark_it_prints_json_and_ends_after_its_ticks() -> None:
    environment = {**os.environ, "GPULEASE_TICKS": "2", "GPULEASE_INTERVAL": "0.1"}
    done = subprocess.run([sys.executable, FILE], capture_output=True, text=True, timeout=30, env=environment)
    assert done.returncode == 0 and done.stderr == ""
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["source"] for row in said].count("host") >= 2


def test_that_an_error_counter_that_is_away_for_a_moment_makes_no_errors_when_it_is_back(tmp_path, monkeypatch):
    port = tmp_path / "mlx5_0" / "ports" / "1"
    for name, value in (("port_rcv_data", 10), ("port_xmit_data", 20), ("symbol_error", 5000), ("link_downed", 2)):
        (port / "counters").mkdir(parents=True, exist_ok=True)
        (port / "counters" / name).write_text(f"{value}\n")
    monkeypatch.setattr(node_agent, "RDMA", str(tmp_path / "*" / "ports" / "*"))
    monkeypatch.setattr(node_agent, "RDMA_FAULTS", {})
    assert node_agent.rdma_rows() == ["mlx5_0/1 10 20 5002"]
    (port / "counters" / "symbol_error").rename(port / "away")
    assert node_agent.rdma_rows() == ["mlx5_0/1 10 20 -"]
    (port / "away").rename(port / "counters" / "symbol_error")
    (port / "counters" / "port_rcv_errors").write_text("900\n")
    assert node_agent.rdma_rows() == ["mlx5_0/1 10 20 5002"]
