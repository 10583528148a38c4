"""What would a score be with other weights?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.scoring import Score, geometric_mean
from gpulease_gui.services.commerce_score import DealScore


def rescored(found: DealScore, weights: Mapping[str, Decimal]) -> Score:
    """The score with other weights, from the dimensions as they were scored (4 places): to look at while weights are moved.

    What is kept in the end is scored from the items. Raises UsageError for a dimension without a weight.
    """
    score = found.score
    return replace(score, score_low=_mean(score.dimension_low, weights), score_high=_mean(score.dimension_high, weights))


def _mean(dimensions: Mapping[str, Decimal], weights: Mapping[str, Decimal]) -> Decimal | None:
    mean = geometric_mean({name: Fraction(value) for name, value in dimensions.items()}, weights)
    return None if mean is None else half_up(100 * mean, 2)
