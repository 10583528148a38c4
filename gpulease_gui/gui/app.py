"""How does the window start, open its workspace beside the first paint, and end?"""

from __future__ import annotations

import argparse
import logging
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import platformdirs
from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from gpulease_gui import __version__
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import find_pages
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.pdf.fonts import load_fonts

if TYPE_CHECKING:
    from gpulease_gui.gui.own_computer import OwnComputer
    from gpulease_gui.services.composition import Services

_log = logging.getLogger(__name__)


def main(argv: list[str] | None = None) -> int:
    """Open the window; the answer is the exit code."""
    options = _options(sys.argv[1:] if argv is None else argv)
    from gpulease_gui.services.small_heap import keep_heap_small

    # Before any thread has a heap of its own: beside 22 threads 20 MiB of free memory were held in such heaps, and it grew.
    keep_heap_small()
    # Workers give way to the window sooner than by default (5 ms a turn).
    sys.setswitchinterval(0.0002)
    app = make_application()
    program = Program(app, config_folder(), options.workspace, demo=options.demo)
    program.show()
    code = app.exec()
    program.close()
    return code


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="gpulease-gui", description="The window of GPULease.")
    parser.add_argument("--demo", action="store_true", help="open the demo workspace")
    parser.add_argument("--workspace", type=Path, help="open this workspace file")
    parser.add_argument("--version", action="version", version=__version__)
    return parser.parse_args(argv)


def make_application() -> QApplication:
    """The application with its name, its scaling and its letters, without a window yet."""
    QGuiApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("GPULease")
    app.setApplicationDisplayName("")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpulease-gui")
    load_fonts()
    return app


def config_folder() -> Path:
    """Where this user's choices and the theme's images lie."""
    return Path(platformdirs.user_config_dir("GPULease", appauthor=False))


def default_data_folder() -> Path:
    """The folder that the first run proposes; the command line uses the same."""
    return Path(platformdirs.user_data_dir("GPULease", appauthor=False))


class Program(QObject):
    """One run of the window: it opens workspaces on a thread, since that imports SSH and the database."""

    def __init__(self, app: QApplication, config: Path, workspace: Path | None = None, *, demo: bool = False) -> None:
        super().__init__(app)
        config.mkdir(parents=True, exist_ok=True)
        preferences = Preferences(config / "window.ini")
        translations = Translations(app)
        translations.switch(preferences.language)
        theme = Theme(app, config / "images", preferences.theme)
        if preferences.larger_text:
            theme.enlarge(preferences.larger_text)
        self._asked = (workspace, demo) if workspace is not None or demo else None
        self._preferences = preferences
        self._services: Services | None = None
        self._opener = ThreadPoolExecutor(1, thread_name_prefix="open-workspace")
        self._opening: Future[Services] | None = None
        self._listeners: tuple[QObject, ...] = ()
        self._own: OwnComputer | None = None
        self.window = MainWindow(theme, translations, preferences, find_pages(), default_data_folder())
        self.window.workspace_wanted.connect(self.open)
        self._old_hook = sys.excepthook
        sys.excepthook = self._broken

    @property
    def services(self) -> Services | None:
        """The use cases of the open workspace; None until one is open."""
        return self._services

    def show(self) -> None:
        """Show the window, then open the workspace that was named or was open last."""
        self.window.show()
        last = self._preferences.workspace
        if self._asked is None and last is not None:
            self._asked = (last, self._preferences.workspace_is_demo)
        if self._asked is not None:
            QTimer.singleShot(0, self, self._open_asked)

    def _open_asked(self) -> None:
        if self._asked is not None:
            self.open(*self._asked)

    def open(self, path: Path | None, demo: bool) -> None:
        """Open a workspace beside the window; the one that is open stays until the new one is there."""
        if self._opening is not None:
            return
        self._opening = self._opener.submit(_open, self._services, path, demo)
        self.window.bridge.when_done(self._opening, self._attach, self._not_opened)

    def _attach(self, services: Services) -> None:
        self._opening = None
        if services is self._services:
            return
        old, self._services = self._services, services
        from gpulease_gui.services.small_heap import search_seldom

        if not self._listeners:
            from gpulease_gui.gui.alarms import Alarms
            from gpulease_gui.gui.own_computer import OwnComputer
            from gpulease_gui.gui.recording_line import RecordingLine

            self._own = OwnComputer(self.window)
            self._listeners = Alarms(self.window), RecordingLine(self.window), self._own
        self.window.attach(services)
        if self._own is not None:
            self._own.look()
        # What was imported and built by now stays: a full collection over it would stop the window for 50 ms.
        search_seldom()
        if old is not None:
            self._opener.submit(old.close)

    def _not_opened(self, trouble: Exception) -> None:
        self._opening = None
        self.window.trouble(Text("The workspace was not opened", "工作区未能打开"), trouble.whole_text if isinstance(trouble, UserFacing) else str(trouble))

    def close(self) -> None:
        """Stop everything; may be called twice."""
        sys.excepthook = self._old_hook
        self.window.detach()
        self._opener.shutdown(wait=True)
        late = self._opening.result() if self._opening is not None and self._opening.exception() is None else None
        for services in (self._services, late):
            if services is not None:
                services.close()
        self._services, self._opening = None, None

    def _broken(self, kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
        """Our own fault in a slot: it is logged whole, and the window says so and lives on."""
        _log.error("a slot broke", exc_info=(kind, fault, trace))
        said = Text("Something in this program broke; the details are in the log", "程序内部出错，详情见日志")
        self.window.trouble(said, f"{kind.__name__}: {fault}")


def _open(now: Services | None, path: Path | None, demo: bool) -> Services:
    """Import what is heavy and open a workspace; the one that is open now is answered as it is. Raises UserFacing."""
    import pyqtgraph  # noqa: F401  # 200 ms that the first chart need not wait for

    from gpulease_gui.services.composition import default_path, open_services

    wanted = path or default_path(demo=demo)
    if now is not None and wanted.resolve() == now.workspace.path.resolve():
        return now
    services = open_services(wanted, demo=demo)
    services.workspace.forbid_main_thread()
    services.upkeep.start()
    return services
