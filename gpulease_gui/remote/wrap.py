"""Which text does a node's shell get, so that many commands share one channel and none outlives it?

POSIX sh only. The whole program is one `{ ... }` group, so that it is parsed before it runs; then descriptor 3 takes
over our stdin, because background jobs get /dev/null as descriptor 0. Descriptor 3 is the lifeline: when it ends,
everything that was started ends. `timeout` leads a process group of its own, which the end of ours does not reach:
so its pid is recorded and it is told first.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import active_line, head_line
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.lasting_programs import SERVER, STREAM
from gpulease_gui.remote.programs import (
    ENDING,
    FACT,
    FOLDER,
    GROUPS,
    IN_MEMORY,
    LIMITS,
    MAIN,
    RUN,
    SCRATCH,
    STRAYS,
    YOUNG,
)

LANES = 3
# The program writes a newline before it does anything else.
_FIRST_BYTE_S = 20.0
# On top of a step's own limit: the KILL after TERM, and the way there and back.
_GRACE_S = 15.0
# A longer line of a stream travels in pieces: only writes below PIPE_BUF (4096) are never mixed with others.
PIECE_BYTES = 3500

# Where tools live that the PATH of a non-interactive shell does not name; only ever added at its end.
TOOL_FOLDERS = (
    "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/nvidia/bin",
    "/usr/local/cuda/bin", "/usr/lib/wsl/lib", "/usr/local/Ascend/driver/tools", "/opt/rocm/bin", "/opt/bin",
)  # fmt: skip

# What one shell or another does without a process, or may.
_OWN_WORDS = frozenset(
    ". : [ alias bg bind break builtin caller cd chdir command compgen complete compopt continue declare dirs disown echo enable eval "
    "exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd print printf pushd pwd read "
    "readarray readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait "
    "whence".split()
)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a program: `id` of its frame, time limit. Steps with the same lane run in turn."""

    id: str
    command: Command
    seconds: int
    lane: str = ""


def steps_of(facts: Sequence[Fact]) -> tuple[Step, ...]:
    """The steps of the facts that have a command."""
    return tuple(Step(f.id, f.command, f.seconds, f.lane) for f in facts if f.command is not None)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long we listen to a program, in seconds: in all, for its first byte, and from one frame to the next."""

    deadline_s: float
    silence_s: float = inf
    pause_s: float = inf


def limits_of(steps: Sequence[Step]) -> Limits:
    """What a node that keeps to the time limits of the steps never reaches."""
    lane_s = max((sum(step.seconds for step in group) for group in _groups(steps)), default=0)
    return Limits(max(60, lane_s), _FIRST_BYTE_S, max((step.seconds for step in steps), default=0) + _GRACE_S)


def collect_script(boundary: str, steps: Sequence[Step], *, sudo: bool = True) -> bytes:
    """The program of a collection: every step's frame, then the end line."""
    head = head_line(boundary, [step.id for step in steps])
    return _program(head, _prelude(boundary, sudo), FOLDER, IN_MEMORY, YOUNG, ENDING, RUN, FACT, _lanes(steps))


def active_script(boundary: str, fact_id: str, command: Command, seconds: int, *, sudo: bool, scratch: bool) -> bytes:
    """The program of one active run: one frame, then the end line. With `scratch` it runs in a folder of its own."""
    head = active_line(boundary, fact_id, active_words(command))
    lanes = _lanes([Step(fact_id, command, seconds)])
    place = SCRATCH if scratch else ""
    return _program(head, _prelude(boundary, sudo), "P=1 G=1\n", FOLDER, place, ENDING, GROUPS, RUN, FACT, lanes)


def server_script(boundary: str, fact_id: str, command: Command, seconds: int) -> bytes:
    """The program that keeps one server: its output comes as it is; it ends with our stdin or after `seconds`."""
    head = active_line(boundary, fact_id, active_words(command))
    start = f"server {int(seconds)} {shlex.quote(command.line)}\n"
    return _program(head, _prelude(boundary, sudo=False), "d=\n", ENDING, GROUPS, SERVER, start)


