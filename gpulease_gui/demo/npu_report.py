"""How does `npu-smi info` print the boards of a simulated Ascend node?"""

from __future__ import annotations

from gpulease_gui.demo.machine import Machine, Npu

_RULE = "+---------------------------+---------------+----------------------------------------------------+"
_THICK = "+===========================+===============+====================================================+"
_VERSION = "24.1.0.3"


def npu_info(machine: Machine) -> str:
    """The table of an A2 server, with no process on any board."""
    rows = [
        "+" + "-" * (len(_RULE) - 2) + "+",
        f"| npu-smi {_VERSION:<24} Version: {_VERSION:<53}|",
        _RULE,
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
        "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |",
        _THICK,
    ]
    for npu in machine.npus:
        rows += [*_board(npu), _THICK]
    rows += [
        _RULE,
        "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |",
        _THICK,
    ]
    for npu in machine.npus:
        rows += [f"| No running processes found in NPU {npu.index:<61}|", _THICK]
    return "\n".join(rows) + "\n"


def _board(npu: Npu) -> tuple[str, str]:
    first = f"| {npu.index:<5} {npu.name:<20}| {npu.health:<14}| {npu.power_w:<11} {npu.temperature_c:<17} {'0    / 0':<21}|"
    second = f"| {'0':<26}| {npu.bus:<14}| {npu.aicore_percent:<11} {'0    / 0':<17} {npu.used_mib:<5}/ {npu.memory_mib:<14}|"
    return first, second
