"""Is the table of a stretch such as somebody with a spreadsheet wants it: one row a moment, with what happened in it?"""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_rules import CUT, WATCH_MARK, end_mark
from gpulease_gui.store.away import Away, take_away
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import EvidenceBlob, Gap, Mark, Run, RunState, SampleBlock, Series
from gpulease_gui.store.runs import finish_run, save_run
from gpulease_gui.store.samples import append_blocks, append_gap, save_mark
from gpulease_gui.store.watch_events import WatchEvent, save_event
from gpulease_gui.store.workspace import Workspace

START_S, S, MS = 1_772_366_400, 1_000_000_000, 1_000_000
A, B = "GPU-a", "GPU-b"


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(START_S, UTC) + timedelta(seconds=seconds)


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with closing(Workspace.open(tmp_path / "a.gpulease.db")) as opened:
        opened.submit(lambda db: save_node(db, Node("n1", "=node", Reach.LOCAL))).result()
        yield opened


def keep(workspace: Workspace, metric: str, subject: str, first_ms: int, values: list[float], step_ms: int = 1000) -> None:
    block = SampleBlock(Series("n1", metric, subject, ""), START_S * S + first_ms * MS, step_ms * MS, array("f", values))
    workspace.submit(lambda db: append_blocks(db, [block])).result()


def table(workspace: Workspace, end_s: float = 60.0, live: dict[tuple[str, str], Ring] | None = None, language: Language = Language.EN) -> list[dict[str, str]]:
    with workspace.read() as connection:
        content = readings_csv(connection, "n1", START_S, START_S + end_s, live or {}, language)
    assert content.startswith(b"\xef\xbb\xbf") and content.count(b"\r\n") == content.count(b"\n")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def times(rows: list[dict[str, str]]) -> list[str]:
    return [row["time (UTC)"][17:] for row in rows]


def test_that_cards_that_are_read_some_milliseconds_apart_stand_in_one_row(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 3, [50.0, 51.0, 52.0])
    keep(workspace, "gpu.temperature_c", B, 498, [60.0, 61.0, 62.0])
    keep(workspace, "cpu.util_percent", "", 0, [1.0, 2.0, 3.0])
    rows = table(workspace)
    assert times(rows) == ["00.000", "01.000", "02.000"]
    assert [tuple(row.values())[1:4] for row in rows] == [("1", "50", "60"), ("2", "51", "61"), ("3", "52", "62")]


def test_that_no_two_readings_of_a_card_share_a_row_and_none_is_lost(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 0, [float(n) for n in range(30)], 100)
    keep(workspace, "gpu.temperature_c", B, 93, [100.0 + n for n in range(30)], 100)
    keep(workspace, "disk.read_mb_s", "sda", 40, [7.0, 8.0, 9.0], 1000)
    ring = Ring()
    for n in range(30, 33):
        ring.append(START_S + n / 10 + 0.004, float(n))
    rows = table(workspace, live={("gpu.temperature_c", A): ring})
    for head, wanted in (("gpu.temperature_c GPU-a [°C]", range(33)), ("gpu.temperature_c GPU-b [°C]", range(100, 130)), ("disk.read_mb_s sda [MB/s]", (7, 8, 9))):
        assert [float(row[head]) for row in rows if row[head]] == list(map(float, wanted))
    assert len(rows) <= 34 and times(rows) == sorted(times(rows))


def test_that_a_card_that_was_not_read_leaves_its_cell_empty_and_moves_no_other(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 0, [50.0, math.nan, 52.0])
    keep(workspace, "gpu.temperature_c", B, 20, [60.0, 61.0, 62.0])
    assert [tuple(row.values())[1:3] for row in table(workspace)] == [("50", "60"), ("", "61"), ("52", "62")]


