"""Which uses do people rent GPUs for, what decides there, and which models do they run?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource
from gpulease_gui.domain.text import Text

SCENARIO_IDS = ("finetune", "fp64", "inference", "graphics")
LORA_RANK = 16


@dataclass(frozen=True, slots=True)
class LlmModel:
    """A language model by its dimensions. `params` counts all, `params_linear` the matrices of the layers.

    `kv_bytes_per_token_bf16` and `lora_params_r16_all_linear` are given only where the dimensions do not tell them
    (latent attention, experts).
    """

    id: str
    params: int
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    params_linear: int | None = None
    kv_bytes_per_token_bf16: int | None = None
    lora_params_r16_all_linear: int | None = None
    sources: tuple[str, ...] = ()

    @property
    def linear(self) -> int:
        """Parameters in the matrices of the layers: those that quantisation and LoRA touch."""
        return self.params_linear if self.params_linear is not None else self.layers * sum(a * b for a, b in self.matrices)

    @property
    def matrices(self) -> tuple[tuple[int, int], ...]:
        """Width in and out of the matrices of one layer: query, key, value, output, gate, up, down."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        attention = ((self.hidden, queries), (self.hidden, keys), (self.hidden, keys), (queries, self.hidden))
        return (*attention, (self.hidden, self.ffn), (self.hidden, self.ffn), (self.ffn, self.hidden))

    @property
    def kv_bytes_bf16(self) -> int:
        """Bytes that one token keeps in the cache: key and value of every layer, two bytes each."""
        given = self.kv_bytes_per_token_bf16
        return given if given is not None else 4 * self.layers * self.kv_heads * self.head_dim

    @property
    def lora_params(self) -> int:
        """Parameters of adapters of rank 16 beside every matrix of every layer."""
        given = self.lora_params_r16_all_linear
        return given if given is not None else self.layers * LORA_RANK * sum(a + b for a, b in self.matrices)


@dataclass(frozen=True, slots=True)
class Need:
    """A field of a GPU product and the least that the use takes."""

    field: str
    at_least: float


@dataclass(frozen=True, slots=True)
class Formula:
    """Where a rule of sizing comes from; `error` says how far it may be off."""

    id: str
    expression: str
    sources: tuple[str, ...]
    confidence: str
    error: Text


@dataclass(frozen=True, slots=True)
class Source:
    """A paper, page or list behind a figure."""

    title: str
    kind: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One use. `weights` are the default dimension weights in per cent; thresholds in the unit of their name."""

    id: str
    title: Text
    decides: tuple[Text, ...]
    recommended: tuple[str, ...]
    also_valid: tuple[str, ...]
    unfit: tuple[str, ...]
    must_check: tuple[Text, ...]
    warnings: tuple[Text, ...]
    billing: Text
    weights: Mapping[str, int]
    needs: tuple[Need, ...] = ()
    thresholds: Mapping[str, float] | None = None

    def serves(self, gpu: GpuModel) -> bool | None:
        """Whether a product has what the use needs at least; None when the catalogue does not know."""
        if gpu.id in self.unfit:
            return False
        known = [getattr(gpu, need.field) for need in self.needs]
        if any(value is not None and value < need.at_least for value, need in zip(known, self.needs, strict=True)):
            return False
        return None if None in known else True


@dataclass(frozen=True, slots=True)
class Scenarios:
    """All uses, models and formulas by id."""

    scenarios: Mapping[str, Scenario]
    models: Mapping[str, LlmModel]
    formulas: Mapping[str, Formula]
    sources: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class _Models:
    model: tuple[LlmModel, ...]


@dataclass(frozen=True, slots=True)
class _Formulas:
    formula: tuple[Formula, ...]


def load_scenarios() -> Scenarios:
    """Everything of resources/scenarios. Raises CatalogueFault naming file and key."""
    sources = {key: build(Source, table, "sources.toml", key) for key, table in _tables("sources").items()}
    models = {model.id: model for model in build(_Models, _tables("models"), "models.toml").model}
    formulas = {f.id: f for f in build(_Formulas, _tables("formulas"), "formulas.toml").formula}
    entries: list[LlmModel | Formula] = [*models.values(), *formulas.values()]
    for entry in entries:
        refuse_unknown_sources(entry, sources)
    return Scenarios({id_: _scenario(id_) for id_ in SCENARIO_IDS}, models, formulas, sources)


def _tables(name: str) -> dict[str, object]:
    return read_toml(resource("scenarios", f"{name}.toml"))


def refuse_unknown_sources(entry: LlmModel | Formula, known: Mapping[str, Source]) -> None:
    """Every figure has a known source, or CatalogueFault is raised."""
    for source in entry.sources or ("(none)",):
        if source not in known:
            raise CatalogueFault("scenarios", f"{entry.id}.sources", f"unknown source {source!r}")


def _scenario(id_: str) -> Scenario:
    found = build(Scenario, _tables(id_), f"{id_}.toml")
    if found.id != id_:
        raise CatalogueFault(f"{id_}.toml", "id", f"the file of {found.id} is called {found.id}.toml")
    for need in found.needs:
        if need.field not in GpuModel.__dataclass_fields__:
            raise CatalogueFault(f"{id_}.toml", f"needs.{need.field}", "products have no such value")
    return found
