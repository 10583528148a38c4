"""What does the table of findings say, promise beside measurement?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.finding import Basis, CheckState, Finding, Reason, Verdict, totals, worst
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.cell import EMPTY, NOT_READABLE, NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.verification_state import FindingRow, Picture
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Chip
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.table import SparingTable
from gpulease_gui.gui.widgets.wrap import WrapLayout
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.pdf.paint import Ruler
from gpulease_gui.reports.wording import deviation, figure, finding_name, value_text
from gpulease_gui.services.joined import Rerun
from gpulease_gui.services.run_view import JUDGED, coverage

NOT_STATED = Cell(Text("not stated", "未约定"), missing=True)
_LOUD = {Verdict.FAIL: "fail", Verdict.WARN: "warn"}
_TOKENS = {Verdict.PASS: "t3", Verdict.WARN: "warn", Verdict.FAIL: "fail", Verdict.INCONCLUSIVE: "inc"}
_REPORTED = Text("reported", "上报")
_RANK = {verdict: rank for rank, verdict in enumerate((Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.WARN, Verdict.PASS))}


def ruler_of(finding: Finding) -> Ruler | None:
    """The promise ruler of two figures; None for words and versions."""
    promised, measured = figure(finding.promised), figure(finding.measured)
    if promised is None or measured is None or finding.better is None:
        return None
    return Ruler(promised, measured, _TOKENS.get(finding.verdict, "t3"), less_is_better=finding.better == "less")


def sentence(finding: Finding) -> Text:
    """The words of a ruler's tooltip."""
    promised, measured = value_text(finding.promised), value_text(finding.measured)
    unit = f" {finding.unit}" if finding.unit else ""
    return Text(
        f"promised {promised.en}{unit}, measured {measured.en}{unit}", f"承诺 {promised.zh}{unit}，实测 {measured.zh}{unit}"
    )


def promised_cell(row: FindingRow) -> Cell:
    """What was promised."""
    finding = row.finding
    if finding is None:
        return NOTHING if row.promised is None else Cell(value_text(row.promised), tone="2")
    if finding.promised is None:
        return NOTHING if finding.term is None else NOT_STATED
    implied = finding.reason_code == Reason.IMPLIED
    tip = Text("implied by the promised GPU model", "由所承诺的 GPU 型号推得") if implied else ""
    return Cell(value_text(finding.promised), tone="3" if implied else "2", tip=tip)


def measured_cell(row: FindingRow) -> Cell:
    """What was found; loud when it fails or warns."""
    finding = row.finding
    if finding is None:
        return NOTHING
    if finding.measured is None:
        return NOTHING if finding.verdict is Verdict.NOT_APPLICABLE else NOT_READABLE
    tone = _LOUD.get(finding.verdict, "1")
    return Cell(value_text(finding.measured), tone=tone, weight=600 if tone != "1" else 400)


def _against(row: FindingRow) -> Cell:
    ruler = ruler_of(row.finding) if row.finding else None
    return Cell(ruler=ruler, tip=sentence(row.finding)) if ruler and row.finding else EMPTY


def _delta(row: FindingRow) -> Cell:
    return Cell(deviation(row.finding), tone="2") if row.finding else EMPTY


def _verdict(row: FindingRow) -> Cell:
    if row.is_rerunning:
        return state_cell(badge_of(CheckState.RUNNING))
    return state_cell(badge_of(row.finding.verdict if row.finding else row.state))


def rerun_words(rerun: Rerun) -> Text:
    """When a check was asked again, and what it said before."""
    at = f"{rerun.run.started_at.astimezone():%m-%d %H:%M}"
    was, came = (badge_of(worst(f.verdict for f in found)).word for found in (rerun.before, rerun.now))
    if not rerun.now:
        return Text(f"asked again at {at} without an answer", f"{at} 重测，未得到结果")
    if not rerun.before:
        return Text(f"asked at {at}, not in this run", f"{at} 单独检查，不在本次验收内")
    if rerun.stands:
        return Text(f"asked again at {at}: {came.en}; in this run: {was.en}", f"{at} 重测：{came.zh}；本次验收时：{was.zh}")
    return Text(f"asked again at {at}: {came.en}, so this still stands", f"{at} 重测：{came.zh}，原结果仍有效")


def _rank(row: FindingRow) -> float:
    return _RANK.get(row.verdict, 9) if row.verdict else 10


def _name(terms: Mapping[str, Term]) -> Callable[[FindingRow], Cell]:
    def cell(row: FindingRow) -> Cell:
        name = finding_name(row.finding, terms) if row.finding else row.info.title
        reported = row.finding is not None and row.finding.basis is Basis.REPORTED and row.verdict in JUDGED
        tag: Words = _REPORTED if reported and row.has_promise else ""
        tip: Words = row.finding.reason if row.finding else ""
        if row.rerun is not None:
            at = f"{row.rerun.run.started_at.astimezone():%H:%M}"
            tag, tip = Text(f"re-run {at}", f"重测 {at}"), rerun_words(row.rerun)
        return Cell(name, tag=tag, tone="1" if row.finding else "2", tip=tip)

    return cell