def test_that_what_happened_stands_in_the_row_of_its_moment(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 0, [50.0] * 8)
    keep(workspace, "gpu.event_reasons", A, 5, [0.0, 4.0, 4.0, 0x24, math.nan, 0x20, 1.0, 0.0])
    keep(workspace, "gpu.xid", A, 3200, [79.0])
    run, blob = Run("r1", "n1", at(1.1)), EvidenceBlob.of(b"x")
    finding = Finding("watch.hot", Verdict.WARN, Text("hot", "热"), evidence=(blob.sha256,))
    event = WatchEvent("e1", "n1", "watch.hot", A, START_S * S + 2 * S, START_S * S + 50 * S, False, finding)
    workspace.submit(lambda db: save_run(db, run)).result()
    workspace.submit(lambda db: finish_run(db, "r1", RunState.FINISHED, at(5.9), Verdict.FAIL)).result()
    workspace.submit(lambda db: save_event(db, event, blob)).result()
    workspace.submit(lambda db: save_mark(db, Mark(end_mark("e1"), "n1", at(50), WATCH_MARK, ""))).result()
    workspace.submit(lambda db: save_mark(db, Mark("m", "n1", at(30.25), "note", "=HYPERLINK(1)"))).result()
    workspace.submit(lambda db: append_gap(db, Gap("n1", (START_S + 8) * S, (START_S + 20) * S, "connection_lost"))).result()
    rows = table(workspace)
    told = [(row["time (UTC)"][17:], row["gap"], row["event"]) for row in rows if row["gap"] or row["event"]]
    assert told == [
        ("01.000", "", "clocks held back, GPU-a: power cap; verification begins"),
        ("02.000", "", "begins: Too hot, GPU-a"),
        ("03.000", "", "clocks held back, GPU-a: power cap, thermal slowdown; Xid 79 ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS, GPU-a"),
        ("05.000", "", "clocks held back, GPU-a: thermal slowdown"),
        ("06.000", "", "verification ends: Fail; clocks no longer held back, GPU-a"),
        ("08.000", "connection lost", ""),
        ("20.000", "", "read again after: connection lost"),
        ("30.250", "", "note: =HYPERLINK(1)"),
        ("50.000", "", "ends: Too hot, GPU-a"),
    ]  # fmt: skip
    assert not any(head.startswith("gpu.xid") for head in rows[0])


def test_that_an_end_that_nobody_saw_or_that_was_agreed_is_told_as_no_other_end(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 0, [50.0] * 40)
    blob = EvidenceBlob.of(b"x")
    for id_, card, ended, code in (("back", "GPU-1", 10, ""), ("cut", "GPU-2", 20, CUT), ("killed", "GPU-3", 25, ""), ("away", "GPU-4", 39, "")):
        finding = Finding("watch.lost", Verdict.FAIL, Text("lost", "丢失"), reason_code=code, evidence=(blob.sha256,))
        event = WatchEvent(id_, "n1", "watch.lost", card, (START_S + 2) * S, (START_S + ended) * S, True, finding)
        workspace.submit(lambda db, event=event: save_event(db, event, blob)).result()
        if id_ != "killed":
            workspace.submit(lambda db, id_=id_, ended=ended: save_mark(db, Mark(end_mark(id_), "n1", at(ended), WATCH_MARK, ""))).result()
    workspace.submit(lambda db: take_away(db, "n1", Away("GPU-4", at(30), "Ann", "swapped"))).result()
    ends = [row["event"] for row in table(workspace) if row["event"] and "begins" not in row["event"]]
    assert ends == [
        "ends: GPU lost, GPU-1", "not seen to its end: GPU lost, GPU-2", "not seen to its end: GPU lost, GPU-3", "taken away by agreement: GPU lost, GPU-4",
    ]  # fmt: skip
    assert [row["事件"] for row in table(workspace, language=Language.ZH) if row["事件"]][-2:] == ["未看到结束：GPU 丢失, GPU-3", "经协商移除：GPU 丢失, GPU-4"]


def test_that_no_words_of_a_node_or_a_user_start_a_formula(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", "=cmd|' /C calc'!A0", 0, [50.0])
    workspace.submit(lambda db: save_mark(db, Mark("m", "n1", at(9), "note", "x"))).result()
    workspace.submit(lambda db: append_gap(db, Gap("n1", (START_S + 9) * S, (START_S + 10) * S, "@SUM(1)"))).result()
    with workspace.read() as connection:
        content = readings_csv(connection, "n1", START_S, START_S + 60, {}, Language.ZH).decode("utf-8-sig")
    cells = [cell for row in csv.reader(io.StringIO(content)) for cell in row]
    assert "'@SUM(1)" in cells and "备注：x" in cells and not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t")]
    assert content.splitlines()[0].endswith("缺口,事件")


def test_that_of_more_than_a_day_what_happened_is_told_as_well(workspace: Workspace) -> None:
    keep(workspace, "gpu.temperature_c", A, 0, [50.0, 60.0])
    keep(workspace, "gpu.event_reasons", A, 0, [4.0, 4.0])
    keep(workspace, "gpu.xid", A, 200, [48.0])
    workspace.submit(lambda db: save_mark(db, Mark("m", "n1", at(90_000), "note", "later"))).result()
    rows = table(workspace, 2 * 86_400)
    assert [row["event"] for row in rows if row["event"]] == ["clocks held back, GPU-a: power cap; Xid 48 ROBUST_CHANNEL_GPU_ECC_DBE, GPU-a", "note: later"]
