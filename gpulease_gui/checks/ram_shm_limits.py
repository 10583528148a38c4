"""May programs take enough shared memory, locked memory and files?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import GIB, MIB, number_text
from gpulease_gui.facts.limits import UNLIMITED, Limits
from gpulease_gui.facts.memory_limits import MemoryLimits

KIB = 1024
ENOUGH_SHM = Threshold("ram.shm_limits", "shm", 16.0, "GiB", Text("enough shared memory from", "共享内存足够的下限"), ">=")
SHARE_OF_RAM = Threshold("ram.shm_limits", "shm_share", 0.10, SHARE, Text("or from this share of the main memory", "或达到主存的此比例"), ">=", high=1.0)
DOCKER_SHM = Threshold(
    "ram.shm_limits", "shm_least", 64.0, "MiB", Text("too little shared memory up to", "共享内存过小的上限"), "<=", Origin.PUBLISHED, "what docker gives without --shm-size"
)
SMALL_LOCK = Threshold(
    "ram.shm_limits", "memlock", 64.0, "KiB", Text("too little locked memory for RDMA up to", "RDMA 锁定内存过小的上限"), "<=", Origin.PUBLISHED, "the default of Linux before 5.16"
)
ENOUGH_FILES = Threshold("ram.shm_limits", "files", 65_536, "files", Text("enough open files from", "可打开文件数足够的下限"), ">=")

CHECK = Check(
    id="ram.shm_limits",
    title=Text("Shared memory and limits", "共享内存与限额"),
    why=Text(
        "With 64 MiB of shared memory data loaders and NCCL fail; without locked memory RDMA does.",
        "共享内存只有 64 MiB 时数据加载与 NCCL 会失败；不能锁定内存则 RDMA 不可用。",
    ),
    facts=("limits",),
    optional=("memory_limits",),
    needs_promise=False,
    thresholds=(ENOUGH_SHM, SHARE_OF_RAM, DOCKER_SHM, SMALL_LOCK, ENOUGH_FILES),
)
_RAISE = Text("start the container with --shm-size and --ulimit memlock=-1, or ask the supplier to", "启动容器时加 --shm-size 与 --ulimit memlock=-1，或请供应商调整")
_RUN = Text("run `df -h /dev/shm; ulimit -a` on the node", "在节点上运行 `df -h /dev/shm; ulimit -a`")


def judge(limits: Limits, memory: MemoryLimits | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each limit; measured is the shared memory in GiB."""
    rdma = any(promise.get(term) for term in ("rdma.ports", "rdma.gbit_s"))
    subjects = [_shm(limits, memory, promise), _lock(limits, rdma, promise), _files(limits, promise)]
    verdict = worst(s.verdict for s in subjects)
    bad = [s for s in subjects if s.verdict is verdict]
    gib = round(limits.shm_bytes / GIB, 2) if limits.shm_bytes is not None else None
    if verdict is Verdict.PASS:
        return (CHECK.finding(verdict, Text("large enough", "足够大"), measured=gib, unit="GiB", subjects=subjects, better="more"),)
    code = Reason.UNREADABLE if verdict is Verdict.INCONCLUSIVE else "limits_low"
    reason = Text("; ".join(s.reason.en for s in bad), "；".join(s.reason.zh for s in bad))
    step = _RUN if verdict is Verdict.INCONCLUSIVE else _RAISE
    return (CHECK.finding(verdict, reason, measured=gib, unit="GiB", subjects=subjects, reason_code=str(code), next_step=step, better="more"),)


def _shm(limits: Limits, memory: MemoryLimits | None, promise: Promise) -> SubjectFinding:
    size, total = limits.shm_bytes, memory.total_gib if memory else None
    if size is None:
        return SubjectFinding("/dev/shm", Verdict.INCONCLUSIVE, None, None, Text("the size of /dev/shm was not told", "未给出 /dev/shm 大小"))
    shown = f"{number_text(size / GIB, 2)} GiB"
    told = Text(f"/dev/shm has {shown}", f"/dev/shm 为 {shown}")
    if size <= promise.limit(DOCKER_SHM) * MIB:
        return SubjectFinding("/dev/shm", Verdict.FAIL, shown, None, told)
    enough = size >= promise.limit(ENOUGH_SHM) * GIB or (total is not None and size >= promise.limit(SHARE_OF_RAM) * total * GIB)
    return SubjectFinding("/dev/shm", Verdict.PASS if enough else Verdict.WARN, shown, None, told)


def _lock(limits: Limits, rdma: bool, promise: Promise) -> SubjectFinding:
    size = limits.memlock_bytes
    if size is None:
        return SubjectFinding("memlock", Verdict.INCONCLUSIVE, None, None, Text("the limit of locked memory was not told", "未给出锁定内存限额"))
    if size == UNLIMITED:
        return SubjectFinding("memlock", Verdict.PASS, "unlimited", None, NO_TEXT)
    told = Text(f"{number_text(size / KIB)} KiB may be locked", f"只能锁定 {number_text(size / KIB)} KiB 内存")
    return SubjectFinding("memlock", Verdict.FAIL if rdma and size <= promise.limit(SMALL_LOCK) * KIB else Verdict.WARN, size, None, told)


def _files(limits: Limits, promise: Promise) -> SubjectFinding:
    count = limits.open_files
    if count is None:
        return SubjectFinding("nofile", Verdict.INCONCLUSIVE, None, None, Text("the limit of open files was not told", "未给出打开文件数限额"))
    if count == UNLIMITED or count >= promise.limit(ENOUGH_FILES):
        return SubjectFinding("nofile", Verdict.PASS, count, None, NO_TEXT)
    return SubjectFinding("nofile", Verdict.WARN, count, None, Text(f"{number_text(count)} files may be open", f"最多打开 {number_text(count)} 个文件"))
