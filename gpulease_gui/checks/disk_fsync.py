"""Is a small write on the disk soon after it was flushed?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.disk_kinds import DiskKind, is_disk, kind_of, promised_disk
from gpulease_gui.checks.disk_tests import AGAIN_STEP, DIRECT_STEP, SLOW_STEP, in_memory, joined, no_test, seconds_text
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.disk_sync import FSYNC
from gpulease_gui.facts.fio_set import FioSet, FioTest
from gpulease_gui.facts.lsblk import BlockDevices

KIND = "disk.kind"
# What a local NVMe drive keeps easily, what a network disk keeps, and what no turning disk can do.
QUICK_MS = Threshold("disk.fsync", "quick", 5.0, "ms", Text("passes below", "低于此值通过"), "<")
SLOW_MS = Threshold("disk.fsync", "slow", 50.0, "ms", Text("NVMe as sold fails above", "承诺 NVMe 时高于此值不符"), ">")
IMPOSSIBLE_MS = Threshold("disk.fsync", "impossible", 0.02, "ms", Text("no turning disk flushes faster than", "机械硬盘落盘不可能快于"), "<")

CHECK = Check(
    id="disk.fsync",
    title=Text("Flush latency", "磁盘 fsync 延迟"),
    why=Text(
        "A checkpoint counts once it is flushed; a disk that only says so loses it when the power fails.",
        "检查点落盘才算数；只是假装落盘的磁盘，断电就会丢数据。",
    ),
    facts=("disk_sync",),
    optional=("lsblk",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("a scratch file of 64 MiB, removed at the end", "64 MiB 临时文件，结束后删除"),
    takes_s=20,
    thresholds=(QUICK_MS, SLOW_MS, IMPOSSIBLE_MS),
)


def judge(rates: FioSet, disks: BlockDevices | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the 99th percentile of the flushes in ms; the better of two tests."""
    tests = rates.of(FSYNC)
    good = _good(tests)
    if not good:
        return (_none(tests),)
    best = min(good, key=lambda test: test.sync_p99_ms or 0.0)
    reason = _reason(best, good, rates)
    if words := in_memory(rates.filesystem):
        told = joined(reason, words)
        return (_finding(Verdict.INCONCLUSIVE, told, best, "page_cache", DIRECT_STEP),)
    verdict, code = _verdict(best.sync_p99_ms or 0.0, disks, promise)
    if verdict is Verdict.FAIL and len(good) < 2:
        return (_finding(Verdict.WARN, reason, best, "measured_once", AGAIN_STEP),)
    return (_finding(verdict, reason, best, code, _STEPS.get(code, NO_TEXT)),)


def to_repeat(rates: FioSet, promise: Promise) -> tuple[str, ...]:
    """`fsync` when its only test would fail, or would if the disk turned: it is measured once more at once."""
    good = _good(rates.of(FSYNC))
    odd = len(good) == 1 and not promise.limit(IMPOSSIBLE_MS) <= (good[0].sync_p99_ms or 0.0) <= promise.limit(SLOW_MS)
    return (FSYNC,) if odd else ()


def _good(tests: tuple[FioTest, ...]) -> list[FioTest]:
    return [test for test in tests if test.sync_p99_ms is not None and not test.trouble]


def _none(tests: tuple[FioTest, ...]) -> Finding:
    if tests and tests[-1].iops:
        return _finding(Verdict.INCONCLUSIVE, _UNTOLD, None, Reason.UNREADABLE, _NEW_FIO)
    reason, code, step = no_test(tests)
    return _finding(Verdict.INCONCLUSIVE, reason, None, code, step)


def _verdict(p99_ms: float, disks: BlockDevices | None, promise: Promise) -> tuple[Verdict, str]:
    impossible = p99_ms < promise.limit(IMPOSSIBLE_MS)
    if impossible and (disks is None or disks.cut_off):
        return Verdict.INCONCLUSIVE, "disks_not_told"
    if impossible and _turns(disks):
        return Verdict.FAIL, "flush_ignored"
    if p99_ms < promise.limit(QUICK_MS):
        return Verdict.PASS, ""
    if p99_ms <= promise.limit(SLOW_MS) or not _nvme_sold(promise):
        return Verdict.WARN, "flush_slow"
    return Verdict.FAIL, "flush_slow"


def _turns(disks: BlockDevices | None) -> bool:
    """Whether every disk of the node is one that turns."""
    kinds = {kind_of(device) for device in disks.devices if is_disk(device)} if disks else set()
    return kinds == {DiskKind.HDD}


def _nvme_sold(promise: Promise) -> bool:
    stated = promise.get(KIND)
    wanted = promised_disk(str(stated.value)) if stated else None
    return wanted is not None and wanted.kind is DiskKind.NVME


def _reason(best: FioTest, good: list[FioTest], rates: FioSet) -> Text:
    p99, length = number_text(best.sync_p99_ms or 0.0, 3), seconds_text(best, rates.seconds)
    told = Text(
        f"99 of 100 flushes took at most {p99} ms (4 KiB writes, one after the other, {length} s)",
        f"fsync p99 为 {p99} 毫秒（4 KiB 写入逐次落盘，{length} 秒）",
    )
    others = ", ".join(number_text(test.sync_p99_ms or 0.0, 3) for test in good if test is not best)
    return joined(told, Text(f"the other test gave {others}", f"另一次为 {others}")) if others else told


_UNTOLD = Text("this fio does not tell how long the flushes took", "该版本的 fio 不输出 fsync 延迟")
_NEW_FIO = Text("Install fio 3 or newer on the node.", "请在节点上安装 fio 3 或更新版本。")
_STEPS = {
    "disks_not_told": Text(
        "No turning disk flushes as fast; run `lsblk -d -o NAME,ROTA,MODEL` on the node to see what it is.",
        "机械硬盘不可能这么快落盘；请在节点上运行 `lsblk -d -o NAME,ROTA,MODEL` 查看磁盘类型。",
    ),
    "flush_slow": SLOW_STEP,
    "flush_ignored": Text(
        "Ask the supplier whether the write cache of the disk or host is battery-backed, and to switch off lying caches.",
        "请询问供应商磁盘或宿主机的写缓存是否有电池保护，并关闭假落盘的缓存。",
    ),
}


def _finding(verdict: Verdict, reason: Text, test: FioTest | None, code: str, step: Text) -> Finding:
    measured = round(test.sync_p99_ms, 3) if test and test.sync_p99_ms is not None else None
    return CHECK.finding(
        verdict, reason, measured=measured, unit="ms", subjects=(SubjectFinding(FSYNC, verdict, measured),),
        reason_code=code, next_step=step, basis=Basis.MEASURED, better="less",
    )  # fmt: skip
