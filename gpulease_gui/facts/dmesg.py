"""Which GPU faults does the kernel log of this boot tell of?"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.dmesg_lines import KernelEvent, events, is_log_line, stamp_of
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean, ends_mid_line, first_line

# Nothing is filtered on the node and every refusal stays on standard error. The journal is asked for one line first,
# because to a user without access it ends with success and an empty list.
_SCRIPT = """\
dmesg --time-format iso
code=$?
if [ "$code" -ne 0 ] && [ "${GPULEASE_SUDO:-1}" != 0 ] && command -v sudo >/dev/null; then
  sudo -n dmesg --time-format iso && code=0
fi
if [ "$code" -ne 0 ] && command -v journalctl >/dev/null; then
  case "$(journalctl -k -b -n 1 -o cat --no-pager)" in
    '' | '-- No entries --'*)
      echo 'journalctl: no kernel messages are shown to this user' >&2
      code=1
      ;;
    *) journalctl -k -b -o short-iso --no-pager && code=0 ;;
  esac
fi
(exit "$code")"""

FACT = Fact(
    id="dmesg",
    title=Text("Kernel log", "内核日志"),
    command=Command(script=_SCRIPT),
    seconds=40,
    ok_codes=None,
)

_DENIED = re.compile(
    r"Operation not permitted|Permission denied|a password is required|insufficient permissions|not seeing messages from"
    r"|no kernel messages are shown|not in the sudoers|-- No entries --|No journal files were|Access denied",
    re.IGNORECASE,
)

_KERNEL_LINE = re.compile(r"\s*\[\s*\d{1,10}\.\d{6}\] \S|\s*kern\s*:\w+\s*: |.{12,90}? kernel: \S")

_SAID_BY_TOOL = re.compile(
    r"\s*(?:(?:dmesg|sudo|journalctl|Hint|sh|bash|-- No entries|No journal files)[: -]|\S+ is not in)"
)


@dataclass(frozen=True, slots=True)
class KernelLog:
    """The GPU events of a kernel log and the stretch that it covers.

    `first_stamp` and `last_stamp` are the texts of the first and last time stamp (None = lines have none).
    `cut_off`: the end is missing (the cap was reached, the command failed on the way, or the last line has no end).
    """

    events: tuple[KernelEvent, ...]
    first_stamp: str | None
    last_stamp: str | None
    line_count: int
    boot_id: str | None = None
    cut_off: bool = False

    def of_kind(self, kind: str) -> tuple[KernelEvent, ...]:
        """The events of one kind, in the order of the log."""
        return tuple(event for event in self.events if event.kind == kind)


def parse(output: CommandOutput) -> KernelLog:
    """Read the whole log. Raises Unreadable: denied, missing tool, or no kernel log (an empty one is never clean)."""
    text = clean(output.text)
    rows = [line for line in text.split("\n") if line.strip()]
    log_lines = [line for line in rows if not _is_refusal(line)]
    found = events(log_lines)
    if not found and not any(is_log_line(line) for line in log_lines):
        raise _no_log(output)
    refused = len(log_lines) < len(rows)
    failed = output.exit_code != 0 or refused or _journal_hides(output)
    if failed and not found:
        raise _no_log(output)
    whole = log_lines[:-1] if ends_mid_line(text) else log_lines  # the stamp of a torn line may be torn itself
    return KernelLog(
        events=found,
        first_stamp=stamp_of(whole),
        last_stamp=stamp_of(reversed(whole)),
        line_count=len(log_lines),
        cut_off=failed or output.stdout_cut or ends_mid_line(text),
    )


def _is_refusal(line: str) -> bool:
    """Is this a sentence of dmesg, sudo or journalctl, not a line of the log?"""
    return _SAID_BY_TOOL.match(line) is not None and bool(_DENIED.search(line) or MISSING_TOOL_WORDS.search(line))


def _journal_hides(output: CommandOutput) -> bool:
    return "not seeing messages from" in output.error_text


def _no_log(output: CommandOutput) -> Unreadable:
    said = clean(output.error_text + "\n" + output.text)
    line = first_line(output.error_text) or first_line(output.text)
    if _DENIED.search(said):
        return Unreadable(
            f"the kernel log is closed to this user: {line}", code=Reason.DENIED,
            next_step="ask the supplier for root, or for membership in the group adm or systemd-journal",
        )  # fmt: skip
    if MISSING_TOOL_WORDS.search(said):
        return Unreadable(line, code=Reason.MISSING_TOOL, next_step="ask the supplier for the kernel log of this boot")
    if not said.strip():
        return Unreadable(
            "the kernel log is empty", next_step="in a container it often is: ask the supplier for the host's log"
        )
    return Unreadable(f"this is no kernel log: {line}")


def as_dict(reading: KernelLog) -> dict[str, object]:
    """The keys of `gpulease parse --kind dmesg`; codes are the keys of the counts."""
    xids, sxids = reading.of_kind("xid"), reading.of_kind("sxid")
    devices: dict[str, set[int]] = {}
    for event in xids:
        if event.code is not None:
            devices.setdefault(event.bus_id or event.device, set()).add(event.code)
    others = Counter(event.kind for event in reading.events if event.kind not in ("xid", "sxid"))
    return {
        "lines": reading.line_count,
        "xid_events": len(xids),
        "xid_counts": _counts(xids),
        "xids_by_device": {device: sorted(codes) for device, codes in devices.items()},
        "sxid_counts": _counts(sxids),
        "other_events": dict(others),
        "first_stamp": reading.first_stamp,
        "last_stamp": reading.last_stamp,
        "cut_off": reading.cut_off,
    }


def _counts(found: tuple[KernelEvent, ...]) -> dict[str, int]:
    return {str(code): n for code, n in Counter(event.code for event in found).items() if code is not None}


def recognise(text: str) -> int:
    """GPU event lines, or lines that begin as kernel log lines do."""
    rows = [line for line in clean(text).split("\n") if line.strip()][:200]
    if any(re.search(r"NVRM:|\bSXid \(|\bXid \(PCI:", line) for line in rows):
        return 95
    stamped = sum(is_log_line(line) for line in rows)
    if rows and stamped * 2 > len(rows):
        return 60
    # An excerpt with a banner around it: a word of the kernel itself has to stand in it, since many logs have stamps.
    return 40 if any(_KERNEL_LINE.match(line) for line in rows) else 0
