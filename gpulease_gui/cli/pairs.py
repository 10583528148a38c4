"""Which of some nodes, or which line between two of them, is the slow one?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gpulease_gui.cli.codes import Exit, of_verdict
from gpulease_gui.cli.terminal_secret import DESK
from gpulease_gui.cli.verify import ask_on_terminal, fingerprints_of, interruptible
from gpulease_gui.cli.workspace_file import say_note, services_of
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import visible
from gpulease_gui.services.composition import Services
from gpulease_gui.services.pair_runs import PairReport, PairRequest, PairResult, PairRuns, refuse, usual_seconds
from gpulease_gui.services.pairs import rounds
from gpulease_gui.services.targets import is_demo, node_of

DEMO_SECONDS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease pairs`."""
    parser.add_argument("targets", nargs="+", metavar="NODE", help="user@host:port, an ssh alias, or demo:NAME; two or more")
    parser.add_argument("--seconds", type=int, metavar="N", help="length of one test in each direction (default 20)")
    parser.add_argument("--gbit", type=float, metavar="RATE", help="what was promised between two nodes, Gbit/s each way")
    parser.add_argument("--address", action="append", default=[], metavar="NODE=IP", help="how the other nodes reach this one")
    parser.add_argument("--identity", default="", metavar="FILE", help="the private key for all nodes")
    parser.add_argument("--fingerprint", action="append", default=[], metavar="SHA256:...", help="a host key to trust")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the runs are kept")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: argparse.Namespace) -> int:
    """Measure all pairs and print who is slow; naming the command is the confirmation."""
    _refuse_wrong_calls(options)
    demo = all(is_demo(target) for target in options.targets)
    services = services_of(
        options.workspace, demo=demo, ask_secret=ask_on_terminal, fingerprints=fingerprints_of(options.fingerprint)
    )
    try:
        nodes = [node_of(services.workspace, target, options.identity, note=say_note) for target in options.targets]
        DESK.in_order([node.id for node in nodes])
        refuse(nodes)
        seconds = options.seconds or (DEMO_SECONDS if demo else None)
        request = PairRequest(seconds, options.gbit, _addresses(options, nodes))
        _say_plan(len(nodes), seconds)
        report = _measure(services, nodes, request)
        print(json.dumps(report_json(report), ensure_ascii=False, indent=1) if options.json else report_text(report))
        return Exit.INTERRUPTED if report.cancelled else of_verdict(report.verdict)
    finally:
        services.close()


def _refuse_wrong_calls(options: argparse.Namespace) -> None:
    if options.seconds is not None and not 1 <= options.seconds <= 3600:
        raise UsageError(f"--seconds {options.seconds} is out of range", next_step="1 to 3600")
    if options.gbit is not None and not 0 < options.gbit < 100_000:
        raise UsageError(f"--gbit {options.gbit} is no rate")
    if len({is_demo(target) for target in options.targets}) > 1:
        raise UsageError("a demo node and a real one can't be measured against each other")


def _addresses(options: argparse.Namespace, nodes: list[Node]) -> dict[str, str]:
    by_target = dict(zip(options.targets, nodes, strict=True))
    found = {}
    for words in options.address:
        target, equals, address = words.rpartition("=")
        if not equals or target not in by_target or not address:
            raise UsageError(f"--address {words!r} names no node of this call", next_step="write NODE=IP, NODE as above")
        found[by_target[target].id] = address
    return found


def _say_plan(nodes: int, seconds: int | None) -> None:
    plan, about = rounds(nodes), round(usual_seconds(nodes, seconds))
    pairs = sum(len(one) for one in plan)
    print(f"loads {nodes} nodes: {pairs} pairs in {len(plan)} rounds, about {about} s; nothing is written", file=sys.stderr, flush=True)


def _measure(services: Services, nodes: list[Node], request: PairRequest) -> PairReport:
    work = PairRuns(services.verification, services.bus)

    def measure(cancel: CancelToken) -> PairReport:
        return work.run(nodes, request, cancel, lambda result: _say(result, nodes))

    with interruptible() as interrupted:
        job = services.jobs.start("pairs", measure, remote=True)
        while True:
            try:
                report = job.done.result(timeout=0.2)
            except TimeoutError:
                if interrupted:
                    job.cancel.cancel()
                continue
            assert isinstance(report, PairReport)
            return report


def _say(result: PairResult, nodes: list[Node]) -> None:
    one, other = (nodes[number].name for number in result.pair)
    print(visible(f"{one} - {other}: {_rates(result)}"), file=sys.stderr, flush=True)


def _rates(result: PairResult) -> str:
    if result.rate is None:
        return f"not measured: {result.reason.en}"
    return f"{result.forward:g} Gbit/s there, {result.backward:g} Gbit/s back"


def report_json(report: PairReport) -> dict[str, object]:
    """A report with the keys of the documented JSON; rates in Gbit/s, null = not measured."""
    name = report.nodes
    return {
        "nodes": list(name), "promised_gbit_s": report.promised, "usual_gbit_s": report.blame.usual,
        "pairs": [
            {
                "nodes": [name[r.pair[0]], name[r.pair[1]]], "there_gbit_s": r.forward, "back_gbit_s": r.backward,
                "reason": r.reason.en, "run": r.run_id,
            }
            for r in report.results
        ],
        "slow_nodes": [name[number] for number in report.blame.nodes],
        "slow_pairs": [[name[a], name[b]] for a, b in report.blame.pairs],
        "unmeasured": [[name[a], name[b]] for a, b in report.blame.unmeasured],
        "all_low": report.blame.all_low, "verdict": str(report.verdict), "cancelled": report.cancelled,
    }  # fmt: skip


def report_text(report: PairReport) -> str:
    """A small matrix of the slower directions, then who is slow."""
    width = max(9, *(len(name) for name in report.nodes)) + 1
    lines = [" " * width + "".join(f"{visible(name):>{width}}" for name in report.nodes)]
    for one, name in enumerate(report.nodes):
        cells = [_cell(report, one, other) for other in range(len(report.nodes))]
        lines.append(f"{visible(name):<{width}}" + "".join(f"{cell:>{width}}" for cell in cells))
    said = [f"{report.verdict}: {visible(sentence.en)}" for sentence in report.sentences]
    return "\n".join(["Gbit/s, the slower direction", *lines, *said])


def _cell(report: PairReport, one: int, other: int) -> str:
    result = report.result(one, other) if one != other else None
    if result is None:
        return "-"
    return "?" if result.rate is None else f"{result.rate:.2f}"
