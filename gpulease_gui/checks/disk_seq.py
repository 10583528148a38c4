"""Does the disk read and write as fast as promised?"""

from __future__ import annotations

from dataclasses import replace

from gpulease_gui.checks import own_misfit
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import (
    MOVED_NOTHING,
    PROMISE,
    PROMISE_ITSELF,
    band_marks,
    judged,
    repeat_due,
    without_rate,
)
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.disk_rates import DiskRates, FioTry

READ, WRITE = "disk.read_mb_s", "disk.write_mb_s"
BANDS = band_marks("disk.seq", 1.0, 0.9, PROMISE, pass_origin=Origin.SPEC, pass_source=PROMISE_ITSELF)
OVER = Threshold(
    "disk.seq", "own_over", 10.0, "×",
    Text("a rate of the own disk test above this multiple of the promise is not believed", "自带磁盘测试的速率超过承诺值的此倍数时不予采信"), ">", low=1.2,
)  # fmt: skip
OVER_FROM_MB_S = Threshold("disk.seq", "own_over_from", 10_000.0, "MB/s", Text("nor above this rate, whichever is more", "且超过此速率，取两者中较大者"), ">", low=1.0)
_MEMORY = ("tmpfs", "ramfs", "devtmpfs")

CHECK = Check(
    id="disk.seq",
    title=Text("Disk throughput", "磁盘顺序读写"),
    why=Text(
        "A slow disk lets the GPUs wait for data and for every checkpoint.",
        "磁盘慢，GPU 就要等数据、等每一次检查点写入。",
    ),
    facts=("disk_rates",),
    terms=(READ, WRITE),
    impact=Impact.ACTIVE,
    level=2,
    ask=Text("How many MB/s does the disk read and write in a row?", "磁盘顺序读、顺序写各是多少 MB/s？"),
    writes=Text("a scratch file of up to 4 GiB, removed at the end", "最大 4 GiB 的临时文件，结束后删除"),
    takes_s=60,
    rule_version=4,
    thresholds=(*BANDS.both, OVER, OVER_FROM_MB_S),
)


def judge(rates: DiskRates, promise: Promise) -> tuple[Finding, ...]:
    """One finding for each direction, in decimal MB/s; the better of two tests is shown."""
    return (
        _direction("read", READ, rates.read, rates, promise),
        _direction("write", WRITE, rates.write, rates, promise),
    )


def to_repeat(rates: DiskRates, promise: Promise) -> tuple[str, ...]:
    """The directions (`read`, `write`) whose only test would fail: each is measured once more at once."""
    due = []
    for name, term, tries in (("read", READ, rates.read), ("write", WRITE, rates.write)):
        stated = promise.get(term)
        if stated and repeat_due([t.mb_s for t in tries if t.mb_s and not t.own_test], stated.number, BANDS.at(promise)):
            due.append(name)
    return tuple(due)


def _direction(name: str, term: str, tries: tuple[FioTry, ...], rates: DiskRates, promise: Promise) -> Finding:
    stated = promise.get(term)
    good = sorted((t for t in tries if t.mb_s), key=lambda t: -(t.mb_s or 0))
    if not good:
        return _no_rate(name, term, tries, stated)
    best = good[0].mb_s or 0.0
    reason = _told(_reason(good, rates, stated), good)
    if cached := _cached(good, rates):
        told = Text(f"{reason.en}; {cached.en}", f"{reason.zh}；{cached.zh}")
        return _finding(name, term, Verdict.INCONCLUSIVE, told, stated, best, "page_cache", _DIRECT_STEP)
    if stated is None:
        measured = round(best, 1)
        subject = SubjectFinding(name, Verdict.INCONCLUSIVE, measured)
        found = CHECK.not_promised(term, measured, unit="MB/s", subjects=(subject,), basis=Basis.MEASURED)
        return replace(found, direction=name, reason=_told(found.reason, good))
    if good[0].own_test and best > max(promise.limit(OVER) * stated.number, promise.limit(OVER_FROM_MB_S)):
        told = own_misfit.too_good(reason, promise.limit(OVER))
        return _finding(name, term, Verdict.INCONCLUSIVE, told, stated, best, Reason.INCONSISTENT, own_misfit.OVER_STEP)
    verdict, code = judged([t.mb_s or 0 for t in good if not t.own_test] or [best], stated.number, BANDS.at(promise))
    if BANDS.at(promise).of(best, stated.number) is Verdict.PASS:
        verdict, code = Verdict.PASS, ""
    elif all(t.own_test for t in good):
        # A few requests in flight fill no fast disk: a low rate of it proves nothing.
        return _finding(name, term, Verdict.INCONCLUSIVE, reason, stated, best, OWN_TEST, _OWN_STEP)
    step = NO_TEXT if verdict is Verdict.PASS else _AGAIN if code == "measured_once" else _SLOW_STEP
    return _finding(name, term, verdict, reason, stated, best, code or stated.reason_code, step)


