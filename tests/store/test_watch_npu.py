"""Do the watch rules hold on an Ascend node, by tables of npu-smi: heat, idleness, lost chips, a driver that is gone; and what do they not say?"""

from __future__ import annotations

import subprocess

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.gui.models.watched import read_watched
from gpulease_gui.services.degraded import degraded_in
from gpulease_gui.services.events import Bus, RecordsChanged
from gpulease_gui.services.watch_driver import SILENT
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.store import claims, watch_events
from gpulease_gui.telemetry import npu
from gpulease_gui.telemetry.source import RECORD_END, Point

S = 1_000_000_000
# What a table says of one chip: name, health, watts, degrees C, AI core, MB used and in all.
Cell = tuple[str, str, str, str, str, str]
BUSY: Cell = ("910B2", "OK", "287.4", "61", "96", "58211/ 65536")
RULE = "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"


def table(chips: dict[str, Cell], hbm: bool = True) -> str:
    """As `npu-smi info` prints these chips (npu/chip), on one line as it travels."""
    lower = "AICore(%)   Memory-Usage(MB)" + ("  HBM-Usage(MB)" if hbm else "")
    rows = [
        "+" + "-" * 96 + "+", f"| npu-smi 24.1.rc3                 Version: 24.1.rc3{'':<46}|", RULE,
        "| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|",
        f"| Chip  Phy-ID              | Bus-Id        | {lower:<51}|", RULE.replace("-", "="),
    ]  # fmt: skip
    for place, (name, (model, health, watts, heat, use, memory)) in enumerate(chips.items()):
        card, chip = name.split("/")
        figures = f"{use:<11} 0    / 0          {memory}" if hbm else f"{use:<11} {memory}"
        rows += [f"| {card:<5} {model:<20}| {health:<14}| {watts:<11} {heat:<17} 0    / 0              |",
                 f"| {chip:<5} {place:<20}| 0000:{16 + 2 * int(card) + int(chip):02X}:00.0  | {figures:<51}|", RULE]  # fmt: skip
    rows += [RULE, "| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |", RULE]
    return RECORD_END.join([*rows, f"| No running processes found in NPU 0{'':<60}|", RULE, ""])


EIGHT = {f"{number}/0": BUSY for number in range(8)}


class Ascend:
    """A node whose table is told every two seconds, beside its network."""

    def __init__(self, desk):
        self.desk, self.bus, self.start_s = desk, Bus(), desk.noon.timestamp()
        self.at_s, self.reader = self.start_s, npu.SOURCE.reader()
        self.rules = RuleKeeper(desk.workspace, self.bus, load_catalogue(), lambda: self.at_s).of(desk.node)
        self.rules.renew()

    def tell(self, times, chips, line=""):
        for _ in range(times):
            try:
                self.rules.take(self.reader.read(line or table(chips)), self.at_s, "npu")
            except Unreadable as error:
                self.rules.trouble("npu", str(error), self.at_s, said=False)
            self.pass_by(2)

    def fail(self, times):
        for _ in range(times):
            self.rules.trouble("npu", "npu-smi does not answer", self.at_s, said=True)
            self.pass_by(5)

    def pass_by(self, seconds):
        for _ in range(seconds):
            self.rules.take([Point("net.tx_gbit_s", "eth0", 0.0)], self.at_s, "network")
            self.at_s += 1

    def again(self):
        self.rules.unseen(self.at_s)
        self.at_s += 30
        self.reader = npu.SOURCE.reader()
        self.rules.renew()

    @property
    def found(self):
        self.desk.write(lambda db: None)
        with self.desk.workspace.read() as connection:
            return watch_events.list_events(connection, "n1", 0, 2**62)

    def events(self):
        """(rule, subject, begin, end) in seconds since the start."""
        found = [(one.rule, one.subject, *(None if ns is None else round(ns / S - self.start_s) for ns in (one.began_ns, one.ended_ns))) for one in self.found]
        return sorted(found, key=lambda one: (one[2], one[1]))


@pytest.fixture
def node(desk):
    return Ascend(desk)


