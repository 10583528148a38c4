"""Is degraded time that of the cards, days and prices of the contract, never more than it pays for, and never less?"""

from __future__ import annotations

import time
from array import array
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.gui.models.watched import read_watched
from gpulease_gui.services.commerce_edit import save_price, state_fields
from gpulease_gui.services.contract_day import Days, days_of, zone_from
from gpulease_gui.services.degraded import degraded_in
from gpulease_gui.services.paid_cards import BY_CHIP
from gpulease_gui.store import claims, samples, watch_events
from gpulease_gui.store.away import Away, are_back, away_now, list_away, take_away
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import EvidenceBlob, SampleBlock, Series
from gpulease_gui.store.suppliers import save_contract

S, HOUR = 1_000_000_000, 3600
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC).timestamp()
BLOB = EvidenceBlob.of(b"x")


class Paid:
    """A node at 10 CNY a card-hour, of which events are written down as they are told."""

    def __init__(self, desk):
        self.desk, self.events = desk, 0
        self.contract(price=Money(Decimal("10"), "CNY"))

    def contract(self, **changed):
        self.desk.contract = replace(self.desk.contract, **changed)
        self.desk.write(lambda db: save_contract(db, self.desk.contract))

    def count(self, cards, term="gpu.count", at=None):
        claim = Claim(term, cards, ClaimState.ANSWERED if cards else ClaimState.NOT_ASKED)
        self.desk.write(lambda db: claims.save_claim(db, claims.Holder.contract("c1"), claim, by="li", at=at or self.desk.noon))

    def earlier(self, *rows):
        """(last day, cards) that the terms of the contract state; None = left open."""
        kept = tuple(tuple((name, one) for name, one in (("until", until), ("cards", cards)) if one is not None) for until, cards in rows)
        self.state(HolderOf.CONTRACT, "c1", "contract.earlier_cards", kept or None)

    def zone(self, *zones):
        self.state(HolderOf.SUPPLIER, "s1", "supplier.contacts", tuple((("name", "Li"), ("zone", one)) for one in zones))

    def named(self, zone):
        self.state(HolderOf.CONTRACT, "c1", "billing.time_zone", zone)

    def state(self, kind, id_, key, value):
        self.desk.write(lambda db: state_fields(db, Subject(kind, id_), {key: Stated(value)}, load_catalogue()))

    def read(self, *cards, metric="gpu.power_w", begin_s=0):
        blocks = [SampleBlock(Series("n1", metric, card, ""), int(BEGIN + begin_s) * S, S, array("f", [1.0] * 60)) for card in cards]
        self.desk.write(lambda db: samples.append_blocks(db, blocks))

    def event(self, rule, subject, begin_s, end_s, named=()):
        """Seconds since BEGIN; `end_s` None = it lasts."""
        self.events += 1
        subjects = tuple(SubjectFinding(card, Verdict.FAIL, None) for card in named)
        finding = Finding(rule, Verdict.FAIL, Text("", ""), subjects=subjects, evidence=(BLOB.sha256,))
        ended_ns = None if end_s is None else int(BEGIN + end_s) * S
        one = watch_events.WatchEvent(f"e{self.events}", "n1", rule, subject, int(BEGIN + begin_s) * S, ended_ns, rule != "watch.idle", finding)
        self.desk.write(lambda db: watch_events.save_event(db, one, BLOB))

    def found(self, begin_s=-40 * 86_400, end_s=40 * 86_400):
        with self.desk.workspace.read() as connection:
            return degraded_in(connection, self.desk.node, BEGIN + begin_s, BEGIN + end_s)

    def hours_and_money(self):
        found = self.found()
        return found.card_hours, None if found.money is None else found.money.amount


@pytest.fixture
def paid(desk):
    return Paid(desk)


CHIPS = [f"{module}/{chip}" for module in range(8) for chip in range(2)]


