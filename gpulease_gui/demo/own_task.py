"""What does a simulated node tell of a task that it is given? Nothing of it is run: a small training is told in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.torch_report import step_seconds, task_words
from gpulease_gui.domain.command import CommandOutput

PLACE = "/root/.gpulease-demo"
LOG = "/workspace/train.log"  # the one log that grows on these nodes
_SEEN_STEPS, _MORE_STEPS = 40, 20_000
_STEPS, _TOKENS_STEP = 300, 8 * 1024
_FILES = {"matmul.py": "torch_matmul", "gpu_copy.py": "torch_copy", "tiny_gpt.py": "torch_train"}
_NOTE = "demo node: nothing of yours is run here, a small training is simulated\n"
_NO_TORCH = 'Traceback (most recent call last):\n  File "train.py", line 1, in <module>\nModuleNotFoundError: No module named \'torch\'\n'


@dataclass(frozen=True, slots=True)
class Order:
    """What a program asks for: bytes that follow it, the command, its time limit; `follows`: a log, not a task."""

    send_bytes: int
    limit_s: int
    command: str
    follows: bool
    keeps: bool
    tool: str
    log: str = ""


def order_of(program: str) -> Order:
    """What the settings at the start of a program say."""
    said = dict(reversed(re.findall(r"^(BYTES|LIMIT|CMD|LOG|KEEP|TOOL)=(.*)$", program, re.MULTILINE)))  # the first of each counts
    size, limit = (int(said.get(name, "0")) if said.get(name, "0").isdigit() else 0 for name in ("BYTES", "LIMIT"))
    plain = {name: said.get(name, "").strip("'") for name in ("CMD", "KEEP", "TOOL", "LOG")}
    return Order(size, limit, plain["CMD"], "LOG" in said, plain["KEEP"] == "yes", plain["TOOL"], plain["LOG"])


@dataclass(frozen=True, slots=True)
class Story:
    """What is told: (seconds since the piece before, piece of the log), and the exit code at its end."""

    pieces: Iterable[tuple[float, bytes]]
    exit_code: int = 0


def told(machine: Machine, order: Order, turn: int) -> Story:
    """The log of a task on a node; a built-in one is answered as in a verification. `turn`: how often one ran before."""
    if order.follows:
        return Story(_grown(machine, turn))
    fact = next((fact for file, fact in _FILES.items() if file in order.command), None)
    if fact is not None:
        return _builtin(task_words(machine, fact, f"python3 - {order.command.partition('.py')[2]}", turn))
    if machine.torch is None or not machine.gpus:
        return Story(((1.0, _NOTE.encode()), (0.5, _NO_TORCH.encode())), 1)
    return Story(tuple(_training(machine, turn)))


def has_log(machine: Machine, order: Order) -> bool:
    """Whether the log that is to be followed is there: a training runs on this node."""
    return order.log == LOG and machine.torch is not None and bool(machine.gpus)


def _builtin(output: CommandOutput | None) -> Story:
    lines = output.stdout.splitlines(keepends=True) if output else []
    seconds = output.seconds / max(1, len(lines)) if output else 0.0
    return Story(tuple((seconds, line) for line in lines), (output.exit_code if output else 1) or 0)


def _training(machine: Machine, turn: int) -> Iterator[tuple[float, bytes]]:
    took, dice = step_seconds(machine), machine.dice(f"own task {turn}")
    yield 1.0, _NOTE.encode()
    yield 4.0, f"torch {machine.torch}, {len(machine.gpus)} x {machine.gpus[0].board.name}\n".encode()
    for step in range(_STEPS):
        seconds = took * (8.0 if step == 0 else 1.0 + dice.uniform(-0.015, 0.015))
        yield seconds, _step(machine, step, seconds)


def _grown(machine: Machine, turn: int) -> Iterator[tuple[float, bytes]]:
    """A log of a training that has run for long: its last lines at once, then one a step."""
    took, dice = step_seconds(machine), machine.dice(f"log {turn}")
    first = 1200 * turn + 1160
    yield 0.2, b"".join(_step(machine, first + step, took) for step in range(_SEEN_STEPS))
    for step in range(first + _SEEN_STEPS, first + _MORE_STEPS):
        seconds = took * (1.0 + dice.uniform(-0.015, 0.015))
        yield seconds, _step(machine, step, seconds)


def _step(machine: Machine, step: int, seconds: float) -> bytes:
    loss, rate = 0.3 + 10.2 / (1 + step / 25), _TOKENS_STEP * len(machine.gpus) / seconds
    return f"step {step:5} | loss: {loss:.4f} | dt: {seconds * 1000:.2f}ms | tok/sec: {rate:.1f}\n".encode()
