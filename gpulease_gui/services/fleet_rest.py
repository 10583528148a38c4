"""What of a node is still without an answer, so that a second round asks nothing else?

A node is done when a whole run of it, begun since, ended by itself and every planned check of it got an answer. An
answer that names what the node lacks (a tool, a right) is one: asking again would bring the same. A time limit, a
line that was lost or a frame that never came is none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.services.joined import joined_in
from gpulease_gui.services.plan import make_plan
from gpulease_gui.store import runs
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Run, RunState

if TYPE_CHECKING:
    from gpulease_gui.services.verify import Request

AGAIN = frozenset([Reason.TIMEOUT, Reason.CONNECTION_LOST, Reason.NOT_COLLECTED])


def unanswered(findings: Iterable[Finding]) -> frozenset[str]:
    """The checks whose question never reached the node, or whose answer never came."""
    return frozenset(f.check for f in findings if f.verdict is Verdict.INCONCLUSIVE and f.reason_code in AGAIN)


def whole_run(connection: Reader, node_id: str, contract_id: str | None, since: datetime) -> Run | None:
    """The newest whole run of a node against that contract, begun `since` (UTC) and ended by itself."""
    made = runs.list_runs(connection, node_id=node_id)
    return next(
        (run for run in made if run.state is RunState.FINISHED and run.started_at >= since and run.contract_id == contract_id), None
    )  # fmt: skip


def what_is_left(connection: Reader, node_id: str, request: Request, since: datetime) -> Request | None:
    """`request` as far as it was not answered since; None = nothing is left.

    Without a whole run all of it is. A run that was cancelled or broke off is none: its node is asked everything.
    """
    run = whole_run(connection, node_id, request.contract_id, since)
    if run is None:
        return request
    joined = joined_in(connection, run.id)
    without = unanswered(joined.findings)
    known = {finding.check for finding in joined.findings}
    left = [check for check in make_plan(request.choice).checks if check in without or check not in known]
    return replace(request, only=tuple(left), level=None, profile="", left_out=(), added=(), heavy=False) if left else None
