"""Which fact of ours does an output answer that only suppliers send?"""

from __future__ import annotations

from collections.abc import Iterator

from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf_pair import IperfPair, IperfTry
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_record import Gpu
from gpulease_gui.facts.smi_table import SmiTable
from gpulease_gui.facts.smi_xml import SmiReport

# Fact id, its reading, whether the form tells as much as the fact itself.
Answer = tuple[str, object, bool]


def as_facts(kind: str, reading: object) -> Iterator[Answer]:
    """The facts that a reading of `kind` stands for, besides its own; what the form does not say stays None."""
    if kind == "smi_q" and isinstance(reading, SmiReport):
        yield "smi_xml", reading, True
    elif isinstance(reading, SmiTable):
        yield "smi_xml", _report_of_table(reading), False
    elif isinstance(reading, SmiList):
        yield "smi_xml", _report_of_list(reading), False
    elif isinstance(reading, IperfRun):
        yield "iperf_pair", _pair(reading), True


def _report_of_table(table: SmiTable) -> SmiReport:
    gpus = tuple(
        Gpu(
            gpu.index, gpu.bus_id, name=gpu.name, memory_total_mib=gpu.memory_total_mib, memory_used_mib=gpu.memory_used_mib,
            power_limit_w=gpu.power_cap_w, temperature_c=gpu.temperature_c, mig_mode_current=gpu.mig_mode,
        )
        for gpu in table.gpus
    )  # fmt: skip
    return SmiReport(table.driver_version, table.cuda_version, None, gpus)


def _report_of_list(listed: SmiList) -> SmiReport:
    gpus = tuple(
        Gpu(gpu.index, uuid=gpu.uuid, name=gpu.name, mig_devices=sum(d.gpu == gpu.index for d in listed.mig_devices) or None)
        for gpu in listed.gpus
    )
    return SmiReport(None, None, None, gpus)


def _pair(run: IperfRun) -> IperfPair:
    """The direction is told by -R; without it, or both ways at once, nobody knows which way it was."""
    tried = (IperfTry(run, run.error or ""),)
    if run.reverse is None or run.bidirectional:
        return IperfPair()
    return IperfPair(backward=tried) if run.reverse else IperfPair(forward=tried)
