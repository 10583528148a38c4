"""Do readings of a node become events, marks, findings with evidence and hours with a price, by a scripted stream and clock?"""

from __future__ import annotations

from array import array
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from time import time_ns

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.watched import card_hours_text, read_watched
from gpulease_gui.services.commerce_edit import save_price, state_fields
from gpulease_gui.services.contract_day import Days
from gpulease_gui.services.degraded import NO_CONTRACT, NO_PRICE, NO_TERM, TODAYS, degraded_in
from gpulease_gui.services.events import Bus, LoadChanged, RecordsChanged, WatchAlarm
from gpulease_gui.services.notices import Notices, get_notices, parse_time, save_notices
from gpulease_gui.services.watch_promise import promise_of
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.store import claims, evidence, samples, watch_ends, watch_events
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import EvidenceBlob, SampleBlock, Series
from gpulease_gui.store.suppliers import save_contract
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.source import Point

S = 1_000_000_000
CARDS = ("GPU-a", "GPU-b")
HERE = Days().words


class Watched:
    """A node's stream told second by second, and what came of it."""

    def __init__(self, desk):
        self.desk, self.bus, self.heard = desk, Bus(), []
        self.at_s = desk.noon.timestamp()
        self.bus.subscribe(self.heard.append)
        self.rules = RuleKeeper(desk.workspace, self.bus, load_catalogue(), lambda: self.at_s).of(desk.node)
        self.rules.renew()

    def tell(self, seconds, watts=700.0, mask=0, cards=CARDS, util=99.0, lost=()):
        for _ in range(seconds):
            for card in sorted({*CARDS, *cards} - {*lost}):
                figures = (watts, mask, util) if card in cards else (700.0, 0, 99.0)
                values = {"gpu.power_w": figures[0], "gpu.event_reasons": figures[1], "gpu.temperature_c": 60.0, "gpu.util_percent": figures[2]}
                self.rules.take([Point(metric, card, value, 0) for metric, value in values.items()], self.at_s)
            for card in lost:
                self.rules.take([Point("gpu.power_w", card, None, 0, "GPU is lost")], self.at_s)
            self.at_s += 1

    def line(self, seconds, points):
        for _ in range(seconds):
            self.rules.take(points, self.at_s, "network")
            self.at_s += 1

    def events(self):
        self.desk.write(lambda db: None)
        with self.desk.workspace.read() as connection:
            return watch_events.list_events(connection, "n1", 0, 2**62)

    def after(self, ns):
        return None if ns is None else round(ns / S - self.desk.noon.timestamp(), 3)

    def degraded(self):
        self.desk.write(lambda db: None)
        with self.desk.workspace.read() as connection:
            return degraded_in(connection, self.desk.node, 0, self.at_s)


@pytest.fixture
def watched(desk):
    holder = claims.Holder.contract("c1")
    desk.write(lambda db: claims.save_claim(db, holder, Claim("gpu.power_w", 700, ClaimState.ANSWERED), by="li", at=desk.noon))
    blocks = [SampleBlock(Series("n1", "gpu.power_w", card, "W"), int(desk.noon.timestamp()) * S, S, samples.array("f", [1.0])) for card in CARDS]
    desk.write(lambda db: samples.append_blocks(db, blocks))
    return Watched(desk)