@pytest.mark.parametrize("count", [8, None])
def test_that_a_module_of_two_chips_is_one_card(paid, count):
    paid.read(*CHIPS, metric="npu.power_w")
    if count:
        paid.count(count, "npu.count")
    paid.event("watch.lost", "3/0", 0, 2 * HOUR)
    paid.event("watch.lost", "3/1", HOUR, 3 * HOUR)
    paid.event("watch.lost", "4/1", 0, HOUR)
    assert paid.hours_and_money() == (4, Decimal("40.00"))
    paid.event("watch.driver", "", 10 * HOUR, 11 * HOUR, CHIPS)
    assert paid.hours_and_money() == (12, Decimal("120.00")), "eight modules, not sixteen cards"


def test_that_each_chip_is_a_card_where_the_contract_counts_chips(paid):
    paid.read(*CHIPS, metric="npu.power_w")
    paid.count(16, "npu.count")
    paid.event("watch.lost", "3/0", 0, 2 * HOUR)
    paid.event("watch.lost", "3/1", HOUR, 3 * HOUR)
    paid.event("watch.lost", "4/1", 0, HOUR)
    assert paid.hours_and_money() == (5, Decimal("50.00")) and paid.found().assumed[-1] == BY_CHIP
    paid.event("watch.driver", "", 10 * HOUR, 11 * HOUR, CHIPS)
    assert paid.hours_and_money() == (21, Decimal("210.00"))
    paid.contract(price=Money(Decimal("80"), "CNY"), price_unit="node_hour")
    assert paid.hours_and_money() == (21, Decimal("105.00")), "a sixteenth of the node each"
    paid.count(8, "npu.count")
    assert paid.hours_and_money() == (12, Decimal("120.00")) and BY_CHIP not in paid.found().assumed


def test_that_a_count_that_is_neither_of_chips_nor_of_modules_claims_less_and_says_so(paid):
    paid.read(*CHIPS, metric="npu.power_w")
    paid.count(12, "npu.count")
    paid.event("watch.lost", "3/0", 0, 2 * HOUR)
    paid.event("watch.lost", "3/1", HOUR, 3 * HOUR)
    assert paid.hours_and_money() == (3, Decimal("30.00"))
    assert paid.found().assumed[-1].en == "the contract states 12 cards, seen were 8 modules with 16 chips: counted by module"


def test_that_chips_that_were_taken_away_by_agreement_are_as_many_cards_as_they_are_paid_for(paid, desk):
    paid.read(*CHIPS, metric="npu.power_w")
    for chip in ("0/0", "0/1"):
        desk.write(lambda db, chip=chip: take_away(db, "n1", Away(chip, datetime.fromtimestamp(BEGIN, UTC), "li", "to the shop")))
    paid.event("watch.driver", "", HOUR, 2 * HOUR, CHIPS[2:])
    for stated, left in ((16, 14), (8, 7)):
        paid.count(stated, "npu.count")
        assert paid.hours_and_money()[0] == left


def test_that_a_corrected_count_makes_no_day_on_which_the_wrong_one_was_owed(paid):
    """80 typed for 8 on the first day, corrected on the third."""
    paid.zone("UTC")
    paid.count(80, at=datetime(2026, 3, 2, 9, tzinfo=UTC))
    for day in range(4):
        paid.event("watch.driver", "", day * 24 * HOUR, day * 24 * HOUR + HOUR, ("GPU-a",))
    assert paid.hours_and_money() == (320, Decimal("3200.00"))
    said = paid.found().assumed
    paid.count(8, at=datetime(2026, 3, 4, 9, tzinfo=UTC))
    assert paid.hours_and_money() == (32, Decimal("320.00"))
    told = [one for one in paid.found().assumed if one not in said]
    assert [one.en.partition(":")[0] for one in told] == ["8 cards count, though 80 were written down then"]
    assert paid.found(48 * HOUR).assumed == said, "from the day of the correction on nothing else stood there"


