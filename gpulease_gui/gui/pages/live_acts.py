"""What can be done with the stretch in sight, beside looking at it?"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFileDialog, QMenu

from gpulease_gui.domain.node import THIS_COMPUTER, Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.pages.live_asked import Asked
from gpulease_gui.gui.pages.live_log import FOLLOW
from gpulease_gui.gui.pages.live_nodes import make_this_computer
from gpulease_gui.gui.pages.live_note import ADD_NOTE, NoteDialog
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.overview import local_day
from gpulease_gui.services.watch_words import left_out

if TYPE_CHECKING:
    from concurrent.futures import Future

    from gpulease_gui.gui.pages.live import LivePage
    from gpulease_gui.services.watch import WatchView

RULES = Text("Watch rules…", "监控规则…")
RATE = Text("Sampling rate…", "采样频率…")
_ODD = re.compile(r"[^\w.-]+")


class Acts(QObject):
    """A note, files, the report, rules and their breaches."""

    def __init__(self, page: LivePage) -> None:
        super().__init__(page)
        self._page, self._frame = page, page.frame
        self._unsaved, self._counted, self._left = NO_TEXT, 0, ""
        self.asked = Asked(page)
        self.local_button = Button(Text("This computer", "本机"), icon="cpu")
        self.note_button = Button(ADD_NOTE, icon="flag")
        self.local_button.clicked.connect(self._this_computer)
        self.note_button.clicked.connect(self._add_note)
        self._entries: tuple[tuple[QMenu, tuple[tuple[Words, Callable[[], object]], ...]], ...] = (
            (page.bar.export_menu, (
                (Text("Readings of this stretch (CSV)…", "此区间的读数（CSV）…"), lambda: self.save_as("csv")),
                (Text("Picture of the chart (PNG)…", "图表图片（PNG）…"), lambda: self.save_as("png")),
                (Text("Into the node's report", "加入节点报告"), self.put_into_report),
                (Text("Stretches in the report…", "报告中的区间…"), self.show_stretches),
            )),
            (page.bar.more_menu, (
                (RULES, self.show_rules),
                (RATE, self.show_rate),
                (FOLLOW, lambda: page.log.ask()),
                (Text("How long readings are kept…", "读数保留时长…"), self.show_retention),
            )),
        )  # fmt: skip
        self.retranslate()

    def retranslate(self) -> None:
        """The entries of the two menus."""
        for menu, entries in self._entries:
            menu.clear()
            for words, act in entries:
                menu.addAction(say(words), act)

    # -- files and report ---------------------------------------------------------------------------------------------

    def save_as(self, kind: str) -> None:
        """Ask for a file and write the stretch in sight, or the chosen range, to it."""
        if self._page.node is None or not self._page.charted:
            return
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        plain = _ODD.sub("-", self._page.node.node.name).strip(".-_")[:60] or "node"
        name = f"{plain}-{local_day(utc_now()).isoformat()}.{kind}"
        title = say(Text("Export what is in sight", "导出可见区间"))
        chosen, _ = QFileDialog.getSaveFileName(self._page, title, str(Path(folder) / name), f"{kind.upper()} (*.{kind})")
        if chosen:
            path = Path(chosen)
            self.save(path if path.suffix.lower() == f".{kind}" else path.with_name(f"{path.name}.{kind}"), kind)

    def save(self, path: Path, kind: str) -> None:
        """Write it; a worker does the work."""
        services = self._frame.services
        future: Future[None]
        if kind == "png":
            image = self._picture()
            future = services.jobs.local(_png_work(image, path))
        else:
            future = services.jobs.local(self._csv_work(path))
        self._frame.bridge.when_done(future, lambda _: self._frame.note(Text(f"Written: {path.name}", f"已写入：{path.name}")))

    def _picture(self) -> QImage:
        from gpulease_gui.gui.widgets.chart_picture import caption_of, chart_image

        node, chart = self._page.node, self._page.chart
        name, contract = (node.node.name, node.contract) if node else ("", "")
        return chart_image(chart, caption_of(name, contract, chart.span_s, (lane.lane for lane in chart.lanes if not lane.visibleRegion().isEmpty())))

    def _csv_work(self, path: Path) -> Callable[[], None]:
        from gpulease_gui.services.evaluate import write_whole
        from gpulease_gui.services.live_csv import readings_csv

        page, workspace, language = self._page, self._frame.services.workspace, current_language()
        node_id = page.node.node.id if page.node else ""
        (start_s, end_s), live = page.chart.chosen_s or page.chart.span_s, dict(page.view.rings) if page.view else {}
        handed, lasting = (page.view.handed, page.view.lasting) if page.view else (None, ())

        def work() -> None:
            with workspace.read() as connection:
                content = readings_csv(connection, node_id, start_s, end_s, live, language, handed, lasting)
            write_whole(path, content)

        return work

    def put_into_report(self) -> None:
        """The stretch in sight, or the chosen range, stands in the node's report from now on, beside those put there before."""
        from gpulease_gui.services.live_export import put_into_report

        page = self._page
        if page.node is None or not page.charted:
            return
        node_id, (start_s, end_s) = page.node.node.id, page.chart.chosen_s or page.chart.span_s
        future = self._frame.services.change(lambda db: put_into_report(db, node_id, start_s, end_s), "mark")
        done = Text("The report shows this stretch; its readings are evidence of the run", "报告将显示此区间，其读数已存为验收证据")
        self._frame.bridge.when_done(future, lambda _: self._told(done))

    def show_stretches(self) -> None:
        """Which stretches the report shows; any of them can be looked at or taken out."""
        from gpulease_gui.gui.pages.live_report import ReportDialog

        node = self._page.node
        if node is not None:
            dialog = ReportDialog(self._frame, (node.node.id, node.node.name), parent=self._page)
            dialog.changed.connect(self._page.history.refresh)
            dialog.shown.connect(self._page.chart.look_at)
            dialog.resize(760, 380)
            open_dialog(dialog)

    def _told(self, words: Text) -> None:
        self._frame.note(words)
        self._page.history.refresh()

    # -- dialogs ------------------------------------------------------------------------------------------

    def show_rules(self) -> None:
        """Broken rules of the node in sight, and when to be told."""
        from gpulease_gui.gui.forms.watch_dialog import watch_dialog

        node, view = self._page.node, self._page.view
        if node is not None:
            dialog = watch_dialog(self._frame, self._page, (node.node.id, node.node.name), view.numbers if view else None)
            dialog.finished.connect(lambda _: self._page.history.refresh())

    def show_rate(self) -> None:
        """How often the node in sight is read."""
        from gpulease_gui.gui.forms.sampling_dialog import sampling_dialog

        node = self._page.node
        if node is not None:
            dialog = sampling_dialog(self._frame, self._page, (node.node.id, node.node.name))
            dialog.accepted.connect(self._page.look)

    def show_retention(self) -> None:
        """For how long readings are kept."""
        from gpulease_gui.gui.forms.retention_dialog import retention_dialog

        retention_dialog(self._frame, self._page)

    # -- notes, this computer -----------------------------------------------------------------------------------------

    def _add_note(self) -> None:
        page = self._page
        at_cursor, at_s = page.chart.read_at
        at_s = at_s if at_cursor else page.chart.span_s[1]
        from gpulease_gui.gui.widgets.chart_scale import moment_text

        dialog = NoteDialog(page.node.node.name if page.node else "", moment_text(at_s), page)
        dialog.accepted.connect(lambda: page.history.note(dialog.words, datetime.fromtimestamp(at_s, UTC)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _this_computer(self) -> None:
        services = self._frame.services
        self.local_button.setEnabled(False)
        name = say(THIS_COMPUTER)
        self._frame.bridge.when_done(services.jobs.local(lambda: make_this_computer(services, name)), self._made_local)

    def _made_local(self, node: Node) -> None:
        self.local_button.setEnabled(True)
        self._page.visit((node.id, "watch"))

    def tell(self, view: WatchView | None) -> None:
        """How many nodes are watched, what no rule can judge; samples that can't be written are told once."""
        self.asked.tell(view)
        watched = len(self._frame.services.watching.views())
        if watched != self._counted:
            self._counted = watched
            self._frame.set_count("live", str(watched) if watched else "")
        left = left_out(view.troubles) if view is not None and view.troubles else None
        if view is not None and left is not None and self._left != view.node_id:
            self._left = view.node_id
            self._frame.note(left)
        unsaved = view.unsaved if view is not None else NO_TEXT
        if unsaved.en and unsaved != self._unsaved:
            self._frame.trouble(Text("Samples are shown but not saved", "采样仅显示，未能保存"), unsaved)
        self._unsaved = unsaved


def _png_work(image: QImage, path: Path) -> Callable[[], None]:
    from gpulease_gui.gui.png import png_bytes
    from gpulease_gui.services.evaluate import write_whole

    def work() -> None:
        write_whole(path, png_bytes(image))

    return work
