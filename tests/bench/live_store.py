"""What do storing and opening telemetry cost? Packs with summaries beside plain rows; a month of packs from one day's."""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.store import samples
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.opening import connect
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.store.workspace import Workspace

S = 1_000_000_000
DAY_S = 86_400
START_S = 1_772_323_200  # midnight
METRICS = (
    "power_w", "util_percent", "memory_used_gib", "temperature_c", "clock_sm_mhz", "clock_memory_mhz", "memory_util_percent",
    "pcie_rx_gb_s", "pcie_tx_gb_s", "nvlink_rx_gb_s", "nvlink_tx_gb_s", "temperature_memory_c",
)  # fmt: skip
SERIES = tuple(Series("n1", f"gpu.{metric}", f"GPU-{card}", "") for metric in METRICS for card in range(8))


def node_blocks(second: int) -> list[SampleBlock]:
    """Ten seconds of a node: 8 cards x 12 figures at 1 Hz."""
    return [
        SampleBlock(one, (START_S + second) * S, S, array("f", [float((place * 7 + second + n) % 97) for n in range(10)]))
        for place, one in enumerate(SERIES)
    ]  # fmt: skip


def opened(path: Path) -> Workspace:
    """A workspace with the node."""
    workspace = Workspace.open(path)
    workspace.submit(lambda db: save_node(db, Node("n1", "n1", Reach.LOCAL))).result()
    return workspace


def store_round(folder: Path, seconds: int) -> dict[str, float]:
    """CPU seconds of storing so many seconds of the node by each way, committed every ten seconds; to read back by series and time."""
    from sqlite_utils import Database

    told = [node_blocks(second) for second in range(0, seconds, 10)]
    taken: dict[str, float] = {}
    opened(folder / "ours.db").close()
    with closing(connect(folder / "ours.db")) as connection:
        database = Database(connection, execute_plugins=False)
        begun = time.process_time()
        for blocks in told:
            connection.execute("BEGIN IMMEDIATE")
            samples.append_blocks(database, blocks)
            connection.execute("COMMIT")
        taken["ours"] = time.process_time() - begun
    for way in ("sqlite3", "sqlite-utils"):
        with closing(_plain(folder / f"{way}.db")) as connection:
            taken[way] = _store_rows(connection, told, by_rows=way == "sqlite-utils")
    return taken


def _plain(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE readings (series INTEGER, at_ns INTEGER, value REAL, PRIMARY KEY (series, at_ns)) STRICT, WITHOUT ROWID")
    return connection


def _rows(blocks: list[SampleBlock]) -> Iterator[tuple[int, int, float]]:
    for place, block in enumerate(blocks):
        for n, value in enumerate(block.values):
            yield place, block.start_ns + n * block.step_ns, value


def _store_rows(connection: sqlite3.Connection, told: list[list[SampleBlock]], *, by_rows: bool) -> float:
    from sqlite_utils import Database

    table = Database(connection).table("readings")
    begun = time.process_time()
    for blocks in told:
        connection.execute("BEGIN IMMEDIATE")
        if by_rows:
            table.insert_all(({"series": s, "at_ns": at, "value": v} for s, at, v in _rows(blocks)), replace=True)
        else:
            connection.executemany("INSERT OR REPLACE INTO readings VALUES (?, ?, ?)", _rows(blocks))
        if connection.in_transaction:
            connection.execute("COMMIT")
    return time.process_time() - begun


def month(path: Path, hours: int, days: int) -> Workspace:
    """A workspace with `days` of the node: the packs of its first `hours`, repeated."""
    workspace = opened(path)
    for second in range(0, hours * 3600, 10):
        blocks = node_blocks(second)
        workspace.submit(lambda db, blocks=blocks: samples.append_blocks(db, blocks)).result()
    step_s, times = hours * 3600, days * 24 // hours

    def repeat(connection: sqlite3.Connection) -> None:
        for time_ in range(1, times):
            connection.execute(
                "INSERT INTO sample_packs (node_id, level, start_ns, end_ns, content) SELECT node_id, level, start_ns + ?, end_ns + ?, "
                "content FROM sample_packs WHERE level > 0 AND start_ns < ?",
                (time_ * step_s * S, time_ * step_s * S, (START_S + step_s) * S),
            )
        connection.execute("UPDATE sample_covered SET until_ns = ?", ((START_S + times * step_s) * S,))

    workspace.submit(lambda db: repeat(db.conn)).result()
    return workspace
