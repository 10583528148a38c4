"""Which models fit on which GPUs, by examples counted beforehand and at the borders?"""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.catalog.checklist import load_checklist
from gpulease_gui.catalog.gpus import GpuModel, load_gpus
from gpulease_gui.catalog.loader import CatalogueFault
from gpulease_gui.catalog.scenarios import SCENARIO_IDS, Scenarios, load_scenarios, refuse_unknown_sources
from gpulease_gui.cli.example_file import Example, Fields
from gpulease_gui.cli.size import judging
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.memory_need import KvFormat, WeightFormat, weight_bytes
from gpulease_gui.economics.sizing import FitVerdict, Method, Setup, card_bytes, fewest_gpus, fit, need, verdict_of
from gpulease_gui.economics.speed import (
    decode_ceiling,
    month_pays_from_hours,
    prefill_floor_ms,
    zero3_floor_ms,
    zero3_traffic_bytes,
)
from gpulease_gui.economics.suitable import LinkKind, Standing, by_month, choices, link_need, standing_of

DATA: dict[str, Any] = json.loads((Path(__file__).parents[1] / "economics" / "sizing.json").read_text("utf-8"))


@cache
def scenarios() -> Scenarios:
    return load_scenarios()


@cache
def gpus() -> dict[str, GpuModel]:
    return dict(load_gpus().models)


def setup(model: str, method: Method = Method.INFERENCE, gpu_count: int = 1, **more: Any) -> Setup:
    return Setup(scenarios().models[model], method, gpu_count, **more)


@pytest.mark.parametrize("example", DATA["examples"], ids=lambda example: example["id"])
def test_that_a_model_needs_what_was_counted_by_hand(example: dict[str, Any]) -> None:
    given = {key: value for key, value in example.items() if key not in ("id", "expected")}
    found = judging(load_gpus(), scenarios().models)(Example(example["id"], Fields(given, example["id"]), {}))
    assert found == example["expected"]


@pytest.mark.parametrize("row", DATA["matrix"], ids=lambda row: f"{row['model']}-{row['method']}")
def test_that_the_fewest_gpus_are_those_of_the_table(row: dict[str, Any]) -> None:
    method, _, weights = row["method"].partition("_") if row["method"].startswith("inference") else (row["method"], "", "bf16")
    asked = setup(row["model"], Method(method), weights=WeightFormat(weights), sequences=16)
    assert [fewest_gpus(asked, gpus()[id_]) for id_ in DATA["matrix_gpus"]] == row["fewest"]


@pytest.mark.parametrize("row", DATA["decode"], ids=lambda row: f"{row['model']}-{row['gpu_id']}")
def test_that_speed_has_the_ceiling_of_the_table(row: dict[str, Any]) -> None:
    gpu, asked = gpus()[row["gpu_id"]], setup(row["model"], gpu_count=row["gpu_count"], weights=WeightFormat(row["weights"]))
    rate = gpu.bf16_dense_tflops if row["weights"] == "bf16" else gpu.fp8_dense_tflops
    assert gpu.memory_bandwidth_gb_s is not None and rate is not None
    assert row["bandwidth_gb_s"] == gpu.memory_bandwidth_gb_s * row["gpu_count"]
    found = (decode_ceiling(asked, gpu.memory_bandwidth_gb_s), decode_ceiling(asked, gpu.memory_bandwidth_gb_s, 8192))
    assert [float(v) for v in found] == [row["ceiling_tokens_per_s_batch1"], row["ceiling_with_8192_ctx"]]
    assert float(prefill_floor_ms(asked, 4096, rate)) == row["prefill_4096_floor_ms"]
    assert round(float(weight_bytes(asked.model, asked.weights)) / 1e9, 2) == row["weights_gb"]


@pytest.mark.parametrize("row", DATA["traffic"], ids=lambda row: str(row["one_way_gb_s"]))
def test_that_sharded_training_moves_what_was_counted(row: dict[str, Any]) -> None:
    model = scenarios().models[row["model"]]
    assert round(float(zero3_traffic_bytes(model, row["gpus"])) / 1e9, 2) == row["bytes_per_gpu_gb"]
    assert zero3_floor_ms(model, row["gpus"], row["one_way_gb_s"]) == row["floor_ms_per_step"]


@pytest.mark.parametrize("row", DATA["derived"], ids=lambda row: row["id"])
def test_that_sizes_follow_from_the_dimensions(row: dict[str, Any]) -> None:
    model = scenarios().models[row["id"]]
    assert model.params_linear == row["params_linear"] == replace(model, params_linear=None).linear
    assert (model.kv_bytes_bf16, model.lora_params) == (row["kv_bytes_per_token_bf16"], row["lora_params_r16_all_linear"])


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(Fraction(90, 100), FitVerdict.FITS), (Fraction(90001, 100000), FitVerdict.TIGHT), (Fraction(97, 100), FitVerdict.TIGHT),
     (Fraction(97001, 100000), FitVerdict.DOES_NOT_FIT)],
)  # fmt: skip
def test_that_the_verdict_turns_just_above_a_border(ratio: Fraction, verdict: FitVerdict) -> None:
    assert verdict_of(ratio) is verdict


def test_that_fp8_cache_halves_the_cache_and_doubles_the_tokens() -> None:
    plain, halved = setup("llama3.1-8b", sequences=32), setup("llama3.1-8b", sequences=32, kv=KvFormat.FP8)
    assert need(halved).parts["kv_cache"] * 2 == need(plain).parts["kv_cache"]
    gpu = gpus()["nvidia-l40s-48gb"]
    tokens, more = fit(plain, gpu).free_kv_tokens, fit(halved, gpu).free_kv_tokens
    assert tokens is not None and more in (2 * tokens, 2 * tokens + 1)


