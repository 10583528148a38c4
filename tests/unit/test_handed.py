"""Is it known of each stored block up to when it holds what came, for as long as anybody may read it?"""

from __future__ import annotations

import math
from array import array
from concurrent.futures import Future

from gpulease_gui.services.handed import Handed
from gpulease_gui.store.records import SampleBlock, Series

S = 1_000_000_000


def block(start_s: float, count: int = 10, step_ns: int = S) -> SampleBlock:
    return SampleBlock(Series("n1", "gpu.power_w", "GPU-a", "W"), int(start_s * S), step_ns, array("f", [1.0] * count))


def written(fault: Exception | None = None) -> Future[None]:
    done: Future[None] = Future()
    if fault is None:
        done.set_result(None)
    else:
        done.set_exception(fault)
    return done


def test_that_a_block_is_known_by_its_slots_though_a_stretch_cuts_it() -> None:
    handed = Handed()
    handed.add([block(100)], 109.4)
    handed.add([block(110, 3)], 112.2)
    assert [handed.until_s(one) for one in (block(100), block(104, 2), block(112, 1))] == [109.4, 109.4, 112.2]
    assert [handed.until_s(one) for one in (block(104.5, 2), block(113, 1), block(104, 2, S // 2))] == [None] * 3, "another program's"


def test_that_what_refused_writes_left_last_in_the_store_is_known_for_as_long_as_the_ring_has_readings() -> None:
    handed = Handed()
    handed.add([block(0)], 9.3).writing = written()
    for n in range(1, 200):
        handed.add([block(10 * n)], 10 * n + 9.3).writing = written(OSError("disk full"))
    assert handed.until_s(block(0)) == 9.3
    for n in range(200, 220):
        handed.add([block(10 * n)], 10 * n + 9.3).writing = written()
    assert handed.until_s(block(0)) is None and handed.until_s(block(2190)) == 2199.3 and len(handed._given) == 8


def test_that_lines_of_one_moment_lie_on_both_sides_of_what_was_handed_out() -> None:
    handed = Handed()
    assert handed.later(5.0) == 5.0
    handed.add([block(0)], 5.0)
    assert handed.later(5.0) == math.nextafter(5.0, 6.0) and handed.later(5.5) == 5.5


def test_that_what_was_recalled_stands_in_the_store() -> None:
    handed = Handed()
    handed.add([block(0)], 9.3)
    handed.recall(109.0)
    assert handed.until_s(block(100)) == 109.0 and handed.until_s(block(90, 5)) == 109.0 and handed.until_s(block(105)) is None
    handed.recall(0.0)
    assert handed.until_s(block(100)) is None
