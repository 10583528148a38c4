"""Do cost, score and size answer a file of examples, and say where a file is wrong?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli.main import main

DATA = Path(__file__).parents[1] / "economics"
COST = {"offer": {"unit_price": "3.00"}, "workload": {"sessions": [{"duration_s": 1200}]}}
SCORE = {
    "today": "2026-06-01",
    "weights": {"a": 1},
    "items": [{"id": "m", "dimension": "a", "severity": "must", "answer": "pass", "evidence": "contract"}],
}
SIZE = {"model": "llama2-7b", "gpu_id": "nvidia-l40s-48gb", "gpu_count": 1, "method": "lora"}
PLAIN = {"cost": COST, "score": SCORE, "size": SIZE}


def written(folder: Path, *examples: dict[str, Any], **more: Any) -> str:
    path = folder / "asked.json"
    whole = [{"id": f"x{number}", **example} for number, example in enumerate(examples, 1)]
    path.write_text(json.dumps({"examples": whole, **more}), encoding="utf-8")
    return str(path)


def answered(capsys: pytest.CaptureFixture[str], command: str, path: str) -> list[dict[str, Any]]:
    assert main([command, path, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"examples"}
    return [entry["result"] for entry in said["examples"]]


def refused(capsys: pytest.CaptureFixture[str], command: str, path: str) -> str:
    assert main([command, path, "--json"]) == 64
    said = capsys.readouterr()
    if said.out:  # some examples were answered, or at least named
        entries = json.loads(said.out)["examples"]
        assert all(set(entry) in ({"id", "result"}, {"id", "error"}) for entry in entries) and "error" in entries[-1]
    return said.err


@pytest.mark.parametrize(("command", "file"), [("cost", "cost"), ("score", "scoring"), ("size", "sizing")])
def test_that_a_file_of_examples_is_answered_in_its_own_types(command: str, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    examples = json.loads((DATA / f"{file}.json").read_text("utf-8"))["examples"]
    # The files hold keys of other commands too; only their examples are answered here.
    asked = DATA / f"{file}.json"
    found = answered(capsys, command, str(asked))
    assert len(found) == len(examples)
    for result, example in zip(found, examples, strict=True):
        assert json.dumps(result, sort_keys=True) == json.dumps(example["expected"], sort_keys=True)


@pytest.mark.parametrize("command", PLAIN)
def test_that_expectations_notes_and_titles_may_stand_in_a_file_or_not(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"expected": {"x": 1}, "note": "n", "title_en": "t", "title_zh": "标题"}
    plain, worded = answered(capsys, command, written(tmp_path, PLAIN[command], {**PLAIN[command], **words}, special=[], rankings=[]))
    assert plain == worded


@pytest.mark.parametrize("command", PLAIN)
def test_that_people_get_a_line_each(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, written(tmp_path, PLAIN[command])]) == 0
    assert capsys.readouterr().out.startswith("x1: ")


def test_that_numbers_may_be_written_as_text_and_text_as_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offer = {"unit_price": 3.10, "granularity_s": "60", "tax": {"rate": 0.06}, "fees": [{"amount": 1}]}
    load = {"gpus": "2", "busy_fraction": 0.8, "sessions": [{"start": "2026-03-02T10:00:00Z", "duration_s": 3600}]}
    (found,) = answered(capsys, "cost", written(tmp_path, {"offer": offer, "workload": load}))
    assert (found["compute"], found["tax"], found["effective_per_gpu_hour"]) == ("6.20", "0.43", "4.5000")


def test_that_what_a_file_says_of_absent_keys_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {"defaults": {"unit_price": "5.00", "tax": {"rate": "0.10", "included": False}}, "workload_defaults": {"gpus": 2}}
    bare = {"offer": {"tax": {"included": True}}, "workload": {"sessions": [{"duration_s": 3600}]}}
    (found,) = answered(capsys, "cost", written(tmp_path, bare, conventions=said))
    assert (found["gross_total"], found["net_total"]) == ("10.00", "9.09")
    (plain,) = answered(capsys, "score", written(tmp_path, SCORE))
    (other,) = answered(capsys, "score", written(tmp_path, SCORE, conventions={"evidence_factor": {"contract": 0.5}, "low": "words"}))
    assert (plain["score_low"], other["score_low"]) == (90.0, 50.0)


def test_that_a_model_may_be_told_by_its_dimensions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"params": 6738415616, "layers": 32, "hidden": 4096, "ffn": 11008, "heads": 32, "kv_heads": 32, "head_dim": 128, "vocab": 32000}
    for method in ("full_ft", "lora", "qlora", "inference"):
        known, own = answered(capsys, "size", written(tmp_path, {**SIZE, "method": method}, {**SIZE, "method": method, "model": told}))
        assert known == own


def test_that_absent_sizes_are_4096_and_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    full = {"sequence": 4096, "micro_batch": 1, "sequences": 1, "tokens_per_sequence": 4096, "weights": "bf16", "kv": "bf16"}
    for method in ("lora", "inference"):
        bare, said = answered(capsys, "size", written(tmp_path, {**SIZE, "method": method}, {**SIZE, **full, "method": method}))
        assert bare == said and ("free_kv_tokens_at_0.90" in bare) is (method == "inference")


def cost_with(offer: dict[str, Any] | None = None, load: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"offer": {**COST["offer"], **(offer or {})}, "workload": {**COST["workload"], **(load or {})}}


def item_with(**more: Any) -> dict[str, Any]:
    return {**SCORE, "items": [{**SCORE["items"][0], **more}]}


@pytest.mark.parametrize(
    ("command", "example", "words"),
    [
        ("cost", {"workload": {}}, ["offer", "missing"]),
        ("cost", cost_with({"unit_price": "three"}), ["offer.unit_price", "three"]),
        ("cost", cost_with({"unit_price": "-1"}), ["offer.unit_price", "at least 0"]),
        ("cost", cost_with({"unit_price": "1e999999"}), ["offer.unit_price"]),
        ("cost", cost_with({"unit_price": True}), ["offer.unit_price", "true"]),
        ("cost", cost_with({"unit_price": None}), ["offer.unit_price", "null"]),
        ("cost", cost_with({"granularity": 3600}), ["offer.granularity", "granularity_s"]),
        ("cost", cost_with({"granularity_s": 0}), ["offer.granularity_s", "from 1"]),
        ("cost", cost_with({"granularity_s": 1.5}), ["offer.granularity_s"]),
        ("cost", cost_with({"gpus_per_node": 0}), ["offer.gpus_per_node"]),
        ("cost", cost_with({"price_unit": "gpu_week"}), ["offer.price_unit", "gpu_day"]),
        ("cost", cost_with({"price_unit": "node_month"}), ["x1", "period_hours"]),
        ("cost", cost_with({"rounding": "floor"}), ["offer.rounding", "ceil"]),
        ("cost", cost_with({"currency": "yuan"}), ["offer.currency", "CNY"]),
        ("cost", cost_with({"whole_node_only": "yes"}), ["offer.whole_node_only", "true or false"]),
        ("cost", cost_with({"alignment": "clock"}), ["workload.sessions[0].start", "+08:00"]),
        ("cost", cost_with({"tiers": {"mode": "graduated", "steps": []}}), ["offer.tiers.steps"]),
        ("cost", cost_with({"tiers": {"steps": [{"up_to": None, "price": 1}]}}), ["offer.tiers.mode", "missing"]),
        ("cost", cost_with({"tiers": {"mode": "all_units", "steps": [{"up_to": 9, "price": 1}, {"up_to": 5, "price": 1}]}}), ["ascend"]),
        ("cost", cost_with({"commitment": {"kind": "prepaid_period"}}), ["offer.commitment.period_hours"]),
        ("cost", cost_with({"commitment": {"kind": "promise"}}), ["offer.commitment.kind", "committed_spend"]),
        ("cost", cost_with({"storage": {"price_per_gb_month": "1"}}), ["offer.storage.hours_per_month"]),
        ("cost", cost_with({"discounts": [{"value": "1.5"}]}), ["offer.discounts[0].value", "at most 1"]),
        ("cost", cost_with({"fx": {"to": "CNY", "rate": "0"}}), ["offer.fx.rate", "more than 0"]),
        ("cost", cost_with({"fx": {"to": "CNY", "rate": "7", "date": "31.3.2026"}}), ["offer.fx.date"]),
        ("cost", cost_with(None, {"sessions": [{}]}), ["workload.sessions[0].duration_s"]),
        ("cost", cost_with(None, {"sessions": [{"start": "2026-03-02T10:50:00", "end": "2026-03-02T11:10:00"}]}), ["start", "zone"]),
        ("cost", cost_with(None, {"sessions": [{"start": "2026-03-02T10:50:00Z", "end": "2026-03-02T10:10:00Z"}]}), ["end", "before"]),
        ("cost", cost_with(None, {"sessions": [{"start": "2026-03-02T10:50:00.5Z", "end": "2026-03-02T11:10:00Z"}]}), ["whole seconds"]),
        ("cost", cost_with(None, {"sessions": [{"start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z", "duration_s": 5}]}),
         ["duration_s", "3600"]),
        ("cost", cost_with(None, {"busy_fraction": "1.1"}), ["workload.busy_fraction"]),
        ("score", item_with(answer="yes"), ["items[0].answer", "pass"]),
        ("score", item_with(evidence="rumour"), ["items[0].evidence", "claim"]),
        ("score", item_with(dimension="b"), ["items[0].dimension", "weights"]),
        ("score", item_with(value=1.2), ["items[0].value"]),
        ("score", item_with(severity="major"), ["items[0].severity", "should"]),
        ("score", {"weights": {"a": 1}}, ["items", "missing"]),
        ("score", {**item_with(waiver={"by": "A", "reason": "r", "expires": "2026-07-01"}), "today": None}, ["today"]),
        ("score", item_with(waiver={"by": "A", "reason": "r", "expires": "soon"}), ["items[0].waiver.expires", "2026-06-30"]),
        ("score", {**SCORE, "weights": {"a": -1}}, ["weights.a"]),
        ("size", {**SIZE, "model": "llama2-7c"}, ["model", "llama2-7b"]),
        ("size", {**SIZE, "model": {"params": 1}}, ["model.layers", "missing"]),
        ("size", {**SIZE, "gpu_id": "H100"}, ["gpu_id", "nvidia-h100-sxm5-80gb"]),
        ("size", {**SIZE, "gpu_id": "nvidia-l40s-49gb"}, ["gpu_id", "nvidia-l40s-48gb"]),
        ("size", {**SIZE, "method": "guess"}, ["method", "qlora"]),
        ("size", {**SIZE, "weights": "fp16"}, ["weights", "int4"]),
        ("size", {**SIZE, "gpu_count": 0}, ["gpu_count"]),
        ("size", {**SIZE, "gpus": 8}, ["gpus"]),
        ("size", {**SIZE, "gpu_id": "nvidia-b100-sxm"}, ["x1", "memory"]),
    ],
)  # fmt: skip
def test_that_a_wrong_example_is_refused_with_file_example_key_and_what_to_do(
    command: str, example: dict[str, Any], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, command, written(tmp_path, PLAIN[command], example))
    for word in ("asked.json", "example x2" if "x1" not in words else "example", *(w for w in words if w != "x1")):
        assert word in said


def test_that_an_example_that_cannot_be_read_costs_no_other_its_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "asked.json"
    examples = [
        {"id": "good", "offer": {"unit_price": "2.00", "fees": None, "tax": None}, "workload": {"gpus": 2, "sessions": [{"duration_s": 3600}]}},
        {"id": "bad", "offer": {"unit_price": "2,00"}, "workload": {}},
        {"id": "also good", "offer": {}, "workload": {}},
    ]
    path.write_text(json.dumps({"examples": examples}))
    assert main(["cost", str(path), "--json"]) == 64
    said = capsys.readouterr()
    good, bad, other = json.loads(said.out)["examples"]
    assert good["result"]["net_total"] == "4.00" and other["result"]["net_total"] == "0.00"
    assert "unit_price" in bad["error"]["what"] and bad["error"]["next_step"] and "example bad" in said.err


def test_that_an_alternative_at_no_price_keeps_its_key_with_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "asked.json"
    commitment = {"kind": "prepaid_period", "period_hours": "730", "periods": "1", "on_demand_gpu_hour": "0"}
    offer = {"unit_price": "1000", "price_unit": "gpu_month", "commitment": commitment}
    path.write_text(json.dumps({"examples": [{"id": "a", "offer": offer, "workload": {"sessions": [{"duration_s": 3600}]}}]}))
    result = answered(capsys, "cost", str(path))[0]
    assert result["on_demand_alternative"] == "0.00" and "break_even_hours" in result and result["break_even_hours"] is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ["no JSON"]), (b"[]", ["no table"]), (b"{}", ["examples", "missing"]), (b'{"examples": 5}', ["examples", "no list"]),
        (b'{"examples": [5]}', ["examples[0]", "no table"]), (b'{"examples": [{}]}', ["examples[0]", "id"]),
        (b'{"examples": [{"id": "a", "id": "b"}]}', ["twice"]), (b'\xff\xfe{"examples": []}', ["no JSON"]),
        (b'{"examples": [{"id": "a", "offer": {"unit_price": NaN}, "workload": {}}]}', ["NaN"]), (b"[" * 100_000, ["no JSON"]),
        (b'{"examples": [{"id": "a", "offer": {}, "workload": {}}, {"id": "a", "offer": {}, "workload": {}}]}', ["example a", "twice"]),
    ],
)  # fmt: skip
def test_that_a_wrong_file_is_refused(content: bytes, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "asked.json"
    path.write_bytes(content)
    said = refused(capsys, "cost", str(path))
    assert all(word in said for word in ["asked.json", *words]), said


def test_that_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.json" in refused(capsys, "size", str(tmp_path / "nowhere.json"))


def test_that_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(written(tmp_path, COST))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert answered(capsys, "cost", str(path))[0]["compute"] == "1.00"


def test_that_foreign_ids_are_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "asked.json"
    path.write_bytes(rb'{"examples": [{"id": "\ud800\u001b[31m\u202e", "offer": {}, "workload": {"gpus": 1}}]}')
    assert answered(capsys, "cost", str(path))[0]["compute"] == "0.00"
    assert main(["cost", str(path)]) == 0
    path.write_bytes(path.read_bytes().replace(b'"gpus": 1', b'"gpus": -1'))
    for said in (capsys.readouterr().out, refused(capsys, "cost", str(path))):
        assert "[31m" in said and not {"\ud800", "\x1b", "\u202e"} & set(said)
