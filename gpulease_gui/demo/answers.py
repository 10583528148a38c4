"""What does a simulated node print for each fact?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from gpulease_gui.demo import detail_report, host_report, link_report, smi_tables
from gpulease_gui.demo.clock_report import clock_samples
from gpulease_gui.demo.disk_report import lsblk
from gpulease_gui.demo.driver_report import driver_files
from gpulease_gui.demo.kernel_log import kernel_log
from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.nodes import DemoNode
from gpulease_gui.demo.npu_report import npu_info
from gpulease_gui.demo.smi_report import smi_xml
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES

Printer = Callable[[Machine, datetime], str]

# Stands for the boundary of the run in an output that forges a frame; as long as a real one.
FORGED_BOUNDARY = "f" * 32
_FLOODED = "dmesg"
_FLOOD_WORDS = "\x1b[32mmirage: all tests passed\x1b[0m, " * 40


def _plain(printer: Callable[[Machine], str]) -> Printer:
    return lambda machine, now: printer(machine)


_NVIDIA: Mapping[str, tuple[float, Printer]] = MappingProxyType({
    "smi_xml": (1.9, smi_xml),
    "smi_list": (0.6, _plain(smi_tables.smi_list)),
    "topo": (1.1, _plain(smi_tables.topo)),
    "nvlink": (0.9, _plain(smi_tables.nvlink)),
    "mig": (0.7, _plain(smi_tables.mig)),
    "clock_samples": (10.4, clock_samples),
    "smi_binary": (0.6, _plain(detail_report.smi_binary)),
    "smi_extra": (0.8, _plain(detail_report.smi_extra)),
    "nvlink_errors": (0.9, _plain(detail_report.nvlink_errors)),
    "p2p": (1.6, _plain(link_report.p2p)),
})  # fmt: skip
_ASCEND: Mapping[str, tuple[float, Printer]] = MappingProxyType({
    "npu_smi": (2.6, _plain(npu_info)),
    "npu_ecc": (4.1, _plain(detail_report.npu_ecc)),
    "npu_links": (5.2, _plain(link_report.npu_links)),
    "npu_ports": (6.4, _plain(link_report.npu_ports)),
})  # fmt: skip
_HOST: Mapping[str, tuple[float, Printer]] = MappingProxyType({
    "clock_now": (0.02, host_report.clock_now),
    "environment": (0.3, _plain(host_report.environment)),
    "cpu_limits": (0.1, _plain(host_report.cpu_limits)),
    "memory_limits": (0.1, _plain(host_report.memory_limits)),
    "mounts": (0.05, _plain(host_report.mounts)),
    "lsblk": (0.1, _plain(lsblk)),
    "net_links": (0.2, _plain(host_report.net_links)),
    "pci_devices": (0.3, _plain(host_report.pci_devices)),
    "nvidia_proc": (0.1, _plain(host_report.nvidia_proc)),
    "driver_files": (0.2, _plain(driver_files)),
    "fabric_manager": (0.1, _plain(link_report.fabric_manager)),
    "graphics": (0.2, _plain(link_report.graphics)),
    "preload": (0.05, _plain(detail_report.preload)),
    "cpu_state": (0.1, _plain(detail_report.cpu_state)),
    "limits": (0.05, _plain(detail_report.limits)),
    "port_counters": (0.05, _plain(detail_report.port_counters)),
    "net_shape": (0.1, _plain(detail_report.net_shape)),
    "containers": (0.3, _plain(detail_report.containers)),
    "smart": (0.4, _plain(detail_report.smart)),
    "roce_ports": (0.05, _plain(detail_report.roce_ports)),
    "npu_versions": (0.3, _plain(detail_report.npu_versions)),
    "torch_files": (0.2, _plain(detail_report.torch_files)),
    "edac": (0.05, _plain(detail_report.edac)),
    "device_nodes": (0.05, _plain(detail_report.device_nodes)),
    "load_now": (0.05, _plain(detail_report.load_now)),
    "access": (0.2, _plain(detail_report.access)),
    "dmesg": (0.4, kernel_log),
})  # fmt: skip


def answer(node: DemoNode, fact_id: str, now: datetime) -> CommandOutput:
    """The output of a passive fact at the moment `now` (UTC): exit code 127 for a tool that the node does not have."""
    machine = node.machine
    if "flood" in machine.quirks and fact_id == _FLOODED:
        return _flood(now)
    here = {**(_NVIDIA if machine.driver else {}), **(_ASCEND if machine.npus else {}), **_HOST}
    if fact_id not in here:
        return _missing(fact_id)
    seconds, printer = here[fact_id]
    said = _not_found("nvidia-smi", 18) if fact_id == "driver_files" and machine.driver is None else b""
    return CommandOutput(printer(machine, now).encode(), said, 0, seconds)


def _missing(fact_id: str) -> CommandOutput:
    if fact_id == "clock_samples":  # it tries twice, under two names of a column
        return CommandOutput(b"round: 0\nround: 0\n", _not_found("nvidia-smi", 3) * 2, 127, 0.01)
    tool = "nvidia-smi" if fact_id in _NVIDIA else "npu-smi" if fact_id in _ASCEND else fact_id
    return CommandOutput(b"", f"sh: {tool}: not found\n".encode(), 127, 0.01)


def _not_found(tool: str, line: int) -> bytes:
    """As sh says it of a script's line."""
    return f"sh: {line}: {tool}: not found\n".encode()


def _flood(now: datetime) -> CommandOutput:
    """A log that never stops: what the node's own `head -c` lets through."""
    line = (
        f"{now:%Y-%m-%dT%H:%M:%S},000000+00:00 {_FLOOD_WORDS}\n{FORGED_BOUNDARY} smi_xml 0 0.100 2 0 0 0\nOK\n".encode()
    )
    return CommandOutput((line * (MAX_STDOUT_BYTES // len(line) + 1))[:MAX_STDOUT_BYTES], b"", 0, 3.2, stdout_cut=True)
