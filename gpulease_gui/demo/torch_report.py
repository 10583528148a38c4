"""What do the built-in tasks print on a simulated node: PyTorch on its cards, or none?"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gpulease_gui.demo.machine import GpuCard, Machine
from gpulease_gui.domain.command import CommandOutput

# Fact -> the name that its task prints. None takes as long as a real one: twenty minutes would be nobody's demo.
TASKS: Mapping[str, str] = MappingProxyType({
    "torch_matmul": "matmul", "torch_soak": "soak", "torch_copy": "copy", "torch_train": "tiny_gpt", "torch_loader": "tiny_gpt_from_disk",
})  # fmt: skip
_TAKES_S, _START_S, _IDLE, _POWER_CAP = 8.0, 7.4, 0x1, 0x4
_TOKENS_STEP, _FLOP_TOKEN = 8 * 1024, 3.9e9  # of one GPU and step, as the task's model has them


@dataclass(frozen=True, slots=True)
class _Pace:
    """What a healthy card of a kind does: TFLOP/s, GB/s, the SM clock under load, seconds of a step of the small GPT."""

    kinds: Mapping[str, float]
    held: float
    memory: float
    host: tuple[float, float]
    pairs: float
    without_nvlink: float
    load_mhz: int
    step_s: float


_PACES: Mapping[str, _Pace] = MappingProxyType({
    "2330": _Pace({"fp16": 778.0, "bf16": 786.0, "fp32": 51.6, "fp64": 60.7, "fp8": 1391.0}, 731.0, 2893.0, (51.3, 52.2), 374.6, 41.5, 1755, 0.118),
    "2331": _Pace({"fp16": 497.0, "bf16": 503.0, "fp32": 38.4, "fp64": 41.2, "fp8": 902.0}, 468.0, 1811.0, (51.9, 52.6), 38.2, 38.2, 1455, 0.187),
    "20B2": _Pace({"fp16": 257.0, "bf16": 266.0, "fp32": 19.2, "fp64": 18.8}, 255.0, 1624.0, (26.2, 26.1), 266.0, 21.4, 1395, 0.331),
    "20B5": _Pace({"fp16": 248.0, "bf16": 252.0, "fp32": 19.1, "fp64": 18.7}, 231.0, 1591.0, (26.0, 25.9), 21.6, 21.6, 1290, 0.358),
})  # fmt: skip


def task_words(machine: Machine, fact_id: str, script: str, turn: int) -> CommandOutput | None:
    """The output of a task; None for another fact. `turn`: how often it ran before, for no two runs are quite the same."""
    if fact_id not in TASKS:
        return None
    told = _Told(TASKS[fact_id])
    if machine.torch is None or not machine.gpus:
        told.say("absent", 0.1, what="torch", missing=True, why="No module named 'torch'")
        return CommandOutput(told.bytes, b"", 3, 0.4)
    found = re.search(r"^python3 (?:-|gpulease_\w+\.py) .*?--seconds (\d{1,5})", script, re.MULTILINE)
    # The soak is told whole even where a short one is asked for: it takes no longer here.
    seconds = 1200 if fact_id == "torch_soak" else int(found[1]) if found else 30
    run = _Run(machine, told, seconds, random.Random(f"{machine.name}/{fact_id}/{turn}"))
    run.head()
    {"torch_copy": run.copies, "torch_train": run.train, "torch_loader": run.train}.get(fact_id, run.products)()
    told.say("end", run.at + 1.0, good=True)
    return CommandOutput(told.bytes, b"", 0, _TAKES_S)


def step_seconds(machine: Machine) -> float:
    """How long a step of a training takes on all cards, which wait for the slowest."""
    pace = _PACES[machine.gpus[0].board.device_id]
    return pace.step_s / min(_share(pace, card) for card in machine.gpus)


def _share(pace: _Pace, card: GpuCard) -> float:
    """The rate of a card as a part of its kind's: a capped one loses less than its watts, a hot one as its clock."""
    capped = math.pow(card.power_limit_w / card.board.power_w, 0.6)
    return card.pace * min(capped, card.sm_mhz / pace.load_mhz if card.throttled else 1.0)


class _Told:
    """The lines so far."""

    def __init__(self, task: str) -> None:
        self.task = task
        self._lines: list[str] = []

    def say(self, event: str, at_s: float, **more: object) -> None:
        self._lines.append(json.dumps({"gpulease_task": self.task, "event": event, "t_s": round(at_s, 3), **more}))

    @property
    def bytes(self) -> bytes:
        return ("\n".join(self._lines) + "\n").encode()


