"""How fast are 20,000 offers with 100 answers each listed, sorted, filtered and compared?"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from datetime import date
from functools import cache
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.checklist import load_checklist
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.services.commerce import offers_in
from gpulease_gui.services.commerce_compare import comparison_in
from gpulease_gui.store.answers import answers_of
from gpulease_gui.store.deals import deal_ids, deal_rows, deals_by_answer, deals_with, subject_of
from gpulease_gui.store.opening import connect
from gpulease_gui.store.workspace import Workspace
from tests.bench.bar import Bar, absolute

ANSWERS = 100
MODELS = ("nvidia-h100-sxm5-80gb", "nvidia-h200-sxm-141gb", "nvidia-a100-sxm4-80gb", "nvidia-l40s-48gb")
STATES = ((AnswerState.VERIFIED, AnswerValue.YES), (AnswerState.ANSWERED, AnswerValue.YES), (AnswerState.EVIDENCED, AnswerValue.PARTLY),
          (AnswerState.REFUTED, AnswerValue.NO), (AnswerState.ASKED, AnswerValue.UNKNOWN))  # fmt: skip
DAY = date(2026, 6, 1)
NOON = "2026-06-01T12:00:00.000000Z"


def fill(path: Path, offers: int, answers: int = ANSWERS) -> None:
    """A workspace with so many offers, each with that many answers; the same each time."""
    Workspace.open(path).close()
    chance, items = random.Random(7), list(load_checklist())[:answers]
    suppliers = max(1, offers // 4)
    with closing(connect(path)) as connection:
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO suppliers VALUES (?, ?, 'CN', '', '')", ((f"s{n}", f"供应商 {n}") for n in range(suppliers))
        )
        connection.executemany(
            "INSERT INTO offers VALUES (?, ?, ?, '8 cards', '16.20', 'CNY', 'gpu_hour', '2026-12-31', '')",
            ((f"o{n}", f"s{n % suppliers}", f"Q-{n:05}") for n in range(offers)),
        )
        connection.executemany(
            "INSERT INTO deals (id, offer_id, gpu_model, gpu_count, price_amount, price_currency, price_unit, price_gpu_hour, "
            "price_gpu_hour_sort, stated, answered, refuted) VALUES (?, ?, ?, 8, ?, 'CNY', 'gpu_hour', ?, ?, 9, 80, 20)",
            (
                (n + 1, f"o{n}", chance.choice(MODELS), text, text, float(text))
                for n in range(offers)
                for text in (f"{chance.uniform(1, 40):.2f}",)
            ),
        )
        connection.executemany(
            "INSERT INTO answers VALUES (?, ?, ?, ?, NULL, NULL, '', '[]', NULL, ?, 'me')",
            ((n + 1, item, *chance.choice(STATES), NOON) for n in range(offers) for item in items),
        )
        connection.execute("COMMIT")
        connection.execute("ANALYZE")


def bars(size: str) -> Iterator[Bar]:
    """All bars at `size`: smallest (200 offers, one round), usual and full (20,000 offers, five rounds)."""
    most, rounds = (200, 1) if size == "smallest" else (20_000, 5)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        sizes = {}
        for times in (1, 2, 4):
            fill(Path(folder) / f"{times}.db", most * times // 4)
            sizes[times] = stack.enter_context(closing(connect(Path(folder) / f"{times}.db", read_only=True)))
        for name, work in WORKS.items():
            found = interleaved(work, sizes, rounds)
            if name in LIMITS:
                yield absolute(f"matrix.{name}", found[4], LIMITS[name], "ms")
            if name in GROWING:
                for times in (2, 4):
                    # Against the smallest of the three in the same round: as many times the work may take that long, and 15 % more.
                    ratios = [big / small for big, small in zip(found[times], found[1], strict=True)]
                    yield absolute(f"matrix.growth_{times}x.{name}", ratios, round(1.15 * times, 2), "x")


def interleaved(
    work: Callable[[sqlite3.Connection], object], sizes: Mapping[int, sqlite3.Connection], rounds: int
) -> dict[int, list[float]]:
    """Milliseconds of CPU of each round at each size, after one that warms up; the sizes take turns."""
    found: dict[int, list[float]] = {times: [] for times in sizes}
    for number in range(rounds + 1):
        for times, connection in sizes.items():
            began = time.process_time()
            work(connection)
            if number:
                found[times].append(1000 * max(time.process_time() - began, 1e-6))
    return found


SIX = (1, 7, 19, 24, 31, 43)


def open_list(connection: sqlite3.Connection) -> object:
    """What a page needs before its first picture: the order of all offers, and the lines on the screen."""
    return deal_rows(connection, HolderOf.OFFER, deal_ids(connection, HolderOf.OFFER)[:64])


def filter_items(connection: sqlite3.Connection) -> list[int]:
    """The offers where one item was refuted and another one is verified."""
    return deals_with(connection, HolderOf.OFFER, {"IC-07": ("refuted",), "IC-03": ("verified", "in_contract")})


def statements_of(connection: sqlite3.Connection) -> list[str]:
    """Every statement that a comparison of six offers runs, with its values."""
    said: list[str] = []
    connection.set_trace_callback(said.append)
    comparison_in(connection, [subject_of(connection, deal) for deal in SIX], CATALOGUE, DAY)
    connection.set_trace_callback(None)
    return said


def compare_sql(connection: sqlite3.Connection) -> object:
    """The statements of a comparison of six offers, nothing else."""
    return [connection.execute(statement).fetchall() for statement in _kept_statements(connection)]


@cache
def _kept_statements(connection: sqlite3.Connection) -> tuple[str, ...]:
    return tuple(statements_of(connection))


CATALOGUE = load_catalogue()
WORKS: dict[str, Callable[[sqlite3.Connection], object]] = {
    "open": open_list,
    "list": offers_in,
    "window_64": lambda connection: answers_of(connection, range(1, 65)),
    "sort_price": lambda connection: deal_ids(connection, HolderOf.OFFER, "price"),
    "sort_item": lambda connection: deals_by_answer(connection, HolderOf.OFFER, "IC-07"),
    "filter_items": filter_items,
    "compare_six_sql": compare_sql,
}
# Milliseconds at 20,000 offers x 100 answers.
GROWING = ("open", "list", "sort_price", "sort_item", "filter_items")
LIMITS = {"open": 150, "window_64": 20, "sort_price": 60, "sort_item": 60, "filter_items": 50, "compare_six_sql": 5}
