"""Does a model fit on so many of these GPUs?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from math import floor

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.scenarios import LlmModel
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import MIB
from gpulease_gui.economics.memory_need import (
    OVERHEAD_BYTES,
    KvFormat,
    WeightFormat,
    activations,
    adam_states,
    dequantised_layer,
    gathered_layers,
    kv_bytes_per_token,
    nf4_base,
    weight_bytes,
)
from gpulease_gui.economics.rounding import half_up

GB = 10**9
FITS_TO = Fraction(9, 10)
TIGHT_TO = Fraction(97, 100)
COUNTS = (1, 2, 4, 8, 16, 32, 64)


class Method(StrEnum):
    """What is done with the model."""

    FULL_FT = "full_ft"
    LORA = "lora"
    QLORA = "qlora"
    INFERENCE = "inference"


class FitVerdict(StrEnum):
    """How the need stands to the memory of a card: up to 0.90, up to 0.97, above."""

    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does_not_fit"


@dataclass(frozen=True, slots=True)
class Setup:
    """A model and how it is run. Training reads sequence and micro_batch; inference the formats and the live tokens.

    Full training over more than one GPU is sharded as ZeRO-3, adapters as FSDP, inference by tensor.
    """

    model: LlmModel
    method: Method
    gpu_count: int = 1
    weights: WeightFormat = WeightFormat.BF16
    kv: KvFormat = KvFormat.BF16
    sequence: int = 4096
    micro_batch: int = 1
    sequences: int = 1
    tokens_per_sequence: int = 4096


@dataclass(frozen=True, slots=True)
class Need:
    """The parts of the need by name, and the sum for one GPU; exact bytes. Parts are totals, not always per GPU."""

    parts: Mapping[str, Fraction]
    per_gpu: Fraction


def need(setup: Setup) -> Need:
    """What one GPU must hold. The sources and errors are those of `memory_need`; training is good to 15 %."""
    return _NEEDS[setup.method](setup)


def _full_ft(setup: Setup) -> Need:
    states = Fraction(adam_states(setup.model.params))
    share = states / setup.gpu_count
    parts = {"states_16P_total": states, "states_per_gpu": share, **_training(setup)}
    return Need(parts, share + sum(_training(setup).values()))


def _lora(setup: Setup) -> Need:
    base, adapter = Fraction(2 * setup.model.params), Fraction(adam_states(setup.model.lora_params))
    parts = {"base_bf16": base, "adapter_16P": adapter, **_training(setup)}
    return Need(parts, (base + adapter) / setup.gpu_count + sum(_training(setup).values()))


def _qlora(setup: Setup) -> Need:
    base, adapter = nf4_base(setup.model), Fraction(adam_states(setup.model.lora_params))
    # Sharded, the gathered layers are counted in bf16 and hold the dequantised copy already.
    copy = {"dequantised_layer": Fraction(dequantised_layer(setup.model))} if setup.gpu_count == 1 else {}
    rest = {**copy, **_training(setup)}
    return Need({"base_nf4": base, "adapter_16P": adapter, **rest}, (base + adapter) / setup.gpu_count + sum(rest.values()))


def _training(setup: Setup) -> dict[str, Fraction]:
    parts = {
        "activations": Fraction(activations(setup.model, setup.sequence, setup.micro_batch)),
        "overhead": Fraction(OVERHEAD_BYTES),
    }
    gathered = gathered_layers(setup.model, setup.gpu_count)
    return {**parts, "gathered_layers": gathered} if gathered else parts


def _inference(setup: Setup) -> Need:
    weights = weight_bytes(setup.model, setup.weights)
    cache = kv_bytes_per_token(setup.model, setup.kv) * setup.sequences * setup.tokens_per_sequence
    overhead = Fraction(OVERHEAD_BYTES)
    parts = {"weights": weights, "kv_cache": cache, "overhead_per_gpu": overhead}
    return Need(parts, (weights + cache) / setup.gpu_count + overhead)


_NEEDS: Mapping[Method, Callable[[Setup], Need]] = {
    Method.FULL_FT: _full_ft, Method.LORA: _lora, Method.QLORA: _qlora, Method.INFERENCE: _inference,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fit:
    """A need beside a card: GB (decimal) to two places, the ratio to three; the verdict is by the exact ratio.

    `free_kv_tokens` (inference only): live tokens that fit while a card is 0.90 full; negative when the weights
    alone are too large.
    """

    steps_gb: Mapping[str, Decimal]
    need_per_gpu_gb: Decimal
    card_memory_gb: Decimal
    ratio: Decimal
    verdict: FitVerdict
    free_kv_tokens: int | None = None


def fit(setup: Setup, gpu: GpuModel) -> Fit:
    """Whether `setup` fits on its number of `gpu`. Raises UsageError when the catalogue lacks the card's memory."""
    needed, card = need(setup), card_bytes(gpu)
    ratio = needed.per_gpu / card
    return Fit(
        {name: _gb(part) for name, part in needed.parts.items()}, _gb(needed.per_gpu), _gb(Fraction(card)),
        half_up(ratio, 3), verdict_of(ratio), _free_tokens(setup, card),
    )  # fmt: skip


def card_bytes(gpu: GpuModel) -> int:
    """Memory as the driver reports it to a renter (ECC as delivered). Raises UsageError when the catalogue lacks it."""
    if not gpu.memory_total_mib:
        raise UsageError(Text(f"the catalogue has no reported memory for {gpu.id}", f"目录中没有 {gpu.id} 的驱动报告显存"), next_step=Text("take a product whose memory is known", "请选择显存已知的产品"))
    return gpu.memory_total_mib[0] * MIB


def verdict_of(ratio: Fraction) -> FitVerdict:
    """Up to 0.90 fits, up to 0.97 is tight. The rest is for what no formula counts; the borders are our choice."""
    if ratio <= FITS_TO:
        return FitVerdict.FITS
    return FitVerdict.TIGHT if ratio <= TIGHT_TO else FitVerdict.DOES_NOT_FIT


def _gb(size: Fraction) -> Decimal:
    return half_up(size / GB, 2)


def _free_tokens(setup: Setup, card: int) -> int | None:
    if setup.method is not Method.INFERENCE:
        return None
    room = setup.gpu_count * (FITS_TO * card - OVERHEAD_BYTES) - weight_bytes(setup.model, setup.weights)
    return floor(room / kv_bytes_per_token(setup.model, setup.kv))


def can_compute(gpu: GpuModel, setup: Setup) -> bool:
    """Whether the card computes in the format of the weights: FP8 needs a rate in the catalogue, the others none."""
    return not (setup.method is Method.INFERENCE and setup.weights is WeightFormat.FP8 and gpu.fp8_dense_tflops is None)


def fewest_gpus(setup: Setup, gpu: GpuModel) -> int | None:
    """The fewest of 1, 2, 4 ... 64 GPUs on which `setup` fits; None when none does or the card lacks the format.

    Raises UsageError when the catalogue lacks the card's memory.
    """
    if not can_compute(gpu, setup):
        return None
    fitting = (n for n in COUNTS if need(replace(setup, gpu_count=n)).per_gpu <= FITS_TO * card_bytes(gpu))
    return next(fitting, None)
