"""Was one of these cards here under another name, or turned away before?"""

from __future__ import annotations

from collections import Counter

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.history import NO_HISTORY, NO_HISTORY_WORDS, Elsewhere, History
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="gpu.uuid_unique",
    title=Text("Cards not seen before", "没有见过的卡"),
    why=Text(
        "A card that failed in one node comes back in another; a forged report repeats a UUID.",
        "在一个节点上不合格的卡会换个节点再来；伪造的输出会重复 UUID。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_REPLACE = Text("ask the supplier for another card: this one failed before", "请供应商换卡：这张卡此前不合格")
_FORGED = Text("run `nvidia-smi -L` by hand: no two cards have one UUID", "手动运行 `nvidia-smi -L`：两张卡不会有同一个 UUID")
_MOVED = Text("ask the supplier when the card was moved", "请供应商说明该卡何时调换过来")
_TWICE = Text("ask the supplier for a card of its own for each node", "请供应商为每个节点提供各自的卡")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the UUID."""
    if not report.gpus:
        return ()
    counts = Counter(mark for gpu in report.gpus for mark in (gpu.uuid, gpu.serial) if mark)
    marks = [(gpu, _repeated(gpu, counts) or _mark(gpu, promise.history)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),)


def _repeated(gpu: Gpu, counts: Counter[str]) -> Mark | None:
    twice = next((mark for mark in (gpu.uuid, gpu.serial) if mark and counts[mark] > 1), None)
    if twice is None:
        return None
    # A dual-chip board has one serial number; a UUID belongs to one chip.
    if twice != gpu.uuid:
        return None
    return Mark(Verdict.FAIL, Text(f"{twice} stands there more than once", f"{twice} 重复出现"), "repeated", gpu.uuid, _FORGED)


def _mark(gpu: Gpu, history: History | None) -> Mark:
    if history is None:
        return Mark(Verdict.INCONCLUSIVE, NO_HISTORY_WORDS, NO_HISTORY, gpu.uuid)
    if gpu.uuid is None and gpu.serial is None:
        told = Text("the card tells neither UUID nor serial number", "该卡没有给出 UUID 或序列号")
        return Mark(Verdict.INCONCLUSIVE, told, Reason.UNREADABLE)
    seen = [s for s in history.elsewhere if s.kind in ("uuid", "serial") and s.value in (gpu.uuid, gpu.serial)]
    if not seen:
        return Mark(Verdict.PASS, Text("not seen on any other node", "未在其他节点见过"), "", gpu.uuid)
    return _seen(gpu, seen, history)


def _seen(gpu: Gpu, seen: list[Elsewhere], history: History) -> Mark:
    faulty = next((s for s in reversed(seen) if s.faulty), None)
    if faulty:
        words = Text(f"it failed in {faulty.node} on {faulty.day}", f"{faulty.day} 在 {faulty.node} 上不合格")
        return Mark(Verdict.FAIL, words, "failed_before", gpu.uuid, _REPLACE)
    last, sliced = seen[-1], gpu.mig_mode_current == "Enabled"
    words = Text(f"seen in {last.node} on {last.day}", f"{last.day} 在 {last.node} 见过")
    if sliced:
        return Mark(Verdict.PASS, Text(f"a slice, {words.en} too", f"切片，{words.zh}"), "", gpu.uuid)
    if any(history.at_the_same_time(s) for s in seen):
        return Mark(Verdict.FAIL, words, "sold_twice", gpu.uuid, _TWICE)
    return Mark(Verdict.WARN, words, "seen_elsewhere", gpu.uuid, _MOVED)
