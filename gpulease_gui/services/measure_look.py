"""How is a node looked at for longer, or more closely, than in one reading?"""

from __future__ import annotations

from gpulease_gui.checks import npu_flops as flops_rule
from gpulease_gui.checks import ram_bandwidth
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.facts import counters_after, idle_watch, leftovers, npu_bandwidth, npu_diag, npu_flops, ram_copy
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.run import run_active
from gpulease_gui.services.measure_lines import Measurement, Task, tests_of

IDLE_SECONDS, COPY_SECONDS = 60, 3
_STATE_S, _LINKS_S = 60, 40


def measure_idle(task: Task) -> CommandOutput:
    """A minute in which nobody asks anything of the cards; a shorter one would say nothing about a driver that unloads."""
    length = task.seconds or IDLE_SECONDS
    return run_active(task.lines.line, "idle_watch", idle_watch.command(length), length + 90, task.cancel, scratch=False)


def measure_counters(task: Task) -> CommandOutput:
    """The counters of cards and links, read again."""
    line = task.lines.line
    state = run_active(line, "counters_after", counters_after.STATE, _STATE_S, task.cancel, scratch=False)
    links = run_active(line, "counters_after", counters_after.LINKS, _LINKS_S, task.cancel, scratch=False)
    return counters_after.combine(state, links)


def _as_it_is(fact: Fact, task: Task) -> CommandOutput:
    """The fact's own command, whole."""
    if fact.command is None:
        raise ValueError(f"{fact.id} has no command")
    return run_active(task.lines.line, fact.id, fact.command, fact.seconds, task.cancel, scratch=False)


def measure_leftovers(task: Task) -> CommandOutput:
    """Paths and sizes where tenants keep data."""
    return _as_it_is(leftovers.FACT, task)


def measure_npu_bandwidth(task: Task) -> CommandOutput:
    """The vendor's bandwidth test and its verdict."""
    return _as_it_is(npu_bandwidth.FACT, task)


def measure_npu_diag(task: Task) -> CommandOutput:
    """The vendor's stress diagnosis."""
    return _as_it_is(npu_diag.FACT, task)


def measure_npu_flops(task: Task) -> CommandOutput:
    """The vendor's compute test of each NPU in turn."""
    return npu_flops.combine([*tests_of(task.before, "npu_flops"), _as_it_is(npu_flops.FACT, task)])


def measure_copy(task: Task) -> CommandOutput:
    """Memory copies of each NUMA node in turn."""
    length = task.seconds or COPY_SECONDS
    run = run_active(task.lines.line, "ram_copy", ram_copy.command(length), length * 16 + 60, task.cancel, scratch=False)
    return ram_copy.combine([*tests_of(task.before, "copy"), run])


LOOK_MEASURES = {
    "idle_watch": Measurement(("watch",), measure_idle),
    "counters_after": Measurement(("counters",), measure_counters),
    "leftovers": Measurement(("scan",), measure_leftovers),
    "npu_bandwidth": Measurement(("bandwidth",), measure_npu_bandwidth),
    "npu_diag": Measurement(("diagnosis",), measure_npu_diag),
    "npu_flops": Measurement(("flops",), measure_npu_flops, flops_rule.to_repeat),
    "ram_copy": Measurement(("copy",), measure_copy, ram_bandwidth.to_repeat),
}
