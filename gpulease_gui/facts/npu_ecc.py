"""Which memory errors has every Ascend chip counted (`npu-smi info -t ecc`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# npu-smi does not bear two calls at once, so all its facts share a lane.
_SCRIPT = (
    SHELL
    + """\
listed=$(npu-smi info -l) || exit $?
say npus yes
printf '%s\\n' "$listed" | while IFS= read -r line; do
  case $line in
    *'NPU ID'*:*)
      id=${line##*:}; id=${id##* }
      case $id in ''|*[!0-9]*) continue;; esac
      say npu "$id"
      npu-smi info -t ecc -i "$id" </dev/null | while IFS= read -r told; do say ecc "$told"; done;;
  esac
done
"""
    + END
)

FACT = Fact(id="npu_ecc", title=Text("NPU memory errors", "NPU 内存错误"), command=Command(script=_SCRIPT), seconds=60, lane="npu")


@dataclass(frozen=True, slots=True)
class NpuErrors:
    """One card: sums over its chips and kinds of memory; None = not told. `isolated` are pages given up."""

    npu_id: int
    single_bit: int | None
    double_bit: int | None
    isolated: int | None


@dataclass(frozen=True, slots=True)
class NpuEcc:
    """All cards in the order listed."""

    npus: tuple[NpuErrors, ...]


def parse(output: CommandOutput) -> NpuEcc:
    """Read the records. Raises Unreadable: no card listed."""
    lines = keyed_lines(output, "npus")
    npus = tuple(_npu(record) for record in lines.records("npu"))
    if not npus:
        raise Unreadable("npu-smi lists no card")
    return NpuEcc(npus)


def _npu(record: KeyedLines) -> NpuErrors:
    fields = [line.partition(":")[::2] for line in record.all("ecc")]
    counts = [(key.strip().lower(), whole(value)) for key, value in fields]
    number = record.number("npu")
    return NpuErrors(
        number if number is not None else -1, _errors(counts, "single"), _errors(counts, "double"), _total(counts, r"isolated pages")
    )


def _errors(counts: list[tuple[str, int | None]], kind: str) -> int | None:
    """Errors of one kind: the counts over the card's life hold those since its start."""
    now = _total(counts, rf"^(?!.*(?:aggregate|isolated)).*{kind} bit .*(?:count|cnt)")
    life = _total(counts, rf"^(?=.*aggregate)(?!.*isolated).*{kind} bit .*(?:count|cnt)")
    return max((n for n in (now, life) if n is not None), default=None)


def _total(counts: list[tuple[str, int | None]], words: str) -> int | None:
    told = [count for key, count in counts if re.search(words, key) and count is not None and count >= 0]
    return sum(told) if told else None


def as_dict(reading: NpuEcc) -> dict[str, object]:
    """Lists over the cards: npu_ids, single_bit, double_bit, isolated."""
    return {
        "npu_ids": [n.npu_id for n in reading.npus],
        "single_bit": [n.single_bit for n in reading.npus],
        "double_bit": [n.double_bit for n in reading.npus],
        "isolated": [n.isolated for n in reading.npus],
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("npus: yes\n") else 0
