"""Does the agreed task train as fast as the contract says, by its own log?"""

from __future__ import annotations

import math

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, PROMISE, PROMISE_ITSELF, Bands, band_marks
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_runs import ABOVE
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.train_curve import Rates, Unit
from gpulease_gui.facts.train_faults import Fault, FaultKind
from gpulease_gui.facts.train_log import ENOUGH, TASK_FAILED, TrainLog

TERMS = {"work.tokens_s": Unit.TOKENS_S, "work.samples_s": Unit.SAMPLES_S, "work.step_s": Unit.STEP_S}
USE = "work.gpu_util_percent"
BANDS = band_marks("work.task", 1.0, 0.9, PROMISE, pass_origin=Origin.SPEC, pass_source=PROMISE_ITSELF)
REFERENCE = band_marks("work.task", 0.95, 0.85, Text("the reference run", "参考运行"), name="reference")
LOSS_APART = Threshold(
    "work.task", "loss_apart", 0.05, SHARE, Text("loss differs from the reference run by more than", "损失与参考运行相差超过"), ">", high=1.0
)
DRIFT = Threshold("work.task", "drift", 0.07, SHARE, Text("slower over the run by more than", "全程变慢超过此比例"), ">", high=1.0)
# A unit taken for another one is wrong by its size, a GPU or a batch: no node is ten times better than it was sold.
TOO_GOOD = Threshold(
    "work.task", "too_good", 10.0, SHARE, Text("the unit is in doubt above (share of the promise)", "超过承诺值此倍数即怀疑单位"), ">", low=1.0
)

CHECK = Check(
    id="work.task",
    title=Text("The agreed task by its log", "约定任务（按日志）"),
    why=Text("The team's own training is the measure that counts: the contract can name it, and its log proves it.",
             "团队自己的训练才是最终标准：合同可以写明，日志可以证明。"),  # fmt: skip
    facts=("train_log",),
    terms=(*TERMS, USE),
    level=3,
    rule_version=3,
    ask=Text("Which speed of which task is promised: tokens/s, samples/s or seconds per step?", "承诺哪个任务的什么速度：token/s、样本/s 还是单步秒数？"),
    thresholds=(*BANDS.both, TOO_GOOD, DRIFT, *REFERENCE.both, LOSS_APART),
)
_KIND_WORDS = {
    FaultKind.NAN_LOSS: Text("NaN or Inf in loss or gradients", "损失或梯度出现 NaN 或 Inf"), FaultKind.OUT_OF_MEMORY: Text("out of memory", "显存或内存不足"),
    FaultKind.CUDA: Text("a CUDA error", "CUDA 错误"), FaultKind.NCCL: Text("an NCCL error", "NCCL 错误"),
    FaultKind.STALL: Text("a data loader that stalls", "数据加载停滞"), FaultKind.KILLED: Text("a process that was killed", "进程被杀死"),
}  # fmt: skip
_ASK = Text("ask the supplier why the node is slower than promised, with both logs", "请将两次日志发给供应商，询问节点为何低于承诺")
_UNIT = Text("compare the unit of the log with that of the promise: per GPU or in all, per second or per step", "请核对日志与承诺值的单位：单卡还是合计，每秒还是每步")
_AGAIN = Text("run the task once more on the idle node with the same settings", "请在节点空闲时用相同设置再跑一次")
_WATCH = Text("watch the node while the task runs", "请在任务运行时监测该节点")
_TELL = Text("let the task print this figure, or write a pattern that reads it", "请让任务打印该数值，或编写能读取它的模式")
_WHY = Text("read the last lines of the log: they say why it broke off", "请查看日志最后几行，了解中断原因")
_READ = Text("read the log around this line; health.xid and nvlink.errors say whether the node is the cause", "请查看该行前后的日志；health.xid 与 nvlink.errors 可判断是否节点所致")


def judge(log: TrainLog, promise: Promise) -> tuple[Finding, ...]:
    """One finding for each promised speed (medians after the warm-up), and one for the faults in the log."""
    found = [_speed(term, unit, log, promise) for term, unit in TERMS.items() if promise.get(term)]
    if promise.get(USE) and log.about.end:
        found.append(_use(log, promise))
    return (*found, _health(log, promise))


def _speed(term: str, unit: Unit, log: TrainLog, promise: Promise) -> Finding:
    stated, told = promise.get(term), log.speed(unit)
    figure, better = stated.number if stated else 0.0, "less" if unit is Unit.STEP_S else "more"
    if told is None:
        words, code, step = _untold(unit, log)
        return CHECK.finding(Verdict.INCONCLUSIVE, words, term=term, promised=figure, unit=unit, reason_code=code, next_step=step, basis=Basis.MEASURED)
    share = figure / told.median if better == "less" and told.median > 0 else told.median / figure
    before = _before(unit, promise)
    last = None if before is None or before <= 0 else figure / before if better == "less" else before / figure
    verdict, code, step = _judged(share, last, BANDS.at(promise))
    words = _words(told, share, last)
    if share > promise.limit(TOO_GOOD):
        words = Text(f"{words.en}: is the unit right?", f"{words.zh}：单位是否正确？")
        verdict, code, step = Verdict.INCONCLUSIVE, ABOVE, _UNIT
    elif verdict is Verdict.PASS and log.about.failed:
        verdict, code, step = Verdict.INCONCLUSIVE, TASK_FAILED, _WHY
    rounded = float(f"{told.median:.5g}")
    measured = told.median if rounded == figure else rounded
    return CHECK.finding(
        verdict, words, term=term, promised=figure, measured=measured, unit=unit, subjects=(SubjectFinding("task", verdict, measured),),
        reason_code=code, next_step=step, basis=Basis.MEASURED, better=better,
    )  # fmt: skip


