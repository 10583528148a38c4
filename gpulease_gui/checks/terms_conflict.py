"""Which terms of one contract exclude each other, so that no node could keep both?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text

MODEL, FORM, MEMORY, WHOLE, MIG = "gpu.model", "gpu.form_factor", "gpu.memory_gb", "gpu.whole", "gpu.mig"
_NO_SLICES = frozenset(["", "none", "no", "off", "disabled"])


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two stated terms. `open_terms` can't be judged; of a model and what it can't have, the model still can."""

    open_terms: tuple[str, ...]
    words: Text


def conflicts(promise: Promise) -> tuple[Conflict, ...]:
    """Every pair of stated terms that no product of the catalogue keeps together."""
    return tuple(_conflicts(promise))


def _conflicts(promise: Promise) -> Iterator[Conflict]:
    terms, model = promise.terms, promise.model
    product = model.product if model else None
    if product is not None:
        form, memory = product.form_class, product.memory_gb_marketing
        if FORM in terms and form is not None and terms[FORM] != str(form):
            yield _with_model(FORM, terms[FORM], product.name, str(form))
        if MEMORY in terms and memory is not None and terms[MEMORY] != memory:
            yield _with_model(MEMORY, terms[MEMORY], product.name, f"{memory:g}")
    if terms.get(WHOLE) is True and str(terms.get(MIG, "")).strip().lower() not in _NO_SLICES:
        words = Text(
            f"the contract contradicts itself: whole cards and MIG slices ({terms[MIG]})", f"合同自相矛盾：既约定整卡，又约定 MIG 切片（{terms[MIG]}）"
        )
        yield Conflict((WHOLE, MIG), words)


def _with_model(term: str, stated: TermValue, name: str, has: str) -> Conflict:
    value = f"{stated:g}" if isinstance(stated, int | float) else str(stated)
    return Conflict((term,), Text(
        f"the contract contradicts itself: {term} = {value}, but {name} has {has}", f"合同自相矛盾：{term} = {value}，而 {name} 为 {has}",
    ))  # fmt: skip
