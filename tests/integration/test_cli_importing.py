"""Do `gpulease import`, `import-market`, `export-data` and `import-data` say what they would do, and do it?"""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import openpyxl
import pytest

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.main import main
from gpulease_gui.reports.as_xlsx import xlsx_bytes
from gpulease_gui.reports.table_csv import csv_table

QUOTE = "报价单号\t型号\t卡数\t单价（元/卡/时，含税）\t带宽\t最短租期\nQ1\tH100 80GB SXM\t8\t12.5\t100G\t24小时\nQ2\tH200\t8\t十一\t100Gbps\t\n"
MARKET = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,Price,SpotPrice,Region\np5,H100,8,192,98.32,39.5,a\np5,H100,8,192,98.32,,b\n"
    "p4d,A100-80GB,8,96,32.77,,a\nm5,,,2,0.096,,a\nx,tpu-v4,8,1,3.2,,a\ny,H100,0,1,3.2,,a\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.csv").write_bytes(QUOTE.encode("gb18030"))
    (tmp_path / "m.csv").write_text(MARKET, "utf-8")
    return tmp_path


def run(folder: Path, *words: str) -> int:
    return main([*words, "--workspace", str(folder / "w.db")])


def told(capsys: pytest.CaptureFixture[str]) -> dict:
    return json.loads(capsys.readouterr().out)


