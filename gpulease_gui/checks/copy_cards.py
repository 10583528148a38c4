"""Which copy rates has each card over the runs of copies?"""

from __future__ import annotations

from functools import partial

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.torch_rates import RatedCard
from gpulease_gui.checks.torch_runs import product_of
from gpulease_gui.domain.command import Impact
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import TaskCard, TaskHead
from gpulease_gui.facts.torch_copy import CopyRun, TorchCopy

# A check of the copies: what all of them need and load.
copy_check = partial(
    Check,
    facts=("torch_copy",),
    optional=("smi_xml",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    vendor=Vendor.NVIDIA,
    takes_s=60,
)


def copy_heads(found: TorchCopy) -> tuple[TaskHead, ...]:
    """The heads of all runs."""
    return tuple(run.head for run in found.runs)


def usable_copies(found: TorchCopy) -> tuple[CopyRun, ...]:
    """Runs on GPUs that gave figures."""
    return tuple(run for run in found.runs if run.head.on_gpu and run.head.cards and not run.head.trouble)


def copy_cards(found: TorchCopy) -> tuple[TaskCard, ...]:
    """Every card that a run saw, once."""
    return tuple({card.key: card for run in usable_copies(found) for card in run.head.cards}.values())


def copied(found: TorchCopy, event: str, report: SmiReport | None, promise: Promise) -> tuple[RatedCard, ...]:
    """All cards with their median GB/s of one kind of copy in each run."""
    runs, made = usable_copies(found), []
    for card in copy_cards(found):
        told = [(copy, run) for run in runs for copy in run.of(event, card.key)]
        rates = [(copy.gb_s, run) for copy, run in told if copy.gb_s is not None]
        looks = max(rates, key=lambda one: one[0])[1].head.looks_at(card) if rates else ()
        broken = any(copy.correct is False for copy, _ in told)
        made.append(RatedCard(card, product_of(card, report, promise), tuple(rate for rate, _ in rates), looks, broken))
    return tuple(made)
