"""Which files does a node with eight H100 SXM have, and how does a process come to see them?

A folder holds what the node would have below /sys, /proc, /dev and /usr/local; `mounts` is the script that lays it over this
machine in a mount namespace of its own (`unshare -m`) and then runs what it is given, so nothing outside changes.
"""

from __future__ import annotations

import enum
import shlex
from pathlib import Path

from tests.standin.build import build_smi
from tests.standin.machine import NIC_COUNT, Card, MachineTexts, machine_texts

# What a container toolkit, the fabric manager and the graphics stack bring along.
_TOOLS = {
    "docker": """echo '{"nvidia":{"path":"nvidia-container-runtime"},"runc":{"path":"runc"}}'""",
    "nvidia-ctk": "echo 'NVIDIA Container Toolkit CLI version 1.17.4'",
    "nv-fabricmanager": "echo 'Fabric Manager version is : DRIVER'",
    "vulkaninfo": "for n in 0 1 2 3 4 5 6 7; do printf 'GPU%s:\\n\\tdeviceName         = NVIDIA H100 80GB HBM3\\n' \"$n\"; done",
}
_LIBRARIES = (
    "libcuda.so", "libnvidia-ml.so", "libGLX_nvidia.so", "libEGL_nvidia.so", "libnvidia-encode.so", "libnvcuvid.so",
)  # fmt: skip
_SWITCH_SLOTS = tuple(f"0000:{n:02x}:00.0" for n in range(5, 9))


class Lie(enum.Enum):
    """What is not as it seems. WRAPPER: a script stands before the tool. PCI_ID: the slots hold another product.
    CARD_MISSING: the tool lists one card less than the bus.
    """

    NONE = "none"
    WRAPPER = "wrapper"
    PCI_ID = "pci_id"
    CARD_MISSING = "card_missing"


def make_node(folder: Path, lie: Lie = Lie.NONE) -> Path:
    """Fill `folder` and give the path of the script: `unshare -m sh SCRIPT PROGRAM ARGUMENTS`. Needs gcc."""
    whole = machine_texts()
    told = machine_texts(left_out=1) if lie is Lie.CARD_MISSING else whole
    build_smi(told, folder / "built" / "nvidia-smi")
    _pci(folder / "pci", whole, "0x20b5" if lie is Lie.PCI_ID else "0x2330")
    _driver(folder / "proc", whole)
    _infiniband(folder / "infiniband")
    _libraries(folder / "lib64", whole)
    (folder / "tools").mkdir()
    for name, lines in _TOOLS.items():
        _program(folder / "tools" / name, lines.replace("DRIVER", whole.driver))
    if lie is Lie.WRAPPER:
        _program(folder / "wrapper", "/usr/local/bin/nvidia-smi \"$@\" | sed 's/H100 PCIe/H100 80GB HBM3/g'")
    script = folder / "mounts.sh"
    script.write_text(_MOUNTS.format(folder=shlex.quote(str(folder))))
    return script


def _program(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)


