"""Does a small model train on all GPUs of the node, does its loss fall, and how fast is it?"""

from __future__ import annotations

from dataclasses import replace

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_words import BUSY_BEFORE, LOAD_MARKS, explained
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import band_marks, judged
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.checks.torch_rates import tempered
from gpulease_gui.checks.torch_runs import ASK_SLOW, BY_HAND, heads_with_result, product_of, without_result
from gpulease_gui.checks.yardstick import own_median
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.threshold import JudgedBy
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_train import TorchTrain, TrainRun

BANDS = band_marks("work.train", 0.9, 0.8, Text("own nodes with these GPUs", "同型号自有节点"))
FALLS = Threshold(
    "work.train", "falls", 0.9, SHARE, Text("the loss falls if its end is at most (share of its start)", "末尾损失不高于开头此比例即为下降"), "<=", high=1.0
)

CHECK = Check(
    id="work.train",
    title=Text("A small training", "小型训练任务"),
    why=Text("Driver, framework, links and every GPU must work together: a node can pass each small test and hang here.",
             "驱动、框架、互联和每张卡必须一起工作：单项都通过的节点，仍可能卡在这里。"),  # fmt: skip
    facts=("torch_train",),
    optional=("smi_xml",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.NVIDIA,
    takes_s=120,
    writes=Text("one small program file in a scratch folder, removed at the end; all GPUs are used alone",
                "临时目录中的一个小程序文件，结束后删除；测试独占全部显卡"),  # fmt: skip
    thresholds=(*BANDS.both, FALLS, BUSY_BEFORE, *LOAD_MARKS),
)
_BAD_LOSS = Text("run health.xid and perf.bf16 on this node: one GPU may compute wrong results", "请在该节点上运行 health.xid 与 perf.bf16：可能有卡算错")
_WAIT = Text("keep this run: the median of five own nodes with these GPUs becomes the yardstick", "请保留本次结果：五台同型号自有节点的中位数将成为参照")
_LOG = Text("read the last lines of the task; NCCL errors point at links and shared memory", "请查看任务最后几行；NCCL 错误多与互联、共享内存有关")


def judge(found: TorchTrain, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured are tokens a second over all GPUs, the better run's median after the warm-up."""
    heads = [run.head for run in found.runs]
    if bad := next((run for run in found.runs if run.bad_step is not None), None):
        words = Text(f"the loss is NaN or Inf at step {bad.bad_step}", f"第 {bad.bad_step} 步损失为 NaN 或 Inf")
        return (_finding(Verdict.FAIL, words, "nan_loss", _BAD_LOSS, bad),)
    if died := next((run for run in found.runs if run.head.error), None):
        words = Text(f"the training broke off: {died.head.error}", f"训练中断：{died.head.error}")
        return (_finding(Verdict.FAIL, words, "process_died", _LOG, died),)
    told = [run for run in found.runs if run.tokens_s is not None and run.head.on_gpu and run.head.cards]
    if not told or not heads_with_result(heads):
        return (without_result(CHECK, heads),)
    best = max(told, key=lambda run: run.tokens_s or 0.0)
    if best.tokens_s == 0:
        words = Text("0 tokens/s: the task ended well and nothing was trained", "0 token/s：任务正常结束，却什么也没训练")
        return (_finding(Verdict.FAIL, words, "nothing_computed", BY_HAND, best),)
    return (_judged(best, told, report, promise),)


def _judged(best: TrainRun, told: list[TrainRun], report: SmiReport | None, promise: Promise) -> Finding:
    first, last = best.steps[0].loss or 0.0, best.steps[-1].loss or 0.0
    words, own = _words(best, first, last, promise), _yardstick(best, report, promise)
    if last > first * promise.limit(FALLS):
        return _finding(Verdict.WARN, words, "loss_flat", _BAD_LOSS, best)
    if not best.head.complete:
        return _finding(Verdict.INCONCLUSIVE, words, str(Reason.CUT_OFF), _LOG, best)
    if own is None:
        return _finding(Verdict.PASS, Text(f"{words.en}; no own node to compare the speed with", f"{words.zh}；没有自有节点可比速度"), "", _WAIT, best)
    verdict, code = judged([run.tokens_s or 0.0 for run in told], own.value, BANDS.at(promise))
    share = number_text((best.tokens_s or 0.0) / own.value * 100, 0)
    full = Text(f"{words.en}; {share} % of the median of own nodes ({own.source})", f"{words.zh}；为自有节点中位数（{own.source}）的 {share}%")
    verdict, code, step = tempered(verdict, code, ASK_SLOW, [run.head for run in told], promise)
    return replace(_finding(verdict, full, code, step, best), judged_by=(own,))


def _words(run: TrainRun, first: float, last: float, promise: Promise) -> Text:
    rate, each = number_text(run.tokens_s or 0.0, 0), number_text(run.tflops_gpu or 0.0)
    en = f"{rate} tokens/s on {run.gpus or len(run.head.cards)} GPUs ({each} TFLOP/s each), loss {first:.2f} to {last:.2f} in {len(run.steps)} steps"
    zh = f"{run.gpus or len(run.head.cards)} 卡 {rate} token/s（每卡 {each} TFLOP/s），{len(run.steps)} 步损失 {first:.2f} → {last:.2f}"
    why = next((words for card in run.head.cards if (words := explained(run.head.looks_at(card), promise)).en), NO_TEXT)
    return Text(f"{en}; {why.en}", f"{zh}；{why.zh}") if why.en else Text(en, zh)


def _yardstick(run: TrainRun, report: SmiReport | None, promise: Promise) -> JudgedBy | None:
    """The median of own nodes with as many of these GPUs; others do not run this very task."""
    product = product_of(run.head.cards[0], report, promise)
    return own_median(promise, CHECK.id, product, direction=_direction(run)) if product else None


def _direction(run: TrainRun) -> str:
    return f"{run.gpus or len(run.head.cards)} GPUs"


def _finding(verdict: Verdict, words: Text, code: str, step: Text, run: TrainRun) -> Finding:
    measured = round(run.tokens_s, 1) if run.tokens_s is not None else None
    subjects = (SubjectFinding("node", verdict, measured),)
    return CHECK.finding(
        verdict, words, measured=measured, unit="tokens/s", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more",
        direction=_direction(run),
    )  # fmt: skip
