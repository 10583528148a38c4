"""Do the commands about stored offers say what the window says, and refuse what they can't do?"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.services.commerce_edit import accept_offer, save_offer, save_supplier, state_fields
from gpulease_gui.services.composition import open_services

OFFER = "Q-2026-031"
OTHER = "Q-77"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("offers") / "own.db"
    services = open_services(path)
    services.change(lambda db: save_supplier(db, Supplier("s1", "北辰算力", "CN"))).result(20)
    for id_, number, amount in (("o1", OFFER, "2.15"), ("o2", OTHER, "1.95")):
        offer = Offer(id_, "s1", number, price=Money(Decimal(amount), "USD"))
        services.change(lambda db, offer=offer: save_offer(db, offer)).result(20)
    subject = Subject(HolderOf.OFFER, "o1")
    said = {"billing.min_billed_s": Stated(86400, source="clause 4.2"), "billing.min_scope": Stated("session")}
    services.change(lambda db: state_fields(db, subject, said, services.catalogue)).result(20)
    services.change(lambda db: accept_offer(db, "o1", Contract("c1", "s1", "HT-1", "o1"))).result(20)
    services.close()
    return path


@pytest.fixture
def asked(path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    def ask(*words: str, code: int = 0) -> str:
        assert main([*words, "--workspace", str(path), "--day", "2026-10-01"]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return ask


def test_that_offers_are_listed_and_one_is_shown_with_its_source(asked: Callable[..., str]) -> None:
    rows: list[dict[str, Any]] = json.loads(asked("offers", "list", "--json"))
    assert [row["number"] for row in rows] == [OFFER, OTHER]
    assert next(row for row in rows if row["number"] == OFFER)["price"] == "2.15"
    assert [row["number"] for row in json.loads(asked("offers", "list", "--contracts", "--json"))] == ["HT-1"]
    shown = json.loads(asked("offers", "show", OFFER, "--json"))
    assert {"key": "billing.min_billed_s", "value": "1 d", "source": "clause 4.2", "basis": "claim"} in shown["terms"]
    assert "hidden_minimum" in {flag["id"] for flag in shown["flags"] if flag["state"] == "raised"}
    assert OFFER in asked("offers", "list") and "1 d clause 4.2 claim" in asked("offers", "show", OFFER)


def test_that_the_checklist_is_that_of_the_use(asked: Callable[..., str]) -> None:
    said = json.loads(asked("checklist", OFFER, "--scenario", "finetune", "--json"))
    item = next(item for item in said["items"] if item["id"] == "BI-03")
    assert (item["outcome"], item["state"], item["derived"], item["waiver"]) == ("pass", "answered", True, None)
    assert said["status"] == "blocked" and "SU-01" in said["open_musts"] and sum(said["totals"].values()) == len(said["items"])
    assert "blocked" in asked("checklist", OFFER).splitlines()[-1]


@pytest.mark.parametrize(("language", "words"), [("en", "Must · Billing"), ("zh", "必须 · 计费")])
def test_that_the_letter_is_printed_and_written_in_its_language(language: str, words: str, asked: Callable[..., str], tmp_path: Path) -> None:
    text = asked("letter", OFFER, "--lang", language)
    assert words in text and "BI-03" not in text and "SU-01" in text
    out = tmp_path / "questions.txt"
    asked("letter", OFFER, "--lang", language, "--out", str(out))
    assert out.read_bytes().decode() == text


def test_that_a_comparison_is_lines_json_or_csv_of_the_same_cells(path: Path, capfdbinary: Any) -> None:
    words = ("compare", OFFER, OTHER, "--gpus", "8", "--hours", "10")
    assert main([*words, "--json", "--workspace", str(path), "--day", "2026-10-01"]) == 0
    said = json.loads(capfdbinary.readouterr().out)
    row = next(row for row in said["rows"] if row["key"] == "price.total")
    # 8 GPUs x 24 h at 2.15, though only 10 hours are used.
    assert [(cell["value"], cell["best"]) for cell in row["cells"]] == [("USD 412.80", False), ("USD 156.00", True)]
    assert main([*words, "--csv", "--workspace", str(path), "--day", "2026-10-01"]) == 0
    out = capfdbinary.readouterr().out
    assert out.startswith(b"\xef\xbb\xbf")
    lines = list(csv.reader(io.StringIO(out.decode("utf-8-sig"), newline="")))
    cost = next(line for line in lines if line[0] == "Comparison cost of the workload")
    assert (cost[1:3], cost[4:6]) == (["412.80", "USD"], ["156.00", "USD"]) and cost[6].startswith("best, with assumptions; assumed: ")
    assert {len(line) for line in lines} == {7}, "a figure, its unit and what else is to say, for each of two offers"


@pytest.mark.parametrize(("words", "said"), [
    (("offers", "show", "X-1"), "there is no offer or contract 'X-1'"), (("checklist", "X-1"), OFFER),
    (("letter", OFFER, "--out", "a.doc"), "'.doc' is no kind of letter"), (("letter", OFFER, "--out", "/nowhere/a.txt"), "there is no folder"),
    (("compare", OFFER, OFFER), "is named twice"), (("compare", OFFER, "--currency", "¥"), "'¥' is no currency"),
    (("compare", OFFER, "--gpus", "8"), "--gpus and --hours go together"), (("compare", OFFER, "--workload", "mine"), "there is no workload 'mine'"),
])  # fmt: skip
def test_that_a_wrong_call_is_refused_in_words(words: tuple[str, ...], said: str, asked: Callable[..., str]) -> None:
    assert said in asked(*words, code=64)


def test_that_a_day_is_a_day(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checklist", OFFER, "--workspace", str(path), "--day", "tomorrow"]) == 64
    assert "'tomorrow' is no day" in capsys.readouterr().err
