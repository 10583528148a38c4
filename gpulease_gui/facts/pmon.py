"""Which processes did `nvidia-smi pmon` see on the GPUs?"""

from __future__ import annotations

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dmon import Samples, header_line, read_samples
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import plain, whole

FACT = Fact(id="pmon", title=Text("Processes of nvidia-smi pmon", "nvidia-smi pmon 进程"), ok_codes=None)

_MARKS = ("gpu", "pid")


def parse(output: CommandOutput) -> Samples:
    """Read the rows. Raises Unreadable if there is no header."""
    return read_samples(output, _MARKS, "nvidia-smi pmon")


def as_dict(reading: Samples) -> dict[str, object]:
    """The keys of `gpulease parse --kind pmon`; a row without a pid is a GPU without a process."""
    pids = [whole(cell) for cell in reading.column("pid")]
    return {
        "columns": list(reading.columns),
        "rows": len(reading.rows),
        "pids": list(dict.fromkeys(pid for pid in pids if pid is not None)),
        "idle_rows": pids.count(None),
    }


def recognise(text: str) -> int:
    """By a header line that begins with # and names gpu and pid."""
    return 92 if header_line(plain(text[:20_000]).splitlines(), _MARKS) is not None else 0
