"""What does the sh program do on a node that follows a log by its name, over rotation, truncation and its absence? POSIX sh.

One descriptor (5) stays on the file that is read, and each `cat` goes on where the one before ended: no byte comes twice. What
becomes of the file is told within the log itself, where it happened: `B FILE word`, B the boundary of the run. Words:

missing, no_folder, no_file, denied: nothing can be read under the name now (what was open is still read); reading: it can be;
replaced: what follows is another file's; shorter: the file was cut, and what follows is read from its beginning.
"""

from __future__ import annotations

# What is read of a log that is already there, before it is followed.
FOLLOW_BYTES = 8 * 1024 * 1024
WAITS = ("missing", "no_folder", "no_file", "denied")
READING, REPLACED, SHORTER = "reading", "replaced", "shorter"

# Opening a pipe would block: `why` comes before. Where there is no /proc (this computer may be one), tail does what it can.
# A new file without a byte may have been made by who rotates: until its first line the writer may still write to the old one.
FOLLOW = r"""
exec 2>/dev/null
L=$1 s= f= q= O=/proc/$$/fd/5
tell() { printf '%s FILE %s\n' "$GPULEASE_RUN" "$1"; }
state() { [ "$s" = "$1" ] || { s=$1; tell "$s"; }; }
[ / -ef / ] && [ -r "/proc/$$/fdinfo/0" ] || { state reading; exec tail -c @MOST@ -F -- "$L"; }
why() {
  w=
  if [ ! -e "$L" ]; then
    w=missing
    [ -d "${L%/*}/" ] || w=no_folder
  elif [ ! -f "$L" ]; then w=no_file
  elif [ ! -r "$L" ]; then w=denied
  fi
}
size() { ls -nL "$O" | { read -r x x x x n x; echo "${n:-0}"; }; }
begin() {
  command exec 5<"$1" || { state denied; return 1; }
  f=yes q=
}
# The first line of an end is torn, and a part of a number is another number.
ahead() { if [ "$(size)" -gt @MOST@ ]; then tail -c @MOST@ <&5 | sed 1d; fi; }
while :; do
  if [ -z "$f" ]; then
    why
    if [ -n "$w" ]; then state $w; else begin "$L" && { state reading; ahead; }; fi
  fi
  if [ -n "$f" ]; then
    cat <&5
    read -r x p <"/proc/$$/fdinfo/5"
    if ! [ "$L" -ef "$O" ]; then
      why
      if [ -n "$w" ]; then
        state $w
      elif [ -s "$L" ]; then
        cat <&5
        begin "$L" && { tell replaced; state reading; continue; }
      fi
    elif [ "$p" = "$q" ] && [ "$(size)" -lt "$p" ]; then
      begin "$O" && { tell shorter; continue; }
    else
      state reading
    fi
    q=$p
  fi
  sleep 0.2 || sleep 1
done
""".replace("@MOST@", str(FOLLOW_BYTES))