def _untold(unit: Unit, log: TrainLog) -> tuple[Text, str, Text]:
    """Why there is no speed: by the fault that came before it could be told, if there is one."""
    words = Text(f"the log does not tell {unit}", f"日志没有给出 {unit}")
    if not log.faults:
        return words, "not_told", _TELL
    fault = _fault_words(log.faults)
    return Text(f"{words.en} after its warm-up: {fault.en}", f"{words.zh}（预热之后）：{fault.zh}"), str(log.faults[0].kind), _READ


def _judged(share: float, last: float | None, bands: Bands) -> tuple[Verdict, str, Text]:
    """One slow run can be bad luck and only warns; with a slow one just before it, it is none: then the supplier is asked."""
    verdict = bands.of(share, 1.0)
    if verdict is Verdict.PASS:
        return verdict, "", NO_TEXT
    if verdict is Verdict.WARN or last is None:
        return Verdict.WARN, "rate_low" if verdict is Verdict.WARN else MEASURED_ONCE, _AGAIN
    return (Verdict.FAIL, "rate_low", _ASK) if bands.of(last, 1.0) is Verdict.FAIL else (Verdict.WARN, "rate_low", _AGAIN)


def _before(unit: Unit, promise: Promise) -> float | None:
    """The speed of the newest earlier run of this task on this node that tells it."""
    runs = promise.history.same_task if promise.history else ()
    return next((rate.median for run in runs for rate in run if rate.unit == str(unit) and rate.n >= ENOUGH), None)


def _use(log: TrainLog, promise: Promise) -> Finding:
    """The median use of the least used GPU beside the task."""
    stated, used = promise.get(USE), log.about.gpu_use
    figure = stated.number if stated else 0.0
    if not used:
        words = Text("nobody told how busy the GPUs were while it ran", "运行期间无从得知显卡忙闲")
        return CHECK.finding(Verdict.INCONCLUSIVE, words, term=USE, promised=figure, unit="%", reason_code="not_visible", next_step=_WATCH, basis=Basis.MEASURED)
    share = min(value for _, value in used)
    bands = BANDS.at(promise)
    # One run only warns, as of the speeds.
    subjects = tuple(SubjectFinding(uuid, Verdict.PASS if bands.of(value, figure) is Verdict.PASS else Verdict.WARN, value) for uuid, value in used)
    verdict = worst(one.verdict for one in subjects)
    code, step = ("", NO_TEXT) if verdict is Verdict.PASS else ("gpu_starved", _AGAIN)
    words = Text(f"the least used of {len(used)} GPUs was busy {number_text(share)} % of the time", f"{len(used)} 卡中利用率最低的一张为 {number_text(share)}%")
    return CHECK.finding(
        verdict, words, term=USE, promised=figure, measured=share, unit="%", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip


def _words(told: Rates, share: float, last: float | None) -> Text:
    median, low, high = (number_text(value, 2) for value in (told.median, told.p5, told.p95))
    en = f"{median} {told.unit} in the middle of {told.n} lines (p5 {low}, p95 {high}), {_percent(share)} % of the promise"
    zh = f"{told.n} 行的中位数为 {median} {told.unit}（p5 {low}，p95 {high}），为承诺值的 {_percent(share)}%"
    if last is None or share >= 1:
        return Text(en, zh)
    return Text(f"{en}; {_percent(last)} % in the run before", f"{zh}；上一次运行为 {_percent(last)}%")


def _percent(share: float) -> str:
    """Rounded down below the whole: what is not reached is never called 100 %."""
    if share >= 1:
        return number_text(share * 100, 0)
    places = 3 if number_text(share * 100, 0) == "100" else 0
    return f"{math.floor(share * 100 * 10**places + 1e-9) / 10**places:g}"


def _health(log: TrainLog, promise: Promise) -> Finding:
    """Faults in the log, and a run that slows down."""
    if log.faults:
        return CHECK.finding(Verdict.WARN, _fault_words(log.faults), reason_code=str(log.faults[0].kind), next_step=_READ, basis=Basis.MEASURED)
    if log.about.failed:
        return CHECK.finding(Verdict.INCONCLUSIVE, _failed_words(log), reason_code=TASK_FAILED, next_step=_WHY, basis=Basis.MEASURED)
    main = next((rate for rate in log.rates if rate.drift is not None), None)
    slower = 0.0 if main is None or main.drift is None else main.drift if main.unit is Unit.STEP_S else -main.drift
    if slower > promise.limit(DRIFT):
        percent = number_text(slower * 100)
        words = Text(f"the run slows down by {percent} % from its first quarter to its last", f"从前四分之一到后四分之一变慢了 {percent}%")
        return CHECK.finding(Verdict.WARN, words, reason_code="slows_down", next_step=_READ, basis=Basis.MEASURED)
    words = Text(f"{log.form}: {log.steps} steps without a fault", f"{log.form}：{log.steps} 步无错误")
    return CHECK.finding(Verdict.PASS, words, basis=Basis.MEASURED)


def _failed_words(log: TrainLog) -> Text:
    code = log.about.exit_code
    en, zh = ("", "") if code is None else (f" with exit code {code}", f"，退出码 {code}")
    return Text(f"the task broke off{en} after {log.steps} steps", f"任务在 {log.steps} 步后中断{zh}")


def _fault_words(faults: tuple[Fault, ...]) -> Text:
    first = faults[0]
    what, more = _KIND_WORDS[first.kind], len(faults) - 1
    en, zh = f"{what.en} in line {first.number}: {first.line}", f"第 {first.number} 行{what.zh}：{first.line}"
    return Text(f"{en}; {more} more lines", f"{zh}；另有 {more} 行") if more else Text(en, zh)
