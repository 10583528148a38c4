"""Is what many threads needed for a moment given back to the system?"""

from __future__ import annotations

import subprocess
import sys

import pytest

# Threads that need 2 MiB each for a moment, in pieces that a heap keeps; then what the process still holds.
_WORK = """
import sys, threading
from gpulease_gui.services.small_heap import keep_heap_small
if sys.argv[1] == "small":
    keep_heap_small()
def resident_kib():
    return int(open("/proc/self/statm").read().split()[1]) * 4
def work(gate):
    pieces = [bytes(100_000) for _ in range(20)]
    gate.wait()
    last = bytes(600)  # on top of them
    del pieces
    gate.wait()
    return last
before, gate = resident_kib(), threading.Barrier(25)
threads = [threading.Thread(target=work, args=(gate,)) for _ in range(24)]
for thread in threads: thread.start()
gate.wait(); gate.wait()
print(resident_kib() - before)
for thread in threads: thread.join()
"""


def held_kib(how: str) -> int:
    return int(subprocess.run([sys.executable, "-c", _WORK, how], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="heaps of the GNU libc")
def test_that_threads_give_back_what_they_needed_for_a_moment() -> None:
    assert held_kib("small") < held_kib("usual") / 3
