"""Which shape, word and colour stand for a state?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.domain.claim import CLAIM_WORDS, ClaimState
from gpulease_gui.domain.finding import VERDICT_WORDS, CheckState, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import NodeState


@dataclass(frozen=True, slots=True)
class Badge:
    """A state as it is drawn: icon name, colour token, word. Loud ones are tinted even in tables."""

    icon: str
    token: str
    word: Text
    loud: bool = False

    @property
    def tint(self) -> str:
        """The token of the ground under a filled badge."""
        return f"{self.token}_bg" if self.token in _TINTED else "surface2"


_TINTED = frozenset(["pass", "warn", "fail", "inc", "na", "run", "accent"])


class ItemState(StrEnum):
    """States of a checklist item that no check can have."""

    WAIVED = "waived"


State = Verdict | CheckState | ClaimState | NodeState | ItemState

_VERDICTS: Mapping[Verdict, Badge] = {
    Verdict.PASS: Badge("verdict-pass", "pass", VERDICT_WORDS[Verdict.PASS]),
    Verdict.WARN: Badge("verdict-warn", "warn", VERDICT_WORDS[Verdict.WARN], loud=True),
    Verdict.FAIL: Badge("verdict-fail", "fail", VERDICT_WORDS[Verdict.FAIL], loud=True),
    Verdict.INCONCLUSIVE: Badge("verdict-inconclusive", "inc", VERDICT_WORDS[Verdict.INCONCLUSIVE]),
    Verdict.NOT_APPLICABLE: Badge("verdict-na", "na", VERDICT_WORDS[Verdict.NOT_APPLICABLE]),
}
_CHECKS: Mapping[CheckState, Badge] = {
    CheckState.PLANNED: Badge("verdict-notrun", "t3", Text("Planned", "待执行")),
    CheckState.RUNNING: Badge("verdict-running", "run", Text("Running", "执行中")),
    CheckState.DONE: Badge("check", "t3", Text("Done", "已完成")),
    CheckState.NOT_RUN: Badge("verdict-notrun", "t3", Text("Not run", "未执行")),
    CheckState.CANCELLED: Badge("verdict-na", "na", Text("Cancelled", "已取消")),
    CheckState.ERROR: Badge("verdict-error", "warn", Text("Probe error", "探测出错")),
}
_CLAIMS: Mapping[ClaimState, Badge] = {
    ClaimState.NOT_ASKED: Badge("verdict-inconclusive", "inc", CLAIM_WORDS[ClaimState.NOT_ASKED]),
    ClaimState.ASKED: Badge("clock", "inc", CLAIM_WORDS[ClaimState.ASKED]),
    ClaimState.ANSWERED: Badge("flag", "na", CLAIM_WORDS[ClaimState.ANSWERED]),
    ClaimState.EVIDENCED: Badge("document", "na", CLAIM_WORDS[ClaimState.EVIDENCED]),
    ClaimState.VERIFIED: Badge("verdict-pass", "pass", CLAIM_WORDS[ClaimState.VERIFIED]),
    ClaimState.REFUTED: Badge("verdict-fail", "fail", CLAIM_WORDS[ClaimState.REFUTED], loud=True),
}
_NODES: Mapping[NodeState, Badge] = {
    NodeState.NEVER_SEEN: Badge("state-never", "t3", Text("Never seen", "未连接过")),
    NodeState.CONNECTING: Badge("state-connecting", "run", Text("Connecting", "连接中")),
    NodeState.CONNECTED: Badge("state-connected", "pass", Text("Connected", "已连接")),
    NodeState.DEGRADED: Badge("state-degraded", "warn", Text("Degraded", "连接不稳")),
    NodeState.LOST: Badge("state-lost", "fail", Text("Lost", "连接中断")),
    NodeState.REFUSED: Badge("state-refused", "fail", Text("Refused", "拒绝连接")),
    NodeState.KEY_CHANGED: Badge("state-changed", "fail", Text("Key changed", "密钥变更")),
    NodeState.NOT_WATCHED: Badge("pause", "t3", Text("Not watched", "未监控")),
}
_WAIVED = Badge("verdict-waived", "na", Text("Waived", "已豁免"))


def badge_of(state: State) -> Badge:
    """The badge of a verdict, of a check, claim or item state, or of a node's connection."""
    if isinstance(state, Verdict):
        return _VERDICTS[state]
    if isinstance(state, CheckState):
        return _CHECKS[state]
    if isinstance(state, ClaimState):
        return _CLAIMS[state]
    if isinstance(state, NodeState):
        return _NODES[state]
    return _WAIVED
