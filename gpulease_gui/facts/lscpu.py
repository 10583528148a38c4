"""Which processors does `lscpu` list, and what do the control groups printed behind it allow?"""

from __future__ import annotations

import re

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.cpu_limits import CpuLimits
from gpulease_gui.facts.cpu_limits import as_dict as limits_dict
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import id_list_count
from gpulease_gui.facts.table_text import clean, first_line, whole, whole_lines

_LINE = "lscpu; cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/cpu/cpu.cfs_quota_us"
FACT = Fact(
    id="lscpu", title=Text("Processors (lscpu)", "处理器（lscpu）"), ok_codes=None, ask=Text(_LINE, _LINE), answers=("cpu_limits",)
)
_SURE = re.compile(r"^max 100000$|No such file or directory$")  # a last line that may go on is left out
_QUOTA = re.compile(r"(max|\d{1,12}) (\d{1,9})")  # cpu.max: microseconds of a period
_OLD_QUOTA = re.compile(r"-1|\d{4,12}")  # cpu.cfs_quota_us: -1 = no limit
_OLD_PERIOD_US = 100_000
_MISSING = re.compile(r"cpu\.(?:max|cfs_quota_us)\W{0,3}: No such file or directory")


def parse(output: CommandOutput) -> CpuLimits:
    """Read `name: value` lines and the limits behind them. Raises Unreadable without a count of processors."""
    rows = [line.strip() for line in whole_lines(output.text, _SURE)]
    told = {name.strip(): value.strip() for name, colon, value in (row.partition(":") for row in rows) if colon}
    online = whole(told.get("CPU(s)", ""))
    if online is None:
        raise Unreadable(f"no count of processors in the output: {first_line(output.text) or 'it is empty'}")
    quotas = [quota for row in rows if (quota := _quota(row)) is not None]
    return CpuLimits(
        nproc=online,
        online=id_list_count(told.get("On-line CPU(s) list")),
        quota_cores=min((quota for quota in quotas if quota), default=None),
        quota_read=bool(quotas) or len(_MISSING.findall(output.text + output.error_text)) > 1,
        model=told.get("Model name") or None,
        sockets=whole(told.get("Socket(s)", "")),
        cores_per_socket=whole(told.get("Core(s) per socket", "")),
        threads_per_core=whole(told.get("Thread(s) per core", "")),
    )


def _quota(row: str) -> float | None:
    """Processors that a control group allows; 0 = no limit, None = the row tells none."""
    new = _QUOTA.fullmatch(row)
    if new is not None:
        return 0.0 if new[1] == "max" else int(new[1]) / (int(new[2]) or _OLD_PERIOD_US)
    old = _OLD_QUOTA.fullmatch(row)
    return None if old is None else max(0, int(old[0])) / _OLD_PERIOD_US


def as_dict(reading: CpuLimits) -> dict[str, object]:
    """The keys of `cpu_limits`; what may be used is not told before a limit was read, it may stand behind a cut."""
    told = limits_dict(reading)
    return told if reading.quota_read else told | {"quota_read": None, "usable": None}


def recognise(text: str) -> int:
    """Its first line and its count."""
    head = clean(text[:20_000])
    lines = re.search(r"^Architecture:\s", head, re.MULTILINE), re.search(r"^CPU\(s\):\s", head, re.MULTILINE)
    return 92 if all(lines) else 60 * (lines[1] is not None)
