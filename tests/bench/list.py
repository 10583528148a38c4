"""How fast does the window list, sort, narrow and search 20,000 offers, beside Qt's own proxy model?"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.services.deal_list import BY_PRICE, BY_SUPPLIER, deal_list_in
from gpulease_gui.services.go_to import Places, places_in
from gpulease_gui.store.opening import connect
from tests.bench.bar import Bar, absolute, paired
from tests.bench.matrix import fill

OFFERS = {"smallest": 400, "usual": 20_000, "full": 20_000}
ROUNDS = {"smallest": 1, "usual": 3, "full": 5}
DAY = date(2026, 12, 1)
LETTERS = ("h", "h1", "h100", "h100 q-0", "q-01999")
LIMITS = {"open": 150.0, "sort": 60.0, "filter": 50.0, "key": 50.0}


def bars(size: str) -> list[Bar]:
    """Milliseconds of CPU; sort and filter also as parts of what QSortFilterProxyModel takes over the same rows."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="gpulease-list-") as folder:
        path = Path(folder) / "list.db"
        fill(path, OFFERS[size], 1)
        return _measure(path, ROUNDS[size])


def _measure(path: Path, rounds: int) -> list[Bar]:
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication([])
    taken: dict[str, list[float]] = {name: [] for name in ("open", "sort", "filter", "proxy_sort", "proxy_filter", "key")}
    places = _places(path)
    for _ in range(rounds):
        _round(path, places, taken)
        app.processEvents()
    return [
        *(absolute(f"list.{name}_20000", taken[name], limit, "ms") for name, limit in LIMITS.items()),
        paired("list.sort_beside_proxy", taken["sort"], taken["proxy_sort"], 0.02, "ms"),
        paired("list.filter_beside_proxy", taken["filter"], taken["proxy_filter"], 0.02, "ms"),
    ]  # fmt: skip


def _round(path: Path, places: Places, taken: dict[str, list[float]]) -> None:
    from PySide6.QtCore import QSortFilterProxyModel, Qt

    from gpulease_gui.gui.pages.suppliers_deals import DealsModel, DealsView

    view, peer, proxy = DealsView(), DealsModel(), QSortFilterProxyModel()
    view.resize(260, 800)
    with closing(connect(path)) as connection:
        taken["open"].append(_ms(lambda: _open(view, connection)))
    peer.show_list(view.deals.all)
    proxy.setSourceModel(peer)
    proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
    view.deals.narrow(order=BY_SUPPLIER)
    taken["sort"].append(_ms(lambda: view.deals.narrow(order=BY_PRICE)))
    taken["proxy_sort"].append(_ms(lambda: proxy.sort(0)))
    taken["filter"].append(_ms(lambda: view.deals.narrow(words="h100")))
    taken["proxy_filter"].append(_ms(lambda: proxy.setFilterFixedString("h100")))
    taken["key"].append(max(_ms(lambda letters=letters: places.find(letters)) for letters in LETTERS))
    view.deleteLater()


def _open(view: object, connection: object) -> None:
    view.show_list(deal_list_in(connection, DAY))  # type: ignore[attr-defined, arg-type]
    view.grab()  # type: ignore[attr-defined]


def _places(path: Path) -> Places:
    with closing(connect(path)) as connection:
        return places_in(connection, load_catalogue())


def _ms(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return 1000 * max(time.process_time() - began, 1e-6)
