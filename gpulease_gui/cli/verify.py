"""Does a node keep what was promised?"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.cli.codes import Exit, of_verdict
from gpulease_gui.cli.question_words import question
from gpulease_gui.cli.terminal_secret import DESK
from gpulease_gui.cli.terms_file import terms_from
from gpulease_gui.cli.verify_many import (
    add_many_arguments,
    chosen_nodes,
    exit_of_round,
    print_round,
    request_for,
    say_count,
    verify_round,
)
from gpulease_gui.cli.workspace_file import say_note, services_of
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict, totals
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import visible
from gpulease_gui.facts import web_rates
from gpulease_gui.services.acceptance import find_contract, promises_of
from gpulease_gui.services.bundle import refuse_bundle_path, write_bundle
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, LinesSkipped, ReadingsNotKept
from gpulease_gui.services.fleet_rest import unanswered_words
from gpulease_gui.services.kept_secrets import PASSPHRASE
from gpulease_gui.services.key_swap import replace_host_keys
from gpulease_gui.services.outcome import Outcome, finding_line, outcome_json
from gpulease_gui.services.plan import LEFT_OUT_WORDS, LeftOutBy, Level, make_plan
from gpulease_gui.services.small_heap import keep_heap_small
from gpulease_gui.services.targets import demo_brings, is_demo, node_of, same_node
from gpulease_gui.services.verify import Request
from gpulease_gui.services.ways import SecretAsked

UNNAMED_CONTRACT = "contract"
DEMO_SECONDS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease verify`."""
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="user@host:port, an ssh alias, local, or demo:NAME")
    parser.add_argument("--identity", default="", metavar="FILE", help="the private key; no other key is tried")
    parser.add_argument("--terms", metavar="FILE", type=Path, help="TOML file of promises")
    parser.add_argument("--fingerprint", action="append", default=[], metavar="SHA256:...", help="a host key to trust")
    parser.add_argument(
        "--replace-host-key", action="append", default=[], metavar="SHA256:...",
        help="the host key has changed and this is the new one, as the supplier confirms it: pin it in place of the old",
    )  # fmt: skip
    parser.add_argument("--peer", metavar="TARGET", help="the node at the other end of network measurements")
    parser.add_argument("--peer-identity", default="", metavar="FILE", help="private key of the peer (default: --identity)")
    parser.add_argument("--peer-address", default="", metavar="IP", help="how the node reaches its peer")
    parser.add_argument(
        "--url", action="append", default=[], metavar="URL", help="a large file that the node may load for net.egress (four at most)"
    )
    add_choice(parser)
    parser.add_argument("--seconds", type=int, metavar="N", help="length of one measurement")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where runs are kept")
    parser.add_argument("--bundle", type=Path, metavar="ZIP", help="write raw outputs, hashes and the JSON")
    parser.add_argument("--contract", metavar="ID", help="verify against this contract of the workspace")
    add_many_arguments(parser)
    parser.add_argument("--demo", action="store_true", help="with --all or --contract: in the demo workspace")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def add_choice(parser: argparse.ArgumentParser) -> None:
    """The arguments that choose what is asked. Naming a check or a level is the confirmation."""
    parser.add_argument("--only", default="", metavar="ID,...", help="run only these checks")
    parser.add_argument("--check", action="append", default=[], metavar="ID", help="run only this check; it joins the newest run")
    parser.add_argument("--level", choices=list(Level), help="how deep: each level holds those before it (default: inventory)")
    parser.add_argument("--profile", default="", metavar="ID", help="the use that decides order and what is left out")
    parser.add_argument("--leave-out", default="", metavar="ID,...", help="do not run these checks of the level")
    parser.add_argument("--heavy", action="store_true", help="as --level load; says what it includes before it starts")
    parser.add_argument("--sustained", action="store_true", help="with --level or --heavy: also measurements of ten minutes and more")


