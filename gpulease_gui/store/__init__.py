"""How is everything that the user wrote down, and every answer of a node, kept on this computer?"""

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _NoNumpyForTheDatabase(MetaPathFinder):
    """The database library loads numpy where it is, 12 MB, to know its numbers as columns; none of ours is one."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Raises ImportError for numpy where the library asks for it, in whatever thread; None = look elsewhere."""
        if name == "numpy" and _asker() == "sqlite_utils.db":
            raise ModuleNotFoundError("not needed here", name=name)
        return None


def _asker() -> str:
    """The module whose line imports."""
    frame = sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in ("importlib", "_frozen_importlib"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__"))


sys.meta_path.insert(0, _NoNumpyForTheDatabase())
