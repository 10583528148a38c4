"""Which compute capability does each GPU have, and is its inforom whole?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import smi_error
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines
from gpulease_gui.facts.smi_values import word

# Both columns are in no XML report. A column that this driver does not know would spoil the whole answer, so the
# driver's own list of columns is asked first; that list needs no card.
_SCRIPT = (
    SHELL
    + """\
known=$(nvidia-smi --help-query-gpu) || exit $?
columns=index,uuid
case $known in *'"compute_cap"'*) columns=$columns,compute_cap;; esac
case $known in *'"inforom.checksum_validation"'*) columns=$columns,inforom.checksum_validation;; esac
say columns "$columns"
said=$(nvidia-smi --query-gpu=$columns --format=csv,noheader); code=$?
say smi_code "$code"
printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
"""
    + END
)

FACT = Fact(
    id="smi_extra", title=Text("Compute capability and inforom", "计算能力与 inforom"), command=Command(script=_SCRIPT),
    seconds=40, lane="nvidia",
)  # fmt: skip

_MOST_ROWS = 1024


@dataclass(frozen=True, slots=True)
class ExtraGpu:
    """One GPU. `compute_capability` as in 9.0; `checksum` as printed ("valid"); None = not told."""

    index: int
    uuid: str | None
    compute_capability: str | None = None
    checksum: str | None = None


@dataclass(frozen=True, slots=True)
class SmiExtra:
    """`columns` are those that this driver knows."""

    columns: tuple[str, ...]
    gpus: tuple[ExtraGpu, ...]

    @property
    def knows_checksum(self) -> bool:
        """Whether this driver can check the inforom."""
        return "inforom.checksum_validation" in self.columns

    def of(self, index: int, uuid: str | None) -> ExtraGpu | None:
        """The row of one GPU, by UUID if both sides tell it."""
        return next((g for g in self.gpus if (g.uuid == uuid if g.uuid and uuid else g.index == index)), None)


def parse(output: CommandOutput) -> SmiExtra:
    """Read the rows. Raises Unreadable: no row at all, with what nvidia-smi said instead."""
    lines = keyed_lines(output, "columns")
    columns = tuple(column.strip() for column in (lines.first("columns") or "").split(","))
    rows = [dict(zip(columns, [cell.strip() for cell in line.split(",")], strict=False)) for line in lines.all("row")]
    gpus = tuple(gpu for row in rows[:_MOST_ROWS] if (gpu := _gpu(row)))
    if not gpus:
        said = CommandOutput("\n".join(lines.all("row")).encode(), output.stderr, lines.number("smi_code"))
        raise smi_error.unreadable(said, "nvidia-smi answered no row")
    return SmiExtra(columns, gpus)


def _gpu(row: dict[str, str]) -> ExtraGpu | None:
    if not re.fullmatch(r"\d{1,4}", row.get("index", ""), re.ASCII):
        return None
    uuid, capability = row.get("uuid", ""), row.get("compute_cap", "")
    return ExtraGpu(
        int(row["index"]), uuid if uuid.startswith("GPU-") else None,
        capability if re.fullmatch(r"\d{1,2}\.\d{1,2}", capability, re.ASCII) else None,
        word(row.get("inforom.checksum_validation")),
    )  # fmt: skip


def as_dict(reading: SmiExtra) -> dict[str, object]:
    """columns, and lists over the GPUs: indexes, uuids, compute_capabilities, checksums."""
    return {
        "columns": list(reading.columns),
        "indexes": [g.index for g in reading.gpus],
        "uuids": [g.uuid for g in reading.gpus],
        "compute_capabilities": [g.compute_capability for g in reading.gpus],
        "checksums": [g.checksum for g in reading.gpus],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("columns: index,uuid") else 0
