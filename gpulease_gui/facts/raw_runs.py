"""How do several runs of one tool travel as one evidence document?"""

from __future__ import annotations

import json
from typing import Any

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason

MAX_RUNS = 16
# The code of a test that ended well by its own account and moved not a byte: no missing reading, but a fault.
NOTHING_MOVED = "nothing_moved"


def pack(output: CommandOutput) -> object:
    """The tool's JSON document itself; where there is none, the words of the run."""
    if output.exit_code == 0 and not output.stdout_cut:
        try:
            found = json.loads(output.stdout)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict):
            return found
    return {"stdout": output.text, "stderr": output.error_text, "exit_code": output.exit_code, "cut": output.stdout_cut}


def unpack(told: Any) -> tuple[CommandOutput, ...]:
    """The runs that were packed: one, or a list of at most 16."""
    runs = told if isinstance(told, list) else [told]
    return tuple(_output(run) for run in runs[:MAX_RUNS] if isinstance(run, dict))


def reason_code(output: CommandOutput, error: Unreadable) -> str:
    """Why one of several runs gave no reading: the run's own end where that says it, else what the parser found."""
    codes: dict[int | None, str] = {
        127: Reason.MISSING_TOOL,
        124: Reason.TIMEOUT,
        137: Reason.TIMEOUT,
        None: Reason.CONNECTION_LOST,
    }
    return str(codes.get(output.exit_code, error.code))


def _output(run: dict[str, Any]) -> CommandOutput:
    if not isinstance(run.get("stdout"), str):
        return CommandOutput(json.dumps(run).encode())
    code, stderr = run.get("exit_code"), run.get("stderr")
    return CommandOutput(
        run["stdout"].encode(),
        stderr.encode() if isinstance(stderr, str) else b"",
        code if isinstance(code, int) else None,
        stdout_cut=run.get("cut") is True,
    )
