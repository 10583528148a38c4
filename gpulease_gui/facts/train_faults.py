"""Which lines of a training log say that something went wrong?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_MOST_OF_A_KIND = 20
_SHOWN = 300


class FaultKind(StrEnum):
    """What a line reports."""

    NAN_LOSS = "nan_loss"
    OUT_OF_MEMORY = "out_of_memory"
    CUDA = "cuda_error"
    NCCL = "nccl_error"
    STALL = "loader_stall"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class Fault:
    """A line with its number (from 1), cut for the eye."""

    kind: FaultKind
    number: int
    line: str


# Plain words first: a line without any of them is never searched.
_HINTS = re.compile(r"[Mm]emory|CUDA|NCCL|ncclS|ncclU|ncclI|cuda|[Dd]ata[Ll]oader|[Ww]atchdog|overflow|[Kk]illed|SIGKILL|starv|\boom|OOM|NaN|nan\b|Inf\b|timed out")
_KINDS = (
    (
        FaultKind.OUT_OF_MEMORY,
        re.compile(
            r"OutOfMemoryError(?::\s*\S|$)|out of memory\. *Tried to allocate|RESOURCE_EXHAUSTED: Out of memory|OOM when allocating tensor"
            r"|(?:Error|error): ?[^:]{0,80}\bout of memory\b|(?:^|: |\] )(?:CUDA|HIP|NPU|XPU) out of memory\b|failure (?:\d+ )?'out of memory'"
            r"|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|CUBLAS_STATUS_ALLOC_FAILED|DefaultCPUAllocator: \S|^MemoryError\b"
            r"|(?:^|: |\] )Cannot allocate memory\b|\bOut of memory: Kill|invoked oom-killer|\boom[-_]kill(?:: |er: | event)|\bOOMKilled\b"
            r"|[Kk]illed by (?:the )?(?:cgroup )?(?:kernel )?(?:OOM|oom|out[- ]of[- ]memory)",
        ),
    ),
    (
        FaultKind.NCCL,
        re.compile(
            r"NCCL (?:WARN|error|failure)|ncclSystemError|ncclUnhandledCudaError|ncclInternalError|ncclRemoteError|DistBackendError"
            r"|Watchdog caught collective operation timeout|NCCL watchdog",
        ),
    ),
    (FaultKind.CUDA, re.compile(r"(?<!\b0 )(?<!\bno )CUDA error|cudaError|CUDA_ERROR_|CUBLAS_STATUS_(?!SUCCESS)\w{1,40}|device-side assert|CUDNN_STATUS_(?!SUCCESS)")),
    (
        FaultKind.STALL,
        re.compile(r"DataLoader (?:worker|timed out)|dataloader (?:is )?(?:stall|slow|bottleneck)|waiting for (?:the )?(?:next batch|data)|does not have many workers", re.IGNORECASE),
    ),
    (FaultKind.NAN_LOSS, re.compile(r"(?:found|detected|is|loss(?:es)?)\W{1,4}(?:NaN|nan|Inf)\b|non-?finite loss|loss is (?:nan|inf)", re.IGNORECASE)),
    (FaultKind.KILLED, re.compile(r"\bSIGKILL\b|^Killed\b|exitcode\W{1,4}-9\b")),
)
# What speaks of a fault reports none: the words stand before it in the same part of the sentence.
_TALK = re.compile(
    r"\b(?:see|docs?|documentation|avoid(?:s|ing)?|if|when|in case|handlers?|handles?|handling|catch(?:es|ing)?|except|about|no|without|against"
    r"|prevents?|recover(?:s|ing)?|retry(?:ing)?|retries|simulat\w+)\b[^:]{0,200}$|\b0 $|\btroubleshoot\w*",
    re.IGNORECASE,
)
_TOLD_OF = (FaultKind.OUT_OF_MEMORY, FaultKind.CUDA)


class Faults:
    """Collects them, at most twenty of a kind: the first ones tell the most."""

    def __init__(self) -> None:
        self._found: list[Fault] = []
        self._counts: dict[FaultKind, int] = {}

    def look(self, number: int, line: str) -> bool:
        """Whether one line, already bounded in length, reports trouble."""
        if _HINTS.search(line):
            for kind, words in _KINDS:
                found = words.search(line)
                if found and not (kind in _TOLD_OF and _TALK.search(line[: found.start()])):
                    self.add(kind, number, line)
                    return True
        return False

    def add(self, kind: FaultKind, number: int, line: str) -> None:
        """One fault; a line counts once."""
        seen = self._counts.get(kind, 0)
        if seen < _MOST_OF_A_KIND and not (self._found and self._found[-1].number == number):
            self._found.append(Fault(kind, number, line.strip()[:_SHOWN]))
        self._counts[kind] = seen + 1

    def found(self) -> tuple[Fault, ...]:
        """In the order of the log."""
        return tuple(self._found)
