"""Which checks matter for a use, in which order, and which does it leave out?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, toml_files
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text


@dataclass(frozen=True, slots=True)
class Profile:
    """How a node is verified for one use. `first` and `leaves_out` are ids of checks.

    A check that judges a promise, that looks whether the node can be believed, or that every acceptance needs is asked
    even where it is left out here.
    """

    id: str
    title: Text
    why: Text
    first: tuple[str, ...]
    leaves_out: tuple[str, ...] = ()


@cache
def load_profiles() -> Mapping[str, Profile]:
    """All profiles by id, one file each. Raises CatalogueFault naming file and key."""
    found: dict[str, Profile] = {}
    for file in toml_files("profiles"):
        profile = build(Profile, read_toml(file), file.name)
        if file.name != f"{profile.id}.toml":
            raise CatalogueFault(file.name, "id", f"the file of {profile.id} is called {profile.id}.toml")
        twice = set(profile.first) & set(profile.leaves_out)
        if twice:
            raise CatalogueFault(file.name, "leaves_out", f"{min(twice)} is also among the first")
        found[profile.id] = profile
    return found


def find_profile(id_: str) -> Profile | None:
    """The profile of this id; None for "". Raises UsageError for an unknown one, naming those that are there."""
    if id_ and id_ not in load_profiles():
        names = ", ".join(load_profiles())
        raise UsageError(Text(f"there is no profile {id_!r}", f"没有用途 {id_!r}"), next_step=Text(f"the profiles are: {names}", f"可选用途：{names}"))
    return load_profiles()[id_] if id_ else None