def test_that_a_question_stops_an_import_and_an_answer_lets_it_through(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quote = ("import", str(folder / "q.csv"), "--supplier", "Haven", "--json")
    assert run(folder, *quote) == Exit.INCONCLUSIVE
    said = told(capsys)
    assert (said["encoding"], said["header_row"], said["saved"]) == ("gb18030", 1, 0)
    assert [(q["key"], q["cells"], list(q["options"])) for q in said["questions"]] == [("带宽|rate", ["q!E2"], ["bits", "bytes"])]
    assert [(e["cell"], e["words"]) for e in said["errors"]] == [("q!D3", "十一")]
    assert run(folder, *quote, "--answer", "带宽|rate=bits") == Exit.FAIL, "a row with an error is no success"
    assert told(capsys)["saved"] == 0
    assert run(folder, *quote, "--answer", "带宽|rate=bits", "--skip-errors") == Exit.OK
    said = told(capsys)
    assert (said["saved"], said["add"]) == (1, 1)
    assert said["offers"][0]["price"] == {
        "amount": "12.5", "currency": "CNY", "unit": "gpu_hour", "mode": None, "tax_included": True, "tax_rate": None,
    }  # fmt: skip
    assert said["offers"][0]["fields"] == {"billing.min_billed_s": 86400}
    assert run(folder, *quote, "--skip-errors") == Exit.OK, "the answer is remembered with the mapping"
    assert (said := told(capsys))["same"] == 1 and said["add"] == 0


def test_that_a_dry_run_writes_nothing_and_a_column_can_be_mapped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.csv").write_text("规格,单价(元/卡/时)\nH100,12\n", "utf-8")
    words = ("import", str(folder / "p.csv"), "--supplier", "Haven", "--map", "规格=gpu.model", "--dry-run", "--json")
    for _ in range(2):
        assert run(folder, *words) == Exit.OK
        said = told(capsys)
        assert (said["add"], said["saved"], said["columns"]) == (1, 0, ["gpu.model", "price"])
    assert run(folder, "import", str(folder / "p.csv"), "--supplier", "Haven", "--map", "规格=gpu.colour") == Exit.USAGE
    assert "nothing that a column can be" in capsys.readouterr().err
    assert run(folder, "import", str(folder / "p.csv")) == Exit.USAGE
    assert "no supplier is named" in capsys.readouterr().err


def test_that_warnings_and_choices_are_told_apart_from_errors(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.csv").write_text("型号,单价(元/卡/时),税,备注\nA100 80G,12,含税6%,好\nH20,面议,,\n", "utf-8")
    words = ("import", str(folder / "p.csv"), "--supplier", "Haven")
    assert run(folder, *words, "--dry-run") == Exit.OK
    out = capsys.readouterr().out
    assert "error:" not in out and out.count("warning: p!") == 2 and "choice: p!A2" in out and "2 warnings: nothing written" in out
    assert run(folder, *words, "--json", "--answer", "型号|model.A100 80G=nvidia-a100-pcie-80gb") == Exit.OK
    said = told(capsys)
    assert [(w["cell"], w["words"]) for w in said["warnings"]] == [("p!B3", "面议")] and said["errors"] == []
    assert said["offers"][0]["terms"] == {"gpu.model": "nvidia-a100-pcie-80gb"}
    assert said["offers"][0]["price"] == {
        "amount": "12", "currency": "CNY", "unit": "gpu_hour", "mode": None, "tax_included": True, "tax_rate": "0.06",
    }  # fmt: skip
    assert run(folder, *words) == Exit.OK
    assert "every offer stands in the workspace already" in capsys.readouterr().out
    assert run(folder, "offers", "show", "A100 80G") == Exit.OK
    out = capsys.readouterr().out
    assert "note: 好" in out and "CNY 12 / GPU-hour tax included 6 %" in out
    assert run(folder, "offers", "show", "A100 80G", "--json") == Exit.OK
    said = told(capsys)
    assert (said["note"], said["prices"][0]["tax_included"], said["prices"][0]["tax_rate"]) == ("好", True, "0.06")


def test_that_chat_lines_come_from_standard_input(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\nH100 80G SXM 8卡 ¥12.5/卡/小时 含税 起租24小时\n"))
    assert run(folder, "import", "-", "--supplier", "Haven", "--json") == Exit.OK
    said = told(capsys)
    assert said["offers"][0]["cell"] == "chat!A2" and said["saved"] == 1


def test_that_a_hostile_file_is_a_clear_word_and_no_traceback(folder: Path) -> None:
    (folder / "bad.xlsx").write_bytes(b"PK\x03\x04" + bytes(99))
    done = subprocess.run(
        [sys.executable, "-m", "gpulease_gui.cli.main", "import", str(folder / "bad.xlsx"), "--supplier", "H", "--workspace", str(folder / "w.db")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == Exit.USAGE
    assert done.stderr.startswith("gpulease import: the workbook is damaged") and "Traceback" not in done.stderr


def test_that_a_public_price_list_is_kept_with_its_source_and_day(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("import-market", str(folder / "m.csv"), "--source", "list A", "--date", "2026-11-01", "--json")
    assert run(folder, *words) == Exit.OK
    assert told(capsys) == {"lines": 6, "prices": 3, "without_gpu": 1, "unreadable": ["m!E7"], "unknown": {"tpu-v4": 1}, "models": ["A100", "H100"]}
    assert run(folder, "export-data", "--out", str(folder / "e.json")) == Exit.OK
    said = json.loads((folder / "e.json").read_text("utf-8"))
    prices = {(p["gpu_model"], p["mode"]): (p["price_gpu_hour"], p["source"], p["day"]) for p in said["market"]}
    assert prices == {
        ("H100", "on_demand"): ("12.29", "list A", "2026-11-01"), ("H100", "spot"): ("4.9375", "list A", "2026-11-01"),
        ("A100", "on_demand"): ("4.09625", "list A", "2026-11-01"),
    }  # fmt: skip
    assert run(folder, "import-market", str(folder / "q.csv"), "--source", "x", "--date", "2026-11-01") == Exit.USAGE
    assert run(folder, "import-market", str(folder / "m.csv"), "--source", "x", "--date", "1.11.2026") == Exit.USAGE


@pytest.mark.parametrize(("ending", "language"), [("xlsx", "en"), ("csv", "zh")])
def test_that_an_exported_table_comes_back_as_the_same_offers(folder: Path, capsys: pytest.CaptureFixture[str], ending: str, language: str) -> None:
    run(folder, "import", str(folder / "q.csv"), "--supplier", "Haven", "--answer", "带宽|rate=bits", "--skip-errors")
    out = folder / f"e.{ending}"
    assert run(folder, "export-data", "--out", str(out), "--lang", language) == Exit.OK
    capsys.readouterr()
    assert run(folder, "import", str(out), "--dry-run", "--json") == Exit.OK
    said = told(capsys)
    assert (said["same"], said["add"], said["change"]) == (1, 0, 0), said["offers"]
    other = folder / "other.db"
    assert main(["import", str(out), "--workspace", str(other), "--json"]) == Exit.OK
    said = told(capsys)
    assert said["offers"][0]["terms"] == {"gpu.model": "nvidia-h100-sxm5-80gb", "gpu.count": 8, "network.gbit_s": 100}
    assert out.stat().st_mode & 0o077 == 0, "prices are for the owner's eyes"


@pytest.mark.parametrize("ending", ["xlsx", "csv"])
def test_that_formulas_of_a_quote_stay_text_in_the_workspace_and_in_its_exports(folder: Path, capsys: pytest.CaptureFixture[str], ending: str) -> None:
    evil = ["=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)", "=HYPERLINK(\"http://x\")"]
    text = "报价单号\t型号\t单价(元/卡/时)\t=备注\n" + "".join(f"Q{n}\tH20\t12\t{words}\n" for n, words in enumerate(evil))
    (folder / "f.tsv").write_text(text, "utf-8")
    assert run(folder, "import", str(folder / "f.tsv"), "--supplier", "=1+1", "--json") == Exit.OK
    assert [offer["note"] for offer in told(capsys)["offers"]] == evil
    out = folder / f"e.{ending}"
    assert run(folder, "export-data", "--out", str(out)) == Exit.OK
    if ending == "csv":
        assert not [cell for line in csv.reader(io.StringIO(out.read_text("utf-8-sig"))) for cell in line if cell.startswith(("=", "+", "@"))]
    else:
        cells = [cell for row in openpyxl.load_workbook(out).active.iter_rows() for cell in row]
        assert not [cell for cell in cells if cell.data_type == "f" or cell.hyperlink] and {*evil} <= {cell.value for cell in cells}
    capsys.readouterr()
    assert run(folder, "import", str(out), "--json") == Exit.OK
    assert ((said := told(capsys))["same"], said["change"], said["add"]) == (4, 0, 0), said["offers"]


def test_that_a_bundle_merges_on_another_computer(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(folder, "import", str(folder / "q.csv"), "--supplier", "Haven", "--answer", "带宽|rate=bits", "--skip-errors")
    run(folder, "export-data", "--out", str(folder / "e.json"))
    other = ("--workspace", str(folder / "other.db"), "--json")
    capsys.readouterr()
    assert main(["import-data", str(folder / "e.json"), "--dry-run", *other]) == Exit.OK
    assert (said := told(capsys))["written"] is False and said["sections"]["offers"] == {"new": 1, "changed": 0}
    assert main(["import-data", str(folder / "e.json"), *other]) == Exit.OK
    assert told(capsys)["written"] is True
    assert main(["import-data", str(folder / "e.json"), *other]) == Exit.OK
    assert (said := told(capsys))["differences"] == [] and said["same"] > 5


def test_that_a_bundle_of_somebody_else_is_refused_before_anything_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "b.json").write_text('{"format": "other"}', "utf-8")
    assert run(folder, "import-data", str(folder / "b.json")) == Exit.USAGE
    assert "this is no exchange bundle" in capsys.readouterr().err


def test_that_no_text_of_an_export_is_a_formula_or_a_link() -> None:
    evil = ["=HYPERLINK(\"http://x\")", "+1", "-2", "@sum", "http://example.com", "a\x1b[2J", "007", "12345678901234567890"]
    book = openpyxl.load_workbook(io.BytesIO(xlsx_bytes("a/b:c[1]", ["=head"], [[words] for words in evil])))
    cells = [cell for (cell,) in book.active.iter_rows(min_row=2)]
    assert [cell.data_type for cell in cells] == ["s"] * len(evil) and not any(cell.hyperlink for cell in cells)
    assert [cell.value for cell in cells][5:] == ["a␛[2J", "007", "12345678901234567890"] and book.active["A1"].value == "=head"
    assert book.active.title == "a-b-c-1-"
    text = csv_table(["x"], [[words] for words in evil] + [[-2], [2.5]]).decode("utf-8")
    assert text.startswith("\ufeffx\r\n") and text.splitlines()[1:5] == ['"\'=HYPERLINK(""http://x"")"', "'+1", "'-2", "'@sum"]
    assert text.splitlines()[-2:] == ["-2", "2.5"], "true numbers keep their sign"


def test_that_numbers_of_a_workbook_stay_exact() -> None:
    from decimal import Decimal

    book = openpyxl.load_workbook(io.BytesIO(xlsx_bytes("s", ["n"], [[Decimal("16.20")], [Decimal("0.12345678901234567")], [10**20], [True], [None]])))
    assert [row[0].value for row in book.active.iter_rows(min_row=2, max_row=5)] == [16.2, "0.12345678901234567", "100000000000000000000", True]


def test_that_answers_hold_for_the_supplier_that_they_were_given_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = "供应商\t型号\t单价(元/卡/时)\t网络\tColour\n"
    (folder / "a.tsv").write_text(f"{head}Haven\tH20\t12\t100G\tred\n", "utf-8")
    (folder / "b.tsv").write_text(f"{head}Haven\tH20\t13\t100G\tred\nNorth\tH20\t13\t400G\t\n", "utf-8")
    assert run(folder, "import", str(folder / "a.tsv"), "--answer", "网络|rate=bits") == Exit.OK
    assert "note: not imported: Colour (1 row filled)" in capsys.readouterr().out
    assert run(folder, "import", str(folder / "b.tsv"), "--json") == Exit.INCONCLUSIVE, "the other supplier is asked"
    said = told(capsys)
    assert [(q["key"], q["cells"]) for q in said["questions"]] == [("网络|rate", ["b!D3"])]
    assert said["remembered"] == [{"supplier": "Haven", "question": "网络|rate", "option": "bits", "cells": 1}]
    assert said["notes"] == ["not imported: Colour (1 row filled)", "网络|rate=bits: remembered from the last import of Haven (1 cell)"]
    assert said["not_imported"] == [{"column": "E", "heading": "Colour", "rows": 1}]
    assert run(folder, "import", str(folder / "b.tsv"), "--answer", "网络|rate=bytes", "--json") == Exit.OK
    assert [offer["terms"]["network.gbit_s"] for offer in told(capsys)["offers"]] == [100, 3200]
    assert run(folder, "import", str(folder / "b.tsv"), "--answer", "网络|rate@Haven=bytes", "--json") == Exit.OK
    assert [offer["terms"]["network.gbit_s"] for offer in told(capsys)["offers"]] == [800, 3200]


def test_that_an_answer_to_no_question_is_refused_and_never_kept(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("import", str(folder / "q.csv"), "--supplier", "Haven", "--skip-errors")
    assert run(folder, *words, "--answer", "带宽|rate=bits", "--answer", "单价|currency=USD") == Exit.USAGE
    assert "no question '单价|currency' was asked. the questions are '带宽|rate'" in capsys.readouterr().err
    assert run(folder, *words, "--answer", "带宽|rate=nibbles") == Exit.USAGE
    assert "write one of: leave, bits, bytes" in capsys.readouterr().err
    assert run(folder, *words) == Exit.INCONCLUSIVE, "nothing was remembered"


def test_that_yes_and_no_are_booleans_of_the_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "p.csv").write_text("型号,单价(元/卡/时),整机,押金\nH20,12,否,1个月\n", "utf-8")
    assert run(folder, "import", str(folder / "p.csv"), "--supplier", "Haven", "--dry-run", "--json") == Exit.OK
    assert told(capsys)["offers"][0]["fields"] == {"billing.whole_node_only": False, "deposit.months": "1"}