def findings_table(terms: Mapping[str, Term]) -> TableModel[FindingRow]:
    """Findings under the headings of their groups."""
    columns = (
        Column[FindingRow](Text("Check", "检查项"), _name(terms), lambda row: row.info.title.en, width=160, stretch=True),
        Column[FindingRow](Text("Promised", "承诺"), promised_cell, width=106, number=True),
        Column[FindingRow](Text("Measured", "实测"), measured_cell, width=116, number=True),
        Column[FindingRow](Text("Against promise", "对照承诺"), _against, width=104),
        Column[FindingRow](Text("Delta", "偏差"), _delta, width=66, number=True),
        Column[FindingRow](Text("Verdict", "判定"), _verdict, _rank, width=116),
    )
    return TableModel(
        columns, lambda row: row.key, search=lambda row: f"{row.info.id} {row.info.title.en} {row.info.title.zh}",
        group=lambda row: Group(row.info.group.en, row.info.group), tally=_tally,
    )  # fmt: skip


class FindingsTable(SparingTable):
    """In a narrow window the names of the checks get their room from the ruler and the delta, then the promise: the inspector has them."""

    spare = (1, 3, 4)


def _tally(row: FindingRow) -> Badge | None:
    return badge_of(row.finding.verdict if row.finding else row.state)


class TotalsLine(QWidget):
    """How many findings of each verdict, and how many of the promises they judge."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMinimumHeight(40)
        row = WrapLayout(self, gap_px=14, is_last_right=True)
        row.setContentsMargins(16, 8, 16, 8)
        order = (Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.PASS, Verdict.NOT_APPLICABLE)
        self.badges = {verdict: BadgeLabel(verdict, filled=verdict is Verdict.FAIL) for verdict in order}
        for badge in self.badges.values():
            row.addWidget(badge)
        self.coverage = PlainLabel("", size="dense", level="2")
        row.addWidget(self.coverage)

    def show_picture(self, picture: Picture) -> None:
        """Count anew."""
        for verdict, count in totals(picture.findings).items():
            word = badge_of(verdict).word
            self.badges[verdict].setVisible(count > 0)
            self.badges[verdict].set_state(verdict, Text(f"{count} {word.en.lower() if word.en != 'N/A' else word.en}", f"{count} {word.zh}"))
        self.coverage.set_words(coverage_words(picture))


def coverage_words(picture: Picture) -> Text:
    """How much of the contract was judged."""
    checks = len({row.info.id for row in picture.rows})
    ended = len({row.info.id for row in picture.rows if row.finding is not None or row.state is CheckState.ERROR})
    covered = coverage(picture.run.terms, picture.findings) if picture.run else coverage((), ())
    plan = Text(f"{ended} of {checks} checks", f"{ended} / {checks} 项检查")
    if not covered.stated:
        return plan
    share = 100 * covered.judged // covered.stated
    return Text(
        f"Coverage {share} %: {covered.judged} of {covered.stated} promises · {plan.en}",
        f"覆盖率 {share} %：{covered.judged} / {covered.stated} 项承诺 · {plan.zh}",
    )


_FILTERS: tuple[tuple[str, Words], ...] = (
    ("all", Text("All", "全部")), ("promise", Text("With a promise", "有承诺")), ("fail", Text("Fail", "不符")),
    ("inconclusive", Text("Inconclusive", "无法判定")), ("changed", Text("Changed since last run", "与上次不同")),
)  # fmt: skip
_KEEP: Mapping[str, Callable[[FindingRow], bool]] = {
    "promise": lambda row: row.has_promise,
    "fail": lambda row: row.verdict is Verdict.FAIL,
    "inconclusive": lambda row: row.verdict is Verdict.INCONCLUSIVE,
    "changed": lambda row: row.changed,
}


class FilterBar(QWidget):
    """Which findings are shown; `chosen` carries what keeps a row, or None for all."""

    chosen = Signal(object)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = WrapLayout(self)
        row.setContentsMargins(16, 0, 16, 8)
        self.chips: dict[str, Chip] = {}
        for key, words in _FILTERS:
            chip = self.chips[key] = Chip(words)
            chip.setAutoExclusive(True)
            chip.setChecked(key == "all")
            chip.clicked.connect(lambda _=False, wanted=key: self.chosen.emit(_KEEP.get(wanted)))
            row.addWidget(chip)

    def show_picture(self, picture: Picture) -> None:
        """Count anew."""
        for key, chip in self.chips.items():
            chip.set_count(len([row for row in picture.rows if key not in _KEEP or _KEEP[key](row)]))
        self.chips["changed"].setEnabled(bool(picture.before))

    def reset(self) -> None:
        """Show all again."""
        if not self.chips["all"].isChecked():
            self.chips["all"].setChecked(True)
            self.chosen.emit(None)
