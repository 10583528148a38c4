"""Do all processors together do the work of so many?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, Bands, band_marks
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.cpu_bench import BenchTest, CpuBench
from gpulease_gui.facts.cpu_limits import CpuLimits

SOLD = "cpu.cores"
# What each adds to the work of one alone. Full load lowers the clock; two threads share one core.
CORE = band_marks("cpu.bench", 0.6, 0.4, Text("one core's work for each core", "单核工作量（按核）"), name="core")
THREAD = band_marks("cpu.bench", 0.3, 0.2, Text("one thread's work for each thread", "单线程工作量（按线程）"), name="thread")

CHECK = Check(
    id="cpu.bench",
    title=Text("CPU speed under load", "CPU 满载性能"),
    why=Text(
        "Oversold processors look complete until all of them have to work at once.",
        "超卖的 CPU 看起来一个不少，同时干活时才露馅。",
    ),
    facts=("cpu_bench",),
    optional=("cpu_limits",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("nothing; all processors work for 10 s", "不写入；全部 CPU 满载约 10 秒"),
    takes_s=10,
    thresholds=(*CORE.both, *THREAD.both),
)


def judge(bench: CpuBench, limits: CpuLimits | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the work of all against the work of one, for each usable core (or thread); the better test."""
    good = [test for test in bench.tests if test.gain is not None]
    if not good:
        return (_none(bench),)
    best = max(good, key=lambda test: test.gain or 0.0)
    count, bands = _units(best, limits, promise)
    if count is None:
        return (_finding(Verdict.INCONCLUSIVE, _reason(best, bench), best, "unreadable", _BY_HAND),)
    verdict = bands.of(best.gain or 0.0, count)
    reason = _reason(best, bench)
    if verdict is Verdict.PASS:
        return (_finding(verdict, reason, best, "", NO_TEXT),)
    if verdict is Verdict.FAIL and promise.get(SOLD) is None:
        # Nobody sold cores here: shared ones may be slow.
        return (_finding(Verdict.WARN, reason, best, "cores_shared", _ASK),)
    if verdict is Verdict.FAIL and len(good) < 2:
        return (_finding(Verdict.WARN, reason, best, MEASURED_ONCE, _AGAIN),)
    return (_finding(verdict, reason, best, "cores_shared", _ASK),)


def to_repeat(bench: CpuBench, promise: Promise) -> tuple[str, ...]:
    """`bench` when its only test is low even for threads: it is measured once more at once."""
    good = [test for test in bench.tests if test.gain is not None and test.cpus]
    if len(good) != 1 or promise.get(SOLD) is None:
        return ()
    count, bands = _units(good[0], None, promise)
    return ("bench",) if count is not None and bands.of(good[0].gain or 0.0, count) is Verdict.FAIL else ()


def _units(test: BenchTest, limits: CpuLimits | None, promise: Promise) -> tuple[float | None, Bands]:
    """How many cores or threads may be used, and which of them are counted; a quota is no fault of the speed."""
    quota = limits.quota_cores if limits else None
    if test.cores is not None:
        return (min(test.cores, quota) if quota else float(test.cores)), CORE.at(promise)
    if test.cpus is None:
        return None, THREAD.at(promise)
    return (min(test.cpus, quota) if quota else float(test.cpus)), THREAD.at(promise)


def _reason(test: BenchTest, bench: CpuBench) -> Text:
    gain, one = number_text(test.gain or 0.0), number_text(test.single_mib_s or 0.0, 0)
    cpus = number_text(test.cpus) if test.cpus is not None else "?"
    cores = number_text(test.cores) if test.cores is not None else "?"
    length = number_text(bench.seconds) if bench.seconds is not None else "?"
    return Text(
        f"{cpus} threads on {cores} cores did {gain} times the work of one ({one} MiB of SHA-256 a second, {length} s each)",
        f"{cores} 核 {cpus} 线程共完成单线程 {gain} 倍的工作量（单线程 SHA-256 每秒 {one} MiB，各 {length} 秒）",
    )


def _none(bench: CpuBench) -> Finding:
    last = bench.tests[-1] if bench.tests else None
    code = (last.code if last else "") or (Reason.UNREADABLE if last else Reason.NOT_COLLECTED)
    said = last.trouble if last else ""
    reason = Text(f"no speed was measured: {said}", f"没有测得速度：{said}") if said else _NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else _BY_HAND
    return _finding(Verdict.INCONCLUSIVE, reason, None, str(code), step)


_NOTHING = Text("no speed was measured", "没有测得速度")
_INSTALL = Text(
    "Install Python 3 on the node: apt-get install -y python3", "请在节点上安装 Python 3：apt-get install -y python3"
)
_BY_HAND = Text(
    "Compare openssl speed -multi with one process on the node.", "请在节点上比较 openssl speed 单进程与 -multi 的结果。"
)
_AGAIN = Text("Measure again on an idle node: one slow test proves nothing.", "请在节点空闲时复测：单次偏慢不足为据。")
_ASK = Text(
    "Stop your own work and measure again; then ask the supplier whether these cores are yours alone.",
    "请先停掉自己的任务再测；若仍如此，请问供应商这些核是否独占。",
)


def _finding(verdict: Verdict, reason: Text, test: BenchTest | None, code: str, step: Text) -> Finding:
    measured = round(test.gain, 2) if test and test.gain is not None else None
    return CHECK.finding(
        verdict, reason, measured=measured, subjects=(SubjectFinding("cpu", verdict, measured),), reason_code=code,
        next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
