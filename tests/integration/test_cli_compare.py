"""Does `gpulease compare` print what the window shows?"""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from gpulease_gui.cli.main import main
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Offer, Price, Supplier
from gpulease_gui.domain.text import Language
from gpulease_gui.services.commerce_compare import CompareBy
from gpulease_gui.services.commerce_cost import workloads_in
from gpulease_gui.services.commerce_edit import change_price, save_offer, save_supplier
from gpulease_gui.services.compare_page import first_offers, look_in
from gpulease_gui.services.compare_sheet import csv_bytes
from gpulease_gui.services.composition import open_services

DAY = date(2026, 10, 1)


def test_that_window_and_command_line_say_the_same_of_the_same_offers(tmp_path: Path, capfdbinary: Any) -> None:
    path = tmp_path / "demo.db"
    services = open_services(path, demo=True)
    subjects = services.query(lambda c: first_offers(c, 4)).result(20)
    saved = services.query(workloads_in).result(20)[0]
    by = CompareBy(workload=saved.workload)
    look = services.query(lambda c: look_in(c, subjects, services.catalogue, DAY, by)).result(20)
    services.close()
    offers, more = [subject.id for subject in subjects], ["--workload", saved.name, "--workspace", str(path), "--demo", "--day", str(DAY)]
    assert main(["compare", *offers, "--csv", "--differences", *more]) == 0
    out = capfdbinary.readouterr().out
    assert out == csv_bytes(look.comparison, Language.EN, differences_only=True)
    assert {len(line) for line in csv.reader(io.StringIO(out.decode("utf-8-sig"), newline=""))} == {13}
    assert main(["compare", *offers, "--json", *more]) == 0
    said = json.loads(capfdbinary.readouterr().out)
    assert said["currency"] == look.comparison.currency == "CNY" and said["missing_rates"] == []
    assert {(rate["from"], rate["to"]) for rate in said["rates"]} == {("USD", "CNY"), ("EUR", "CNY")}
    assert [offer["market"]["place"] for offer in said["offers"]] == [str(h.market.place) for h in look.comparison.heads if h.market]
    assert said["front"] == [h.row.id for h in look.comparison.heads if h.name in look.front.names] != []
    assert said["stability"] == look.stability.en
    kinds = {subject.kind for subject in subjects}
    assert kinds == {HolderOf.OFFER} and Subject(HolderOf.OFFER, offers[0]) == subjects[0]


def test_that_a_comparison_is_of_the_day_that_is_asked_for_and_files_have_no_thousands_apart(tmp_path: Path, capfdbinary: Any) -> None:
    path = tmp_path / "own.db"
    services = open_services(path)
    services.change(lambda db: save_supplier(db, Supplier("s1", "Haven"))).result(20)
    for id_, amount in (("o1", "68000.0"), ("o2", "71250.5")):
        offer = Offer(id_, "s1", id_.upper(), price=Money(Decimal(amount), "CNY"), price_unit="gpu_month")
        services.change(lambda db, offer=offer: save_offer(db, offer)).result(20)
    later = Price("p1", Money(Decimal(90_000), "CNY"), "gpu_month")
    services.change(lambda db: change_price(db, Subject(HolderOf.OFFER, "o1"), later, date(2026, 11, 1))).result(20)
    services.close()
    ask = ["compare", "O1", "O2", "--workspace", str(path)]

    def agreed(day: str) -> list[str]:
        assert main([*ask, "--csv", "--day", day]) == 0
        lines = csv.reader(io.StringIO(capfdbinary.readouterr().out.decode("utf-8-sig"), newline=""))
        return next(line[1:] for line in lines if line[0] == "Price as agreed")

    assert agreed("2026-10-01") == ["68000.0", "CNY / GPU-month", "", "71250.5", "CNY / GPU-month", ""]
    assert agreed("2026-12-01")[::3] == ["90000", "71250.5"]
    assert main([*ask, "--json", "--day", "2026-12-01"]) == 0
    rows = {row["key"]: [cell["value"] for cell in row["cells"]] for row in json.loads(capfdbinary.readouterr().out)["rows"]}
    assert rows["price.agreed"] == ["CNY 90000 / GPU-month", "CNY 71250.50 / GPU-month"]
    assert len({len(str(value).partition(".")[2]) for value in rows["price.gpu_hour"]}) == 1, "figures of one row share their decimals"
    assert main([*ask, "--day", "tomorrow"]) == 64
