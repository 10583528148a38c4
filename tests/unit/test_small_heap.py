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


# Lists that live for two seconds each, as readings do until they are written; how often all was searched, and how many cycles are left.
_LINES = """
import gc, sys, weakref
from gpulease_gui.services.small_heap import search_seldom
class Ring: pass
if sys.argv[1] == "seldom":
    search_seldom()
searched, kept, cycles = [], [], weakref.WeakSet()
gc.callbacks.append(lambda phase, info: searched.append(info["generation"]))
for second in range(60):
    kept = [[number] for number in range(5000)] + kept[:5000]
    for number in range(1000):
        one = Ring()
        one.itself = one
        cycles.add(one)
print(searched.count(2) // 2, len(cycles))
"""


def searched(how: str) -> tuple[int, int]:
    done = subprocess.run([sys.executable, "-c", _LINES, how], capture_output=True, text=True, check=True)
    full, left = map(int, done.stdout.split())
    return full, left


def test_that_short_lived_readings_make_no_search_of_all_there_is_and_waste_is_still_found() -> None:
    usual, (seldom, left) = searched("usual")[0], searched("seldom")
    assert (usual > 2, seldom) == (True, 0)
    assert left < 30_000
