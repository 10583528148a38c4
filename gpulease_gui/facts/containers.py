"""Can containers with GPUs be started here?"""

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
tools=
for tool in docker podman nvidia-ctk nvidia-container-cli enroot apptainer singularity; do
  if command -v "$tool" >/dev/null; then tools="$tools $tool"; fi
done
say tools "$tools"
case " $tools " in *' docker '*)
  said=$(docker info --format '{{json .Runtimes}}'); say docker_code "$?"; say runtimes "$said";;
esac
case " $tools " in *' nvidia-ctk '*)
  nvidia-ctk --version | while IFS= read -r line; do say ctk "$line"; done;;
esac
for file in /etc/cdi/* /var/run/cdi/*; do
  if [ -f "$file" ]; then say cdi "$file"; fi
done
"""
    + END
)

FACT = Fact(id="containers", title=Text("Container tools", "容器工具"), command=Command(script=_SCRIPT), seconds=15)


@dataclass(frozen=True, slots=True)
class Containers:
    """`runtimes` are the names that the docker daemon knows; None = it did not answer this user."""

    tools: tuple[str, ...]
    runtimes: tuple[str, ...] | None
    toolkit: str | None
    cdi: tuple[str, ...]
    docker_said: str = ""


def parse(output: CommandOutput) -> Containers:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "tools")
    told = lines.first("runtimes") or ""
    names = tuple(dict.fromkeys(re.findall(r'"([A-Za-z0-9_.-]{1,60})":\s*\{', told)))
    version = re.search(r"version (\d+(?:\.\d+)+)", " ".join(lines.all("ctk")))
    return Containers(
        tuple((lines.first("tools") or "").split()), names if lines.number("docker_code") == 0 and names else None,
        version[1] if version else None, lines.all("cdi"), output.error_text.strip()[:200],
    )  # fmt: skip


def as_dict(reading: Containers) -> dict[str, object]:
    """The fields by name as lists."""
    return {
        "tools": list(reading.tools),
        "runtimes": None if reading.runtimes is None else list(reading.runtimes),
        "toolkit": reading.toolkit,
        "cdi": list(reading.cdi),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("tools:") and text.endswith("end: yes\n") else 0
