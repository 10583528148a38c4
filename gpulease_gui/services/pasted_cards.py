"""What do the shorter forms of nvidia-smi say of the cards, in the words of the full report?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpulease_gui.facts import smi_csv
from gpulease_gui.facts.lspci import PciList
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_csv import SmiCsv
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_record import Gpu
from gpulease_gui.facts.smi_table import SmiTable
from gpulease_gui.facts.smi_values import number, pci_id, whole, word
from gpulease_gui.facts.smi_xml import SmiReport

# The checks whose questions a table answers or visibly leaves open: its silence on them is said, not passed over.
TABLE_CHECKS = frozenset([
    "iso.foreign_procs", "iso.compute_mode", "mem.idle_usage", "health.ecc_uncorrected", "health.ecc_mode", "health.err_fields",
    "thermal.gpu",
])  # fmt: skip


def report_of_table(table: SmiTable) -> SmiReport:
    """The cells of the table; a counter shown there is the volatile one."""
    gpus = tuple(
        Gpu(
            gpu.index, gpu.bus_id, name=gpu.name, memory_total_mib=gpu.memory_total_mib, memory_used_mib=gpu.memory_used_mib,
            power_limit_w=gpu.power_cap_w, power_draw_w=gpu.power_draw_w, temperature_c=gpu.temperature_c,
            gpu_util_percent=gpu.gpu_util_percent, performance_state=gpu.performance_state, mig_mode_current=gpu.mig_mode,
            persistence_mode=gpu.persistence_mode, compute_mode=gpu.compute_mode, ecc_mode_current=gpu.ecc_mode,
            ecc_uncorrected_volatile=gpu.ecc_uncorrected_volatile, error_fields=gpu.error_cells, lost_fields=gpu.lost_cells,
            processes=table.processes_of(gpu.index),
        )
        for gpu in table.gpus
    )  # fmt: skip
    return SmiReport(table.driver_version, table.cuda_version, None, gpus)


def report_of_list(listed: SmiList) -> SmiReport:
    """Names and UUIDs, and how many slices each card lists."""
    gpus = tuple(
        Gpu(gpu.index, uuid=gpu.uuid, name=gpu.name, mig_devices=sum(d.gpu == gpu.index for d in listed.mig_devices) or None)
        for gpu in listed.gpus
    )
    return SmiReport(None, None, None, gpus, cut_off=listed.cut_off)


def report_of_links(links: NvlinkReport) -> SmiReport:
    """The head lines name the cards: a name speaks against a promise as well here as in the full report."""
    gpus = tuple(Gpu(gpu.index, uuid=gpu.uuid, name=gpu.name) for gpu in links.gpus)
    return SmiReport(None, None, None, gpus, cut_off=links.cut_off)


def report_of_bus(bus: PciList) -> SmiReport | None:
    """The ids on the bus; whether a card there still answers the bus does not say, so its count proves nothing."""
    gpus = tuple(
        Gpu(n, d.slot, pci_device_id=f"{d.vendor_id}:{d.device_id}" if d.vendor_id and d.device_id else None)
        for n, d in enumerate(bus.nvidia_gpus)
    )
    return SmiReport(None, None, None, gpus, cut_off=True) if gpus else None


def report_of_names(names: Sequence[str]) -> SmiReport | None:
    """The cards that a benchmark names in its head; how many others there are it does not say."""
    if not names:
        return None
    return SmiReport(None, None, None, tuple(Gpu(n, name=name) for n, name in enumerate(names)), cut_off=True)


# A column of the query by the field of the record; the reader has brought its cells to the tool's own units.
_FIELDS = {
    "names": "name", "bus_ids": "bus_id", "uuids": "uuid", "memory_total_mib": "memory_total_mib", "memory_used_mib": "memory_used_mib",
    "temperature_c": "temperature_c", "memory_temperature_c": "memory_temperature_c", "power_draw_w": "power_draw_w",
    "power_limit_w": "power_limit_w", "gpu_util_percent": "gpu_util_percent", "mig_mode_current": "mig_mode_current",
    "ecc_uncorrected_volatile_total": "ecc_uncorrected_volatile", "ecc_corrected_volatile_total": "ecc_corrected_volatile",
    "ecc_uncorrected_aggregate_total": "ecc_uncorrected_aggregate", "pcie_gen_current": "pcie_gen_current",
    "pcie_gen_max": "pcie_gen_max", "pcie_width_current": "pcie_width_current", "persistence_mode": "persistence_mode",
    "performance_state": "performance_state",
}  # fmt: skip
_WORDS = {
    "pci_device_id": ("pci.device_id",), "pci_subsystem_id": ("pci.sub_device_id",), "serial": ("serial", "gpu_serial"),
    "vbios": ("vbios_version",), "compute_mode": ("compute_mode",), "ecc_mode_current": ("ecc.mode.current",),
}  # fmt: skip
_WHOLES = {"pcie_width_max": ("pcie.link.width.max",)}


def report_of_query(query: SmiCsv) -> SmiReport | None:
    """The rows of `--query-gpu`, one card each; None where the rows are processes, or no column names a thing of a card."""
    if query.cells("pid") is not None or not query.rows:
        return None
    told = smi_csv.as_dict(query)
    columns: dict[str, Sequence[Any]] = {
        field: column for key, field in _FIELDS.items() if isinstance(column := told[key], list)
    }
    for field, names in _WORDS.items():
        if (cells := query.cells(*names)) is not None:
            columns[field] = [pci_id(cell) if field.startswith("pci_") else word(cell) for cell in cells]
    for field, names in _WHOLES.items():
        if (cells := query.cells(*names)) is not None:
            columns[field] = [whole(cell) for cell in cells]
    limits = {"power_default_limit_w": "power.default_limit", "power_max_limit_w": "power.max_limit"}
    for field, name in limits.items():
        if (cells := query.cells(name)) is not None:
            columns[field] = [number(cell) for cell in cells]
    if not columns:
        return None
    indexes = query.cells("index") or ()
    gpus = tuple(
        Gpu(_index(indexes, row), **{field: column[row] for field, column in columns.items()}) for row in range(len(query.rows))
    )
    drivers = [driver for driver in _column(told["driver_version"]) if driver]
    return SmiReport(drivers[0] if drivers else None, None, None, gpus)


def _index(indexes: Sequence[str | None], row: int) -> int:
    stated = whole(indexes[row]) if row < len(indexes) else None
    return row if stated is None else stated


def _column(told: object) -> list[Any]:
    return told if isinstance(told, list) else []
