"""Which driver serves which CUDA, which card, and until when?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.catalog.loader import build, read_toml, resource


@dataclass(frozen=True, slots=True)
class ToolkitDriver:
    """The Linux driver shipped with one toolkit ("12.4 U1")."""

    version: str
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class FamilyDriver:
    """The oldest driver on which any build of one CUDA major runs (minor-version compatibility)."""

    major: int
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class CapabilityDriver:
    """The oldest driver that knows a compute capability ("9.0")."""

    capability: str
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class DriverBranch:
    """A driver branch; `end_of_life` is a month ("2026-06"), None if the vendor named none."""

    number: int
    kind: str
    source: str
    end_of_life: str | None = None


@dataclass(frozen=True, slots=True)
class TorchWheel:
    """One build of PyTorch: `tag` as in cu126, torch versions `first` to `last` ("" = still built), what its code serves.

    `driver` is the oldest driver on which it starts.
    """

    tag: str
    first: str
    last: str
    capabilities: tuple[str, ...]
    driver: str
    source: str


@dataclass(frozen=True, slots=True)
class CudaFacts:
    """resources/cuda.toml. `as_of` is the month in which it was written; ends of life are judged against it."""

    as_of: str
    toolkit: tuple[ToolkitDriver, ...] = ()
    family: tuple[FamilyDriver, ...] = ()
    architecture: tuple[CapabilityDriver, ...] = ()
    branch: tuple[DriverBranch, ...] = ()
    wheel: tuple[TorchWheel, ...] = ()

    def wheels_of(self, torch: str) -> tuple[TorchWheel, ...]:
        """The builds of one torch version ("2.4" or "2.4.1")."""
        short = version_key(torch)[:2]
        return tuple(w for w in self.wheel if version_key(w.first) <= short and (not w.last or short <= version_key(w.last)))

    def branch_of(self, driver: str) -> DriverBranch | None:
        """The branch of a driver version; None if the table has no such branch."""
        number = version_key(driver)[:1]
        return next((b for b in self.branch if (b.number,) == number), None)

    def ended(self, branch: DriverBranch) -> bool:
        """Whether the branch got no more fixes when this table was written."""
        return branch.end_of_life is not None and branch.end_of_life < self.as_of

    def floor_for_capability(self, capability: str) -> str | None:
        """The oldest driver for a compute capability; None if unknown."""
        return next((a.driver for a in self.architecture if a.capability == capability), None)

    def floor_for_cuda(self, version: str) -> str | None:
        """The oldest driver on which a build of this CUDA version's major runs; None if unknown."""
        major = version_key(version)[:1]
        return next((f.driver for f in self.family if (f.major,) == major), None)


def version_key(version: str) -> tuple[int, ...]:
    """A dotted version as numbers, for comparing; () when it has none.

    >>> version_key("550.54.15") > version_key("550.9")
    True
    """
    found = re.match(r"\d+(?:\.\d+)*", version.strip().lstrip("Rr"))
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def at_least(version: str, floor: str) -> bool:
    """Whether `version` is `floor` or newer; missing parts count as 0."""
    have, want = version_key(version), version_key(floor)
    length = max(len(have), len(want))
    return have + (0,) * (length - len(have)) >= want + (0,) * (length - len(want))


def load_cuda() -> CudaFacts:
    """resources/cuda.toml. Raises CatalogueFault."""
    return build(CudaFacts, read_toml(resource("cuda.toml")), "cuda.toml")
