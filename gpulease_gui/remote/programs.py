"""What do the sh programs say that a node gets? POSIX sh; `wrap` puts the pieces together.

Variables: B boundary, d private folder (D while d is empty in spite of it), S scratch folder, P caps by pipes, L this lane,
T how a command is timed that leads a group of its own, G whether this one does, A the facts to be asked again (unset: none),
O whether lanes are what is recorded as running (their children are ended, not they), J whether a command is the shell's own.
Descriptors: 3 the lifeline (our stdin), 7 nowhere. A fact costs its own process and a dozen opened files; every fork and
every file more is paid for on each node of a fleet.
"""

from __future__ import annotations

from gpulease_gui.domain.frame import MAX_STDERR_BYTES, MAX_STDOUT_BYTES

# An active run's output goes through a pipe; after the cap this much more is read and thrown away.
_DRAIN_BYTES = 1024 * 1024 * 1024
# A process costs about 1 ms of a node's CPU, so a passive fact writes straight into files of limited size.
_FILE_BLOCKS = MAX_STDOUT_BYTES // 512 + 1

# So much is free in a folder at the beginning that the files of a collection go into it.
_ROOM_BYTES = 64 * 1024 * 1024

LIMITS = f'if [ -z "$P" ]; then ulimit -c 0; ulimit -f {_FILE_BLOCKS}; fi 2>/dev/null\n'

# Whatever left our groups (setsid, a daemon) still carries the boundary of this run in its environment.
STRAYS = r"""
strays() {
  [ $# -gt 0 ] || set -- /proc/[0-9]*/environ
  grep -qsF "GPULEASE_RUN=$B" "$@" || return
  for f in $(grep -lsF "GPULEASE_RUN=$B" "$@"); do f=${f#/proc/}; kill -KILL "${f%/environ}"; done
} 2>/dev/null
"""

# All that we started is younger than we are, so only those processes are looked at: to go through all of a node costs it more
# than its facts. Their numbers end at the last one that was given away, unless the count went around meanwhile.
YOUNG = r"""
young() {
  q=
  read -r x x x x q x 2>&7 </proc/loadavg
  case $q in '' | *[!0-9]*) q=0 ;; esac
  i=$(($$ + 1))
  if [ $q -lt $life ] || [ $q -lt $i ] || [ $q -gt $((i + 1000)) ]; then strays; return; fi
  set --
  while [ $i -lt $q ]; do
    [ -e /proc/$i/environ ] && set -- "$@" /proc/$i/environ
    i=$((i + 1))
  done
  [ $# = 0 ] || strays "$@"
}
"""

# A private folder that can really be written to (a full disk still makes folders); none: d stays empty. One with room
# for the outputs of a collection comes first, else the first that there is; R says which.
FOLDER = r"""
roomy() {
  case "$# $*" in
    *[!0-9\ ]* | *' 0 '*' '*) return 1 ;;
    4\ *) [ "$1" -ge $((@ROOM@ / $2)) ] && { [ "$3" -ge 4096 ] || [ "$4" = 0 ]; } ;;
    *) return 1 ;;
  esac
}
k= R=
for t in "${TMPDIR:-/dev/shm}" /tmp /var/tmp; do
  x=$(mktemp -d "$t/gpulease.XXXXXXXX"; exec stat -f -c '%a %S %d %c' "$t")
  d=${x%%'
'*}
  case $d in "$t"/gpulease.*) ;; *) continue ;; esac
  if echo probe >"$d/probe" && [ -s "$d/probe" ]; then
    if roomy ${x#"$d"}; then R=1; break; fi
    [ -n "$k" ] || { k=$d; continue; }
  fi
  rm -rf "$d"
done 2>/dev/null
if [ -z "$R" ]; then d=$k; elif [ -n "$k" ]; then rm -rf "$k"; fi
""".replace("@ROOM@", str(_ROOM_BYTES))

# The same with a bell in it, which only a task has.
TEMP = FOLDER.replace('-s "$d/probe" ]', '-s "$d/probe" ] && mkfifo "$d/bell"')

# Where little room is, the outputs of a collection are kept in memory.
IN_MEMORY = """
if [ -z "$R" ] && [ -n "$d" ]; then rm -rf "$d"; d=; fi
"""

