"""How are the figures of the stretch in sight shown beside the promise?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtGui import QFontMetrics, QResizeEvent

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import EMPTY, NOT_STATED, NOTHING, Cell, Column, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.chart_spec import Rule, fixed, share_text
from gpulease_gui.gui.widgets.lasting import LEAST_S
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.pdf.paint import Ruler

if TYPE_CHECKING:
    from gpulease_gui.gui.widgets.chart_data import Figures
    from gpulease_gui.gui.widgets.chart_figures import Summary

# Of the range of all readings: what is known no better than this is shown as a range, in so many characters at most.
_CLOSE, _FITS = 0.03, 10
IN_SIGHT = Text("In sight", "可见区间")
MEAN = Text("Mean / promise", "均值 / 承诺")
MANY_SAMPLES = 100_000  # from here on their share is told: two such counts have no room
NO_PROMISE = Badge("verdict-na", "t3", Text("no promise", "无承诺"))
TOO_LITTLE = Badge("verdict-notrun", "t3", Text("too little load", "负载不足"))
A_SIZE = Badge("verdict-na", "t3", Text("not judged here", "此处不判定"))


CANNOT_TELL = Badge("verdict-inconclusive", "inc", Text("zoom in to tell", "放大后可判"))
PENDING = Badge("verdict-notrun", "t3", Text("being read", "读取中"))
_TELLS_NOT = Text(
    "at this zoom there are only summaries of the readings, which do not tell: zoom in, or choose a shorter range",
    "当前缩放下只有读数汇总，不足以判定：请放大或选取更短的区间",
)

_SCATTERED = Text("single seconds that do not follow one another: they warn, and fail nothing", "均为不连续的单秒：只警告，不据此判为不符")


def verdict_of(row: Summary) -> Badge:
    """What the strip says of the stretch: broken or warned for three seconds, else kept, else nothing.

    Broken seconds that do not follow one another warn, however many they are. Where summaries only bound the seconds, a verdict
    stands if it is the same for all that they can be.
    """
    promised = row.lane.promised
    if promised is None:
        return NO_PROMISE
    if promised.rule is Rule.SIZE:
        return A_SIZE
    if row.pending:
        return PENDING
    kept, warned, broken = row.kept_s, row.warned_s, row.broken_s
    most_kept, most_warned, most_broken = row.most_s or (kept, warned, broken)
    for verdict, sure, possible in (
        (Verdict.FAIL, *row.lasting_s), (Verdict.WARN, warned + broken, most_warned + most_broken), (Verdict.PASS, kept, most_kept),
    ):  # fmt: skip
        if sure >= LEAST_S:
            return badge_of(verdict)
        if possible >= LEAST_S:
            return CANNOT_TELL
    return TOO_LITTLE


def title_of(row: Summary) -> Text:
    """What the row is about: "Power, 8 GPUs, W" or "Received, eth0, Gbit/s"."""
    lane, parts_en, parts_zh = row.lane, [row.lane.title.en], [row.lane.title.zh]
    if row.curve is None:
        count = len(lane.curves)
        parts_en.append(f"{count} {lane.kind}{'s' if count != 1 else ''}")
        parts_zh.append(f"{count} {'张 NPU' if lane.kind == 'NPU' else '卡'}")
        lost = [lane.name(curve.number) for curve in lane.curves if curve.lost]
        if lost:
            parts_en.append(f"{' and '.join(lost[:2])} lost" if len(lost) < 3 else f"{len(lost)} lost")
            parts_zh.append(f"{'、'.join(lost[:2])} 丢失" if len(lost) < 3 else f"{len(lost)} 张丢失")
    else:
        name = row.curve.name
        parts_en, parts_zh = ([name.en], [name.zh]) if isinstance(name, Text) else ([name], [name])
        parts_en.append(lane.subject)
        parts_zh.append(lane.subject)
    return Text(", ".join(part for part in (*parts_en, lane.unit) if part), "，".join(part for part in (*parts_zh, lane.unit) if part))


def _name(row: Summary) -> Cell:
    """Where cards are lost, how many are left, which has room; which of them, under the pointer."""
    whole, count = title_of(row), len(row.lane.curves)
    left = sum(1 for curve in row.lane.curves if not curve.lost)
    if row.curve is not None or left == count:
        return Cell(whole, weight=500)
    en, zh = f"{left} of {count} {row.lane.kind}{'s' if count != 1 else ''}", f"{left} / {count} {'张 NPU' if row.lane.kind == 'NPU' else '卡'}"
    unit_en, unit_zh = (f", {row.lane.unit}", f"，{row.lane.unit}") if row.lane.unit else ("", "")
    return Cell(Text(f"{row.lane.title.en}, {en}{unit_en}", f"{row.lane.title.zh}，{zh}{unit_zh}"), weight=500, tip=whole)


def _number(value: float | None, decimals: int, weight: int = 400) -> Cell:
    return NOTHING if value is None else Cell(fixed(value, decimals), weight=weight)


def _between(figures: Figures, value: float, low: float, high: float, decimals: int) -> Cell:
    """What summaries of the stored readings say of a percentile."""
    between = f"{fixed(low, decimals)}–{fixed(high, decimals)}"
    tip = Text(
        f"only summaries of the stored readings are looked at: they say that it lies in {between}", f"此处仅依据已存读数的汇总：只能确定其在 {between} 之间"
    )
    if high - low <= _CLOSE * ((figures.high or 0.0) - (figures.low or 0.0)):
        return Cell(f"≈ {fixed(value, decimals)}", tip=tip)
    short = between if len(between) <= _FITS else f"{low:.0f}–{high:.0f}"  # without commas four digits have room
    return Cell(short if len(short) <= _FITS else "–", tip=tip)


def _decimals(row: Summary) -> int:
    """One more digit than none helps below ten thousand only."""
    large = row.lane.unit == "MHz" or (row.figures.high or 0.0) >= 10_000
    return row.lane.decimals if large else max(1, row.lane.decimals)


def _figure(name: str, weight: int = 400) -> Column[Summary]:
    titles: dict[str, Text] = {"low": Text("Min", "最小"), "p5": Text("p5", "p5"), "mean": Text("Mean", "均值"), "p95": Text("p95", "p95"), "high": Text("Max", "最大")}

    def cell(row: Summary) -> Cell:
        value: float | None = getattr(row.figures, name)
        between = {"p5": row.figures.p5_between, "p95": row.figures.p95_between}.get(name)
        if value is not None and between is not None:
            return _between(row.figures, value, *between, _decimals(row))
        return _number(value, _decimals(row), weight)

    return Column(titles[name], cell, width=84 if name in ("p5", "p95") else 72, number=True)


def _promised(row: Summary) -> Cell:
    promised = row.lane.promised
    if promised is None:
        return NOT_STATED
    if not promised.implied:
        return Cell(number_text(promised.value), tone="2")
    figure = number_text(promised.value)
    tip = Text("not stated in the contract; follows from the promised model", "合同未说明；由承诺型号推得")
    return Cell(Text(f"model default {figure}", f"型号默认 {figure}"), tone="3", tip=tip)


def _ruler(row: Summary) -> Cell:
    promised, mean = row.lane.promised, row.figures.mean
    if promised is None or mean is None or promised.rule is Rule.SIZE:
        return EMPTY
    badge = verdict_of(row)
    token = badge.token if badge.token in ("fail", "warn") else "t3"
    return Cell(ruler=Ruler(promised.value, mean, token, promised.tolerance))


def _under(row: Summary) -> Cell:
    least, most = row.broken_s, row.most_s[2] if row.most_s else row.broken_s
    if round(most) <= round(least):
        tip = _SCATTERED if row.lasting_s[1] < LEAST_S else ""
        return Cell(length_text(round(least)), tip=tip) if round(least) else NOTHING
    low, high = short_text(least, up=False), short_text(most, up=True)
    tip = Text(f"at least {low.en}, at most {high.en}: {_TELLS_NOT.en}", f"至少 {low.zh}，至多 {high.zh}：{_TELLS_NOT.zh}")
    return Cell(Text(f"{low.en}–{high.en}", f"{low.zh}–{high.zh}"), tip=tip)


def short_text(seconds: float, *, up: bool) -> Text:
    """A bound, so rounded that it holds."""
    unit_s, en, zh = (1, "s", "秒") if seconds < 120 else (60, "min", "分") if seconds < 7200 else (3600, "h", "时") if seconds < 3 * 86_400 else (86_400, "d", "天")
    count = math.ceil(seconds / unit_s) if up else math.floor(seconds / unit_s)
    return Text(f"{count} {en}", f"{count} {zh}")


def length_text(seconds: int) -> Text:
    """How long something took."""
    minutes, rest = divmod(seconds, 60)
    hours, over = divmod(minutes, 60)
    if hours:
        return Text(f"{hours} h {over} min", f"{hours} 时 {over} 分")
    if not minutes:
        return Text(f"{rest} s", f"{rest} 秒")
    return Text(f"{minutes} min {rest} s", f"{minutes} 分 {rest} 秒")


def _samples(row: Summary) -> Cell:
    if row.pending:
        return Cell("…")
    counted = f"{row.figures.count:,} / {row.expected:,}"
    if row.expected < MANY_SAMPLES:
        return Cell(counted)
    return Cell(share_text(row.figures.count, row.expected), tip=counted)


def _verdict(row: Summary) -> Cell:
    badge = verdict_of(row)
    if badge is CANNOT_TELL:
        return Cell(badge.word, badge=badge, tip=_TELLS_NOT)
    return state_cell(badge) if badge.token != "t3" else Cell(badge.word, badge=badge)


def figures_table() -> TableModel[Summary]:
    """The model of the table under the chart."""
    columns: list[Column[Summary]] = [
        Column(IN_SIGHT, _name, width=220, stretch=True),
        Column(Text("Promised", "承诺"), _promised, width=128, number=True),
        _figure("low"), _figure("p5"), _figure("mean", 600), _figure("p95"), _figure("high"),
        Column(MEAN, _ruler, width=108),
        Column(Text("Under promise", "低于承诺"), _under, width=108, number=True),
        Column(Text("Samples", "样本"), _samples, width=112, number=True),
        Column(Text("Verdict", "判定"), _verdict, width=132),
    ]  # fmt: skip
    return TableModel(columns, lambda row: row.key, search=lambda row: say(title_of(row)))


# Columns that give way first where the window is narrow or the text large.
_GIVE_WAY = ("p95", "p5", "Mean / promise", "Under promise", "Min", "Max")
_NAME_PX = 180


class FiguresTable(TableView):
    """The table under the chart: what a row is about is never squeezed, less telling figures give way."""

    def __init__(self) -> None:
        self.figures = figures_table()
        super().__init__(self.figures, Text("Figures of what is in sight", "可见区间的统计"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide and show columns by the room there is."""
        super().resizeEvent(event)
        self.fit_columns()

    def retheme(self) -> None:
        """Columns grow with the font."""
        super().retheme()
        self.fit_columns()

    def fit_columns(self) -> None:
        """Keep room for the names."""
        scale = max(1.0, QFontMetrics(self.font()).height() / 18)
        widths = {str(column.title): round(column.width * scale) for column in self.figures.columns[1:]}
        room = self.viewport().width() - round(_NAME_PX * scale)
        hidden: set[str] = set()
        for name in _GIVE_WAY:
            if sum(width for title, width in widths.items() if title not in hidden) <= room:
                break
            hidden.add(name)
        for place, column in enumerate(self.figures.columns):
            if self.isColumnHidden(place) != (str(column.title) in hidden):
                self.setColumnHidden(place, str(column.title) in hidden)
        self._give_room()  # the room of those that were hidden
