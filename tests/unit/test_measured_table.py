"""Are published figures given to products that the catalogue knows, and is what found no place listed with its reason?"""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.measured import Metric

ROOT = Path(__file__).resolve().parents[2]
REASONS = {
    "shows a mistake of measuring", "no sure source", "measured in a way that no task here measures",
    "its words name no single product of the catalogue",
}  # fmt: skip


@pytest.fixture(scope="module")
def importer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("import_facts", ROOT / "packaging" / "import_facts.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def left_out() -> list[list[str]]:
    rows = [line for line in (ROOT / "docs" / "measured.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1:]]


def test_that_the_table_names_products_and_metrics_that_exist(importer: ModuleType) -> None:
    known = set(load_catalogue().gpus.models)
    assert set(importer.MEASURED_ON) <= known
    assert {*importer.METRICS.values(), *importer.OTHER_METRIC.values()} <= set(Metric)


def test_that_every_kept_figure_came_through_the_table(importer: ModuleType) -> None:
    kept = {one["model"] for one in tomllib.loads((ROOT / "resources" / "measured.toml").read_text("utf-8"))["figure"]}
    assert kept <= set(importer.MEASURED_ON) and len(kept) > 20


def test_that_what_found_no_place_is_listed_with_its_reason(importer: ModuleType) -> None:
    mapped = {word for words in importer.MEASURED_ON.values() for word in words}
    rows = left_out()
    assert len(rows) > 40 and {row[4] for row in rows} == REASONS
    assert not [row for row in rows if row[4].startswith("its words") and row[1] in mapped]


def test_that_a_trap_and_an_unknown_card_are_left_out(importer: ModuleType) -> None:
    plain = {"trap": False, "confidence": "high"}
    assert importer.why_left_out(plain, "L40S", "bf16_tflops", {"L40S"}) == ""
    assert importer.why_left_out({**plain, "trap": True}, "L40S", "bf16_tflops", {"L40S"}) == "shows a mistake of measuring"
    assert importer.why_left_out(plain, "Gaudi 2", "bf16_tflops", {"L40S"}).startswith("its words name no single product")