def test_that_each_day_has_the_count_that_the_terms_of_its_contract_give_it(paid):
    """8 cards, and 16 from 4 March on: the days before stay as they were once the contract says so."""
    paid.zone("UTC")
    paid.count(8, at=datetime(2026, 3, 3, 9, tzinfo=UTC))
    for day in range(4):
        paid.event("watch.driver", "", day * 24 * HOUR, day * 24 * HOUR + HOUR, ("GPU-a",))
    assert paid.hours_and_money() == (32, Decimal("320.00"))
    said = paid.found().assumed
    paid.count(12, at=datetime(2026, 3, 4, 9, tzinfo=UTC))
    paid.count(16, at=datetime(2026, 3, 4, 10, tzinfo=UTC))
    assert paid.hours_and_money() == (64, Decimal("640.00"))
    paid.earlier((date(2026, 3, 3), 8))
    assert paid.hours_and_money() == (8 + 8 + 16 + 16, Decimal("480.00"))
    assert [one.en for one in paid.found().assumed if one not in said] == [
        "the contract states 8 cards until 2026-03-04 and 16 from then on; each day counts by its own"
    ]
    assert paid.found(0, 30 * HOUR).assumed == said, "none of these days is after the change"
    paid.contract(price=Money(Decimal("80"), "CNY"), price_unit="node_hour")
    assert paid.hours_and_money() == (48, Decimal("320.00")), "the node is paid for, whatever is in it"


@pytest.mark.parametrize(("until", "cards"), [(date.max, 4), (None, 4), (date(2025, 1, 1), 4)])
def test_that_a_row_that_says_up_to_no_day_of_the_period_changes_nothing(paid, until, cards):
    paid.count(8)
    paid.event("watch.driver", "", 0, HOUR, ("GPU-a",))
    paid.earlier((until, cards))
    assert paid.hours_and_money() == (8, Decimal("80.00"))


_FIGURE = st.integers(1, 100)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(typed=st.lists(st.tuples(st.integers(0, 5), _FIGURE), max_size=4), now=_FIGURE, rows=st.dictionaries(st.integers(-1, 6), _FIGURE, max_size=3))
def test_that_money_follows_from_what_stands_and_its_dates_alone_to_the_cent_whatever_was_typed_before(paid, desk, typed, now, rows):
    """An hour without the driver on each of six days, at 10 a card-hour."""
    desk.write(lambda db: [db.execute(f"DELETE FROM {table}") for table in ("watch_events",)])
    paid.zone("UTC")
    for day, figure in sorted(typed):
        paid.count(figure, at=datetime(2026, 3, 2 + day, 9, tzinfo=UTC))
    paid.count(now, at=datetime(2026, 3, 8, 9, tzinfo=UTC))
    paid.earlier(*((date(2026, 3, 2) + timedelta(days=until), cards) for until, cards in rows.items()))
    for day in range(6):
        paid.event("watch.driver", "", day * 24 * HOUR, day * 24 * HOUR + HOUR, ("GPU-a",))
    owed = sum(next((rows[until] for until in sorted(rows) if day <= until), now) for day in range(6))
    assert paid.hours_and_money() == (owed, Decimal(10 * owed))


def test_that_a_day_of_which_nothing_was_read_has_the_cards_of_before(paid):
    paid.zone("UTC")
    paid.read("GPU-a", "GPU-b")
    paid.read(*(f"GPU-{n}" for n in range(8)), begin_s=72 * HOUR)
    for day in range(1, 4):
        paid.event("watch.driver", "", day * 24 * HOUR, day * 24 * HOUR + HOUR)
    assert paid.hours_and_money() == (2 + 2 + 8, Decimal("120.00"))


def test_that_the_chips_of_a_module_that_was_replaced_in_its_place_are_one_card(paid):
    paid.read(*CHIPS, "0@0000:D1:00.0/0", "0@0000:D1:00.0/1", metric="npu.power_w")
    paid.count(8, "npu.count")
    for chip in ("0@0000:D1:00.0/0", "0@0000:D1:00.0/1"):
        paid.event("watch.lost", chip, 0, HOUR)
    assert paid.hours_and_money() == (1, Decimal("10.00"))


def test_that_the_price_of_a_node_is_shared_by_its_modules(paid):
    paid.contract(price=Money(Decimal("80"), "CNY"), price_unit="node_hour")
    paid.read(*CHIPS, metric="npu.power_w")
    paid.event("watch.driver", "", 0, HOUR, CHIPS)
    paid.event("watch.lost", "0/1", 2 * HOUR, 3 * HOUR)
    assert paid.hours_and_money() == (9, Decimal("90.00")), "the node for an hour, and an eighth of it"


