"""How does `nvidia-smi -q -x` print the cards of a simulated node?"""

from __future__ import annotations

from datetime import datetime
from xml.sax.saxutils import escape

from gpulease_gui.demo.machine import Driver, GpuCard, Machine, c_time

Tree = tuple[str, "str | list[Tree]"]

# In the order printed; the words after `clocks_event_reason_`.
_REASONS = (
    "gpu_idle", "applications_clocks_setting", "sw_power_cap", "hw_slowdown", "hw_thermal_slowdown",
    "hw_power_brake_slowdown", "sync_boost", "sw_thermal_slowdown", "display_clocks_setting",
)  # fmt: skip
_GONE = "Requested functionality has been deprecated"


def smi_xml(machine: Machine, now: datetime) -> str:
    """The report in the layout of the node's driver branch (535 to 610)."""
    driver = machine.driver
    assert driver is not None
    dtd = 13 if driver.branch >= 590 else 12
    body: list[Tree] = [
        ("timestamp", c_time(now)),
        ("driver_version", driver.version),
        ("cuda_version", driver.cuda),
        ("attached_gpus", str(len(machine.gpus))),
    ]
    lines = [
        '<?xml version="1.0" ?>',
        f'<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v{dtd}.dtd">',
        "<nvidia_smi_log>",
    ]
    for tree in body:
        lines += _lines(tree, 1)
    for card in machine.gpus:
        lines += [
            f'\t<gpu id="{card.bus_id}">',
            *(line for t in _card(card, machine) for line in _lines(t, 2)),
            "\t</gpu>",
            "",
        ]
    return "\n".join([*lines, "</nvidia_smi_log>", ""])


def _lines(tree: Tree, depth: int) -> list[str]:
    tag, value = tree
    pad = "\t" * depth
    if isinstance(value, str):
        return [f"{pad}<{tag}>{escape(value)}</{tag}>"]
    return [f"{pad}<{tag}>", *(line for child in value for line in _lines(child, depth + 1)), f"{pad}</{tag}>"]


def _leaves(prefix: str, **values: str) -> list[Tree]:
    return [(prefix + tag, value) for tag, value in values.items()]


def _card(card: GpuCard, machine: Machine) -> list[Tree]:
    driver = machine.driver
    assert driver is not None
    return [
        *_identity(card, driver),
        ("pci", _pci(card)),
        ("fan_speed", "N/A"),
        ("performance_state", "P0"),
        *_clock_reasons(card, driver),
        *_memory(card),
        ("compute_mode", "Default"),
        ("utilization", _leaves(
            "", gpu_util="0 %", memory_util="0 %", encoder_util="0 %", decoder_util="0 %", jpeg_util="0 %", ofa_util="0 %",
        )),
        ("ecc_mode", _leaves("", current_ecc="Enabled", pending_ecc="Enabled")),
        ("ecc_errors", _ecc(card, driver)),
        ("retired_pages", [
            ("multiple_single_bit_retirement", _leaves("retired_", count="N/A", pagelist="N/A")),
            ("double_bit_retirement", _leaves("retired_", count="N/A", pagelist="N/A")),
            ("pending_blacklist", "N/A"),
            ("pending_retirement", "N/A"),
        ]),
        ("remapped_rows", _remapped(card)),
        ("temperature", _temperature(card, driver)),
        *_power(card, driver),
        *_clocks(card),
        ("fabric", _fabric(card, machine)),
        ("processes", _processes(card)),
        ("accounted_processes", []),
    ]  # fmt: skip


