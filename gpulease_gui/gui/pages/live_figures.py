"""Which figures stand under the chart: those of what is in sight, or of the chosen range?"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_table import IN_SIGHT, FiguresTable
from gpulease_gui.gui.widgets.chart_spec import LaneSpec, Picture, spans_of

if TYPE_CHECKING:
    from gpulease_gui.gui.models.past import Past
    from gpulease_gui.gui.widgets.chart_figures import Summary


BUDGET_S = 0.006  # of one look; what is left comes with the next


class Figures:
    """Keeps the rows of the table up to date, a few lanes at a time: percentiles of an hour cost milliseconds."""

    def __init__(self, table: FiguresTable) -> None:
        self._table = table
        self._rows: dict[str, tuple[Summary, ...]] = {}
        self._old: set[str] = set()
        self._next = 0
        self._past: Past | None = None
        self._title: object = None

    def clear(self) -> None:
        """Forget everything: another node, another range."""
        self._rows.clear()

    def wait(self, specs: list[LaneSpec]) -> None:
        """Nothing is known yet of what the heading names: its figures are being read."""
        self._rows.clear()
        self._show([row for spec in specs for row in pending_rows(spec)])

    def look(self, specs: list[LaneSpec], picture: Picture, span_s: tuple[float, float], past: Past | None) -> None:
        """Bring the rows that are due up to date, as many as the budget of a look allows."""
        if past is not self._past:
            self._past, self._old = past, {spec.id for spec in specs}
        begun_s = time.perf_counter()
        for spec in self._turn(specs, past):
            self._rows[spec.id] = self._made(spec, picture, span_s, past)
            self._old.discard(spec.id)
            if time.perf_counter() - begun_s > BUDGET_S:
                break
        self._next += 1
        rows = [row for spec in specs for row in self._rows.get(spec.id, ())]
        self._show(rows)

    def _turn(self, specs: list[LaneSpec], past: Past | None) -> list[LaneSpec]:
        """Whose rows are due: missing ones, those of another reading, while live the next in turn."""
        due = [spec for spec in specs if spec.id not in self._rows] + [spec for spec in specs if spec.id in self._old & self._rows.keys()]
        return due or ([specs[self._next % len(specs)]] if specs and past is None else [])

    @staticmethod
    def _made(spec: LaneSpec, picture: Picture, span_s: tuple[float, float], past: Past | None) -> tuple[Summary, ...]:
        from gpulease_gui.gui.widgets.chart_figures import summaries

        loads = spans_of(picture.happenings, spec.term, span_s[1])
        made = summaries(spec, *span_s, picture.interval_s, loads, picture.paces, timed=past is None, unwatched=picture.unwatched)
        made = made if past is None else tuple(_of_past(row, past) for row in made)
        return tuple(replace(row, expected=row.figures.count) for row in made) if spec.at_times else made

    @property
    def samples(self) -> tuple[int, int]:
        """(samples, expected samples) of all rows."""
        rows = self._table.figures.rows
        return sum(row.figures.count for row in rows), sum(row.expected for row in rows)

    def _show(self, rows: list[Summary]) -> None:
        """Only rows that changed are painted anew."""
        table = self._table.figures
        if [row.key for row in rows] != [row.key for row in table.rows]:
            table.set_rows(rows)
            return
        for row, shown in zip(rows, table.rows, strict=True):
            if row != shown:
                table.put(row)

    def name(self, chosen: str) -> None:
        """Say in the heading which range the figures are of; empty = what is in sight."""
        title = Text(f"Range {chosen}", f"选区 {chosen}") if chosen else IN_SIGHT
        if title != self._title:
            self._title = title
            self._table.figures.name_column(0, title)


def pending_rows(spec: LaneSpec) -> tuple[Summary, ...]:
    """The rows of a lane before anything is known of them."""
    from gpulease_gui.gui.widgets.chart_data import Figures
    from gpulease_gui.gui.widgets.chart_figures import Summary

    curves = (None,) if spec.alike else spec.curves
    return tuple(Summary(spec, curve, Figures(0), 0, pending=True) for curve in curves)


def _of_past(row: Summary, past: Past) -> Summary:
    """The figures of all readings, in place of those of the points that are drawn."""
    from gpulease_gui.gui.widgets.chart_data import Figures

    wanted = row.curve.ring if row.curve else row.lane.curves[0].ring
    key = next((key for key, ring in past.view.rings.items() if ring is wanted), None)
    if key is None:
        return row
    of = key if row.curve else (key[0], "")
    figures, expected = past.figures.get(of, (Figures(0), 0))
    told = past.times.get(of)
    if told is None:
        return replace(row, figures=figures, expected=expected, kept_s=0.0, warned_s=0.0, broken_s=0.0, lasting_s=(0.0, 0.0))
    (kept, kept_most), (warned, warned_most), (broken, broken_most) = told.kept_s, told.warned_s, told.broken_s
    most = kept_most, warned_most, broken_most
    return replace(
        row, figures=figures, expected=expected, kept_s=kept, warned_s=warned, broken_s=broken, most_s=most, lasting_s=told.lasting_s
    )
