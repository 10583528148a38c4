"""How fast does a small GPT learn synthetic tokens on one or all GPUs of a node? Needs PyTorch only; prints one JSON object a line.

    python3 tiny_gpt.py [--seconds 60] [--steps 0] [--gpus 0] [--device cpu] [--from-disk]

With more than one GPU it starts itself again through torchrun (torch.distributed.run) on this node.
"""

import argparse
import ctypes
import json
import math
import os
import subprocess
import sys
import threading
import time

TASK = "tiny_gpt"
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


SIZES = {  # width, layers, heads, context, batch of one GPU, vocabulary
    "cuda": (2048, 12, 16, 1024, 8, 8192),
    "cpu": (64, 2, 4, 64, 8, 256),
}


def ends_with_parent():
    """A worker must not outlive the program that started it, however that one ends."""
    try:
        ctypes.CDLL(None).prctl(1, 9)
    except (OSError, AttributeError):
        pass  # not Linux: torchrun itself ends its workers


def model_of(torch, width, layers, heads, context, vocabulary):
    """A plain decoder: embeddings, attention and feed-forward blocks before which values are normed, and a head."""
    nn, functional = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_a, self.norm_b = nn.LayerNorm(width), nn.LayerNorm(width)
            self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            parts = self.mix(self.norm_a(x)).view(batch, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], is_causal=True)
            x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
            return x + self.narrow(functional.gelu(self.wide(self.norm_b(x))))

    class TinyGpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
            self.blocks = nn.ModuleList([Block() for _ in range(layers)])
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, tokens, wanted):
            x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
            for block in self.blocks:
                x = block(x)
            return functional.cross_entropy(self.head(self.norm(x)).view(-1, vocabulary).float(), wanted.reshape(-1))

    return TinyGpt()


