"""Is each reading of a running watch in the table once, wherever stored and newer ones meet?"""

from __future__ import annotations

import csv
import io
from contextlib import closing
from itertools import count

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Language
from gpulease_gui.services.handed import Handed
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series import Ring
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.samples import append_blocks
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import metrics

START_S = 1_772_366_400
KEY = ("gpu.power_w", "GPU-a")
NAMES = count()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with closing(Workspace.open(tmp_path_factory.mktemp("csv") / "a.gpulease.db")) as opened:
        yield opened


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    late=st.lists(st.floats(0, 3, exclude_max=True), min_size=1, max_size=60), unwritten=st.integers(0, 3),
    curve=st.sampled_from(["constant", "two figures", "rising"]),
)  # fmt: skip
@example(late=[0.0] * 10 + [0.4] + [0.0] * 10, unwritten=0, curve="constant")
@example(late=[0.0] * 10 + [2.0, 1.0, 0.0] + [0.4, 0.0] * 10, unwritten=0, curve="constant")
def test_that_each_reading_of_a_running_watch_is_in_its_table_once(workspace, late, unwritten, curve):
    """Any jitter, lines that come at one moment after a stall, any place to look, some blocks still on their way to the store."""
    node = f"n{next(NAMES)}"
    workspace.submit(lambda db: save_node(db, Node(node, node, Reach.LOCAL))).result()
    values = [{"constant": 500.0, "two figures": 500.0 + n % 2, "rising": float(n)}[curve] for n in range(len(late))]
    recorder, ring, handed, form, packs = Recorder(node, 1.0, metrics()), Ring(), Handed(), Form((KEY,)), []
    came_s = float(START_S)
    for n, (late_s, value) in enumerate(zip(late, values, strict=True)):
        came_s = handed.later(max(came_s, START_S + n + late_s))
        ring.append(came_s, value)
        recorder.add(Row(form, [value]), came_s)
        if recorder.due(came_s):
            packs.append(recorder.take())
            handed.add(packs[-1], came_s)
    for pack in packs[: max(0, len(packs) - unwritten)]:
        workspace.submit(lambda db, pack=pack: append_blocks(db, pack)).result()
    with workspace.read() as connection:
        content = readings_csv(connection, node, START_S - 60, START_S + 120, {KEY: ring}, Language.EN, handed).decode("utf-8-sig")
    assert [float(row["gpu.power_w GPU-a [W]"]) for row in csv.DictReader(io.StringIO(content)) if row["gpu.power_w GPU-a [W]"]] == values
