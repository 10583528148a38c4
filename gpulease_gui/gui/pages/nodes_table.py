"""What does the table of nodes say of each node?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.node import Reach
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.nodes_drift import SOLD_TWICE, chip_words
from gpulease_gui.gui.pages.nodes_work import Reached
from gpulease_gui.gui.widgets.table import SparingTable
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.services.acceptance import Acceptance
from gpulease_gui.services.drift import Duplicate
from gpulease_gui.services.events import NodeDrifted, NodeState
from gpulease_gui.services.nodes_view import NodeRow
from gpulease_gui.store.records import Run, RunState

NOT_CONNECTED = Badge("state-never", "t3", Text("Not connected", "未连接"))
INTERRUPTED = Badge("verdict-na", "na", Text("Interrupted", "已中断"))
_BAD_STATES = frozenset([NodeState.DEGRADED, NodeState.LOST, NodeState.REFUSED, NodeState.KEY_CHANGED])
_UNREAD = Cell(Text("not read", "未读取"), missing=True)


@dataclass(frozen=True, slots=True)
class ShownNode:
    """A node as the table has it: the record, what is under way, how it answered, its contract's delivery."""

    row: NodeRow
    reached: Reached | None = None
    busy: bool = False
    acceptance: Acceptance | None = None
    drifted: NodeDrifted | None = None
    since: datetime | None = None
    twice: tuple[Duplicate, ...] = ()

    @property
    def badge(self) -> Badge:
        """The state of its connection."""
        if self.reached is not None:
            return badge_of(self.reached.state)
        return badge_of(NodeState.NEVER_SEEN) if self.row.run is None else NOT_CONNECTED

    @property
    def needs_attention(self) -> bool:
        """Whether its connection or its last run is bad."""
        bad_line = self.reached is not None and self.reached.state in _BAD_STATES
        return bad_line or self.is_other_machine or (self.row.run is not None and self.row.run.overall is Verdict.FAIL)

    @property
    def is_verified(self) -> bool:
        """Whether its last run went to its end: one that was cancelled or interrupted leaves the node to be asked."""
        run = self.row.run
        return run is not None and run.state not in (RunState.CANCELLED, RunState.INTERRUPTED)

    @property
    def is_other_machine(self) -> bool:
        """Whether it is no longer what was accepted, or its cards are in another node, too."""
        broken = self.drifted is not None and self.drifted.changes[0].verdict is Verdict.FAIL
        return broken or bool(self.twice)


def run_badge(run: Run | None) -> Badge:
    """How a run ended, or that it did not."""
    if run is None:
        return badge_of(CheckState.NOT_RUN)
    if run.state is RunState.RUNNING:
        return badge_of(CheckState.RUNNING)
    if run.state is RunState.INTERRUPTED:
        return INTERRUPTED
    if run.state is RunState.CANCELLED:
        return badge_of(CheckState.CANCELLED)
    return badge_of(run.overall or Verdict.INCONCLUSIVE)


def local_time(run: Run | None) -> str:
    """When a run began, on this computer's clock."""
    return f"{run.started_at.astimezone():%m-%d %H:%M}" if run else ""


def offset_text(run: Run | None) -> str:
    """The node's clock minus ours in seconds, with its sign; empty when it was not read."""
    if run is None or run.clock_offset_s is None:
        return ""
    return f"{'+' if run.clock_offset_s >= 0 else ''}{number_text(round(run.clock_offset_s, 2), 2)}"


def key_words(shown: ShownNode) -> Cell:
    """How its host key stands."""
    if shown.row.node.reach is Reach.LOCAL:
        return NOTHING
    if shown.reached is not None and shown.reached.state is NodeState.KEY_CHANGED:
        return Cell(Text("changed", "已变更"), icon="shield", icon_tone="fail", tone="fail", weight=600)
    if shown.row.pinned:
        return Cell(Text("pinned", "已固定"), icon="lock", icon_tone="pass", tone="2")
    return Cell(Text("unknown", "未知"), icon="key", icon_tone="3", tone="2")