def with_cell(chip, **cells):
    place = {"health": 1, "watts": 2, "heat": 3, "use": 4}
    made = list(BUSY)
    for name, word in cells.items():
        made[place[name]] = word
    return {**EIGHT, chip: tuple(made)}


def test_that_a_hot_chip_is_told_with_its_temperature_and_until_when(node):
    node.tell(10, EIGHT)
    node.tell(15, with_cell("3/0", heat="88"))
    node.tell(15, EIGHT)
    assert node.events() == [("watch.hot", "3/0", 20, 50)]
    (event,) = node.found
    assert (event.finding.measured, event.finding.unit, event.degraded) == (88.0, "°C", False)


def test_that_heat_that_is_none_and_a_chip_of_84_degrees_are_no_event(node):
    for heat in ("84", "0", "65535", "NA", "-"):
        node.tell(12, with_cell("3/0", heat=heat))
    assert node.events() == []


def test_that_a_hot_chip_whose_temperature_is_not_told_any_more_is_cut_off_and_not_cool(node):
    node.tell(15, with_cell("3/0", heat="90"))
    node.tell(15, with_cell("3/0", heat="-"))
    assert node.events() == [("watch.hot", "3/0", 0, 28)]
    assert node.found[0].finding.reason_code == "cut"


def test_that_a_chip_that_does_nothing_while_it_is_paid_for_is_told(node):
    node.tell(1801, with_cell("5/0", use="0"))
    assert node.events() == [("watch.idle", "5/0", 0, None)]


def test_that_a_module_of_two_chips_is_idle_when_neither_works_and_costs_its_time_once(node, desk):
    def module(first, second):
        return {f"5/{chip}": ("Ascend910", "OK", "170.1", "44", use, "61022/ 65536") for chip, use in enumerate((first, second))}

    node.tell(1801, module("0", "60"))
    node.tell(1801, module("0", "-"))
    assert node.events() == [], "one of them works, or does not say"
    node.tell(1801, module("0", "0"))
    assert [(rule, chip, ended_s) for rule, chip, _, ended_s in node.events()] == [("watch.idle", "5/0", None), ("watch.idle", "5/1", None)]
    with desk.workspace.read() as connection:
        told = read_watched(connection, node.start_s, node.at_s)
    assert round(told.idle_card_hours * 3600) == 3602


def test_that_a_chip_that_the_table_leaves_out_is_lost_at_once_and_the_others_go_on(node, desk):
    node.tell(5, EIGHT)
    node.tell(20, {name: cell for name, cell in EIGHT.items() if name != "6/0"})
    assert node.events() == [("watch.lost", "6/0", 10, None)] and node.rules.seen == set(EIGHT)
    assert trouble_words(npu.GONE).zh in node.found[0].finding.reason.zh
    with desk.workspace.read() as connection:
        assert float(degraded_in(connection, desk.node, node.start_s, node.at_s).card_hours * 3600) == 40.0
    node.tell(12, EIGHT)
    assert node.events() == [("watch.lost", "6/0", 10, 50)]


def test_that_of_two_chips_of_one_module_one_can_be_lost(node):
    chips = {f"{card}/{chip}": ("Ascend910", "OK", "170.1" if chip == 0 else "-", "44", "97", "61022/ 65536") for card in range(2) for chip in range(2)}
    node.tell(5, chips)
    node.tell(5, {name: cell for name, cell in chips.items() if name != "1/1"})
    assert node.events() == [("watch.lost", "1/1", 10, None)]


def test_that_a_table_that_breaks_off_loses_no_chip_until_it_does_so_for_long(node):
    node.tell(5, EIGHT)
    cut = table(EIGHT).split("| 5     910B2")[0] + "| 5     910B2               | OK            | 28"
    node.tell(2, {}, cut)
    node.tell(5, EIGHT)
    assert node.events() == []
    node.tell(6, {}, cut)
    assert [(rule, chip) for rule, chip, *_ in node.events()] == [("watch.lost", "5/0"), ("watch.lost", "6/0"), ("watch.lost", "7/0")]