def _identity(card: GpuCard, driver: Driver) -> list[Tree]:
    board = card.board
    mig = "Disabled"
    return [
        ("product_name", card.name),
        ("product_brand", "NVIDIA"),
        ("product_architecture", board.architecture),
        ("display_mode", _GONE if driver.branch >= 590 else "Enabled"),
        ("display_active", "Disabled"),
        ("persistence_mode", "Enabled"),
        ("addressing_mode", "HMM" if driver.open_modules else "None"),
        ("mig_mode", _leaves("", current_mig=mig, pending_mig=mig)),
        ("mig_devices", "\n\t\t\tNone\n\t\t"),
        ("accounting_mode", "Disabled"),
        ("driver_model", _leaves("", current_dm="N/A", pending_dm="N/A")),
        ("serial", card.serial),
        ("uuid", card.uuid),
        ("minor_number", str(card.index)),
        ("vbios_version", card.vbios),
        ("multigpu_board", "No"),
        ("board_id", f"0x{card.bus.lower()}00"),
        ("board_part_number", board.board_part),
        ("gpu_part_number", board.gpu_part),
        ("gpu_module_id", str(card.index + 1)),
        (
            "inforom_version",
            _leaves("", img_version=board.inforom, oem_object="2.1", ecc_object="7.16", pwr_object="N/A"),
        ),
        ("gpu_virtualization_mode", _leaves("", virtualization_mode="None", host_vgpu_mode="N/A")),
        *([("gpu_recovery_action", "Reset" if card.remap_failure else "None")] if driver.branch >= 570 else []),
        ("gsp_firmware_version", driver.version),
    ]


def _pci(card: GpuCard) -> list[Tree]:
    board = card.board
    gen = str(board.pcie_gen)
    return [
        *_leaves(
            "pci_", bus=card.bus.upper(), device="00", domain="0000", device_id=f"{board.device_id}10DE",
            bus_id=card.bus_id, sub_system_id=f"{board.subsystem_id}10DE",
        ),
        ("pci_gpu_link_info", [
            ("pcie_gen", _leaves(
                "", max_link_gen=gen, current_link_gen=gen, device_current_link_gen=gen, max_device_link_gen=gen,
                max_host_link_gen=gen,
            )),
            ("link_widths", _leaves("", max_link_width="16x", current_link_width="16x")),
        ]),
        ("replay_counter", "0"),
        ("replay_rollover_counter", "0"),
        ("tx_util", "482 KB/s"),
        ("rx_util", "391 KB/s"),
    ]  # fmt: skip


def _clock_reasons(card: GpuCard, driver: Driver) -> list[Tree]:
    states: list[Tree] = [
        (f"clocks_event_reason_{word}", "Active" if word in card.reasons else "Not Active") for word in _REASONS
    ]
    trees: list[Tree] = [("clocks_event_reasons", states)]
    if driver.branch >= 580:
        spent = "0 us" if "hw_thermal_slowdown" not in card.reasons else "183746201133 us"
        trees.append(("clocks_event_reasons_counters", _leaves(
            "clocks_event_reasons_counters_", sw_power_cap="0 us", sync_boost="0 us", sw_therm_slowdown="0 us",
            hw_therm_slowdown=spent, hw_power_brake="0 us",
        )))  # fmt: skip
    return trees


def _memory(card: GpuCard) -> list[Tree]:
    board = card.board
    used = 4 if not card.process else 18342
    free = board.memory_mib - board.reserved_mib - used
    return [
        ("fb_memory_usage", _leaves(
            "", total=f"{board.memory_mib} MiB", reserved=f"{board.reserved_mib} MiB", used=f"{used} MiB",
            free=f"{free} MiB",
        )),
        ("bar1_memory_usage", _leaves("", total="131072 MiB", used="1 MiB", free="131071 MiB")),
        ("cc_protected_memory_usage", _leaves("", total="0 MiB", used="0 MiB", free="0 MiB")),
    ]  # fmt: skip


def _ecc(card: GpuCard, driver: Driver) -> list[Tree]:
    unc, corr = str(card.ecc_uncorrected), str(card.ecc_corrected)
    if driver.branch < 550:
        volatile = _leaves(
            "", sram_correctable="0", sram_uncorrectable="0", dram_correctable=corr, dram_uncorrectable=unc
        )
        return [("volatile", volatile), ("aggregate", volatile)]
    volatile = _leaves(
        "", sram_correctable="0", sram_uncorrectable_parity="0", sram_uncorrectable_secded="0", dram_correctable=corr,
        dram_uncorrectable=unc,
    )  # fmt: skip
    return [
        ("volatile", volatile),
        ("aggregate", [*volatile, ("sram_threshold_exceeded", "No")]),
        ("aggregate_uncorrectable_sram_sources", _leaves(
            "sram_", l2="0", sm="0", microcontroller="0", pcie="0", other="0",
        )),
    ]  # fmt: skip


