"""How many bytes does each part of a model take on the GPUs?

All results are exact bytes (GB here are decimal); P parameters, L layers, h hidden width, V vocabulary, N GPUs.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction

from gpulease_gui.catalog.scenarios import LlmModel

# CUDA context, communication buffers and allocator: a flat allowance of 2 GB per card (by experience, +-1 GB).
OVERHEAD_BYTES = 2_000_000_000
ADAM_BYTES = 16


class WeightFormat(StrEnum):
    """How weights are kept for inference."""

    BF16 = "bf16"
    FP8 = "fp8"
    INT4 = "int4"


class KvFormat(StrEnum):
    """How the key-value cache is kept."""

    BF16 = "bf16"
    FP8 = "fp8"


_LINEAR_BYTES = {WeightFormat.BF16: Fraction(2), WeightFormat.FP8: Fraction(1), WeightFormat.INT4: Fraction(9, 16)}
_NF4_BITS = Fraction(4127, 1000)


def adam_states(params: int) -> int:
    """16 bytes per trained parameter: 2 weight, 2 gradient, 4 master copy, 4 + 4 moments.

    Source: ZeRO (Rajbhandari et al.), mixed-precision Adam. Error: exact by count; 18 bytes where gradients stay FP32.
    """
    return ADAM_BYTES * params


def gathered_layers(model: LlmModel, gpu_count: int) -> Fraction:
    """4 P / L: two layers gathered in bf16 while a sharded model works; nothing on one GPU.

    Source: derived from how ZeRO-3 and FSDP prefetch one layer ahead. Error: medium, the prefetch depth is a setting.
    """
    return Fraction(4 * model.params, model.layers) if gpu_count > 1 else Fraction(0)


def activations(model: LlmModel, sequence: int, micro_batch: int) -> int:
    """2 L b s h kept layer inputs + 34 b s h of the one recomputed layer + 8 b s V logits with gradient (FP32).

    Source: Korthikanti et al. 2022 for the 34, the rest counted. Error: about 15 %, by framework and attention
    kernel; a loss in chunks removes most of the last term.
    """
    tokens = micro_batch * sequence
    return tokens * (2 * model.layers * model.hidden + 34 * model.hidden + 8 * model.vocab)


def nf4_base(model: LlmModel) -> Fraction:
    """4.127 bits per parameter of the linear layers, 2 bytes for the others (embeddings, head, norms).

    Source: QLoRA (Dettmers et al. 2023), NF4 with double quantisation. Error: below 1 %; 4.5 bits without the
    second quantisation.
    """
    return _NF4_BITS / 8 * model.linear + 2 * (model.params - model.linear)


def dequantised_layer(model: LlmModel) -> int:
    """4 h ffn: two matrices of the feed-forward block in bf16 while they are used.

    Source: derived from how QLoRA computes. Error: medium; frameworks keep one or two of them.
    """
    return 4 * model.hidden * model.ffn


def weight_bytes(model: LlmModel, weights: WeightFormat) -> Fraction:
    """2 bytes per parameter (bf16), 1 (FP8) or 0.5625 (INT4 in groups of 32 with scales) in the linear layers, else 2.

    Source: counted; groups of 128 take 0.53. Error: below 2 % for INT4, none for the others.
    """
    return _LINEAR_BYTES[weights] * model.linear + 2 * (model.params - model.linear)


def kv_bytes_per_token(model: LlmModel, kv: KvFormat) -> Fraction:
    """2 L n_kv d values per token, 2 bytes each (bf16) or 1 (FP8).

    Source: counted from the attention heads. Error: none for plain and grouped attention; paging adds a few per cent.
    """
    return Fraction(model.kv_bytes_bf16, 1 if kv is KvFormat.BF16 else 2)
