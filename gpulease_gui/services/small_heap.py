"""How does a program of many threads give back the memory that it needed for a moment, and how often is it searched for waste?"""

from __future__ import annotations

import contextlib
import gc
import sys

# Names of <malloc.h>: where free memory goes back, from what size a block is one of its own, how many heaps there are.
_TRIM, _OWN_BLOCK, _HEAPS = -1, -3, -8
# Objects by which the young must have grown before they are searched, and how often so before the older ones are.
_YOUNG, _OLDER, _OLDEST = 10_000, 20, 10


def keep_heap_small() -> None:
    """One heap for all threads in place of eight a core, each of which keeps what a node once needed. GNU libc only.

    Python runs one thread at a time, so they do not wait for each other at it. For a fleet of 24 nodes: 78 MB, not 87.
    """
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        for name, value in ((_HEAPS, 1), (_OWN_BLOCK, 64 * 1024), (_TRIM, 128 * 1024)):
            mallopt(name, value)


def search_seldom() -> None:
    """What there is by now stays, and is not searched any more; the rest is searched a fourteenth as often.

    A search of all that 64 watched nodes need stops the window for 25 ms. Their lines make thousands of objects a second, nearly
    all of which are gone before the next one: with Python's own figures, each few seconds enough were left for such a search.
    """
    gc.freeze()
    gc.set_threshold(_YOUNG, _OLDER, _OLDEST)
