"""How does fio print a disk measurement on a simulated node?"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gpulease_gui.demo.machine import Disk, Machine

_BLOCK = 1 << 20
_SMALL = 4096
_NAMES = ("read", "write", "trim")
# Random and flushed access against the rate in a row: what drives of this class do.
_RANDOM_SHARE = 0.3
_FLUSH_NS = 780_000


def fio_json(machine: Machine, options: Mapping[str, str], seconds: float, turn: int = 0) -> str:
    """The JSON of one job; the rate is the disk's own, a little noisy. Random and flushed access is slower."""
    disk, flushed = machine.fastest_disk, "fsync" in options
    block, rates = _block(options), fio_rates(machine, options, turn)
    job = {
        "jobname": options.get("name", "job"), "groupid": 0, "error": 0, "eta": 0, "elapsed": int(seconds) + 1,
        "job options": dict(options),
        **{name: _side(rate, seconds, block) for name, rate in rates.items()},
        "sync": _sync(int(rates["write"] * seconds / block) if flushed else 0),
        "job_runtime": int(seconds * 1000), "usr_cpu": 2.4, "sys_cpu": 11.8, "ctx": 48211, "majf": 0, "minf": 57,
        "latency_depth": 32, "latency_target": 0, "latency_percentile": 100.0, "latency_window": 0,
    }  # fmt: skip
    document = {
        "fio version": "fio-3.36", "global options": {}, "jobs": [job],
        "disk_util": [{"name": disk.name, "util": 96.2}],
    }  # fmt: skip
    return json.dumps(document, indent=2) + "\n" + (_log(max(rates.values()), seconds) if "write_bw_log" in options else "")


def fio_rates(machine: Machine, options: Mapping[str, str], turn: int = 0) -> dict[str, float]:
    """Bytes/s that a job reads, writes and trims."""
    direction = options.get("rw", "read")
    dice = machine.dice(f"fio {direction} {turn}")
    share = _RANDOM_SHARE if "rand" in direction and _block(options) == _SMALL else 1.0
    rates = {name: _rate(machine.fastest_disk, name, direction) * share * 1e6 * dice.uniform(0.99, 1.01) for name in _NAMES}
    return {name: min(rate, _SMALL / (_FLUSH_NS / 2e9)) for name, rate in rates.items()} if "fsync" in options else rates


def _block(options: Mapping[str, str]) -> int:
    return _SMALL if options.get("bs") == "4k" else _BLOCK


def filled(machine: Machine, options: Mapping[str, str], turn: int = 0) -> str:
    """What a script prints that fills the disk and reads a hundredth back: all of it, at the disk's own rates."""
    sample = options.get("io_size", "").removesuffix("M")
    # The hundredth was rounded down, so that the whole may be almost a hundred blocks more.
    size = ((int(sample) if sample.isdigit() else 8) + 1) * 100 * _BLOCK
    seconds = size / 1e6 / max(1.0, max(disk.write_mb_s for disk in machine.disks))
    wrote = json.loads(fio_json(machine, {"rw": "write", "direct": "1"}, seconds, turn))
    wrote["jobs"][0]["write"]["io_bytes"] = size
    read = fio_json(machine, {**options, "direct": "1"}, seconds / 100, turn)
    course = _log(wrote["jobs"][0]["write"]["bw_bytes"], min(seconds, 3600.0))
    return f"{json.dumps(wrote)}\n{course}\ngpulease read back after 0\n{read}"


def _log(rate: float, seconds: float) -> str:
    """What a script prints of the bandwidth log behind the document: a point a second."""
    lines = "".join(f"{1000 * n}, {int(rate / 1024)}, 1, {_BLOCK}, 0\n" for n in range(1, max(1, round(seconds)) + 1))
    return f"\ngpulease bandwidth log\n{lines}"


def _sync(count: int) -> dict[str, object]:
    """The flushes: none, or each of `count` within a millisecond."""
    return {"total_ios": count, "lat_ns": _clat(_FLUSH_NS // 2, count)}


def _rate(disk: Disk, name: str, direction: str) -> float:
    if name == "trim" or name not in direction:
        return 0.0
    return disk.read_mb_s if name == "read" else disk.write_mb_s


def _side(rate: float, seconds: float, block: int) -> dict[str, object]:
    ios = int(rate * seconds / block)
    latency = int(32 * block / rate * 1e9) if rate else 0
    return {
        "io_bytes": ios * block, "io_kbytes": ios * (block >> 10), "bw_bytes": int(rate), "bw": int(rate / 1024),
        "iops": round(rate / block, 6), "runtime": int(seconds * 1000) if rate else 0, "total_ios": ios, "short_ios": 0,
        "drop_ios": 0, "slat_ns": _spread(latency // 60, ios), "clat_ns": _clat(latency, ios),
        "lat_ns": _spread(latency, ios), "bw_min": int(rate / 1024 * 0.96), "bw_max": int(rate / 1024 * 1.03),
        "bw_agg": 100.0 if rate else 0.0, "bw_mean": round(rate / 1024, 3), "bw_dev": round(rate / 1024 * 0.01, 3),
        "bw_samples": int(seconds * 2) if rate else 0,
    }  # fmt: skip


def _spread(mean: int, count: int) -> dict[str, object]:
    return {"min": mean // 2, "max": mean * 3, "mean": float(mean), "stddev": round(mean * 0.2, 6), "N": count}


def _clat(mean: int, count: int) -> dict[str, object]:
    if not count:
        return _spread(0, 0)
    marks = {"1.000000": 0.62, "50.000000": 0.98, "90.000000": 1.21, "99.000000": 1.66, "99.900000": 2.4}
    return {**_spread(mean, count), "percentile": {mark: int(mean * factor) for mark, factor in marks.items()}}
