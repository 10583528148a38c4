"""What is a check, and which are there?"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Value, Verdict, worst, worst_first
from gpulease_gui.domain.text import NO_TEXT, Text


class Vendor(StrEnum):
    """Which accelerators a check speaks of."""

    NVIDIA = "nvidia"
    ASCEND = "ascend"


GROUPS: Mapping[str, Text] = {
    "trust": Text("Trust", "可信"),
    "gpu": Text("Identity", "身份"),
    "npu": Text("Ascend NPU", "Ascend NPU"),
    "mem": Text("Identity", "身份"),
    "topo": Text("Interconnect", "互联"),
    "nvlink": Text("Interconnect", "互联"),
    "pcie": Text("Interconnect", "互联"),
    "nccl": Text("Interconnect", "互联"),
    "power": Text("Power & clocks", "功耗与频率"),
    "clock": Text("Power & clocks", "功耗与频率"),
    "thermal": Text("Power & clocks", "功耗与频率"),
    "health": Text("Health", "健康"),
    "perf": Text("Speed", "速度"),
    "work": Text("Speed", "速度"),
    "iso": Text("Isolation", "隔离"),
    "drv": Text("Driver & CUDA", "驱动与 CUDA"),
    "cpu": Text("CPU & memory", "CPU 与内存"),
    "ram": Text("CPU & memory", "CPU 与内存"),
    "disk": Text("Storage", "存储"),
    "net": Text("Network", "网络"),
    "rdma": Text("Network", "网络"),
    "evidence": Text("Trust", "可信"),
}
NOTHING_WRITTEN = Text("nothing", "不写入")


@dataclass(frozen=True, slots=True)
class Check:
    """One question to a node.

    `facts` are needed: without a reading of each the rule is not called. `optional` readings may be None.
    `terms` are the promises it judges; `needs_promise` False = it can pass without any of them.
    `partial`: a fail that is found in the readable part of a broken-off output stands; nothing else of it counts.
    `ask` is the question to the supplier when nobody stated the term. `writes` says what a measurement leaves or loads
    meanwhile, `takes_s` how long it usually takes at its full length (0: one reading). `level` 0 trust, 1 inventory
    and health, 2 probe, 3 load. `rule_version` goes up when the rule changes. `thresholds` are the figures that it compares with.
    """

    id: str
    title: Text
    why: Text
    facts: tuple[str, ...]
    optional: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    needs_promise: bool = True
    impact: Impact = Impact.PASSIVE
    level: int = 1
    vendor: Vendor | None = None
    ask: Text = NO_TEXT
    rule_version: int = 1
    partial: bool = False
    thresholds: tuple[Threshold, ...] = ()
    writes: Text = NOTHING_WRITTEN
    takes_s: int = 0

    @property
    def group(self) -> Text:
        """The heading that this check stands under."""
        return GROUPS.get(self.id.split(".")[0], Text(self.id.split(".")[0], self.id.split(".")[0]))

    def finding(
        self,
        verdict: Verdict,
        reason: Text,
        *,
        term: str | None = None,
        promised: Value = None,
        measured: Value = None,
        unit: str = "",
        subjects: Iterable[SubjectFinding] = (),
        reason_code: str = "",
        next_step: Text = NO_TEXT,
        basis: Basis = Basis.REPORTED,
        better: str | None = None,
        direction: str = "",
    ) -> Finding:
        """A finding of this check, subjects sorted worst first."""
        return Finding(
            self.id, verdict, reason, term, promised, measured, unit, worst_first(subjects), reason_code,
            next_step, basis, better, self.rule_version, direction=direction,
        )  # fmt: skip

    def of_subjects(self, subjects: Iterable[SubjectFinding], reason: Text, **more: object) -> Finding:
        """A finding whose verdict is the worst of its subjects (inconclusive when there are none)."""
        kept = tuple(subjects)
        verdict = worst(s.verdict for s in kept) if kept else Verdict.INCONCLUSIVE
        return self.finding(verdict, reason, subjects=kept, **more)  # type: ignore[arg-type]

    def not_promised(self, term: str, measured: Value, *, unit: str = "", subjects: Iterable[SubjectFinding] = (),
                     basis: Basis = Basis.REPORTED) -> Finding:  # fmt: skip
        """The reading of a term that nobody stated: shown, not judged, with the question to the supplier."""
        return self.finding(
            Verdict.INCONCLUSIVE,
            Text("nobody promised this, so there is nothing to compare with", "没有人承诺过这一项，无从比较"),
            term=term, measured=measured, unit=unit, subjects=subjects, reason_code=Reason.NOT_PROMISED,
            next_step=self.ask, basis=basis,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its judge: `judge(*readings of facts, *readings of optional or None, promise)`."""

    check: Check
    judge: Callable[..., tuple[Finding, ...]]


@cache
def rules() -> Mapping[str, Rule]:
    """All checks by id, found by looking in this folder."""
    found: dict[str, Rule] = {}
    package = importlib.import_module("gpulease_gui.checks")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        if not hasattr(module, "CHECK"):
            continue
        check: Check = module.CHECK
        if check.id in found:
            raise ValueError(f"two checks are called {check.id}")
        found[check.id] = Rule(check, module.judge)
    return dict(sorted(found.items()))
