"""Which figures can a card, a chip or our own agent have? What is beyond is a fault of a sensor or a driver, or a lie, and is not drawn."""

from __future__ import annotations

from collections.abc import Mapping

# Why a value is none: no device has such a one.
BEYOND = "impossible_figure"
_PERCENT, _GIB, _W, _C, _MHZ, _GB_S = 100.0, 8192.0, 10_000.0, 150.0, 20_000.0, 250.0
# What reads a node is one small process: ten processors and 16 GiB are far more than it could take.
_AGENT_PERCENT, _AGENT_MIB = 1000.0, 16_384.0

# The most that can be, in the unit of the metric, with room above the largest of today; a metric that is not here has no bound.
MOST_OF: Mapping[str, float] = {
    "gpu.util_percent": _PERCENT, "gpu.memory_util_percent": _PERCENT, "gpu.memory_used_gib": _GIB, "gpu.power_w": _W,
    "gpu.power_limit_w": _W, "gpu.temperature_c": _C, "gpu.temperature_memory_c": _C, "gpu.clock_sm_mhz": _MHZ,
    "gpu.clock_memory_mhz": _MHZ, "gpu.process_memory_gib": _GIB, "gpu.pcie_rx_gb_s": _GB_S, "gpu.pcie_tx_gb_s": _GB_S,
    "npu.aicore_percent": _PERCENT, "npu.hbm_used_gib": _GIB, "npu.power_w": _W, "npu.temperature_c": _C,
    "agent.cpu_percent": _AGENT_PERCENT, "agent.memory_mib": _AGENT_MIB,
}  # fmt: skip


def possible(metric: str, value: float | None) -> tuple[float | None, str]:
    """(the value, "") where a device can have it or nothing was told; else (None, why)."""
    if value is None or 0 <= value <= MOST_OF.get(metric, value):
        return value, ""
    return None, BEYOND
