"""Does a task of one's own run on a node as it should?"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gpulease_gui.cli.codes import Exit, of_verdict
from gpulease_gui.cli.terms_file import terms_from
from gpulease_gui.cli.verify import ask_on_terminal, fingerprints_of, interruptible
from gpulease_gui.cli.workload_words import progress_line, result_lines, task_json
from gpulease_gui.cli.workspace_file import say_note, services_of
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import (
    ContainerTool,
    SourceKind,
    TaskContainer,
    TaskPhase,
    TaskProgress,
    TaskSource,
    TaskSpec,
    TaskVariable,
    variable,
)
from gpulease_gui.domain.term import TermKind, TermValue
from gpulease_gui.domain.text import visible
from gpulease_gui.facts.train_log import as_dict, read_log
from gpulease_gui.services.acceptance import find_contract, promises_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.outcome import outcome_json
from gpulease_gui.services.targets import is_demo, node_of
from gpulease_gui.services.task_runs import BUILTINS, TaskOutcome, TaskRequest
from gpulease_gui.services.task_spec import own_path

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_PIECE = 1 << 16
_SAY_S = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease workload`."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="WHAT", parser_class=type(parser))
    run = commands.add_parser("run", help="run a script, a folder or a built-in task on a node and judge it")
    run.add_argument("target", help="user@host:port, an ssh alias, local, or demo:NAME")
    source = run.add_mutually_exclusive_group(required=True)
    source.add_argument("--script", metavar="FILE", help="a script of this computer")
    source.add_argument("--folder", metavar="DIR", help="a folder of this computer, without links, 256 MiB at most")
    source.add_argument("--builtin", choices=list(BUILTINS), help="a task that the program brings; needs PyTorch on the node")
    run.add_argument("--command", dest="words", default="", metavar="TEXT", help="what sh runs in the folder; options of a built-in task")
    run.add_argument("--name", default="", help="the name of the task: runs of one name are compared")
    run.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="NAME alone takes the value from here and stores it nowhere; so does a name or value that looks secret")
    run.add_argument("--keep", action="store_true", help="keep the folder on the node; says where, and how to remove it")
    run.add_argument("--scratch-gib", type=float, default=8.0, metavar="N", help="the most that it may write (default 8)")
    run.add_argument("--image", default="", help="run it in this container image, which the node loads")
    run.add_argument("--container-tool", choices=list(ContainerTool), default=ContainerTool.AUTO, help="default: the first that the node has")
    run.add_argument("--network", default="", help="the container's network, as its tool names it")
    _add_common(run, "20m")
    log = commands.add_parser("log", help="follow a training log on a node; one that is not there yet is waited for")
    log.add_argument("target", help="user@host:port, an ssh alias, or local")
    log.add_argument("path", help="the log on the node")
    _add_common(log, "1h")
    tried = commands.add_parser("try-pattern", help="say what a log tells, by the known trainers or by a pattern of your own")
    tried.add_argument("--pattern", default="", help="a regular expression with named groups: loss (?P<loss>[\\d.]+)")
    tried.add_argument("file", metavar="LOG", help="a file of this computer; - is standard input")
    tried.add_argument("--json", action="store_true", help="one JSON object on standard output")


def _add_common(parser: argparse.ArgumentParser, limit: str) -> None:
    parser.add_argument("--time-limit", default=limit, metavar="T", help=f"such as 90s, 20m, 2h (default {limit})")
    parser.add_argument("--pattern", default="", help="reads the log in place of the known trainers: named groups loss, step, tokens_s, ...")
    parser.add_argument("--expect", action="append", default=[], metavar="TERM=VALUE", help="what it is to prove, such as work.tokens_s=12000; TERM alone: of the contract")
    parser.add_argument("--terms", metavar="FILE", type=Path, help="TOML file of promises")
    parser.add_argument("--contract", metavar="ID", help="judge against this contract of the workspace")
    parser.add_argument("--identity", default="", metavar="FILE", help="the private key; no other key is tried")
    parser.add_argument("--fingerprint", action="append", default=[], metavar="SHA256:...", help="a host key to trust")
    parser.add_argument("--no-watch", action="store_true", help="do not record the hardware beside it")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where runs are kept")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: argparse.Namespace) -> int:
    """Run the part that was asked for; the exit code follows the required findings."""
    if options.what == "try-pattern":
        return _try(options)
    if options.terms and options.contract:
        raise UsageError("--terms and --contract exclude each other")
    spec = _log_spec(options) if options.what == "log" else _task_spec(options)
    fingerprints = fingerprints_of(options.fingerprint)
    services = services_of(options.workspace, demo=is_demo(options.target), ask_secret=ask_on_terminal, fingerprints=fingerprints)
    try:
        node = node_of(services.workspace, options.target, options.identity, note=say_note)
        request = _request(services, options, spec)
        with interruptible() as interrupted:
            found = _wait(services, node, request, interrupted)
        _print(found, as_json=options.json)
        return _exit_of(found)
    finally:
        services.close()


def _task_spec(options: argparse.Namespace) -> TaskSpec:
    kind, place = next(
        (kind, words)
        for kind, words in ((SourceKind.SCRIPT, options.script), (SourceKind.FOLDER, options.folder), (SourceKind.BUILTIN, options.builtin))
        if words
    )
    place = place if kind is SourceKind.BUILTIN else own_path(place)
    container = TaskContainer(options.image, ContainerTool(options.container_tool), options.network) if options.image else None
    if container is None and (options.network or options.container_tool != ContainerTool.AUTO):
        raise UsageError("--network and --container-tool belong to --image")
    return TaskSpec(
        options.name or Path(place).name, TaskSource(kind, place), options.words, tuple(map(_variable, options.env)), _seconds(options.time_limit),
        options.keep, options.pattern, container=container, scratch_gib=options.scratch_gib,
    )  # fmt: skip


def _log_spec(options: argparse.Namespace) -> TaskSpec:
    source = TaskSource(SourceKind.LOG, options.path)
    return TaskSpec(Path(options.path).name or options.path, source, time_limit_s=_seconds(options.time_limit), pattern=options.pattern)


def _variable(words: str) -> TaskVariable:
    """`NAME=VALUE`, or `NAME` with the value that it has here: so a secret stands in no list of processes."""
    name, equals, value = words.partition("=")
    if not equals and name not in os.environ:
        raise UsageError(f"--env {name}: there is no such variable here", next_step="write NAME=VALUE, or export it first")
    return variable(name, value) if equals else TaskVariable(name, Secret(os.environ[name]))


def _seconds(words: str) -> int:
    found = re.fullmatch(r"(\d{1,7})([smhd]?)", words.strip())
    if not found:
        raise UsageError(f"--time-limit {words!r} is no time", next_step="write 90s, 20m or 2h")
    return int(found[1]) * _UNITS[found[2]]


def _request(services: Services, options: argparse.Namespace, spec: TaskSpec) -> TaskRequest:
    terms: dict[str, TermValue] = dict(terms_from(options.terms)) if options.terms else {}
    contract = find_contract(services.workspace, options.contract).id if options.contract else None
    if contract:
        terms = dict(promises_of(services.workspace, contract))
    spec = replace(spec, serves=tuple(_expected(services, words, terms) for words in options.expect))
    spec = services.tasks.measured(spec)
    if spec.size is not None:
        print(f"sends {spec.size.size_bytes:,} bytes in {spec.size.entries:,} files and folders", file=sys.stderr, flush=True)
    return TaskRequest(spec, terms, contract, "contract" if options.terms else None, watch=not options.no_watch)


def _expected(services: Services, words: str, terms: dict[str, TermValue]) -> tuple[str, TermValue]:
    """One `--expect`. Raises UsageError for an unknown term, no number, or a term that no contract states."""
    key, equals, value = words.partition("=")
    term = services.catalogue.terms.get(key)
    if term is None or not key.startswith("work."):
        known = ", ".join(name for name in services.catalogue.terms if name.startswith("work."))
        raise UsageError(f"--expect {key}: a task can't prove this", next_step=f"it proves {known}")
    if not equals:
        if key not in terms:
            raise UsageError(f"--expect {key}: the contract does not state it", next_step=f"write {key}=VALUE")
        return key, terms[key]
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if term.kind is TermKind.NUMBER and not 0 < number < 1e12:
        raise UsageError(f"--expect {key}={value} is no figure", next_step=f"write it in {term.unit or 'numbers'}")
    return key, number


def _wait(services: Services, node: Node, request: TaskRequest, interrupted: list[int]) -> TaskOutcome:
    said = _Said()

    def work(cancel: CancelToken) -> TaskOutcome:
        return services.tasks.run(node, request, cancel, said.take)

    job = services.jobs.start(f"task {request.spec.name}", work, remote=True)
    interrupted.clear()
    while True:
        try:
            found = job.done.result(timeout=0.2)
        except TimeoutError:
            if interrupted:
                job.cancel.cancel()
            continue
        assert isinstance(found, TaskOutcome)
        return found


class _Said:
    """Says every few seconds how it stands, and at once what goes wrong."""

    def __init__(self) -> None:
        self._phase: tuple[TaskPhase, str] | None = None
        self._at_s = 0.0

    def take(self, progress: TaskProgress) -> None:
        for fault in progress.faults:
            print(visible(f"line {fault.number}: {fault.line}"), file=sys.stderr, flush=True)
        now, phase = time.monotonic(), (progress.phase, progress.waits)
        if phase == self._phase and now - self._at_s < _SAY_S:
            return
        self._phase, self._at_s = phase, now
        print(visible(progress_line(progress)), file=sys.stderr, flush=True)


def _print(found: TaskOutcome, *, as_json: bool) -> None:
    if as_json:
        whole = {**outcome_json(found.outcome), "task": task_json(found.task)}
        print(json.dumps(whole, ensure_ascii=False, indent=1))
    else:
        for line in result_lines(found):
            print(visible(line))
    sys.stdout.flush()


def _exit_of(found: TaskOutcome) -> int:
    outcome = found.outcome
    if outcome.error:
        return Exit.NOT_CONNECTED
    return Exit.INTERRUPTED if outcome.cancelled else of_verdict(outcome.overall)


def _try(options: argparse.Namespace) -> int:
    try:
        told = as_dict(read_log(_pieces(options.file), options.pattern))
        answer: dict[str, object] = {"file": options.file, **told}
    except Unreadable as trouble:
        answer = {"file": options.file, "problem": trouble.reason, "code": str(trouble.code), "next_step": trouble.next_step}
    if options.json:
        print(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        for key, value in answer.items():
            print(visible(f"{key}: {json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value}"))
    return Exit.INCONCLUSIVE if "problem" in answer else Exit.OK


def _pieces(name: str) -> Iterator[str]:
    if name == "-":
        stream = sys.stdin
        while piece := stream.read(_PIECE):
            yield piece
        return
    try:
        with Path(name).open(encoding="utf-8", errors="replace") as file:
            while piece := file.read(_PIECE):
                yield piece
    except OSError as error:
        raise UsageError(f"can't read {name}", error.strerror or str(error), "check the path") from error
