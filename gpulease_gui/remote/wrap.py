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

from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import MAX_STDERR_BYTES, MAX_STDOUT_BYTES, active_line, head_line
from gpulease_gui.facts.fact import Fact

LANES = 3
# An active run's output goes through a pipe; after the cap this much more is read and thrown away.
_DRAIN_BYTES = 1024 * 1024 * 1024
# A process costs about 1 ms of a node's CPU, so a passive fact writes straight into files of limited size.
_FILE_BLOCKS = MAX_STDOUT_BYTES // 512 + 1

# A longer line of a stream travels in pieces: only writes below PIPE_BUF (4096) are never mixed with others.
PIECE_BYTES = 3500

# Where tools live that the PATH of a non-interactive shell does not name; only ever added at its end.
TOOL_FOLDERS = (
    "/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/local/nvidia/bin",
    "/usr/local/cuda/bin", "/usr/lib/wsl/lib", "/usr/local/Ascend/driver/tools", "/opt/rocm/bin", "/opt/bin",
)  # fmt: skip


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


def collect_script(boundary: str, steps: Sequence[Step], *, sudo: bool = True) -> bytes:
    """The program of a collection: every step's frame, then the end line."""
    head = head_line(boundary, [step.id for step in steps])
    return _program(head, _prelude(boundary, sudo), _TEMP, _ENDING, _RUN, _FACT, _lanes(steps))


def active_script(boundary: str, fact_id: str, command: Command, seconds: int, *, sudo: bool, scratch: bool) -> bytes:
    """The program of one active run: one frame, then the end line. With `scratch` it runs in a folder of its own."""
    head = active_line(boundary, fact_id, active_words(command))
    lanes = _lanes([Step(fact_id, command, seconds)])
    place = _SCRATCH if scratch else ""
    return _program(head, _prelude(boundary, sudo), "P=1\n", _TEMP, place, _ENDING, _RUN, _FACT, lanes)


def server_script(boundary: str, fact_id: str, command: Command, seconds: int) -> bytes:
    """The program that keeps one server: its output comes as it is; it ends with our stdin or after `seconds`."""
    head = active_line(boundary, fact_id, active_words(command))
    start = f"server {int(seconds)} {shlex.quote(command.line)}\n"
    return _program(head, _prelude(boundary, sudo=False), "d=\n", _ENDING, _SERVER, start)


def stream_script(boundary: str, sources: Sequence[tuple[str, str]], interval_s: float) -> bytes:
    """The program of a stream.

    `BOUNDARY id payload` a line (`BOUNDARY id+ piece` while more of it follows), `BOUNDARY BEAT` an interval,
    `BOUNDARY END id code` when a source has ended. Sources find $GPULEASE_INTERVAL, $GPULEASE_INTERVAL_MS and
    $GPULEASE_TMP, a private folder that goes with the stream.
    """
    head = head_line(boundary, [id_ for id_, _ in sources])
    starts = "".join(f"src {shlex.quote(id_)} {shlex.quote(script)} 3<&- &\n" for id_, script in sources)
    body = _STREAM.replace("@INTERVAL@", f"{interval_s:g}").replace("@MS@", str(max(1, round(interval_s * 1000))))
    body = body.replace("@PIECE@", str(PIECE_BYTES)).replace("@STARTS@", starts)
    return _program(head, _prelude(boundary, sudo=False), _TEMP, body)


def active_words(command: Command) -> tuple[str, ...]:
    """The words of a command as an active head line names them."""
    return command.argv or ("sh", "-c", command.script)


def _program(head: str, *parts: str) -> bytes:
    return (head + "{\n" + "".join(parts) + "}\n").encode()


