"""Which accelerator products exist, and what does a promised model name mean?"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource, toml_files
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text


class FormClass(StrEnum):
    """How a card is built in; the choices of the term gpu.form_factor."""

    SXM = "sxm"
    PCIE = "pcie"
    NVL = "nvl"
    OAM = "oam"
    SUPERCHIP = "superchip"
    MODULE = "module"


class EccDefault(StrEnum):
    """How error correction of the memory stands on a card as delivered."""

    ON = "on"
    OFF = "off"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Interconnect:
    """A link between cards that is no NVLink. `total_gb_s` adds both directions."""

    name: str
    total_gb_s: float | None = None


@dataclass(frozen=True, slots=True)
class Disputed:
    """A figure that sources print differently; `values` with the believed one among them, `sources` side by side."""

    field: str
    values: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GpuModel:
    """One product. None and () mean: unknown, or the chip has no such thing.

    Rates are dense, without sparsity; `memory_clock_mhz` as nvidia-smi prints it; link totals add both directions.
    `sources` names, per field, keys of resources/sources.toml.
    """

    id: str
    name: str
    vendor: str
    series: str
    family: str
    architecture: str
    chip: str
    form_factor: str
    tier: str
    launch_year: int
    china_market_variant: bool
    mig_max_instances: int
    confidence: str
    sources: Mapping[str, tuple[str, ...]]
    form_class: FormClass | None = None
    compute_capability: str | None = None
    modified: bool = False  # built by a third party under the name of another product
    masked: bool = False  # a label that no vendor ever published
    masked_mib: tuple[int, ...] = ()  # totals under which this label was seen on other hardware
    memory_gb_marketing: float | None = None
    memory_type: str | None = None
    memory_total_mib: tuple[int, ...] = ()
    memory_bus_width_bits: int | None = None
    memory_clock_mhz: float | None = None
    memory_bandwidth_gb_s: float | None = None
    fp64_tflops: float | None = None
    fp64_tensor_tflops: float | None = None
    fp32_tflops: float | None = None
    tf32_dense_tflops: float | None = None
    fp16_dense_tflops: float | None = None
    bf16_dense_tflops: float | None = None
    fp8_dense_tflops: float | None = None
    fp4_dense_tflops: float | None = None
    int8_dense_tops: float | None = None
    sm_count: int | None = None
    boost_clock_mhz: float | None = None
    max_sm_clock_mhz: float | None = None
    default_power_limit_w: float | None = None
    power_limit_range_w: tuple[float, ...] = ()
    pcie_gen: int | None = None
    pcie_width: int | None = None
    nvlink_generation: int | None = None
    nvlink_links: int | None = None
    nvlink_total_gb_s: float | None = None
    other_interconnect: Interconnect | None = None
    ecc_default: EccDefault | None = None
    cuda_min_version: str | None = None
    tool_names: tuple[str, ...] = ()  # as nvidia-smi, npu-smi, amd-smi ... print the card
    pci_device_ids: tuple[str, ...] = ()
    pci_subsystem_ids: tuple[str, ...] = ()
    disputed: tuple[Disputed, ...] = ()

    @property
    def genuine(self) -> bool:
        """Whether a vendor sells it under this name."""
        return not (self.modified or self.masked)

    @property
    def is_npu(self) -> bool:
        """Whether contracts promise it, and checks judge it, by the terms of NPUs."""
        return self.vendor == "Huawei"

    def listed(self, name: str) -> tuple[float, ...]:
        """Every figure that some source gives for the numeric field `name`, the believed one first."""
        own = getattr(self, name)
        believed = own if isinstance(own, tuple) else () if own is None else (own,)
        other = tuple(float(v) for d in self.disputed if d.field == name for v in d.values if _is_number(v))
        return (*believed, *other)


# Who a value belongs to is no figure and needs no source.
_UNSOURCED = frozenset(
    ["id", "name", "vendor", "series", "family", "architecture", "chip", "tier", "china_market_variant", "confidence",
     "sources", "form_class", "modified", "masked", "masked_mib", "ecc_default", "disputed"]
)  # fmt: skip
_SWITCH_LINKS = frozenset([8, 12, 18])  # boards of these meet behind NVSwitch when eight stand together
_SWITCH_GPUS = 8


@dataclass(frozen=True, slots=True)
class ModelPromise:
    """What gpu.model names: one product, or a family that leaves form factor and memory open.

    `products` are the ones that the word allows; `product` is None for a family.
    """

    word: str
    product: GpuModel | None = None
    family: str | None = None
    products: tuple[GpuModel, ...] = ()

    @property
    def sold_as(self) -> str:
        """How sentences name what was promised: the product's name, else the word of the contract."""
        return self.product.name if self.product else self.word

    def implied(self, gpu_count: int | None) -> Mapping[str, TermValue]:
        """The terms that follow from a promised product; empty for a family.

        The interconnect is implied only where every board of that size is wired so: bridge cards and the
        cube mesh of V100 and P100 imply nothing.
        """
        if self.product is None:
            return {}
        found: dict[str, TermValue | None] = {
            "gpu.form_factor": str(self.product.form_class) if self.product.form_class else None,
            "gpu.memory_gb": self.product.memory_gb_marketing,
            "gpu.power_w": self.product.default_power_limit_w,
            "gpu.interconnect": _implied_wiring(self.product, gpu_count),
        }
        return {key: value for key, value in found.items() if value is not None}

    @property
    def implied_of_npu(self) -> Mapping[str, TermValue]:
        """The terms of NPUs that follow from a promised product; empty for a family.

        The memory only where what its chips report adds up to the figure that it is sold by: a 300I of "24 GB" shows 21.
        """
        sold = self.product.memory_gb_marketing if self.product is not None and self.product.is_npu else None
        if self.product is None or sold is None or not any(sold * 1024 % mib == 0 for mib in self.product.memory_total_mib):
            return {}
        return {"npu.memory_gb": sold}


