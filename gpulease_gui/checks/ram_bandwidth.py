"""Does every socket reach its memory as fast as the others?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks, judged
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.ram_copy import CopyTest, NodeRate, RamCopy

# Sockets of one model differ by less than a quarter; half of the modules is half of the speed.
BANDS = band_marks("ram.bandwidth", 0.75, 0.6, Text("the fastest node", "最快节点"))

CHECK = Check(
    id="ram.bandwidth",
    title=Text("Memory speed of every socket", "各路内存带宽"),
    why=Text(
        "A socket with half of its memory modules fitted feeds its cards at half the speed.",
        "内存只插了一半的那一路 CPU，给显卡供数的速度也只有一半。",
    ),
    facts=("ram_copy",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    takes_s=10,
    thresholds=BANDS.both,
    writes=Text("nothing; up to 1.5 GiB of main memory for each NUMA node", "不写入；每个 NUMA 节点占用至多 1.5 GiB 内存"),
)
_ASK = Text("ask the supplier for `dmidecode -t memory`: which slots are fitted", "请供应商提供 `dmidecode -t memory`：插了哪些内存槽")
_INSTALL = Text("install Python 3 on the node: apt-get install -y python3", "请在节点上安装 Python 3：apt-get install -y python3")
_AGAIN = Text("run it again on an idle node", "请在节点空闲时重新运行")


def judge(copies: RamCopy, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest node in GB/s copied. Of one node alone nothing can be said."""
    good = [test for test in copies.tests if test.nodes]
    if not good:
        return (_none(copies),)
    best = max(good, key=_ratio)
    slow, fast = min(best.nodes, key=_rate), max(best.nodes, key=_rate)
    if len(best.nodes) < 2:
        alone = Text(f"{number_text(slow.gb_s)} GB/s copied by {slow.workers} processes; there is one NUMA node, nothing to compare it with",
                     f"{slow.workers} 个进程共拷贝 {number_text(slow.gb_s)} GB/s；只有一个 NUMA 节点，无从比较")  # fmt: skip
        return (_finding(Verdict.INCONCLUSIVE, alone, best, "nothing_to_compare", _ASK),)
    told = Text(
        f"node {slow.node} copies {number_text(slow.gb_s)} GB/s, node {fast.node} {number_text(fast.gb_s)} ({slow.workers} processes each)",
        f"节点 {slow.node} 拷贝 {number_text(slow.gb_s)} GB/s，节点 {fast.node} 为 {number_text(fast.gb_s)}（各 {slow.workers} 个进程）",
    )
    verdict, code = judged([_ratio(test) for test in good], 1.0, BANDS.at(promise))
    return (_finding(verdict, told, best, code, NO_TEXT if verdict is Verdict.PASS else _AGAIN if code == MEASURED_ONCE else _ASK),)


def to_repeat(copies: RamCopy, promise: Promise) -> tuple[str, ...]:
    """`copy` when the only test would fail: it is run once more at once."""
    return ("copy",) if len(copies.tests) == 1 and copies.tests[0].nodes and BANDS.at(promise).of(_ratio(copies.tests[0]), 1.0) is Verdict.FAIL else ()


def _rate(node: NodeRate) -> float:
    return node.gb_s


def _ratio(test: CopyTest) -> float:
    rates = [node.gb_s for node in test.nodes]
    return min(rates) / max(rates)


def _none(copies: RamCopy) -> Finding:
    last = copies.tests[-1] if copies.tests else None
    code = (last.code if last else "") or Reason.NOT_COLLECTED
    said = last.trouble if last else ""
    reason = Text(f"nothing was measured: {said}", f"没有测得结果：{said}") if said else Text("nothing was measured", "没有测得结果")
    return _finding(Verdict.INCONCLUSIVE, reason, None, str(code), _INSTALL if code == Reason.MISSING_TOOL else _AGAIN)


def _finding(verdict: Verdict, reason: Text, test: CopyTest | None, code: str, step: Text) -> Finding:
    nodes = test.nodes if test else ()
    slowest = round(min((n.gb_s for n in nodes), default=0.0), 2) if nodes else None
    subjects = [SubjectFinding(f"node{n.node}", verdict if n.gb_s == min(map(_rate, nodes)) else Verdict.PASS, round(n.gb_s, 2), n.node) for n in nodes]
    return CHECK.finding(
        verdict, reason, measured=slowest, unit="GB/s", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more"
    )
