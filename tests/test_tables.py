"""Are the tables of the tests true, and is nothing in them empty?"""

from __future__ import annotations

from tests import tables


def test_that_every_verdict_of_every_check_has_a_case_or_a_reason() -> None:
    found = tables.rows()
    assert {row.check: row.empty() for row in found if row.empty()} == {}
    assert {row.check: row.idle_reasons() for row in found if row.idle_reasons()} == {}
    assert tables.strange_reasons() == ()


def test_that_every_bug_report_has_a_test_that_exists() -> None:
    assert {bug.report: bug.missing() for bug in tables.bugs() if bug.missing()} == {}
    assert tables.unshown() == ()
    assert len(tables.bugs()) == 26


def test_that_the_tables_are_as_committed() -> None:
    hint = "run python -m tests.tables --write"
    assert tables.CHECKS_TABLE.read_text("utf-8") == tables.checks_table(), hint
    assert tables.BUGS_TABLE.read_text("utf-8") == tables.bugs_table(), hint
