"""How fast are copies inside a GPU, between host and GPU, and from GPU to GPU? Needs PyTorch only; prints one JSON object a line.

    python3 gpu_copy.py [--mib 4096] [--repeats 20] [--device cpu]
"""

import argparse
import json
import math
import os
import subprocess
import sys
import threading
import time

TASK = "copy"
FIELDS = "index,uuid,clocks.sm,clocks.max.sm,power.draw,enforced.power.limit,power.default_limit,temperature.gpu,utilization.gpu"
NAMES = ("sm_mhz", "sm_max_mhz", "power_w", "limit_w", "default_limit_w", "temp_c", "util_percent")
os.environ.setdefault("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
START = time.monotonic()
PRINTING = threading.Lock()


def say(event, **more):
    """One line of the result; a number that is none is written as text, so that the line stays JSON."""
    row = {"gpulease_task": TASK, "event": event, "t_s": round(time.monotonic() - START, 3)}
    row.update(more)
    for key, value in list(row.items()):
        if isinstance(value, float) and not math.isfinite(value):
            row[key] = str(value)
    with PRINTING:
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def smi(*words):
    """The rows of one call of nvidia-smi; None where there is none or it fails."""
    try:
        done = subprocess.run(
            ("nvidia-smi",) + words + ("--format=csv,noheader,nounits",), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=15
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if done.returncode:
        return None
    return [[cell.strip() for cell in line.split(",")] for line in done.stdout.decode("utf-8", "replace").splitlines() if line.strip()]


def number(cell):
    """A cell as a number; None when it is none."""
    try:
        return float(cell)
    except ValueError:
        return None


class Looks(threading.Thread):
    """Clocks, power, temperature and what slowed them, once a second, while the load runs."""

    def __init__(self):
        threading.Thread.__init__(self, daemon=True)
        self.ended = threading.Event()
        self.reasons = "clocks_event_reasons.active"

    def look(self, phase):
        rows = smi("--query-gpu=%s,%s" % (FIELDS, self.reasons))
        if rows is None and self.reasons == "clocks_event_reasons.active":
            self.reasons = "clocks_throttle_reasons.active"
            rows = smi("--query-gpu=%s,%s" % (FIELDS, self.reasons))
        for cells in rows or ():
            if len(cells) == len(NAMES) + 3:
                values = dict(zip(NAMES, map(number, cells[2:-1])))
                say("look", phase=phase, index=int(cells[0]), uuid=cells[1], reasons=cells[-1], **values)
        return bool(rows)

    def run(self):
        while not self.ended.wait(1.0):
            if not self.look("load"):
                return

    def close(self):
        self.ended.set()
        if self.is_alive():
            self.join(20)


def cards(torch):
    """What torch sees, each with the UUID that nvidia-smi prints."""
    listed = smi("--query-gpu=index,uuid,driver_version") or []
    found = []
    for n in range(torch.cuda.device_count()):
        about = torch.cuda.get_device_properties(n)
        uuid = str(getattr(about, "uuid", "") or "")
        if uuid and not uuid.startswith(("GPU-", "MIG-")):
            uuid = "GPU-" + uuid
        if not uuid and len(listed) == torch.cuda.device_count():
            uuid = listed[n][1]
        found.append({
            "gpu": n, "uuid": uuid or None, "name": about.name, "memory_mib": about.total_memory >> 20,
            "sm_count": about.multi_processor_count, "capability": "%d.%d" % (about.major, about.minor),
        })
    return found, listed[0][2] if listed and len(listed[0]) > 2 else None


def near_cpus(index):
    """The processors of the GPU's own socket; None where the system does not tell."""
    rows = smi("--query-gpu=pci.bus_id", "--id=%d" % index)
    try:
        with open("/sys/bus/pci/devices/%s/local_cpulist" % rows[0][0].lower()[-12:]) as file:
            text = file.read()
    except (OSError, TypeError, IndexError):
        return None
    cpus = set()
    for part in text.strip().split(","):
        low, _, high = part.partition("-")
        if low.isdigit():
            cpus.update(range(int(low), int(high or low) + 1))
    return cpus & os.sched_getaffinity(0) or None


def timed(torch, device, work, repeats):
    """Seconds of each of `repeats` calls, the first three left out."""
    found = []
    for n in range(repeats + 3):
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        begin = time.perf_counter()
        work()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        if n >= 3:
            found.append(time.perf_counter() - begin)
    return sorted(found)


def tell(event, seconds, size_bytes, **more):
    """The median and the best of the calls in GB/s (1e9 bytes)."""
    middle = seconds[len(seconds) // 2]
    say(event, gb_s=size_bytes / max(1e-9, middle) / 1e9, best_gb_s=size_bytes / max(1e-9, seconds[0]) / 1e9,
        mib=size_bytes >> 20, repeats=len(seconds), **more)


def inside(torch, device, card, mib, repeats):
    """Read and write by a kernel, both counted; far larger than any cache."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        mib = max(64, min(mib, (free >> 20) // 3))
    source = torch.ones(mib << 18, dtype=torch.float32, device=device)
    target = torch.empty_like(source)
    seconds = timed(torch, device, lambda: torch.neg(source, out=target), repeats)
    good = bool((target[:: max(1, len(target) // 4096)] == -1).all())
    tell("device_copy", seconds, 2 * (mib << 20), gpu=card["gpu"], uuid=card["uuid"], correct=good)


def copying(target, source):
    """A function that copies one tensor to another."""
    return lambda: target.copy_(source, non_blocking=True)


def host(torch, device, card, mib, repeats):
    """Pinned memory of the GPU's own socket, each way by itself."""
    mib = min(mib, 256)
    cpus = near_cpus(card["gpu"]) if device.type == "cuda" else None
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    near = torch.empty(mib << 20, dtype=torch.uint8, pin_memory=device.type == "cuda")
    near.fill_(7)
    far = torch.empty(mib << 20, dtype=torch.uint8, device=device)
    for event, target, source in (("h2d", far, near), ("d2h", near, far)):
        seconds = timed(torch, device, copying(target, source), repeats)
        tell(event, seconds, mib << 20, gpu=card["gpu"], uuid=card["uuid"], pinned=bool(near.is_pinned()) if device.type == "cuda" else False,
             own_socket=bool(cpus), correct=bool((target[::65536] == 7).all()))
    os.sched_setaffinity(0, before)


def pairs(torch, devices, found, mib, repeats):
    """Every GPU to every other one, one way at a time."""
    size = min(mib, 512) << 20
    for a, source_device in enumerate(devices):
        source = torch.ones(size, dtype=torch.uint8, device=source_device)
        for b, target_device in enumerate(devices):
            if a == b:
                continue
            target = torch.empty(size, dtype=torch.uint8, device=target_device)
            seconds = timed(torch, target_device, copying(target, source), repeats)
            tell("d2d", seconds, size, gpu=found[a]["gpu"], uuid=found[a]["uuid"], to_gpu=found[b]["gpu"], to_uuid=found[b]["uuid"],
                 peer=bool(torch.cuda.can_device_access_peer(source_device, target_device)), correct=bool((target[::65536] == 1).all()))


def attempt(part, work, *words, **card):
    """Run one part; what this torch or this card cannot do is said and passed over."""
    try:
        work(*words)
    except (RuntimeError, AttributeError, TypeError, NotImplementedError) as error:
        say("skip", kind=part, why=str(error).split("\n")[0][:200], **card)


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mib", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--device", default="")
    return parser.parse_args()


def main():
    asked = options()
    try:
        import torch
    except (ImportError, OSError) as error:
        say("absent", what="torch", missing=getattr(error, "name", "") == "torch", why=str(error).split("\n")[0][:200])
        return 3
    on_gpu = asked.device != "cpu" and torch.cuda.is_available()
    found, driver = cards(torch) if on_gpu else ([{"gpu": 0, "uuid": None, "name": "cpu"}], None)
    devices = [torch.device("cuda", card["gpu"]) if on_gpu else torch.device("cpu") for card in found]
    mib = asked.mib or (4096 if on_gpu else 128)
    say("start", torch=torch.__version__, cuda=torch.version.cuda, driver=driver, device="cuda" if on_gpu else "cpu", cards=found)
    looks = Looks()
    if on_gpu:
        looks.look("before")
        looks.start()
    for device, card in zip(devices, found):
        attempt("device_copy", inside, torch, device, card, mib, asked.repeats, gpu=card["gpu"], uuid=card["uuid"])
        attempt("host", host, torch, device, card, mib, asked.repeats, gpu=card["gpu"], uuid=card["uuid"])
        if on_gpu:
            torch.cuda.empty_cache()
    if len(devices) > 1:
        attempt("d2d", pairs, torch, devices, found, mib, max(3, asked.repeats // 4))
    looks.close()
    say("end", good=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
