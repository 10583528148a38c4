"""How are the NPUs of a node joined, and do their links count errors?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# npu-smi does not bear two calls at once, so all its facts share a lane.
_SCRIPT = (
    SHELL
    + """\
said=$(npu-smi info -t topo </dev/null); say topo_code "$?"
printf '%s\\n' "$said" | while IFS= read -r line; do say topo "$line"; done
listed=$(npu-smi info -l </dev/null) || exit $?
printf '%s\\n' "$listed" | while IFS= read -r line; do
  word=${line##*:}; word=${word##* }
  case $line in
    *'NPU ID'*:*) id=$word;;
    *'Chip Count'*:*)
      case $id$word in ''|*[!0-9]*) continue;; esac
      chip=0
      while [ "$chip" -lt "$word" ] && [ "$chip" -lt 8 ]; do
        say npu "$id $chip"
        npu-smi info -t pcie-err -i "$id" -c "$chip" </dev/null | while IFS= read -r told; do say pcie "$told"; done
        chip=$((chip + 1))
      done;;
  esac
done
"""
    + END
)

FACT = Fact(id="npu_links", title=Text("NPU topology and link errors", "NPU 拓扑与链路错误"), command=Command(script=_SCRIPT), seconds=90, lane="npu")


@dataclass(frozen=True, slots=True)
class ChipErrors:
    """One chip; `errors` is the sum of its PCIe error counters, None = it told none."""

    npu_id: int
    chip_id: int
    errors: int | None


@dataclass(frozen=True, slots=True)
class NpuLinks:
    """`names` are the columns of the matrix; `pairs` (first, second, word) with first before second, as printed.

    `complete`: every pair has a word. A word is HCCS, HCCS_SW, SIO, PIX, PXB, PHB, SYS or what else stands there.
    """

    names: tuple[str, ...]
    pairs: tuple[tuple[str, str, str], ...]
    chips: tuple[ChipErrors, ...]

    @property
    def complete(self) -> bool:
        """Whether the matrix has a word for every pair of its columns."""
        return len(self.pairs) == len(self.names) * (len(self.names) - 1) // 2


_NAME = re.compile(r"(?:NPU|Phy-?ID|Device|Chip)\d{1,4}", re.IGNORECASE)
_NO_COUNTER = re.compile(r"^(?:npu|chip|card|device|total)\b.*\b(?:id|count)$|^chip count$", re.IGNORECASE)


def parse(output: CommandOutput) -> NpuLinks:
    """Read matrix and counters. Raises Unreadable: neither is there."""
    lines = keyed_lines(output, "topo_code")
    names, pairs = _matrix(lines.all("topo")) if lines.number("topo_code") == 0 else ((), ())
    chips = tuple(chip for record in lines.records("npu") if (chip := _chip(record)))
    if not names and not chips:
        said = " ".join(lines.all("topo"))[:200]
        raise Unreadable(said or "npu-smi told neither topology nor cards", code=Reason.DRIVER if "dcmi" in said.lower() else Reason.UNREADABLE)
    return NpuLinks(names, pairs, chips)


def _matrix(lines: Sequence[str]) -> tuple[tuple[str, ...], tuple[tuple[str, str, str], ...]]:
    """The header is the first line that begins with two names; rows begin with one and hold a word for each column."""
    names: tuple[str, ...] = ()
    found: dict[tuple[int, int], set[str]] = {}
    for line in lines:
        words = line.split()
        leading = tuple(w for w in words if _NAME.fullmatch(w))
        if not names:
            names = leading if len(leading) > 1 and tuple(words[: len(leading)]) == leading else ()
        elif words and words[0] in names and len(leading) == 1 and len(words) > len(names):
            row = names.index(words[0])
            for column, word in enumerate(words[1 : len(names) + 1]):
                if column != row:
                    found.setdefault((min(row, column), max(row, column)), set()).add(word)
    return names, tuple((names[a], names[b], _worse(words)) for (a, b), words in sorted(found.items()))


def _worse(words: set[str]) -> str:
    """Where both cells of a pair disagree, the one that is no HCCS."""
    return min(words, key=lambda word: (word.startswith("HCCS") or word == "SIO", word))


def _chip(record: KeyedLines) -> ChipErrors | None:
    place = (record.first("npu") or "").split()
    npu, chip = (whole(place[0]), whole(place[1])) if len(place) == 2 else (None, None)
    if npu is None or chip is None:
        return None
    counts = [whole(value) for key, value in (line.partition(":")[::2] for line in record.all("pcie")) if not _NO_COUNTER.search(key.strip())]
    told = [count for count in counts if count is not None]
    return ChipErrors(npu, chip, sum(told) if told and all(count >= 0 for count in told) else None)


def as_dict(reading: NpuLinks) -> dict[str, object]:
    """npus (columns), pairs by word, complete, and over the chips: npu_ids, errors."""
    words = [word for _, _, word in reading.pairs]
    return {
        "npus": len(reading.names),
        "pairs": {word: words.count(word) for word in dict.fromkeys(words)},
        "complete": reading.complete,
        "npu_ids": [c.npu_id for c in reading.chips],
        "errors": [c.errors for c in reading.chips],
    }


def recognise(text: str) -> int:
    """Our own lines, or the bare matrix."""
    return 97 if text.startswith("topo_code: ") else 0
