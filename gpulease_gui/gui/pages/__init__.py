"""Which pages are there?"""

from __future__ import annotations

import importlib
import pkgutil

from gpulease_gui.gui.pages.page import PageSpec


def find_pages() -> tuple[PageSpec, ...]:
    """All pages of this folder in the order of the navigation. Raises ValueError for an id that comes twice."""
    found: dict[str, PageSpec] = {}
    for info in pkgutil.iter_modules(__path__, f"{__name__}."):
        spec = getattr(importlib.import_module(info.name), "PAGE", None)
        if spec is None:
            continue
        if spec.id in found:
            raise ValueError(f"two pages are called {spec.id}")
        found[spec.id] = spec
    return tuple(sorted(found.values(), key=lambda spec: spec.order))
