"""How did the team's own task run on the node, and how can it be run again?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskPoint, TaskRun
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.document import (
    Block,
    Column,
    ColumnKind,
    Curve,
    LineChart,
    Mark,
    Pair,
    Pairs,
    Paragraph,
    SubHeading,
    Table,
    Tone,
    Words,
)
from gpulease_gui.reports.facts import EvaluationFacts, TaskBeside, TaskFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import NOT_READ, finding_name, moment

SECTION = Section("workload", 52, Text("The team's own task", "团队自有任务"))
TASKS_SHOWN, FAULTS_SHOWN, ROWS_SHOWN = 3, 6, 12
END_WORDS = {
    TaskEnd.FINISHED: Text("finished", "已完成"), TaskEnd.FAILED: Text("ended with an error", "出错结束"),
    TaskEnd.TIME_LIMIT: Text("stopped at its time limit", "到时停止"), TaskEnd.CANCELLED: Text("cancelled", "已取消"),
    TaskEnd.CUT: Text("cut off", "中断"), TaskEnd.REFUSED: Text("not run", "未予运行"), TaskEnd.NO_TOOL: Text("a program is missing on the node", "节点缺少程序"),
    TaskEnd.OUT_OF_SPACE: Text("ended because it wrote too much", "因写入超限而停止"), TaskEnd.ERROR: Text("an error of this program", "本程序出错"),
}  # fmt: skip
_SOURCES = {
    SourceKind.SCRIPT: Text("script", "脚本"), SourceKind.FOLDER: Text("folder", "文件夹"), SourceKind.BUILTIN: Text("built-in task", "内置任务"),
    SourceKind.LOG: Text("log", "日志"),
}  # fmt: skip
_SPEEDS = (
    Column(Text("Speed after the warm-up", "预热后的速度"), ColumnKind.TEXT, 2.0), Column(Text("median", "中位数"), ColumnKind.NUMBER),
    Column(Text("p5", "p5"), ColumnKind.NUMBER), Column(Text("p95", "p95"), ColumnKind.NUMBER),
    Column(Text("drift", "漂移"), ColumnKind.NUMBER), Column(Text("lines", "行数"), ColumnKind.NUMBER),
)  # fmt: skip
_JUDGED = (
    Column(Text("Check", "检查项"), ColumnKind.TEXT, 1.7), Column(Text("Verdict", "判定"), ColumnKind.BADGE, 1.3),
    Column(Text("Reason", "原因"), ColumnKind.TEXT, 4.5),
)  # fmt: skip
_FAULTS = (Column(Text("Line", "行"), ColumnKind.NUMBER, 0.6), Column(Text("Trouble in the log", "日志中的问题"), ColumnKind.TEXT, 6.0))

Value = Callable[[TaskPoint], float | None]
Named = tuple[str, Sequence[TaskPoint]]


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """The newest tasks of each node; nothing where none ran."""
    blocks: list[Block] = []
    for node in facts.nodes:
        for task in node.tasks[:TASKS_SHOWN]:
            blocks.append(SubHeading(foreign(f"{node.node.name} · {task.run.spec.name}"), task.verdict))
            blocks += _of_task(facts, task, node.node.name)
        if (left := len(node.tasks) - TASKS_SHOWN) > 0:
            blocks.append(Paragraph(Text(f"{left} earlier tasks are not shown.", f"另有 {left} 次较早的任务未列出。"), Tone.QUIET))
    return tuple(blocks)


def _of_task(facts: EvaluationFacts, task: TaskFacts, node: str) -> list[Block]:
    blocks: list[Block] = [Pairs(_about(facts, task.run), 2)]
    if task.findings:
        rows = tuple((Words(finding_name(f, facts.terms)), Mark(f.verdict), Words(f.reason)) for f in task.findings)
        blocks.append(Table(_JUDGED, rows))
    blocks += _reading(task.run)
    blocks += _charts(task, node)
    if task.beside is not None:
        blocks += _beside(facts, task.beside)
    if task.costs:
        blocks.append(Pairs(tuple(Pair(label, Words(amount)) for label, amount in task.costs), 1))
    if task.run.repeat_command:
        blocks += [Paragraph(Text("The same task again:", "重新运行同一任务："), Tone.QUIET), Paragraph(foreign(task.run.repeat_command), Tone.CODE)]
    return blocks


def _about(facts: EvaluationFacts, run: TaskRun) -> tuple[Pair, ...]:
    told, spec = run.environment, run.spec
    end = END_WORDS[run.end] if run.end else Text("still under way", "仍在运行")
    if run.reason.en and run.end is not TaskEnd.FINISHED:
        end = Text(f"{end.en}: {run.reason.en}", f"{end.zh}：{run.reason.zh}")
    seconds = foreign(f"{number_text(run.seconds, 1)} s") if run.seconds is not None else None
    kind = _SOURCES[spec.source.kind]
    rows: tuple[tuple[Text, Text | None], ...] = (
        (Text("Source", "来源"), Text(f"{kind.en} {spec.source.place}", f"{kind.zh} {spec.source.place}")),
        (Text("Command", "命令"), foreign(spec.command) if spec.command else None),
        (Text("Started", "开始"), foreign(moment(run.started_at, facts.zone))), (Text("Ended", "结束"), end), (Text("Length", "时长"), seconds),
        (Text("Driver", "驱动版本"), _told(told.driver)), (Text("CUDA", "CUDA 版本"), _told(told.cuda)), (Text("PyTorch", "PyTorch"), _told(told.torch)),
        (Text("Python", "Python"), _told(told.python)), (Text("Container", "容器"), _told(told.container) or Text("none", "无")),
        (Text("GPUs", "显卡"), foreign(str(len(told.gpus))) if told.gpus else None),
        (Text("Folder kept on the node", "节点上保留的目录"), _told(run.kept_folder) or Text("none, removed", "无，已删除")),
    )  # fmt: skip
    pairs = [Pair(label, Words(words) if words else NOT_READ) for label, words in rows]
    return (*pairs, Pair(Text("Log, SHA-256", "日志 SHA-256"), Words(foreign(run.log_sha256), Tone.CODE) if run.log_sha256 else NOT_READ))


def _told(words: str | None) -> Text | None:
    return foreign(words) if words else None


def _reading(run: TaskRun) -> list[Block]:
    reading = run.reading
    if reading is None:
        return [Paragraph(Text("The log tells neither loss nor speed.", "日志中没有损失与速度。"), Tone.QUIET)]
    first, last = _number(reading.first_loss, 4), _number(reading.last_loss, 4)
    words = Text(f"{reading.form or '?'}: {reading.steps} steps, loss {first} to {last}", f"{reading.form or '?'}：{reading.steps} 步，损失 {first} → {last}")
    blocks: list[Block] = [Paragraph(words)]
    if reading.rates:
        rows = tuple(
            tuple(Words(foreign(cell)) for cell in (r.unit, _number(r.median), _number(r.p5), _number(r.p95), _percent(r.drift), str(r.n)))
            for r in reading.rates
        )  # fmt: skip
        blocks.append(Table(_SPEEDS, rows))
    if reading.faults:
        rows = tuple((Words(foreign(str(f.number))), Words(foreign(f.line), Tone.CODE)) for f in reading.faults[:FAULTS_SHOWN])
        blocks.append(Table(_FAULTS, rows))
        if (left := len(reading.faults) - FAULTS_SHOWN) > 0:
            blocks.append(Paragraph(Text(f"{left} more such lines.", f"另有 {left} 行。"), Tone.QUIET))
    return blocks


def _number(value: float | None, decimals: int = 2) -> str:
    return "–" if value is None else number_text(value, decimals)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{number_text(round(share * 100, 1))} %"


def _charts(task: TaskFacts, node: str) -> list[Block]:
    """Each curve bears the name of its node."""
    reading = task.run.reading
    here = (node, reading.points if reading else ())
    there = (task.beside.node, task.beside.points) if task.beside else ("", ())
    unit = task.beside.unit if task.beside and task.beside.unit else next((r.unit for r in reading.rates), None) if reading else None
    loss = _chart(Text("loss", "损失"), "", here, there, lambda p: p.loss)
    rate = _chart(foreign(unit), unit, here, there, lambda p: dict(p.speeds).get(unit)) if unit else None
    return [chart for chart in (loss, rate) if chart is not None]


def _chart(title: Text, unit: str, here: Named, there: Named, value: Value) -> LineChart | None:
    """Both runs over the time since the start of the command: the axis begins with 00:00."""
    own = _curve(*here, value)
    curves = tuple(c for c in (own, _curve(*there, value)) if c is not None)
    if own is None:
        return None
    end = max(c.times_s[-1] for c in curves)
    both = Text("; with the reference run", "；含参考运行") if len(curves) > 1 else NO_TEXT
    caption = Text(f"{title.en}{both.en}; time since the start", f"{title.zh}{both.zh}；横轴为开始后的时间")
    return LineChart(caption, unit, curves, 0.0, max(end, 1.0))


def _curve(name: str, points: Sequence[TaskPoint], value: Value) -> Curve | None:
    told = [(p.at_s, v) for p in points if p.at_s is not None and (v := value(p)) is not None]
    if len(told) < 2:
        return None
    times, values = tuple(t for t, _ in told), tuple(v for _, v in told)
    return Curve(name, times, values, values)


def _step_columns(unit: str | None) -> tuple[Column, ...]:
    loss, speed = Text("loss", "损失"), foreign(unit) if unit else Text("speed", "速度")
    heads = [Text("Steps", "步"), *(head for one in (loss, speed) for head in (one, Text(f"{one.en}, reference", f"{one.zh}（参考）")))]
    return tuple(Column(head, ColumnKind.NUMBER) for head in heads)


def _beside(facts: EvaluationFacts, beside: TaskBeside) -> list[Block]:
    where = f"{beside.node}, {moment(beside.started_at, facts.zone)}"
    tone = Tone.FAIL if beside.verdict is Verdict.FAIL else Tone.STRONG
    blocks: list[Block] = [Paragraph(Text(f"{beside.words.en} (reference: {where})", f"{beside.words.zh}（参考：{where}）"), tone)]
    blocks += [Paragraph(note, Tone.QUIET) for note in beside.notes]
    shown = beside.rows[:: max(1, -(-len(beside.rows) // ROWS_SHOWN))]
    if shown:
        blocks.append(Table(_step_columns(beside.unit), tuple(
            tuple(Words(foreign(cell)) for cell in (
                str(row.first) if row.first == row.last else f"{row.first}–{row.last}", _number(row.loss, 4), _number(row.loss_reference, 4),
                _number(row.rate), _number(row.rate_reference),
            )) for row in shown
        )))  # fmt: skip
    return blocks
