"""Does the disk still write as fast after ten minutes as in the first one?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.disk_tests import DIRECT_STEP, cached, joined, no_test
from gpulease_gui.checks.over_time import LONG_S, SHORT_S, TOO_FEW, Course, course, held
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks, without_rate
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.disk_sustained import SUSTAINED
from gpulease_gui.facts.fio_set import FioSet

# A drive that slows down by its own heat or cache keeps more than this; a spent credit does not.
BANDS = band_marks("disk.burst", 0.85, 0.6, Text("the first minute", "首分钟速率"))

CHECK = Check(
    id="disk.burst",
    title=Text("Disk rate that lasts", "磁盘持续写入"),
    why=Text(
        "Some disks are fast for the minutes of a test and slow for the days of a training.",
        "有的磁盘测试那几分钟很快，训练那几天却很慢。",
    ),
    facts=("disk_sustained",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    writes=Text(
        "a scratch file of up to 16 GiB, written for 15 min, removed at the end",
        "最大 16 GiB 的临时文件，持续写入 15 分钟，结束后删除",
    ),
    takes_s=900,
    rule_version=2,
    thresholds=(*BANDS.both, LONG_S, SHORT_S),
)


def judge(rates: FioSet, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the write rate of the last minute against that of the first, as a ratio."""
    tests = rates.of(SUSTAINED)
    good = [test for test in tests if test.mb_s and not test.trouble]
    if not good:
        reason, code, step = no_test(tests)
        return (_finding(without_rate(code)[0], reason, None, code, step),)
    found = course([(point.end_s, point.mb_s) for point in good[0].series])
    if found is None:
        few = bool(good[0].series)
        reason, code = (TOO_FEW, "too_short") if few else (_NO_LOG, str(Reason.UNREADABLE))
        return (_finding(Verdict.INCONCLUSIVE, reason, None, code, _LONGER),)
    reason = _reason(found, rates)
    if words := cached(good, rates.direct, rates.filesystem):
        return (_finding(Verdict.INCONCLUSIVE, joined(reason, words), found, "page_cache", DIRECT_STEP),)
    verdict, code = held(found, BANDS.at(promise), promise)
    return (_finding(verdict, reason, found, code, _STEPS.get(code, NO_TEXT)),)


def _reason(found: Course, rates: FioSet) -> Text:
    first, last = number_text(found.first), number_text(found.last)
    window, length = number_text(round(found.window_s)), number_text(round(found.length_s))
    size = number_text(rates.size_mib) if rates.size_mib is not None else "?"
    return Text(
        f"{first} MB/s in the first {window} s, {last} MB/s in the last {window} s of {length} s "
        f"(writing over a file of {size} MiB)",
        f"共 {length} 秒：前 {window} 秒 {first} MB/s，后 {window} 秒 {last} MB/s（反复写入 {size} MiB 的文件）",
    )


_NO_LOG = Text("fio kept no course of the rate over time", "fio 没有记录速率随时间的变化")
_LONGER = Text(
    "Measure for at least ten minutes (command line: --seconds 900): credits last that long.",
    "请至少测量十分钟（命令行：--seconds 900），突发额度能撑这么久。",
)
_STEPS = {
    "too_short": _LONGER,
    "rate_falls": Text(
        "Ask the supplier for the rate that lasts, and for the burst credit or cache of this disk.",
        "请询问供应商该磁盘可持续的速率，以及突发额度或缓存大小。",
    ),
}


def _finding(verdict: Verdict, reason: Text, found: Course | None, code: str, step: Text) -> Finding:
    ratio = round(found.ratio, 3) if found else None
    return CHECK.finding(
        verdict, reason, measured=ratio, subjects=(SubjectFinding("write", verdict, ratio),), reason_code=code,
        next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
