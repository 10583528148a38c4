"""How long does an import of a quote take beside the reader library alone?

The peer is openpyxl reading the same file in its fastest mode (read-only, values only), in a process of its own like ours
and nothing else. Ours is the whole import: reading, understanding every cell, the dry run, and saving as one act. Both do
one thing after the other, so that the CPU time of all their processes is compared: a machine that does other things
meanwhile takes nothing from it. The time on the wall stands beside it.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import xlsxwriter

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.services import importing
from gpulease_gui.services.importing_lines import guess_layout, read_lines
from gpulease_gui.services.importing_targets import targets_of
from gpulease_gui.store.exchange.source import read_file
from gpulease_gui.store.workspace import Workspace
from tests.bench.bar import Bar, absolute, paired

ROWS = {"smallest": (200,), "usual": (1250, 2500, 5000), "full": (1250, 2500, 5000)}
GROWTH = 1.15  # four times the rows may take 4.6 times as long
_PEER = (
    "import sys, openpyxl; book = openpyxl.load_workbook(sys.argv[1], read_only=True, data_only=True);"
    "print(sum(1 for row in book.active.iter_rows(values_only=True)))"
)
_HEAD = (
    "报价单号", "GPU型号", "卡数", "单价（元/卡/时）", "税", "节点间带宽", "内存", "本地盘", "最短租期", "SLA", "报价有效期", "备注",
)  # fmt: skip


def bars(size: str) -> list[Bar]:
    """Import of some thousand rows, its growth, and the time of its parts."""
    catalogue = load_catalogue()
    rounds = 1 if size == "smallest" else 5
    found: list[Bar] = []
    spent: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in ROWS[size]:
            path = _workbook(Path(folder), count)
            ours, peer, read = [], [], []
            for number in range(rounds):
                peer.append(_timed(lambda p=path: _peer(p)))
                read.append(_timed(lambda p=path: _read(p)))
                with _workspace(Path(folder) / f"{count}-{number}.db") as workspace:
                    ours.append(_timed(lambda p=path, w=workspace: _import(p, w, catalogue)))
            found += [
                paired(f"imports.whole_{count}_rows", _cpu(ours), _cpu(peer), 2.0, "s of CPU, reader library alone"),
                paired(f"imports.whole_{count}_rows_wall", _wall(ours), _wall(peer), 2.0, "s, reader library alone"),
                paired(f"imports.read_{count}_rows", _cpu(read), _cpu(peer), 1.25, "s of CPU, reader library alone"),
            ]
            spent[count] = _cpu(ours)
    smallest = min(spent)
    for count in spent:
        if count > smallest:
            ratios = [big / small for big, small in zip(spent[count], spent[smallest], strict=True)]
            found.append(absolute(f"imports.growth_{count // smallest}x", ratios, round(GROWTH * count / smallest, 2), "x the CPU of the smallest"))
    return found


def _cpu(rounds: Sequence[tuple[float, float]]) -> list[float]:
    return [cpu for cpu, _ in rounds]


def _wall(rounds: Sequence[tuple[float, float]]) -> list[float]:
    return [wall for _, wall in rounds]


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of CPU of this process and of the children that it waited for, and seconds on the wall."""
    began, before = time.perf_counter(), _spent()
    work()
    return _spent() - before, time.perf_counter() - began


def _spent() -> float:
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def _peer(path: Path) -> None:
    subprocess.run([sys.executable, "-c", _PEER, str(path)], check=True, stdout=subprocess.DEVNULL)


def _read(path: Path) -> None:
    read_file(path)


@contextmanager
def _workspace(path: Path) -> Iterator[Workspace]:
    workspace = Workspace.open(path)
    try:
        yield workspace
    finally:
        workspace.close()


def _import(path: Path, workspace: Workspace, catalogue: Catalogue) -> None:
    """What the form does, one step after the other."""
    sheet, targets = read_file(path), targets_of(catalogue)
    found = read_lines(sheet, guess_layout(sheet, targets), targets, catalogue)
    with workspace.read() as connection:
        run = importing.plan(connection, found, Supplier("bench", "Bench"), date(2026, 12, 1), path.name)
    assert run.added == len(sheet.rows) - 1 and not run.bad and not run.open, (run.added, found.issues[:1], run.open)
    workspace.submit(lambda db: importing.save(db, run, by="bench", at=utc_now())).result()


def _workbook(folder: Path, count: int) -> Path:
    path = folder / f"quote-{count}.xlsx"
    book = xlsxwriter.Workbook(str(path))
    sheet, day = book.add_worksheet("报价"), book.add_format({"num_format": "yyyy-mm-dd"})
    for column, words in enumerate(_HEAD):
        sheet.write_string(0, column, words)
    models = ("H100 80GB SXM", "H800", "A100-SXM4-80GB", "RTX 4090", "H20")
    for row in range(1, count + 1):
        cells = (
            f"Q-{row:05d}", models[row % 5], 8, 10 + row / 100, "含税 6%", f"{(row % 4 + 1) * 100} Gbit/s", "2 TB", "4*3.84T", f"{row % 48 + 1}小时",
            "99.9%", None, f"机房 {row % 7}，现货",
        )  # fmt: skip
        for column, value in enumerate(cells):
            if isinstance(value, str):
                sheet.write_string(row, column, value)
            elif value is not None:
                sheet.write_number(row, column, value)
        sheet.write_datetime(row, 10, date(2027, 1, row % 28 + 1), day)
    book.close()
    return path
