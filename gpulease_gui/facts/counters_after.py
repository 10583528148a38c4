"""What do the error counters of the cards say after the measurements of a run?"""

from __future__ import annotations

import json
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import nvlink_errors, smi_xml
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.nvlink_errors import NvlinkErrors
from gpulease_gui.facts.raw_runs import pack, unpack
from gpulease_gui.facts.smi_xml import SmiReport

STATE, LINKS = Command("nvidia-smi", "-q", "-x"), Command("nvidia-smi", "nvlink", "-e")

FACT = Fact(
    id="counters_after", title=Text("Error counters after the run", "测试后的错误计数"),
    command=Command(script=f"{STATE.line}\n{LINKS.line}\n"), seconds=90, impact=Impact.ACTIVE, lane="nvidia",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CountersAfter:
    """The later report, and the later link counters (None = they gave no reading, or not a whole one)."""

    report: SmiReport
    links: NvlinkErrors | None


def combine(state: CommandOutput, links: CommandOutput) -> CommandOutput:
    """One output that holds both."""
    return CommandOutput(json.dumps({"counters_after": [pack(state), pack(links)]}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> CountersAfter:
    """Read a combined output. Raises Unreadable where the report can't be read."""
    found = document(output.text)
    runs = unpack(found.get("counters_after"))
    if len(runs) != 2:
        raise Unreadable("the counters were not read again", code=Reason.NOT_COLLECTED)
    return CountersAfter(_report(runs[0]), _links(runs[1]))


def _report(run: CommandOutput) -> SmiReport:
    try:
        return smi_xml.parse(run)
    except Unreadable as error:
        # A part of a later report proves nothing about the cards that it leaves out.
        raise Unreadable(error.reason, code=error.code, next_step=error.next_step) from error


def _links(run: CommandOutput) -> NvlinkErrors | None:
    try:
        found = nvlink_errors.parse(run)
    except Unreadable:
        return None
    return None if found.cut_off or run.exit_code != 0 else found


def as_dict(reading: CountersAfter) -> dict[str, object]:
    """Lists over the cards: corrected, replays, remapped; links: how many cards told their link counters, None = none."""
    gpus = reading.report.gpus
    return {
        "gpus": len(gpus),
        "corrected": [g.ecc_corrected_volatile for g in gpus],
        "replays": [g.pcie_replay_count for g in gpus],
        "remapped": [g.remapped_rows_correctable for g in gpus],
        "links": None if reading.links is None else len(reading.links.gpus),
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"counters_after": ') else 0
