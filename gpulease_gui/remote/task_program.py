"""What does the sh program say that receives a task on a node, runs it, and leaves nothing behind? POSIX sh.

Variables: B boundary, d private folder, S scratch folder (S/work what was sent, S/tmp for temporary files), PY python3 if
there is one, K the process that holds the task (the keeper), CG a control group of our own, TOOL what runs the container.
Descriptors: 1 the log and nothing else, 2 our marks (`B WORD ...`), 3 the lifeline (our stdin), 4 the bell, 7 nowhere.

The main shell waits for the bell only, whatever rings it first: the end of the command, of our stdin, of its time or its
room. Then it ends all that the task started, and says how it went.
"""

from __future__ import annotations

# A sign of life comes every few seconds; a line that is silent for so long is cut, though nobody noticed.
SILENT_S = 60
# What must stay free where the task writes: a full disk harms the whole node.
SPARE_KIB = 200 * 1024

MARKS = r"""
trap '' PIPE
cd /
say() { printf '\n%s %s\n' "$B" "$*" >&2; }
now() { if read -r u x 2>&7 </proc/uptime; then t=${u%.*}; else t=$(date +%s); fi; }
nap() { sleep 0.1 2>/dev/null || sleep 1; }
sons() {
  cat /proc/"$1"/task/*/children 2>/dev/null ||
    ps -A -o pid= -o ppid= 2>/dev/null | while read -r a b; do [ "$b" = "$1" ] && echo "$a"; done
}
# Each before those that it started, so that nobody who is ended starts another one.
kids() { for k in $(sons "$1"); do echo "$k"; kids "$k"; done; }
room() { df -Pk "$1" 2>/dev/null | { read -r x; read -r x x x f x; echo "${f:-0}"; }; }
[ -n "$d" ] || { say REFUSE temp; exit 1; }
"""

# A file system with room for what is sent and for the task; the home first, since /tmp is often memory.
PLACE = r"""
S= best=0
for x in "${HOME:-/tmp}" "${TMPDIR:-/tmp}" /tmp /var/tmp; do
  f=$(room "$x")
  [ "$f" -gt "$best" ] && best=$f
  [ "$f" -ge "$NEED" ] || continue
  S=$(mktemp -d "$x/gpulease-task.XXXXXXXX" 2>/dev/null) && break
  S=
done
if [ -z "$S" ] || ! mkdir "$S/work" "$S/tmp"; then
  [ -n "$S" ] && rm -rf "$S"
  rm -rf "$d"
  say REFUSE space "$best"
  exit 1
fi
say READY "$S"
"""

# After READY: meanwhile the line brings the first of it. A larger pipe saves most of the changes between who fills it and
# who reads it; Linux has it.
PYTHON = r"""
PY=$(command -v python3) && "$PY" -I -c 'import sys
if sys.version_info < (3, 6): sys.exit(1)
try:
    import fcntl
    fcntl.fcntl(3, 1031, 1 << 20)
except (ImportError, OSError):
    pass' >&7 2>&1 || PY=
"""

