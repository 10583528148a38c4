"""Does somebody else compute on the rented cards?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.mem_idle_usage import BUSY, QUIET
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import Gpu, GpuProcess, SmiReport

TERM = "tenancy"

CHECK = Check(
    id="iso.foreign_procs",
    title=Text("Foreign GPU processes", "外来 GPU 进程"),
    why=Text(
        "A card that others still use is neither exclusive nor fast: a forgotten job or a miner takes its share.",
        "仍被他人使用的卡既不独占也不够快：遗留任务或挖矿程序会占用算力。",
    ),
    facts=("smi_xml",),
    optional=("environment",),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    ask=Text("Is the node ours alone?", "节点是否由我方独占？"),
    thresholds=(QUIET, BUSY),
)
# Programs that watch cards and compute nothing, by the head of their name.
_WATCHERS = (
    "dcgm", "nv-hostengine", "nvidia-smi", "nvidia-persistenced", "nvidia_gpu_exporter", "nvidia-gpu-exporter", "gpud", "nvtop",
    "nvitop", "gpustat", "node_exporter", "telegraf", "netdata", "prometheus", "zabbix", "gpulease", "nvidia-cuda-mps",
)  # fmt: skip

_STOP = Text("ask the supplier whose process this is and to end it; if it is yours, end it and run again",
             "请供应商说明这是谁的进程并结束它；若是自己的，结束后重新检查")  # fmt: skip
_HOST = Text("ask the supplier for `nvidia-smi` from the host", "请供应商提供宿主机上的 `nvidia-smi` 输出")


def judge(report: SmiReport, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over the processes of all cards; measured is the name of the worst one."""
    stated = promise.get(TERM)
    if stated is not None and stated.value == "shared":
        told = Text("the contract says that the node is shared", "合同写明节点为共享")
        return (CHECK.finding(Verdict.NOT_APPLICABLE, told, term=TERM, promised=stated.value),)
    marks = [(gpu, _mark(gpu, environment, promise)) for gpu in report.gpus]
    if not marks:
        return ()
    return (finding_of(CHECK, marks, term=TERM if stated else None, promised=stated.value if stated else None),)


def _mark(gpu: Gpu, environment: Environment | None, promise: Promise) -> Mark:
    if gpu.processes is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the processes were not told", "未给出进程列表"), "unreadable", None, _HOST)
    computing = [p for p in gpu.processes if _computes(p) and not _hidden(p) and not _watches(p)]
    if computing:
        names = ", ".join(_shown(p) for p in computing[:3])
        return Mark(Verdict.FAIL, Text(f"computing here: {names}", f"正在计算的进程：{names}"), "foreign_process", computing[0].name, _STOP)
    if any(_hidden(p) for p in gpu.processes):
        return Mark(Verdict.WARN, Text(
            "a process is listed without its name: it runs outside this container", "列出的进程没有名称：它在本容器之外运行"
        ), "hidden_process", "?", _HOST)  # fmt: skip
    if gpu.processes:
        harmless = ", ".join(_shown(p) for p in gpu.processes[:3])
        return Mark(Verdict.WARN, Text(
            f"only a display server or a monitor: {harmless}", f"仅有显示服务或监控程序：{harmless}"
        ), "harmless_process", gpu.processes[0].name)  # fmt: skip
    return _empty(gpu, environment, promise)


def _empty(gpu: Gpu, environment: Environment | None, promise: Promise) -> Mark:
    """No process is listed: is the memory as empty as the list?"""
    used, total = gpu.memory_used_mib, gpu.memory_total_mib
    if used is None or not total:
        return Mark(Verdict.INCONCLUSIVE, Text(
            "no process is listed, but the memory in use was not told", "没有列出进程，但未给出已用显存"
        ), "unreadable", None, _HOST)  # fmt: skip
    if used < promise.limit(QUIET) * total:
        return Mark(Verdict.PASS, Text("no process, memory empty", "没有进程，显存空闲"), "", "none")
    told = Text(f"{used:,} MiB are in use, but no process is listed", f"已用 {used:,} MiB，却没有列出进程")
    bare = environment is not None and not environment.is_container
    if used > promise.limit(BUSY) * total and bare and (gpu.persistence_mode or "").lower() == "enabled":
        return Mark(Verdict.FAIL, told, "hidden_usage", "?", _HOST)
    return Mark(Verdict.WARN, told, "hidden_usage", "?", _HOST)


def _computes(process: GpuProcess) -> bool:
    return process.kind.strip().upper() != "G"


def _hidden(process: GpuProcess) -> bool:
    return not process.pid or process.name.strip() in ("", "-", "[Not Found]")


def _watches(process: GpuProcess) -> bool:
    words = process.name.split()
    return bool(words) and words[0].rsplit("/", 1)[-1].lower().startswith(_WATCHERS)


def _shown(process: GpuProcess) -> str:
    return f"{process.name[:120] or '?'} (pid {process.pid if process.pid is not None else '?'}, {process.kind or '?'})"