def _implied_wiring(product: GpuModel, gpu_count: int | None) -> str | None:
    built_in = product.form_class in (FormClass.SXM, FormClass.SUPERCHIP)
    if not built_in or product.nvlink_links not in _SWITCH_LINKS or gpu_count == 1:
        return None
    return "nvswitch" if gpu_count is not None and gpu_count >= _SWITCH_GPUS else "nvlink"


@dataclass(frozen=True, slots=True)
class GpuCatalogue:
    """All products by id."""

    models: Mapping[str, GpuModel] = field(default_factory=dict)
    _by_word: Mapping[str, tuple[GpuModel, ...]] = field(default_factory=dict, repr=False)
    _by_family: Mapping[str, tuple[GpuModel, ...]] = field(default_factory=dict, repr=False)
    _by_tool: Mapping[str, tuple[GpuModel, ...]] = field(default_factory=dict, repr=False)
    _by_device: Mapping[str, tuple[GpuModel, ...]] = field(default_factory=dict, repr=False)
    _by_chip: Mapping[str, tuple[GpuModel, ...]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, models: Iterable[GpuModel]) -> GpuCatalogue:
        """A catalogue of `models`, indexed by the words that a contract may use."""
        kept = tuple(models)
        return cls(
            {m.id: m for m in kept},
            _index(kept, lambda m: {_plain(name) for name in (m.name, *m.tool_names)}),
            _index(tuple(m for m in kept if m.genuine), lambda m: {_plain(m.family)}),
            _index(kept, lambda m: {_bare(name) for name in m.tool_names}),
            _index(kept, lambda m: set(m.pci_device_ids)),
            _index(kept, lambda m: {m.chip}),
        )

    def of_device(self, device_id: str) -> tuple[GpuModel, ...]:
        """The products that list a PCI id ("10de:2330"), in any case of letters."""
        return self._by_device.get(device_id.lower(), ())

    def named(self, tool_name: str) -> tuple[GpuModel, ...]:
        """The products that a tool prints under this name, with or without the vendor's name before it."""
        return self._by_tool.get(_bare(tool_name), ())

    def of_chip(self, chip: str) -> tuple[GpuModel, ...]:
        """The products built on one chip."""
        return self._by_chip.get(chip, ())

    def of_family(self, family: str) -> tuple[GpuModel, ...]:
        """The genuine products of one family."""
        return self._by_family.get(_plain(family), ())

    def promise(self, word: str) -> ModelPromise:
        """What `word` names: an id, a name as printed or sold, or a family.

        A family with one product is that product. Modified cards and labels without a vendor are never chosen by
        name. Raises UsageError for an unknown or ambiguous name, listing the ids.
        """
        plain = _plain(word)
        if plain in self.models:
            return _product(word, self.models[plain])
        if plain in self._by_family:
            return _family(word, self._by_family[plain])
        named = self._by_word.get(plain) or self.named(word) or self._sold_as(word)
        return _chosen(word, named) if named else self._by_parts(word)

    def _sold_as(self, word: str) -> tuple[GpuModel, ...]:
        wanted = _bare(word)
        return tuple(m for m in self.models.values() if _bare(m.name) == wanted)

    def _by_parts(self, word: str) -> ModelPromise:
        parts = _parts(word)
        every = tuple(m for m in self.models.values() if parts <= _all_parts(m)) if parts else ()
        fits = tuple(m for m in every if m.genuine) or every
        families = {m.family for m in fits}
        if len(families) == 1 and parts <= _parts(fits[0].family):
            return _family(word, self.of_family(fits[0].family))
        if not fits:
            raise self._unknown(word)
        return _chosen(word, fits)

    def _unknown(self, word: str) -> UsageError:
        known = _index(tuple(self.models.values()), lambda m: {_plain(m.name), m.id, _plain(m.family)})
        near = difflib.get_close_matches(_plain(word)[:80], known, n=3, cutoff=0.4)
        ids = list(dict.fromkeys(m.id for name in near for m in known[name])) or ["nvidia-h100-sxm5-80gb"]
        return UsageError(
            Text(f"gpu.model: no product is called {word[:80]!r}", f"gpu.model：没有名为 {word[:80]!r} 的产品"),
            Text("the catalogue has no such id, name or family", "目录中没有这个 id、名称或系列"),
            Text(f"write an id, such as {', '.join(ids[:6])}, or leave the term out", f"请填写 id，如 {'、'.join(ids[:6])}，或不填此条款"),
        )  # fmt: skip


