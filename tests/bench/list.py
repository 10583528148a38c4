"""How fast does the window list, sort, narrow and search 20,000 offers, beside Qt's own proxy model?"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.services.deal_list import BY_PRICE, BY_SUPPLIER, deal_list_in
from gpulease_gui.services.go_to import Places, places_in
from gpulease_gui.store.opening import connect
from tests.bench.bar import Bar, absolute, paired
from tests.bench.matrix import fill

if TYPE_CHECKING:
    import sqlite3

    from gpulease_gui.gui.pages.suppliers_deals import DealsView

OFFERS = {"smallest": 400, "usual": 20_000, "full": 20_000}
ROUNDS = {"smallest": 1, "usual": 3, "full": 5}
DAY, REPEATS = date(2026, 12, 1), 5
LETTERS = ("h", "h1", "h100", "h100 q-0", "q-01999")
TIMES, GROWTH, GROWING = (1, 2, 4), 1.15, ("open", "sort", "filter")
LIMITS = {"open": 150.0, "sort": 60.0, "filter": 50.0, "key": 50.0}


def bars(size: str) -> list[Bar]:
    """Milliseconds of CPU; sort and filter also as parts of what QSortFilterProxyModel takes over the same rows."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="gpulease-list-") as folder:
        paths = {times: Path(folder) / f"{times}.db" for times in TIMES}
        for times, path in paths.items():
            fill(path, OFFERS[size] * times // 4, 1)
        return _measure(paths, ROUNDS[size])


def _measure(paths: Mapping[int, Path], rounds: int) -> list[Bar]:
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication([])
    taken: dict[int, dict[str, list[float]]] = {times: {name: [] for name in (*LIMITS, "proxy_sort", "proxy_filter")} for times in TIMES}
    places = {times: _places(path) for times, path in paths.items()}
    for number in range(rounds + 1):
        for times, path in paths.items():
            # The first round warms up; the peer sorts the whole list only.
            _round(path, places[times], taken[times] if number else {}, with_peer=times == 4 and number > 0)
            app.processEvents()
    whole = taken[4]
    found = [absolute(f"list.{name}_20000", whole[name], limit, "ms") for name, limit in LIMITS.items()]
    found += [paired(f"list.{name}_beside_proxy", whole[name], whole[f"proxy_{name}"], 0.02, "ms") for name in ("sort", "filter")]
    for name in GROWING:
        for times in TIMES[1:]:
            # The fastest rounds: a millisecond is at the mercy of what else fills the caches.
            grown = min(taken[times][name]) / min(taken[1][name])
            found.append(absolute(f"list.growth_{times}x.{name}", [grown], round(GROWTH * times, 2), "x the CPU of a quarter of the offers"))
    return found


def _round(path: Path, places: Places, taken: dict[str, list[float]], *, with_peer: bool) -> None:
    from gpulease_gui.gui.pages.suppliers_deals import DealsView

    view = DealsView()
    view.resize(260, 800)
    with closing(connect(path)) as connection:
        taken.setdefault("open", []).append(_ms(partial(_open, view, connection)))
    if with_peer:
        _peer(view, taken)
    view.deals.narrow(order=BY_SUPPLIER)
    taken.setdefault("sort", []).append(_ms(lambda: view.deals.narrow(order=BY_PRICE)))
    taken.setdefault("filter", []).append(statistics.median(_filter(view) for _ in range(REPEATS)))
    taken.setdefault("key", []).append(max(_ms(partial(places.find, letters)) for letters in LETTERS))
    view.deleteLater()


def _filter(view: DealsView) -> float:
    """A few milliseconds: one alone says more about the caches than about the list, so it is done a few times."""
    view.deals.narrow(words="")
    return _ms(lambda: view.deals.narrow(words="h100"))


def _peer(view: DealsView, taken: dict[str, list[float]]) -> None:
    """Qt's own model over the same rows."""
    from PySide6.QtCore import QSortFilterProxyModel, Qt

    from gpulease_gui.gui.pages.suppliers_deals import DealsModel

    peer, proxy = DealsModel(), QSortFilterProxyModel()
    peer.show_list(view.deals.all)
    proxy.setSourceModel(peer)
    proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    taken["proxy_sort"].append(_ms(lambda: proxy.sort(0)))
    taken["proxy_filter"].append(_ms(lambda: proxy.setFilterFixedString("h100")))


def _open(view: DealsView, connection: sqlite3.Connection) -> None:
    view.show_list(deal_list_in(connection, DAY))
    view.grab()


def _places(path: Path) -> Places:
    with closing(connect(path)) as connection:
        return places_in(connection, load_catalogue())


def _ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * max(time.process_time() - began, 1e-6)
