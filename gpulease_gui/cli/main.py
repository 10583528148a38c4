"""Which command was asked for?"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from types import TracebackType
from typing import NoReturn

from gpulease_gui import __version__
from gpulease_gui.cli.codes import Exit
from gpulease_gui.domain.errors import UsageError, UserFacing

# Command -> one line of help. The module of the same name is imported only when it is asked for.
COMMANDS = {
    "parse": "read saved tool outputs",
    "checks": "list the checks, or every command that can ever be run on a node",
    "verify": "check a node against a terms file or a contract",
    "rejudge": "judge a stored run again by today's rules or another contract, without the node",
    "judge": "judge outputs that a supplier sent",
    "diff": "say what changed on a node between two runs",
    "export": "write the evaluation of a contract as PDF",
    "cost": "price offers for workloads from a file",
    "score": "score offers by their checklist answers from a file",
    "size": "say whether a model fits on GPUs, from a file",
    "demo": "list and serve the demo nodes",
    "agent": "sample this computer's GPUs as JSON lines",
}


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code for a wrong call."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {message}", file=sys.stderr)
        sys.exit(Exit.USAGE)


def _our_fault(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected is our own fault and has its own exit code; Python's would look like a failed node."""
    sys.__excepthook__(kind, fault, trace)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Exit.OUR_FAULT)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and give its exit code."""
    sys.excepthook = _our_fault
    words = sys.argv[1:] if arguments is None else arguments
    parser = _Parser(prog="gpulease", description="Judge rented GPU nodes: promise beside measurement.")
    parser.add_argument("--version", action="version", version=f"gpulease {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    asked = next((word for word in words if word in COMMANDS), None)
    for name, help_line in COMMANDS.items():
        sub = commands.add_parser(name, help=help_line, description=help_line)
        if name == asked:
            importlib.import_module(f"gpulease_gui.cli.{name}").add_arguments(sub)
    options = parser.parse_args(words)
    try:
        return int(importlib.import_module(f"gpulease_gui.cli.{options.command}").run(options))
    except UsageError as error:
        print(f"gpulease {options.command}: {error}", file=sys.stderr)
        return Exit.USAGE
    except UserFacing as error:
        print(f"gpulease {options.command}: {error}", file=sys.stderr)
        return Exit.NOT_CONNECTED if getattr(error, "phase", None) else Exit.OUR_FAULT
    except BrokenPipeError:
        sys.stderr.close()
        return Exit.OK
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
