"""What does nvidia-smi mean when it prints an error instead of a report?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.smi_values import plain, plain_text

FACT = Fact(id="smi_error", title=Text("Error of nvidia-smi", "nvidia-smi 报错"), ok_codes=None)

_LONGEST = 20_000  # an error is short; a longer text is looked at only at its head
_BUS_ID = re.compile(r"(?<![0-9a-f:])(?:[0-9a-f]{4}|[0-9a-f]{8}):[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\b", re.IGNORECASE)
_FIELD = re.compile(r"Field \"([^\"\n]{1,200})\" is not a valid field", re.IGNORECASE)
_NVML = re.compile(r"NVML library version:\s*([0-9][0-9.]*)(?=\s)", re.IGNORECASE)  # no blank behind it: it may go on


@dataclass(frozen=True, slots=True)
class SmiError:
    """One failure. `state` is a word of the table below; the rest as far as the text names it."""

    state: str
    reason: str
    next_step: str
    bus_id: str | None = None
    field: str | None = None
    nvml_library_version: str | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    state: str
    pattern: re.Pattern[str]
    reason: str
    next_step: str


def _known(state: str, pattern: str, reason: str, next_step: str) -> _Known:
    return _Known(state, re.compile(pattern, re.IGNORECASE), reason, next_step)


_RESET = "ask the supplier to reset the GPU or restart the node, and for the kernel log of that moment"
_REPAIR = "ask the supplier to repair the driver and restart the node"
# The more telling words first: a lost GPU is also "unable to determine the device handle".
_TABLE = (
    _known("driver_library_mismatch", r"driver/library version mismatch",
           "the kernel module and the user library of the driver have different versions",
           "ask the supplier to restart the node or reload the driver"),
    _known("driver_not_communicating", r"could ?n[o']t communicate with the NVIDIA driver",
           "nvidia-smi can't reach the NVIDIA driver", _REPAIR),
    _known("driver_not_loaded", r"driver not loaded", "the NVIDIA driver is not loaded", _REPAIR),
    _known("gpu_lost", r"GPU is lost|fallen off the bus", "a GPU is lost: it no longer answers on the bus", _RESET),
    _known("gpu_requires_reset", r"GPU requires reset", "a GPU needs a reset", _RESET),
    _known("gpu_access_blocked", r"GPU access blocked by the operating system",
           "the operating system keeps nvidia-smi from the GPU", "look at the driver of the host (WSL) or the sandbox"),
    _known("insufficient_permissions", r"(?:in)?sufficient permissions?|permission denied",
           "this user may not talk to the GPU", "log in as a user who may, or ask the supplier for access"),
    _known("invalid_query_field", r"is not a valid field to query",
           "this driver doesn't know a queried field", "leave the field out, or ask for a newer driver"),
    _known("device_handle_unknown_error", r"unable to determine the device handle",
           "the driver fails to open one GPU", _RESET),
    _known("no_devices", r"no (?:supported )?(?:devices|gpus) (?:were )?found", "the driver sees no GPU",
           "ask the supplier whether a GPU is attached to this machine or container"),
    _known("nvml_library_missing", r"could ?n[o']t find libnvidia-ml|NVML shared library|libnvidia-ml\.so",
           "the NVML library of the driver is missing", "ask the supplier to mount or install the driver's libraries"),
    _known("nvml_unknown_error", r"failed to initiali[sz]e NVML:\s*unknown error",
           "NVML can't start: the GPUs were taken from this container", "restart the container, then ask the supplier"),
    _known("nvml_not_initialized", r"failed to initiali[sz]e NVML", "NVML can't start", _REPAIR),
    _known("missing_tool", r"nvidia-smi'?:? (?:command )?not found|nvidia-smi'? is not recognized|"
           r"nvidia-smi: no such file", "nvidia-smi is not installed on the node", "ask the supplier to install the driver"),
    _known("invalid_arguments", r"invalid combination of input arguments|is not a valid argument|option .{1,80} is not recognized",
           "this nvidia-smi doesn't know an option", "ask for a newer driver"),
    _known("inforom_corrupted", r"infoROM is corrupted", "the infoROM of a GPU is corrupted",
           "ask the supplier to replace the card"),
    _known("smi_failed", r"NVIDIA-SMI has failed", "nvidia-smi has failed", _REPAIR),
    _known("unknown_error", r"^\s*unknown error\s*$", "the driver answers with an unknown error", _RESET),
)  # fmt: skip


def find(text: str) -> SmiError | None:
    """The failure that `text` speaks of, None if it names none of those known."""
    head = plain(text[:_LONGEST]).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    joined = " ".join(head.split())  # a narrow terminal breaks the sentence
    for known in _TABLE:
        if known.pattern.search(head) or known.pattern.search(joined):
            bus, field, nvml = _BUS_ID.search(head), _FIELD.search(head), _NVML.search(head)
            return SmiError(
                known.state, known.reason, known.next_step, bus[0] if bus else None,
                field[1] if field else None, nvml[1].rstrip(".") if nvml else None,
            )  # fmt: skip
    return None


def unreadable(output: CommandOutput, otherwise: str) -> Unreadable:
    """What to raise for an output that is no report: the known failure, else `otherwise`."""
    for text in (plain_text(output), output.error_text):
        error = find(text)
        if error is not None:
            return Unreadable(error.reason, code=error.state, next_step=error.next_step)
    if not output.stdout.strip():
        return Unreadable("the output is empty", next_step="run the command by hand on the node")
    return Unreadable(otherwise)


def parse(output: CommandOutput) -> SmiError:
    """Read an error text. Raises Unreadable if it names no known failure."""
    error = find(plain_text(output)) or find(output.error_text)
    if error is None:
        raise unreadable(output, "no error of nvidia-smi is known in this text")
    return error


def as_dict(reading: SmiError) -> dict[str, object]:
    """The keys of `gpulease parse --kind smi_error`; no GPU can be read beside an error."""
    return {
        "state": reading.state,
        "bus_id": reading.bus_id,
        "field": reading.field,
        "nvml_library_version": reading.nvml_library_version,
        "gpus": 0,
    }


def recognise(text: str) -> int:
    """Sure for a short text with a known failure; a report that only mentions one is of its own kind."""
    lines = [line for line in text[:_LONGEST].splitlines() if line.strip()]
    if not lines or len(text) >= _LONGEST or len(lines) > 40 or find(text) is None:
        return 0
    return 75 if len(lines) <= 6 else 40
