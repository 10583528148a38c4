"""How does fio print a disk measurement on a simulated node?"""

from __future__ import annotations

import json
from collections.abc import Mapping

from gpulease_gui.demo.machine import Disk, Machine

_BLOCK = 1 << 20
_NAMES = ("read", "write", "trim")


def fio_json(machine: Machine, options: Mapping[str, str], seconds: float, turn: int = 0) -> str:
    """The JSON of one job of direct, sequential I/O; the rate is the disk's own, a little noisy."""
    direction = options.get("rw", "read")
    disk = max(machine.disks, key=lambda d: d.read_mb_s)
    dice = machine.dice(f"fio {direction} {turn}")
    rates = {name: _rate(disk, name, direction) * 1e6 * dice.uniform(0.99, 1.01) for name in _NAMES}
    job = {
        "jobname": options.get("name", "job"), "groupid": 0, "error": 0, "eta": 0, "elapsed": int(seconds) + 1,
        "job options": dict(options),
        **{name: _side(rate, seconds) for name, rate in rates.items()},
        "sync": {"total_ios": 0, "lat_ns": _spread(0, 0)},
        "job_runtime": int(seconds * 1000), "usr_cpu": 2.4, "sys_cpu": 11.8, "ctx": 48211, "majf": 0, "minf": 57,
        "latency_depth": 32, "latency_target": 0, "latency_percentile": 100.0, "latency_window": 0,
    }  # fmt: skip
    document = {
        "fio version": "fio-3.36", "global options": {}, "jobs": [job],
        "disk_util": [{"name": disk.name, "util": 96.2}],
    }  # fmt: skip
    return json.dumps(document, indent=2) + "\n"


def _rate(disk: Disk, name: str, direction: str) -> float:
    if name == "trim" or name not in direction:
        return 0.0
    return disk.read_mb_s if name == "read" else disk.write_mb_s


def _side(rate: float, seconds: float) -> dict[str, object]:
    ios = int(rate * seconds / _BLOCK)
    latency = int(32 * _BLOCK / rate * 1e9) if rate else 0
    return {
        "io_bytes": ios * _BLOCK, "io_kbytes": ios * (_BLOCK >> 10), "bw_bytes": int(rate), "bw": int(rate / 1024),
        "iops": round(rate / _BLOCK, 6), "runtime": int(seconds * 1000) if rate else 0, "total_ios": ios, "short_ios": 0,
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
