"""Which version of the fabric manager is on the node, and does it run?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# The kernel keeps 15 letters of a program's name.
_SCRIPT = (
    SHELL
    + """\
tool=$(command -v nv-fabricmanager) || tool=
say fabric_tool "${tool:-none}"
if [ -n "$tool" ]; then
  said=$(nv-fabricmanager --version </dev/null); say tool_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say said "$line"; done
elif command -v dpkg-query >/dev/null; then
  dpkg-query -W -f '${Package} ${Version}\\n' 'nvidia-fabricmanager*' | while IFS= read -r line; do say package "$line"; done
elif command -v rpm >/dev/null; then
  rpm -qa --qf '%{NAME} %{VERSION}\\n' 'nvidia-fabric*manager*' | while IFS= read -r line; do say package "$line"; done
fi
for file in /proc/[0-9]*/comm; do
  if [ -r "$file" ] && read -r name <"$file"; then
    case $name in nv-fabricmanage*) say running "$name";; esac
  fi
done
"""
    + END
)

FACT = Fact(id="fabric_manager", title=Text("Fabric manager", "Fabric Manager 版本"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class FabricService:
    """`installed`: the program or its package is there. `version` None = it did not tell one."""

    installed: bool
    version: str | None
    running: bool
    denied: bool = False


def parse(output: CommandOutput) -> FabricService:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "fabric_tool")
    tool = lines.first("fabric_tool") != "none"
    return FabricService(
        tool or bool(lines.all("package")), _told(lines) or _packaged(lines), bool(lines.all("running")),
        lines.number("tool_code") == 126,
    )  # fmt: skip


def _told(lines: KeyedLines) -> str | None:
    """The version that the program names; one that ends with an error names none."""
    if lines.number("tool_code") != 0:
        return None
    for line in lines.all("said"):
        if found := re.search(r"version\D{0,12}?(\d{3}(?:\.\d{1,4}){1,3})\s*$", line, re.IGNORECASE | re.ASCII):
            return found[1]
    return None


def _packaged(lines: KeyedLines) -> str | None:
    """The version of the package, if there is just one."""
    found = {m[1] for line in lines.all("package") if (m := re.fullmatch(r"\S+ (?:\d+:)?(\d{3}(?:\.\d{1,4}){1,3})(?:-\S*)?", line, re.ASCII))}
    return found.pop() if len(found) == 1 else None


def as_dict(reading: FabricService) -> dict[str, object]:
    """The fields by name."""
    return {"installed": reading.installed, "version": reading.version, "running": reading.running, "denied": reading.denied}


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("fabric_tool: ") else 0
