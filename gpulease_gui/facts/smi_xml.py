"""What does the NVIDIA driver say of every GPU (`nvidia-smi -q -x`)?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact

FACT = Fact(
    id="smi_xml",
    title=Text("GPU state, all fields", "GPU 全部状态"),
    command=Command("nvidia-smi", "-q", "-x"),
    seconds=40,
    lane="nvidia",
    ok_codes=None,
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

    @property
    def key(self) -> str:
        """How findings name this GPU: UUID, else bus id, else index."""
        return self.uuid or self.bus_id or f"gpu{self.index}"


@dataclass(frozen=True, slots=True)
class SmiReport:
    """A whole report: one record per GPU in the order printed."""

    driver_version: str | None
    cuda_version: str | None
    attached_gpus_stated: int | None
    gpus: tuple[Gpu, ...]
    cut_off: bool = False


def parse(output: CommandOutput) -> SmiReport:
    """Read the XML with expat, entity declarations refused. Raises Unreadable."""
    raise Unreadable("not written yet")


def as_dict(reading: SmiReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_xml`."""
    return {}
