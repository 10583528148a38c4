"""Does the disk do as many small random reads a second as promised?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.disk_tests import AGAIN_STEP, DIRECT_STEP, SLOW_STEP, cached, joined, no_test, seconds_text
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import PROMISE, PROMISE_ITSELF, band_marks, judged, repeat_due, without_rate
from gpulease_gui.checks.thresholds import Origin
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.disk_random import READ, WRITE
from gpulease_gui.facts.fio_set import FioSet, FioTest

TERM = "disk.read_iops"
BANDS = band_marks("disk.rand", 1.0, 0.9, PROMISE, pass_origin=Origin.SPEC, pass_source=PROMISE_ITSELF)

CHECK = Check(
    id="disk.rand",
    title=Text("Random disk access", "磁盘随机读写"),
    why=Text(
        "Data sets of many small files are read at the disk's IOPS, not at its MB/s.",
        "由大量小文件组成的数据集，读取速度取决于 IOPS，而不是 MB/s。",
    ),
    facts=("disk_random",),
    terms=(TERM,),
    impact=Impact.ACTIVE,
    level=2,
    ask=Text("How many 4 KiB random reads a second does the disk do?", "磁盘 4 KiB 随机读能达到多少 IOPS？"),
    writes=Text("a scratch file of up to 4 GiB, removed at the end", "最大 4 GiB 的临时文件，结束后删除"),
    takes_s=60,
    rule_version=2,
    thresholds=BANDS.both,
)


def judge(rates: FioSet, promise: Promise) -> tuple[Finding, ...]:
    """One finding, in operations a second of reading; the better of two tests. Writing is shown beside it, not judged."""
    stated = promise.get(TERM)
    good = _good(rates.of(READ))
    if not good:
        reason, code, step = no_test(rates.of(READ))
        verdict, none = without_rate(code)
        return (_finding(verdict, reason, stated, none, code, step, rates),)
    iops = good[0].iops or 0.0
    reason = _reason(good, rates, stated)
    if words := cached(good, rates.direct, rates.filesystem):
        told = joined(reason, words)
        return (_finding(Verdict.INCONCLUSIVE, told, stated, iops, "page_cache", DIRECT_STEP, rates),)
    if stated is None:
        subjects = _subjects(Verdict.INCONCLUSIVE, iops, rates)
        return (CHECK.not_promised(TERM, round(iops), unit="IOPS", subjects=subjects, basis=Basis.MEASURED),)
    verdict, code = judged([test.iops or 0.0 for test in good], stated.number, BANDS.at(promise))
    step = NO_TEXT if verdict is Verdict.PASS else AGAIN_STEP if code == "measured_once" else SLOW_STEP
    return (_finding(verdict, reason, stated, iops, code or stated.reason_code, step, rates),)


def to_repeat(rates: FioSet, promise: Promise) -> tuple[str, ...]:
    """`randread` when its only test would fail: it is measured once more at once."""
    stated = promise.get(TERM)
    due = repeat_due([t.iops for t in rates.of(READ) if t.iops], stated.number if stated else None, BANDS.at(promise))
    return (READ,) if due else ()


def _good(tests: tuple[FioTest, ...]) -> list[FioTest]:
    return sorted((t for t in tests if t.iops and not t.trouble), key=lambda t: -(t.iops or 0.0))


def _reason(good: list[FioTest], rates: FioSet, stated: Stated | None) -> Text:
    best = good[0]
    iops, length = number_text(round(best.iops or 0)), seconds_text(best, rates.seconds)
    size = number_text(rates.size_mib) if rates.size_mib is not None else "?"
    told = Text(
        f"{iops} random reads of 4 KiB a second over {length} s in a file of {size} MiB",
        f"{length} 秒内 4 KiB 随机读 {iops} IOPS（文件 {size} MiB）",
    )
    if best.p99_ms is not None:
        p99 = number_text(best.p99_ms, 2)
        told = joined(told, Text(f"99 of 100 took at most {p99} ms", f"p99 延迟 {p99} 毫秒"))
    if stated is not None and stated.number:
        share, want = number_text((best.iops or 0) / stated.number * 100, 0), number_text(stated.number)
        told = joined(told, Text(f"{share} % of the promised {want}", f"为承诺 {want} 的 {share}%"))
    if len(good) > 1:
        other = number_text(round(good[1].iops or 0))
        told = joined(told, Text(f"the other test gave {other}", f"另一次为 {other}"))
    return told


def _subjects(verdict: Verdict, iops: float | None, rates: FioSet) -> tuple[SubjectFinding, ...]:
    read = SubjectFinding("read", verdict, round(iops) if iops is not None else None)
    writes = _good(rates.of(WRITE))
    if not writes:
        return (read,)
    return (read, SubjectFinding("write", Verdict.NOT_APPLICABLE, round(writes[0].iops or 0)))


def _finding(
    verdict: Verdict, reason: Text, stated: Stated | None, iops: float | None, code: str, step: Text, rates: FioSet
) -> Finding:
    measured = round(iops) if iops is not None else None
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value if stated else None, measured=measured, unit="IOPS",
        subjects=_subjects(verdict, iops, rates), reason_code=code, next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
