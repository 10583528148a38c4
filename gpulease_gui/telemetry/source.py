"""What is a telemetry source, and which are there?

A script prints one line per sample for ever, `$GPULEASE_INTERVAL` seconds (`$GPULEASE_INTERVAL_MS`) apart, and may write
below `$GPULEASE_TMP`. Line ends inside a sample travel as
the byte 0x1E. A line that starts with `!` says why the source can't be read at this moment. The agent
sends the lines of all sources itself; a source without a script comes from the agent only.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Protocol, runtime_checkable

from gpulease_gui.domain.text import Text

RECORD_END = "\x1e"


@dataclass(frozen=True, slots=True)
class Metric:
    """One curve per subject. `lane` groups curves of one unit; `term` is the promise drawn as a line.

    `own_pace`: it takes the node long, and is told no more often than that lasts, whatever rate is asked. `apart`: each value is
    an event of its own, and a line may tell several.
    """

    id: str
    title: Text
    unit: str
    lane: str
    term: str | None = None
    decimals: int = 1
    own_pace: bool = False
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Point:
    """One value of one subject (GPU UUID, interface, disk, or "" for the node). None = not told; never a zero.

    `index` is the number that the node gives the subject now, which another one may have tomorrow. `lost` says why a
    subject that was there can't be read any more; its value is None. `why` is the code of what is wrong with this value alone,
    which then is None; "" says nothing more than that it was not told.
    """

    metric: str
    subject: str
    value: float | None
    index: int | None = None
    lost: str = ""
    why: str = ""


class LineReader(Protocol):
    """Reads the lines of one stream in order; keeps the counters before for rates."""

    def read(self, line: str) -> tuple[Point, ...]:
        """The points of one line. Raises Unreadable."""


@runtime_checkable
class LastingReader(LineReader, Protocol):
    """One that knows its subjects by more than what the node calls them, over streams that follow one another."""

    @property
    def names(self) -> Mapping[str, str]:
        """What it calls its subjects, by where they are on the node."""

    def recall(self, names: Mapping[str, str]) -> None:
        """What they were called by a program before; what it knows itself stays."""

    def renewed(self) -> LineReader:
        """The reader of the next stream of the same node."""


@dataclass(frozen=True, slots=True)
class Source:
    """One telemetry source. `reader()` makes a fresh reader for each stream; `of_node` False: no stream of a node has it."""

    id: str
    title: Text
    script: str
    metrics: tuple[Metric, ...]
    reader: Callable[[], LineReader]
    of_node: bool = True


@cache
def sources() -> Mapping[str, Source]:
    """All sources by id, found by looking in this folder."""
    package = importlib.import_module("gpulease_gui.telemetry")
    modules = [importlib.import_module(i.name) for i in pkgutil.iter_modules(package.__path__, package.__name__ + ".")]
    found = [module.SOURCE for module in modules if hasattr(module, "SOURCE")]
    return {source.id: source for source in sorted(found, key=lambda source: source.id)}


def streamed() -> Mapping[str, Source]:
    """The sources that the stream of a node tells, by id."""
    return {id_: source for id_, source in sources().items() if source.of_node}


@cache
def metrics() -> Mapping[str, Metric]:
    """All metrics by id."""
    return {metric.id: metric for source in sources().values() for metric in source.metrics}


# Not every sleep knows parts of a second; one that does not would return at once.
WHOLE_SECONDS = (
    'case $GPULEASE_INTERVAL in *.*) sleep 0.01 2>/dev/null || GPULEASE_INTERVAL=$((${GPULEASE_INTERVAL%.*} + 1)) ;; esac\n'
)


def proc_loop(id_: str, *commands: str) -> str:
    """A script that prints the uptime and what these quick commands say as one line per sample.

    The interval runs while they work, so that a busy node is read as often as was asked, as long as they take no longer.
    """
    read = "; ".join(('IFS= read -r up < /proc/uptime && printf \'%s\\n\' "$up"', *commands))
    return (
        WHOLE_SECONDS + "rs=$(printf '\\036')\n"
        f'while sleep "$GPULEASE_INTERVAL" & {{ {read}; }} > "$GPULEASE_TMP/{id_}" 2>&1; do\n'
        "  line=\n"
        f'  while IFS= read -r part; do line="$line$part$rs"; done < "$GPULEASE_TMP/{id_}"\n'
        "  printf '%s\\n' \"$line\"\n"
        "  wait\n"
        "done\n"
        f"printf '! {commands[0]} failed\\n'\n"
    )
