"""Which driver, firmware and CANN has an Ascend node, and do they fit?"""

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
if [ -d /usr/local/Ascend ]; then say ascend yes; else say ascend no; fi
put driver /usr/local/Ascend/driver/version.info
put firmware /usr/local/Ascend/firmware/version.info
for file in "${ASCEND_TOOLKIT_HOME:-/usr/local/Ascend/ascend-toolkit/latest}"/*/ascend_toolkit_install.info \\
  /usr/local/Ascend/ascend-toolkit/latest/*/ascend_toolkit_install.info /usr/local/Ascend/nnae/latest/*/ascend_nnae_install.info; do
  put toolkit "$file"
done
if command -v ascend-dmi >/dev/null; then
  said=$(ascend-dmi -c </dev/null); say dmi_code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say dmi "$line"; done
fi
"""
    + END
)

FACT = Fact(id="npu_versions", title=Text("Ascend versions", "Ascend 软件版本"), command=Command(script=_SCRIPT), seconds=30, lane="npu")


@dataclass(frozen=True, slots=True)
class NpuVersions:
    """Versions as printed; None = not told. `compatible` is the word of ascend-dmi, None = it was not asked."""

    installed: bool
    driver: str | None
    firmware: str | None
    toolkit: str | None
    compatible: bool | None


_BAD = re.compile(r"incompat|not compatible|mismatch|\bNG\b|does not match", re.IGNORECASE)
_GOOD = re.compile(r"\bcompatible\b|\bOK\b|\bPASS\b", re.IGNORECASE)


def parse(output: CommandOutput) -> NpuVersions:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "ascend")
    said = "\n".join(lines.all("dmi"))
    compatible = False if _BAD.search(said) else True if _GOOD.search(said) else None
    return NpuVersions(
        lines.first("ascend") == "yes", _version(lines.all("driver")), _version(lines.all("firmware")), _version(lines.all("toolkit")),
        compatible if lines.number("dmi_code") is not None else None,
    )  # fmt: skip


def _version(lines: tuple[str, ...]) -> str | None:
    for line in lines:
        if found := re.fullmatch(r"\s*version\s*=\s*([A-Za-z0-9][\w.-]{0,40})\s*", line, re.IGNORECASE):
            return found[1]
    return None


def as_dict(reading: NpuVersions) -> dict[str, object]:
    """The fields by name."""
    return {
        "installed": reading.installed, "driver": reading.driver, "firmware": reading.firmware, "toolkit": reading.toolkit,
        "compatible": reading.compatible,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("ascend: yes\n", "ascend: no\n")) else 0