def test_that_idle_time_of_a_module_is_that_of_both_its_chips_once(paid, desk):
    for chip in ("0/0", "0/1"):
        paid.event("watch.idle", chip, 0, HOUR)
    with desk.workspace.read() as connection:
        assert read_watched(connection, BEGIN, BEGIN + 2 * HOUR).idle_card_hours == 1.0
    paid.read(*CHIPS, metric="npu.power_w")
    for stated, hours in ((8, 1.0), (16, 2.0), (12, 1.0)):
        paid.count(stated, "npu.count")
        with desk.workspace.read() as connection:
            assert read_watched(connection, BEGIN, BEGIN + 2 * HOUR).idle_card_hours == hours


def test_that_no_second_of_a_card_counts_as_idle_and_as_degraded(paid, desk):
    """Whatever its events say: those of an older program, or of another computer, may lie over each other."""
    def idle_s():
        with desk.workspace.read() as connection:
            found = read_watched(connection, BEGIN, BEGIN + 2 * HOUR)
            return round(found.idle_card_hours * HOUR, 3)

    for card in ("GPU-a", "GPU-b"):
        paid.event("watch.idle", card, 0, 1000)
    assert idle_s() == 2000
    paid.event("watch.lost", "GPU-a", 100, 140)
    paid.event("watch.throttled", "GPU-a", 120, 160)
    paid.event("watch.lost", "GPU-c", 0, 1000)
    assert idle_s() == 1940
    paid.event("watch.driver", "", 990, 1100, ("GPU-a", "GPU-b"))
    assert idle_s() == 1920
    paid.event("watch.lost", "GPU-b", -50, 2000)
    assert idle_s() == 930


def test_that_a_time_in_which_no_node_was_read_is_told_from_one_in_which_nothing_was_under_promise(paid, desk):
    def seen(since_s):
        with desk.workspace.read() as connection:
            return read_watched(connection, since_s, BEGIN + 24 * HOUR).seen

    assert not seen(BEGIN)
    paid.read("GPU-a")
    assert seen(BEGIN) and not seen(BEGIN + 12 * HOUR)


def test_that_what_is_paid_for_and_was_never_seen_is_degraded_while_the_driver_does_not_answer(paid):
    paid.read("GPU-a", "GPU-b")
    paid.event("watch.driver", "", 0, HOUR, ("GPU-a", "GPU-b"))
    assert paid.hours_and_money() == (2, Decimal("20.00")), "nobody says how many cards there should be"
    paid.count(8)
    assert paid.hours_and_money() == (8, Decimal("80.00"))
    paid.event("watch.driver", "", 2 * HOUR, 3 * HOUR)
    assert paid.hours_and_money() == (16, Decimal("160.00")), "an event that names no card"
    paid.event("watch.lost", "GPU-b", 0, 4 * HOUR)
    assert paid.hours_and_money() == (18, Decimal("180.00")), "a lost card is one of the eight"
    paid.count(1)
    assert paid.hours_and_money() == (4, Decimal("40.00")), "no more than is paid for"


def test_that_no_more_cards_are_degraded_at_once_than_are_paid_for(paid):
    for place in range(12):
        paid.event("watch.lost", f"GPU-{place}", place, HOUR)
    paid.count(8)
    assert paid.hours_and_money()[0] == 8 - Fraction(sum(range(8)), HOUR)


def test_that_a_card_that_was_taken_away_by_agreement_is_not_missed_behind_a_silent_driver(paid, desk):
    paid.count(8)
    at = datetime.fromtimestamp(BEGIN + HOUR, UTC)
    desk.write(lambda db: take_away(db, "n1", Away("GPU-a", at, "li", "to the shop")))
    desk.write(lambda db: are_back(db, "n1", ["GPU-a"], at + timedelta(hours=1)))
    paid.event("watch.driver", "", 0, 3 * HOUR, ("GPU-b",))
    assert paid.hours_and_money() == (8 + 7 + 8, Decimal("230.00"))


