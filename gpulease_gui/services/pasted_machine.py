"""What do lspci, fio, id and systemd-detect-virt, as a supplier runs them, say in the words of our own facts?"""

from __future__ import annotations

from collections.abc import Iterator

from gpulease_gui.facts.access import Access
from gpulease_gui.facts.detect_virt import Virtualization
from gpulease_gui.facts.disk_random import READ, WRITE
from gpulease_gui.facts.disk_rates import DiskRates, FioTry
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.fio_json import FioJob, FioReport, Flow
from gpulease_gui.facts.fio_set import FioSet, FioTest
from gpulease_gui.facts.id_words import User
from gpulease_gui.facts.lspci import PciDevice as ListedDevice
from gpulease_gui.facts.lspci import PciList
from gpulease_gui.facts.pci_devices import PciBus, PciDevice, bus_id

_SMALL_BYTES = 4096
_LARGE_BYTES = 128 * 1024


def bus_of_list(listed: PciList) -> PciBus:
    """The functions whose ids and class are printed (-nn, -n, -vmm); nothing is said of the others."""
    devices = tuple(found for device in listed.devices if (found := _function(device)) is not None)
    return PciBus(bool(devices), None, devices)


def _function(device: ListedDevice) -> PciDevice | None:
    slot = bus_id(device.slot)
    if slot is None or device.vendor_id is None or device.device_id is None or device.class_code is None:
        return None
    return PciDevice(slot, device.vendor_id, device.device_id, f"{device.class_code}00")


def access_of(user: User) -> Access:
    """The rights of the user; of the ways in this says nothing."""
    return Access(user.uid, user.groups or (), (), (), (), None, ())


def environment_of(virtualization: Virtualization) -> Environment:
    """The tool asks the processor for a hypervisor, and looks for the marks of containers."""
    word = virtualization.word
    if virtualization.is_container:
        return Environment(virt_container=word, container_signs=(f"systemd-detect-virt: {word}",))
    return Environment(virt_vm=word, cpu_hypervisor=True if virtualization.is_machine else None)


def disks_of_fio(report: FioReport) -> Iterator[tuple[str, object, bool]]:
    """Large blocks in a row are a throughput, 4 KiB at random are IOPS; a mixed job is neither."""
    rows = {way: _tries(report, way) for way in ("read", "write")}
    if any(rows.values()):
        yield "disk_rates", DiskRates(rows["read"], rows["write"]), False
    small = tuple((way, tests) for way in (READ, WRITE) if (tests := _tests(report, way)))
    if small:
        yield "disk_random", FioSet(small), False


def _tries(report: FioReport, way: str) -> tuple[FioTry, ...]:
    jobs = [job for job in report.jobs if _is_sequential(job, way)]
    rates = [rate for job in jobs if (rate := _flow(job, way).bw_bytes_s)]
    if not rates:
        return ()
    return (FioTry(sum(rates) / 1e6, _direct(jobs), _seconds(jobs, way), _trouble(report)),)


def _is_sequential(job: FioJob, way: str) -> bool:
    if job.way is not None and job.way != way:
        return False
    block = _block_bytes(_flow(job, way))
    return block is not None and block >= _LARGE_BYTES and not _is_mixed(job)


def _tests(report: FioReport, way: str) -> tuple[FioTest, ...]:
    direction = "read" if way == READ else "write"
    jobs = [job for job in report.jobs if job.way == way and _is_small(_flow(job, direction))]
    iops = sum(_flow(job, direction).iops or 0.0 for job in jobs)
    if not iops:
        return ()
    latencies = [p99 / 1e6 for job in jobs if (p99 := _flow(job, direction).p99_ns) is not None]
    return (
        FioTest(
            iops, p99_ms=max(latencies, default=None), direct=_direct(jobs), seconds=_seconds(jobs, direction), trouble=_trouble(report)
        ),
    )


def _flow(job: FioJob, way: str) -> Flow:
    return job.read if way == "read" else job.write


def _is_mixed(job: FioJob) -> bool:
    return bool(job.read.io_count and job.write.io_count)


def _block_bytes(flow: Flow) -> float | None:
    return flow.bw_bytes_s / flow.iops if flow.bw_bytes_s and flow.iops else None


def _is_small(flow: Flow) -> bool:
    block = _block_bytes(flow)
    return block is not None and abs(block - _SMALL_BYTES) < _SMALL_BYTES / 4


def _direct(jobs: list[FioJob]) -> bool | None:
    states = {job.direct for job in jobs}
    return states.pop() if len(states) == 1 else None


def _seconds(jobs: list[FioJob], way: str) -> float | None:
    return max((ms / 1000 for job in jobs if (ms := _flow(job, way).runtime_ms)), default=None)


def _trouble(report: FioReport) -> str:
    if report.error_code:
        return f"fio error {report.error_code}: {report.error_text or ''}".rstrip(": ")
    return f"fio jobs with an error: {', '.join(report.failed_jobs)[:200]}" if report.failed_jobs else ""