def run(options: argparse.Namespace) -> int:
    """Verify and print; the exit code follows the required findings."""
    options.target = options.targets[0] if len(options.targets) == 1 else None
    _refuse_wrong_calls(options)
    terms = terms_from(options.terms) if options.terms else None
    demo = options.demo or any(map(is_demo, options.targets))
    fingerprints, options.replaced = fingerprints_of(options.fingerprint), fingerprints_of(options.replace_host_key)
    keep_heap_small()
    services = services_of(options.workspace, demo=demo, ask_secret=ask_on_terminal, fingerprints=fingerprints)
    services.links.show_while_typed(_ask_openly)
    services.bus.subscribe(_say_event)
    try:
        if options.target is None:
            return _verify_many(services, options, terms)
        outcome = _verify_one(services, options, terms)
        _print(outcome, as_json=options.json)
        sys.stdout.flush()
        if options.bundle:
            write_bundle(services.workspace, outcome, options.bundle)
        return _exit_of(outcome)
    finally:
        services.close()


def _say_event(event: Event) -> None:
    if isinstance(event, LinesSkipped):
        print(visible(f"known_hosts: {event.words.en}"), file=sys.stderr, flush=True)
    if isinstance(event, ReadingsNotKept):
        print(f"readings of run {event.run_id} are not kept as evidence yet: {event.words.en}", file=sys.stderr)


def _refuse_wrong_calls(options: argparse.Namespace) -> None:
    if options.all == bool(options.targets):
        raise UsageError("name TARGETs, or --all", next_step="--all takes all nodes, with --contract ID those of it")
    if len({is_demo(target) for target in options.targets}) > 1:
        raise UsageError("demo nodes and real ones are never verified together")
    alone = [name for name in ("--peer", "--bundle") if getattr(options, name[2:])]
    if alone and options.target is None:
        raise UsageError(f"{alone[0]} belongs to one TARGET")
    if options.replace_host_key and (options.target is None or is_demo(options.target)):
        raise UsageError("--replace-host-key belongs to one TARGET that is reached over SSH")
    if options.rest and options.target is not None:
        raise UsageError("--rest belongs to several nodes", next_step="name more TARGETs, or --all")
    if not 0 < options.within <= 8760:
        raise UsageError(f"--within {options.within:g} is out of range", next_step="hours, up to 8760")
    if options.terms and options.contract:
        raise UsageError("--terms and --contract exclude each other")
    if options.seconds is not None and not 1 <= options.seconds <= 3600:
        raise UsageError(f"--seconds {options.seconds} is out of range", next_step="1 to 3600")
    if _ids(options) and (options.level or options.profile or options.heavy or options.leave_out):
        raise UsageError("--only and --check name every check that runs", next_step="leave out --level, --profile, --heavy")
    if options.sustained and not (options.heavy or options.level == Level.LOAD):
        raise UsageError("--sustained belongs to --level load or --heavy", next_step="or name the check: --check disk.burst")
    if options.peer and is_demo(options.peer) != is_demo(options.target or ""):
        raise UsageError("a demo node and a real one can't be each other's peer")
    if options.peer and options.peer == options.target:
        raise _own_peer(options.peer)
    if options.peer_address:
        _check_peer_address(options.peer_address)
    _check_urls(options.url)
    if options.bundle:
        refuse_bundle_path(options.bundle)


def _ids(options: argparse.Namespace) -> tuple[str, ...]:
    """The checks that were named, each once."""
    return tuple(dict.fromkeys([*_words(options.only), *options.check]))


def _words(joined: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in joined.split(",") if word.strip())


def _chosen(options: argparse.Namespace) -> Request:
    """A request that says nothing yet but what is asked."""
    level = Level(options.level) if options.level else None
    return Request(
        only=_ids(options), heavy=options.heavy, seconds=options.seconds, level=level, profile=options.profile,
        left_out=_words(options.leave_out), sustained=options.sustained, urls=tuple(options.url),
    )  # fmt: skip


def _own_peer(peer: str) -> UsageError:
    return UsageError(f"--peer {peer} is the target itself", next_step="name another node")


