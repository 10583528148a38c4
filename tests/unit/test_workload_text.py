"""Are sessions written as lines read as the same sessions, and are lines that say none refused by number?"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.workload import Session
from gpulease_gui.services.workload_text import read_sessions, write_sessions

START = datetime.fromisoformat("2026-03-02T10:50:00+08:00")
SESSIONS = st.builds(
    Session, st.integers(0, 999_999), st.none() | st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC)).map(lambda at: at.replace(microsecond=0)),
    st.booleans(),
)  # fmt: skip


@given(st.lists(SESSIONS, max_size=12))
def test_that_what_was_written_is_read_back(sessions: list[Session]) -> None:
    assert read_sessions(write_sessions(sessions)) == tuple(sessions)


def test_that_lines_are_read_as_people_write_them() -> None:
    words = "3 x 1.5 h\n\n2026-03-02T10:50+08:00 20 min\n10 分钟 未就绪\n2 × 1d"
    assert read_sessions(words) == (*(Session(5400),) * 3, Session(1200, START), Session(600, None, False), *(Session(86400),) * 2)


@pytest.mark.parametrize("words", ["later", "5", "-1 h", "1e3 h", "2026-13-02T10:50 1 h", "999999999 h", "99999 x 1 h"])
def test_that_a_line_that_is_no_session_is_refused(words: str) -> None:
    with pytest.raises(UsageError):
        read_sessions(f"1 h\n{words}")
