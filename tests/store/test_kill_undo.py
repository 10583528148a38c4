"""Can the last act be taken back after kill -9, and is no act ever half there?"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.supplier import Offer, Supplier
from gpulease_gui.services.commerce_edit import save_offer, save_supplier
from gpulease_gui.services.commerce_undo import can_redo, can_undo, redo, undo
from gpulease_gui.store.term_versions import get_terms
from gpulease_gui.store.workspace import Workspace

OFFER = Subject(HolderOf.OFFER, "o1")
KILLS = 2


def test_that_an_act_is_whole_and_can_be_taken_back_and_done_again_after_each_kill(path):
    workspace = Workspace.open(path)
    workspace.submit(lambda db: (save_supplier(db, Supplier("s1", "Haven")), save_offer(db, Offer("o1", "s1", "Q-7")))).result()
    workspace.close()
    chance = random.Random(20261201)
    for _ in range(KILLS):
        last = last_line_before_the_kill(path, chance.randrange(4, 30))
        assert last, "something was kept before the kill"
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        workspace = Workspace.open(path)
        before = stated(workspace)
        number, words = before
        assert number is None or words == f"step {number // 60}", "both fields of an act, or neither"
        with workspace.read() as connection:
            act = can_undo(connection)
        assert act is not None
        taken = workspace.submit(undo).result()
        assert taken is not None and taken.act.entry == act.entry and taken.kept == 0
        after = stated(workspace)
        assert after != before or act.changed > 1
        with workspace.read() as connection:
            assert can_redo(connection).entry == act.entry
        workspace.submit(redo).result()
        assert stated(workspace) == before
        workspace.close()


def stated(workspace: Workspace) -> tuple[int | None, str | None]:
    with workspace.read() as connection:
        terms = get_terms(connection, OFFER)
    return terms.value("billing.min_billed_s"), terms.value("offer.quoted_by")


def last_line_before_the_kill(path: Path, lines: int) -> str:
    command = [sys.executable, str(Path(__file__).with_name("acting_process.py")), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        rest, errors = process.communicate(timeout=60)
    assert not errors and process.returncode == -9
    whole = [line for line in (*first, *rest.splitlines(keepends=True)) if line.endswith("\n")]
    return whole[-1].strip() if whole else ""
