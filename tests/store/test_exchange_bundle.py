"""Does a workspace come out of its bundle as it went in, and is a bundle that was tampered with refused?"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Contract, FxRate, Offer, Price, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.commerce_undo import undo
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, read_bundle, valid_bundle
from gpulease_gui.store.bulk import NewOffer
from gpulease_gui.store.exchange.bundle_schema import SECTIONS, parse_bundle
from gpulease_gui.store.records import EvidenceBlob
from gpulease_gui.store.suppliers import list_suppliers
from gpulease_gui.store.trash import list_trash
from gpulease_gui.store.workspace import Workspace

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OFFER = Subject(HolderOf.OFFER, "o1")


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], Workspace]]:
    opened: list[Workspace] = []

    def make(name: str) -> Workspace:
        opened.append(Workspace.open(tmp_path / f"{name}.db"))
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def write(workspace: Workspace, work: Callable[..., object]) -> None:
    workspace.submit(work).result()


def exported(workspace: Workspace) -> bytes:
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def merged(workspace: Workspace, data: bytes) -> int:
    bundle = valid_bundle(parse_bundle(data), CATALOGUE)
    with workspace.read() as connection:
        merge = merge_in(connection, bundle, demo=False)
    return workspace.submit(lambda db: apply_merge(db, merge, "theirs.json")).result()


def filled(workspace: Workspace) -> Workspace:
    """A workspace with something in every section that a bundle has."""
    supplier = Supplier("s1", "北辰算力", "CN", "sales@example.com", "met in May")
    offer = Offer("o1", "s1", "Q-7", "8 cards", valid_until=date(2027, 1, 1), note="=1+1")
    price = Price("p1", Money(Decimal("16.2050"), "CNY"), "gpu_hour", "on_demand", tax_included=True, tax_rate=Decimal("0.06"))
    terms = Terms({"billing.min_billed_s": Stated(86400, source="4.2"), "sla.target": Stated(Decimal("0.999"))})
    claims = (Claim("gpu.count", 8, ClaimState.ANSWERED, "p. 2", "8卡"), Claim("driver.min", "535.104", ClaimState.EVIDENCED))
    answers = (Answer("BI-03", AnswerState.ANSWERED, AnswerValue.YES, NOW, "me", note="per second"),)
    write(workspace, lambda db: edit.import_offers(db, [supplier], [NewOffer(offer, price, terms, claims, answers)], Text("a", "b")))
    write(workspace, lambda db: edit.save_price(db, OFFER, Price("p2", Money(Decimal("15"), "CNY"), valid_from=date(2026, 11, 1))))
    write(workspace, lambda db: edit.accept_offer(db, "o1", Contract("c1", "s1", "HT-1", "o1", date(2026, 12, 1), date(2027, 12, 1))))
    write(workspace, lambda db: edit.attach(db, OFFER, "../quote\u202e.pdf", "quote", EvidenceBlob.of(b"%PDF-1.7 a quote")))
    write(workspace, lambda db: edit.save_rate(db, FxRate("USD", "CNY", Decimal("7.0835"), date(2026, 11, 30), "bank")))
    write(workspace, lambda db: edit.import_market(db, [MarketPrice("H100", Decimal("2.5"), "USD", PriceMode.SPOT, "list A", date(2026, 11, 1))], Text("m", "m")))
    write(workspace, lambda db: edit.save_mapping(db, "s1", "offers", '{"columns": {"单价": "price"}}'))
    return workspace


def test_that_what_was_exported_gives_the_same_workspace(make: Callable[[str], Workspace]) -> None:
    data = exported(filled(make("here")))
    there = make("there")
    assert merged(there, data) > 10
    assert exported(there) == data
    said = json.loads(data)
    assert (said["format"], said["version"], said["made_at"]) == ("gpulease-exchange", 2, "2026-12-01T09:00:00.000000Z")
    assert [len(said[name]) for name in ("suppliers", "offers", "contracts", "attachments", "claims", "prices", "answers", "market", "rates")] == [1, 1, 1, 1, 4, 4, 2, 1, 1]
    assert merged(there, data) == 0, "a second time changes nothing"


def test_that_a_merge_shows_what_it_would_change_and_is_one_step_back(make: Callable[[str], Workspace]) -> None:
    here, there = filled(make("here")), make("there")
    merged(there, exported(here))
    before = exported(there)
    write(here, lambda db: edit.save_supplier(db, Supplier("s1", "北辰算力", "CN", "new@example.com", "met in May")))
    write(here, lambda db: edit.save_supplier(db, Supplier("s2", "Haven")))
    bundle = valid_bundle(parse_bundle(exported(here)), CATALOGUE)
    with there.read() as connection:
        merge = merge_in(connection, bundle, demo=False)
    assert merge.counts() == {"suppliers": (1, 1), "earlier": (1, 0)}
    assert [(d.record.key, d.changed) for d in merge.differences][:2] == [
        (("s1",), (("contact", "sales@example.com", "new@example.com"),)), (("s2",), ()),
    ]  # fmt: skip
    assert exported(there) == before, "showing writes nothing"
    write(there, lambda db: apply_merge(db, merge))
    assert now(exported(there)) == now(exported(here))
    write(there, undo)
    assert now(exported(there)) == now(before)


def now(data: bytes) -> dict[str, object]:
    """What a bundle says of the present; what was replaced or thrown away on the way there left out."""
    said = json.loads(data)
    away = {(entry["record_kind"], entry["record_id"]) for entry in said["trash"]}
    past = {section.name for section in SECTIONS if section.history} | {"trash", "contents"}
    return {
        name: [e for e in entries if (section_kind(name), e.get("id")) not in away] if isinstance(entries, list) else entries
        for name, entries in said.items() if name not in past
    }  # fmt: skip


def section_kind(name: str) -> str:
    return next(section.kind for section in SECTIONS if section.name == name)


def test_that_the_trash_comes_along_as_trash(make: Callable[[str], Workspace]) -> None:
    here, there = filled(make("here")), make("there")
    write(here, lambda db: edit.delete(db, "supplier", "s1", "closed"))
    data = exported(here)
    merged(there, data)
    assert exported(there) == data
    with there.read() as connection:
        assert list_suppliers(connection) == () and {t.kind for t in list_trash(connection, NOW)} == {"supplier", "offer", "contract"}
    assert merged(there, data) == 0


_WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@settings(max_examples=8)
@given(
    st.lists(
        st.tuples(
            _WORDS, _WORDS, st.none() | st.decimals("0", "999999", places=3), st.sampled_from(["gpu_hour", "node_month"]), st.none() | st.integers(1, 128),
            st.none() | st.booleans(), st.none() | st.dates(),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_that_any_offers_survive_the_journey(rows):
    def offer(number: int, row: tuple) -> NewOffer:
        words, note, amount, unit, count, tax, until = row
        price = None if amount is None else Price(f"p{number}", Money(amount, "CNY"), unit, tax_included=tax, valid_to=until)
        claims = (Claim("gpu.count", count, ClaimState.ANSWERED, words, note),) if count else ()
        return NewOffer(Offer(f"o{number}", "s", words, f"offer {number}", valid_until=until, note=note), price, Terms(), claims)

    with tempfile.TemporaryDirectory() as folder:
        here, there = Workspace.open(Path(folder) / "a.db"), Workspace.open(Path(folder) / "b.db")
        try:
            new = [offer(number, row) for number, row in enumerate(rows)]
            write(here, lambda db: edit.import_offers(db, [Supplier("s", "Haven")], new, Text("a", "b")))
            data = exported(here)
            merged(there, data)
            assert exported(there) == data
        finally:
            here.close()
            there.close()


# -- what is refused -------------------------------------------------------------------------------------------------------


def spoilt(data: bytes, change: Callable[[dict], None]) -> bytes:
    said = json.loads(data)
    change(said)
    return json.dumps(said).encode()


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("suppliers[0].name can't be 7", lambda said: said["suppliers"][0].update(name=7)),
        ("prices[0].amount can't be \"-1\"", lambda said: said["prices"][0].update(amount="-1")),
        ("prices[0].amount can't be \"1e999999999\"", lambda said: said["prices"][0].update(amount="1e999999999")),
        ("prices[0].currency can't be \"yuan\"", lambda said: said["prices"][0].update(currency="yuan")),
        ("claims[0].state can't be \"proven\"", lambda said: said["claims"][0].update(state="proven")),
        ("contracts[0].start_date can't be \"2026-02-30\"", lambda said: said["contracts"][0].update(start_date="2026-02-30")),
        ("answers[0].answered_at can't be", lambda said: said["answers"][0].update(answered_at="2026-12-01T09:00:00")),
        ("holds a record twice", lambda said: said["suppliers"].append(said["suppliers"][0])),
        ("offers is no list", lambda said: said.update(offers={})),
        ("neither in it nor here", lambda said: said["offers"][0].update(supplier_id="../../etc")),
        ("the content of an attachment is missing", lambda said: said.update(contents={})),
        ("is not what its hash says", lambda said: said["contents"].update({"0" * 64: next(iter(said["contents"].values()))})),
        ("is damaged", lambda said: said["contents"].update({"0" * 64: "not base64!"})),
        ("of another version", lambda said: said.update(version=3)),
        ("of another version", lambda said: said.update(version=True)),
        ("not written by export-data", lambda said: said.update(format="other")),
        ("demo data and real data", lambda said: said.update(demo=True)),
        ("a promise of the bundle can't be meant", lambda said: next(c for c in said["claims"] if c["term"] == "gpu.count").update(value='"4096"')),
    ],
)  # fmt: skip
def test_that_a_bundle_with_a_wrong_value_is_refused_whole(make: Callable[[str], Workspace], words: str, change: Callable[[dict], None]) -> None:
    data, there = exported(filled(make("here"))), make("there")
    before = exported(there)
    with pytest.raises(UserFacing) as trouble:
        merged(there, spoilt(data, change))
    assert words in str(trouble.value)
    assert exported(there) == before


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"format": NaN}', b"[" * 100_000])
def test_that_what_is_no_bundle_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(UserFacing, match="no exchange bundle"):
        parse_bundle(data)


def test_that_unknown_keys_are_left_out_and_named(make: Callable[[str], Workspace]) -> None:
    def change(said: dict) -> None:
        said["later"] = [1]
        said["suppliers"][0]["run"] = "rm -rf /"
        said["claims"].append({**said["claims"][0], "term": "gpu.colour"})
        said["terms"][0]["terms"] = json.dumps({**json.loads(said["terms"][0]["terms"]), "billing.colour": {"value": "red"}})

    data = exported(filled(make("here")))
    bundle = valid_bundle(parse_bundle(spoilt(data, change)), CATALOGUE)
    assert bundle.unknown == ("later", "suppliers.run", "claims: gpu.colour", "terms: billing.colour")
    there = make("there")
    merged(there, spoilt(data, change))
    assert exported(there) == data


def test_that_an_attachment_keeps_its_bytes_and_loses_its_path(make: Callable[[str], Workspace]) -> None:
    data = spoilt(exported(filled(make("here"))), lambda said: said["attachments"][0].update(name="../../bin/sh\u202efdp.exe"))
    there = make("there")
    merged(there, data)
    said = json.loads(exported(there))
    assert said["attachments"][0]["name"] == "shfdp.exe"
    assert parse_bundle(exported(there)).contents.popitem()[1] == EvidenceBlob.of(b"%PDF-1.7 a quote")


def test_that_a_packed_attachment_can_be_no_bomb(make: Callable[[str], Workspace], monkeypatch: pytest.MonkeyPatch) -> None:
    data = exported(filled(make("here")))
    monkeypatch.setattr("gpulease_gui.store.exchange.bundle_schema.MOST_CONTENT", 8)
    with pytest.raises(UserFacing, match="is cut, or larger than"):
        parse_bundle(data)


def test_that_a_missing_or_huge_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserFacing, match="can't be read"):
        read_bundle(tmp_path / "none.json", CATALOGUE)
    with (tmp_path / "huge.json").open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    with pytest.raises(UserFacing, match="too large for a bundle"):
        read_bundle(tmp_path / "huge.json", CATALOGUE)


def test_that_the_format_is_written_down_as_it_is() -> None:
    words = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text("utf-8")
    for section in SECTIONS:
        fields = ", ".join(f"`{name}`" for name in section.fields) or "–"
        assert f"| `{section.name}` | {', '.join(f'`{name}`' for name in section.key)} | {fields} |" in words
