"""A process that changes a term and takes the change back, over and over; the test kills it.

    python acting_process.py FILE

Prints `did N` when step N was kept, `took N` when it was taken back.
"""

from __future__ import annotations

import sys
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.services.commerce_edit import state_fields
from gpulease_gui.services.commerce_undo import undo
from gpulease_gui.store.workspace import Workspace

OFFER = Subject(HolderOf.OFFER, "o1")


def main(path: Path) -> None:
    workspace, catalogue = Workspace.open(path), load_catalogue()
    number = 0
    while True:
        number += 1
        changes = {"billing.min_billed_s": Stated(number * 60), "offer.quoted_by": Stated(f"step {number}")}
        workspace.submit(lambda db, c=changes: state_fields(db, OFFER, c, catalogue)).result()
        print(f"did {number}", flush=True)
        if number % 3:
            workspace.submit(undo).result()
            print(f"took {number}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
