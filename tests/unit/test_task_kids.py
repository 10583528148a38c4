"""In which order does the program of a task name what a process started?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpulease_gui.remote.task_program import MARKS

# Each process writes its number, once it is there.
TREE = """
mkdir "$1/pids"
cat >"$1/tree" <<'E'
echo $$ >>"$1/pids/$2"
[ "$2" = 3 ] && exec sleep 60
sh "$1/tree" "$1" $(($2 + 1)) & sh "$1/tree" "$1" 3 &
wait
E
sh "$1/tree" "$1" 1 >/dev/null 2>&1 &
root=$!
while [ "$(cat "$1"/pids/* 2>/dev/null | wc -w)" -lt 5 ]; do nap; done
said=$(kids $root)
kill -STOP $root; kill -KILL $root $said
echo $root $(cat "$1/pids/2") : $said
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX program")
def test_that_a_process_is_named_before_those_that_it_started_and_none_is_left_out(tmp_path):
    program = f"d=x B=mark; exec 7>/dev/null\n{MARKS}\n{TREE}"
    ran = subprocess.run(["sh", "-c", program, "sh", str(tmp_path)], capture_output=True, text=True, timeout=60)
    (root, middle), said = (part.split() for part in ran.stdout.split(":"))
    leaves = (tmp_path / "pids" / "3").read_text().split()
    assert (tmp_path / "pids" / "1").read_text().split() == [root]
    assert sorted(said) == sorted([middle, *leaves]) and len(leaves) == 3
    below = said[said.index(middle) + 1 :]
    assert len([leaf for leaf in leaves if leaf in below]) >= 2, "what it started comes after it"
