"""Is every fault of a connection survived, and is nothing left over? The whole of it: `python -m tests.reliability`."""

from __future__ import annotations

import pytest

from tests.reliability import FAULTS, inject

pytestmark = pytest.mark.sshd


def test_that_every_fault_is_survived_and_leaves_no_thread_socket_handle_or_process() -> None:
    report = inject(len(FAULTS))
    assert report.good, str(report)
    assert set(report.faults) == set(FAULTS) and set(report.left) == {"threads", "sockets", "file handles", "remote processes"}


def test_that_a_report_with_one_fault_or_one_leak_is_not_good() -> None:
    report = inject(0)
    report.left["sockets"] = 1
    assert not report.good and "leaked sockets: 1" in str(report)
