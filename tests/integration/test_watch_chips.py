"""Is a chip that does nothing told where the contract pays for chips, and a module only where all of it rests?"""

from __future__ import annotations

from pathlib import Path

import pytest

from gpulease_gui.checks.watch_rules import WatchPromise

from .test_watch_scripted import START_S, Scripted


@pytest.mark.parametrize(("paid", "idle"), [(4, ["0/1", "1/0", "1/1"]), (2, ["1/0", "1/1"]), (None, ["1/0", "1/1"])])
def test_that_a_chip_that_rests_beside_one_that_works_is_idle_where_chips_are_paid_for(tmp_path: Path, paid: int | None, idle: list[str]) -> None:
    node = Scripted(tmp_path)
    rules = node.watch.rules
    assert rules is not None
    rules._rules.promise = WatchPromise(billed=True, paid=paid)
    for second in range(1900):
        uses = {name: {"npu.aicore_percent": 90.0 if name == "0/0" else 0.0} for name in ("0/0", "0/1", "1/0", "1/1")}
        rules._judge(uses, {}, {}, START_S + second, "npu")
    assert sorted(one.subject for one in rules._rules.open if one.rule.id == "watch.idle") == idle
    node.services.close()
