"""How fast are the links and the memory of the NPUs, and what does the vendor's tool say of them (`ascend-dmi`)?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dmi_text import figures, verdicts
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# -q answers the tool's own question: whoever starts this was asked before.
_SCRIPT = (
    SHELL
    + """\
tool=$(command -v ascend-dmi) || tool=/usr/local/Ascend/toolbox/latest/Ascend-DMI/bin/ascend-dmi
if [ ! -x "$tool" ]; then echo 'ascend-dmi: not found' >&2; exit 127; fi
say dmi_bandwidth "$tool"
for way in h2d d2h d2d p2p; do
  say way "$way"
  said=$("$tool" --bw -t "$way" -q </dev/null); say code "$?"
  printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
done
say way diagnosis
said=$("$tool" --dg -i bandwidth -q </dev/null); say code "$?"
printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
"""
    + END
)

FACT = Fact(
    id="npu_bandwidth", title=Text("NPU bandwidth", "NPU 带宽"), command=Command(script=_SCRIPT), seconds=600, impact=Impact.DISRUPTIVE, lane="npu",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NpuBandwidth:
    """`rates`: (h2d | d2h | d2d | p2p, best GB/s). `results`: (item, PASS | FAIL | SKIP | WARN) of the tool's own diagnosis."""

    rates: tuple[tuple[str, float], ...]
    results: tuple[tuple[str, str], ...]


def parse(output: CommandOutput) -> NpuBandwidth:
    """Read the tables. Raises Unreadable: no rate and no result."""
    lines = keyed_lines(output, "dmi_bandwidth")
    rates: list[tuple[str, float]] = []
    results: tuple[tuple[str, str], ...] = ()
    for record in lines.records("way"):
        way = record.first("way") or "?"
        if way == "diagnosis":
            results = _results(record)
        elif record.number("code") == 0 and (found := figures(record.all("row"), "bandwidth")):
            rates.append((way, max(found)))
    if not rates and not results:
        raise Unreadable(f"ascend-dmi measured nothing: {' '.join(lines.all('row'))[:160]}")
    return NpuBandwidth(tuple(rates), results)


def _results(record: KeyedLines) -> tuple[tuple[str, str], ...]:
    """A tool that ended with an error says nothing good."""
    found = verdicts(record.all("row"))
    return found if record.number("code") == 0 else tuple(one for one in found if one[1] == "FAIL")


def as_dict(reading: NpuBandwidth) -> dict[str, object]:
    """rates by way in GB/s, results by item."""
    return {"rates": dict(reading.rates), "results": [list(one) for one in reading.results]}


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("dmi_bandwidth: ") else 0