class _Run:
    """One run of a task on the cards of a node."""

    def __init__(self, machine: Machine, told: _Told, seconds: int, dice: random.Random) -> None:
        self._machine, self._told, self._seconds, self._dice = machine, told, seconds, dice
        self._pace = _PACES[machine.gpus[0].board.device_id]
        self.at = _START_S

    def head(self) -> None:
        """Versions, cards, and a look at them before the load."""
        machine, cards = self._machine, self._machine.gpus
        assert machine.driver is not None and machine.torch is not None
        listed = [{"gpu": c.index, "uuid": c.uuid, "name": c.name, "memory_mib": c.board.memory_mib - c.board.reserved_mib} for c in cards]
        tag = machine.torch.partition("+cu")[2]
        self._told.say("start", self.at, torch=machine.torch, cuda=f"{tag[:-1]}.{tag[-1:]}", driver=machine.driver.version, device="cuda", cards=listed)
        self._look("before")

    def _look(self, phase: str, share: float = 1.0) -> None:
        """`share`: how much of its power a card draws under this load; copies leave most of it alone."""
        for card in self._machine.gpus:
            load = share if phase == "load" else 0.0
            mask = card.reason_bits if load and card.throttled else _POWER_CAP if load == 1.0 else 0 if load else _IDLE
            draw = card.draw_w + (card.power_limit_w * 0.985 - card.draw_w) * load
            self._told.say(
                "look", self.at, phase=phase, index=card.index, uuid=card.uuid, reasons=f"0x{mask:016x}", sm_mhz=self._mhz(card) if load else 345,
                sm_max_mhz=card.board.sm_max_mhz, power_w=round(draw, 1), limit_w=card.power_limit_w, default_limit_w=card.board.power_w,
                temp_c=card.temperature_c + round((3 if card.throttled else 33) * load), util_percent=(self._dice.randint(97, 100) if load else 0),
            )  # fmt: skip

    def _mhz(self, card: GpuCard) -> int:
        return card.sm_mhz if card.throttled else round(self._pace.load_mhz * self._share(card) / 15) * 15

    def _share(self, card: GpuCard) -> float:
        return _share(self._pace, card)

    def _noise(self, wide: float = 0.006) -> float:
        return 1.0 + self._dice.uniform(-wide, wide)

    def products(self) -> None:
        """Best rates of each kind, then the course; the soak has only that."""
        soak = self._told.task == "soak"
        for kind, best in ({} if soak else self._pace.kinds).items():
            self.at += 2.0
            for card in self._machine.gpus:
                rate = round(best * self._share(card) * self._noise(), 2)
                self._told.say("best", self.at, gpu=card.index, uuid=card.uuid, kind=kind, size=8192, tflops=rate, finite=True)
        if not soak and "fp8" not in self._pace.kinds:
            self._told.say("skip", self.at, kind="fp8", size=8192, why="torch._scaled_mm is only supported on CUDA devices with compute capability >= 8.9")
        for _ in self._seconds_by(10.0 if soak else 1.0):
            for card in self._machine.gpus:
                rate = round(self._pace.held * self._share(card) * self._noise(0.003), 2)
                self._told.say("sustained", self.at, gpu=card.index, uuid=card.uuid, kind="bf16", size=8192, tflops=rate)
            self._look("load")

    def _seconds_by(self, step: float) -> Iterator[float]:
        for n in range(max(1, int(self._seconds / step))):
            self.at += step
            yield n * step

    def copies(self) -> None:
        """Inside each card, to and from the host, and every card to every other."""
        for card in self._machine.gpus:
            self.at += 0.9
            self._copy("device_copy", self._pace.memory, card)
            self._copy("h2d", self._pace.host[0], card, pinned=True, own_socket=True)
            self._copy("d2h", self._pace.host[1], card, pinned=True, own_socket=True)
            self._look("load", 0.35)
        rate = self._pace.pairs if self._machine.nvlink_up else self._pace.without_nvlink
        for card in self._machine.gpus:
            for other in self._machine.gpus:
                if other.index != card.index:
                    self._copy("d2d", rate, card, to_gpu=other.index, to_uuid=other.uuid, peer=True)

    def _copy(self, event: str, gb_s: float, card: GpuCard, **more: object) -> None:
        self.at += 0.05
        rate = round(gb_s * self._noise(), 2)
        self._told.say(event, self.at, gb_s=rate, best_gb_s=round(rate * 1.004, 2), mib=512, repeats=20, gpu=card.index, uuid=card.uuid, correct=True, **more)

    def train(self) -> None:
        """A small GPT on all cards: every step waits for the slowest of them."""
        disk, cards = self._told.task.endswith("from_disk"), self._machine.gpus
        self._told.say("model", self.at, parameters=639_631_360, layers=12, width=2048, context=1024, batch=8, gpus=len(cards), from_disk=disk, warmup=5)
        usual, end, looked, n = step_seconds(self._machine), self.at + self._seconds, self.at, 0
        while self.at < end:
            n += 1
            took = usual * (9.0 if n == 1 else 1.6 if n < 5 else self._noise(0.02))
            self.at += took
            tokens_s = _TOKENS_STEP * len(cards) / took
            self._told.say(
                "step", self.at, step=n, loss=round(0.04 + 8.97 * math.exp(-n / 70), 5), step_s=round(took, 5), tokens_s=round(tokens_s, 1),
                wait_s=round(took * (0.012 if disk else 0.002), 6), tflops_gpu=round(tokens_s * _FLOP_TOKEN / len(cards) / 1e12, 2),
            )  # fmt: skip
            if self.at - looked >= 1.0:
                looked = self.at
                self._look("load")
        if disk:
            self._told.say("disk", self.at, read_mb_s=round(_TOKENS_STEP * 8 * n / self._seconds / 1e6, 2))
