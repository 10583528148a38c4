"""Is a task as fast here as in its reference run, and does it learn the same, step by step?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, judged
from gpulease_gui.checks.work_task import LOSS_APART, REFERENCE
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.task import TaskPoint, TaskReading, TaskRun
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.train_curve import Unit

MOST_ROWS = 40
# A tenth at the start is warm-up: there two runs differ by chance.
_WARM = 10
_NOISE = 0.01  # two timings of the same thing differ by so much
_ORDER = (Unit.TOKENS_S, Unit.SAMPLES_S, Unit.TOKENS_S_GPU, Unit.STEP_S, Unit.TFLOPS)


@dataclass(frozen=True, slots=True)
class StepRow:
    """Steps `first` to `last`: the medians of both runs (None = not told). `share`: speed here as a part of the reference's."""

    first: int
    last: int
    loss: float | None
    loss_reference: float | None
    rate: float | None
    rate_reference: float | None
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Overlay:
    """One quantity of both runs over the steps, for one picture; `unit` is `loss` or one of speed."""

    unit: str
    here: tuple[tuple[int, float], ...]
    reference: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run beside its reference. `share`: median speed after the warm-up as a part of the reference's, of the better run.

    `notes` say what else differs between the two, such as driver or command.
    """

    run: TaskRun
    reference: TaskRun
    verdict: Verdict
    words: Text
    next_step: Text
    unit: str | None
    share: float | None
    rows: tuple[StepRow, ...]
    overlays: tuple[Overlay, ...]
    notes: tuple[Text, ...] = ()


_AGAIN = Text("run the task once more on the idle node: one slow run proves nothing", "请在节点空闲时再跑一次：单次偏慢不足为据")
_ASK = Text("ask the supplier why this node is slower, with this table", "请将本表发给供应商，询问该节点为何更慢")
_SEED = Text("check that both runs had the same data, seed and precision; else one node computes wrong results (perf.bf16, health.xid)",
             "请确认两次运行的数据、随机种子与精度相同；否则可能有节点算错（perf.bf16、health.xid）")  # fmt: skip
_TELL = Text("let the task print its speed in the same unit in both runs", "请让任务在两次运行中以相同单位打印速度")


def compare(run: TaskRun, reference: TaskRun, promise: Promise, again: Iterable[TaskRun] = ()) -> Comparison:
    """Both runs beside each other; `again` are other runs of this task on this node: two slow ones are needed for a fail."""
    here, there = _points(run), _points(reference)
    unit = _unit(run.reading, reference.reading)
    rows = _rows(here, there, unit)
    rates = _speeds([run, *again], unit) if unit else []
    whole = _speeds([reference], unit) if unit else []
    share = max(rates) / whole[0] if rates and whole and whole[0] > 0 else None
    verdict, words, step = _judged(rates, whole[0] if share is not None else None, unit, rows, promise)
    overlays = tuple(o for o in (_overlay("loss", here, there), _overlay(unit, here, there) if unit else None) if o is not None)
    return Comparison(run, reference, verdict, words, step, unit, share, rows, overlays, _notes(run, reference))


def _points(run: TaskRun) -> list[tuple[int, TaskPoint]]:
    """Each point with its step; one without takes the last that was told. A resumed run that steps back counts anew."""
    told: list[tuple[int, TaskPoint]] = []
    step = 0
    for point in run.reading.points if run.reading else ():
        if point.step is not None and point.step < step:
            told = [one for one in told if one[0] < point.step]
        step = step if point.step is None else point.step
        told.append((step, point))
    return told


def _unit(one: TaskReading | None, other: TaskReading | None) -> str | None:
    if one is None or other is None:
        return None
    both = {r.unit for r in one.rates} & {r.unit for r in other.rates}
    return next((str(unit) for unit in _ORDER if unit in both), None)


def _speeds(runs: Iterable[TaskRun], unit: str) -> list[float]:
    """The medians after the warm-up, more = faster."""
    told = [rate.median for run in runs if run.reading for rate in run.reading.rates if rate.unit == unit and rate.median > 0]
    return [1 / value for value in told] if unit == Unit.STEP_S else told


def _rows(here: Sequence[tuple[int, TaskPoint]], there: Sequence[tuple[int, TaskPoint]], unit: str | None) -> tuple[StepRow, ...]:
    """At most forty stretches of the steps that both runs came to."""
    if not here or not there:
        return ()
    first, last = max(here[0][0], there[0][0]), min(max(s for s, _ in here), max(s for s, _ in there))
    width = max(1, -(-(last - first + 1) // MOST_ROWS))
    made = (_row(begin, min(last, begin + width - 1), here, there, unit) for begin in range(first, last + 1, width))
    return tuple(row for row in made if any(v is not None for v in (row.loss, row.loss_reference, row.rate, row.rate_reference)))


def _row(first: int, last: int, here: Sequence[tuple[int, TaskPoint]], there: Sequence[tuple[int, TaskPoint]], unit: str | None) -> StepRow:
    a, b = ([point for step, point in run if first <= step <= last] for run in (here, there))
    rate, other = (_middle(dict(p.speeds).get(unit) for p in run) if unit else None for run in (a, b))
    share = None
    if rate and other:
        share = other / rate if unit == Unit.STEP_S else rate / other
    return StepRow(first, last, _middle(p.loss for p in a), _middle(p.loss for p in b), rate, other, share)


def _middle(values: Iterable[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return median(told) if told else None


def _judged(
    rates: Sequence[float], whole: float | None, unit: str | None, rows: Sequence[StepRow], promise: Promise
) -> tuple[Verdict, Text, Text]:
    apart = _loss_apart(rows, promise)
    if whole is None or not rates or unit is None:
        words = Text("the two runs tell no speed in one unit", "两次运行没有给出同一单位的速度")
        return (Verdict.WARN, _both(apart, words), _SEED) if apart.en else (Verdict.INCONCLUSIVE, words, _TELL)
    verdict, code = judged(rates, whole, REFERENCE.at(promise))
    words = _speed_words(rates, whole, unit)
    if verdict is not Verdict.PASS:
        return verdict, _both(words, apart), _AGAIN if code == MEASURED_ONCE or len(rates) < 2 else _ASK
    return (Verdict.WARN, _both(words, apart), _SEED) if apart.en else (verdict, words, NO_TEXT)


def _speed_words(rates: Sequence[float], whole: float, unit: str) -> Text:
    best, share = max(rates), max(rates) / whole
    own, other = (number_text(1 / v if unit == Unit.STEP_S else v, 2) for v in (best, whole))
    percent = number_text(round(abs(share - 1) * 100, 1))
    tail = Text(f"{own} against {other} {unit}", f"{own} 对 {other} {unit}")
    if abs(share - 1) < _NOISE:
        return Text(f"as fast as the reference ({tail.en})", f"与参考运行一样快（{tail.zh}）")
    how = Text("slower", "慢") if share < 1 else Text("faster", "快")
    of = Text(f"; the better of {len(rates)} runs", f"；{len(rates)} 次中较好的一次") if len(rates) > 1 else NO_TEXT
    return Text(f"{how.en} than the reference by {percent} % ({tail.en}{of.en})", f"比参考运行{how.zh} {percent}%（{tail.zh}{of.zh}）")


def _loss_apart(rows: Sequence[StepRow], promise: Promise) -> Text:
    """Words for the first row in which the losses differ by more than the mark; the warm-up is passed over."""
    limit = promise.limit(LOSS_APART)
    for row in rows[len(rows) // _WARM :]:
        if row.loss is None or not row.loss_reference:
            continue
        apart = abs(row.loss - row.loss_reference) / abs(row.loss_reference)
        if apart > limit:
            mark, at = number_text(limit * 100), number_text(round(apart * 100, 1))
            own, other = number_text(row.loss, 3), number_text(row.loss_reference, 3)
            return Text(f"loss apart by more than {mark} % from step {row.first} on: {own} against {other} ({at} %)",
                        f"自第 {row.first} 步起损失相差超过 {mark}%：{own} 对 {other}（{at}%）")  # fmt: skip
    return NO_TEXT


def _both(one: Text, other: Text) -> Text:
    return Text(f"{one.en}; {other.en}", f"{one.zh}；{other.zh}") if other.en else one


def _overlay(unit: str, here: Sequence[tuple[int, TaskPoint]], there: Sequence[tuple[int, TaskPoint]]) -> Overlay | None:
    a, b = (tuple((step, v) for step, p in run if (v := p.loss if unit == "loss" else dict(p.speeds).get(unit)) is not None) for run in (here, there))
    return Overlay(unit, a, b) if a and b else None


def _notes(run: TaskRun, reference: TaskRun) -> tuple[Text, ...]:
    """What differs between the two runs besides their speed."""
    one, other = run.environment, reference.environment
    pairs = (
        (Text("driver", "驱动"), one.driver, other.driver), (Text("CUDA", "CUDA"), one.cuda, other.cuda), (Text("PyTorch", "PyTorch"), one.torch, other.torch),
        (Text("container", "容器"), one.container, other.container), (Text("command", "命令"), run.spec.command, reference.spec.command),
        (Text("number of GPUs", "卡数"), str(len(one.gpus)) if one.gpus else None, str(len(other.gpus)) if other.gpus else None),
    )  # fmt: skip
    return tuple(Text(f"{name.en}: {a}, reference {b}", f"{name.zh}：{a}，参考为 {b}") for name, a, b in pairs if a and b and a != b)
