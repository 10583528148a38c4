"""How does lsblk print the disks of a simulated node?"""

from __future__ import annotations

import json

from gpulease_gui.demo.machine import Disk, Machine


def lsblk(machine: Machine) -> str:
    """`lsblk -J -b`: whole disks, the mounted ones with one partition each."""
    return json.dumps({"blockdevices": [_disk(disk) for disk in machine.disks]}, indent=3) + "\n"


def _disk(disk: Disk) -> dict[str, object]:
    return {
        "name": disk.name, "model": disk.model, "serial": disk.serial, "size": disk.size_bytes, "rota": False,
        "tran": disk.transport, "type": "disk", "fstype": disk.filesystem or None, "mountpoint": disk.mount or None,
        "phy-sec": 4096,
    }  # fmt: skip
