"""Which facts of ours does an output answer that only suppliers send?"""

from __future__ import annotations

from collections.abc import Iterator

from gpulease_gui.facts.cpu_limits import CpuLimits
from gpulease_gui.facts.detect_virt import Virtualization
from gpulease_gui.facts.ethtool import LinkSettings
from gpulease_gui.facts.fio_json import FioReport
from gpulease_gui.facts.ibstat import IbReport
from gpulease_gui.facts.ibv_devinfo import RdmaReport
from gpulease_gui.facts.id_words import User
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf3_text import IperfText
from gpulease_gui.facts.lspci import PciList
from gpulease_gui.facts.memory_limits import MemoryLimits
from gpulease_gui.facts.nccl_tests import NcclReport
from gpulease_gui.facts.nvbandwidth import CopyReport
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_csv import SmiCsv
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_table import SmiTable
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.services import pasted_cards, pasted_machine, pasted_network

# Fact id, its reading, whether the form tells as much as the fact itself.
Answer = tuple[str, object, bool]
CARDS = "smi_xml"
_OWN = ("cpu_limits", "memory_limits")  # these readings are the facts themselves


def as_facts(kind: str, reading: object) -> Iterator[Answer]:
    """The facts that a reading of `kind` stands for, besides its own; what the form does not say stays None."""
    if kind == "smi_q" and isinstance(reading, SmiReport):
        yield CARDS, reading, True
        return
    report = _cards(reading)
    if report is not None:
        yield CARDS, report, False
    if kind not in _OWN:
        yield from _machine(reading)
    yield from _network(reading)


def _cards(reading: object) -> SmiReport | None:
    match reading:
        case SmiTable():
            return pasted_cards.report_of_table(reading)
        case SmiList():
            return pasted_cards.report_of_list(reading)
        case NvlinkReport():
            return pasted_cards.report_of_links(reading)
        case SmiCsv():
            return pasted_cards.report_of_query(reading)
        case PciList():
            return pasted_cards.report_of_bus(reading)
        case CopyReport() | NcclReport():
            return pasted_cards.report_of_names(reading.device_names or ())
    return None


def _machine(reading: object) -> Iterator[Answer]:
    match reading:
        case PciList():
            yield "pci_devices", pasted_machine.bus_of_list(reading), False
        case FioReport():
            yield from pasted_machine.disks_of_fio(reading)
        case CpuLimits():
            yield "cpu_limits", reading, False
        case MemoryLimits():
            yield "memory_limits", reading, False
        case User():
            yield "access", pasted_machine.access_of(reading), False
        case Virtualization():
            yield "environment", pasted_machine.environment_of(reading), False


def _network(reading: object) -> Iterator[Answer]:
    match reading:
        case IperfRun():
            yield "iperf_pair", pasted_network.pair_of(reading), True
        case IperfText():
            yield "iperf_pair", pasted_network.pair_of(pasted_network.run_of_text(reading)), True
        case IbReport():
            yield "net_links", pasted_network.ports_of_ibstat(reading), False
        case RdmaReport():
            yield "net_links", pasted_network.ports_of_devinfo(reading), False
        case LinkSettings() if not reading.module:
            yield "net_links", pasted_network.link_of(reading), False
