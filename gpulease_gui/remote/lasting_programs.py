"""What do the sh programs say that last as long as our line: a server, and a stream of lines?

Variables and descriptors are those of `programs`.
"""

from __future__ import annotations

SERVER = r"""
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
  strays
  [ -n "$S" ] && clean
  printf '\n%s END %d\n' "$B" $c
  exit 0
}
"""

# Lines of a source are passed on by `read`, which never holds a line back; the mark at its end carries the exit code.
# Sources share one descriptor, and only short writes stay whole: long lines travel in pieces (`id+`).
STREAM = r"""
GPULEASE_INTERVAL=@INTERVAL@ GPULEASE_INTERVAL_MS=@MS@ GPULEASE_TMP=$d
export GPULEASE_INTERVAL GPULEASE_INTERVAL_MS GPULEASE_TMP
clean() { [ -n "$d" ] && rm -rf "$d"; }
trap 'exit 143' TERM HUP INT
sons() { cat /proc/"$1"/task/*/children 2>/dev/null; }
kids() { for k in $(sons "$1"); do echo "$k"; kids "$k"; done; }
lifeline() {
  while read -r x; do :; done <&3
  trap '' TERM HUP PIPE
  kill -TERM $(kids $$) 2>/dev/null
  kill -TERM 0
  sleep 0.2 2>/dev/null || sleep 1
  strays
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
