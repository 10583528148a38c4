"""Is the memory of an idle card empty?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import QUIET_PERCENT, always_above_quiet
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_samples import ClockSamples
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

QUIET = Threshold(
    "mem.idle_usage", "quiet", 0.015, SHARE, Text("a card is empty below this share of its memory", "显存占用低于此比例即为空闲"), "<",
    Origin.PUBLISHED, "facebookresearch/gcm: check_nvidia_smi.py allows 15 MiB beside the reserve; widened", high=1.0,
)  # fmt: skip
BUSY = Threshold(
    "mem.idle_usage", "busy", 0.03, SHARE, Text("memory is in use above this share", "显存占用高于此比例即有人使用"), ">", high=1.0
)

CHECK = Check(
    id="mem.idle_usage",
    title=Text("Memory in use at idle", "空闲时显存占用"),
    why=Text(
        "Memory that is in use while nobody is listed belongs to somebody whom you can't see.",
        "没有进程却占用显存，说明有看不见的使用者。",
    ),
    facts=("smi_xml",),
    optional=("clock_samples", "environment"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    thresholds=(QUIET, BUSY, QUIET_PERCENT),
)
_HOST = Text("ask the supplier for `nvidia-smi` from the host; end your own jobs and run again",
             "请供应商提供宿主机上的 `nvidia-smi`；结束自己的任务后重新检查")  # fmt: skip


def judge(
    report: SmiReport, samples: ClockSamples | None, environment: Environment | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the memory in use in MiB."""
    marks = [(gpu, _mark(gpu, samples, environment, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="MiB", better="less"),) if marks else ()


def _mark(gpu: Gpu, samples: ClockSamples | None, environment: Environment | None, promise: Promise) -> Mark:
    used, total = gpu.memory_used_mib, gpu.memory_total_mib
    if used is None or used < 0 or not total or used > total:
        return Mark(Verdict.INCONCLUSIVE, Text("the memory in use was not told", "未给出已用显存"), "unreadable", None, _HOST)
    working = always_above_quiet(gpu, samples, promise)
    told = Text(f"{used:,} MiB in use", f"已用 {used:,} MiB") if not working else Text(
        f"{used:,} MiB in use, and the card never rested", f"已用 {used:,} MiB，且该卡一直有负载"
    )  # fmt: skip
    quiet = used < promise.limit(QUIET) * total
    if gpu.processes:
        named = Text(f"{told.en} by a listed process", f"{told.zh}，由列出的进程占用")
        return Mark(Verdict.PASS if quiet else Verdict.WARN, named, "listed_process", used, _HOST)
    if quiet and working is None:
        unseen = Text(f"{told.en}; whether the card rests was not sampled", f"{told.zh}；未采样该卡是否空闲")
        return Mark(Verdict.INCONCLUSIVE, unseen, "not_sampled", used, _HOST)
    if quiet and not working:
        return Mark(Verdict.PASS, told, "", used)
    if used > promise.limit(BUSY) * total or working:
        return _unexplained(gpu, told, used, environment)
    return Mark(Verdict.WARN, told, "some_usage", used, _HOST)


def _unexplained(gpu: Gpu, told: Text, used: int, environment: Environment | None) -> Mark:
    """With persistence off the question itself wakes the card; in a container other pids can't be seen."""
    sure = (gpu.persistence_mode or "").lower() == "enabled" and gpu.processes is not None
    bare = environment is not None and not environment.is_container
    grace = "grace" in (gpu.name or "").lower() or "gh200" in (gpu.name or "").lower()
    verdict = Verdict.FAIL if sure and bare and not grace else Verdict.WARN
    return Mark(verdict, Text(f"{told.en}, no process is listed", f"{told.zh}，但没有列出进程"), "hidden_usage", used, _HOST)
