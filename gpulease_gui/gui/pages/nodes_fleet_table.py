"""What does the table of a fleet say of each node that is verified?"""

from __future__ import annotations

from collections.abc import Callable

from gpulease_gui.checks.check import rules
from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.table import SparingTable
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.fleet_rest import END_UNSEEN, NOT_AT_ONCE
from gpulease_gui.services.fleet_run import FleetLine, FleetTotals, Phase

DECIDE = "decide"
# The columns that a narrow window goes without, the most important first: fails, warnings, inconclusive, time, passes.
_SPARE = (5, 4, 6, 7, 3)
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
# It ended by itself, but it is asked again: not to be taken for one that answered all.
_PARTLY = Badge("state-degraded", "warn", Text("Partly done", "部分完成"))
# What somebody has to see to comes first when the user sorts.
_URGENCY = {phase: place for place, phase in enumerate((
    Phase.NOT_REACHED, Phase.BROKEN, Phase.CANCELLED, Phase.CANCELLING, Phase.READING, Phase.CONNECTING, Phase.WAITING, Phase.DONE,
))}  # fmt: skip
_LOUDNESS = {verdict: place for place, verdict in enumerate((Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.PASS))}
_REST = len(_URGENCY)
_ASK_AGAIN = Text("verify what is not done: this node is asked again", "验收未完成的部分：会重新询问该节点")
_SHOWN: tuple[tuple[Verdict, str, Text, int], ...] = (
    (Verdict.PASS, "passed", Text("Pass", "通过"), 54), (Verdict.WARN, "warned", Text("Warning", "警告"), 70),
    (Verdict.FAIL, "failed", Text("Fail", "不符"), 54), (Verdict.INCONCLUSIVE, "unknown", Text("Inconcl.", "无法判定"), 74),
)  # fmt: skip


def fleet_table(has_question: Callable[[str], bool]) -> TableModel[FleetLine]:
    """Nodes of a fleet; `has_question`: whether a node stopped at a host key that can be decided."""
    columns = (
        Column[FleetLine](Text("State", "状态"), _state, _urgency, width=118),
        Column[FleetLine](Text("Node", "节点"), lambda line: Cell(foreign(line.node.name), weight=500, tip=who_words(line)), lambda line: line.node.name, width=150),
        Column[FleetLine](Text("Checks", "检查项"), _checks, lambda line: line.answered, width=72, number=True),
        *(_count(verdict, name, title, width) for verdict, name, title, width in _SHOWN),
        Column[FleetLine](Text("Time, s", "用时，秒"), lambda line: NOTHING if line.seconds is None else Cell(str(line.seconds), tone="2"), lambda line: line.seconds or 0, width=70, number=True),
        Column[FleetLine](Text("Verdict", "判定"), _verdict, lambda line: _rank(_shown_verdict(line)), width=110),
        Column[FleetLine](Text("Worst finding, or why there is none", "最严重的结果，或未得到结果的原因"), lambda line: _worst(line, has_question), _like, width=300, stretch=True),
    )  # fmt: skip
    return TableModel(columns, lambda line: line.node.id, search=_words)


class FleetTable(SparingTable):
    """The reason gets its room from columns of numbers; these stand in the tip of the checks, too."""

    spare = _SPARE


def _state(line: FleetLine) -> Cell:
    badge = _PARTLY if _is_partly(line) else _BADGES[line.phase]
    return Cell(badge.word, badge=badge)


def _is_partly(line: FleetLine) -> bool:
    return line.phase is Phase.DONE and not line.is_done


def _urgency(line: FleetLine) -> float:
    return _URGENCY[Phase.CANCELLED] + 0.5 if _is_partly(line) else _URGENCY[line.phase]


def _rank(verdict: Verdict | None) -> int:
    return _REST if verdict is None else _LOUDNESS.get(verdict, _REST)


def _like(line: FleetLine) -> str:
    """Nodes with the same trouble stand together, the worst first."""
    return f"{_rank(line.worst)} {line.worst_check} {line.worst_words.en} {line.reason.en}"


def _checks(line: FleetLine) -> Cell:
    if not line.planned:
        return NOTHING
    short = line.is_over and line.answered < line.planned
    return Cell(f"{line.answered} / {line.planned}", tone="warn" if short else "1", weight=600 if short else 400, tip=_numbers(line))


def _numbers(line: FleetLine) -> Text:
    parts = [(badge_of(verdict).word, getattr(line, name)) for verdict, name, _, _ in _SHOWN]
    en, zh = ", ".join(f"{word.en} {count}" for word, count in parts), "，".join(f"{word.zh} {count}" for word, count in parts)
    return Text(en, zh) if line.seconds is None else Text(f"{en}; {line.seconds} s", f"{zh}；{line.seconds} 秒")