# While the line brings the folder nobody reads it as a lifeline: what no longer grows is cut.
RECEIVE = r"""
growing() {
  a= i=0
  while sleep 1; do
    u=$(du -sk "$S" 2>/dev/null)
    if [ "$u" = "$a" ]; then i=$((i + 1)); else a=$u i=0; fi
    [ $i -ge @SILENT@ ] && { rm -rf "$S" "$d"; kill -KILL 0; }
  done
}
# Large pieces cost a node half of small ones; still larger ones cost a virtual machine more, which has to ask its host for
# memory that lies together. A large file that goes straight to its place costs a third less than through tar; but not every
# node's dd knows how to, and takes no more than it is asked for.
pass() { head -c "$1"; }
large() {
  [ $c = 0 ] || return
  x=$W/$4
  pass "$1" <&3 >&7 2>&1
  if ! pass "$2" <&3 2>"$d/why" >"$x" || [ "$(wc -c <"$x")" -ne "$2" ]; then
    c=1
    [ -s "$d/why" ] || echo "$4 did not come whole" >"$d/why"
    return
  fi
  [ "$3" = 0 ] || pass "$3" <&3 >&7 2>&1
  [ -z "$5" ] || chmod 700 "$x" >&7 2>&1
  TZ=UTC0 touch -t 202001010000.00 "$x" >&7 2>&1
}
tall=
c=0
if [ "$BYTES" -gt 0 ]; then
  growing >&7 2>&1 3<&- & w=$!
  if [ "$(echo ab | { dd bs=8 iflag=fullblock,count_bytes count=1 status=none; echo; cat; } 2>&7)" = 'a
b' ]; then
    pass() { dd bs=32768 iflag=fullblock,count_bytes count="$1" status=none; }
  else
    SMALL=$BYTES
  fi
  if [ "$SMALL" = 0 ]; then
    :
  elif command -v tar >&7; then
    case $(tar --version 2>&7) in *'GNU tar'*) tall='-b 64' ;; esac
    pass "$SMALL" <&3 2>&7 | tar -x $tall -f - -C "$S/work" >&7 2>"$d/why"
    c=$?
  elif [ -n "$PY" ]; then
    pass "$SMALL" <&3 2>&7 | "$PY" -I "$d/keeper.py" unpack "$S/work" >&7 2>"$d/why"
    c=$?
  else
    c=127
    echo 'neither tar nor python3 is there' >"$d/why"
  fi
  if [ "$SMALL" != "$BYTES" ]; then
    :
    @LARGE@
  fi
  odd=$(find "$S/work" ! -type f ! -type d 2>&1 | head -n 1)
  [ -n "$odd" ] && [ $c = 0 ] && { c=1; echo 'more than files and folders came out' >"$d/why"; }
  if [ $c != 0 ]; then
    read -r x <"$d/why"
    say REFUSE unpack "$x"
    while read -r x; do :; done <&3
  fi
  kill -STOP "$w" 2>&7
  kill -KILL "$w" $(kids "$w") 2>&7
  wait "$w" 2>&7
  [ $c = 0 ] || { rm -rf "$S" "$d"; exit 1; }
fi
""".replace("@SILENT@", str(SILENT_S))

# Everything of the task that lives: below the keeper, in our control group, with our mark, or in our folder.
HUNT = r"""
CG=
for m in /sys/fs/cgroup /sys/fs/cgroup/unified; do
  [ -e "$m/cgroup.controllers" ] || continue
  g=$(sed -n 's/^0:://p' /proc/self/cgroup 2>&7)
  CG=$m${g%/}/gpulease.$B
  mkdir "$CG" 2>&7 && [ -w "$CG/cgroup.procs" ] && break
  CG=
done
alive() {
  { read -r x <"/proc/$1/stat"; } 2>/dev/null || { kill -0 "$1" 2>/dev/null; return; }
  case ${x##*) } in Z* | X*) return 1 ;; esac
}
prey() {
  {
    # Without python3 its children are those who carry the log away, too; the task has other marks.
    [ -n "$K" ] && [ -n "$PY" ] && kids "$K"
    [ -n "$CG" ] && cat "$CG/cgroup.procs"
    grep -lsF "GPULEASE_RUN=$B" /proc/[0-9]*/environ | while read -r f; do f=${f#/proc/}; echo "${f%/environ}"; done
    [ -n "$S" ] && ls -ld /proc/[0-9]*/cwd | grep -F -e "-> $S/" | while read -r x; do x=${x#*/proc/}; echo "${x%%/*}"; done
  } 2>/dev/null | sort -un | while read -r k; do
    [ "$k" = "$K" ] && continue
    alive "$k" && echo "$k"
  done
}
end_all() {
  l=$(prey)
  left=0
  for k in $l; do left=$((left + 1)); done
  [ -n "$l" ] && { kill -TERM $l; kill -CONT $l; } 2>/dev/null
  i=0
  while [ $i -lt 20 ] && [ -n "$(prey)" ]; do nap; i=$((i + 1)); done
  i=0
  while l=$(prey) && [ -n "$l" ] && [ $i -lt 40 ]; do
    [ -n "$CG" ] && echo 1 >"$CG/cgroup.kill"
    # All stand still first, or the last one alive starts new ones.
    kill -STOP $l
    kill -KILL $l
    nap
    i=$((i + 1))
  done 2>/dev/null
}
ooms() { { n=0; read -r x n; echo "${n:-0}"; } 2>/dev/null <<EOF
$(grep -s '^oom_kill ' /proc/vmstat)
EOF
}
"""