def _remapped(card: GpuCard) -> list[Tree]:
    banks = 640 if card.board.architecture == "Ampere" else 2560
    touched = 1 if card.remapped else 0
    return [
        ("remapped_row_corr", "0"),
        ("remapped_row_unc", str(card.remapped)),
        ("remapped_row_pending", "No"),
        ("remapped_row_failure", "Yes" if card.remap_failure else "No"),
        ("row_remapper_histogram", _leaves(
            "row_remapper_histogram_", max=f"{banks - touched} bank(s)", high="0 bank(s)", partial="0 bank(s)",
            low="0 bank(s)", none=f"{touched} bank(s)",
        )),
    ]  # fmt: skip


def _temperature(card: GpuCard, driver: Driver) -> list[Tree]:
    celsius = card.temperature_c
    return [
        ("gpu_temp", f"{celsius} C"),
        ("gpu_temp_tlimit", f"{87 - celsius} C"),
        ("gpu_temp_max_tlimit_threshold", "-8 C"),
        ("gpu_temp_slow_tlimit_threshold", "-2 C"),
        ("gpu_temp_max_gpu_tlimit_threshold", "0 C"),
        ("gpu_target_temperature", "N/A"),
        ("memory_temp", f"{celsius + 11} C"),
        ("gpu_temp_max_mem_tlimit_threshold", "0 C"),
    ]


def _power(card: GpuCard, driver: Driver) -> list[Tree]:
    draw = f"{card.draw_w:.2f} W"
    drawn = _leaves("", power_draw=draw)
    if driver.branch >= 590:
        drawn = _leaves("", average_power_draw=draw, instant_power_draw=f"{card.draw_w + 0.61:.2f} W")
    board = card.board
    limits = _leaves(
        "", current_power_limit=f"{card.power_limit_w}.00 W", requested_power_limit=f"{card.power_limit_w}.00 W",
        default_power_limit=f"{board.power_w}.00 W", min_power_limit=f"{board.power_min_w}.00 W",
        max_power_limit=f"{board.power_w}.00 W",
    )  # fmt: skip
    state: Tree = ("power_state", "P0" if driver.branch < 590 else _GONE)
    silent: list[Tree] = [(tag, "N/A") for tag, _ in (*drawn, *limits)]
    return [("gpu_power_readings", [state, *drawn, *limits]), ("module_power_readings", [state, *silent])]


def _clocks(card: GpuCard) -> list[Tree]:
    board = card.board
    top, memory = f"{board.sm_max_mhz} MHz", f"{board.memory_max_mhz} MHz"
    current = f"{card.sm_mhz} MHz"
    return [
        (
            "clocks",
            _leaves(
                "", graphics_clock=current, sm_clock=current, mem_clock=memory, video_clock=f"{card.sm_mhz + 195} MHz"
            ),
        ),
        ("applications_clocks", _leaves("", graphics_clock=top, mem_clock=memory)),
        ("default_applications_clocks", _leaves("", graphics_clock=top, mem_clock=memory)),
        (
            "max_clocks",
            _leaves(
                "", graphics_clock=top, sm_clock=top, mem_clock=memory, video_clock=f"{board.sm_max_mhz - 435} MHz"
            ),
        ),
        ("max_customer_boost_clocks", _leaves("", graphics_clock=top)),
    ]


def _fabric(card: GpuCard, machine: Machine) -> list[Tree]:
    if not card.board.links or card.board.architecture == "Ampere":
        return _leaves("", state="N/A", status="N/A")
    if not machine.nvlink_up:
        return _leaves("", state="In Progress", status="N/A")
    return _leaves("", state="Completed", status="Success")


def _processes(card: GpuCard) -> list[Tree]:
    if not card.process:
        return []
    return [("process_info", _leaves(
        "", gpu_instance_id="N/A", compute_instance_id="N/A", pid="41877", type="C", process_name=card.process,
        used_memory="18330 MiB",
    ))]  # fmt: skip
