"""The agent runs on old Pythons, imports nothing of ours and reads NVML right."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpulease_gui.telemetry.source import sources

AGENT = Path(__file__).resolve().parents[2] / "gpulease_gui" / "agent" / "node_agent.py"
FAKE_NVML = """
class NVMLError(Exception): pass
class _Of:
    def __init__(self, **values): self.__dict__.update(values)
def nvmlInit(): pass
def nvmlDeviceGetCount(): return 2
def nvmlDeviceGetHandleByIndex(index):
    if index == 1: raise NVMLError("GPU is lost")
    return index
def nvmlDeviceGetUUID(handle): return b"GPU-0f0f"
def nvmlDeviceGetUtilizationRates(handle): return _Of(gpu=87, memory=33)
def nvmlDeviceGetMemoryInfo(handle): return _Of(used=2048 * 1024 * 1024)
def nvmlDeviceGetPowerUsage(handle): return 412500
def nvmlDeviceGetTemperature(handle, sensor): return 58
def nvmlDeviceGetClockInfo(handle, kind): return {1: 1755, 2: 2619}[kind]
def nvmlDeviceGetCurrentClocksThrottleReasons(handle): return 4
"""


def run_agent(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GPULEASE_TICKS": "1", **environment}
    return subprocess.run([sys.executable, str(AGENT)], capture_output=True, text=True, timeout=30, env=environment)


def test_that_python_3_6_can_read_it_and_it_imports_nothing_of_ours() -> None:
    tree = ast.parse(AGENT.read_text(encoding="utf-8"), feature_version=(3, 6))
    imported = {a.name.split(".")[0] for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    assert imported == {"os", "sys", "time", "pynvml"}


def test_that_its_lines_are_those_of_the_gpu_source_and_a_lost_gpu_has_none(tmp_path: Path) -> None:
    (tmp_path / "pynvml.py").write_text(FAKE_NVML)
    lines = run_agent(tmp_path, PYTHONPATH=str(tmp_path)).stdout.splitlines()
    assert len(lines) == 1
    points = {p.metric: (p.subject, p.value) for p in sources()["gpu"].reader().read(lines[0])}
    assert points["gpu.power_w"] == ("GPU-0f0f", 412.5)
    assert points["gpu.memory_used_gib"] == ("GPU-0f0f", 2.0)
    assert points["gpu.clock_memory_mhz"] == ("GPU-0f0f", 2619.0)
    assert points["gpu.event_reasons"] == ("GPU-0f0f", 4.0)


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this computer has an NVIDIA driver")
def test_that_a_computer_without_a_driver_gets_one_clear_line(tmp_path: Path) -> None:
    done = run_agent(tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("! no NVIDIA driver answers here")
