"""How do navigation, header, bands, pages and task strip make one window?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QCloseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMainWindow, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.actions import ActionSpec, Scope
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.gui.first_run import Start
from gpulease_gui.gui.going import Going
from gpulease_gui.gui.help import about_dialog, shortcuts_dialog
from gpulease_gui.gui.language import Translations, current_language, say
from gpulease_gui.gui.menus import Menus
from gpulease_gui.gui.open_frame import OpenFrame, close_dialogs, flush_all, put_away
from gpulease_gui.gui.pages.page import Page, PageSpec, Target
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.shell import Shell
from gpulease_gui.gui.taking_back import ActWords, redo_act, undo_act
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.dialogs import question
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.window_dialogs import WINDOW_DIALOGS
from gpulease_gui.services.events import Event, JobChanged

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services

NAME = "GPULease"
_WIDE_FROM = 1280


class MainWindow(QMainWindow):
    """The one window. It lives without services until `attach`: then it shows the first-run page or that it waits.

    `workspace_wanted` carries (path or None for the usual one, whether it is the demo); who opens it calls `attach`
    or `trouble`.
    """

    workspace_wanted = Signal(object, bool)

    def __init__(self, theme: Theme, translations: Translations, preferences: Preferences, pages: Sequence[PageSpec],
                 data_folder: Path) -> None:  # fmt: skip
        super().__init__()
        self._theme, self._translations, self._preferences = theme, translations, preferences
        self._specs = {spec.id: spec for spec in pages}
        self._pages: dict[str, Page] = {}
        self._current = ""
        self._services: Services | None = None
        self._open: OpenFrame | None = None
        self._wide_wanted: bool | None = None
        self._sure = False
        self.bridge = Bridge(self)
        self.bridge.arrived.connect(self._event)
        self.bridge.troubled.connect(self._user_facing)
        self.setWindowIcon(icons.program_icon())
        self.menus = Menus(self, pages)
        self.menus.wanted.connect(self._act)
        self.menus.page_wanted.connect(self.go)
        self._build(pages, data_folder)
        self.going, self._act_words = Going(self, self.menus, pages), ActWords(self, self.menus.name, self)
        self._check_choices()
        self._name()
        self.resize(1440, 900)
        if preferences.geometry is not None:
            self.restoreGeometry(preferences.geometry)

    def _build(self, pages: Sequence[PageSpec], data_folder: Path) -> None:
        shell = self.shell = Shell(pages, data_folder, self._theme.mode)
        self.navigation, self.header, self.stack = shell.navigation, shell.header, shell.stack
        self.demo_band, self.trouble_band, self.target_band = shell.demo_band, shell.trouble_band, shell.target_band
        self.first_run, self.task_strip = shell.first_run, shell.task_strip
        self.navigation.chosen.connect(self.go)
        self.header.searched.connect(self._search)
        self.header.gone_to.connect(self.go)
        shell.own_workspace.clicked.connect(self._do_open_own)
        shell.close_trouble.clicked.connect(self._close_trouble)
        self.task_strip.cancelled.connect(self._cancel_job)
        self.first_run.language_chosen.connect(lambda code: self.speak(Language(code)))
        self.first_run.theme_chosen.connect(lambda mode: self.wear(ThemeMode(mode)))
        self.first_run.started.connect(self._start)
        self.first_run.open_wanted.connect(self._do_open_workspace)
        self.setCentralWidget(shell)
        shell.show_bare(self.first_run if self._preferences.workspace is None else shell.waiting)

    # -- the workspace ----------------------------------------------------------------------------------------------

    def attach(self, services: Services) -> None:
        """Show the workspace of `services`; pages of an earlier one are thrown away."""
        self._leave()
        self._services, self._open = services, OpenFrame(self, services)
        self.bridge.attach(services.bus, services.workspace.way)
        self._preferences.remember_workspace(services.workspace.path, demo=services.demo)
        self.shell.show_whole(demo=services.demo)
        self.going.forget()
        self._act_words.read()
        saved = self._preferences.page
        self.go(saved if saved in self._specs else next(iter(self._specs), ""))

    def detach(self) -> None:
        """Let go of the services: no event, no result comes through from now on."""
        self._leave()
        self._services = None

    def _leave(self) -> None:
        """What was typed is stored first; then nothing of the workspace reaches the window any more."""
        self._act_words.stop()
        if self._open is not None:
            flush_all(self)
            self._open.leave()
            self._open = None
            close_dialogs(self)
        self._drop_pages()
        self.bridge.detach()

    def _drop_pages(self) -> None:
        self.header.show_page([], [])
        self.header.forget_buttons()
        for page in self._pages.values():
            self.stack.removeWidget(page)
            put_away(page)
        self._pages.clear()
        self._current = ""

    def _start(self, start: Start) -> None:
        self._preferences.folder = start.folder
        self.shell.show_bare(self.shell.waiting)
        self._open_usual(demo=start.demo)

    def _open_usual(self, *, demo: bool) -> None:
        folder = self._preferences.folder
        name = "demo.gpulease.db" if demo else "workspace.gpulease.db"
        self.workspace_wanted.emit(folder / name if folder else None, demo)

    def _do_open_workspace(self) -> None:
        title = say(Text("Open workspace", "打开工作区"))
        kinds = say(Text("Workspaces", "工作区")) + " (*.gpulease.db *.db)"
        path, _ = QFileDialog.getOpenFileName(self, title, "", kinds)
        if path:
            self.workspace_wanted.emit(Path(path), path.endswith("demo.gpulease.db"))

    # -- what pages ask (Frame) -----------------------------------------------------------------------------------

    @property
    def services(self) -> Services:
        """The use cases of the open workspace. Raises RuntimeError when none is open."""
        if self._services is None:
            raise RuntimeError("no workspace is open")
        return self._services

    @property
    def is_open(self) -> bool:
        """Whether a workspace is open."""
        return self._services is not None

    @property
    def widget(self) -> QWidget:
        """The window itself, as the parent of dialogs."""
        return self

    @property
    def open_services(self) -> Services | None:
        """The use cases of the open workspace; None when none is open."""
        return self._services

    def go(self, page: str, *path: str) -> None:
        """Show a page, building it at its first visit; the page in sight may refuse to be left."""
        if page not in self._specs or self._services is None:
            return
        leaving = self._pages.get(self._current)
        if leaving is not None and page != self._current and not leaving.may_leave():
            self.navigation.show_current(self._current)
            return
        shown = self._pages.get(page) or self._make(page)
        self._current = page
        self._preferences.page = page
        self.navigation.show_current(page)
        self.header.search.clear()
        self.stack.setCurrentWidget(shown)
        shown.visit(path)
        self._fit_navigation()
        self._header_changed()

    def _make(self, page: str) -> Page:
        made = self._specs[page].make(self._open or self)
        self.header.take_in()
        made.header_changed.connect(self._header_changed)
        self._pages[page] = made
        self.stack.addWidget(made)
        return made

    def note(self, words: Words) -> None:
        """Say in the task strip what was done."""
        self.task_strip.say_note(words)

    def trouble(self, headline: Words, sentence: Words = "", *, warning: bool = False) -> None:
        """Say in a band what failed, or what only warns; the demo band gives way to it."""
        self.demo_band.hide()
        self.trouble_band.warn(only=warning)
        self.trouble_band.tell(headline, sentence)
        if self._services is None and self.stack.currentWidget() is self.shell.waiting:
            self.stack.setCurrentWidget(self.first_run)

    def set_count(self, page: str, count: Words, *, alarm: bool = False) -> None:
        """Show a count beside a page in the navigation."""
        self.navigation.set_count(page, count, alarm=alarm)

    def _close_trouble(self) -> None:
        self.trouble_band.hide()
        self.demo_band.setVisible(self._services is not None and self._services.demo)

    def _user_facing(self, trouble: UserFacing) -> None:
        self.trouble(trouble.headline_text, trouble.rest_text)

    # -- events -----------------------------------------------------------------------------------------------------

    def _event(self, event: Event) -> None:
        if isinstance(event, JobChanged):
            self.task_strip.job_changed(event)
        for page in self._pages.values():
            page.handle(event)
        self.going.heard(event)
        self._act_words.heard(event)

    def _cancel_job(self, job_id: str) -> None:
        for job in self.services.jobs.running:
            if job.id == job_id:
                job.cancel.cancel()

    @property
    def page(self) -> Page | None:
        """The page in sight."""
        return self._pages.get(self._current)

    def _search(self, words: str) -> None:
        if self.page is not None:
            self.page.search(words)

    def _header_changed(self) -> None:
        page = self.page
        if page is None:
            return
        crumbs = (self._specs[self._current].title, *page.crumbs())
        self.header.show_page(crumbs, page.buttons())
        self.target_band.show_target(page.target())
        self.menus.allow(page.doable())
        self._name()

    # -- actions ----------------------------------------------------------------------------------------------------

    def _act(self, spec: ActionSpec) -> None:
        if spec.scope is Scope.PAGE:
            if self.page is not None:
                self.page.act(spec.id)
        elif spec.scope is Scope.FIELD:
            done = getattr(QApplication.focusWidget(), spec.id, None)
            if callable(done):
                done()
            elif spec.id in ("undo", "redo") and self._services is not None:
                (undo_act if spec.id == "undo" else redo_act)(self)
            elif self.page is not None and spec.id in self.page.doable():
                self.page.act(spec.id)
        else:
            self._act_here(spec.id)

    def _act_here(self, action: str) -> None:
        family, _, value = action.partition("_")
        if family == "theme":
            self.wear(ThemeMode(value))
        elif family == "language":
            self.speak(Language(value))
        elif action == "go_to" and self._services is not None:
            self.going.begin()
        elif action in WINDOW_DIALOGS:
            if self._open is not None:
                WINDOW_DIALOGS[action](self._open)
        elif action in ("find", "go_to"):
            self.header.search.setFocus()
            self.header.search.selectAll()
        else:
            getattr(self, f"_do_{action}")()

    def _do_open_demo(self) -> None:
        self._open_usual(demo=True)

    def _do_open_own(self) -> None:
        self._open_usual(demo=False)

    def _do_quit(self) -> None:
        self.close()

    def _do_navigation(self) -> None:
        self._wide_wanted = not self.navigation.is_wide
        self._fit_navigation()

    def _do_larger(self) -> None:
        self._enlarge(+1.0)

    def _do_smaller(self) -> None:
        self._enlarge(-1.0)

    def _enlarge(self, points: float) -> None:
        self._preferences.larger_text = max(0.0, min(8.0, self._preferences.larger_text + points))
        self._theme.enlarge(self._preferences.larger_text)

    def _do_full_screen(self) -> None:
        if self.isFullScreen():
            self.showNormal()
        else:
            self.showFullScreen()

    def _do_shortcuts(self) -> None:
        shortcuts_dialog(self.menus.all_actions(), self).open()

    def _do_about(self) -> None:
        about_dialog(self).open()

    # -- language, theme, size ----------------------------------------------------------------------------------------

    def speak(self, language: Language) -> None:
        """Change the language of everything at once."""
        self._translations.switch(language)
        self._preferences.language = language
        self._check_choices()

    def wear(self, mode: ThemeMode) -> None:
        """Change the theme of everything at once."""
        self._theme.choose(mode)
        self._preferences.theme = mode
        self._check_choices()

    def _check_choices(self) -> None:
        self.menus.check(f"theme_{self._theme.mode.value}")
        self.menus.check(f"language_{current_language().value}")
        self.first_run.show_choices(self._theme.mode)

    def _name(self) -> None:
        target: Target | None = self.page.target() if self.page is not None else None
        if target is not None:
            subject = " · ".join(part for part in (target.node, target.address, target.contract) if part)
        elif self._current:
            subject = say(self._specs[self._current].title)
        else:
            subject = say(Text("Welcome", "欢迎"))
        self.setWindowTitle(f"{subject} – {NAME}")

    def changeEvent(self, event: QEvent) -> None:
        """Menus, title and header follow the language."""
        if event.type() is QEvent.Type.LanguageChange:
            self.menus.retranslate()
            self._name()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The navigation is narrow on small windows."""
        super().resizeEvent(event)
        self._fit_navigation()

    def _fit_navigation(self) -> None:
        narrow_page = self.page is not None and self.page.narrow_navigation
        wide = self.width() >= _WIDE_FROM and not narrow_page if self._wide_wanted is None else self._wide_wanted
        if wide != self.navigation.is_wide:
            self.navigation.set_wide(wide=wide)
        self.menus.check("navigation", checked=wide)

    # -- the end ------------------------------------------------------------------------------------------------------

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing with work under way asks once, and names the work; keeping on is the default."""
        page = self.page
        running = [say(job.title) for job in self._services.jobs.running] if self._services is not None else []
        if not self._sure and (running or (page is not None and not page.may_leave())):
            event.ignore()
            if running:
                self._ask_to_close(running)
            return
        self._preferences.geometry = self.saveGeometry()
        self.detach()
        event.accept()

    def _ask_to_close(self, running: Sequence[str]) -> None:
        dialog = question(
            Text("Quit", "退出"), Text("Work is still running", "仍有任务在执行"), "\n".join(running),
            Text("Stop the work and quit", "停止任务并退出"), danger=True, parent=self,
        )  # fmt: skip
        dialog.accepted.connect(self._close_anyway)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _close_anyway(self) -> None:
        self._sure = True
        self.close()