def _prelude(boundary: str, sudo: bool) -> str:
    return (
        f"exec 3<&0 </dev/null\numask 077\nB={boundary}\n"
        f"PATH=${{PATH:-/usr/bin:/bin}}:{':'.join(TOOL_FOLDERS)}\nGPULEASE_SUDO={int(sudo)}\n"
        "LC_ALL=C LANG=C\nexport PATH LC_ALL LANG GPULEASE_SUDO\nunset LANGUAGE\nS=\nL=1\n"
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
    starts = "".join(f"  lane {n} 3<&- &\n" for n in range(1, count + 1))
    lane = f"lane() {{\nL=$1\n{_LIMITS}{claims}set +C\n[ -z \"$d\" ] || echo over >&4\n}}\n"
    todo = f"U='{' '.join(map(str, range(len(steps))))}'\nw={count}\n"
    return lane + todo + _MAIN.replace("@STARTS@", starts)


def _call(number: int, step: Step) -> str:
    # Words are run as they are: a shell between costs a process.
    return f"fact {number} {shlex.quote(step.id)} {int(step.seconds)} {shlex.join(active_words(step.command))}\n"


_LIMITS = f'if [ -z "$P" ]; then ulimit -c 0; ulimit -f {_FILE_BLOCKS}; fi 2>/dev/null\n'

# A private folder that can really be written to (a full disk still makes folders); none: d stays empty.
_TEMP = r"""
d=
for t in "${TMPDIR:-/tmp}" /dev/shm /var/tmp; do
  d=$(mktemp -d "$t/gpulease.XXXXXXXX" 2>/dev/null) || { d=; continue; }
  { echo probe >"$d/probe"; } 2>/dev/null && [ -s "$d/probe" ] && mkfifo "$d/bell" 2>/dev/null && break
  rm -rf "$d"
  d=
done
"""

_SCRATCH = r"""
S=$(mktemp -d "${HOME:-/tmp}/gpulease.XXXXXXXX" 2>/dev/null) || S=$(mktemp -d /tmp/gpulease.XXXXXXXX 2>/dev/null) || S=
[ -n "$S" ] && cd "$S"
GPULEASE_SCRATCH=$S
export GPULEASE_SCRATCH
"""

# T: how a command is timed; empty = by `late`, which ends every child of the command.
_ENDING = r"""
clean() {
  [ -z "$d$S" ] && return
  cd / && for f in "$d" "$S"; do [ -n "$f" ] && { rm -rf "$f" || { sleep 1; rm -rf "$f"; }; }; done 2>/dev/null
}
trap clean EXIT
trap 'exit 143' TERM HUP INT
trap 'exit 141' PIPE
T=
if timeout -k 1 9 true 2>/dev/null; then T='timeout -k 2'; fi
nap() { sleep 0.1 2>/dev/null || sleep 1; }
sons() {
  cat /proc/"$1"/task/*/children 2>/dev/null ||
    ps -A -o pid= -o ppid= 2>/dev/null | while read -r a b; do [ "$b" = "$1" ] && echo "$a"; done
}
kids() { for k in $(sons "$1"); do kids "$k"; echo "$k"; done; }
late() {
  # Short naps: whoever ends this watchdog may leave one behind.
  i=0
  while [ $i -lt "$1" ]; do sleep 1; i=$((i + 1)); done
  l=$(kids "$2"); kill -TERM $l "$2"; sleep 2; kill -KILL $l "$2"
}
end_one() {
  l=$(kids "$2")
  [ "$1" = KILL ] && kill -KILL -"$2"
  kill -"$1" $l "$2"
} 2>/dev/null
pids() { if [ -n "$d" ]; then cat "$d"/pid.* 2>/dev/null; else echo "$p"; fi; }
busy() { for q in $(pids); do kill -0 "$q" 2>/dev/null && return 0; done; return 1; }
lifeline() {
  while read -r x; do :; done <&3
  trap '' TERM HUP PIPE
  [ -n "$d" ] && : >"$d/stop"
  a=$(pids)
  for q in $a; do end_one TERM "$q"; done
  i=0
  while [ $i -lt 20 ] && busy; do nap; i=$((i + 1)); done
  for q in $a $(pids); do end_one KILL "$q"; done
  kill -TERM 0
  [ -z "$d" ] && [ -z "$p" ] && sleep 2
  clean
  kill -KILL 0
}
"""

# Without a folder the pid of a `timeout` can't be recorded for the lifeline, so commands stay in our group.
_RUN = r"""
p=
[ -n "$d" ] || T=
now() { if read -r u x 2>/dev/null </proc/uptime; then t=${u%.*}${u#*.}; else t=$(date +%s)00; fi; }
run() {
  if [ -n "$T" ]; then $T "$M" "$@" & else "$@" & fi
  p=$!
  if [ -n "$d" ]; then
    echo "$p" >"$d/pid.$L"
    [ -e "$d/stop" ] && end_one TERM "$p"
  fi
  now; s=$t; w=
  if [ -z "$T" ]; then late "$M" "$p" >/dev/null 2>&1 4>&- 5>&- 6>&- & w=$!; fi
  wait "$p" 2>/dev/null
  c=$?
  [ -n "$T" ] && kill -KILL -"$p" 2>/dev/null
  if [ -n "$w" ]; then
    kill -KILL $(kids "$w") "$w" 2>/dev/null
    wait "$w" 2>/dev/null
    now; [ $c -gt 128 ] && [ $((t - s)) -ge $((M * 100)) ] && c=124
  fi
  [ -n "$d" ] && : >"$d/pid.$L"
  return $c
}
"""

# With a folder: lanes leave outputs and exit codes in files and ring a bell; the main shell alone writes frames, all
# that are ready with one `wc` and one `cat`. Claims are files that only one lane can create (noclobber).
# P (active runs, which may write large files): the caps by pipes, up to one byte over; a file that could not be written
# whole is removed, which counts as cut. Without a folder: stderr merged, kept in a variable.
_FACT = (
    r"""
keep() { head -c "$1" >"$2" || rm -f "$2"; exec head -c @DRAIN@ >/dev/null; } 2>/dev/null
g() { [ -z "$d" ] || { [ ! -e "$d/stop" ] && set -C && { true >"$d/claim.$1"; } 2>/dev/null; }; }
fact() {
  set +C
  N=$1 K=$2 M=$3
  shift 3
  if [ -z "$d" ]; then merged "$@"; return; fi
  [ -e "$d/stop" ] && return
  o=$d/out.$N e=$d/err.$N
  now; b=$t; c=137
  if [ -z "$P" ]; then
    run "$@" >"$o" 2>"$e"
    c=$?
  else
    { { run "$@"; echo $? >"$d/code"; } 2>&1 >&5 5>&- | keep @ERR1@ "$e" 5>&-; } 5>&1 | keep @OUT1@ "$o"
    read -r c <"$d/code"
  fi
  [ -e "$d/stop" ] && return
  now
  echo "$K $c $((t - b))" >"$d/done.$N"
  # One ring is enough until it is heard.
  [ -s "$d/rung" ] || { echo x >"$d/rung"; echo done >&4; }
}
frames() {
  n= f= r=
  for i in $U; do
    # Only a whole line counts: the file is there before its words are.
    if { read -r k c t <"$d/done.$i"; } 2>/dev/null; then n="$n $i" f="$f out.$i err.$i"; else r="$r $i"; fi
  done
  [ -n "$n" ] || return
  U=$r
  r=
  for i in $f; do [ -e "$d/$i" ] || { : >"$d/$i"; : >"$d/$i.torn"; }; done
  q=$(cd "$d" && wc -c $f)
  set -- $q
  for i in $n; do
    read -r k c t <"$d/done.$i"
    a=$1 b=$3 o=out.$i e=err.$i y=0 z=0
    shift 4
    if [ "$a" -gt @OUT@ ]; then
      y=1 a=@OUT@
      # We ended it at the cap: the code is not the command's own.
      [ "$c" = 153 ] && c=0
      if head -c $a "$d/$o" >"$d/cut.$o"; then o=cut.$o; else o= a=0; fi
    fi
    if [ "$b" -gt @ERR@ ]; then
      z=1 b=@ERR@
      if head -c $b "$d/$e" >"$d/cut.$e"; then e=cut.$e; else e= b=0; fi
    fi
    [ -e "$d/out.$i.torn" ] && y=1
    [ -e "$d/err.$i.torn" ] && z=1
    printf '\n%s %s %d %d.%02d %d %d %d %d\n' "$B" "$k" "$c" $((t / 100)) $((t % 100)) "$a" "$b" $y $z >"$d/head.$i"
    r="$r head.$i $o $e"
  done
  (cd "$d" && exec cat $r)
  for i in $f $r; do : >"$d/$i"; done
}
merged() {
  now; s=$t
  v=$({ q=$({ { run "$@" 2>&1; echo $? >&6; } | { head -c @OUT1@ >&5; head -c @DRAIN@ >/dev/null; }; } 6>&1); } 5>&1
    printf 'x%s' "$q")
  c=${v##*x} v=${v%x*} y=0
  now; n=$((t - s))
  i=${#v}
  [ "$i" -gt @OUT@ ] && { i=@OUT@; y=1; }
  printf '%s %s %d %d.%02d %d 0 %d 0\n' "$B" "$K" "${c:-137}" $((n / 100)) $((n % 100)) "$i" $y
  printf %s "$v" | head -c "$i"
}
"""
).replace("@OUT1@", str(MAX_STDOUT_BYTES + 1)).replace("@ERR1@", str(MAX_STDERR_BYTES + 1)).replace(
    "@OUT@", str(MAX_STDOUT_BYTES)
).replace("@ERR@", str(MAX_STDERR_BYTES)).replace("@DRAIN@", str(_DRAIN_BYTES))  # fmt: skip

_MAIN = r"""
printf '\n'
lifeline &
life=$!
if [ -n "$d" ]; then
  exec 4<>"$d/bell"
@STARTS@  while [ $w -gt 0 ] && read -r x <&4; do
    # A moment's patience: what ends within it leaves together.
    if [ "$x" = over ]; then w=$((w - 1)); else sleep 0.05 2>/dev/null || sleep 1; fi
    : >"$d/rung"
    [ -n "$U" ] && frames
  done
  # Our stdin has ended: the lifeline is at work, and it ends us, too.
  [ -e "$d/stop" ] && wait "$life"
else
  lane 1 3<&-
fi
kill -KILL "$life" 2>/dev/null
wait "$life" 2>/dev/null
printf '%s END\n' "$B"
exit 0
"""

_SERVER = r"""
server() {
  printf '\n%s START\n' "$B"
  if [ -n "$T" ]; then $T "$1" sh -c "$2" 2>&1 3<&- & else sh -c "$2" 2>&1 3<&- & fi
  p=$!
  w=
  if [ -z "$T" ]; then late "$1" "$p" >/dev/null 2>&1 3<&- & w=$!; fi
  lifeline &
  life=$!
  wait "$p" 2>/dev/null
  c=$?
  [ -n "$w" ] && kill -KILL $(kids "$w") "$w"
  kill -KILL "$life" 2>/dev/null
  wait "$life" 2>/dev/null
  printf '\n%s END %d\n' "$B" $c
  exit 0
}
"""

# Lines of a source are passed on by `read`, which never holds a line back; the mark at its end carries the exit code.
# Sources share one descriptor, and only short writes stay whole: long lines travel in pieces (`id+`).
_STREAM = r"""
GPULEASE_INTERVAL=@INTERVAL@ GPULEASE_INTERVAL_MS=@MS@ GPULEASE_TMP=$d
export GPULEASE_INTERVAL GPULEASE_INTERVAL_MS GPULEASE_TMP
clean() { [ -n "$d" ] && rm -rf "$d"; }
trap 'exit 143' TERM HUP INT
sons() { cat /proc/"$1"/task/*/children 2>/dev/null; }
kids() { for k in $(sons "$1"); do kids "$k"; echo "$k"; done; }
lifeline() {
  while read -r x; do :; done <&3
  trap '' TERM HUP PIPE
  kill -TERM $(kids $$) 2>/dev/null
  kill -TERM 0
  sleep 0.2 2>/dev/null || sleep 1
  clean || { sleep 1; clean; }
  kill -KILL 0
}
pass() {
  l=$2
  while [ ${#l} -gt @PIECE@ ]; do
    c=$(printf '%.@PIECE@s' "$l")
    l=${l#"$c"}
    printf '%s %s+ %s\n' "$B" "$1" "$c"
  done
  printf '%s %s %s\n' "$B" "$1" "$l"
}
src() {
  { sh -c "$2"; printf '\n%s %d\n' "$B" $?; } | while IFS= read -r l; do
    case $l in
      '') ;;
      "$B "*) printf '%s END %s %s\n' "$B" "$1" "${l#* }" ;;
      *) pass "$1" "$l" ;;
    esac
  done
}
beat() { while :; do printf '%s BEAT\n' "$B"; sleep @INTERVAL@ 2>/dev/null || sleep 1; done; }
printf '\n'
beat 3<&- &
@STARTS@lifeline
"""