CLEAN = r"""
clean() {
  trap '' TERM HUP INT
  [ -n "$TOOL" ] && box_gone
  [ -n "$CG" ] && rmdir "$CG" 2>&7
  rm -rf "$d"
  [ "$S" = "$d" ] && return
  if [ -n "$KEEP" ] && [ "$1" != all ]; then
    rm -rf "$S/tmp" 2>&7
    q=$(du -sk "$S" 2>&7)
    say KEPT "${q%%[!0-9]*}" "$S"
    return
  fi
  # A task may have made its own folders unwritable for itself.
  rm -rf "$S" 2>&7 || { chmod -R u+rwx "$S"; sleep 1; rm -rf "$S"; } 2>&7
  [ -e "$S" ] && say REMAINS "$S"
}
"""

BOX = r"""
if [ "$TOOL" = auto ]; then
  for x in docker podman enroot; do command -v $x >&7 && { TOOL=$x; break; }; done
fi
if ! command -v "$TOOL" >&7; then
  say REFUSE tool "$TOOL"
  TOOL=
  clean all
  exit 1
fi
say BOX "$TOOL"
soon() { if command -v timeout >&7; then timeout -k 2 20 "$@"; else "$@"; fi; }
box_gone() {
  case $TOOL in
    enroot) ENROOT_DATA_PATH=$S/box soon enroot remove -f "$NAME" >&7 2>&1 ;;
    *)
      soon "$TOOL" rm -f "$NAME" >&7 2>&1
      [ -z "$(soon "$TOOL" ps -aq --filter "name=^$NAME\$" 2>&7)" ] || say REMAINS "container $NAME"
      ;;
  esac
}
gpus=
{ [ -e /dev/nvidiactl ] || command -v nvidia-smi >&7; } && gpus=yes
box() {
  case $TOOL in
    enroot)
      ENROOT_DATA_PATH=$S/box ENROOT_CACHE_PATH=$S/tmp ENROOT_TEMP_PATH=$S/tmp
      export ENROOT_DATA_PATH ENROOT_CACHE_PATH ENROOT_TEMP_PATH
      set -- sh -c 'n=$1 i=$2 m=$3; shift 3; mkdir "$m/box" && enroot import -o "$m/tmp/image.sqsh" "docker://$i" &&
        enroot create -n "$n" "$m/tmp/image.sqsh" && rm -f "$m/tmp/image.sqsh" && exec enroot start --rw --root "$@" "$n" sh -c "cd /gpulease/work && $GPULEASE_COMMAND"' \
        enroot "$NAME" "$IMAGE" "$S" -m "$S/work:/gpulease/work" -m "$S/tmp:/gpulease/tmp" -e TMPDIR=/gpulease/tmp @NAMES@
      GPULEASE_COMMAND=$CMD
      export GPULEASE_COMMAND
      ;;
    *)
      set -- @NAMES@
      if [ "$TOOL" = podman ]; then
        [ -n "$gpus" ] && set -- --device nvidia.com/gpu=all "$@"
      else
        [ -n "$gpus" ] && set -- --gpus all "$@"
        # What it writes must be ours to remove.
        [ "$(id -u)" = 0 ] || set -- --user "$(id -u):$(id -g)" "$@"
      fi
      [ -n "$NET" ] && set -- --network "$NET" "$@"
      # Without a log driver: the daemon would write the whole log to the node's disk.
      set -- "$TOOL" run --rm --name "$NAME" --log-driver none --shm-size 8g --ulimit memlock=-1 --ulimit core=0 \
        --ulimit "fsize=$((BLOCKS * 512))" -v "$S/work:/gpulease/work" -v "$S/tmp:/gpulease/tmp" -w /gpulease/work \
        -e TMPDIR=/gpulease/tmp -e GPULEASE_RUN "$@" --entrypoint sh "$IMAGE" -c "$CMD"
      ;;
  esac
  keep "$@"
}
"""

