"""How fast are matrix products on each GPU? Needs PyTorch only; prints one JSON object a line.

    python3 matmul.py [--seconds 20] [--kinds fp16,bf16,fp32,fp64,fp8] [--sizes 4096,8192] [--device cpu] [--soak]
"""

import argparse
import json
import math
import os
import subprocess
import sys
import threading
import time

TASK = "matmul"
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


def make(torch, kind, size, device):
    """A function that multiplies two matrices of this kind, and its last result."""
    kinds = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}
    if kind == "fp8":
        wide = [torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2)]
        a, b = wide[0].to(torch.float8_e4m3fn), wide[1].to(torch.float8_e4m3fn).t()
        one = torch.ones((), device=device)
        return lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    a, b = (torch.randn(size, size, device=device, dtype=kinds[kind]) for _ in range(2))
    c = torch.empty(size, size, device=device, dtype=kinds[kind])
    return lambda: torch.mm(a, b, out=c)


def wait(torch, devices):
    for device in devices:
        if device.type == "cuda":
            torch.cuda.synchronize(device)


class Stretch:
    """All GPUs at once: so many products on each, timed on each by its own events."""

    def __init__(self, torch, products, devices, size):
        self.torch, self.products, self.devices = torch, products, devices
        self.flop = 2.0 * size ** 3

    def rates(self, rounds):
        torch, marks = self.torch, []
        for device in self.devices:
            with_events = device.type == "cuda"
            marks.append([torch.cuda.Event(enable_timing=True) for _ in range(2)] if with_events else [0.0, 0.0])
        for n, device in enumerate(self.devices):
            self._mark(marks[n], 0, device)
        for _ in range(rounds):
            for n in range(len(self.devices)):
                self.products[n]()
        for n, device in enumerate(self.devices):
            self._mark(marks[n], 1, device)
        wait(torch, self.devices)
        return [self.flop * rounds / max(1e-9, self._seconds(mark)) / 1e12 for mark in marks]

    def _mark(self, mark, which, device):
        if device.type == "cuda":
            mark[which].record(self.torch.cuda.current_stream(device))
        else:
            mark[which] = time.perf_counter()

    def _seconds(self, mark):
        return mark[1] - mark[0] if isinstance(mark[0], float) else mark[0].elapsed_time(mark[1]) / 1000.0

    def rounds_for(self, seconds):
        """How many products take about so long on the slowest GPU."""
        self.rates(1)
        slowest = min(self.rates(2))
        return max(1, int(seconds * slowest * 1e12 / self.flop))


def finite(torch, products):
    return [bool(torch.isfinite(product()[:64].float()).all()) for product in products]


def best(torch, kind, size, devices, found, seconds):
    """The best of five short stretches per GPU."""
    products = [make(torch, kind, size, device) for device in devices]
    stretch = Stretch(torch, products, devices, size)
    rounds = stretch.rounds_for(seconds)
    rates = [max(gpu) for gpu in zip(*[stretch.rates(rounds) for _ in range(5)])]
    good = finite(torch, products)
    for n, rate in enumerate(rates):
        say("best", gpu=found[n]["gpu"], uuid=found[n]["uuid"], kind=kind, size=size, tflops=rate, finite=good[n])


def sustained(torch, kind, size, devices, found, seconds):
    """The rate of every second (of every ten in a long run) per GPU."""
    products = [make(torch, kind, size, device) for device in devices]
    stretch = Stretch(torch, products, devices, size)
    piece = 1.0 if seconds <= 120 else 10.0
    rounds, end = stretch.rounds_for(piece), time.monotonic() + seconds
    while time.monotonic() < end:
        rates = stretch.rates(rounds)
        for n, rate in enumerate(rates):
            say("sustained", gpu=found[n]["gpu"], uuid=found[n]["uuid"], kind=kind, size=size, tflops=rate)
    for n, good in enumerate(finite(torch, products)):
        if not good:
            say("sustained", gpu=found[n]["gpu"], uuid=found[n]["uuid"], kind=kind, size=size, tflops=float("nan"))


def attempt(work, kind, size, *words):
    """Run one part; what this torch or this card cannot do is said and passed over."""
    try:
        work(kind, size, *words)
    except (RuntimeError, AttributeError, TypeError, NotImplementedError) as error:
        say("skip", kind=kind, size=size, why=str(error).split("\n")[0][:200])


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--kinds", default="fp16,bf16,fp32,fp64,fp8")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--device", default="")
    parser.add_argument("--soak", action="store_true")
    return parser.parse_args()


def main():
    global TASK
    asked = options()
    TASK = "soak" if asked.soak else TASK
    try:
        import torch
    except (ImportError, OSError) as error:
        say("absent", what="torch", missing=getattr(error, "name", "") == "torch", why=str(error).split("\n")[0][:200])
        return 3
    on_gpu = asked.device != "cpu" and torch.cuda.is_available()
    found, driver = cards(torch) if on_gpu else ([{"gpu": 0, "uuid": None, "name": "cpu"}], None)
    devices = [torch.device("cuda", card["gpu"]) if on_gpu else torch.device("cpu") for card in found]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(20)
    sizes = [int(size) for size in asked.sizes.split(",") if size] or ([4096, 8192, 16384] if on_gpu else [128, 256])
    say("start", torch=torch.__version__, cuda=torch.version.cuda, driver=driver, device="cuda" if on_gpu else "cpu", cards=found,
        seconds=asked.seconds, tf32=False)
    looks = Looks()
    if on_gpu:
        looks.look("before")
        looks.start()
    if not asked.soak:
        for kind in asked.kinds.split(","):
            for size in sizes:
                attempt(lambda k, s: best(torch, k, s, devices, found, 0.2 if on_gpu else 0.02), kind, size)
                if on_gpu:
                    torch.cuda.empty_cache()
    say("phase", name="sustained")
    attempt(lambda k, s: sustained(torch, k, s, devices, found, asked.seconds), "bf16" if on_gpu else "fp32", 8192 if on_gpu else sizes[-1])
    looks.close()
    say("end", good=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