def _check_urls(urls: list[str]) -> None:
    if len(urls) > web_rates.MAX_URLS:
        raise UsageError(f"--url was given {len(urls)} times", next_step=f"name {web_rates.MAX_URLS} addresses at most")
    for url in urls:
        try:
            web_rates.command(url, 1)
        except ValueError as error:
            raise UsageError(f"--url: {error}", next_step="write https://host/path, without blanks or quotes") from error


def _check_peer_address(words: str) -> None:
    from gpulease_gui.remote.address import check_host

    try:
        check_host(words)
    except UsageError as error:
        raise UsageError(
            "what --peer-address names is no address", error.what, "write an IP address or a host name, without user and port"
        ) from error


def fingerprints_of(words: list[str]) -> tuple[str, ...]:
    """The host keys of `--fingerprint`. Raises UsageError for words that hold none."""
    from gpulease_gui.remote.hostkeys import fingerprints_in

    found = [fingerprints_in(word) for word in words]
    wrong = [word for word, hits in zip(words, found, strict=True) if not hits]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no SHA256 fingerprint", next_step="paste it as ssh-keygen -l prints it")
    return tuple(hit for hits in found for hit in hits)


def ask_on_terminal(node: Node, asked: SecretAsked) -> Secret | None:
    """Ask for a secret where somebody sits in front; None where nobody does. No passphrase gives that key up."""
    typed = _typed(node, asked, shown=False)
    return Secret(typed) if typed or (typed is not None and not asked.what.startswith(PASSPHRASE)) else None


def _ask_openly(node: Node, asked: SecretAsked) -> Secret | None:
    """A question whose answer the node allows to be seen."""
    typed = _typed(node, asked, shown=True)
    return None if typed is None else Secret(typed)


def _typed(node: Node, asked: SecretAsked, *, shown: bool) -> str | None:
    return DESK.ask(question(node, asked), asked.withdrawn, shown=shown, who=node.id) if sys.stdin.isatty() else None


def _verify_one(services: Services, options: argparse.Namespace, terms: dict[str, TermValue] | None) -> Outcome:
    node = node_of(services.workspace, options.target, options.identity, note=say_note)
    request = _request(services, options, node, terms)
    for line in replace_host_keys(services.workspace, services.links, node, options.replaced, CancelToken()):
        print(visible(line), file=sys.stderr, flush=True)
    _say_loads(services, request)
    with interruptible() as interrupted:
        return _wait(services, node, request, interrupted)


def _request(
    services: Services, options: argparse.Namespace, node: Node, terms: dict[str, TermValue] | None
) -> Request:
    request = replace(_chosen(options), terms=terms or {}, contract_label=UNNAMED_CONTRACT if terms is not None else None)
    peer = options.peer
    if options.contract:
        contract = find_contract(services.workspace, options.contract)
        request = replace(request, terms=promises_of(services.workspace, contract.id), contract_id=contract.id)
    elif is_demo(options.target):
        brings = demo_brings(options.target)
        peer = peer or brings.peer
        request = replace(request, seconds=options.seconds or DEMO_SECONDS)
        if terms is None:
            request = replace(request, terms=brings.terms, contract_id=node.contract_id)
    if peer:
        peer_node = node_of(services.workspace, peer, options.peer_identity or options.identity, note=say_note)
        if same_node(node, peer_node):
            raise _own_peer(peer)
        request = replace(request, peer=peer_node, peer_address=options.peer_address)
    return request


def _say_loads(services: Services, request: Request) -> None:
    """Before anything is sent: which checks load the node, what they write, for how long; and what is not run."""
    promise = Promise(services.catalogue, request.terms, request.seconds)
    plan = make_plan(request.choice, promise=promise)
    for rule in plan.active:
        check = rule.check
        print(f"loads the node: {check.id}: {check.writes.en}; usually {_length(check, request)} s", file=sys.stderr)
    if request.names_a_plan:
        for id_, reason in plan.left_out.items():
            how = ", or add --sustained" if reason is LeftOutBy.TAKES_LONG else ""
            print(f"not run: {id_}: {LEFT_OUT_WORDS[reason].en}{how}", file=sys.stderr)
        if plan.is_part(promise):
            print("this run leaves out checks that an acceptance needs: it joins the newest whole run", file=sys.stderr)
    sys.stderr.flush()