# Without python3 orphans go to init; the mark, the folder and the control group still find them. `tail` holds its bytes
# in memory.
KEEP = r"""
keep() {
  if [ -n "$PY" ]; then exec "$PY" -I "$d/keeper.py" run "$d/bell" "$B" "$W" "$CG" "$HEAD" "$TAIL" "$@"; fi
  mkfifo "$d/log" "$d/over"
  if [ "$TAIL" = 0 ]; then
    cat <"$d/log" &
  else
    wc -c <"$d/over" >"$d/rest" &
    { head -c "$HEAD"; tee "$d/over" | tail -c "$TAIL"; } <"$d/log" &
  fi
  p=$!
  (
    trap - PIPE
    [ -n "$CG" ] && echo 0 >"$CG/cgroup.procs"
    cd "$W" || exit 126
    GPULEASE_RUN=$B
    export GPULEASE_RUN
    if command -v setsid >/dev/null; then exec setsid "$@"; else exec "$@"; fi
  ) >"$d/log" 2>&1
  echo "exit $?" >"$d/bell"
  wait "$p"
  n=0
  [ "$TAIL" = 0 ] || read -r n <"$d/rest"
  n=$((n - TAIL))
  [ $n -gt 0 ] || n=0
  say LOG $n
}
"""

MAIN = r"""
lifeline() {
  n=0
  while read -r x; do n=$((n + 1)); echo $n >"$d/beat"; done <&3
  echo stop line >&4
}
# What the task has written is looked at as often as looking is cheap.
guard() {
  wait=1 q=0 beat= quiet=0
  while sleep 1 >&7 2>&1; do
    now
    kill -0 $$ 2>&7 || { end_all; clean all; exit; }
    [ $((t - T0)) -ge "$LIMIT" ] && { echo stop time >&4; return; }
    read -r x 2>&7 <"$d/beat"
    if [ "$x" = "$beat" ]; then quiet=$((quiet + 1)); else beat=$x quiet=0; fi
    [ $quiet -ge @SILENT@ ] && { echo stop silent >&4; return; }
    q=$((q + 1))
    [ "$MOST" = 0 ] || [ $q -lt $wait ] && continue
    q=0 a=$t
    u=$(du -sk "$S" 2>&7)
    u=${u%%[!0-9]*}
    [ "${u:-0}" -gt "$MOST" ] && { echo stop space >&4; return; }
    [ "$(room "$S")" -lt @SPARE@ ] && { echo stop disk >&4; return; }
    now
    wait=$((1 + 5 * (t - a)))
  done
}
task() {
  ulimit -c 0
  [ "$BLOCKS" = 0 ] || ulimit -f "$BLOCKS" 2>/dev/null
  unset LC_ALL LANG
  [ -z "$L0" ] || { LANG=$L0; export LANG; }
  [ -z "$A0" ] || { LC_ALL=$A0; export LC_ALL; }
  TMPDIR=$S/tmp GPULEASE_SCRATCH=$S/work
  export TMPDIR GPULEASE_SCRATCH
@EXPORTS@  @START@
}
echo 0 >"$d/beat"
exec 4<>"$d/bell"
trap 'echo stop killed >&4' TERM HUP INT
now; T0=$t o0=$(ooms)
say START
printf '\n%s LOG\n' "$B"
task 3<&- 4>&- 7>&- &
K=$!
lifeline & w1=$!
guard 3<&- & w2=$!
why=
while [ -z "$why" ]; do read -r why code <&4; done
now; T1=$t
end_all
n=$left i=0
# Whoever holds the task may only now have started it.
while alive "$K" && [ $i -lt 40 ]; do nap; end_all; i=$((i + 1)); done
kill -KILL "$K" 2>&7
wait "$K" 2>&7
K=
end_all
kill -STOP $w1 $w2 2>&7
kill -KILL $w1 $w2 $(kids $w1) $(kids $w2) 2>&7
say END "$why" "${code:-x}" $((T1 - T0)) "$n" $(($(ooms) - o0))
n=0
for k in $(prey); do n=$((n + 1)); done
clean
say CLEAN $n
exit 0
""".replace("@SILENT@", str(SILENT_S)).replace("@SPARE@", str(SPARE_KIB))