def _state(shown: ShownNode) -> Cell:
    """The connection where it is bad; else that the node changed; else the connection."""
    bad_line = shown.reached is not None and shown.reached.state in _BAD_STATES
    if not bad_line and (shown.twice or shown.drifted is not None):
        return _changed(shown)
    reason = shown.reached.reason if shown.reached and shown.reached.reason.en else shown.badge.word
    return Cell(shown.badge.word, badge=shown.badge, tip=reason)


def _changed(shown: ShownNode) -> Cell:
    """What changed in two words, the whole of it as a tip."""
    tone = "fail" if shown.is_other_machine else "warn"
    if shown.twice:
        return Cell(SOLD_TWICE, icon="state-changed", icon_tone=tone, tone=tone, weight=600, tip=shown.twice[0].words)
    changes = shown.drifted.changes if shown.drifted else ()
    return Cell(chip_words(changes), icon="state-changed", icon_tone=tone, tone=tone, weight=600, tip=changes[0].words)


def _endpoint(shown: ShownNode) -> Cell:
    node = shown.row.node
    return Cell(node.address.host_port if node.address else node.target, code=True, tone="2", tip=foreign(node.target))


def _hardware(words: str) -> Cell:
    return Cell(foreign(words)) if words else _UNREAD


def _clock(shown: ShownNode) -> Cell:
    said = offset_text(shown.row.run)
    return Cell(said) if said else NOTHING


def _last_run(shown: ShownNode) -> Cell:
    return state_cell(run_badge(shown.row.run))


def _seen(shown: ShownNode) -> Cell:
    return Cell(local_time(shown.row.run), tone="2") if shown.row.run else NOTHING


COLUMNS = (
    Column[ShownNode](Text("State", "状态"), _state, lambda s: s.badge.word.en, width=120),
    Column[ShownNode](Text("Node", "节点"), lambda s: Cell(foreign(s.row.node.name), weight=500), lambda s: s.row.node.name, width=96, stretch=True),
    Column[ShownNode](Text("Endpoint", "端点"), _endpoint, lambda s: s.row.node.target, width=148),
    Column[ShownNode](Text("Host key", "主机密钥"), key_words, width=92),
    Column[ShownNode](Text("GPUs", "加速卡"), lambda s: _hardware(s.row.cards), lambda s: s.row.cards, width=136),
    Column[ShownNode](Text("Clock, s", "时钟差，s"), _clock, width=66, number=True),
    Column[ShownNode](Text("Verified", "验收时间"), _seen, lambda s: s.row.run.started_at.timestamp() if s.row.run else 0.0, width=84, number=True),
    Column[ShownNode](Text("Last run", "上次验收"), _last_run, lambda s: run_badge(s.row.run).word.en, width=110),
)  # fmt: skip

# What a narrow window keeps beside state and name, the most important first: the inspector says the rest.
_LAST_RUN, _ENDPOINT, _HOST_KEY, _GPUS, _VERIFIED, _CLOCK = 7, 2, 3, 4, 6, 5


class NodeTable(SparingTable):
    """The last verdict stays in sight, whatever the width."""

    spare = (_LAST_RUN, _ENDPOINT, _HOST_KEY, _GPUS, _VERIFIED, _CLOCK)


def _group(shown: ShownNode) -> Group:
    contract = shown.row.contract
    if contract is None:
        return Group("", Text("No contract", "无合同"))
    title = f"{contract.number} · {shown.row.supplier}" if shown.row.supplier else contract.number
    return Group(contract.id, foreign(title), shown.acceptance.sentence if shown.acceptance else "")


def node_table() -> TableModel[ShownNode]:
    """Nodes under their contracts."""
    return TableModel(COLUMNS, lambda shown: shown.row.node.id, search=_words, group=_group)


def _words(shown: ShownNode) -> str:
    row = shown.row
    number = row.contract.number if row.contract else ""
    return f"{row.node.name} {row.node.target} {number} {row.supplier} {row.cards} {row.node.note}"