SCRATCH = r"""
S=$(mktemp -d "${HOME:-/tmp}/gpulease.XXXXXXXX" 2>/dev/null) || S=$(mktemp -d /tmp/gpulease.XXXXXXXX 2>/dev/null) || S=
[ -n "$S" ] && cd "$S"
GPULEASE_SCRATCH=$S
export GPULEASE_SCRATCH
"""

# T empty = commands are timed by `watch` (or, without a folder, `late`), which end every child of the command.
GROUPS = r"""
if timeout -k 1 9 true 2>/dev/null; then T='timeout -k 2'; fi
"""

ENDING = r"""
clean() {
  [ -z "$d$D$S" ] && return
  trap '' TERM HUP INT PIPE
  cd / && for f in "$d" "$D" "$S"; do [ -n "$f" ] && { rm -rf "$f" || { sleep 1; rm -rf "$f"; }; }; done 2>/dev/null
}
trap clean EXIT
trap 'exit 143' TERM HUP INT
trap 'exit 141' PIPE
nap() { sleep 0.1 2>/dev/null || sleep 1; }
sons() {
  cat /proc/"$1"/task/*/children 2>/dev/null ||
    ps -A -o pid= -o ppid= 2>/dev/null | while read -r a b; do [ "$b" = "$1" ] && echo "$a"; done
}
# Parents first: none goes on for want of a child.
kids() { for k in $(sons "$1"); do echo "$k"; kids "$k"; done; }
late() {
  # Short naps: whoever ends this watchdog may leave one behind.
  i=0
  while [ $i -lt "$1" ]; do sleep 1; i=$((i + 1)); done
  l=$(kids "$2"); kill -TERM "$2" $l; sleep 2; kill -KILL "$2" $l
}
end_one() {
  l=$(kids "$2")
  [ "$1" = KILL ] && kill -KILL -"$2"
  # A lane ends by itself when it finds that it has to stop.
  [ "$1$O" = TERM1 ] || l="$2 $l"
  kill -"$1" $l
} 2>/dev/null
pids() {
  if [ -z "$d" ]; then echo "$p"; return; fi
  for f in "$d"/pid.*; do { read -r q x <"$f" && echo "$q"; } 2>/dev/null; done
}
busy() { for q in $(pids); do kill -0 "$q" 2>/dev/null && return 0; done; return 1; }
lifeline() {
  while read -r x; do :; done <&3
  trap '' TERM HUP PIPE
  [ -n "$d" ] && : >"$d/stop"
  a=$(pids)
  for q in $a; do end_one TERM "$q"; done
  i=0
  while [ $i -lt 20 ] && busy; do
    nap
    i=$((i + 1))
    # A lane may have been about to start one.
    [ "$i$O" = 51 ] && for q in $(pids); do end_one TERM "$q"; done
  done
  for q in $a $(pids); do end_one KILL "$q"; done
  strays
  kill -TERM 0
  [ -z "$d" ] && [ -z "$p" ] && sleep 2
  clean
  kill -KILL 0
}
"""

# Without a folder the pid of a `timeout` can't be recorded for the lifeline, so commands stay in our group. Active runs
# lead groups of their own, so that nothing which they start outlives them. Passive facts start nothing that stays: one
# `watch` times them all, as a `timeout` each would double the processes of a collection. They run in the foreground of
# their lane, which many a shell starts without a copy of itself, so it's the lane's number that is known, if its children can be found.
RUN = r"""
p= O=
[ -n "$d" ] || T= G=
[ -n "$P" ] || [ -z "$d" ] || [ ! -r "/proc/$$/task/$$/children" ] || O=1
now() { if read -r u x 2>&7 </proc/uptime; then t=${u%.*}${u#*.}; else t=$(date +%s)00; fi; }
# All lanes have said so, or are no more.
ended() {
  x=0
  for q in $X; do x=$((x + 1)); [ -e "over.$x" ] || ! kill -0 "$q" || return 1; done
}
limits() {
  for f in pid.*; do
    { read -r q n e <"$f"; } && [ -n "$e" ] && [ "$t" -ge "$e" ] || continue
    true >"late.$n"
    if [ "$t" -lt $((e + 200)) ]; then x=TERM; else x=KILL; fi
    if [ -z "$O" ]; then end_one $x "$q"; continue; fi
    l=$(kids "$q")
    # The lane may be at its next fact by now.
    read -r q e u <"$f" && [ "$e" = "$n" ] && kill -$x $l
  done
}
# Until all lanes have ended: the last one ends our nap, whose number it finds in a file.
watch() {
  I=0.4
  while :; do
    sleep $I >&7 3<&- & z=$!
    echo $z >nap
    ended && break
    wait $z
    x=$?
    true >nap
    { ended || [ -e stop ]; } && return
    I=0.8
    case $x in 0 | 1??) ;; *) I=1 ;; esac
    now
    limits
    { echo >"tick.$t"; } || true >full
    frames
  done
  kill $z
  wait $z
} 2>&7
# Called just after `now`.
run() {
  g=$T s=$t w= e=
  [ -n "$G" ] || g=
  if [ -n "$g" ]; then $g "$M" "$@" & else "$@" & fi
  p=$!
  if [ -n "$d" ]; then
    [ -n "$g" ] || e=$((s + M * 100))
    echo "$p $N $e" >"$d/pid.$L"
    [ -e "$d/stop" ] && end_one TERM "$p"
  elif [ -z "$g" ]; then
    late "$M" "$p" >/dev/null 2>&1 5>&- 6>&- & w=$!
  fi
  wait "$p" 2>&7
  c=$?
  [ -n "$g" ] && kill -KILL -"$p" 2>&7
  if [ -n "$d" ]; then
    true >"$d/pid.$L"
    [ $c -gt 128 ] && [ -e "$d/late.$N" ] && c=124
  fi
  if [ -n "$w" ]; then
    kill -KILL $(kids "$w") "$w" 2>&7
    wait "$w" 2>&7
    now; [ $c -gt 128 ] && [ $((t - s)) -ge $((M * 100)) ] && c=124
  fi
  return $c
}
"""

