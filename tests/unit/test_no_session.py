"""What is advised where a node opens no session?"""

from __future__ import annotations

import pytest

from gpulease_gui.remote.failures import no_channel

FULL = "close other sessions of this user (MaxSessions) or try again"


@pytest.mark.parametrize(
    ("said", "why", "step"),
    [
        ("Administratively prohibited", "its rules forbid it", "ask the supplier whether this user may run commands: a rule of the server "
         "forbids sessions, such as for a user that may only forward"),
        ("Connect failed", "opening it failed there", FULL),
        ("Resource shortage", "it is short of resources", FULL),
    ],
)  # fmt: skip
def test_that_who_may_open_no_session_by_the_rules_is_not_told_to_close_others(said: str, why: str, step: str) -> None:
    error = no_channel("node:22", said)
    assert (error.why, error.next_step) == (f"the node opens no further session ({why})", step)
    assert ("MaxSessions" in error.next_text.zh) is ("MaxSessions" in step)