def synthetic(torch, rows, length, vocabulary, generator):
    """Rows that count on from a random start, modulo a sixteenth of the vocabulary: easy to learn, and never the same."""
    start = torch.randint(0, vocabulary, (rows, 1), generator=generator)
    return (start + torch.arange(length)) % max(16, vocabulary // 16)


class Disk:
    """Token rows of a file in the current folder, read past what the system may still hold of it."""

    def __init__(self, torch, context, vocabulary, mib):
        self.torch, self.row = torch, 8 * (context + 1)
        self.path = "gpulease_tokens_%d.bin" % os.getpid()
        self.rows = max(64, (mib << 20) // self.row)
        generator = torch.Generator().manual_seed(1)
        with open(self.path, "wb") as file:
            for begin in range(0, self.rows, 1024):
                many = synthetic(torch, min(1024, self.rows - begin), context + 1, vocabulary, generator)
                file.write(many.numpy().tobytes() if self._numpy() else bytes(many.untyped_storage()))
            file.flush()
            os.fsync(file.fileno())
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        self.file, self.at, self.bytes = open(self.path, "rb", buffering=0), 0, 0
        os.unlink(self.path)

    @staticmethod
    def _numpy():
        try:
            import numpy  # noqa: F401
        except ImportError:
            return False
        return True

    def batch(self, rows):
        found = bytearray(rows * self.row)
        view, filled = memoryview(found), 0
        while filled < len(found):
            got = self.file.readinto(view[filled:])
            if not got:
                self.file.seek(0)
            filled += got or 0
        self.bytes += filled
        return self.torch.frombuffer(found, dtype=self.torch.int64).view(rows, -1)


def train(torch, asked, rank, world, device):
    """The loop: rank 0 tells step, loss, tokens a second over all GPUs, and how long it waited for data."""
    width, layers, heads, context, batch, vocabulary = SIZES[device.type]
    torch.manual_seed(20)
    model = model_of(torch, width, layers, heads, context, vocabulary).to(device)
    count = sum(p.numel() for p in model.parameters())
    flop_token = 6.0 * (count - vocabulary * width) + 12.0 * layers * width * context
    if world > 1:
        model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[device.index] if device.type == "cuda" else None)
    steps = torch.optim.AdamW(model.parameters(), lr=3e-4 if device.type == "cuda" else 3e-3)
    generator = torch.Generator().manual_seed(100 + rank)
    disk = Disk(torch, context, vocabulary, 1024 if device.type == "cuda" else 8) if asked.from_disk else None
    if rank == 0:
        say("model", parameters=count, layers=layers, width=width, context=context, batch=batch, gpus=world, from_disk=bool(disk), warmup=5)
    begin, n, going = time.monotonic(), 0, True
    while going:
        at = time.perf_counter()
        rows = disk.batch(batch) if disk else synthetic(torch, batch, context + 1, vocabulary, generator)
        rows = rows.to(device, non_blocking=True)
        waited = time.perf_counter() - at
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            loss = model(rows[:, :-1], rows[:, 1:])
        loss.backward()
        steps.step()
        steps.zero_grad(set_to_none=True)
        value = float(loss.detach())  # waits for the GPU, so that a step is timed whole
        n += 1
        took = max(1e-9, time.perf_counter() - at)
        if rank == 0:
            tokens = batch * context * world
            say("step", step=n, loss=value, step_s=took, tokens_s=tokens / took, wait_s=waited, tflops_gpu=flop_token * tokens / took / world / 1e12)
        going = goes_on(torch, asked, begin, n, world, device)
    if rank == 0 and disk:
        say("disk", read_mb_s=disk.bytes / max(1e-9, time.monotonic() - begin) / 1e6)


def goes_on(torch, asked, begin, n, world, device):
    """Whether there is another step; all ranks agree on it."""
    more = n < asked.steps if asked.steps else time.monotonic() - begin < asked.seconds
    if world == 1:
        return more
    flag = torch.tensor([1 if more else 0], device=device)
    torch.distributed.all_reduce(flag, op=torch.distributed.ReduceOp.MIN)
    return bool(flag.item())


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--device", default="")
    parser.add_argument("--from-disk", action="store_true")
    return parser.parse_args()


def work(torch, asked, on_gpu):
    """One rank, started by torchrun or alone."""
    rank, world, local = (int(os.environ.get(name, default)) for name, default in (("RANK", "0"), ("WORLD_SIZE", "1"), ("LOCAL_RANK", "0")))
    device = torch.device("cuda", local) if on_gpu else torch.device("cpu")
    if on_gpu:
        torch.cuda.set_device(device)
        torch.set_float32_matmul_precision("high")
    if world > 1:
        ends_with_parent()
        torch.distributed.init_process_group("nccl" if on_gpu else "gloo")
    looks = Looks()
    if rank == 0:
        found, driver = cards(torch) if on_gpu else ([{"gpu": 0, "uuid": None, "name": "cpu"}], None)
        say("start", torch=torch.__version__, cuda=torch.version.cuda, driver=driver, device="cuda" if on_gpu else "cpu", cards=found)
        if on_gpu:
            looks.look("before")
            looks.start()
    try:
        train(torch, asked, rank, world, device)
    except RuntimeError as error:
        say("error", rank=rank, why=str(error).split("\n")[0][:300])
        return 1
    finally:
        looks.close()
        if world > 1:
            torch.distributed.destroy_process_group()
    if rank == 0:
        say("end", good=True)
    return 0


def main():
    global TASK
    asked = options()
    TASK = "tiny_gpt_from_disk" if asked.from_disk else TASK
    try:
        import torch
    except (ImportError, OSError) as error:
        say("absent", what="torch", missing=getattr(error, "name", "") == "torch", why=str(error).split("\n")[0][:200])
        return 3
    on_gpu = asked.device != "cpu" and torch.cuda.is_available()
    gpus = asked.gpus or (torch.cuda.device_count() if on_gpu else 1)
    if gpus > 1 and "RANK" not in os.environ:
        words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=%d" % gpus, os.path.abspath(__file__)]
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        os.execv(sys.executable, [sys.executable] + words + sys.argv[1:])
    return work(torch, asked, on_gpu)


if __name__ == "__main__":
    sys.exit(main())