# With a folder: lanes leave outputs and exit codes in files; the main shell watches over them and writes frames, all that
# are ready with one `wc` and one `cat`. Claims are files that only one lane can create (noclobber).
# P (active runs, which may write large files): the caps by pipes, up to one byte over; a file that could not be written
# whole is removed, which counts as cut. Without a folder: stderr merged, kept in a variable.
# A command may hide that there was no room for its words. So each fact's own mark takes room, too: where there is none for
# it, or was none meanwhile (`full`), the fact is `lost`, and is asked again at the end (A), in memory.
FACT = (
    r"""
keep() { head -c "$1" >"$2" || rm -f "$2"; exec head -c @DRAIN@ >/dev/null; } 2>/dev/null
g() { H=0; [ -z "$d" ] || { [ ! -e "$d/claim.$1" ] && [ ! -e "$d/stop" ] && set -C && true >"$d/claim.$1"; }; }
absent() { echo "sh: $1: not found" >&2; return 127; }
fact() {
  set +C
  N=$1 K=$2 M=$3 j=$J J=
  shift 3
  # What hung once in this lane hangs again: its other commands get a try, not their full time.
  if [ $H = 1 ] && [ "$M" -gt 5 ]; then M=5; elif [ $H -gt 1 ]; then M=1; fi
  if ! command -v "$1" >&7; then set -- absent "$1"; fi
  if [ -z "$d" ]; then
    case " ${A-$N} " in *" $N "*) merged "$@" ;; esac
    return
  fi
  [ -e "$d/stop" ] && return
  f=
  [ -e "$d/full" ] && f=1
  # The end of the fact before, or the begin of the lane.
  b=$t c=137
  if [ -n "$P" ]; then
    { { run "$@"; echo $? >"$d/code"; } 2>&1 >&5 5>&- | keep @ERR1@ "$d/err.$N" 5>&-; } 5>&1 | keep @OUT1@ "$d/out.$N"
    read -r c <"$d/code"
  elif [ -z "$O" ]; then
    run "$@" >"$d/out.$N" 2>"$d/err.$N"
    c=$?
  else
    echo "$q $N $((t + M * 100))" >"$d/pid.$L"
    if [ -n "$j" ]; then "$@" >"$d/out.$N" 2>"$d/err.$N" & wait $!
    else "$@" >"$d/out.$N" 2>"$d/err.$N"
    fi
    c=$?
    true >"$d/pid.$L"
    [ $c -gt 128 ] && [ -e "$d/late.$N" ] && c=124
  fi
  [ -e "$d/stop" ] && return
  case $c in 124 | 137) H=$((H + 1)) ;; esac
  now
  { [ -n "$P$f" ] || [ ! -e "$d/full" ]; } && echo "$K $c $((t - b))" >"$d/done.$N" && return
  true >"$d/full"
  rm -f "$d/done.$N" "$d/out.$N" "$d/err.$N"
  [ -z "$P" ] || unread "$K" $c $((t - b))
}
unread() { printf '\n%s %s %d %d.%02d 0 0 1 1\n' "$B" "$1" "$2" $(($3 / 100)) $(($3 % 100)); }
# In our folder.
frames() {
  n= f= r=
  for i in $U; do
    # Only a whole line counts: the file is there before its words are.
    if [ -e "done.$i" ] && read -r k c t <"done.$i"; then n="$n $i" f="$f out.$i err.$i"; else r="$r $i"; fi
  done
  [ -n "$n" ] || return
  U=$r
  r= l=
  for i in $f; do [ -e "$i" ] || { true >"$i"; true >"$i.torn"; }; done
  q=$(wc -c $f)
  set -- $q
  for i in $n; do
    read -r k c t <"done.$i"
    a=$1 b=$3 o=out.$i e=err.$i y=0 z=0
    shift 4
    if [ "$a" -gt @OUT@ ]; then
      y=1 a=@OUT@
      # We ended it at the cap: the code is not the command's own.
      [ "$c" = 153 ] && c=0
      if head -c $a "$o" >"cut.$o"; then o=cut.$o; else o= a=0; fi
    fi
    if [ "$b" -gt @ERR@ ]; then
      z=1 b=@ERR@
      if head -c $b "$e" >"cut.$e"; then e=cut.$e; else e= b=0; fi
    fi
    [ -e "out.$i.torn" ] && y=1
    [ -e "err.$i.torn" ] && z=1
    # Room is given back early only where it matters; all goes at the end.
    [ "$a" -gt 65536 ] && l="$l out.$i cut.out.$i"
    [ "$b" = 0 ] && e=
    if { printf '\n%s %s %d %d.%02d %d %d %d %d\n' "$B" "$k" "$c" $((t / 100)) $((t % 100)) "$a" "$b" $y $z >"head.$i"; } 2>&7
    then r="$r head.$i $o $e"
    elif [ -n "$P" ]; then unread "$k" "$c" "$t"
    else true >full; U="$U $i"
    fi
  done
  [ -z "$r" ] || cat $r
  # What we free must not hide that somebody had no room.
  [ -z "$l" ] || { echo >"room.$i"; } 2>&7 || true >full
  for i in $l; do true >"$i"; done
}
merged() {
  now; s=$t b=$t
  v=$({ q=$({ { run "$@" 2>&1; echo $? >&6; } | { head -c @OUT1@ >&5; head -c @DRAIN@ >/dev/null; }; } 6>&1); } 5>&1
    printf 'x%s' "$q")
  c=${v##*x} v=${v%x*} y=0
  case $c in 124 | 137) H=$((H + 1)) ;; esac
  now; n=$((t - b))
  i=${#v}
  [ "$i" -gt @OUT@ ] && { i=@OUT@; y=1; }
  printf '%s %s %d %d.%02d %d 0 %d 0\n' "$B" "$K" "${c:-137}" $((n / 100)) $((n % 100)) "$i" $y
  printf %s "$v" | head -c "$i"
}
"""
).replace("@OUT1@", str(MAX_STDOUT_BYTES + 1)).replace("@ERR1@", str(MAX_STDERR_BYTES + 1)).replace(
    "@OUT@", str(MAX_STDOUT_BYTES)
).replace("@ERR@", str(MAX_STDERR_BYTES)).replace("@DRAIN@", str(_DRAIN_BYTES))  # fmt: skip

MAIN = r"""
printf '\n'
lifeline &
life=$!
if [ -n "$d" ]; then
  X=
@STARTS@  h=$PWD
  cd "$d" || exit 1
  # What is there leaves together, now and then and at the end: it costs two processes.
  case $P$T in 1?*) ;; *) watch ;; esac
  wait $X 2>&7
  # Our stdin has ended: the lifeline is at work, and it ends us, too.
  [ -e stop ] && wait $life
  frames
  cd "$h" || cd /
  [ -n "$P" ] || A=$U
  if [ -n "${A-}" ]; then D=$d d=; lane 1 3<&-; d=$D; fi
else
  lane 1 3<&-
fi
kill -KILL $life 2>/dev/null
wait $life 2>/dev/null
if [ -z "$P" ]; then young; else strays; fi
# What an active run wrote is gone before we say that it has ended: the client may end us at once.
[ -n "$S" ] && clean
printf '%s END\n' "$B"
exit 0
"""
