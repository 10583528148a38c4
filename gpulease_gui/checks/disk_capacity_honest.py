"""Can the promised capacity really be written and read back?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.disk_tests import DIRECT_STEP, in_memory, no_test, seconds_text
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import MIB, number_text
from gpulease_gui.facts.disk_fill import DiskFill

TERM = "disk.size_gb"
_NO_SPACE, _OVER_QUOTA, _IO_ERROR, _MISMATCH = 28, 122, 5, 84

OWN_SHARE = Threshold(
    "disk.capacity_honest", "own_share", 0.9, SHARE,
    Text("a file system may be the promised disk from this share of its size", "文件系统达到承诺容量的此比例才算承诺的磁盘"), ">=", high=1.0,
)  # fmt: skip
SLOW_SHARE = Threshold(
    "disk.capacity_honest", "slow_share", 0.5, SHARE, Text("it slows down if the last tenth has less of the first rate than", "末段速率低于首段的此比例即变慢"),
    "<", high=1.0,
)  # fmt: skip

CHECK = Check(
    id="disk.capacity_honest",
    title=Text("Disk capacity, written", "磁盘容量（实写）"),
    why=Text(
        "A thin disk shows terabytes and is full after the first hundred gigabytes.",
        "精简配置的磁盘显示有几 TB，写到一百 GB 就满了。",
    ),
    facts=("disk_fill",),
    terms=(TERM,),
    impact=Impact.DISRUPTIVE,
    level=3,
    ask=Text("How many GB of disk can we write?", "可写入的磁盘容量是多少 GB？"),
    writes=Text(
        "scratch files up to the promised size, at most four fifths of the free space, removed at the end",
        "临时文件，写到承诺容量为止，至多占剩余空间的五分之四，结束后删除",
    ),
    takes_s=600,
    thresholds=(OWN_SHARE, SLOW_SHARE),
)


def judge(fill: DiskFill, promise: Promise) -> tuple[Finding, ...]:
    """One finding: decimal GB of random data that were written and of which a hundredth was read back."""
    stated = promise.get(TERM)
    verdict, reason, code, step = _said(fill, stated, promise)
    if stated is None and verdict is Verdict.PASS:
        written = _gb(fill.fill.io_bytes)
        return (CHECK.not_promised(TERM, written, unit="GB", subjects=_subjects(Verdict.INCONCLUSIVE, fill),
                                   basis=Basis.MEASURED),)  # fmt: skip
    return (CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value if stated else None, measured=_gb(fill.fill.io_bytes),
        unit="GB", subjects=_subjects(verdict, fill), reason_code=code, next_step=step, basis=Basis.MEASURED,
        better="more",
    ),)  # fmt: skip


def _subjects(verdict: Verdict, fill: DiskFill) -> tuple[SubjectFinding, ...]:
    return (SubjectFinding(fill.filesystem or "disk", verdict, _gb(fill.fill.io_bytes)),)


def _said(fill: DiskFill, stated: Stated | None, promise: Promise) -> tuple[Verdict, Text, str, Text]:
    written, target = fill.fill.io_bytes, fill.target_mib
    if not written or target is None:
        reason, code, step = no_test([fill.fill])
        return Verdict.INCONCLUSIVE, reason, code, step
    if words := in_memory(fill.filesystem):
        return Verdict.INCONCLUSIVE, words, "page_cache", DIRECT_STEP
    if fill.verify.error in (_MISMATCH, _IO_ERROR):
        return Verdict.FAIL, _lost(fill), "data_lost", _LOST_STEP
    if fill.fill.error in (_NO_SPACE, _OVER_QUOTA) and fill.free_mib is not None and written < target * MIB:
        return Verdict.FAIL, _ended(fill), "space_ends_early", _THIN_STEP
    if fill.fill.trouble or fill.verify.trouble:
        reason, code, step = no_test([fill.fill if fill.fill.trouble else fill.verify])
        return Verdict.INCONCLUSIVE, reason, code, step
    return _written(fill, stated, written, target, promise)


def _written(
    fill: DiskFill, stated: Stated | None, written: int, target: int, promise: Promise
) -> tuple[Verdict, Text, str, Text]:
    done = _done(fill)
    if written < target * MIB:
        return Verdict.INCONCLUSIVE, _short(done, target), "too_short", _LONGER
    if stated is not None and _smaller(fill, stated, promise):
        return Verdict.INCONCLUSIVE, _elsewhere(done, fill), "smaller_filesystem", _ELSEWHERE_STEP
    if _slows(fill, promise):
        return Verdict.WARN, _slower(done, fill), "slows_down", _SLOW_STEP
    return Verdict.PASS, done, stated.reason_code if stated else "", NO_TEXT


def _smaller(fill: DiskFill, stated: Stated, promise: Promise) -> bool:
    """Whether the file system is too small to be the promised disk (its size not told: it may be)."""
    return fill.total_mib is None or fill.total_mib * MIB / 1e9 < stated.number * promise.limit(OWN_SHARE)


def _ends(fill: DiskFill) -> tuple[float, float] | None:
    """Rates of the first and of the last tenth in MB/s; None with too few points."""
    rates = [point.mb_s for point in fill.series]
    tenth = len(rates) // 10
    return (sum(rates[:tenth]) / tenth, sum(rates[-tenth:]) / tenth) if tenth >= 2 else None


def _slows(fill: DiskFill, promise: Promise) -> bool:
    ends = _ends(fill)
    return ends is not None and ends[1] < ends[0] * promise.limit(SLOW_SHARE)


def _gb(count: int | None) -> float | None:
    return round(count / 1e9, 1) if count is not None else None


def _gb_text(mib: int | None) -> str:
    return number_text(mib * MIB / 1e9) if mib is not None else "?"


def _done(fill: DiskFill) -> Text:
    written, back = number_text(_gb(fill.fill.io_bytes) or 0), number_text((fill.verify.io_bytes or 0) / 1e9, 2)
    length, total = seconds_text(fill.fill, fill.seconds), _gb_text(fill.total_mib)
    return Text(
        f"{written} GB of random data written in {length} s, {back} GB of it read back without a fault; "
        f"the file system holds {total} GB",
        f"{length} 秒内写入 {written} GB 随机数据，回读 {back} GB 无误；文件系统共 {total} GB",
    )


def _short(done: Text, target: int) -> Text:
    want = _gb_text(target)
    return Text(f"{done.en}; time ran out before the {want} GB to test", f"{done.zh}；时间用完，未写满应测的 {want} GB")


def _elsewhere(done: Text, fill: DiskFill) -> Text:
    return Text(
        f"{done.en}; that is less than promised, so the promised disk may be mounted elsewhere",
        f"{done.zh}；小于承诺，承诺的磁盘可能挂载在别处",
    )


def _slower(done: Text, fill: DiskFill) -> Text:
    first, last = (number_text(rate) for rate in _ends(fill) or (0.0, 0.0))
    return Text(
        f"{done.en}; the rate fell from {first} to {last} MB/s on the way",
        f"{done.zh}；写入过程中速率从 {first} 降到 {last} MB/s",
    )


def _ended(fill: DiskFill) -> Text:
    written, free = number_text(_gb(fill.fill.io_bytes) or 0), _gb_text(fill.free_mib)
    return Text(
        f"the disk was full after {written} GB, though it showed {free} GB free",
        f"磁盘显示可用 {free} GB，写入 {written} GB 后即报空间不足",
    )


def _lost(fill: DiskFill) -> Text:
    written = number_text(_gb(fill.fill.io_bytes) or 0)
    return Text(
        f"of {written} GB written, blocks came back changed or not at all: {fill.verify.trouble}",
        f"写入 {written} GB 后回读，数据有误或读不出：{fill.verify.trouble}",
    )


_LONGER = Text("Give it more time (command line: --seconds 3600).", "请延长时间（命令行：--seconds 3600）。")
_THIN_STEP = Text(
    "Ask the supplier for the real size of the pool or the quota behind this disk.", "请询问供应商该磁盘背后存储池的实际大小或配额。"
)
_LOST_STEP = Text(
    "Keep no data on this disk; show the supplier the output and ask for another disk.",
    "不要在这块盘上存放数据；请向供应商出示输出并要求更换磁盘。",
)
_ELSEWHERE_STEP = Text(
    "Ask where the promised disk is mounted, and run the check with HOME on it.",
    "请问清承诺的磁盘挂载在哪里，并把 HOME 设到该盘后重测。",
)
_SLOW_STEP = Text(
    "Ask the supplier what happens to the rate once the cache of this disk is full.", "请询问供应商该盘缓存写满后速率如何。"
)
