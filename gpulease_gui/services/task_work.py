"""How does one task go on one open line, from its environment to its verdict?"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable, UserFacing
from gpulease_gui.domain.finding import Finding, Reason
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import Clocks, utc_now
from gpulease_gui.domain.task import SourceKind, TaskEnd, TaskEnvironment, TaskPhase, TaskRun, TaskSpec, secrets_of
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.clock_now import ClockNow
from gpulease_gui.facts.fact import readers
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import combine_runs
from gpulease_gui.facts.torch_files import TorchFiles
from gpulease_gui.facts.train_log import LogAbout, TrainLog, head_line, log_of
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.task import TaskReport, follow_log, run_task
from gpulease_gui.remote.task_pack import Pack
from gpulease_gui.remote.task_wrap import HEAD_BYTES, TAIL_BYTES, TaskOrder
from gpulease_gui.remote.transport import ComputerSlept
from gpulease_gui.services.events import Bus, RunEnded, RunStarted, TaskEnded
from gpulease_gui.services.joined import run_to_join
from gpulease_gui.services.links import Opened
from gpulease_gui.services.lost_lines import why_lost
from gpulease_gui.services.measure import MEASURES
from gpulease_gui.services.outcome import Outcome, Trouble, current
from gpulease_gui.services.task_end import Ending, broken_off, cut_off, ending_of
from gpulease_gui.services.task_judge import TaskJudge
from gpulease_gui.services.task_live import OnProgress, TaskLive
from gpulease_gui.services.task_log import TaskLog, reading_of
from gpulease_gui.services.task_spec import Builtin, builtin_of, command_of, repeat_command
from gpulease_gui.services.task_watch import TaskWatch, gpu_use, stalls
from gpulease_gui.services.thresholds import effective
from gpulease_gui.services.watch import Watching
from gpulease_gui.store import claims, runs
from gpulease_gui.store.evidence import save_run_evidence
from gpulease_gui.store.records import Run, RunState, new_id
from gpulease_gui.store.task_runs import begin_task_run, finish_task_run, update_task_run
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from sqlite_utils import Database

LOG_FACT = "train_log"
# The log of a built-in task is evidence, too, but no training log to be judged.
OTHER_LOG = "task_log"
_BESIDE = ("clock_now", "smi_xml", "torch_files")
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class TaskParts:
    """What every task works with."""

    workspace: Workspace
    bus: Bus
    catalogue: Catalogue
    watching: Watching


@dataclass(frozen=True, slots=True)
class TaskAim:
    """What is to run where, and against what it is judged. `pack` None: a log is followed."""

    node: Node
    spec: TaskSpec
    pack: Pack | None
    terms: dict[str, TermValue]
    contract_id: str | None
    contract_label: str | None
    watch: bool


class TaskWork:
    """One task on one open line."""

    def __init__(self, parts: TaskParts, aim: TaskAim, opened: Opened, started: datetime, tell: OnProgress | None) -> None:
        self._parts, self._aim, self._opened, self._tell = parts, aim, opened, tell
        self._builtin = builtin_of(aim.spec)
        self._task = TaskRun(new_id(), aim.spec.hidden(), aim.node.id, started, repeat_command=repeat_command(aim.node, aim.spec, contract_id=aim.contract_id, watch=aim.watch))
        with parts.workspace.read() as connection:
            base, figures = run_to_join(connection, aim.node.id), effective(connection)
        self._run = Run(
            self._task.id, aim.node.id, started, aim.contract_id, tool_version=__version__, host_key=opened.host_key,
            demo=aim.node.reach is Reach.DEMO, terms=tuple(aim.terms.items()), original_id=base.id if base else self._task.id,
        )  # fmt: skip
        promise = Promise(parts.catalogue, aim.terms, thresholds=figures)
        self._judge = TaskJudge(parts.workspace, parts.bus, aim.node, self._run, self._checks(), promise)
        self._watch = TaskWatch(parts.watching, aim.node) if aim.watch else None
        self._offset_s: float | None = None
        self._clock_at: datetime | None = None
        self._slept = False
        self._missing: tuple[Reason, Text] = (Reason.NOT_COLLECTED, NO_TEXT)

    def _checks(self) -> tuple[str, ...]:
        own = ("work.task",) if self._builtin is None or self._aim.spec.serves else ()
        return (*(self._builtin.checks if self._builtin else ()), *own)

    def go(self, cancel: CancelToken) -> tuple[TaskRun, Outcome]:
        task, run = self._task, self._run
        self._parts.workspace.submit(lambda db: begin_task_run(db, task, run)).result()
        self._parts.bus.publish(RunStarted(run.id, run.node_id, self._checks(), run.joins))
        if self._watch is not None:
            self._watch.start()
        try:
            ending = self._ran(cancel)
        except UserFacing as trouble:
            ending = self._broken(trouble)
        finally:
            if self._watch is not None:
                self._watch.stop()
        self._judge.recall(run.started_at, self._opened.host_key, self._aim.spec)
        self._judge.judge(*self._missing)
        return self._finish(ending)

    def _broken(self, trouble: UserFacing) -> Ending:
        """What failed outside of the task's own log: a line lost while the node was looked at, a program not to be sent."""
        ending = self._told(broken_off(trouble), slept=self._slept or isinstance(trouble, ComputerSlept))
        self._task = replace(self._task, end=ending.end, reason=ending.reason, next_step=ending.next_step)
        return ending

    def _told(self, ending: Ending, *, slept: bool) -> Ending:
        """An end that was no end of the task itself: whose fault it is."""
        if ending.end is not TaskEnd.CUT:
            return ending
        reason, at = self._missing = why_lost(self._aim.node, self._opened.line, slept=slept)
        return cut_off(ending, reason, at)

    def _ran(self, cancel: CancelToken) -> Ending:
        """The environment, then the task; a rate of a built-in task that would fail is measured once more at once."""
        self._look(cancel)
        live, report = self._once(cancel)
        ending = self._read(live, report)
        if self._builtin is None:
            return ending
        outputs = [self._output(live, report)]
        self._keep_builtin(self._builtin, outputs)
        if ending.end is TaskEnd.FINISHED and self._is_due(self._builtin):
            live, report = self._once(cancel)
            ending = self._read(live, report)
            self._keep_builtin(self._builtin, [*outputs, self._output(live, report)])
        return ending

    def _look(self, cancel: CancelToken) -> None:
        facts = [readers()[id_].fact for id_ in _BESIDE]
        end = collect(self._opened.line, facts, self._beside, cancel, sudo=self._aim.node.use_sudo)
        self._slept = any(one.reason is Reason.COMPUTER_SLEPT for one in end.missing)
        found = {id_: one.reading for id_, one in self._judge.evidence.items()}
        smi, torch, clock = found.get("smi_xml"), found.get("torch_files"), found.get("clock_now")
        environment = TaskEnvironment(container=self._aim.spec.container.image if self._aim.spec.container else None)
        if isinstance(smi, SmiReport):
            names = tuple(gpu.name or "?" for gpu in smi.gpus)
            environment = replace(environment, driver=smi.driver_version, cuda=smi.cuda_version, gpus=names)
        if isinstance(torch, TorchFiles) and self._aim.spec.container is None:
            build = f"+{torch.tag}" if torch.tag else ""
            environment = replace(environment, torch=f"{torch.version}{build}" if torch.version else None, python=torch.python)
        if isinstance(clock, ClockNow):
            self._offset_s = Clocks(self._clock_at, clock.utc).offset_s if self._clock_at else None
        task = self._task = replace(self._task, environment=environment)
        self._parts.workspace.submit(lambda db: update_task_run(db, task, at=utc_now()))

    def _beside(self, frame: Frame) -> None:
        if frame.id == "clock_now":
            self._clock_at = frame.arrived_at
        command = readers()[frame.id].fact.command
        self._judge.take(frame.id, command.line if command else "", frame.output)

    def _once(self, cancel: CancelToken) -> tuple[TaskLive, TaskReport]:
        aim, spec = self._aim, self._aim.spec
        log = TaskLog(spec.pattern, secrets_of(spec.environment), HEAD_BYTES, TAIL_BYTES, endless=aim.pack is None)
        total = aim.pack.stream_bytes if aim.pack else 0
        live = TaskLive(self._parts.workspace, self._parts.bus, self._task.id, aim.node, log, total, self._tell, spec.source.place if aim.pack is None else "")
        live.say()
        if cancel.cancelled:
            report = TaskReport("cancelled", cancelled=True)
        elif aim.pack is None:
            report = follow_log(self._opened.line, spec.source.place, spec.time_limit_s, live, cancel)
        else:
            report = run_task(self._opened.line, self._order(aim.pack), aim.pack.blocks(), live, cancel)
        live.over()
        live.enter(TaskPhase.COLLECTING)
        log.end(report.left_out_bytes)
        live.save()
        live.say()
        return live, report

    def _order(self, pack: Pack) -> TaskOrder:
        spec = self._aim.spec
        return TaskOrder(
            self._task.id, command_of(spec), pack.stream_bytes, spec.environment, spec.time_limit_s, int(spec.scratch_gib * _GIB),
            spec.keep_folder, spec.container, large=pack.large,
        )  # fmt: skip

    def _read(self, live: TaskLive, report: TaskReport) -> Ending:
        """Keep the log as evidence, and what is known of the run."""
        log, spec = live.taken, self._aim.spec
        ending = self._told(ending_of(report, log.last_words, builtin=self._builtin is not None, endless=self._aim.pack is None), slept=report.slept)
        view, began_s = self._watch.view if self._watch is not None else None, live.began_wall_s
        use = gpu_use(view, began_s, time.time()) if began_s is not None else ()
        about = LogAbout(str(ending.end), report.code, log.left_out_bytes, use, spec.pattern, stalls(view, live.pauses))
        evidence, reading = _evidence(log, about)
        raw = self._output(live, report)
        named = LOG_FACT if "work.task" in self._checks() else OTHER_LOG
        output = replace(raw, stdout=head_line(about) + raw.stdout) if named == LOG_FACT else raw
        sha256 = self._judge.take(named, command_of(spec) or spec.source.place, output, evidence if named == LOG_FACT else None)
        container = f"{report.tool} {spec.container.image}" if spec.container and report.tool else self._task.environment.container
        self._task = replace(
            self._task, end=ending.end, exit_code=report.code, reason=ending.reason, next_step=ending.next_step,
            seconds=report.seconds if report.seconds is not None else round(live.seconds, 1), log_sha256=sha256, log_bytes=log.bytes_in + report.left_out_bytes,
            log_left_out=log.left_out_bytes, reading=reading_of(reading, log.reader.curve.points) if reading else None,
            environment=replace(self._task.environment, container=container), kept_folder=report.kept, kept_bytes=report.kept_kib * 1024,
            remove_command=f"rm -rf {shlex.quote(report.kept)}" if report.kept else "", left_processes=report.left_processes, clean=report.clean,
        )  # fmt: skip
        return ending

    def _output(self, live: TaskLive, report: TaskReport) -> CommandOutput:
        log = live.taken
        return CommandOutput(log.kept, b"", report.code, report.seconds or live.seconds, bool(log.left_out_bytes))

    def _keep_builtin(self, builtin: Builtin, outputs: list[CommandOutput]) -> None:
        self._judge.take(builtin.fact, builtin.command(self._aim.spec.command), combine_runs(builtin.fact, outputs))

    def _is_due(self, builtin: Builtin) -> bool:
        reading = self._judge.evidence[builtin.fact].reading
        return reading is not None and bool(MEASURES[builtin.fact].again(reading, self._judge.promise))

    def _finish(self, ending: Ending) -> tuple[TaskRun, Outcome]:
        cancelled = ending.end is TaskEnd.CANCELLED and self._aim.pack is not None
        error = Trouble("channel", ending.reason.en, ending.next_step.en, ending.reason, ending.next_step) if ending.end in (TaskEnd.CUT, TaskEnd.ERROR) else None
        outcome = Outcome(
            self._aim.node.target, self._run.id, self._run.started_at, self._opened.host_key, self._aim.contract_label or self._aim.contract_id,
            self._run.demo, current(self._judge.findings), cancelled, error, self._judge.states, name=self._aim.node.name,
        )  # fmt: skip
        self._task = replace(self._task, ended_at=utc_now())
        self._save(outcome, () if cancelled or error else self._judge.proven())
        self._parts.bus.publish(TaskEnded(self._task))
        self._parts.bus.publish(RunEnded(self._run.id, self._run.node_id, outcome.overall, cancelled))
        return self._task, outcome

    def _save(self, outcome: Outcome, kept: tuple[Finding, ...]) -> None:
        task, run, offset_s, lines = self._task, self._run, self._offset_s, tuple(self._judge.lines.values())
        state, now = RunState.CANCELLED if outcome.cancelled else RunState.FINISHED, utc_now()
        contract = run.contract_id

        def work(db: Database) -> None:
            for line, blobs in lines:
                save_run_evidence(db, line, blobs)
            runs.save_connection(db, run.id, host_key=run.host_key, clock_offset_s=offset_s)
            finish_task_run(db, task)
            for finding in kept if contract is not None else ():
                claims.apply_finding(db, str(contract), run.node_id, finding, at=now)
            runs.finish_run(db, run.id, state, now, outcome.overall)

        self._parts.workspace.submit(work).result()


def _evidence(log: TaskLog, about: LogAbout) -> tuple[Evidence, TrainLog | None]:
    """The reading, or why there is none; what an unreadable log still says is shown, not judged."""
    try:
        found = log_of(log.reader, about)
    except Unreadable as trouble:
        part = trouble.reading if isinstance(trouble.reading, TrainLog) else None
        return Evidence(trouble=trouble), part
    return Evidence(found), found


def follows(spec: TaskSpec) -> bool:
    """Whether a log on the node is followed, and nothing is run."""
    return spec.source.kind is SourceKind.LOG