def _count(verdict: Verdict, name: str, title: Text, width: int) -> Column[FleetLine]:
    loud = verdict in (Verdict.FAIL, Verdict.WARN)

    def number(line: FleetLine) -> int:
        return int(getattr(line, name))

    def cell(line: FleetLine) -> Cell:
        found = number(line)
        if not line.planned:
            return NOTHING
        return Cell(str(found), tone=badge_of(verdict).token if loud and found else "2", weight=600 if loud and found else 400)

    return Column[FleetLine](title, cell, number, width=width, number=True)


def _shown_verdict(line: FleetLine) -> Verdict | None:
    """The verdict of a node that ended by itself; None while it is under way and where it was not asked to the end."""
    return line.overall if line.phase is Phase.DONE else None


def _verdict(line: FleetLine) -> Cell:
    verdict = _shown_verdict(line)
    return NOTHING if verdict is None else state_cell(badge_of(verdict))


def _worst(line: FleetLine, has_question: Callable[[str], bool]) -> Cell:
    if line.phase is Phase.NOT_REACHED and has_question(line.node.id):
        return Cell(Text("Host key: decide…", "主机密钥：待决定…"), tone="accent", action=DECIDE, tip=why_words(line))
    if line.reason.en and line.phase is not Phase.CANCELLED and (line.phase is not Phase.DONE or line.worst is None):
        return Cell(line.reason, tone="2", tip=why_words(line))
    if line.reason.en and _is_mostly_unknown(line):
        return Cell(line.reason, icon=badge_of(Verdict.INCONCLUSIVE).icon, icon_tone=badge_of(Verdict.INCONCLUSIVE).token, tip=why_words(line))
    if line.worst is None:
        return Cell(_cancelled(line), tone="2", tip=why_words(line)) if line.phase is Phase.CANCELLED else NOTHING
    return Cell(_loudest(line), icon=badge_of(line.worst).icon, icon_tone=badge_of(line.worst).token, tip=why_words(line))


def _is_mostly_unknown(line: FleetLine) -> bool:
    return line.phase is Phase.DONE and line.unknown > line.passed + line.warned + line.failed


def _loudest(line: FleetLine) -> Text:
    title = _title(line.worst_check)
    return Text(f"{title.en}: {line.worst_words.en}", f"{title.zh}：{line.worst_words.zh}")


def _cancelled(line: FleetLine) -> Text:
    """What a cancelled node leaves behind."""
    if not line.answered:
        return Text("cancelled before it answered anything", "未得到任何结果即已取消")
    return Text(f"cancelled; {line.answered} of {line.planned} checks were answered and stay",
                f"已取消；{line.planned} 项中已得到 {line.answered} 项结果，予以保留")  # fmt: skip


def _title(check_id: str) -> Text:
    rule = rules().get(check_id)
    return rule.check.title if rule else Text(check_id, check_id)


def who_words(line: FleetLine) -> Text:
    """Name and address of a node, whole."""
    return foreign(f"{line.node.name} · {line.node.target}")


def why_words(line: FleetLine) -> Text:
    """Why there is no answer and what to do, then the worst that was found; empty where all is well."""
    why, step = line.reason, line.next_step
    if line.phase is Phase.CANCELLED:
        why, step = _joined(_cancelled(line), NOT_AT_ONCE if why == END_UNSEEN else why, "; ", "；"), _ASK_AGAIN
    if why.en and step.en:
        why = Text(f"{why.en}. Next: {step.en}", f"{why.zh}。下一步：{step.zh}")
    return why if line.worst is None else _joined(why, _loudest(line))


def _joined(first: Text, second: Text, en: str = ". ", zh: str = "。") -> Text:
    if not first.en or not second.en:
        return first if first.en else second
    return Text(f"{first.en}{en}{second.en}", f"{first.zh}{zh}{second.zh}")


def totals_words(totals: FleetTotals) -> Text:
    """How far the fleet is, in one line: nodes by verdict, and those without one."""
    parts = (
        (totals.passed, "pass", "通过"), (totals.warned, "warning", "警告"), (totals.failed, "fail", "不符"),
        (totals.unknown, "inconclusive", "无法判定"), (totals.not_reached, "not reached", "未连上"),
        (totals.cancelled, "cancelled", "已取消"),
    )  # fmt: skip
    en = ", ".join(f"{count} {word}" for count, word, _ in parts if count)
    zh = "，".join(f"{word} {count}" for count, _, word in parts if count)
    head = Text(f"{totals.over} of {totals.nodes} nodes", f"{totals.nodes} 个节点已结束 {totals.over} 个")
    return Text(f"{head.en}: {en}", f"{head.zh}：{zh}") if en else head


def _words(line: FleetLine) -> str:
    return f"{line.node.name} {line.node.target} {line.reason.en} {line.reason.zh} {line.worst_check}"
