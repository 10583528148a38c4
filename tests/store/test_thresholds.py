"""Is every move of a figure kept, and which one holds?"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from gpulease_gui.store.thresholds import ThresholdChange, append_threshold, list_moved, list_threshold_history


def test_that_the_newest_move_holds_until_it_is_taken_back(desk) -> None:
    first = ThresholdChange("thermal.gpu", "hot", 88.0, "°C", desk.noon, "li", "热机房 <b>")
    second = replace(first, value=0.1 + 0.2, at=desk.noon + timedelta(hours=1), why="again")
    other = ThresholdChange("power.limit", "full", 0.97, "share", desk.noon, "user", "bin")
    for change in (first, other, second):
        desk.write(lambda db, change=change: append_threshold(db, change))
    with desk.workspace.read() as connection:
        assert list_moved(connection) == (other, second)
        assert list_threshold_history(connection, "thermal.gpu", "hot") == (second, first)
    back = replace(second, value=None, why="")
    desk.write(lambda db: append_threshold(db, back))
    with desk.workspace.read() as connection:
        assert list_moved(connection) == (other,)
        assert list_threshold_history(connection, "thermal.gpu", "hot") == (back, second, first)


@pytest.mark.parametrize("sql", ["UPDATE threshold_history SET value = '1'", "DELETE FROM threshold_history"])
def test_that_what_was_noted_is_never_changed(desk, sql: str) -> None:
    desk.write(lambda db: append_threshold(db, ThresholdChange("a.b", "c", 1.0, "", desk.noon, "li", "x")))
    with pytest.raises(sqlite3.IntegrityError):
        desk.write(lambda db: db.conn.execute(sql))