def test_that_a_contract_begins_and_ends_at_midnight_of_the_suppliers_zone(paid):
    paid.contract(start=date(2026, 3, 2), end=date(2026, 3, 2))
    paid.event("watch.lost", "GPU-a", -24 * HOUR, 24 * HOUR)
    paid.zone("Asia/Shanghai")
    assert paid.hours_and_money() == (48, Decimal("240.00")), "from 16:00 UTC of the day before to 16:00 UTC of that day"
    assert paid.found(-24 * HOUR, -16 * HOUR).money is None and paid.found(8 * HOUR, 9 * HOUR).money is None
    assert paid.found(-16 * HOUR, -15 * HOUR).money == Money(Decimal("10.00"), "CNY")
    assert paid.found().assumed[-1] == Text("days as in Asia/Shanghai, the supplier's zone", "日期按供应商时区 Asia/Shanghai")
    paid.zone("UTC-8")
    assert paid.found(0, HOUR).assumed[-1].en == "days as in UTC-08:00, the supplier's zone"
    assert paid.found(-HOUR, 0).money is None, "8:00 UTC is midnight there"
    paid.named("Asia/Tokyo")
    assert paid.found().assumed[-1] == Text("days as in Asia/Tokyo, as the contract says", "日期按合同时区 Asia/Tokyo")
    assert paid.hours_and_money() == (48, Decimal("240.00")) and paid.found(-17 * HOUR, -16 * HOUR).money == Money(Decimal("10.00"), "CNY")
    paid.named("as usual")
    assert paid.found(0, HOUR).assumed[-1].en == "days as in UTC-08:00, the supplier's zone"


def test_that_a_price_changes_at_midnight_of_the_suppliers_zone_and_a_day_may_have_25_hours(paid, desk):
    paid.contract(start=date(2026, 10, 1), end=date(2026, 10, 31))
    paid.zone("Europe/Berlin")
    later = Price("p2", Money(Decimal("20"), "CNY"), "gpu_hour", valid_from=date(2026, 10, 25))
    last = Price("p3", Money(Decimal("40"), "CNY"), "gpu_hour", valid_from=date(2026, 10, 26))
    for price in (later, last):
        desk.write(lambda db, price=price: save_price(db, Subject(HolderOf.CONTRACT, "c1"), price))
    begin_s = datetime(2026, 10, 24, 21, tzinfo=UTC).timestamp() - BEGIN
    paid.event("watch.lost", "GPU-a", begin_s, begin_s + 27 * HOUR)
    found = paid.found(0, 300 * 86_400)
    assert (found.card_hours, found.money) == (27, Money(Decimal(10 + 25 * 20 + 40), "CNY"))


def test_that_a_price_that_does_not_hold_on_the_day_is_told(paid, desk):
    desk.write(lambda db: save_price(db, Subject(HolderOf.CONTRACT, "c1"), Price("c1", Money(Decimal("10"), "CNY"), "gpu_hour", valid_to=date(2026, 3, 1))))
    paid.event("watch.lost", "GPU-a", 0, HOUR)
    assert [one.en for one in paid.found().assumed] == ["the price was valid until 2026-03-01", Days().words.en]


def test_that_days_are_those_of_this_computer_where_no_supplier_says_otherwise(paid, desk, monkeypatch):
    def days():
        with desk.workspace.read() as connection:
            return days_of(connection, "c1")

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        for zones in ((), ("",), ("next door",), ("Asia/Shanghai", "Europe/Berlin")):
            paid.zone(*zones)
            assert days() == Days() and days().begin_s(date(2026, 3, 2)) == datetime(2026, 3, 1, 15, tzinfo=UTC).timestamp()
            assert days().of(datetime(2026, 3, 1, 15, tzinfo=UTC).timestamp()) == date(2026, 3, 2)
    finally:
        monkeypatch.undo()
        time.tzset()
    paid.zone("", "Asia/Shanghai", "北京时间")
    assert days().zone == ZoneInfo("Asia/Shanghai")


@pytest.mark.parametrize(("words", "offset_h"), [
    ("UTC+8", 8), ("utc+08:00", 8), ("+0530", 5.5), ("GMT-3", -3), ("UTC", 0), ("Z", 0), ("UTC+15", None), ("CST", None), ("+8 or so", None),
    ("../../etc/localtime", None), ("Asia/Nowhere", None), ("", None), ("A" * 5000, None),
])  # fmt: skip
def test_that_a_zone_is_what_can_be_read_as_one(words, offset_h):
    expected = None if offset_h is None else timezone(timedelta(hours=offset_h))
    assert zone_from(words) == expected