def test_that_weights_larger_than_the_card_lack_tokens() -> None:
    found = fit(setup("llama3.1-70b"), gpus()["nvidia-rtx-4090-24gb"])
    assert found.verdict is FitVerdict.DOES_NOT_FIT
    assert found.free_kv_tokens is not None and found.free_kv_tokens < 0
    assert fit(setup("llama2-7b", Method.LORA), gpus()["nvidia-rtx-4090-24gb"]).free_kv_tokens is None


def test_that_only_sharded_training_gathers_layers() -> None:
    for method in (Method.FULL_FT, Method.LORA, Method.QLORA):
        assert "gathered_layers" not in need(setup("llama2-7b", method)).parts
        assert "gathered_layers" in need(setup("llama2-7b", method, 2)).parts
    assert "dequantised_layer" not in need(setup("llama2-7b", Method.QLORA, 2)).parts


def test_that_a_card_of_unknown_memory_is_not_taken_as_small() -> None:
    unknown = next(gpu for gpu in gpus().values() if not gpu.memory_total_mib)
    with pytest.raises(UsageError, match=unknown.id):
        card_bytes(unknown)


def test_that_a_month_pays_from_where_both_prices_meet() -> None:
    assert month_pays_from_hours(Decimal(36000), Decimal(80)) == 450
    with pytest.raises(UsageError, match="never"):
        month_pays_from_hours(Decimal(36000), Decimal(0))


@pytest.mark.parametrize("id_", SCENARIO_IDS)
def test_that_a_scenario_names_real_cards_and_weighs_every_dimension(id_: str) -> None:
    found = scenarios().scenarios[id_]
    assert {*found.recommended, *found.also_valid, *found.unfit} <= set(gpus())
    assert set(found.weights) == {item.dimension for item in load_checklist().values()}
    assert sum(found.weights.values()) == 100


def test_that_fp64_is_served_by_the_cards_that_have_it() -> None:
    fp64 = scenarios().scenarios["fp64"]
    assert [id_ for id_ in DATA["fp64_pass"] if fp64.serves(gpus()[id_]) is not True] == []
    assert [id_ for id_ in DATA["fp64_fail"] if fp64.serves(gpus()[id_]) is not False] == []
    assert scenarios().scenarios["graphics"].serves(gpus()["nvidia-h100-sxm5-80gb"]) is False
    unknown = replace(gpus()["nvidia-h100-sxm5-80gb"], fp64_tflops=None)
    assert fp64.serves(unknown) is None


def test_that_every_formula_and_model_names_a_known_source() -> None:
    assert {"adam_states", "activations", "qlora", "kv_cache"} <= set(scenarios().formulas)
    model = replace(scenarios().models["llama2-7b"], sources=("hearsay",))
    with pytest.raises(CatalogueFault, match="hearsay"):
        refuse_unknown_sources(model, scenarios().sources)


def test_that_a_plan_is_offered_the_recommended_cards_first() -> None:
    found = choices(setup("llama3.1-8b", Method.FULL_FT), gpus().values(), scenarios().scenarios["finetune"])
    first = {choice.gpu.id: choice.gpu_count for choice in found if choice.standing is Standing.RECOMMENDED}
    assert first == {"nvidia-a100-sxm4-80gb": 2, "nvidia-h100-sxm5-80gb": 2, "nvidia-h200-sxm-141gb": 2}
    assert [c.standing for c in found[:3]] == [Standing.RECOMMENDED] * 3 and found[-1].standing is Standing.UNFIT
    assert all(c.fit.verdict is FitVerdict.FITS and c.gpu.genuine for c in found)


def test_that_a_card_without_what_the_use_needs_is_unfit_though_it_holds_the_model() -> None:
    fp64 = scenarios().scenarios["fp64"]
    assert standing_of(gpus()["nvidia-h800-sxm5-80gb"], fp64) is Standing.UNFIT
    assert standing_of(gpus()["nvidia-h100-pcie-80gb"], fp64) is Standing.RECOMMENDED
    assert standing_of(gpus()["nvidia-h200-sxm-141gb"], fp64) is Standing.ALSO_VALID


@pytest.mark.parametrize(
    ("gpu_id", "count", "kind", "rate", "floor_ms"),
    [
        ("nvidia-h100-sxm5-80gb", 8, LinkKind.NVLINK, 450, 94),
        ("nvidia-l40s-48gb", 8, LinkKind.PCIE, 31.5, 1338),
        ("nvidia-h100-sxm5-80gb", 16, LinkKind.NETWORK, None, None),
        ("nvidia-h100-sxm5-80gb", 1, LinkKind.NONE, None, None),
    ],
)
def test_that_the_slowest_link_is_the_one_that_matters(
    gpu_id: str, count: int, kind: LinkKind, rate: float | None, floor_ms: int | None
) -> None:
    found = link_need(setup("llama3.1-8b", Method.FULL_FT, count), gpus()[gpu_id])
    assert (found.kind, found.one_way_gb_s, found.step_floor_ms) == (kind, rate, floor_ms)
    assert link_need(setup("llama3.1-8b", Method.LORA, count), gpus()[gpu_id]).step_floor_ms is None


def test_that_an_unknown_link_rate_is_not_taken_as_slow() -> None:
    unknown = replace(gpus()["nvidia-l40s-48gb"], pcie_width=None)
    found = link_need(setup("llama3.1-8b", Method.FULL_FT, 2), unknown)
    assert (found.kind, found.one_way_gb_s, found.step_floor_ms) == (LinkKind.PCIE, None, None)


def test_that_a_month_is_cheaper_only_beyond_the_meeting_point() -> None:
    assert [by_month(Decimal(hours), Decimal(36000), Decimal(80)) for hours in (449, 450, 451)] == [False, False, True]
