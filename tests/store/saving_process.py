"""A process that saves findings for ever and prints the id of each once it is saved; the test kills it."""

from __future__ import annotations

import sys
from pathlib import Path

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.store.evidence import collected
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, StoredFinding, new_id
from gpulease_gui.store.runs import save_finding, save_run
from gpulease_gui.store.workspace import Workspace


def main() -> None:
    workspace = Workspace.open(Path(sys.argv[1]))
    run_id = new_id()
    workspace.submit(lambda db: save_node(db, Node("n1", "this computer", Reach.LOCAL))).result()
    workspace.submit(lambda db: save_run(db, Run(run_id, "n1", utc_now()))).result()
    waiting = []
    number = 0
    while True:
        number += 1
        waiting.append(workspace.submit(one(run_id, number)))
        if len(waiting) == 5:
            print(waiting.pop(0).result().id, flush=True)


def one(run_id: str, number: int):
    line, blobs = collected(run_id, "topo", "x", CommandOutput(b"%s %d " % (run_id.encode(), number) * 500), utc_now())
    finding = Finding("gpu.count", Verdict.PASS, Text("", ""), evidence=(line.stdout_sha256,))

    def work(db) -> StoredFinding:
        return save_finding(db, run_id, finding, blobs, [line], saved_at=utc_now())

    return work


if __name__ == "__main__":
    main()
