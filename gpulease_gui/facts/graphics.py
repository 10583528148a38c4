"""Which parts of the graphics stack are there, and does Vulkan see the cards?"""

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
say graphics "${NVIDIA_DRIVER_CAPABILITIES-unset}"
for dir in /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/lib /usr/local/nvidia/lib64 /usr/lib/wsl/lib; do
  for name in libGLX_nvidia.so.0 libEGL_nvidia.so.0 libnvidia-encode.so.1 libnvcuvid.so.1; do
    if [ -e "$dir/$name" ]; then say library "$dir/$name"; fi
  done
done
for file in /usr/share/vulkan/icd.d/nvidia_icd*.json /etc/vulkan/icd.d/nvidia_icd*.json; do
  if [ -f "$file" ]; then say icd "$file"; fi
done
if command -v vulkaninfo >/dev/null; then
  said=$(vulkaninfo --summary </dev/null); say vulkan_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say vulkan "$line"; done
fi
"""
    + END
)

FACT = Fact(id="graphics", title=Text("Graphics stack", "图形栈"), command=Command(script=_SCRIPT), seconds=30, lane="nvidia")


@dataclass(frozen=True, slots=True)
class Graphics:
    """`libraries` and `icds` are paths. `devices` are the names that Vulkan lists; None = it was not asked or failed.

    `capabilities` is what a container asked of the driver; None = it is not set.
    """

    capabilities: str | None
    libraries: tuple[str, ...]
    icds: tuple[str, ...]
    devices: tuple[str, ...] | None

    def has(self, name: str) -> bool:
        """Whether a library of this name (without version) is there."""
        return any(path.rsplit("/", 1)[-1].startswith(name + ".so") for path in self.libraries)


def parse(output: CommandOutput) -> Graphics:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "graphics")
    told = lines.first("graphics")
    names = [m[1].strip() for line in lines.all("vulkan") if (m := re.fullmatch(r"deviceName\s*=\s*(\S.{0,100})", line))]
    return Graphics(
        None if told == "unset" else told, lines.all("library"), lines.all("icd"),
        tuple(names) if lines.number("vulkan_code") == 0 else None,
    )  # fmt: skip


def as_dict(reading: Graphics) -> dict[str, object]:
    """The fields by name as lists."""
    return {
        "capabilities": reading.capabilities,
        "libraries": list(reading.libraries),
        "icds": list(reading.icds),
        "devices": None if reading.devices is None else list(reading.devices),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("graphics: ") else 0
