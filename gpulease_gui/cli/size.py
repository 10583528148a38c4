"""Do models fit on GPUs?"""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Mapping
from typing import Any

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel, load_gpus
from gpulease_gui.catalog.scenarios import LlmModel, load_scenarios
from gpulease_gui.cli import example_file
from gpulease_gui.cli.example_file import Example, Fields
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.memory_need import KvFormat, WeightFormat
from gpulease_gui.economics.sizing import Fit, Method, Setup, fit

add_arguments = example_file.add_arguments


def run(options: argparse.Namespace) -> int:
    """Print whether the model of every example fits."""
    return example_file.answer(options, judging(load_gpus(), load_scenarios().models), _line)


def judging(gpus: GpuCatalogue, models: Mapping[str, LlmModel]) -> Callable[[Example], dict[str, object]]:
    """What makes the result of an example from the catalogue; it raises UsageError."""
    return lambda example: as_dict(fit(_setup(example.fields, models), _gpu(example.fields, gpus)))


def _setup(fields: Fields, models: Mapping[str, LlmModel]) -> Setup:
    plain = Setup(next(iter(models.values())), Method.INFERENCE)
    return Setup(
        model=_model(fields, models),
        method=fields.choice("method", Method),
        gpu_count=fields.whole("gpu_count", plain.gpu_count, least=1),
        weights=fields.choice("weights", WeightFormat, plain.weights),
        kv=fields.choice("kv", KvFormat, plain.kv),
        sequence=fields.whole("sequence", plain.sequence, least=1),
        micro_batch=fields.whole("micro_batch", plain.micro_batch, least=1),
        sequences=fields.whole("sequences", plain.sequences),
        tokens_per_sequence=fields.whole("tokens_per_sequence", plain.tokens_per_sequence),
    )


def _model(fields: Fields, models: Mapping[str, LlmModel]) -> LlmModel:
    if isinstance(fields.raw("model"), dict):
        return _described(fields.table("model"))
    name = fields.text("model")
    if name not in models:
        near = difflib.get_close_matches(name, models, n=3, cutoff=0.4) or list(models)
        raise fields.fault("model", f"no model is called {name!r}", f"write {' or '.join(near)}, or a table of its dimensions")
    return models[name]


def _described(fields: Fields) -> LlmModel:
    model = LlmModel(
        id=fields.text("id", "own"),
        params=fields.whole("params", least=1),
        layers=fields.whole("layers", least=1),
        hidden=fields.whole("hidden", least=1),
        ffn=fields.whole("ffn", least=1),
        heads=fields.whole("heads", least=1),
        kv_heads=fields.whole("kv_heads", least=1),
        head_dim=fields.whole("head_dim", least=1),
        vocab=fields.whole("vocab", least=1),
        params_linear=_optional(fields, "params_linear", 0),
        kv_bytes_per_token_bf16=_optional(fields, "kv_bytes_per_token_bf16", 1),
        lora_params_r16_all_linear=_optional(fields, "lora_params_r16_all_linear", 0),
    )
    if model.linear > model.params:
        raise fields.fault("params", f"{model.params} are fewer than the {model.linear} of the linear layers", "check the dimensions")
    fields.done("name", *example_file.WORDS_ABOUT_AN_EXAMPLE)
    return model


def _optional(fields: Fields, key: str, least: int) -> int | None:
    return fields.whole(key, least=least) if fields.has(key) else None


def _gpu(fields: Fields, gpus: GpuCatalogue) -> GpuModel:
    word = fields.text("gpu_id")
    try:
        promise = gpus.promise(word)
    except UsageError as error:
        raise fields.fault("gpu_id", f"{word!r} names no single product", error.next_step) from error
    if promise.product is None:
        ids = ", ".join(model.id for model in promise.products)
        raise fields.fault("gpu_id", f"{word!r} is a family of products", f"write one of: {ids}")
    return promise.product


def as_dict(found: Fit) -> dict[str, object]:
    """The keys of the example files; GB and ratio as numbers."""
    result: dict[str, object] = {
        "steps_gb": {name: float(size) for name, size in found.steps_gb.items()},
        "need_per_gpu_gb": float(found.need_per_gpu_gb),
        "card_memory_gb": float(found.card_memory_gb),
        "ratio": float(found.ratio),
        "verdict": str(found.verdict),
    }
    if found.free_kv_tokens is not None:
        result["free_kv_tokens_at_0.90"] = found.free_kv_tokens
    return result


def _line(result: dict[str, Any]) -> str:
    return f"{result['verdict']}, {result['need_per_gpu_gb']} GB of {result['card_memory_gb']} GB per GPU"