def stream_script(boundary: str, sources: Sequence[tuple[str, str]], interval_s: float) -> bytes:
    """The program of a stream.

    `BOUNDARY id payload` a line (`BOUNDARY id+ piece` while more of it follows), `BOUNDARY BEAT` an interval,
    `BOUNDARY END id code` when a source has ended. Sources find $GPULEASE_INTERVAL, $GPULEASE_INTERVAL_MS and
    $GPULEASE_TMP, a private folder that goes with the stream.
    """
    head = head_line(boundary, [id_ for id_, _ in sources])
    starts = "".join(f"src {shlex.quote(id_)} {shlex.quote(script)} 3<&- &\n" for id_, script in sources)
    body = STREAM.replace("@INTERVAL@", f"{interval_s:g}").replace("@MS@", str(max(1, round(interval_s * 1000))))
    body = body.replace("@PIECE@", str(PIECE_BYTES)).replace("@STARTS@", starts)
    return _program(head, _prelude(boundary, sudo=False), FOLDER, body)


def active_words(command: Command) -> tuple[str, ...]:
    """The words of a command as an active head line names them."""
    return command.argv or ("sh", "-c", command.script)


def _program(head: str, *parts: str) -> bytes:
    return (head + "{\n" + "".join(parts) + "}\n").encode()


def _prelude(boundary: str, sudo: bool) -> str:
    return (
        f"exec 3<&0 </dev/null\nexec 7>/dev/null\numask 077\nB={boundary}\n"
        f"PATH=${{PATH:-/usr/bin:/bin}}:{':'.join(TOOL_FOLDERS)}\nGPULEASE_SUDO={int(sudo)}\n"
        f"LC_ALL=C LANG=C GPULEASE_RUN=$B\nexport PATH LC_ALL LANG GPULEASE_SUDO GPULEASE_RUN\nunset LANGUAGE A\nD= S= P= T= G= O= J= L=1 H=0\n{STRAYS}"
    )


def _groups(steps: Sequence[Step]) -> list[list[Step]]:
    """Steps that are claimed together: a named lane is one group; the longest first, so that it starts at once."""
    groups: dict[str, list[Step]] = {}
    for number, step in enumerate(steps):
        groups.setdefault(step.lane or f"#{number}", []).append(step)
    return sorted(groups.values(), key=lambda group: -sum(step.seconds for step in group))


def _lanes(steps: Sequence[Step]) -> str:
    """The lanes: each goes through all groups and runs those that it is the first to claim."""
    numbers = {id(step): number for number, step in enumerate(steps)}
    groups = _groups(steps)
    claims = "".join(
        f"g {number} && {{\n" + "".join(_call(numbers[id(step)], step) for step in group) + "}\n"
        for number, group in enumerate(groups)
    )
    count = max(1, min(LANES, len(groups)))
    starts = "".join(f'  lane {n} 2>&7 3<&- & X="$X $!"\n' for n in range(1, count + 1))
    # The last one to end has seen the marks of all others.
    over = "".join(f' && [ -e "$d/over.{n}" ]' for n in range(1, count + 1))
    end = f'set +C\n[ -n "$d" ] && true >"$d/over.$L"{over} && read -r z <"$d/nap" && kill $z\n'
    lane = f'lane() {{\nL=$1\n[ -z "$O" ] || read -r q x </proc/self/stat\nnow\n{LIMITS}{claims}{end}}}\n'
    todo = f"U='{' '.join(map(str, range(len(steps))))}'\n"
    return lane + todo + MAIN.replace("@STARTS@", starts)


def _call(number: int, step: Step) -> str:
    # Words are run as they are: a shell between costs a process. What the shell itself does must not change a lane.
    words = active_words(step.command)
    own = "J=1\n" if words[0] in _OWN_WORDS else ""
    return f"{own}fact {number} {shlex.quote(step.id)} {int(step.seconds)} {shlex.join(words)}\n"
