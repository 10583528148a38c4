"""Does an nvidia-smi output hold an error of the driver instead of a reading?"""

from __future__ import annotations

import re

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean

_DRIVER_DEAD = re.compile(
    r"NVIDIA-SMI has failed|Failed to initialize NVML|couldn't communicate with the NVIDIA driver|No devices were found"
    r"|Unable to determine the device handle|GPU is lost|Driver/library version mismatch",
    re.IGNORECASE,
)


def failed_after(output: CommandOutput, reading: object, what: str) -> Unreadable:
    """`what` was printed, but the command failed: what is bad in `reading` stands, what is good proves nothing."""
    return Unreadable(
        f"nvidia-smi ended with exit code {output.exit_code} after its {what}", code=Reason.DRIVER,
        next_step="run it again by hand; if it fails again, the driver of the node needs the supplier", reading=reading,
    )  # fmt: skip


def no_reading(output: CommandOutput, what: str) -> Unreadable:
    """Why `output` holds no `what`: driver not answering, tool missing, denied, or unknown text.

    The nvidia-smi errors are told on standard output with exit codes from 1 to 18.
    """
    text = clean(output.text + "\n" + output.error_text)
    said = next((line.strip()[:200] for line in text.split("\n") if line.strip()), "")
    if _DRIVER_DEAD.search(text):
        return Unreadable(
            said, code=Reason.DRIVER, next_step="the driver of the node does not answer: ask the supplier to repair it"
        )
    if MISSING_TOOL_WORDS.search(text):
        return Unreadable(said, code=Reason.MISSING_TOOL, next_step="ask the supplier for nvidia-smi, or its full path")
    if "insufficient permissions" in text.lower() or "permission denied" in text.lower():
        return Unreadable(said, code=Reason.DENIED, next_step="ask the supplier for read access")
    return Unreadable(f"no {what} in the output: {said}" if said else f"the output holds no {what}: it is empty")
