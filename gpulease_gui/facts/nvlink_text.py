"""Which lines has an output of `nvidia-smi nvlink`, however it was pasted?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.facts.smi_values import without_prefix
from gpulease_gui.facts.table_text import clean

_GPU = re.compile(r"\s*GPU (\d{1,4}): (.*?)\s*(?:\(UUID: ([^()]*)\)\s*)?")
# Where a paste has lost the line end: a link stands behind another one, a card behind a link or an id.
_GLUED = re.compile(r"(?<=\S)(?<!C2C)[ \t]*(?=(?:C2C )?Link \d{1,4}: )|(?<=[)>s\d])[ \t]*(?=GPU \d{1,4}: )")
_LONGEST_LINE = 1000
_SHORTEST_GLUED = 20
_NOT_SAID = re.compile(r"```\w*|(?:\([\w.-]{1,40}\) )?[\w.-]{1,64}@[^\s#$]{1,200}[#$](?: .*)?")


@dataclass(frozen=True, slots=True)
class GpuHead:
    """The line that names a GPU; `uuid` None = not told."""

    index: int
    name: str
    uuid: str | None


def unglued(text: str) -> str:
    """`text` cleaned, one thing on every line, without what stands before every line; prompts and fences are left out."""
    return "\n".join(part for line in without_prefix(clean(text)).split("\n") for part in _parted(line))


def _parted(line: str) -> list[str]:
    """The lines that stand in `line`, none for a prompt or a fence."""
    if ("@" in line or "`" in line) and _NOT_SAID.fullmatch(line.strip()):
        return []
    glued = len(line) > _SHORTEST_GLUED and line.count("Link ") + line.count("GPU ") > 1
    return _GLUED.sub("\n", line).split("\n") if glued else [line]


def gpu_head(line: str) -> GpuHead | None:
    """The GPU that `line` names, None if it is another line or breaks off inside the id."""
    found = _GPU.fullmatch(line) if len(line) <= _LONGEST_LINE and line.lstrip().startswith("GPU") else None
    if found is None or found[3] is None and "(UUID:" in found[2]:
        return None
    return GpuHead(int(found[1]), found[2].strip(), (found[3] or "").strip() or None)
