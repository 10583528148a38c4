"""Which accelerator devices and kernel modules can this session see?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines

_SCRIPT = (
    SHELL
    + """\
say kernel "$(uname -r)"
for file in /dev/nvidia* /dev/nvidia-caps/* /dev/davinci* /dev/hisi_hdc /dev/infiniband/* /dev/dri/* /dev/dxg; do
  [ -e "$file" ] || continue
  if [ -r "$file" ] && [ -w "$file" ]; then say node "$file"; else say closed "$file"; fi
done
if [ -r /proc/modules ]; then
  while read -r name rest; do
    case $name in nvidia*|nv_peer_mem|ib_core|mlx5_*|gdrdrv|drv_*|amdgpu) say module "$name";; esac
  done </proc/modules
fi
for dir in /sys/kernel/mm/memory_peers/*; do
  if [ -d "$dir" ]; then say peer "${dir##*/}"; fi
done
put params /proc/driver/nvidia/params
pipes=${CUDA_MPS_PIPE_DIRECTORY:-/tmp/nvidia-mps}
if [ -e "$pipes/control" ]; then say mps "$pipes/control"; fi
for name in NVIDIA_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES ASCEND_VISIBLE_DEVICES ASCEND_RT_VISIBLE_DEVICES \\
  CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; do
  eval "set=\\${$name+yes} words=\\${$name-}"
  if [ "$set" = yes ]; then say env "$name=$words"; fi
done
"""
    + END
)

FACT = Fact(id="device_nodes", title=Text("Device files and modules", "设备文件与内核模块"), command=Command(script=_SCRIPT), seconds=5)


@dataclass(frozen=True, slots=True)
class DeviceNodes:
    """`nodes` are device files that this user may use, `closed` those that it may not; `env` are name=value words.

    `peers` are the modules that give network cards access to GPU memory; `mps` is the control pipe of an MPS server.
    """

    kernel: str | None
    nodes: tuple[str, ...]
    closed: tuple[str, ...]
    modules: tuple[str, ...]
    peers: tuple[str, ...]
    mps: str | None
    env: tuple[str, ...]
    params: tuple[str, ...] = ()

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """Device files, whether usable or not."""
        return (*self.nodes, *self.closed)

    def cards(self, kind: str) -> tuple[int, ...]:
        """Numbers of the card files: kind "nvidia" or "davinci"."""
        found = (re.fullmatch(rf"/dev/{kind}(\d{{1,4}})", node, re.ASCII) for node in self.all_nodes)
        return tuple(sorted(int(hit[1]) for hit in found if hit))

    def variable(self, name: str) -> str | None:
        """The value of an environment variable; None if it is not set."""
        return next((words.split("=", 1)[1] for words in self.env if words.startswith(f"{name}=")), None)


def parse(output: CommandOutput) -> DeviceNodes:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "kernel")
    return DeviceNodes(
        lines.first("kernel"), lines.all("node"), lines.all("closed"), lines.all("module"), lines.all("peer"), lines.first("mps"),
        lines.all("env"), lines.all("params"),
    )  # fmt: skip


def as_dict(reading: DeviceNodes) -> dict[str, object]:
    """The fields by name, and nvidia_cards, davinci_cards: the numbers of the card files."""
    return {
        "kernel": reading.kernel,
        "nodes": list(reading.nodes),
        "closed": list(reading.closed),
        "modules": list(reading.modules),
        "peers": list(reading.peers),
        "mps": reading.mps,
        "env": list(reading.env),
        "nvidia_cards": list(reading.cards("nvidia")),
        "davinci_cards": list(reading.cards("davinci")),
    }


def recognise(text: str) -> int:
    """Sure of our own lines; another fact begins with the kernel too, but with its whole name."""
    head = text[:4000]
    return 98 if text.startswith("kernel: ") and ("\nnode: /dev/" in head or "\nmodule: " in head) else 0
