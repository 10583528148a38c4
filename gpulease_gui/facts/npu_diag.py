"""What does the vendor's own diagnosis say of the NPUs (`ascend-dmi --dg`)?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dmi_text import verdicts
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines

_SCRIPT = (
    SHELL
    + """\
tool=$(command -v ascend-dmi) || tool=/usr/local/Ascend/toolbox/latest/Ascend-DMI/bin/ascend-dmi
if [ ! -x "$tool" ]; then echo 'ascend-dmi: not found' >&2; exit 127; fi
say dmi_diag "$tool"
said=$("$tool" --dg -s -q </dev/null); say code "$?"
printf '%s\\n' "$said" | while IFS= read -r line; do say row "$line"; done
"""
    + END
)

FACT = Fact(
    id="npu_diag", title=Text("NPU diagnosis", "NPU 诊断"), command=Command(script=_SCRIPT), seconds=1800, impact=Impact.DISRUPTIVE, lane="npu",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NpuDiag:
    """(item, PASS | FAIL | SKIP | WARN) in the order printed; `ended` False = the tool ended with an error."""

    results: tuple[tuple[str, str], ...]
    ended: bool


def parse(output: CommandOutput) -> NpuDiag:
    """Read the rows. Raises Unreadable: no result."""
    lines = keyed_lines(output, "dmi_diag")
    results = verdicts(lines.all("row"))
    if not results:
        raise Unreadable(f"ascend-dmi gave no result: {' '.join(lines.all('row'))[:160]}")
    return NpuDiag(results, lines.number("code") == 0)


def as_dict(reading: NpuDiag) -> dict[str, object]:
    """results by item; ended."""
    return {"results": [list(one) for one in reading.results], "ended": reading.ended}


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("dmi_diag: ") else 0