def _index(models: tuple[GpuModel, ...], keys: Callable[[GpuModel], set[str]]) -> Mapping[str, tuple[GpuModel, ...]]:
    found: dict[str, tuple[GpuModel, ...]] = {}
    for model in models:
        for key in keys(model):
            found[key] = (*found.get(key, ()), model)
    return found


def _product(word: str, model: GpuModel) -> ModelPromise:
    return ModelPromise(word, model, model.family, (model,))


def _family(word: str, models: tuple[GpuModel, ...]) -> ModelPromise:
    return _product(word, models[0]) if len(models) == 1 else ModelPromise(word, None, models[0].family, models)


def _chosen(word: str, models: tuple[GpuModel, ...]) -> ModelPromise:
    genuine = [m for m in models if m.genuine]
    if len(genuine) == 1:
        return _product(word, genuine[0])
    ids = ", ".join(m.id for m in genuine or models)
    several = Text("several products print or bear this name", "有多个产品显示或使用这个名称")
    nobody = Text("no vendor sells a card under this name", "没有厂商以这个名称销售")
    raise UsageError(
        Text(f"gpu.model: {word!r} does not name one product", f"gpu.model：{word!r} 不能确定是哪个产品"), several if genuine else nobody,
        Text(f"write the id that is meant: {ids}", f"请填写所指的 id：{ids}"),
    )  # fmt: skip


_SPACES = re.compile(r"\s+")
_VENDORS = re.compile(r"^(nvidia|tesla|geforce|quadro|amd|instinct|huawei|ascend|geforce) +")


def _plain(word: str) -> str:
    return _SPACES.sub(" ", word.strip()).casefold()


def _bare(word: str) -> str:
    """`word` without the vendor's and the brand's name before it."""
    plain, before = _plain(word), ""
    while plain != before:
        before, plain = plain, _VENDORS.sub("", plain)
    return plain


def _parts(word: str) -> frozenset[str]:
    """The words of a name; sxm5 counts as sxm too, and 80 gb as 80gb."""
    joined = re.sub(r"(\d+) ?g(i?b)?\b", r"\1gb", _bare(word))
    parts = set(re.findall(r"[a-z0-9]+(?:-[0-9]+[a-z]?)?", joined.replace("-pcie", " pcie").replace("-sxm", " sxm")))
    return frozenset(parts)


def _all_parts(model: GpuModel) -> frozenset[str]:
    parts = frozenset().union(*(_parts(name) for name in (model.name, *model.tool_names)))
    return parts | ({str(model.form_class)} if model.form_class else set())


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d+(\.\d+)?", text))


def load_gpus() -> GpuCatalogue:
    """All products of resources/gpus. Raises CatalogueFault naming file and key."""
    known = frozenset(read_toml(resource("sources.toml")))
    return GpuCatalogue.of(load_gpu(read_toml(file), file.name, known) for file in toml_files("gpus"))


def load_gpu(table: Mapping[str, object], file: str, known_sources: frozenset[str]) -> GpuModel:
    """One product; every figure must name a known source. Raises CatalogueFault."""
    model = build(GpuModel, dict(table), file)
    if file != f"{model.id}.toml":
        raise CatalogueFault(file, "id", f"the file of {model.id} is called {model.id}.toml")
    for key in table:
        if key not in _UNSOURCED and not model.sources.get(key):
            raise CatalogueFault(file, key, "no source is named for this value")
    named = {(key, s) for key, keys in model.sources.items() for s in keys}
    named |= {(d.field, s) for d in model.disputed for s in d.sources}
    for key, source in sorted(named):
        if source not in known_sources:
            raise CatalogueFault(file, f"sources.{key}", f"unknown source {source!r}")
        if key not in GpuModel.__dataclass_fields__:
            raise CatalogueFault(file, f"sources.{key}", "no such value")
    return model
