"""What does one GPU record of nvidia-smi say, be it printed as XML or as text?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from gpulease_gui.facts.smi_values import (
    clock_reason,
    ecc_totals,
    ecc_uncorrected_by_memory,
    is_broken,
    is_lost,
    number,
    pci_id,
    whole,
    word,
)


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process on a GPU: `kind` as printed (C, G, C+G), memory in MiB (None = not told)."""

    pid: int | None
    kind: str
    name: str
    memory_mib: float | None


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU record. None everywhere means: the output does not say it."""

    index: int
    bus_id: str | None = None
    uuid: str | None = None
    serial: str | None = None
    name: str | None = None
    brand: str | None = None
    architecture: str | None = None
    vbios: str | None = None
    board_part: str | None = None
    gpu_part: str | None = None
    pci_device_id: str | None = None  # "10de:2330"
    pci_subsystem_id: str | None = None  # "10de:16c1"
    persistence_mode: str | None = None
    mig_mode_current: str | None = None
    mig_mode_pending: str | None = None
    mig_devices: int | None = None
    virtualization_mode: str | None = None
    compute_mode: str | None = None
    performance_state: str | None = None
    memory_total_mib: int | None = None
    memory_reserved_mib: int | None = None
    memory_used_mib: int | None = None
    gpu_util_percent: float | None = None
    memory_util_percent: float | None = None
    fan_percent: float | None = None
    temperature_c: float | None = None
    memory_temperature_c: float | None = None
    power_draw_w: float | None = None
    power_limit_w: float | None = None
    power_enforced_limit_w: float | None = None
    power_default_limit_w: float | None = None
    power_min_limit_w: float | None = None
    power_max_limit_w: float | None = None
    clock_sm_mhz: float | None = None
    clock_memory_mhz: float | None = None
    clock_max_sm_mhz: float | None = None
    clock_max_memory_mhz: float | None = None
    pcie_gen_max: int | None = None
    pcie_gen_current: int | None = None
    pcie_width_max: int | None = None
    pcie_width_current: int | None = None
    pcie_replay_count: int | None = None
    ecc_mode_current: str | None = None
    ecc_mode_pending: str | None = None
    ecc_corrected_volatile: int | None = None
    ecc_uncorrected_volatile: int | None = None
    ecc_corrected_aggregate: int | None = None
    ecc_uncorrected_aggregate: int | None = None
    ecc_uncorrected_aggregate_sram: int | None = None
    ecc_uncorrected_aggregate_dram: int | None = None
    sram_threshold_exceeded: str | None = None
    remapped_rows_correctable: int | None = None
    remapped_rows_uncorrectable: int | None = None
    remap_pending: str | None = None
    remap_failure: str | None = None
    retired_single_bit: int | None = None
    retired_double_bit: int | None = None
    retirement_pending: str | None = None
    active_clock_reasons: tuple[str, ...] | None = None  # () = section present, none active
    recovery_action: str | None = None
    fabric_state: str | None = None
    fabric_status: str | None = None
    processes: tuple[GpuProcess, ...] | None = None
    error_fields: tuple[str, ...] = ()  # names of fields that print ERR!, Unknown Error, GPU is lost ...
    clock_reasons_shown: bool = False  # the section stands there, be it with N/A in place of its lines
    remap_banks: tuple[int, int, int, int, int] | None = None  # banks by spare rows left: max, high, partial, low, none
    clock_app_sm_mhz: float | None = None
    clock_app_memory_mhz: float | None = None
    clock_default_app_sm_mhz: float | None = None
    clock_default_app_memory_mhz: float | None = None
    pcie_gen_device_max: int | None = None
    pcie_gen_host_max: int | None = None
    temperature_margin_c: float | None = None  # to the slowdown; older drivers print thresholds instead
    temperature_slowdown_c: float | None = None
    inforom_image: str | None = None
    license_status: str | None = None  # of a vGPU
    fabric_health: str | None = None
    denied_fields: tuple[str, ...] = ()  # names of fields that this user may not read
    lost_fields: tuple[str, ...] = ()  # names of fields that say that the GPU is lost or needs a reset

    @property
    def key(self) -> str:
        """How findings name this GPU: UUID, else bus id, else index."""
        return self.uuid or self.bus_id or f"gpu{self.index}"


# Where a field stands: snake paths below the record, the XML's tags first, then the words of the -q text.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "bus_id": ("pci/pci_bus_id", "pci/bus_id"),
    "uuid": ("uuid", "gpu_uuid"),
    "serial": ("serial", "serial_number"),
    "name": ("product_name",),
    "brand": ("product_brand",),
    "architecture": ("product_architecture",),
    "vbios": ("vbios_version",),
    "board_part": ("board_part_number",),
    "gpu_part": ("gpu_part_number",),
    "persistence_mode": ("persistence_mode",),
    "mig_mode_current": ("mig_mode/current_mig", "mig_mode/current"),
    "mig_mode_pending": ("mig_mode/pending_mig", "mig_mode/pending"),
    "virtualization_mode": ("gpu_virtualization_mode/virtualization_mode",),
    "compute_mode": ("compute_mode",),
    "performance_state": ("performance_state",),
    "ecc_mode_current": ("ecc_mode/current_ecc", "ecc_mode/current"),
    "ecc_mode_pending": ("ecc_mode/pending_ecc", "ecc_mode/pending"),
    "sram_threshold_exceeded": ("ecc_errors/aggregate/sram_threshold_exceeded", "ecc_errors/aggregate/threshold_exceeded"),
    "remap_pending": ("remapped_rows/remapped_row_pending", "remapped_rows/pending"),
    "remap_failure": ("remapped_rows/remapped_row_failure", "remapped_rows/remapping_failure_occurred"),
    "retirement_pending": (
        "retired_pages/pending_retirement", "retired_pages/pending_blacklist", "retired_pages/pending_page_blacklist",
        "retired_pages/pending_page_denylist", "retired_pages/pending_denylist", "retired_pages/pending",
    ),
    "recovery_action": ("gpu_recovery_action",),
    "fabric_state": ("fabric/state",),
    "fabric_status": ("fabric/status",),
    "fabric_health": ("fabric/health/summary",),
    "inforom_image": ("inforom_version/img_version", "inforom_version/image_version"),
    "license_status": ("vgpu_software_licensed_product/license_status",),
}  # fmt: skip
_WHOLES: Mapping[str, tuple[str, ...]] = {
    "memory_total_mib": ("fb_memory_usage/total",),
    "memory_reserved_mib": ("fb_memory_usage/reserved",),
    "memory_used_mib": ("fb_memory_usage/used",),
    "pcie_gen_max": ("pci/pci_gpu_link_info/pcie_gen/max_link_gen", "pci/gpu_link_info/pcie_generation/max"),
    "pcie_gen_current": ("pci/pci_gpu_link_info/pcie_gen/current_link_gen", "pci/gpu_link_info/pcie_generation/current"),
    "pcie_width_max": ("pci/pci_gpu_link_info/link_widths/max_link_width", "pci/gpu_link_info/link_width/max"),
    "pcie_width_current": ("pci/pci_gpu_link_info/link_widths/current_link_width", "pci/gpu_link_info/link_width/current"),
    "pcie_gen_device_max": ("pci/pci_gpu_link_info/pcie_gen/max_device_link_gen", "pci/gpu_link_info/pcie_generation/device_max"),
    "pcie_gen_host_max": ("pci/pci_gpu_link_info/pcie_gen/max_host_link_gen", "pci/gpu_link_info/pcie_generation/host_max"),
    "pcie_replay_count": ("pci/replay_counter", "pci/replays_since_reset"),
    "remapped_rows_correctable": ("remapped_rows/remapped_row_corr", "remapped_rows/correctable_error"),
    "remapped_rows_uncorrectable": ("remapped_rows/remapped_row_unc", "remapped_rows/uncorrectable_error"),
    "retired_single_bit": ("retired_pages/multiple_single_bit_retirement/retired_count", "retired_pages/single_bit_ecc"),
    "retired_double_bit": ("retired_pages/double_bit_retirement/retired_count", "retired_pages/double_bit_ecc"),
}
_NUMBERS: Mapping[str, tuple[str, ...]] = {
    "gpu_util_percent": ("utilization/gpu_util", "utilization/gpu"),
    "memory_util_percent": ("utilization/memory_util", "utilization/memory"),
    "fan_percent": ("fan_speed",),
    "temperature_c": ("temperature/gpu_temp", "temperature/gpu_current_temp", "temperature/gpu"),
    "memory_temperature_c": ("temperature/memory_temp", "temperature/memory_current_temp"),
    "temperature_margin_c": ("temperature/gpu_temp_tlimit", "temperature/gpu_t_limit_temp", "temperature/gpu_current_t_limit_temp"),
    "temperature_slowdown_c": ("temperature/gpu_temp_slow_threshold", "temperature/gpu_slowdown_temp"),
    "clock_app_sm_mhz": ("applications_clocks/graphics_clock", "applications_clocks/graphics"),
    "clock_app_memory_mhz": ("applications_clocks/mem_clock", "applications_clocks/memory"),
    "clock_default_app_sm_mhz": ("default_applications_clocks/graphics_clock", "default_applications_clocks/graphics"),
    "clock_default_app_memory_mhz": ("default_applications_clocks/mem_clock", "default_applications_clocks/memory"),
    "clock_sm_mhz": ("clocks/sm_clock", "clocks/sm"),
    "clock_memory_mhz": ("clocks/mem_clock", "clocks/memory"),
    "clock_max_sm_mhz": ("max_clocks/sm_clock", "max_clocks/sm"),
    "clock_max_memory_mhz": ("max_clocks/mem_clock", "max_clocks/memory"),
}
# The card's own power sections; module and memory sections use the same key names and are never looked at.
_POWER_SECTIONS = ("gpu_power_readings", "power_readings")
_CEILING = "gpu_ceiling_power_limit/"  # driver 610 puts the limits one level down
_POWER: Mapping[str, tuple[str, ...]] = {
    "power_draw_w": ("power_draw", "instant_power_draw", "instantaneous_power_draw", "average_power_draw"),
    "power_limit_w": ("current_power_limit", "power_limit", _CEILING + "current_power_limit", _CEILING + "power_limit"),
    # Up to 525 the enforced limit has a line of its own; from 535 on "current" is the enforced one.
    "power_enforced_limit_w": ("enforced_power_limit", "current_power_limit", _CEILING + "current_power_limit"),
    "power_default_limit_w": ("default_power_limit", _CEILING + "default_power_limit"),
    "power_min_limit_w": ("min_power_limit", _CEILING + "min_power_limit"),
    "power_max_limit_w": ("max_power_limit", _CEILING + "max_power_limit"),
}


def gpu_record(
    index: int, bus_id: str | None, leaves: Mapping[str, str],
    mig_devices: int | None, processes: tuple[GpuProcess, ...] | None,
) -> Gpu:  # fmt: skip
    """One record from its cells; `leaves` maps snake paths ("fb_memory_usage/total") to cells as printed."""
    fields: dict[str, Any] = {name: _first(word, leaves, paths) for name, paths in _WORDS.items()}
    fields |= {name: _first(whole, leaves, paths) for name, paths in _WHOLES.items()}
    fields |= {name: _first(number, leaves, paths) for name, paths in _NUMBERS.items()}
    for name, keys in _POWER.items():
        fields[name] = _first(number, leaves, [f"{section}/{key}" for section in _POWER_SECTIONS for key in keys])
    fields["bus_id"] = word(bus_id) or fields["bus_id"]
    cells = set(leaves.values())  # most are alike
    return Gpu(
        index=index,
        pci_device_id=_first(pci_id, leaves, ("pci/pci_device_id", "pci/device_id")),
        pci_subsystem_id=_first(pci_id, leaves, ("pci/pci_sub_system_id", "pci/sub_system_id")),
        mig_devices=mig_devices,
        processes=processes,
        active_clock_reasons=_active_reasons(leaves),
        clock_reasons_shown=any(path.split("/")[0] in _REASON_SECTIONS for path in leaves),
        error_fields=_paths_of(leaves, {cell for cell in cells if is_broken(cell)}),
        denied_fields=_paths_of(leaves, {cell for cell in cells if "permission" in cell.lower()}),
        lost_fields=_paths_of(leaves, {cell for cell in cells if is_lost(cell)}),
        remap_banks=_remap_banks(leaves),
        **_ecc(leaves),
        **fields,
    )


def _paths_of(leaves: Mapping[str, str], cells: Set[str]) -> tuple[str, ...]:
    return tuple(path for path, cell in leaves.items() if cell in cells) if cells else ()


def _first(read: Any, leaves: Mapping[str, str], paths: Iterable[str]) -> Any:
    for path in paths:
        value = read(leaves.get(path))
        if value is not None:
            return value
    return None


def _below(leaves: Mapping[str, str], section: str) -> dict[str, str]:
    return {path[len(section) :]: cell for path, cell in leaves.items() if path.startswith(section)}


def _ecc(leaves: Mapping[str, str]) -> dict[str, Any]:
    volatile, aggregate = (_below(leaves, f"ecc_errors/{name}/") for name in ("volatile", "aggregate"))
    fields: dict[str, Any] = {}
    fields["ecc_corrected_volatile"], fields["ecc_uncorrected_volatile"] = ecc_totals(volatile)
    fields["ecc_corrected_aggregate"], fields["ecc_uncorrected_aggregate"] = ecc_totals(aggregate)
    sram, dram = ecc_uncorrected_by_memory(aggregate)
    return fields | {"ecc_uncorrected_aggregate_sram": sram, "ecc_uncorrected_aggregate_dram": dram}


_HISTOGRAMS = (
    "remapped_rows/row_remapper_histogram/row_remapper_histogram_", "remapped_rows/bank_remap_availability_histogram/",
)  # fmt: skip


def _remap_banks(leaves: Mapping[str, str]) -> tuple[int, int, int, int, int] | None:
    """Banks whose spare rows are all, mostly, partly, hardly and not left; None unless all five are told."""
    for prefix in _HISTOGRAMS:
        counts = [whole(leaves.get(prefix + name)) for name in ("max", "high", "partial", "low", "none")]
        full, high, part, low, none = counts
        if full is not None and high is not None and part is not None and low is not None and none is not None:
            return full, high, part, low, none
    return None


_REASON_SECTIONS = ("clocks_event_reasons", "clocks_throttle_reasons")


def _active_reasons(leaves: Mapping[str, str]) -> tuple[str, ...] | None:
    cells = _below(leaves, "clocks_event_reasons/") or _below(leaves, "clocks_throttle_reasons/")
    if not any(word(cell) for cell in cells.values()):
        return None
    return tuple(clock_reason(path.split("/")[-1]) for path, cell in cells.items() if cell.strip() == "Active")


_COLUMNS: Mapping[str, str] = {
    "names": "name",
    "bus_ids": "bus_id",
    "uuids": "uuid",
    "persistence_mode": "persistence_mode",
    "mig_mode_current": "mig_mode_current",
    "memory_total_mib": "memory_total_mib",
    "memory_used_mib": "memory_used_mib",
    "gpu_util_percent": "gpu_util_percent",
    "memory_util_percent": "memory_util_percent",
    "fan_percent": "fan_percent",
    "temperature_c": "temperature_c",
    "power_draw_w": "power_draw_w",
    "power_limit_w": "power_limit_w",
    "pcie_gen_max": "pcie_gen_max",
    "pcie_gen_current": "pcie_gen_current",
    "pcie_width_max": "pcie_width_max",
    "pcie_width_current": "pcie_width_current",
    "ecc_mode_current": "ecc_mode_current",
    "ecc_corrected_volatile_total": "ecc_corrected_volatile",
    "ecc_uncorrected_volatile_total": "ecc_uncorrected_volatile",
    "ecc_corrected_aggregate_total": "ecc_corrected_aggregate",
    "ecc_uncorrected_aggregate_total": "ecc_uncorrected_aggregate",
    "remapped_rows_correctable": "remapped_rows_correctable",
    "remapped_rows_uncorrectable": "remapped_rows_uncorrectable",
    "remap_pending": "remap_pending",
    "remap_failure": "remap_failure",
    "mig_devices": "mig_devices",
    "performance_state": "performance_state",
}


def listed_reasons(gpu: Gpu, prefix: str = "") -> list[str] | None:
    """The reasons listed as active. [] says only that the section lists none: of a section with N/A, too.

    A rule looks at `active_clock_reasons`, which is None there.
    """
    if gpu.active_clock_reasons is None:
        return [] if gpu.clock_reasons_shown else None
    return [prefix + name for name in gpu.active_clock_reasons]


def gpu_columns(gpus: Sequence[Gpu]) -> dict[str, object]:
    """One list per field over the GPUs, in the order printed."""
    columns: dict[str, object] = {key: [getattr(gpu, name) for gpu in gpus] for key, name in _COLUMNS.items()}
    columns["active_clock_reasons"] = [listed_reasons(gpu) for gpu in gpus]
    columns["process_count"] = [None if gpu.processes is None else len(gpu.processes) for gpu in gpus]
    return columns
