"""What does the program look like? The same window, driven without a display through the main journey.

`python -m gpulease_gui.gui.tour FOLDER` opens the demo, verifies every simulated node, watches one, exports the
evaluation in both languages, and leaves a picture of every page in both languages and both themes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QEventLoop, QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.app import Program, make_application
from gpulease_gui.gui.pages import find_pages
from gpulease_gui.gui.theme.theme import ThemeMode

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services
    from gpulease_gui.services.verify import Request

T = TypeVar("T")
SHOWN_NODE = "pcie-as-sxm"
WATCHED_NODE = "slow-net-a"
WATCH_S = 25.0
PATIENCE_S = 180.0
LEAST_S, SETTLE_S, ALL_S = 0.2, 2.0, 4.0
_NO_WINDOWS = "This plugin does not support propagateSizeHints()"


def main(arguments: list[str] | None = None) -> int:
    """Drive the journey; 0 when every step was done."""
    parser = argparse.ArgumentParser(prog="tour", description="Drive the window offscreen through the demo.")
    parser.add_argument("folder", type=Path, help="where pictures and PDFs go")
    parser.add_argument("--watch", type=float, default=WATCH_S, help="seconds of live data before the pictures")
    options = parser.parse_args(arguments)
    qInstallMessageHandler(_say_what_matters)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gpulease-tour-") as private:
        app = make_application()
        program = Program(app, Path(private) / "config", Path(private) / "demo.gpulease.db", demo=True)
        program.show()
        try:
            return _Tour(program, options.folder, options.watch).go()
        finally:
            program.close()


def _say_what_matters(_kind: QtMsgType, _where: QMessageLogContext, words: str) -> None:
    """Qt's messages, less the one that a platform without windows prints for each window that asks for a size."""
    if words != _NO_WINDOWS:
        print(words, file=sys.stderr)


def spin(until: Callable[[], bool], seconds: float) -> bool:
    """Let the window live until something is true; whether it came true in time."""
    loop, deadline = QEventLoop(), time.monotonic() + seconds
    timer = QTimer()
    timer.timeout.connect(lambda: loop.quit() if until() or time.monotonic() > deadline else None)
    timer.start(20)
    loop.exec()
    timer.stop()
    return until()


class _Tour:
    """One journey."""

    def __init__(self, program: Program, folder: Path, watch_s: float) -> None:
        self._program, self._folder, self._watch_s = program, folder, watch_s
        self._pictures: list[Path] = []

    def go(self) -> int:
        if not spin(lambda: self._program.services is not None, PATIENCE_S):
            return _give_up("the demo workspace did not open")
        services = self._program.services
        assert services is not None
        nodes = {node.name: node for node in self._wait(services.query(_all_nodes))}
        services.watching.start(nodes[WATCHED_NODE])
        watched_from = time.monotonic()
        verdicts = self._verify_all(services, nodes)
        spin(lambda: time.monotonic() - watched_from > self._watch_s, self._watch_s + 5)
        self._look(nodes)
        self._look_at_all(services, nodes)
        papers = self._export(services, nodes[WATCHED_NODE])
        print(f"verified {len(verdicts)} demo nodes: " + ", ".join(f"{name} {word}" for name, word in verdicts.items()))
        for path in (*self._pictures, *papers):
            print(path)
        return 0

    def _wait(self, future: Future[T]) -> T:
        if not spin(future.done, PATIENCE_S):
            raise TimeoutError("the services did not answer")
        return future.result()

    def _verify_all(self, services: Services, nodes: dict[str, Node]) -> dict[str, str]:
        self._program.window.go("verification", nodes[SHOWN_NODE].id)
        jobs = {}
        for name, node in nodes.items():
            request = self._wait(services.jobs.local(partial(_request, services, nodes, name, node)))
            work = _verify_work(services, node, request)
            jobs[name] = services.jobs.start(f"verify {name}", work, remote=True)
        return {name: str(getattr(self._wait(job.done), "overall", "?")) for name, job in jobs.items()}

    def _look(self, nodes: dict[str, Node]) -> None:
        contract = ("contract", str(nodes[SHOWN_NODE].contract_id))
        paths = {"verification": (nodes[SHOWN_NODE].id,), "live": (nodes[WATCHED_NODE].id,), "checklist": contract}
        for language in Language:
            self._program.window.speak(language)
            for mode in (ThemeMode.LIGHT, ThemeMode.DARK):
                self._program.window.wear(mode)
                for number, page in enumerate(find_pages(), start=1):
                    self._program.window.go(page.id, *paths.get(page.id, ()))
                    self._rest()
                    self._take(f"{number:02}-{page.id}-{language}-{mode.value}.png")

    def _rest(self) -> None:
        """Let the page draw until what it asked for has come; what comes later than SETTLE_S is not waited for."""
        bridge, begun = self._program.window.bridge, time.monotonic()
        spin(lambda: time.monotonic() - begun > LEAST_S and bridge.is_at_rest, SETTLE_S)

    def _look_at_all(self, services: Services, nodes: dict[str, Node]) -> None:
        """Every node at once, the worst first: the grid of the live page."""
        for node in nodes.values():
            services.watching.start(node)
        self._program.window.go("live")
        spin(lambda: False, ALL_S)
        number = next(number for number, page in enumerate(find_pages(), start=1) if page.id == "live")
        for language in Language:
            self._program.window.speak(language)
            for mode in (ThemeMode.LIGHT, ThemeMode.DARK):
                self._program.window.wear(mode)
                self._rest()
                self._take(f"{number:02}-live-all-{language}-{mode.value}.png")
        for node in nodes.values():
            if node.name != WATCHED_NODE:
                services.watching.stop(node.id)

    def _take(self, name: str) -> None:
        path = self._folder / name
        if not self._program.window.grab().save(str(path)):
            raise OSError(f"{path} could not be written")
        self._pictures.append(path)

    def _export(self, services: Services, node: Node) -> list[Path]:
        from gpulease_gui.services.evaluate import export

        papers = []
        for language in Language:
            path = self._folder.resolve() / f"evaluation-{node.name}-{language}.pdf"
            contract = str(node.contract_id)
            work = partial(export, services.workspace.path, contract, language, path, demo=True)
            self._wait(services.jobs.start(f"export {path.name}", work).done)
            papers.append(path)
        return papers


def _give_up(why: str) -> int:
    print(f"tour: {why}", file=sys.stderr)
    return 1


def _all_nodes(connection: object) -> tuple[Node, ...]:
    from gpulease_gui.store.nodes import list_nodes

    return list_nodes(connection)  # type: ignore[arg-type]


def _request(services: Services, nodes: dict[str, Node], name: str, node: Node) -> Request:
    from gpulease_gui.services.acceptance import promises_of
    from gpulease_gui.services.targets import demo_brings
    from gpulease_gui.services.verify import Request

    peer = demo_brings(f"demo:{name}").peer
    terms = promises_of(services.workspace, str(node.contract_id))
    other = nodes[peer.removeprefix("demo:")] if peer else None
    return Request(terms, node.contract_id, seconds=5, peer=other)


def _verify_work(services: Services, node: Node, request: Request) -> Callable[[CancelToken], object]:
    return lambda cancel: services.verification.run(node, request, cancel)


if __name__ == "__main__":
    sys.exit(main())