def test_that_a_chip_without_figures_is_there(node):
    node.tell(5, EIGHT)
    node.tell(40, with_cell("2/0", health="Critical", watts="-", heat="NA", use="-"))
    assert node.events() == []


def test_that_a_chip_that_is_not_there_after_a_cut_is_lost_and_others_in_its_place_are_not(node):
    node.tell(5, EIGHT)
    node.again()
    node.tell(6, {name: cell for name, cell in EIGHT.items() if name != "0/0"})
    assert [(rule, chip) for rule, chip, *_ in node.events()] == [("watch.lost", "0/0")]
    node.again()
    node.tell(15, {f"{number + 8}/0": BUSY for number in range(8)})
    assert [(rule, chip) for rule, chip, *_ in node.events()] == [("watch.lost", "0/0")]


def test_that_npu_smi_that_does_not_answer_is_a_dead_driver_from_then_until_it_answers(node):
    node.tell(5, EIGHT)
    node.fail(4)
    node.tell(12, EIGHT)
    assert node.events() == [("watch.driver", "", 10, 30)]
    event = node.found[0]
    assert {one.id for one in event.finding.subjects} == set(EIGHT) and "npu-smi" in event.finding.next_step.en


def test_that_an_npu_smi_that_hangs_is_told_after_a_minute(node):
    node.tell(5, EIGHT)
    node.pass_by(55)
    assert node.events() == []
    node.pass_by(25)
    ((rule, subject, began_s, ended_s),) = node.events()
    assert (rule, subject, began_s, ended_s) == ("watch.driver", "", 10, None), "its time begins with the first table that was missed"
    assert trouble_words(SILENT).en in node.found[0].finding.reason.en


@pytest.mark.parametrize("line", [
    "dcmi module initialize failed. ret is -8005" + RECORD_END, "DrvMngGetConsoleLogLevel failed. (g_conLogLevel=3)" + RECORD_END, RECORD_END,
])  # fmt: skip
def test_that_words_in_the_place_of_a_table_count_when_they_go_on(node, line):
    node.tell(5, EIGHT)
    node.tell(1, {}, line)
    node.tell(5, EIGHT)
    assert node.events() == [], "one odd answer is none"
    node.tell(5, {}, line)
    assert [(rule, subject) for rule, subject, *_ in node.events()] == [("watch.driver", "")]


def test_that_of_power_and_slowing_down_there_is_no_word(node, desk):
    """No term promises what an NPU draws, and the table tells neither its clock nor what slows it down."""
    holder = claims.Holder.contract("c1")
    desk.write(lambda db: claims.save_claim(db, holder, Claim("gpu.power_w", 700, ClaimState.ANSWERED), by="li", at=desk.noon))
    node.bus.publish(RecordsChanged(frozenset({"claim"})))
    node.tell(60, with_cell("3/0", watts="61.0"))
    assert node.events() == []


def test_that_a_card_without_power_and_hbm_is_watched_too(node):
    chips = {"2/0": ("310P3", "OK", "NA", "91", "71", "1530 / 44280")}
    node.tell(12, chips, table(chips, hbm=False))
    assert [(rule, chip) for rule, chip, *_ in node.events()] == [("watch.hot", "2/0")]


def test_that_a_call_that_fails_once_is_made_again_before_it_is_told(tmp_path):
    """A check of the node calls npu-smi, too, and it bears no two calls at once."""
    for name, script in {
        "sleep": "exit 0",
        "npu-smi": f'echo . >> {tmp_path}/calls; n=$(wc -l < {tmp_path}/calls); [ $n -lt 6 ] || rm -f {tmp_path}/npu-smi; '
                   'case $n in 2|4|5) echo "dcmi is busy"; exit 1;; esac; echo "table $n"',
    }.items():  # fmt: skip
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "GPULEASE_TMP": str(tmp_path), "GPULEASE_INTERVAL": "1"}
    said = subprocess.run(["sh", "-c", npu.SCRIPT], env=env, capture_output=True, text=True, timeout=30).stdout
    told = ["table 1", "table 3", "! npu-smi does not answer", "table 6", "! npu-smi is not installed on the node"]
    assert said.replace(RECORD_END, "").splitlines() == told