def _length(check: Check, request: Request) -> int:
    """With --seconds a measurement is no longer than its own directions of that length."""
    return min(check.takes_s, 2 * request.seconds) if request.seconds else check.takes_s


def _wait(services: Services, node: Node, request: Request, interrupted: list[int]) -> Outcome:
    job = services.jobs.start(f"verify {node.name}", _work(services, node, request), remote=True)
    interrupted.clear()
    while True:
        try:
            outcome = job.done.result(timeout=0.2)
        except TimeoutError:
            if interrupted:
                job.cancel.cancel()
            continue
        assert isinstance(outcome, Outcome)
        return outcome


def _work(services: Services, node: Node, request: Request, before: str = "") -> Callable[[CancelToken], Outcome]:
    return lambda cancel: services.verification.run(node, request, cancel, lambda finding: _say(finding, before))


@contextlib.contextmanager
def interruptible() -> Iterator[list[int]]:
    """Ctrl+C, TERM and a terminal that is closed (not under nohup) end the run and keep what was found; a second one ends the program."""
    seen: list[int] = []

    def note(number: int, frame: object) -> None:
        if seen and number in (signal.SIGINT, signal.SIGTERM):  # the kernel and a shell both tell that a terminal is closed
            raise KeyboardInterrupt
        seen.append(number)

    numbers = [one for name in ("SIGINT", "SIGTERM", "SIGHUP") if (one := getattr(signal, name, None)) is not None]
    heard = [one for one in numbers if one == signal.SIGINT or signal.getsignal(one) is not signal.SIG_IGN]
    before = {number: signal.signal(number, note) for number in heard}
    try:
        yield seen
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _say(finding: Finding, before: str) -> None:
    print(visible(f"{before}{finding_line(finding)}"), file=sys.stderr, flush=True)


def _print(outcome: Outcome, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(outcome_json(outcome), ensure_ascii=False, indent=1))
        return
    if outcome.error:
        print(f"{outcome.called}: not connected ({outcome.error.phase}): {visible(outcome.error.reason)}")
        print(f"  {visible(outcome.error.next_step)}")
    if outcome.error and outcome.run is None:
        return
    counts = ", ".join(f"{number} {verdict}" for verdict, number in totals(outcome.findings).items() if number)
    print(f"{outcome.called}: {outcome.overall}{' (cancelled)' if outcome.cancelled else ''}; {counts}")
    left, _ = unanswered_words(outcome.findings)
    if left.en:
        print(f"  {left.en}; asked again by --check, of several nodes by --rest")
    for verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE):
        for finding in (one for one in outcome.findings if one.required and one.verdict is verdict):
            print(f"  {visible(finding_line(finding))}")


def _exit_of(outcome: Outcome) -> Exit:
    if outcome.error:
        return Exit.NOT_CONNECTED
    return Exit.INTERRUPTED if outcome.cancelled else of_verdict(outcome.overall)


def _verify_many(services: Services, options: argparse.Namespace, terms: dict[str, TermValue] | None) -> int:
    wanted, chosen = chosen_nodes(services, options), _chosen(options)
    DESK.in_order([node.id for node in wanted])
    request_of = request_for(services, options, chosen, terms, UNNAMED_CONTRACT)
    if len(wanted) > 1:
        say_count(wanted)
    with services.workspace.read() as connection:
        first = request_of(connection, wanted[0])
    _say_loads(services, first)
    with interruptible() as interrupted:
        made = verify_round(services, options, wanted, request_of, _say, interrupted)
    print_round(services, options, made, lambda outcome: _print(outcome, as_json=False))
    return exit_of_round(services, made, _exit_of)
