"""What of a node is still without an answer, so that a second round asks nothing else?

A node is done when runs of it, begun since and ended by themselves, answered every planned check. An
answer that names what the node lacks (a tool, a right) is one: asking again would bring the same. A time limit, a
line that was lost, a frame that never came and an output that was cut off are none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from gpulease_gui.checks.check import GROUPS, rules
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.failures import PHASE_WORDS
from gpulease_gui.services.joined import join, joined_in
from gpulease_gui.services.plan import make_plan
from gpulease_gui.store import runs
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Run, RunState

if TYPE_CHECKING:
    from gpulease_gui.services.outcome import Trouble
    from gpulease_gui.services.verify import Request

AGAIN = frozenset([Reason.TIMEOUT, Reason.CONNECTION_LOST, Reason.COMPUTER_SLEPT, Reason.OWN_NETWORK, Reason.NOT_COLLECTED, Reason.CUT_OFF])
_ASKED_AGAIN = Text("verify what is not done: only these are asked again", "验收未完成的部分：只会重新询问这些项")
NOT_AT_ONCE = Text(
    "the node did not answer at once: its commands end when it sees that the connection did",
    "节点没有立即响应：待其发现连接已断开，命令会自行结束",
)  # fmt: skip
END_UNSEEN = Text(f"cancelled; {NOT_AT_ONCE.en}", f"已取消；{NOT_AT_ONCE.zh}")
_WITHOUT: Mapping[str, Text] = {
    Reason.TIMEOUT: Text("ran into the time limit", "超时"), Reason.CONNECTION_LOST: Text("lost with the connection", "因连接中断而丢失"),
    Reason.COMPUTER_SLEPT: Text("lost while this computer slept", "因本机休眠而丢失"),
    Reason.OWN_NETWORK: Text("lost while this computer had no network", "因本机无网络而丢失"),
    Reason.NOT_COLLECTED: Text("never came", "未收到"), Reason.CUT_OFF: Text("were cut off: the node sent more than is kept", "输出过多被截断"),
}  # fmt: skip
_LOUDEST = (Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE)
# The cards are what is rented: their troubles are named before those of the machine around them.
_CARDS = ("gpu", "mem", "npu", "health", "power", "clock", "thermal", "topo", "nvlink", "pcie", "nccl", "perf")
_MOST_NAMED = 3
MANY = 10


def unanswered(findings: Iterable[Finding]) -> frozenset[str]:
    """The checks whose question never reached the node, or whose answer never came."""
    return frozenset(f.check for f in findings if f.verdict is Verdict.INCONCLUSIVE and f.reason_code in AGAIN)


def unanswered_words(findings: Iterable[Finding]) -> tuple[Text, Text]:
    """(how many checks are without an answer, why and which; what to do); empty where all are answered."""
    by_reason: dict[str, list[str]] = {}
    for finding in findings:
        if finding.verdict is Verdict.INCONCLUSIVE and finding.reason_code in AGAIN:
            checks = by_reason.setdefault(finding.reason_code, [])
            checks += [finding.check] if finding.check not in checks else []
    if not by_reason:
        return NO_TEXT, NO_TEXT
    count = len({check for checks in by_reason.values() for check in checks})
    parts = [(_WITHOUT[code], _named(checks)) for code, checks in by_reason.items()]
    en = "; ".join(f"{why.en}: {names}" for why, names in parts)
    zh = "；".join(f"{why.zh}：{names}" for why, names in parts)
    return Text(f"{count} {'check has' if count == 1 else 'checks have'} no answer ({en})", f"{count} 项检查没有结果（{zh}）"), _ASKED_AGAIN


def untold_words(findings: Sequence[Finding]) -> tuple[Text, Text]:
    """(why a node does not say all that it was asked, what to do): what is without an answer, else what can't be judged."""
    without, step = unanswered_words(findings)
    return (without, step) if without.en else (unjudged_words(findings), NO_TEXT)


def unjudged_words(findings: Sequence[Finding]) -> Text:
    """The one reason why a quarter or more of what was asked can't be judged; empty where there is no such reason.

    A node without nvidia-smi answers all, but of its GPUs says nothing.
    """
    told = Counter(
        finding.reason for finding in findings
        if finding.verdict is Verdict.INCONCLUSIVE and finding.reason_code not in AGAIN and finding.reason_code != Reason.NOT_PROMISED
    )  # fmt: skip
    why, count = next(iter(told.most_common(1)), (NO_TEXT, 0))
    if count < MANY or count * 4 < len(findings):
        return NO_TEXT
    return Text(f"{count} of {len(findings)} findings can't be judged: {why.en}", f"{len(findings)} 项结果中有 {count} 项无法判定：{why.zh}")


def _named(checks: list[str]) -> str:
    more = f" +{len(checks) - _MOST_NAMED}" if len(checks) > _MOST_NAMED else ""
    return ", ".join(checks[:_MOST_NAMED]) + more


def in_its_phase(trouble: Trouble) -> Text:
    """Why a node was not reached, after the part of connecting in which it ended."""
    why = trouble.reason_text
    for phase, words in PHASE_WORDS.items():
        if phase == trouble.phase:
            return Text(f"{words.en}: {why.en}", f"{words.zh}：{why.zh}")
    return why


def loudness(finding: Finding) -> tuple[int, int] | None:
    """How loud a finding is, the loudest first: fails, warnings, what is unknown; of each the required ones before others.

    Of equals what concerns the cards, then the order of the list of checks: nodes with the same faults say the same,
    whatever came first. None = not worth a word.
    """
    if finding.verdict not in _LOUDEST or (finding.verdict is Verdict.INCONCLUSIVE and not finding.required):
        return None
    return _LOUDEST.index(finding.verdict) * 2 + (not finding.required), _places().get(finding.check, len(_places()))


@cache
def _places() -> Mapping[str, int]:
    groups = {group: place for place, group in enumerate(dict.fromkeys((*_CARDS, *GROUPS)))}
    ordered = sorted(rules(), key=lambda id_: (groups.get(id_.partition(".")[0], len(groups)), id_))
    return {id_: place for place, id_ in enumerate(ordered)}


def known_since(connection: Reader, node_id: str, request: Request, since: datetime) -> tuple[Run | None, tuple[Finding, ...]]:
    """What a node answered `since` (UTC) against that contract and those terms, and the newest run that it stands in.

    The newest whole run with what joined it, or, without one, the runs of some checks, a newer answer at the place of
    an older one. Only runs that ended by themselves count. (None, ()) where there is none.
    """
    made = [
        run for run in runs.list_runs(connection, node_id=node_id, parts=True)
        if run.state is RunState.FINISHED and run.started_at >= since
        and run.contract_id == request.contract_id and dict(run.terms) == dict(request.terms)
    ]  # fmt: skip
    whole = next((run for run in made if not run.is_part), None)
    if whole is not None:
        return whole, joined_in(connection, whole.id).findings
    parts = [(run, [stored.finding for stored in runs.list_current_findings(connection, run.id)]) for run in reversed(made)]
    return (made[0] if made else None), join((), parts).findings


def what_is_left(connection: Reader, node_id: str, request: Request, since: datetime) -> Request | None:
    """`request` as far as it was not answered since; None = nothing is left.

    Answers to other terms count for nothing here, nor do runs that were cancelled or broke off.
    """
    run, findings = known_since(connection, node_id, request, since)
    if run is None:
        return request
    without = unanswered(findings)
    known = {finding.check for finding in findings}
    left = [check for check in make_plan(request.choice).checks if check in without or check not in known]
    return replace(request, only=tuple(left), level=None, profile="", left_out=(), added=(), heavy=False) if left else None
