"""Do the events of watched nodes come along to another computer as they are, with what their cards are called?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.watch_dialog import _how_bad, read_seen, whole_words
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.services.degraded import OTHERS, degraded_in
from gpulease_gui.services.events import Bus
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.services.live_events import happened
from gpulease_gui.services.watch_ends import unseen_ends
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.store import evidence, nodes, watch_events
from gpulease_gui.store.card_names import get_names, get_numbers, keep_names, keep_numbers
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.imported import imported_events, note_imported_events
from gpulease_gui.store.records import EvidenceBlob, Mark
from gpulease_gui.store.samples import save_mark
from gpulease_gui.store.settings import get_setting, save_setting
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.watch_events import WatchEvent
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.source import Point

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
NODE = Node("n1", "节点 7", Reach.SSH, Address("10.0.0.7", 22, "ops"))
BEGAN_NS = int(NOW.timestamp()) * 1_000_000_000 + 123_456_789  # beyond 2**53: no float has it
HOUR_NS = 3_600_000_000_000
READINGS = b"unit\tW\n\n%d.123\t350.25\n" % (BEGAN_NS // 1_000_000_000)


def event(id_: str, *, ended_ns: int | None = BEGAN_NS + HOUR_NS, rule: str = "watch.floor", subject: str = "GPU-b", node: str = "n1") -> WatchEvent:
    finding = Finding(rule, Verdict.FAIL, Text("too little", "不足"), "gpu.power_w", 700.0, 350.25, "W", (SubjectFinding("GPU-b", Verdict.FAIL, 350.25),),
                      evidence=(EvidenceBlob.of(READINGS).sha256,), required=True)  # fmt: skip
    return WatchEvent(id_, node, rule, subject, BEGAN_NS, ended_ns, True, finding)


def keep(db, one: WatchEvent, *, seen: bool = False) -> None:
    watch_events.save_event(db, one, EvidenceBlob.of(READINGS))
    if seen:
        save_mark(db, Mark(f"{one.id}-end", one.node_id, NOW, "watch", f"{one.rule}\t{one.subject}\tend"))


def signs(db, watch: str) -> None:
    """The watch is alive and holds something open."""
    save_setting(db, f"watching:{watch}", BEGAN_NS + HOUR_NS)


STEPS = (
    lambda db: nodes.save_node(db, NODE),
    lambda db: keep(db, event("dead.e1")),
    lambda db: keep(db, event("live.e2", rule="watch.lost", ended_ns=BEGAN_NS), seen=True),
    lambda db: keep(db, event("live.e3", ended_ns=None)),
    lambda db: keep(db, event("live.e4")),  # somebody else ended it; its watch is there and may hold it open again
    lambda db: signs(db, "live"),
    lambda db: save_mark(db, Mark("note1", "n1", NOW, "note", "供应商来电")),
    lambda db: keep_numbers(db, "n1", {"GPU-a": 0, "GPU-b": 1}),
    lambda db: keep_names(db, "n1", {"npu": {"0000:C1:00.0": "7/0"}}),
    lambda db: keep_numbers(db, "gone", {"GPU-x": 0}),
    lambda db: save_setting(db, "node.ssh_options.n1", "BindAddress 10.0.0.1"),
)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Workspace]]:
    opened: list[Workspace] = []

    def made(name: str, *steps: Callable[..., object]) -> Workspace:
        opened.append(Workspace.open(tmp_path / f"{name}.db"))
        for step in steps:
            opened[-1].submit(step).result(30)
        return opened[-1]

    yield made
    for workspace in opened:
        workspace.close()


def said_of(workspace: Workspace) -> bytes:
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def look(workspace: Workspace, data: bytes):
    bundle = valid_bundle(parse_bundle(data), CATALOGUE)
    with workspace.read() as connection:
        return merge_in(connection, bundle, demo=False)


def merged(workspace: Workspace, data: bytes):
    found = look(workspace, data)
    workspace.submit(lambda db: apply_merge(db, found, "theirs.json")).result(30)
    return found


def rows(workspace: Workspace) -> list[tuple]:
    with workspace.read() as connection:
        return connection.execute("SELECT id, began_ns, ended_ns, typeof(began_ns), typeof(ended_ns) FROM watch_events ORDER BY id").fetchall()


def test_that_events_that_are_over_come_out_as_they_went_in_to_the_nanosecond(make):
    here, there = make("here", *STEPS), make("there")
    data = said_of(here)
    said = json.loads(data)
    assert [(one["id"], one["began_ns"], one["ended_ns"]) for one in said["watch_events"]] == [
        ("dead.e1", str(BEGAN_NS), str(BEGAN_NS + HOUR_NS)), ("live.e2", str(BEGAN_NS), str(BEGAN_NS)),
    ]  # fmt: skip
    assert len(said["contents"]) == 1 and b"ssh_options" not in data and b"watching:" not in data and b"GPU-x" not in data
    assert merged(there, data).counts()["watch_events"] == (2, 0)
    assert said_of(there) == data
    assert rows(there) == [
        ("dead.e1", BEGAN_NS, BEGAN_NS + HOUR_NS, "integer", "integer"), ("live.e2", BEGAN_NS, BEGAN_NS, "integer", "integer"),
    ]  # fmt: skip
    with here.read() as ours, there.read() as theirs:
        told = [watch_events.list_events(connection, "n1", 0, 2**62) for connection in (ours, theirs)]
        assert tuple(replace(one, imported=None) for one in told[1]) == tuple(one for one in told[0] if one.id in ("dead.e1", "live.e2"))
        assert evidence.get_content(theirs, told[1][0].finding.evidence[0]) == READINGS
        assert unseen_ends(theirs, "n1", told[1]) == {"dead.e1"}
        assert (get_numbers(theirs, "n1"), get_names(theirs, "n1")) == ({"GPU-a": 0, "GPU-b": 1}, {"npu": {"0000:C1:00.0": "7/0"}})
        assert degraded_in(theirs, NODE, 0, NOW.timestamp() + 86_400).card_hours == Fraction(1)


def test_that_the_same_file_twice_doubles_nothing_and_its_own_workspace_takes_nothing_from_it(make):
    here, there = make("here", *STEPS), make("there")
    data = said_of(here)
    merged(there, data)
    before = rows(there)
    again = merged(there, data)
    assert (again.has_work, again.kept, rows(there)) == (False, (), before)
    own = merged(here, said_of(there))
    assert (own.has_work, own.kept, len(rows(here))) == (False, (), 4)


def test_that_an_event_that_goes_on_here_is_not_ended_by_a_file(make):
    here = make("here", *STEPS)
    said = json.loads(said_of(here))
    said["watch_events"][0]["id"] = "live.e3"
    assert not merged(here, json.dumps(said).encode()).has_work
    assert rows(here)[2][:3] == ("live.e3", BEGAN_NS, None)


def test_that_cards_keep_what_they_are_called_here_and_only_others_are_added(make):
    here, there = make("here", *STEPS), make("there")
    merged(there, said_of(here))
    for step in (
        lambda db: keep_numbers(db, "n1", {"GPU-a": 0, "GPU-c": 1, "GPU-d": 5}),
        lambda db: keep_names(db, "n1", {"npu": {"0000:E1:00.0": "3/0"}}),
    ):
        there.submit(step).result(30)
    here.submit(lambda db: keep_numbers(db, "n1", {"GPU-new": 7, "GPU-e": 5})).result(30)
    here.submit(lambda db: keep_names(db, "n1", {"npu": {"0000:F1:00.0": "3/0", "0000:A1:00.0": "1/0"}})).result(30)
    data = said_of(here)
    merged(there, data)
    with there.read() as connection:
        assert get_numbers(connection, "n1") == {"GPU-a": 0, "GPU-c": 1, "GPU-d": 5, "GPU-new": 7}
        assert get_names(connection, "n1") == {"npu": {"0000:C1:00.0": "7/0", "0000:E1:00.0": "3/0", "0000:A1:00.0": "1/0"}}
    assert not look(there, data).has_work


def test_that_a_name_that_a_watch_told_while_the_merge_was_looked_at_stays(make):
    here, there = make("here", *STEPS), make("there", STEPS[0])
    found = look(there, said_of(here))
    there.submit(lambda db: keep_numbers(db, "n1", {"GPU-z": 1})).result(30)
    there.submit(lambda db: apply_merge(db, found, "theirs.json")).result(30)
    with there.read() as connection:
        assert get_numbers(connection, "n1") == {"GPU-z": 1, "GPU-a": 0}


def first(**changes):
    return lambda said: said["watch_events"][0].update(changes)


def finding(said, **changes):
    one = said["watch_events"][0]
    one["document"] = json.dumps({**json.loads(one["document"]), **changes})


def setting(key, value):
    return lambda said: said["settings"].append({"key": key, "value": json.dumps(value)})


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ('watch_events[0].began_ns can\'t be 1', first(began_ns=1)),
        ('watch_events[0].began_ns can\'t be "-1"', first(began_ns="-1")),
        ('watch_events[0].began_ns can\'t be "01"', first(began_ns="01")),
        ('watch_events[0].began_ns can\'t be "1e3"', first(began_ns="1e3")),
        ('watch_events[0].began_ns can\'t be "\\u0661"', first(began_ns="١")),
        ('watch_events[0].ended_ns can\'t be "9223372036854775808"', first(ended_ns="9223372036854775808")),
        ('watch_events[0].ended_ns can\'t be "999', first(ended_ns="9" * 10_000)),
        ("watch_events[0].ended_ns can't be null", first(ended_ns=None)),
        ("watch_events dead.e1: it ends at 5 ns, before it begins at", first(ended_ns="5")),
        ("watch_events[0].degraded can't be 2", first(degraded=2)),
        ("watch_events[0].degraded can't be true", first(degraded=True)),
        ("watch_events[0].subject can't be", first(subject="x" * 1001)),
        ("watch_events[0].subject can't be 7", first(subject=7)),
        ("watch_events[0].id can't be", first(id="x" * 1001)),
        ("watch_events[0].rule can't be [", first(rule=["watch.floor"])),
        ("watch_events[0].sha256 can't be", first(sha256="0" * 63)),
        ("watch_events[0].document can't be", first(document="{}")),
        ("watch_events[0].document can't be", lambda said: finding(said, reason={"en": "x" * 4_000_000, "zh": ""})),
        ("its finding is of 'watch.hot', not of 'watch.floor'", lambda said: finding(said, check="watch.hot")),
        ("its finding names other evidence", lambda said: finding(said, evidence=[])),
        ("refers to 'n9', which is neither in it nor here", first(node_id="n9")),
        ("watch_events dead.e1: 'watch.evil'", lambda said: (finding(said, check="watch.evil"), first(rule="watch.evil")(said))),
        ("the content of a record of watch_events is missing", lambda said: said["contents"].clear()),
        ("watch_events holds a record twice", lambda said: said["watch_events"].append(said["watch_events"][0])),
        ("watch_events is no list", lambda said: said.update(watch_events={})),
        ("settings: cards.numbers.n1 can't be 7", lambda said: said["settings"].clear() or setting("cards.numbers.n1", 7)(said)),
        ("a record of settings refers to 'n9', which is neither in it nor here", setting("cards.names.n9", "npu\ta\tb")),
    ],
)  # fmt: skip
def test_that_a_hostile_event_is_refused_in_words_and_nothing_is_written(make, words, change):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there", lambda db: nodes.save_node(db, NODE), lambda db: keep(db, event("ours.e1")))
    before = said_of(there)
    change(said)
    with pytest.raises(UserFacing) as trouble:
        merged(there, json.dumps(said).encode())
    assert words in str(trouble.value) and trouble.value.next_step
    assert said_of(there) == before and len(rows(there)) == 1


def test_that_an_event_that_is_known_with_another_end_is_refused(make):
    here = make("here", *STEPS)
    said = json.loads(said_of(here))
    said["watch_events"][0]["ended_ns"] = str(BEGAN_NS + 1)
    with pytest.raises(UserFacing, match="another watch_event dead"):
        merged(here, json.dumps(said).encode())
    assert rows(here)[0][2] == BEGAN_NS + HOUR_NS


def test_that_a_file_sets_nothing_of_this_computer(make):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    for key in ("node.ssh_options.n1", "user.name", "watching:x", "cards.names."):
        setting(key, "BindAddress 10.6.6.6")(said)
    merge = merged(there, json.dumps(said).encode())
    assert merge.bundle.unknown == ("settings: node.ssh_options.n1", "settings: user.name", "settings: watching:x", "settings: cards.names.")
    with there.read() as connection:
        assert [get_setting(connection, key, "") for key in ("node.ssh_options.n1", "user.name", "cards.names.")] == ["", "", ""]


def test_that_what_a_file_calls_cards_is_cleaned(make):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    said["settings"].clear()
    lines = ["GPU-a\t3", "GPU-evil\u202e\t4", "GPU-b\t3", "GPU-c\t12345", "x" * 129 + "\t6", "none", *(f"GPU-{n}\t{n}" for n in range(10, 2000))]
    setting("cards.numbers.n1", "\n".join(lines))(said)
    merged(there, json.dumps(said).encode())
    with there.read() as connection:
        told = get_numbers(connection, "n1")
    assert (told["GPU-a"], "GPU-evil\u202e" in told, "GPU-b" in told, "GPU-c" in told, len(told)) == (3, False, False, False, 1019)


def test_that_a_file_of_before_without_events_comes_in_as_before(make):
    said = json.loads(said_of(make("here", *STEPS)))
    del said["watch_events"]
    said["settings"] = []
    there = make("there")
    merged(there, json.dumps(said).encode())
    assert rows(there) == []
    with there.read() as connection:
        assert [node.id for node in nodes.list_nodes(connection)] == ["n1"]
        assert connection.execute("SELECT words FROM marks WHERE id = 'note1'").fetchall() == [("供应商来电",)]


def test_that_a_file_of_version_one_knows_no_events(make):
    said = {"format": "gpulease-exchange", "version": 1, "made_at": "", "tool_version": "", "demo": False, "watch_events": [{"id": 7}]}
    bundle = parse_bundle(json.dumps(said).encode())
    assert (bundle.records, bundle.unknown) == ((), ("watch_events",))


def test_that_what_ends_in_the_time_to_come_is_left_out_and_named(make):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    first(ended_ns=str(2**63 - 1))(said)
    found = merged(there, json.dumps(said).encode())
    assert found.bundle.unknown == ("watch_events: dead.e1 ends in the time to come",)
    assert [row[0] for row in rows(there)] == ["live.e2"]


def mark(kind, words):
    return lambda said: said["marks"].append({"id": "m9", "node_id": "n1", "run_id": None, "at": "2026-12-01T09:00:00.000000Z", "kind": kind, "words": words})


@pytest.mark.parametrize(
    ("kind", "words", "taken"),
    [
        ("clock", "2026-12-01T10:00:00.000000Z", True), ("clock", "2026-12-01T10:00:00", False), ("clock", "yesterday", False),
        ("report", "5\t6", True), ("report", "²\t6", False), ("report", "5", False), ("report", "9" * 5000 + "\t6", False),
        ("note", "x" * 1000, True), ("note", "x" * 1001, False), ("watch", "watch.of_tomorrow\tGPU-a\tbegin", True),
    ],
)  # fmt: skip
def test_that_a_mark_that_could_not_be_shown_is_refused(make, kind, words, taken):
    said, there = json.loads(said_of(make("here", *STEPS))), make("there")
    mark(kind, words)(said)
    if taken:
        assert merged(there, json.dumps(said).encode()).counts()["marks"] == (3, 0)
        return
    with pytest.raises(UserFacing, match=f"a mark of the bundle can't be meant. marks m9: {kind} can't be"):
        merged(there, json.dumps(said).encode())
    assert rows(there) == []


def test_that_no_file_says_of_a_run_or_an_event_of_ours_that_it_was_imported(make):
    here = make("here", *STEPS)
    said = json.loads(said_of(here))
    mark("imported", "theirs.json")(said)
    found = merged(here, json.dumps(said).encode())
    assert (found.bundle.unknown, found.has_work) == (("marks: imported",), False)


def test_that_an_event_says_that_it_came_in_a_file_and_its_own_workspace_says_nothing(make):
    here, there = make("here", *STEPS), make("there")
    merged(there, said_of(here))
    own = json.loads(said_of(there))
    merged(here, said_of(there))
    merged(there, said_of(here))
    assert [one["kind"] for one in own["marks"]] == ["watch", "note"], "each computer says it for itself"
    there.submit(lambda db: keep(db, event("ours.e9", subject="GPU-a"))).result(30)
    with here.read() as ours, there.read() as theirs:
        assert {one.imported for one in watch_events.list_events(ours, "n1", 0, 2**62)} == {None}
        told = {one.id: one.imported for one in watch_events.list_events(theirs, "n1", 0, 2**62)}
        assert (told["ours.e9"], told["dead.e1"].source, told["live.e2"].source) == (None, "theirs.json", "theirs.json")
        assert "not measured by this computer" in told["dead.e1"].words.en
        assert theirs.execute("SELECT count(*) FROM marks WHERE kind = 'imported'").fetchone() == (2,)
        rows = {row.event.id: row for row in read_seen(theirs, "n1", NOW.timestamp() + 86_400, {}).rows}
        assert "imported" in str(_how_bad(rows["dead.e1"]).note) and "imported" not in str(_how_bad(rows["ours.e9"]).note)
        assert "Imported from theirs.json on " in whole_words(rows["dead.e1"]).en and "Imported" not in whole_words(rows["ours.e9"]).en
        began = [one.words.en for one in happened(theirs, "n1", 0, NOW.timestamp() + 86_400, ()) if one.words.en.startswith("begins: Under")]
        assert began == ["begins: Under the contract, GPU-b, imported", "begins: Under the contract, GPU-a"]
        bands = [one.words.en for one in read_stored(theirs, "n1", NOW.timestamp() + 7200).happenings if one.icon == "bell"]
        assert bands == [
            "Under the contract, GPU-b, not seen to its end, imported", "GPU lost, GPU-b, imported", "Under the contract, GPU-a, not seen to its end",
        ]  # fmt: skip


def test_that_only_the_marks_of_events_of_the_stretch_are_read_to_say_which_were_imported(make):
    """A file may bring twenty thousand of them; what no document is says nothing."""
    there = make("there", STEPS[0])
    later_ns = BEGAN_NS + 24 * HOUR_NS
    for one in (event("e.1"), replace(event("e.2"), began_ns=later_ns, ended_ns=later_ns + HOUR_NS), replace(event("e.3"), began_ns=later_ns, ended_ns=None)):
        there.submit(lambda db, one=one: keep(db, one)).result(30)
    there.submit(lambda db: note_imported_events(db, [(f"e.{n}", "n1") for n in (1, 2, 3, 9)], "theirs.json", NOW)).result(30)
    there.submit(lambda db: [save_mark(db, Mark(f"m{n}", "n1", NOW, "imported", words)) for n, words in enumerate(("", "[1]", "{", "7"))]).result(30)
    with there.read() as connection:
        assert set(imported_events(connection, "n1")) == {"e.1", "e.2", "e.3"}
        assert set(imported_events(connection, "n1", BEGAN_NS, BEGAN_NS + HOUR_NS)) == {"e.1"}
        assert set(imported_events(connection, "n1", later_ns + 2 * HOUR_NS, later_ns + 3 * HOUR_NS)) == {"e.3"}
        told = {one.id: one.imported for one in watch_events.list_events(connection, "n1", later_ns, later_ns + HOUR_NS)}
        assert {id_: one.source for id_, one in told.items() if one} == {"e.2": "theirs.json", "e.3": "theirs.json"}


def test_that_money_for_hours_that_came_in_a_file_says_so(make):
    contract = Contract("c1", "s1", "HT-1", start=date(2026, 11, 1), end=date(2027, 11, 1), price=Money(Decimal("10"), "CNY"), price_unit="gpu_hour")
    node = replace(NODE, contract_id="c1")
    first_steps = (lambda db: save_supplier(db, Supplier("s1", "Haven")), lambda db: save_contract(db, contract), lambda db: nodes.save_node(db, node))
    here = make("here", *first_steps, *STEPS[1:])
    there = make("there")
    merged(there, said_of(here))
    for workspace, of_others in ((here, False), (there, True)):
        with workspace.read() as connection:
            told = degraded_in(connection, node, 0, NOW.timestamp() + 3600)
        assert (told.money, OTHERS in told.assumed) == (Money(Decimal("10.00"), "CNY"), of_others)


def test_that_whatever_the_rules_write_comes_out_as_it_went_in(make):
    here, there = make("here", STEPS[0]), make("there")
    rules, at_s = RuleKeeper(here, Bus(), CATALOGUE, lambda: NOW.timestamp()).of(NODE), NOW.timestamp() + 0.1
    rules.renew()

    def tell(seconds: int, mask: int = 0, lost: str = "") -> None:
        nonlocal at_s
        for _ in range(seconds):
            cards = [card for card in ("GPU-a", "GPU-b") if card != lost]
            for card in cards:
                rules.take([Point("gpu.power_w", card, 350.0, 0), Point("gpu.event_reasons", card, mask, 0), Point("gpu.temperature_c", card, 95.0, 0)], at_s)
            if lost:
                rules.take([Point("gpu.power_w", lost, None, 0, "GPU is lost")], at_s)
            at_s += 1

    tell(20, mask=0x40)
    tell(20)
    tell(5, lost="GPU-b")
    tell(20)
    rules.trouble("gpu", "NVML: driver not loaded", at_s)
    at_s += 30
    tell(20)
    rules.unseen(at_s)
    here.submit(lambda db: None).result(30)
    data = said_of(here)
    told = json.loads(data)["watch_events"]
    assert {one["rule"] for one in told} == {"watch.throttled", "watch.hot", "watch.lost", "watch.driver"}
    merged(there, data)
    assert said_of(there) == data
    with here.read() as ours, there.read() as theirs:
        mine, their = (watch_events.list_events(connection, "n1", 0, 2**62) for connection in (ours, theirs))
    assert tuple(replace(one, imported=None) for one in their) == mine and len(mine) == len(told)
