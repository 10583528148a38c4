"""What does the table of a fleet say of each node that is verified?"""

from __future__ import annotations

from collections.abc import Callable

from gpulease_gui.checks.check import rules
from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.fleet_run import FleetLine, FleetTotals, Phase

DECIDE = "decide"
_BADGES = {
    Phase.WAITING: Badge("clock", "t3", Text("Waiting", "排队中")),
    Phase.CONNECTING: badge_of(NodeState.CONNECTING),
    Phase.READING: Badge("verdict-running", "run", Text("Reading", "读取中")),
    Phase.CANCELLING: Badge("verdict-running", "run", Text("Cancelling", "正在取消")),
    Phase.DONE: badge_of(CheckState.DONE),
    Phase.NOT_REACHED: Badge("state-refused", "fail", Text("Not reached", "未连上")),
    Phase.CANCELLED: badge_of(CheckState.CANCELLED),
    Phase.BROKEN: Badge("verdict-error", "warn", Text("Broke off", "意外中断")),
}
_SHOWN: tuple[tuple[Verdict, str, Text], ...] = (
    (Verdict.PASS, "passed", Text("Pass", "通过")), (Verdict.WARN, "warned", Text("Warning", "警告")),
    (Verdict.FAIL, "failed", Text("Fail", "不符")), (Verdict.INCONCLUSIVE, "unknown", Text("Inconcl.", "无法判定")),
)  # fmt: skip


def fleet_table(has_question: Callable[[str], bool]) -> TableModel[FleetLine]:
    """Nodes of a fleet; `has_question`: whether a node stopped at a host key that can be decided."""
    columns = (
        Column[FleetLine](Text("State", "状态"), _state, lambda line: line.phase, width=118),
        Column[FleetLine](Text("Node", "节点"), lambda line: Cell(foreign(line.node.name), weight=500, tip=foreign(line.node.target)), lambda line: line.node.name, width=150),
        Column[FleetLine](Text("Checks", "检查项"), _checks, lambda line: line.answered, width=84, number=True),
        *(_count(verdict, name, title) for verdict, name, title in _SHOWN),
        Column[FleetLine](Text("s", "秒"), lambda line: NOTHING if line.seconds is None else Cell(str(line.seconds), tone="2"), lambda line: line.seconds or 0, width=52, number=True),
        Column[FleetLine](Text("Verdict", "判定"), _verdict, lambda line: str(line.overall or ""), width=110),
        Column[FleetLine](Text("Worst finding, or why there is none", "最严重的结果，或未得到结果的原因"), lambda line: _worst(line, has_question), width=300, stretch=True),
    )  # fmt: skip
    return TableModel(columns, lambda line: line.node.id, search=_words)


def _state(line: FleetLine) -> Cell:
    badge = _BADGES[line.phase]
    return Cell(badge.word, badge=badge)


def _checks(line: FleetLine) -> Cell:
    if not line.planned:
        return NOTHING
    short = line.is_over and line.answered < line.planned
    return Cell(f"{line.answered} / {line.planned}", tone="warn" if short else "1", weight=600 if short else 400)


def _count(verdict: Verdict, name: str, title: Text) -> Column[FleetLine]:
    loud = verdict in (Verdict.FAIL, Verdict.WARN)

    def number(line: FleetLine) -> int:
        return int(getattr(line, name))

    def cell(line: FleetLine) -> Cell:
        found = number(line)
        if not line.planned:
            return NOTHING
        return Cell(str(found), tone=badge_of(verdict).token if loud and found else "2", weight=600 if loud and found else 400)

    return Column[FleetLine](title, cell, number, width=76, number=True)


def _verdict(line: FleetLine) -> Cell:
    return NOTHING if line.overall is None or line.phase is not Phase.DONE else state_cell(badge_of(line.overall))


def _worst(line: FleetLine, has_question: Callable[[str], bool]) -> Cell:
    if line.phase is Phase.NOT_REACHED and has_question(line.node.id):
        return Cell(Text("Host key: decide…", "主机密钥：待决定…"), tone="accent", action=DECIDE, tip=why_words(line))
    if line.reason.en and (line.phase is not Phase.DONE or line.worst is None):
        return Cell(line.reason, tone="2", tip=why_words(line))
    if line.worst is None:
        return NOTHING
    badge, title = badge_of(line.worst), _title(line.worst_check)
    words = Text(f"{title.en}: {line.worst_words.en}", f"{title.zh}：{line.worst_words.zh}")
    return Cell(words, icon=badge.icon, icon_tone=badge.token, tip=words)


def _title(check_id: str) -> Text:
    rule = rules().get(check_id)
    return rule.check.title if rule else Text(check_id, check_id)


def why_words(line: FleetLine) -> Text:
    """Why there is no answer, and what to do; empty where all is well."""
    why, step = line.reason, line.next_step
    if not why.en or not step.en:
        return why
    return Text(f"{why.en}. Next: {step.en}", f"{why.zh}。下一步：{step.zh}")


def totals_words(totals: FleetTotals) -> Text:
    """How far the fleet is, in one line: nodes by verdict, and those without one."""
    parts = (
        (totals.passed, "pass", "通过"), (totals.warned, "warning", "警告"), (totals.failed, "fail", "不符"),
        (totals.unknown, "inconclusive", "无法判定"), (totals.not_reached, "not reached", "未连上"),
        (totals.cancelled, "cancelled", "已取消"),
    )  # fmt: skip
    en = ", ".join(f"{count} {word}" for count, word, _ in parts if count)
    zh = "，".join(f"{word} {count}" for count, _, word in parts if count)
    head = Text(f"{totals.over} of {totals.nodes} nodes", f"{totals.nodes} 个节点已完成 {totals.over} 个")
    return Text(f"{head.en}: {en}", f"{head.zh}：{zh}") if en else head


def _words(line: FleetLine) -> str:
    return f"{line.node.name} {line.node.target} {line.reason.en} {line.reason.zh} {line.worst_check}"