def _write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def _pci(folder: Path, machine: MachineTexts, device_id: str) -> None:
    """/sys/bus/pci/devices: cards, NVSwitches, network cards."""
    for card in machine.cards:
        _write(folder / card.slot, **_function(device_id, "0x030200", "0x16c1", card.socket), **_link("32.0 GT/s PCIe", "16"))
    for slot in _SWITCH_SLOTS:
        _write(folder / slot, **_function("0x22a3", "0x068000", "0x1796", 0), **_link("2.5 GT/s PCIe", "2"))
    for n in range(NIC_COUNT):
        said = _function("0x1021", "0x020700", "0x0041", n // 4, "0x15b3")
        _write(folder / nic_slot(n), **said, **_link("32.0 GT/s PCIe", "16"))


def nic_slot(n: int) -> str:
    """Where network card `n` sits."""
    return f"0000:{0x19 + 0x10 * n:02x}:00.0"


def _function(device: str, kind: str, subsystem: str, socket: int, vendor: str = "0x10de") -> dict[str, str]:
    cpus = f"{48 * socket}-{48 * socket + 47}"
    told = {"vendor": vendor, "device": device, "class": kind, "subsystem_vendor": vendor, "subsystem_device": subsystem}
    return {name: f"{text}\n" for name, text in {**told, "numa_node": str(socket), "local_cpulist": cpus, "revision": "0xa1"}.items()}


def _link(speed: str, width: str) -> dict[str, str]:
    return {f"{when}_link_{what}": f"{text}\n" for when in ("current", "max") for what, text in (("speed", speed), ("width", width))}


def _driver(folder: Path, machine: MachineTexts) -> None:
    """/proc/driver, with nvidia in it."""
    module = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {machine.driver}  Release Build  (root@build-3)\n"
    _write(folder / "nvidia", version=module + "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n")
    _write(folder / "nvidia", params="ModifyDeviceFiles: 1\nDeviceFileUID: 0\nDeviceFileGID: 0\nDeviceFileMode: 438\nRmProfilingAdminOnly: 0\n")
    for card in machine.cards:
        _write(folder / "nvidia" / "gpus" / card.slot, information=_information(card))


def _information(card: Card) -> str:
    return (
        f"Model: \t\t {card.name}\nIRQ:   \t\t {180 + card.index}\nGPU UUID: \t {card.uuid}\nVideo BIOS: \t {card.at('vbios_version')}\n"
        f"Bus Type: \t PCIe\nDMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\nBus Location: \t {card.slot}\n"
        f"Device Minor: \t {card.at('minor_number')}\nGPU Firmware: \t {card.at('gsp_firmware_version')}\nGPU Excluded:\t No\n"
    )


def _infiniband(folder: Path) -> None:
    """/sys/class/infiniband: a port a card, up, without an error."""
    counters = ("symbol_error", "link_downed", "link_error_recovery", "port_rcv_errors", "local_link_integrity_errors",
                "port_xmit_discards", "excessive_buffer_overrun_errors")  # fmt: skip
    for n in range(NIC_COUNT):
        port = folder / f"mlx5_{n}" / "ports" / "1"
        _write(port, link_layer="InfiniBand\n", state="4: ACTIVE\n", phys_state="5: LinkUp\n", rate="400 Gb/sec (4X NDR)\n")
        _write(port / "counters", **dict.fromkeys(counters, "0\n"))


def _libraries(folder: Path, machine: MachineTexts) -> None:
    """The driver's libraries, by name: nothing loads them."""
    folder.mkdir()
    for name in _LIBRARIES:
        (folder / f"{name}.{machine.driver}").write_bytes(b"\x7fELF stand-in")
        (folder / f"{name}.{0 if '_nvidia' in name else 1}").symlink_to(f"{name}.{machine.driver}")


# A folder of the machine is laid out anew: what was there (bound), and ours over it.
_MOUNTS = """\
set -eu
here={folder}
mount --make-rprivate /
mkdir -p "$here/at"
mount -t tmpfs -o mode=755 stand-in "$here/at"
cd "$here/at"

# again NAME FOLDER: all that FOLDER has, bound below NAME.
again() {{
  mkdir -p "$1"
  for item in "$2"/*; do
    name=${{item##*/}}
    if [ -L "$item" ]; then cp -P "$item" "$1/$name"
    elif [ -d "$item" ]; then mkdir "$1/$name"; mount --rbind "$item" "$1/$name"
    elif [ -e "$item" ]; then : >"$1/$name"; mount --bind "$item" "$1/$name"
    fi
  done
}}

mkdir old-local
mount --rbind /usr/local old-local
mkdir local
for item in old-local/*; do ln -s "$here/at/$item" "local/${{item##*/}}"; done
rm -f local/bin local/sbin
again local/bin old-local/bin
again local/sbin old-local/sbin
mkdir -p local/nvidia
cp -a "$here/lib64" local/nvidia/lib64
cp "$here/built/nvidia-smi" local/bin/nvidia-smi
cp -a "$here/tools/." local/sbin
if [ -e "$here/wrapper" ]; then cp "$here/wrapper" local/sbin/nvidia-smi; fi
mount --rbind local /usr/local

again dev /dev
n=0
while [ "$n" -lt 8 ]; do mknod -m 666 "dev/nvidia$n" c 195 "$n"; n=$((n + 1)); done
mknod -m 666 dev/nvidiactl c 195 255
mknod -m 666 dev/nvidia-modeset c 195 254
mknod -m 666 dev/nvidia-uvm c 511 0
mknod -m 666 dev/nvidia-uvm-tools c 511 1
mkdir -p dev/infiniband
mknod -m 666 dev/infiniband/uverbs0 c 231 192
mount --rbind dev /dev

again class /sys/class
if [ -d class/infiniband ]; then mount --bind "$here/infiniband" class/infiniband; else cp -a "$here/infiniband" class/infiniband; fi
mount --rbind class /sys/class
again mm /sys/kernel/mm
mkdir -p mm/memory_peers/nv_mem
mount --rbind mm /sys/kernel/mm
mount --bind "$here/pci" /sys/bus/pci/devices
mount --bind "$here/proc" /proc/driver
if [ -e /proc/modules ]; then
  cp /proc/modules modules
  printf '%s 16384 0 - Live 0x0000000000000000\\n' nvidia_peermem nvidia_uvm nvidia mlx5_ib mlx5_core ib_core >>modules
  mount --bind modules /proc/modules
fi
exec "$@"
"""
