"""Which driver files lie on a simulated node?"""

from __future__ import annotations

from gpulease_gui.demo.host_report import driver_version_lines, keyed
from gpulease_gui.demo.machine import Machine

_FOLDER = "/usr/lib/x86_64-linux-gnu"


def driver_files(machine: Machine) -> str:
    """Module, libraries and nvidia-smi in agreement; without a driver nothing but the shell's own lines."""
    driver = machine.driver
    if driver is None:
        return keyed([("driver_module", "no"), ("smi_code", "127"), ("smi", "")])
    pairs = [("driver_module", "yes"), *driver_version_lines(driver)]
    for name in ("libcuda.so", "libnvidia-ml.so"):
        pairs += [("library", f"{_FOLDER}/{name}.1"), ("real", f"{_FOLDER}/{name}.{driver.version}")]
    return keyed([*pairs, ("smi_code", "0"), *(("smi", driver.version) for _ in machine.gpus)])
