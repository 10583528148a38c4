"""What does the command line say of a task, while it runs and afterwards?"""

from __future__ import annotations

from collections.abc import Iterator

from gpulease_gui.domain.finding import totals
from gpulease_gui.domain.task import TaskPhase, TaskProgress, TaskReading, TaskRun
from gpulease_gui.services.log_words import waiting_words
from gpulease_gui.services.outcome import finding_line
from gpulease_gui.services.task_end import LONGER, ROOM
from gpulease_gui.services.task_runs import TaskOutcome


def progress_line(progress: TaskProgress) -> str:
    """One line of how it stands."""
    if progress.phase is TaskPhase.SENDING:
        return f"sending: {progress.sent_bytes:,} of {progress.total_bytes:,} bytes"
    words = f"{progress.phase}: {progress.seconds:.0f} s, {progress.log_lines:,} lines"
    if progress.waits:
        words = f"{words}, {waiting_words(progress.waits).en}"
    if not progress.points:
        return words
    last = progress.points[-1]
    parts = [f"step {last.step}" if last.step is not None else "", f"loss {last.loss:g}" if last.loss is not None else ""]
    parts += [f"{rate:g} {unit}" for unit, rate in last.speeds]
    return ", ".join([words, *filter(None, parts)])


def result_lines(found: TaskOutcome) -> Iterator[str]:
    """The end of the task, its speeds, its findings, the verdict, what was kept."""
    task, outcome = found.task, found.outcome
    if outcome.error and outcome.run is None:
        yield f"{outcome.target}: not connected ({outcome.error.phase}): {outcome.error.reason}"
        yield f"  {outcome.error.next_step}"
        return
    yield f"{task.spec.name}: {task.end}{_code(task)}{_after(task)}{f': {task.reason.en}' if task.reason.en else ''}"
    if task.next_step.en:
        flag = {LONGER: " (--time-limit)", ROOM: " (--scratch-gib)"}.get(task.next_step, "")
        yield f"  {task.next_step.en}{flag}"
    for rate in task.reading.rates if task.reading else ():
        yield f"  {rate.median:g} {rate.unit} (p5 {rate.p5:g}, p95 {rate.p95:g}, {rate.n} values, drift {_percent(rate.drift)})"
    yield from (finding_line(finding) for finding in outcome.findings)
    counts = ", ".join(f"{number} {verdict}" for verdict, number in totals(outcome.findings).items() if number)
    yield f"{outcome.target}: {outcome.overall}{' (cancelled)' if outcome.cancelled else ''}; {counts}"
    if task.log_left_out:
        yield f"of the log of {task.log_bytes:,} bytes {task.log_left_out:,} in its middle were not kept"
    if task.left_processes:
        yield f"{task.left_processes} processes that it had left behind were ended"
    if task.kept_folder:
        yield f"kept on the node: {task.kept_folder} ({task.kept_bytes >> 10:,} KiB); remove it: {task.remove_command}"
    if task.clean is False:
        yield "something of it is still on the node"
    yield f"again: {task.repeat_command}"


def _code(task: TaskRun) -> str:
    return "" if task.exit_code is None else f" (exit code {task.exit_code})"


def _after(task: TaskRun) -> str:
    return "" if task.seconds is None else f" after {task.seconds:.0f} s"


def _percent(share: float | None) -> str:
    return "not told" if share is None else f"{share * 100:+.1f} %"


def task_json(task: TaskRun) -> dict[str, object]:
    """The keys of a task in the JSON of `gpulease workload`; secrets are dots."""
    spec, about = task.spec, task.environment
    return {
        "id": task.id, "name": spec.name, "source": {"kind": str(spec.source.kind), "place": spec.source.place}, "command": spec.command,
        "environment": {one.name: one.shown for one in spec.environment}, "time_limit_s": spec.time_limit_s, "pattern": spec.pattern,
        "size": {"bytes": spec.size.size_bytes, "entries": spec.size.entries} if spec.size else None,
        "end": str(task.end), "exit_code": task.exit_code, "reason": task.reason.en, "next_step": task.next_step.en, "seconds": task.seconds,
        "log": {"sha256": task.log_sha256, "bytes": task.log_bytes, "left_out_bytes": task.log_left_out},
        "reading": _reading_json(task.reading) if task.reading else None,
        "ran_with": {
            "driver": about.driver, "cuda": about.cuda, "torch": about.torch, "python": about.python, "container": about.container,
            "gpus": list(about.gpus),
        },
        "kept_folder": task.kept_folder or None, "kept_bytes": task.kept_bytes, "remove_command": task.remove_command or None,
        "left_processes": task.left_processes, "clean": task.clean, "again": task.repeat_command,
    }  # fmt: skip


def _reading_json(reading: TaskReading) -> dict[str, object]:
    return {
        "form": reading.form, "steps": reading.steps, "last_step": reading.last_step, "first_loss": reading.first_loss,
        "last_loss": reading.last_loss, "lines": reading.lines,
        "rates": {
            rate.unit: {"n": rate.n, "median": rate.median, "p5": rate.p5, "p95": rate.p95, "drift": rate.drift, "warmup": rate.warmup}
            for rate in reading.rates
        },
        "faults": [[fault.kind, fault.number, fault.line] for fault in reading.faults],
        "points": [[point.at_s, point.step, point.loss, dict(point.speeds)] for point in reading.points],
    }  # fmt: skip
