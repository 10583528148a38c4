"""How does the meeting of hourly and monthly prices become a chart and a sentence?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.chart_lines import Chart, ChartLine
from gpulease_gui.services.break_even import BreakEven


def chart_of(line: BreakEven) -> Chart:
    """Both lines, the hour at which they meet, the hours of the workload."""
    mark = None if line.from_hours is None else float(line.from_hours)
    words = Text(f"{line.from_hours} h", f"{line.from_hours} 小时")
    lines = tuple(ChartLine(one.name, one.values) for one in (line.by_hour, line.by_month))
    return Chart(line.hours, lines, Text("h a month", "小时/月"), line.currency, chart_sentence(line), mark, words, line.hours_now)


def chart_sentence(line: BreakEven | None) -> Text:
    """What the chart says in words."""
    if line is None:
        return Text(
            "Nothing to compare: it takes a month price beside an hourly one, and a workload said as hours a day.",
            "无可比较：需要同时有包月价与按时价，且负载按每日小时填写。",
        )  # fmt: skip
    now = f"{line.hours_now:,.0f} h"
    if line.from_hours is None:
        return Text(f"By the hour costs less all month; the workload has {now}.", f"整月按小时计费都更便宜；此负载每月 {now}。")
    cheaper = line.hours_now >= line.from_hours
    return Text(
        f"From {line.from_hours} h a month the month price costs no more; the workload has {now}: {'the month' if cheaper else 'the hour'} is cheaper.",
        f"每月 {line.from_hours} 小时起包月不更贵；此负载每月 {now}：{'包月' if cheaper else '按小时'}更便宜。",
    )
