"""How many processors may be used here, and what takes some away?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, WALK, KeyedLines, id_list_count, keyed_lines, whole

_SCRIPT = (
    SHELL
    + WALK
    + """\
say nproc "$(nproc)"
put online /sys/devices/system/cpu/online
if [ -r /proc/self/status ]; then
  while IFS= read -r line; do
    case $line in Cpus_allowed_list:*) say allowed "${line#*:}";; esac
  done </proc/self/status
fi
if [ -r /proc/self/cgroup ]; then
  while IFS=: read -r id names path; do
    case ",$names," in
      ,,)
        walk /sys/fs/cgroup "$path" cgroup.controllers cpu.max cpu.stat cpuset.cpus.effective;;
      *,cpu,*)
        root=/sys/fs/cgroup/cpu; if [ ! -d "$root" ]; then root=/sys/fs/cgroup/$names; fi
        walk "$root" "$path" cpu.cfs_quota_us cpu.cfs_period_us cpu.stat;;
      *,cpuset,*)
        walk /sys/fs/cgroup/cpuset "$path" cpuset.effective_cpus;;
    esac
  done </proc/self/cgroup
fi
if command -v lscpu >/dev/null; then
  lscpu | while IFS= read -r line; do say lscpu "$line"; done
elif [ -r /proc/cpuinfo ]; then
  while IFS= read -r line; do
    case $line in "model name"*) say model "${line#*: }"; break;; esac
  done </proc/cpuinfo
fi
"""
    + END
)

FACT = Fact(
    id="cpu_limits",
    title=Text("Processors and their limits", "处理器与限额"),
    command=Command(script=_SCRIPT),
    seconds=10,
)


@dataclass(frozen=True, slots=True)
class CpuLimits:
    """Counts are of logical processors (hardware threads); None = not told.

    `quota_cores` is the tightest bandwidth limit of our control groups in processors, None = no limit stands there.
    `quota_read` says whether a control group with such limits could be looked at.
    `throttled` counts the periods in which the limit hit.
    """

    nproc: int | None = None
    online: int | None = None
    allowed: int | None = None
    cpuset: int | None = None
    quota_cores: float | None = None
    quota_read: bool = False
    throttled: int | None = None
    model: str | None = None
    sockets: int | None = None
    cores_per_socket: int | None = None
    threads_per_core: int | None = None

    @property
    def usable(self) -> float | None:
        """The tightest of all that was told, in logical processors; None if nothing was."""
        told = [n for n in (self.nproc, self.allowed, self.cpuset, self.quota_cores) if n is not None]
        return min(told) if told else None


def parse(output: CommandOutput) -> CpuLimits:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "nproc")
    lscpu = dict(_field(line) for line in lines.all("lscpu"))
    sets = [
        n for key in ("cpuset.cpus.effective", "cpuset.effective_cpus") for n in map(id_list_count, lines.all(key)) if n
    ]
    quotas = _quotas(lines)
    stat = [
        n
        for line in lines.all("cpu.stat")
        if line.startswith("nr_throttled ") and (n := whole(line.split()[-1])) is not None
    ]
    return CpuLimits(
        nproc=lines.number("nproc"),
        online=id_list_count(lines.first("online")),
        allowed=id_list_count(lines.first("allowed")),
        cpuset=min(sets, default=None),
        quota_cores=min((q for q in quotas if q is not None), default=None),
        quota_read=bool(quotas) or bool(lines.all("cgroup.controllers")),
        throttled=max(stat, default=None),
        model=lscpu.get("Model name") or lines.first("model"),
        sockets=whole(lscpu.get("Socket(s)")),
        cores_per_socket=whole(lscpu.get("Core(s) per socket")),
        threads_per_core=whole(lscpu.get("Thread(s) per core")),
    )


def _field(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()


def _quotas(lines: KeyedLines) -> list[float | None]:
    """One entry for each control group that answered; None = it sets no limit."""
    found: list[float | None] = []
    for group in lines.records("cgroup"):
        if words := group.first("cpu.max"):
            quota, _, period = words.partition(" ")
            found.append(_cores(whole(quota), whole(period)))
        if group.first("cpu.cfs_quota_us"):
            found.append(_cores(group.number("cpu.cfs_quota_us"), group.number("cpu.cfs_period_us")))
    return found


def _cores(quota_us: int | None, period_us: int | None) -> float | None:
    if quota_us is None or quota_us <= 0:
        return None
    return quota_us / (period_us or 100_000)


def as_dict(reading: CpuLimits) -> dict[str, object]:
    """The fields by name, and usable."""
    return {
        "nproc": reading.nproc, "online": reading.online, "allowed": reading.allowed, "cpuset": reading.cpuset,
        "quota_cores": reading.quota_cores, "quota_read": reading.quota_read, "throttled": reading.throttled,
        "model": reading.model, "sockets": reading.sockets, "cores_per_socket": reading.cores_per_socket,
        "threads_per_core": reading.threads_per_core, "usable": reading.usable,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("nproc: ") else 0
