"""Does a raw output say when it was collected as the rest of the program tells times?"""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from gpulease_gui.gui.pages.verification_evidence import _local


@pytest.mark.parametrize(("zone", "said"), [
    ("Asia/Shanghai", "2026-12-02 14:54:35 UTC+8"), ("America/St_Johns", "2026-12-02 03:24:35 UTC−3:30"), ("UTC", "2026-12-02 06:54:35 UTC+0"),
])  # fmt: skip
def test_that_the_time_of_a_raw_output_names_its_zone_as_times_elsewhere_do(monkeypatch: pytest.MonkeyPatch, zone: str, said: str) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", zone)
        time.tzset()
        assert _local(datetime(2026, 12, 2, 6, 54, 35, tzinfo=UTC)) == said
    time.tzset()