def test_that_a_card_under_the_contract_is_an_event_a_mark_a_finding_and_evidence(watched):
    watched.tell(60)
    watched.tell(90, watts=350.0, mask=4, cards=("GPU-b",))
    watched.tell(30)
    (event,) = watched.events()
    assert (event.rule, event.subject, event.degraded) == ("watch.floor", "GPU-b", True)
    assert (watched.after(event.began_ns), watched.after(event.ended_ns)) == (60, 150)
    found = event.finding
    assert (found.verdict, found.term, found.promised, found.measured, found.unit) == (Verdict.FAIL, "gpu.power_w", 700.0, 350.0, "W")
    assert found.reason.en.endswith("since 2026-03-01 12:01:00 UTC, for 90 s") and {one.name for one in found.judged_by} >= {"share", "samples"}
    with watched.desk.workspace.read() as connection:
        content = evidence.get_content(connection, found.evidence[0]).decode()
        marks = samples.list_marks(connection, "n1", datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    assert content.count("\t350") == 10 and "subject\tGPU-b" in content
    assert [(mark.kind, mark.words) for mark in marks] == [("watch", "watch.floor\tGPU-b\tbegin"), ("watch", "watch.floor\tGPU-b\tend")]
    alarms = [one for one in watched.heard if isinstance(one, WatchAlarm)]
    assert [(one.ended_ms is None, one.disturb) for one in alarms] == [(True, True), (False, True)]


def test_that_a_lost_card_and_a_silent_driver_are_told_apart(watched):
    watched.tell(10)
    watched.tell(20, cards=("GPU-a",), lost=("GPU-b",))
    watched.tell(20)
    watched.rules.trouble("gpu", "NVML: driver not loaded", watched.at_s)
    watched.rules.trouble("npu", "npu-smi is not installed", watched.at_s)
    watched.at_s += 30
    watched.tell(20)
    told = [(one.rule, one.subject, watched.after(one.began_ns), watched.after(one.ended_ns)) for one in watched.events()]
    assert told == [("watch.lost", "GPU-b", 10, 30), ("watch.driver", "", 50, 80)]
    assert watched.events()[1].finding.reason.en.endswith("NVML: driver not loaded")


def test_that_a_trouble_of_a_node_that_never_had_a_card_is_no_event(watched):
    watched.rules.trouble("gpu", "nvidia-smi is not installed on the node", watched.at_s)
    assert watched.events() == ()


def test_that_an_nvidia_smi_that_ends_at_once_is_an_event_where_the_contract_promises_gpus(desk, watched):
    desk.write(lambda db: db.execute("DELETE FROM sample_packs"))
    Watched(desk).rules.trouble("gpu", "nvidia-smi ended", watched.at_s)
    assert watched.events() == ()
    desk.write(lambda db: claims.save_claim(db, claims.Holder.contract("c1"), Claim("gpu.count", 2, ClaimState.ANSWERED), by="li", at=desk.noon))
    Watched(desk).rules.trouble("gpu", "nvidia-smi ended", watched.at_s)
    assert [one.rule for one in watched.events()] == ["watch.driver"]


def test_that_hours_before_a_node_moved_are_priced_by_the_contract_that_it_had(desk, watched):
    other = replace(desk.contract, id="c2", price=Money(Decimal("10"), "CNY"))
    desk.write(lambda db: save_contract(db, other))
    watched.tell(5)
    watched.tell(1800, watts=350.0, mask=4)
    watched.tell(10)
    desk.write(lambda db: [save_node(db, replace(desk.node, contract_id="c2")), db.execute("UPDATE marks SET at = '2026-03-01T12:15:05.250000Z' WHERE kind = 'contract'")])

    def found(contract_id):
        with desk.workspace.read() as connection:
            return degraded_in(connection, replace(desk.node, contract_id=contract_id), 0, watched.at_s)

    assert found("c2").money == Money(Decimal("13.10"), "CNY") and found("c2").card_hours == Fraction(1)  # half of 16.205 and of 10
    assert found(None).money == Money(Decimal("8.10"), "CNY")
    assert [one.en for one in found(None).assumed] == ["0.50 of them while the node had no contract, not priced", HERE.en]
    desk.write(lambda db: db.execute("DELETE FROM marks WHERE kind = 'contract'"))
    assert (found("c2").money, TODAYS in found("c2").assumed) == (Money(Decimal("10.00"), "CNY"), desk.run.contract_id == "c1")


def test_that_degraded_time_is_hours_and_money_of_the_contract_to_the_cent(watched):
    watched.tell(5)
    watched.tell(1800, watts=350.0, mask=4)
    watched.tell(10)
    found = watched.degraded()
    assert found.card_hours == Fraction(1) and found.money == Money(Decimal("16.21"), "CNY")
    assert found.no_money is None and found.assumed == (HERE,)


def test_that_hours_outside_the_contract_have_no_price_and_are_told(desk, watched):
    watched.tell(5)
    watched.tell(1800, watts=350.0, mask=4)
    watched.tell(10)
    day = desk.noon.date()
    for start, end in ((None, day - timedelta(days=1)), (day + timedelta(days=1), None)):
        desk.write(lambda db, start=start, end=end: save_contract(db, replace(desk.contract, start=start, end=end)))
        assert (watched.degraded().money, watched.degraded().no_money) == (None, NO_TERM)
    desk.write(lambda db: save_contract(db, replace(desk.contract, start=day, end=day)))
    watched.at_s = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
    watched.rules.renew()
    watched.tell(360, watts=350.0, mask=4)
    watched.tell(10)
    found = watched.degraded()
    assert found.money == Money(Decimal("16.21"), "CNY") and found.card_hours > Fraction(11, 10)
    assert [one.en for one in found.assumed] == [f"{float(found.card_hours - 1):.2f} of them outside the time of the contract, not priced", HERE.en]


def test_that_the_price_of_a_node_is_shared_by_the_cards_that_were_seen(desk, watched):
    price = Money(Decimal("14600"), "CNY")
    desk.write(lambda db: save_contract(db, replace(desk.contract, price=price, price_unit="node_month")))
    watched.tell(5)
    watched.tell(1800, watts=350.0, mask=4)
    watched.tell(10)
    found = watched.degraded()
    assert found.money == Money(Decimal("10.00"), "CNY")  # 14,600 / (2 cards x 730 h) for one card-hour
    assert [one.en for one in found.assumed] == ["a month has 730 hours", "the node has the 2 GPUs that were seen", HERE.en]


def test_that_cards_that_were_replaced_share_no_price_with_those_of_before(desk, watched):
    """Two cards on each of two days, others on the second one, and one of those is lost: always two share the price of the node."""
    price = Money(Decimal("14600"), "CNY")
    desk.write(lambda db: save_contract(db, replace(desk.contract, price=price, price_unit="node_month")))
    watched.tell(5)
    watched.tell(1800, watts=350.0, mask=4)
    watched.tell(10)
    for place, card in enumerate(("GPU-c", "GPU-d")):
        values = array("f", [700.0] * (600, 3500)[place])
        block = SampleBlock(Series("n1", "gpu.power_w", card, "W"), int(desk.noon.timestamp() + 86_400) * S, S, values)
        desk.write(lambda db, block=block: samples.append_blocks(db, [block]))
    lost = replace(watched.events()[0], id="lost", rule="watch.lost", subject="GPU-c", began_ns=int(desk.noon.timestamp() + 87_000) * S)
    lost = replace(lost, ended_ns=lost.began_ns + 3600 * S)
    desk.write(lambda db: watch_events.save_event(db, lost, EvidenceBlob.of(b"x")))
    watched.at_s += 100_000
    found = watched.degraded()
    assert found.card_hours == Fraction(2) and found.money == Money(Decimal("20.00"), "CNY")
    assert [one.en for one in found.assumed] == ["a month has 730 hours", "the node has the 2 GPUs that were seen", HERE.en]


def test_that_throttled_and_under_the_contract_at_once_is_counted_once(watched):
    watched.tell(5)
    watched.tell(900, watts=350.0, mask=4 | 0x40)
    watched.tell(10)
    assert sorted(one.rule for one in watched.events()) == ["watch.floor"] * 2 + ["watch.throttled"] * 2
    assert watched.degraded().card_hours == Fraction(1, 2)


def test_that_each_day_counts_at_its_price(desk, watched):
    later = Price("p2", Money(Decimal("20"), "CNY"), "gpu_hour", valid_from=date(2026, 3, 2))
    desk.write(lambda db: save_price(db, Subject(HolderOf.CONTRACT, "c1"), later))
    midnight_s = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
    watched.at_s = midnight_s - 1800
    watched.rules.renew()
    watched.tell(3600, watts=350.0, mask=4, cards=("GPU-a",))
    watched.tell(10)
    found = watched.degraded()
    assert found.card_hours == Fraction(1) and found.money == Money(Decimal("18.10"), "CNY")


def test_that_without_a_price_there_are_hours_and_the_reason(desk, watched):
    desk.write(lambda db: save_contract(db, replace(desk.contract, price=None)))
    watched.tell(360, watts=350.0, mask=4)
    watched.rules.unseen(watched.at_s + 3600)
    found = watched.degraded()
    assert (found.money, found.no_money) == (None, NO_PRICE) and found.card_hours == Fraction(2 * 359, 3600)
    with desk.workspace.read() as connection:
        alone = degraded_in(connection, replace(desk.node, contract_id=None), 0, watched.at_s)
    assert alone.no_money == NO_CONTRACT


def test_that_what_a_killed_program_left_open_ends_at_the_last_reading(watched):
    watched.tell(20, watts=350.0, mask=4)
    watched.at_s += 149
    Watched(watched.desk)
    assert [one.ended_ns for one in watched.events()] == [None, None], "another program may be there that goes on"
    later = Watched(watched.desk)
    later.at_s = watched.at_s + 100
    later.rules.renew()
    assert [watched.after(one.ended_ns) for one in watched.events()] == [0.75, 0.75]


def test_that_what_a_killed_program_left_open_ends_when_the_workspace_is_opened(watched):
    watched.tell(20, watts=350.0, mask=4)
    path = watched.desk.workspace.path
    watched.desk.workspace.close()
    with closing(Workspace.open(path)) as opened, opened.read() as connection:
        ended = [one.ended_ns for one in watch_events.list_events(connection, "n1", 0, 2**62)]
        found = degraded_in(connection, watched.desk.node, 0, watched.at_s + 7 * 86_400)
    assert [watched.after(one) for one in ended] == [0.75, 0.75] and found.card_hours == Fraction(2 * 750, 3_600_000)


def test_that_what_a_killed_program_left_open_ends_though_another_one_is_there_and_what_is_watched_goes_on(watched):
    watched.tell(20, watts=350.0, mask=4)
    path, now_ns = watched.desk.workspace.path, time_ns()

    def read_at(ago_s):
        block = SampleBlock(Series("n1", "gpu.power_w", "GPU-a", "W"), now_ns - ago_s * S, S, array("f", [350.0]))
        watched.desk.write(lambda db: samples.append_blocks(db, [block]))

    def ends():
        with closing(Workspace.open(path)) as second:
            assert second.shared
        return [one.ended_ns for one in watched.events()]

    older = "UPDATE watch_events SET began_ns = ?, id = replace(id, '.', '-')"  # as a program names them that gives no sign of life
    watched.desk.write(lambda db: [db.execute("DELETE FROM sample_packs"), db.execute(older, (now_ns - 3650 * S,))])
    read_at(3600)
    assert ends() == [now_ns - 3599 * S] * 2
    watched.desk.write(lambda db: db.execute("UPDATE watch_events SET ended_ns = NULL"))
    read_at(60)
    assert ends() == [None, None], "somebody watches the node"
    watched.desk.write(lambda db: watch_ends.close_forsaken(db.conn, now_ns + 601 * S))
    assert [one.ended_ns for one in watched.events()] == [now_ns - 3599 * S] * 2, "nobody saw the hour between"


def test_that_a_watch_hears_of_a_changed_promise_and_of_a_new_day(desk, watched):
    watched.tell(20, watts=650.0, mask=4, cards=("GPU-a",))
    holder = claims.Holder.contract("c1")
    desk.write(lambda db: claims.save_claim(db, holder, Claim("gpu.power_w", 600, ClaimState.ANSWERED), by="li", at=desk.noon))
    watched.bus.publish(RecordsChanged(frozenset({"claim"})))
    watched.tell(20, watts=650.0, mask=4, cards=("GPU-a",))
    assert [(one.rule, watched.after(one.began_ns), watched.after(one.ended_ns)) for one in watched.events()] == [("watch.floor", 0, 20)]
    watched.at_s = datetime(2026, 9, 2, tzinfo=UTC).timestamp()
    watched.tell(1805, util=0.0, cards=("GPU-a",))
    assert len(watched.events()) == 1, "the contract is over, so nothing is paid for"


def test_that_a_promised_rate_is_judged_while_a_test_of_ours_asks_for_it_and_only_then(desk, watched):
    for term, figure in (("network.gbit_s", 100), ("disk.write_mb_s", 3000)):
        claim = Claim(term, figure, ClaimState.ANSWERED)
        desk.write(lambda db, claim=claim: claims.save_claim(db, claims.Holder.contract("c1"), claim, by="li", at=desk.noon))
    watched.bus.publish(RecordsChanged(frozenset({"claim"})))
    for metric, subject, value in (("net.tx_gbit_s", "eth0", 10.0), ("disk.write_mb_s", "nvme0n1", 400.0)):
        points = [Point(metric, subject, value)]
        watched.line(20, points)
        assert [(one.metric, one.value) for one in watched.rules.unjudged] == [(metric, value)]
        load = Load(metric, 20.0)
        for node_id, runs in (("another", True), ("n1", True), ("n1", False)):
            watched.bus.publish(LoadChanged(node_id, load, runs))
            watched.line(20, points)
        watched.line(20, [Point(metric, subject, 0.0)])
    told = [(one.finding.term, one.finding.measured, watched.after(one.began_ns), watched.after(one.ended_ns)) for one in watched.events() if one.finding.term]
    assert told == [("network.gbit_s", 10.0, 40.0, 60.0), ("disk.write_mb_s", 400.0, 140.0, 160.0)]


def test_that_idle_is_told_only_in_the_term_of_the_contract(desk, watched):
    with desk.workspace.read() as connection:
        promises = [promise_of(connection, desk.node, load_catalogue(), day) for day in (date(2026, 2, 28), date(2026, 3, 1), date(2026, 9, 2))]
    assert [one.billed for one in promises] == [False, True, False]
    assert promises[0].floors == {"gpu.power_w": ("gpu.power_w", 700.0)}
    watched.tell(1805, util=0.0)
    assert [(one.rule, one.degraded) for one in watched.events()] == [("watch.idle", False)] * 2
    with desk.workspace.read() as connection:
        told = read_watched(connection, 0.0, watched.at_s)
    assert round(told.idle_card_hours * 3600, 3) == 3610, "two cards, each for half an hour"
    assert card_hours_text(told.idle_card_hours) == Text("1.0 card-hours", "1.0 卡时")
    assert [card_hours_text(one).en for one in (0.25, 0.001)] == ["0.25 card-hours", "< 0.01 card-hours"]


def test_that_a_card_is_billed_from_midnight_of_the_suppliers_zone_on(desk, watched):
    stated = {"supplier.contacts": Stated(((("name", "Li"), ("zone", "Asia/Shanghai")),))}
    desk.write(lambda db: state_fields(db, Subject(HolderOf.SUPPLIER, "s1"), stated, load_catalogue()))
    watched.at_s = start_s = datetime(2026, 2, 28, 15, 50, tzinfo=UTC).timestamp()
    watched.rules.renew()
    watched.tell(2400, util=0.0, cards=("GPU-a",))
    told = [(one.rule, one.subject, one.began_ns / S - start_s, one.ended_ns) for one in watched.events()]
    assert told == [("watch.idle", "GPU-a", 600.0, None)], "1 March begins at 16:00 UTC"


def test_that_quiet_hours_and_quiet_nodes_are_quiet(desk):
    def at(hour, minute=0):
        return datetime(2026, 3, 1, hour, minute, tzinfo=UTC)

    night = Notices(quiet_from=time(22, 30), quiet_to=time(7), nodes_off=frozenset({"n2"}))
    assert [night.disturbs("n1", moment) for moment in (at(22, 29), at(22, 30), at(3), at(6, 59), at(7))] == [True, False, False, False, True]
    assert not night.disturbs("n2", at(12)) and not Notices(on=False).disturbs("n1", at(12)) and Notices().disturbs("n1", at(0))
    assert [Notices(quiet_from=time(12), quiet_to=time(13)).disturbs("n1", at(hour)) for hour in (11, 12, 13)] == [True, False, True]
    desk.write(lambda db: save_notices(db, night))
    with desk.workspace.read() as connection:
        assert get_notices(connection) == night
    with pytest.raises(UsageError):
        parse_time("25:00")


def test_that_a_quiet_node_is_still_written_down(desk, watched):
    desk.write(lambda db: save_notices(db, Notices(nodes_off=frozenset({"n1"}))))
    watched.tell(20, watts=350.0, mask=4, cards=("GPU-a",))
    assert len(watched.events()) == 1
    assert [one.disturb for one in watched.heard if isinstance(one, WatchAlarm)] == [False]


def test_that_a_rule_of_a_node_without_a_contract_needs_none(desk):
    lone = replace(desk.node, id="n2", contract_id=None)
    desk.write(lambda db: save_node(db, lone))
    with desk.workspace.read() as connection:
        promise = promise_of(connection, lone, load_catalogue(), date(2026, 3, 1))
    assert promise.floors == {} and not promise.billed
