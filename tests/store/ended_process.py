"""A process in which a run has just ended and whose upkeep waits for the minute after it; the test kills it."""

from __future__ import annotations

import sys
import time
from array import array
from datetime import timedelta
from pathlib import Path

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.events import Bus, RunEnded
from gpulease_gui.services.upkeep import Upkeep
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunState, SampleBlock, Series
from gpulease_gui.store.runs import finish_run, save_run
from gpulease_gui.store.samples import append_blocks
from gpulease_gui.store.workspace import Workspace

S = 1_000_000_000


def main() -> None:
    workspace, bus, now = Workspace.open(Path(sys.argv[1])), Bus(), utc_now()
    Upkeep(workspace, bus).start()
    begin_ns = (int(now.timestamp()) - 300) * S
    power = Series("n1", "gpu.power_w", "GPU-a", "W")
    blocks = [SampleBlock(power, begin_ns + n * 10 * S, S, array("f", [350.0] * 10)) for n in range(60)]
    workspace.submit(lambda db: save_node(db, Node("n1", "this computer", Reach.LOCAL))).result()
    workspace.submit(lambda db: save_run(db, Run("r1", "n1", now - timedelta(minutes=1)))).result()
    workspace.submit(lambda db: append_blocks(db, blocks)).result()
    workspace.submit(lambda db: finish_run(db, "r1", RunState.FINISHED, now, Verdict.PASS)).result()
    bus.publish(RunEnded("r1", "n1", Verdict.PASS))
    print(now.timestamp(), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    main()