def test_that_one_day_ends_where_the_next_begins():
    for zone in ("Europe/Berlin", "America/Havana", "Asia/Shanghai", "America/New_York", "Pacific/Auckland"):
        days = Days(ZoneInfo(zone))
        for n in range(366):
            day = date(2026, 1, 1) + timedelta(days=n)
            begin_s, end_s = days.bounds_s(day)
            assert 23 <= (end_s - begin_s) / 3600 <= 25 and (days.of(begin_s), days.of(end_s - 1)) == (day, day)
            assert days.between(begin_s, end_s) == (day,)


def test_that_each_contract_pays_for_its_own_time_in_its_own_days(paid, desk):
    """One card, and a move in the middle: the first contract pays for 2 cards, the second for 4."""
    second = replace(desk.contract, id="c2", price=Money(Decimal("5"), "CNY"))
    desk.write(lambda db: save_contract(db, second))
    paid.count(2)
    claim = Claim("gpu.count", 4, ClaimState.ANSWERED)
    desk.write(lambda db: claims.save_claim(db, claims.Holder.contract("c2"), claim, by="li", at=desk.noon))
    paid.event("watch.driver", "", 0, 2 * HOUR, ("GPU-a",))
    desk.node = replace(desk.node, name="renamed", contract_id="c2")
    moved = datetime.fromtimestamp(BEGIN + HOUR, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    desk.write(lambda db: [save_node(db, desk.node), db.execute("UPDATE marks SET at = ? WHERE kind = 'contract'", (moved,))])
    assert paid.hours_and_money() == (2 + 4, Decimal(2 * 10 + 4 * 5))


@pytest.mark.parametrize("words", ["", "li wrote a note", "[1]", "null", '{"card":7,"before":7}', "{}", "[" * 100_000])
def test_that_a_mark_of_a_merged_workspace_that_says_nothing_changes_nothing(paid, desk, words):
    paid.count(8)
    paid.event("watch.driver", "", 0, HOUR, ("GPU-a",))
    for kind in ("contract", "card_away", "card_back"):
        mark = (f"m-{kind}", "n1", "2026-03-02T08:30:00.000000Z", kind, words)
        desk.write(lambda db, mark=mark: db.execute("INSERT INTO marks (id, node_id, at, kind, words) VALUES (?, ?, ?, ?, ?)", mark))
    assert paid.hours_and_money() == (8, Decimal("80.00"))
    with desk.workspace.read() as connection:
        assert (list_away(connection, "n1"), away_now(connection, "n1")) == ((), {})


def test_that_the_hours_of_a_contract_that_is_not_here_have_no_price(paid, desk):
    mark = ("m", "n1", "2026-03-02T08:30:00.000000Z", "contract", '{"before":"elsewhere","after":"c1"}')
    desk.write(lambda db: db.execute("INSERT INTO marks (id, node_id, at, kind, words) VALUES (?, ?, ?, ?, ?)", mark))
    paid.event("watch.lost", "GPU-a", 0, HOUR)
    assert paid.hours_and_money() == (1, Decimal("5.00"))
    assert paid.found().assumed[0].en == "0.50 of them outside the time of the contract, not priced"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_that_no_events_cost_more_than_the_period_is_paid(paid, desk, data):
    """Whatever lies over each other on N cards: no more than N cards for T seconds, at the price of that time."""
    names = ("GPU-a", "GPU-b", "GPU-c", "GPU-d")
    paid.read(*names)
    per_node, stated = data.draw(st.booleans(), "per node"), data.draw(st.sampled_from((2, 4, 6, None)), "cards of the contract")
    cards, length_s = stated or len(names), 2 * 86_400
    node_hour = Decimal(8) if per_node else Decimal(2) * cards
    paid.contract(price=Money(node_hour if per_node else Decimal(2), "CNY"), price_unit="node_hour" if per_node else "gpu_hour")
    paid.count(stated)
    desk.write(lambda db: db.execute("DELETE FROM watch_events"))
    for _ in range(data.draw(st.integers(1, 8), "events")):
        begin_s, end_s = sorted(data.draw(st.tuples(*[st.integers(0, length_s)] * 2), "seconds"))
        subject = data.draw(st.sampled_from(("", *names)), "card")
        rule = data.draw(st.sampled_from(("watch.lost", "watch.floor", "watch.throttled"))) if subject else "watch.driver"
        paid.event(rule, subject, begin_s, end_s, () if subject else names)
    found = paid.found(0, length_s)
    assert 0 <= found.card_hours <= Fraction(cards * length_s, HOUR)
    if found.money is not None:
        assert found.money.amount <= node_hour * length_s / HOUR


def test_that_a_node_that_is_gone_for_a_year_costs_the_price_of_its_months_to_the_cent(paid):
    """The price of a card-hour has six decimals where it is shown, which is too few for a year of eight cards."""
    paid.contract(start=None, end=None, price=Money(Decimal("120000.01"), "CNY"), price_unit="node_month")
    paid.count(8)
    paid.event("watch.driver", "", 0, 8760 * HOUR, [f"GPU-{n}" for n in range(8)])
    found = paid.found(0, 8760 * HOUR)
    assert (found.card_hours, found.money) == (8 * 8760, Money(Decimal("1440000.12"), "CNY"))


ZONES = ("Europe/Berlin", "America/Havana", "Africa/Cairo", "Asia/Kathmandu", "America/Sao_Paulo")
UNITS = {"gpu_hour": Fraction(1), "node_hour": Fraction(1, 4), "node_month": Fraction(1, 4 * 730), "gpu_month": Fraction(1, 730)}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_that_hours_and_money_are_those_that_a_count_minute_by_minute_gives(paid, desk, data):
    """Cards that are lost beside each other and with the whole node, days of 23 and 25 hours, another price each day: exact, and rounded once."""
    names, minutes = ("GPU-a", "GPU-b", "GPU-c", "GPU-d"), 4 * 1440
    zone = data.draw(st.sampled_from(ZONES), "zone")
    months = {"Africa/Cairo": (2026, 4, 22), "Asia/Kathmandu": (2026, 3, 1), "America/Sao_Paulo": (2018, 11, 2), "America/Havana": (2026, 10, 30)}
    first = datetime(*months.get(zone, (2026, 10, 23)), 5, tzinfo=UTC).timestamp()
    unit = data.draw(st.sampled_from(sorted(UNITS)), "unit")
    desk.write(lambda db: db.execute("DELETE FROM watch_events"))
    paid.contract(start=None, end=None)
    paid.zone(zone)
    paid.count(4)
    days = sorted({datetime.fromtimestamp(first + 60 * n, ZoneInfo(zone)).date() for n in range(0, minutes, 30)})
    prices = {day: Decimal(data.draw(st.integers(1, 10**7), f"price of {day}")) / 100 for day in days}
    for day, amount in prices.items():
        one = Price(f"p-{day}", Money(amount, "CNY"), unit, valid_from=day, valid_to=day)
        desk.write(lambda db, one=one: save_price(db, Subject(HolderOf.CONTRACT, "c1"), one))
    spans = []
    for _ in range(data.draw(st.integers(1, 8), "events")):
        begin, end = sorted(data.draw(st.tuples(*[st.integers(0, minutes)] * 2), "minutes"))
        subject = data.draw(st.sampled_from(("", *names)), "card")
        spans.append((subject, begin, end))
        paid.event("watch.lost" if subject else "watch.driver", subject, first - BEGIN + 60 * begin, first - BEGIN + 60 * end, () if subject else names)
    card_minutes, money = 0, Fraction(0)
    for minute in range(minutes):
        lost = {subject for subject, begin, end in spans if begin <= minute < end}
        cards = 4 if "" in lost else len(lost)
        card_minutes += cards
        if cards:
            money += cards * Fraction(prices[datetime.fromtimestamp(first + 60 * minute, ZoneInfo(zone)).date()]) * UNITS[unit] / 60
    found = paid.found(first - BEGIN, first - BEGIN + 60 * minutes)
    assert found.card_hours == Fraction(card_minutes, 60)
    if card_minutes:
        assert found.money == Money(half_up(money, 2), "CNY")