def _told(reason: Text, good: list[FioTry]) -> Text:
    """The reason, marked where the rate that is shown is one of our own test."""
    if not good[0].own_test:
        return reason
    return Text(f"{reason.en}; measured with the program's own disk test, not fio", f"{reason.zh}；由本程序自带的磁盘测试测得，并非 fio")


def _cached(good: list[FioTry], rates: DiskRates) -> Text | None:
    """Why the rate may be one of memory; None if the tests surely passed the page cache by."""
    if rates.filesystem in _MEMORY:
        return Text(f"{rates.filesystem} lies in memory", f"{rates.filesystem} 位于内存中")
    if rates.direct is False or any(t.direct is False for t in good):
        return Text(
            "the file system refused direct I/O, so the page cache took part",
            "文件系统不支持直接 I/O，页缓存参与了读写",
        )
    if rates.direct is None and any(t.direct is None for t in good):
        return Text("the output does not say whether the page cache took part", "输出未说明页缓存是否参与")
    return None


def _reason(good: list[FioTry], rates: DiskRates, stated: Stated | None) -> Text:
    rate = number_text(good[0].mb_s or 0)
    seconds = good[0].seconds if good[0].seconds is not None else rates.seconds
    length = number_text(round(seconds)) if seconds is not None else "?"
    size = number_text(rates.size_mib) if rates.size_mib is not None else "?"
    share = number_text((good[0].mb_s or 0) / stated.number * 100, 0) if stated and stated.number else ""
    of_en, of_zh = (
        (
            f", {share} % of the promised {number_text(stated.number)}",
            f"，为承诺 {number_text(stated.number)} 的 {share}%",
        )
        if stated
        else ("", "")
    )
    other = ", ".join(number_text(t.mb_s or 0) for t in good[1:])
    also_en, also_zh = (f"; the other test gave {other}", f"；另一次为 {other}") if other else ("", "")
    direct = all(t.direct is True for t in good) if any(t.own_test for t in good) else rates.direct is True or all(t.direct is True for t in good)
    way_en, way_zh = (", direct I/O", "，直接 I/O") if direct else ("", "")
    return Text(
        f"{rate} MB/s over {length} s in a file of {size} MiB{way_en}{of_en}{also_en}",
        f"{length} 秒内 {rate} MB/s（文件 {size} MiB{way_zh}）{of_zh}{also_zh}",
    )


def _no_rate(name: str, term: str, tries: tuple[FioTry, ...], stated: Stated | None) -> Finding:
    last = tries[-1] if tries else None
    code = (last.code if last else "") or (Reason.UNREADABLE if last else Reason.NOT_COLLECTED)
    said = last.trouble if last else ""
    verdict, mb_s = without_rate(code)
    if verdict is Verdict.FAIL:
        return _finding(name, term, verdict, MOVED_NOTHING, stated, mb_s, code, _SLOW_STEP)
    if last and last.misfit:
        reason = own_misfit.misfit_of(last.misfit, ends=False)
        return _finding(name, term, verdict, reason, stated, None, str(code), own_misfit.OVER_STEP)
    reason = Text(f"no rate was measured: {said}", f"没有测得速率：{said}") if said else _NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else foreign(last.next_step) if last and last.next_step else _BY_HAND
    return _finding(name, term, Verdict.INCONCLUSIVE, reason, stated, None, str(code), step)


_NOTHING = Text("no rate was measured", "没有测得速率")
_INSTALL = Text("Install fio on the node: apt-get install -y fio", "请在节点上安装 fio：apt-get install -y fio")
OWN_TEST = "own_test"
_OWN_STEP = Text(
    "Install fio on the node (apt-get install -y fio) and measure again: a low rate of the program's own test proves nothing.",
    "请在节点上安装 fio（apt-get install -y fio）后重新测量：自带测试偏低不足为据。",
)
_BY_HAND = Text("Run fio by hand in a folder on the rented disk.", "请在所租磁盘的目录中手动运行 fio。")
_AGAIN = Text(
    "Measure again on an idle node: one slow test alone proves nothing.", "请在节点空闲时复测：单次偏慢不足为据。"
)
_SLOW_STEP = Text(
    "Ask the supplier which disk lies behind this folder and whether its rate is limited.",
    "请询问供应商该目录背后是什么磁盘、是否限速。",
)
_DIRECT_STEP = Text(
    "Measure in a folder on the rented disk itself (ext4, xfs), not on overlay or memory.",
    "请在所租磁盘本身（ext4、xfs）的目录中测量，不要在 overlay 或内存中。",
)


def _finding(
    name: str,
    term: str,
    verdict: Verdict,
    reason: Text,
    stated: Stated | None,
    mb_s: float | None,
    code: str,
    step: Text,
) -> Finding:
    measured = round(mb_s, 1) if mb_s is not None else None
    return CHECK.finding(
        verdict, reason, term=term, promised=stated.value if stated else None, measured=measured, unit="MB/s",
        subjects=(SubjectFinding(name, verdict, measured),), reason_code=code, next_step=step, basis=Basis.MEASURED,
        better="more", direction=name,
    )  # fmt: skip
