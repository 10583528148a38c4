"""Is the workspace that a command names one that it can work with?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import NoneType

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.ways import AskSecret


def services_of(
    path: Path | None, *, demo: bool, must_exist: bool = False, ask_secret: AskSecret | None = None,
    fingerprints: tuple[str, ...] = (),
) -> Services:  # fmt: skip
    """Open the named workspace, or the user's own one. Raises UsageError for a wrong name, UserFacing.

    Only the program's own folder is made where it is missing; `must_exist` for a command that reads what was kept.
    """
    with wrong_name(path, must_exist=must_exist):
        return open_services(path, demo=demo, ask_secret=ask_secret, fingerprints=fingerprints)


@contextmanager
def wrong_name(path: Path | None, *, must_exist: bool) -> Iterator[None]:
    """Inside, a file that was named and is no workspace of the wanted kind is a wrong call."""
    if path is not None:
        _refuse(path, must_exist=must_exist)
    try:
        yield
    except UsageError:
        raise
    except UserFacing as error:
        # What the store refuses by itself has no cause below it; a failing disk has.
        if path is not None and isinstance(error.__cause__, PermissionError | NoneType):
            raise UsageError(error.what, error.why, error.next_step) from error
        raise


def say_note(words: Text) -> None:
    """What is not followed of what the user's ssh config says, on standard error."""
    print(f"note: {visible(words.en)}", file=sys.stderr, flush=True)


def _refuse(path: Path, *, must_exist: bool) -> None:
    folder = path.absolute().parent
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", next_step="make it first, or name another --workspace")
    if must_exist and not path.exists():
        raise UsageError(f"there is no workspace {path}", next_step="check the name of --workspace")


@contextmanager
def wrong_input() -> Iterator[None]:
    """Inside, an input file that can't be read, or is refused, is a wrong call."""
    try:
        yield
    except UsageError:
        raise
    except UserFacing as error:
        raise UsageError(error.what, error.why, error.next_step) from error
