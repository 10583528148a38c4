"""Which lines report a fault, which only speak of one, and which words are a number?"""

from __future__ import annotations

import pytest

from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.facts.train_faults import FaultKind, Faults
from gpulease_gui.facts.train_forms.form import value
from gpulease_gui.facts.train_log import read_log

REPORTS = """
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has
torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB
[rank3]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 79.15 GiB total capacity)
RuntimeError: CUDA error: out of memory
RuntimeError: CUDA driver error: out of memory
cudaErrorMemoryAllocation: out of memory
CUDA Error: CUDA_ERROR_OUT_OF_MEMORY
RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
OSError: [Errno 12] Cannot allocate memory
sh: fork: Cannot allocate memory
[12345.6] Out of memory: Killed process 4242 (python3) total-vm:1kB
slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM Killed.
jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 17179869184 bytes.
node1:77:99 [0] misc/cuda.cc:37 NCCL WARN Cuda failure 'out of memory'
RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes
MemoryError
task 3 was killed by the OOM killer
2026-11-03 10:11:12 ERROR trainer: CUDA out of memory. Tried to allocate 3.10 GiB
torch.OutOfMemoryError: HIP out of memory. Tried to allocate 256.00 MiB
terminate called after throwing: what():  CUDA error: out of memory
RuntimeError on rank 3: CUDA out of memory. Tried to allocate 1 GiB
"""
TALK = """
see docs on CUDA out of memory
out of memory handler installed
If you see CUDA out of memory, lower the batch size
Retrying on OutOfMemoryError is enabled
except torch.OutOfMemoryError:
    except torch.cuda.OutOfMemoryError: # try again
auto_find_batch_size: halves the batch when CUDA out of memory. Tried to allocate
0 out of memory events so far
no CUDA out of memory in the last 100 steps
gradient checkpointing avoids out of memory errors
oom_score_adj set to 0
INFO oom guard: on, handles out of memory: yes
expandable_segments prevents CUDA out of memory
room 12 zoom: out of memory budget 0 GiB
the optimizer state moved out of memory to disk
Troubleshooting: CUDA error, see the wiki
offload to cpu keeps parameters out of memory
catch OutOfMemoryError and skip batch
peak memory 71.2 GiB, out of memory margin 8 GiB
loading model; in case of CUDA error: out of memory use 8-bit
INFO: error handling for out of memory is on
"""


def kinds(line: str) -> list[FaultKind]:
    faults = Faults()
    faults.look(1, line)
    return [fault.kind for fault in faults.found()]


@pytest.mark.parametrize("line", REPORTS.strip().splitlines())
def test_that_a_line_that_reports_a_lack_of_memory_is_one(line: str) -> None:
    assert kinds(line) == [FaultKind.OUT_OF_MEMORY]


@pytest.mark.parametrize("line", TALK.strip().splitlines())
def test_that_a_line_that_only_speaks_of_it_is_none(line: str) -> None:
    assert kinds(line) == []


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("1.54e+06", 1.54e6), ("1.5E6", 1.5e6), ("1,234.5", 1234.5), ("12k", 12000.0), ("1.2M", 1.2e6), (".5", 0.5), ("5.", 5.0), ("-2e-3", -0.002),
        ("1e999", None), ("1e1234567", None), ("nan", None), ("-Infinity", None), ("1,5", None), ("12,34", None), ("1.2.3", None), ("1.2G", None),
        ("1_000", None), ("12kB", None), ("", None),
    ],
)  # fmt: skip
def test_that_a_number_is_read_whole_or_not_at_all(words: str, number: float | None) -> None:
    assert value(words) == number


@pytest.mark.parametrize(("written", "median"), [("1.54e+06", 1.54e6), ("1540k", 1.54e6), ("1540000", 1.54e6)])
def test_that_an_own_pattern_that_takes_a_part_of_a_number_gets_the_whole(written: str, median: float) -> None:
    text = "".join(f"batch {n} ran at {written} tok/s\n" for n in range(20))
    for own in (r"batch (?P<step>\d+) ran at (?P<tokens_s>[\d.]+)", r"(?P<tokens_s>[\d.]+)k? tok/s"):
        speed = read_log([text], own).speed(Unit.TOKENS_S)
        assert speed is not None and speed.median == median
