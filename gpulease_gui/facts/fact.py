"""What is a fact, and which are there?"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.table_text import clean


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that can be read from a node. The id is also the parse kind.

    `command` None: this kind is only received (pasted by a supplier), never run.
    `seconds` is the node's time limit. `lane` names facts that must not run beside each other.
    `ask` is one plain line to send to a supplier, whose output this kind reads (placeholders in words); None = the
    command itself, if it is one. `answers` names the facts that such an output stands for, `ask_terms` the promises
    that it is asked for (() = all that those facts decide).
    `ok_codes`: exit codes with which the output is still read by `parse`; None = every one (the parser decides).
    `any_end`: the parser decides about no exit code, a time-out and a missing program, too.
    """

    id: str
    title: Text
    command: Command | None = None
    seconds: int = 20
    impact: Impact = Impact.PASSIVE
    lane: str = ""
    ok_codes: tuple[int, ...] | None = (0,)
    ask: Text | None = None
    answers: tuple[str, ...] = ()
    ask_terms: tuple[str, ...] = ()
    any_end: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """A fact with its parser.

    `parse` gives a frozen reading or raises Unreadable; `as_dict` its keys for `gpulease parse`;
    `recognise` says how surely (0 to 100) a text is of this kind, from its header words.
    """

    fact: Fact
    parse: Callable[[CommandOutput], Any]
    as_dict: Callable[[Any], dict[str, object]]
    recognise: Callable[[str], int]


def _never(text: str) -> int:
    return 0


@cache
def readers() -> Mapping[str, Reader]:
    """All facts by id, found by looking in this folder."""
    found: dict[str, Reader] = {}
    package = importlib.import_module("gpulease_gui.facts")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        module = importlib.import_module(info.name)
        if not hasattr(module, "FACT"):
            continue
        fact: Fact = module.FACT
        if fact.id in found:
            raise ValueError(f"two facts are called {fact.id}")
        found[fact.id] = Reader(fact, module.parse, module.as_dict, getattr(module, "recognise", _never))
    return dict(sorted(found.items()))


def read(reader: Reader, output: CommandOutput) -> Any:
    """The reading of `output`.

    Raises Unreadable with a reason code: time-out, missing tool, denied, cut off, unreadable. A parser that breaks
    on foreign bytes is our fault but the user's reading all the same: it counts as unreadable.
    """
    if not reader.fact.any_end:
        _refuse_bad_exit(reader.fact, output)
    try:
        return reader.parse(output)
    except Unreadable as error:
        explained = _explained(error, output)
        if explained is error:
            raise
        raise explained from error
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise Unreadable(f"the output has an unknown form ({type(error).__name__})") from error


def _explained(error: Unreadable, output: CommandOutput) -> Unreadable:
    """The parser's refusal; where it knows no reason and the run does, with that reason."""
    if error.code != Reason.UNREADABLE:
        return error
    if output.stdout_cut:
        words = f"the output was cut at {len(output.stdout):,} bytes"
        return Unreadable(words, code=Reason.CUT_OFF, reading=error.reading)
    return _denied(output, error.reading) if _says_denied(output) else error


def _says_denied(output: CommandOutput) -> bool:
    return output.exit_code != 0 and "permission denied" in output.error_text.lower()


def _denied(output: CommandOutput, reading: object = None) -> Unreadable:
    said = next((line for line in output.error_text.splitlines() if "permission denied" in line.lower()), "")
    words = said.strip()[:200] or _first_line(output.error_text) or _first_line(output.text) or "permission denied"
    return Unreadable(words, code=Reason.DENIED, next_step="ask the supplier for read access", reading=reading)


def _refuse_bad_exit(fact: Fact, output: CommandOutput) -> None:
    code, tool = output.exit_code, fact.command.tool if fact.command else "the command"
    said = _first_line(output.error_text) or _first_line(output.text)
    if code is None:
        raise Unreadable("no exit code came", code=Reason.CONNECTION_LOST)
    if code in (124, 137):
        raise Unreadable(
            f"{tool} gave no answer within {_waited_s(fact, output)} s", code=Reason.TIMEOUT,
            next_step="run it by hand on the node; a driver that hangs needs the supplier",
        )  # fmt: skip
    if code == 127:
        raise Unreadable(
            f"{tool} is not installed on the node" if fact.command and fact.command.argv else said or "a tool is missing",
            code=Reason.MISSING_TOOL, next_step="ask the supplier for it, or for its full path",
        )  # fmt: skip
    read_anyway = fact.ok_codes is None or code in fact.ok_codes
    if code == 126 or _says_denied(output) and not read_anyway:
        raise _denied(output)
    if not read_anyway:
        raise Unreadable(f"{tool} ended with exit code {code}: {said}" if said else f"{tool} ended with exit code {code}")


def _waited_s(fact: Fact, output: CommandOutput) -> int:
    """Whole seconds that the command had: less than its limit when another one hung before it."""
    return min(fact.seconds, max(1, round(output.seconds))) if output.seconds else fact.seconds


def _first_line(text: str) -> str:
    return next((line.strip()[:200] for line in text.splitlines() if line.strip()), "")


def recognise(text: str) -> str | None:
    """The id of the kind that `text` is most surely of; None when no kind knows it."""
    plain = clean(text)
    scores = {id_: reader.recognise(plain) for id_, reader in readers().items()}
    best = max(scores, key=lambda id_: scores[id_])
    return best if scores[best] > 0 else None
