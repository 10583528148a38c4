"""Is the time in which one curve has no value a gap of that curve, with its reason in the chart, the table and the report?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.models.stored import Stored
from gpulease_gui.gui.pages.live_holes import NOT_RECORDED, unknown_holes
from gpulease_gui.gui.pages.live_lanes import Lanes, holes_of
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.services.gap_words import GAP_WORDS, SERIES_WORDS
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.recall import put_back
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import append_gap, list_gaps
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.source import RECORD_END
from tests.integration.test_watch_scripted import NS, POWER, RX, START_S, TX, A, B, Scripted, loud_holes
from tests.unit.test_telemetry import npus


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def stored(node: Scripted) -> list[tuple[str, str | None, int, int]]:
    node.end()
    with node.services.workspace.read() as connection:
        return [(g.reason, g.metric, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62)]


def told(node: Scripted, language: Language, first: int = 0, last: int = 400) -> dict[int, str]:
    """Why nothing was read, of the table, by second."""
    with node.services.workspace.read() as connection:
        table = readings_csv(connection, "scripted", START_S + first, START_S + last, {}, language).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(table)))[1:]
    return {int(row[0][14:16]) * 60 + int(row[0][17:19]): row[-2] for row in rows if row[-2]}


@pytest.mark.parametrize("cut_s", [None, 8])
def test_that_the_gap_of_a_card_whose_row_gives_way_to_words_begins_after_its_last_reading(node: Scripted, cut_s: int | None) -> None:
    words = "Unable to determine the device handle for GPU1: 0000:C1:00.0: Unknown Error"
    for node.at in range(40):
        if node.at == cut_s:
            node.reconnect()
        if 10 <= node.at < 30:
            node.cards((0, A, "500"))
            node.say("gpu", words)
        else:
            node.cards((0, A, "500"), (1, B, "400"))
    assert (f"lost {B}", POWER, 10, 30) in stored(node)
    assert [(gap.start_s - START_S, gap.end_s and gap.end_s - START_S) for gap in node.watch.view.missed if gap.metric == POWER] == [(10, 30)]


@pytest.mark.parametrize("by_agent", [True, False])
def test_that_a_figure_that_is_not_available_for_a_while_is_a_gap_of_its_curve_with_its_reason(node: Scripted, by_agent: bool) -> None:
    for node.at in range(200):
        watts = None if 50 <= node.at < 150 else 500.0
        if by_agent:
            node.say("gpu", json.dumps({"index": 0, "uuid": A, "util_percent": 97, "power_w": watts}))
        else:
            node.cards((0, A, "[N/A]" if watts is None else "500"))
    assert stored(node) == [(f"not_available {A}", POWER, 50, 150)]
    assert told(node, Language.EN) == {50: f"Power {A}: not available on the node"}
    assert told(node, Language.ZH, 100) == {100: f"功耗 {A}：节点不提供此读数"}, "at the start of a stretch that it reaches into"
    with node.services.workspace.read() as connection:
        past = read_past(connection, Wish("scripted", START_S, START_S + 200, 900, (START_S, START_S + 200)), {})
    for view in (node.watch.view, past.view):
        (hole,) = loud_holes(view)
        assert (hole.start_s - START_S, hole.end_s and hole.end_s - START_S, hole.source) == (50, 150, "power:gpu.power_w")
    lanes = Lanes(lambda term: None)
    lanes.of(past.view)
    assert str(holes_of(past.view, lanes.numbers)[0].reason) == "Power GPU 0: not available on the node", "what is stored knows no numbers"
    assert str(holes_of(node.watch.view)[0].reason) == str(SERIES_WORDS["not_available"]).join(["Power GPU 0: ", ""])


def test_that_a_curve_that_others_of_its_lane_outlive_hatches_part_of_it_and_is_told(node: Scripted) -> None:
    for node.at in range(60):
        node.cards((0, A, "500" if node.at < 20 else "[N/A]"), (1, B, "400"))
    (hole,) = loud_holes(node.watch.view)
    assert (hole.source, hole.end_s, str(hole.reason)) == (f"curve:{POWER}", None, "Power GPU 0: not available on the node")
    assert hole.part_of == "power:gpu.power_w"
    node.reconnect()
    assert [gap for gap in stored(node) if gap[1] == POWER] == [(f"not_available {A}", POWER, 20, 58)], "what nobody saw is no part of it"


def test_that_what_was_never_read_and_a_single_missing_reading_are_no_gaps(node: Scripted) -> None:
    for node.at in range(30):
        node.cards((0, A, "[N/A]"), (1, B, "[N/A]" if node.at == 9 else "400"))
        node.network(100.0 + node.at, eth0=(node.at % 10) * 125_000_000)
    assert stored(node) == [] and loud_holes(node.watch.view) == []


def say_counters(node: Scripted, of: str, count: int) -> None:
    """One line of a source whose counter stands there."""
    if of == "agent":
        counters = {"at_s": 100.0 + node.at, "ecc_corrected": count, "nvlink_crc_flit": 7, "nvlink_replay": count, "nvlink_rx_kib": count}
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "util_percent": 97, "power_w": 500, "counters": counters}))
    elif of == "nvidia-smi":
        node.say("gpu", f"0, {A}, 97, 41, 71680, 500, 63, 1755, 2619, 0x0, 00000000:17:00.0, 700, 70, {count}, 0")
    elif of == "rdma":
        node.say("rdma", f"{100 + node.at} 1.0{RECORD_END}mlx5_0/1 {count} {count} {count}{RECORD_END}")
    elif of == "disk":
        node.say("disk", f"{100 + node.at} 1.0{RECORD_END}259 0 nvme0n1 1 0 {count} 0 1 0 {count} 0{RECORD_END}")
    elif of == "host":
        node.say("host", RECORD_END.join([f"{100 + node.at} 1.0", f"cpu {count} 0 0 {count} 0 0 0 0", "MemTotal: 9 kB", "MemAvailable: 5 kB"]) + RECORD_END)
    else:
        node.network(100.0 + node.at, eth0=count)


@pytest.mark.parametrize(("of", "subject", "metrics"), [
    ("agent", A, {"gpu.ecc_corrected", "gpu.nvlink_errors", "gpu.nvlink_rx_gb_s"}), ("nvidia-smi", A, {"gpu.ecc_corrected"}),
    ("rdma", "mlx5_0/1", {"rdma.errors", "rdma.rx_gbit_s", "rdma.tx_gbit_s"}), ("disk", "nvme0n1", {"disk.read_mb_s", "disk.write_mb_s"}),
    ("host", "", {"cpu.util_percent", "cpu.steal_percent"}), ("network", "eth0", {RX}),
])  # fmt: skip
def test_that_a_counter_that_fell_says_that_it_began_anew(node: Scripted, of: str, subject: str, metrics: set[str]) -> None:
    def lasting() -> set[tuple[str, str]]:
        return {(gap.metric, gap.reason) for gap in node.watch.view.lasting if not gap.reason.startswith(UNHEARD)}

    for node.at in range(10):
        say_counters(node, of, 100 * node.at)
    node.at = 10
    say_counters(node, of, 4)
    assert lasting() == {(metric, f"counter_fell {subject}".strip()) for metric in metrics}
    node.at = 11
    say_counters(node, of, 8)
    assert (lasting(), [gap for gap in stored(node) if gap[1] != "gpu.xid"]) == (set(), []), "a single missing reading"
    node.at = 12
    say_counters(node, of, 1)
    node.at = 16
    say_counters(node, of, 9)
    assert {gap[:2] for gap in stored(node) if gap[2:] == (12, 16)} == {(f"counter_fell {subject}".strip(), metric) for metric in metrics}


@pytest.mark.parametrize("watts", ["1000000000", "-1", "NaN"])
@pytest.mark.parametrize("by_agent", [True, False])
def test_that_a_figure_that_was_impossible_from_the_first_line_on_is_a_gap_with_its_reason(node: Scripted, by_agent: bool, watts: str) -> None:
    for node.at in range(30):
        now = watts if node.at < 20 else "500"
        if by_agent:
            node.say("gpu", f'{{"index": 0, "uuid": "{A}", "util_percent": 97, "power_w": {now}}}')
        else:
            node.cards((0, A, now))
    assert stored(node) == [(f"impossible_figure {A}", POWER, 0, 20)]
    assert told(node, Language.EN) == {0: f"Power {A}: a figure that no device can have"}


def test_that_an_interface_that_came_and_went_unread_is_no_gap(node: Scripted) -> None:
    for node.at in range(80):
        node.network(100.0 + node.at, eth0=node.at * 125_000_000, **({"eth9": 5} if node.at == 4 else {}))
    assert stored(node) == [] and holes_of(node.watch.view) == ()


@pytest.mark.parametrize("jump", [2**64 - 1, 2**63, 10**16])
def test_that_a_counter_that_jumps_beyond_all_devices_makes_no_rate_and_is_told_once(node: Scripted, jump: int) -> None:
    for node.at in range(30):
        node.network(100.0 + node.at, eth0=jump if node.at in (10, 20) else node.at * 125_000_000)
    rates = {at: value for at, value in node.end()[RX, "eth0"].items() if value is not None}
    assert rates == dict.fromkeys([at for at in range(1, 30) if at not in (10, 20)], 1.0), "the readings after it are right at once"
    assert stored(node) == [("impossible_rate eth0", RX, 10, 11)]
    assert told(node, Language.ZH) == {10: "接收 eth0：计数器跳变，速率超出任何设备的能力"}


def test_that_a_counter_that_stays_where_it_jumped_to_counts_on_from_there(node: Scripted) -> None:
    for node.at in range(20):
        node.network(100.0 + node.at, eth0=node.at * 125_000_000 + (10**18 if node.at >= 10 else 0))
    assert {at for at, value in node.end()[RX, "eth0"].items() if value is None} == {0, 10}
    assert max(value for value in node.end()[RX, "eth0"].values() if value is not None) == 1.0


def test_that_an_impossible_rate_of_a_card_is_none_and_the_next_line_is_compared_with_the_last_good_one(node: Scripted) -> None:
    for node.at in range(20):
        counters = {"at_s": 100.0 + node.at, "pcie_rx_bytes": 2**62 if node.at == 10 else node.at * 10**10, "nvlink_tx_kib": node.at * 10**8}
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0, "counters": counters}))
    held = node.end()
    assert {at: v for at, v in held["gpu.pcie_rx_gb_s", A].items() if v is not None} == dict.fromkeys([at for at in range(1, 20) if at != 10], 10.0)
    assert {v for v in held["gpu.nvlink_tx_gb_s", A].values() if v is not None} == {102.4} and len(held[POWER, A]) == 20


def test_that_a_renamed_interface_ends_with_its_reason_and_is_waited_for_a_minute_at_most(node: Scripted) -> None:
    for node.at in range(100):
        node.network(100.0 + node.at, **{"eth0" if node.at < 6 else "ens3": node.at * 125_000_000})
    assert stored(node) == [("not_named eth0", metric, 6, 66) for metric in (RX, TX)]
    assert "接收 eth0：节点不再列出" in told(node, Language.ZH)[6] and "Received eth0: not named by the node any more" in told(node, Language.EN)[6]


def test_that_a_lost_card_is_told_once_in_the_table_whatever_is_read_of_it(node: Scripted) -> None:
    for node.at in range(40):
        lost = {"lost": "GPU is lost"} if 10 <= node.at < 30 else {"power_w": 400.0, "util_percent": 9, "temperature_c": 50}
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0}), json.dumps({"index": 1, "uuid": B, **lost}))
    assert {one[:1] + one[2:] for one in stored(node)} == {(f"lost {B}", 10, 30)}
    assert told(node, Language.EN) == {10: f"{B}: lost"} and told(node, Language.ZH) == {10: f"{B}：丢失"}
    with node.services.workspace.read() as connection:
        past = read_past(connection, Wish("scripted", START_S, START_S + 40, 900, (START_S, START_S + 40)), {})
        again = WatchView("scripted", 1.0)
        put_back(again, connection, START_S + 41.0)
    for view in (node.watch.view, past.view, again):
        (hole,) = [one for one in holes_of(view) if one.part_of == "power:gpu.power_w"]
        assert (round(hole.start_s) - START_S, round(hole.end_s or 0) - START_S, hole.source) == (10, 30, f"curve:{POWER}")
        assert [one.reason for one in holes_of(view) if one.reason] == [], "the rules of the watch tell it in the event row"


def test_that_the_lanes_of_a_card_that_was_the_only_one_are_hatched_whole_while_it_is_lost(node: Scripted) -> None:
    for node.at in range(40):
        node.say("gpu", json.dumps({"index": 0, "uuid": A, **({"lost": "GPU is lost"} if node.at >= 10 else {"power_w": 500.0, "util_percent": 9})}))
    assert {(hole.source, hole.end_s, hole.part_of) for hole in holes_of(node.watch.view)} == {("power:gpu.power_w", None, ""), ("util:", None, "")}


def test_that_every_reason_of_a_gap_is_told_in_both_languages(node: Scripted) -> None:
    for node.at in range(3):
        node.cards((0, A, "500"))
    node.end()
    for at, code in enumerate(GAP_WORDS, 3):  # what was read is no gap
        gap = Gap("scripted", (START_S + at) * NS, (START_S + at + 1) * NS, code)
        node.services.workspace.submit(lambda db, gap=gap: append_gap(db, gap)).result()
    assert list(told(node, Language.ZH).values()) == [words.zh for words in GAP_WORDS.values()]
    assert all(words.zh != words.en and words.zh for words in (*GAP_WORDS.values(), *SERIES_WORDS.values()))


@pytest.mark.parametrize("kind", ["gpu", "npu"])
def test_that_a_card_that_does_not_come_back_is_missing_among_the_samples_and_a_gap_with_its_reason(node: Scripted, kind: str) -> None:
    lost, metric = {"gpu": (B, POWER), "npu": ("1/0", "npu.power_w")}[kind]

    def say(*, both: bool) -> None:
        if kind == "gpu":
            node.cards((0, A, "500"), *([(1, B, "400")] if both else []))
        else:
            node.say("npu", npus((0, "0000:9D:00.0", "40"), *([(1, "0000:C1:00.0", "50")] if both else [])))

    for node.at in range(20):
        say(both=True)
    node.at = 30
    node.reconnect()
    for node.at in range(30, 60):
        say(both=False)
    for first, count, expected in ((0, 70, 118), (40, 20, 38)):
        node.end()
        with node.services.workspace.read() as connection:
            past = read_past(connection, Wish("scripted", START_S + first, START_S + 60, 900, (START_S + first, START_S + 60)), {})
        assert (past.figures[metric, ""][0].count, past.figures[metric, ""][1]) == (count, expected)
    assert {(gap.reason, gap.start_s - START_S) for gap in node.watch.view.lasting if gap.reason != UNHEARD} == {(f"lost {lost}", 30)}
    with node.services.workspace.read() as connection:
        table = readings_csv(connection, "scripted", START_S, START_S + 60, {}, Language.EN, None, node.watch.view.lasting).decode("utf-8-sig")
    whys = [(row[0][17:19], why) for row in csv.reader(io.StringIO(table)) for why in row[-2].split("; ")]
    assert [why for why in whys if why[1].endswith(": lost")] == [("30", f"{lost}: lost")]
    node.at = 70
    node.reconnect()
    for node.at in range(70, 90):
        say(both=node.at >= 80)
    assert {gap.reason for gap in node.watch.view.lasting} <= {UNHEARD}
    assert {(reason, first, last) for reason, of, first, last in stored(node) if of == metric} == {(f"lost {lost}", 30, 69), (f"lost {lost}", 70, 80)}


def test_that_a_card_whose_place_another_one_took_is_missed_no_longer_than_that(node: Scripted) -> None:
    for node.at in range(10):
        node.cards((0, A, "500"), (1, B, "400"))
    node.reconnect()
    for node.at in range(10, 40):
        node.cards((0, A, "500"), *([(1, "GPU-new", "400")] if node.at >= 20 else []))
    assert [gap.reason for gap in node.watch.view.lasting] == [UNHEARD] and node.watch.view.lost == {}
    assert {(reason, first) for reason, of, first, _ in stored(node) if of == POWER} == {(f"lost {B}", 10)}


XID = "gpu.xid"
UNHEARD_WORDS = "not told here, so that none is shown does not mean that none occurred"


def test_that_rows_of_nvidia_smi_say_once_of_the_node_that_no_xid_is_heard_and_make_no_curve_of_it(node: Scripted) -> None:
    for node.at in range(20):
        node.cards((0, A, "500"), (1, B, "400"))
    (hole,) = holes_of(node.watch.view)
    assert (str(hole.reason), hole.start_s - START_S, hole.end_s, hole.source, hole.quiet) == (f"Xid: {UNHEARD_WORDS}", 0, None, "curve:gpu.xid", True)
    node.reconnect()
    assert stored(node) == [(UNHEARD, XID, 0, 18)] and told(node, Language.ZH) == {0: "Xid：此处收不到，未显示不代表未发生"}
    with node.services.workspace.read() as connection:
        past = read_past(connection, Wish("scripted", START_S, START_S + 20, 900, (START_S, START_S + 20)), {})
    assert [(str(one.reason), one.end_s and one.end_s - START_S) for one in holes_of(past.view)] == [(f"Xid: {UNHEARD_WORDS}", 18)]
    assert not any(metric == XID for metric, _ in (*node.watch.view.rings, *node.end()))


@pytest.mark.parametrize(("deaf", "of"), [((A,), " GPU 0"), ((A, B), "")])
def test_that_deaf_cards_of_the_agent_are_told_in_one_hole_until_they_are_heard(node: Scripted, deaf: tuple[str, ...], of: str) -> None:
    for node.at in range(40):
        for index, uuid in ((0, A), (1, B)):
            said = {"deaf": node.at == 0} if node.at in (0, 30) and uuid in deaf else {}
            node.say("gpu", json.dumps({"index": index, "uuid": uuid, "util_percent": 97, "power_w": 500.0, "counters": {"at_s": 1.0 * node.at}, **said}))
        (hole,) = holes_of(node.watch.view)
        assert (str(hole.reason), hole.quiet) == (f"Xid{of}: {UNHEARD_WORDS}", True)
        assert (hole.end_s and hole.end_s - START_S) == (30 if node.at >= 30 else None)
    assert stored(node) == [(f"{UNHEARD} {uuid}", XID, 0, 30) for uuid in deaf]
    assert not any(metric == XID for metric, _ in (*node.watch.view.rings, *node.end()))


def test_that_unheard_xids_hide_no_time_that_was_not_recorded() -> None:
    known = Stored("n", span_s=(0.0, 100.0), recorded_s=((0.0, 40.0), (60.0, 100.0)))
    unheard = Hole(0.0, 41.0, "Xid", "curve:gpu.xid", quiet=True)
    (hole,) = unknown_holes((0.0, 100.0), (), None, known, [unheard], 100.0, running=False)
    assert (hole.start_s, hole.end_s, hole.reason) == (40.0, 60.0, NOT_RECORDED)
