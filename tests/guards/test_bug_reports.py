"""What bug reports about other programs ask of ours beyond single outputs."""

from __future__ import annotations

from gpulease_gui.checks.check import rules
from gpulease_gui.facts.fact import readers


def test_that_no_rule_compares_a_pasted_copy_rate() -> None:
    using = [id_ for id_, rule in rules().items() if "nvbandwidth" in (*rule.check.facts, *rule.check.optional)]
    assert using == []


def test_that_rdma_is_measured_with_messages_of_8_mib() -> None:
    command = readers()["ib_pair"].fact.command
    assert command is not None
    assert command.argv[command.argv.index("-s") + 1] == str(8 * 1024 * 1024)
