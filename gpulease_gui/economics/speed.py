"""How fast can a model run at best?

Bounds by bandwidth and arithmetic alone: no real run beats them.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from gpulease_gui.catalog.scenarios import LlmModel
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.memory_need import kv_bytes_per_token, weight_bytes
from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.sizing import GB, Setup


def decode_ceiling(setup: Setup, bandwidth_gb_s: float, context_tokens: int = 0) -> Decimal:
    """Tokens per second of one stream at most, to one place: N x bandwidth / (weights + cache of the context).

    `bandwidth_gb_s` is that of one card. Source: each token reads all weights once. Error: an upper bound; real runs
    reach 0.5 to 0.85 of it.
    """
    read = weight_bytes(setup.model, setup.weights) + context_tokens * kv_bytes_per_token(setup.model, setup.kv)
    return half_up(setup.gpu_count * _exact(bandwidth_gb_s) * GB / read, 1)


def prefill_floor_ms(setup: Setup, prompt_tokens: int, dense_tflops: float) -> Decimal:
    """Milliseconds until the first token at least, to one place: 2 P tokens / (N x dense rate of one card).

    Source: two operations per parameter and token. Error: a lower bound; attention and unused rate come on top.
    """
    operations = 2 * setup.model.params * prompt_tokens
    return half_up(Fraction(operations * 1000) / (setup.gpu_count * _exact(dense_tflops) * 10**12), 1)


def zero3_traffic_bytes(model: LlmModel, gpu_count: int) -> Fraction:
    """Bytes that a GPU sends, and receives, in one step of ZeRO-3: 6 P (N - 1) / N.

    Source: ZeRO: two all-gathers and one reduce-scatter in bf16. Error: exact for this scheme, without retries.
    """
    return Fraction(6 * model.params * (gpu_count - 1), gpu_count)


def zero3_floor_ms(model: LlmModel, gpu_count: int, one_way_gb_s: float) -> int:
    """Milliseconds per step that this traffic takes at least over a link of `one_way_gb_s` (raw rate)."""
    return int(half_up(zero3_traffic_bytes(model, gpu_count) * 1000 / (_exact(one_way_gb_s) * GB), 0))


def month_pays_from_hours(monthly_price: Decimal, hourly_price: Decimal) -> Decimal:
    """Hours per month from which the month price is cheaper, to four places. Raises UsageError for a free hour.

    Source: both prices meet there. Error: none, if both have the same tax and the same extras.
    """
    if hourly_price <= 0:
        raise UsageError(Text(f"an hour at {hourly_price} is never dearer than a month", f"每小时 {hourly_price} 永远不会比包月贵"), next_step=Text("write the price of one hour", "请填写每小时的价格"))
    return half_up(Fraction(monthly_price) / Fraction(hourly_price), 4)


def _exact(figure: float) -> Fraction:
    return Fraction(str(figure))

