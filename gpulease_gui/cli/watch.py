"""What do nodes do while they are watched?"""

from __future__ import annotations

import argparse
import json
import queue
import sys
import time
from collections.abc import Mapping
from concurrent.futures import wait
from datetime import UTC, datetime
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.terminal_secret import DESK
from gpulease_gui.cli.verify import ask_on_terminal, fingerprints_of, interruptible
from gpulease_gui.cli.watch_errors import Errors
from gpulease_gui.cli.watch_told import States, Sums, Troubles, of_rule, of_rule_words, said_of
from gpulease_gui.cli.workspace_file import say_note, services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text, in_one_line, visible
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, NodeState, NodeStateChanged, ReadingsNotKept, WatchAlarm
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.targets import is_demo, node_of
from gpulease_gui.services.watch_rate import LEAST_HZ, MOST_HZ, parse_rate

# Each look at what cards told of their errors goes over all curves of all nodes.
_LOOK_S, _ERRORS_S = 0.2, 1.0
_MOST_S = 30 * 86_400
_WRITTEN_S = 10.0
_STOPPED, _OVER = Text("stopped", "已停止"), Text("its time is over", "时间已到")
_NOBODY = Text("no node is watched any more", "已没有在监控的节点")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease watch`."""
    parser.add_argument("targets", nargs="+", metavar="TARGET", help="user@host:port, an ssh alias, local, or demo:NAME")
    parser.add_argument(
        "--rate-hz", metavar="HZ",
        help=f"samples a second, {LEAST_HZ:g} to {MOST_HZ:g}; kept for these nodes (default: what was chosen before, else 1)",
    )  # fmt: skip
    parser.add_argument("--for", dest="seconds", type=float, metavar="SECONDS", help="how long (default: until Ctrl+C)")
    parser.add_argument("--identity", default="", metavar="FILE", help="the private key; no other key is tried")
    parser.add_argument("--fingerprint", action="append", default=[], metavar="SHA256:...", help="a host key to trust")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where samples are kept")
    parser.add_argument("--json", action="store_true", help="one JSON object a line on standard output")


def run(options: argparse.Namespace) -> int:
    """Watch into the workspace and tell what happens; 130 where Ctrl+C or TERM ended it, 3 where no node was read at all."""
    rate_hz = None if options.rate_hz is None else parse_rate(options.rate_hz)
    if options.seconds is not None and not 0 < options.seconds <= _MOST_S:
        raise UsageError(f"--for {options.seconds:g} is out of range", next_step=f"seconds, up to {_MOST_S}")
    if len({is_demo(target) for target in options.targets}) > 1:
        raise UsageError("demo nodes and real ones are never watched together")
    services = services_of(
        options.workspace, demo=is_demo(options.targets[0]), ask_secret=ask_on_terminal, fingerprints=fingerprints_of(options.fingerprint)
    )
    try:
        nodes = {node.id: node for target in options.targets for node in [node_of(services.workspace, target, options.identity, note=say_note)]}
        DESK.in_order(list(nodes))
        return _watch(services, nodes, rate_hz, options)
    finally:
        services.close()


def _watch(services: Services, nodes: Mapping[str, Node], rate_hz: float | None, options: argparse.Namespace) -> Exit:
    told: queue.SimpleQueue[Event] = queue.SimpleQueue()
    services.bus.subscribe(told.put)
    views: list[WatchView] = []
    end_s = float("inf") if options.seconds is None else time.monotonic() + options.seconds
    states = States()
    read: set[str] = set()
    troubles, errors, sums = Troubles(), Errors(time.time()), Sums()
    look_s = 0.0
    with interruptible() as interrupted:
        for node in nodes.values():
            if rate_hz is not None:
                services.watching.set_rate(node.id, rate_hz).result()
            views.append(services.watching.start(node))
        while not interrupted and time.monotonic() < end_s and services.watching.views():
            read |= {view.node_id for view in services.watching.views() if view.state is NodeState.CONNECTED}
            for node_id, kind, words in troubles.changes(services.watching.views(), time.monotonic()):
                if node_id in nodes:
                    _print(nodes[node_id].name, kind, time.time(), words, {}, as_json=options.json)
            if time.monotonic() >= look_s:
                _tell_errors(errors, services, nodes, sums, as_json=options.json)
                look_s = time.monotonic() + _ERRORS_S
            try:
                event = told.get(timeout=min(_LOOK_S, max(0.0, end_s - time.monotonic())))
            except queue.Empty:
                continue
            _tell(event, nodes, states, sums, _numbers(services, event), as_json=options.json)
        while not told.empty():
            event = told.get()
            _tell(event, nodes, states, sums, _numbers(services, event), as_json=options.json)
        _tell_errors(errors, services, nodes, sums, as_json=options.json)
        why = _STOPPED if interrupted else _OVER if time.monotonic() >= end_s else _NOBODY
        services.watching.close()
        wait([services.workspace.submit(lambda db: None)], _WRITTEN_S)
        sums.count_stored(views)
        _say_end(sums, why, sum(view.lines for view in views), services.workspace.path, as_json=options.json)
        if interrupted:
            return Exit.INTERRUPTED
    return Exit.OK if read else Exit.NOT_CONNECTED


def _numbers(services: Services, event: Event) -> Mapping[str, int]:
    """The numbers of the cards of the node whose rule it is."""
    view = services.watching.view(event.node_id) if isinstance(event, WatchAlarm) else None
    return view.numbers if view is not None else {}


def _tell(
    event: Event, nodes: Mapping[str, Node], states: States, sums: Sums, numbers: Mapping[str, int], *, as_json: bool
) -> None:
    """`states`: what was said last of each node. `numbers` of its cards."""
    said = said_of(event)
    if said is None or (said[0] not in nodes and not isinstance(event, ReadingsNotKept)):
        return
    node_id, kind, at_s, words = said
    if isinstance(event, NodeStateChanged) and not states.is_new(event):
        return
    sums.count(event)
    _print(nodes[node_id].name if node_id in nodes else node_id, kind, at_s, words, of_rule(event, numbers), as_json=as_json)


def _tell_errors(errors: Errors, services: Services, nodes: Mapping[str, Node], sums: Sums, *, as_json: bool) -> None:
    views = [view for view in services.watching.views() if view.node_id in nodes]
    for node_id, kind, at_s, words, of in errors.new(views):
        sums.events += 1
        _print(nodes[node_id].name, kind, at_s, words, of, as_json=as_json)


def _print(node: str, kind: str, at_s: float, words: Text, of: Mapping[str, str], *, as_json: bool) -> None:
    if as_json:
        _print_object({"at": _moment(at_s), "node": node, "event": kind, **of, "words": visible(words.en), "words_zh": visible(words.zh)})
    else:
        print(in_one_line(": ".join(part for part in (f"{_moment(at_s)} {node}", kind, of_rule_words(of), words.en) if part)), flush=True)


def _print_object(said: Mapping[str, object]) -> None:
    """In one line for everybody: what is a line break for some readers, or can't be seen, is written as its number."""
    words = json.dumps(said, ensure_ascii=False)
    print("".join([one if one.isprintable() else json.dumps(one)[1:-1] for one in words]), flush=True)


def _say_end(sums: Sums, why: Text, lines: int, kept_in: Path, *, as_json: bool) -> None:
    """As JSON it is the last object, without a node."""
    words = sums.said(why, lines, kept_in)
    if as_json:
        _print_object({
            "at": _moment(time.time()), "event": "ended", "lines": lines, "gaps": sums.gaps, "events": sums.events,
            "words": visible(words.en), "words_zh": visible(words.zh),
        })  # fmt: skip
    else:
        print(visible(words.en), file=sys.stderr, flush=True)


def _moment(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
