"""Do disk and processors keep the GPUs busy in a training?"""

from __future__ import annotations

from statistics import median

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, PROMISE, band_marks, judged
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.checks.torch_rates import unless_cut
from gpulease_gui.checks.torch_runs import AGAIN, without_result
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_train import TorchTrain, TrainRun

TERM = "work.gpu_util_percent"
BANDS = band_marks("work.loader", 1.0, 0.9, PROMISE)
BUSY = Threshold("work.loader", "busy", 90.0, "%", Text("the GPUs are well fed from this use on", "利用率达到此值即供数充足"), ">=", high=100.0)
WAITS = Threshold("work.loader", "waits", 0.1, SHARE, Text("the GPUs wait for data in more than this share of the time", "等待数据的时间占比上限"), ">", high=1.0)

CHECK = Check(
    id="work.loader",
    title=Text("Data from disk to GPU", "磁盘到显卡的供数"),
    why=Text("GPUs that wait for a slow disk or too few cores cost as much as busy ones.", "等慢磁盘、等 CPU 的显卡，收费与满载时一样。"),
    facts=("torch_loader",),
    optional=("smi_xml",),
    terms=(TERM,),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.NVIDIA,
    ask=Text("What GPU use is promised while the task trains?", "承诺训练时 GPU 利用率达到多少？"),
    takes_s=90,
    writes=Text("a file of 1 GiB of tokens for each GPU in a scratch folder, removed at the end", "临时目录中每张卡一个 1 GiB 的 token 文件，结束后删除"),
    thresholds=(*BANDS.both, BUSY, WAITS),
)
_SLOW = Text("measure the disk (disk.seq, disk.rand) and the processors (cpu.quota, cpu.steal) of this node", "请检测该节点的磁盘（disk.seq、disk.rand）与 CPU（cpu.quota、cpu.steal）")


def judge(found: TorchTrain, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the median use of the least used GPU, in per cent as nvidia-smi counts it."""
    runs = [run for run in found.runs if run.head.on_gpu and run.head.cards and run.warm]
    if not runs:
        return (without_result(CHECK, [run.head for run in found.runs], TERM, promise),)
    uses = {id(run): _use(run) for run in runs}
    best = max(runs, key=lambda run: uses[id(run)] or 0.0)
    made = _judged(best, uses[id(best)], [use for use in uses.values() if use is not None], promise)
    return (unless_cut(made, [best.head]),)


def _use(run: TrainRun) -> float | None:
    """The median use of the least used card; None where nvidia-smi did not tell."""
    told = [[k.util_percent for k in run.head.looks_at(card) if k.util_percent is not None] for card in run.head.cards]
    return min((median(own) for own in told if own), default=None)


def _judged(run: TrainRun, use: float | None, uses: list[float], promise: Promise) -> Finding:
    stated, waited = promise.get(TERM), run.waited_share
    if use is None and (stated or waited is None):
        words = Text("nobody told how busy the GPUs were: nvidia-smi did not answer beside the task", "无从得知显卡忙闲：任务期间 nvidia-smi 没有应答")
        return _finding(Verdict.INCONCLUSIVE, words, "not_visible", AGAIN, None, promise)
    words = _words(use, waited, run)
    if stated:
        verdict, code = judged(uses, stated.number, BANDS.at(promise))
        step = NO_TEXT if verdict is Verdict.PASS else AGAIN if code == MEASURED_ONCE else _SLOW
        return _finding(verdict, words, code, step, use, promise)
    starved = (use is not None and use < promise.limit(BUSY)) or (waited is not None and waited > promise.limit(WAITS))
    return _finding(Verdict.WARN if starved else Verdict.PASS, words, "gpu_starved" if starved else "", _SLOW if starved else NO_TEXT, use, promise)


def _words(use: float | None, waited: float | None, run: TrainRun) -> Text:
    parts = [(f"least used GPU {number_text(use)} %", f"利用率最低的卡 {number_text(use)}%")] if use is not None else []
    parts += [(f"{number_text(waited * 100)} % of the time waited for data", f"{number_text(waited * 100)}% 的时间在等数据")] if waited is not None else []
    parts += [(f"read at {number_text(run.read_mb_s)} MB/s", f"读取 {number_text(run.read_mb_s)} MB/s")] if run.read_mb_s is not None else []
    return Text("; ".join(en for en, _ in parts), "；".join(zh for _, zh in parts))


def _finding(verdict: Verdict, words: Text, code: str, step: Text, use: float | None, promise: Promise) -> Finding:
    stated = promise.get(TERM)
    return CHECK.finding(
        verdict, words, term=TERM if stated else None, promised=stated.value if stated else None, measured=use, unit="%",
        subjects=(SubjectFinding("node", verdict, use),), reason_code=code, next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
