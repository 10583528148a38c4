"""Which keys and certificates does the ssh config name that are not there?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.ssh_lines import ConfigLine


def missing_files(
    keyword: str, paths: Sequence[str], fill: Callable[[str], str], lines: Sequence[ConfigLine]
) -> dict[str, str]:
    """FILE:LINE by path, of the files that a line names, and neither they nor a public half are there.

    Those that ssh tries unasked stand in no line.
    """
    places: dict[str, str] = {}
    for line in lines:
        if line.keyword == keyword and line.words:
            with suppress(UserFacing):  # a token of another host's line
                places.setdefault(fill(line.words[0]), line.place)
    return {path: places[path] for path in paths if path in places and not any(Path(one).exists() for one in (path, f"{path}.pub"))}


def missing_words(name: str, missing: dict[str, str]) -> tuple[Text, ...]:
    """What is said of each; `name`: the keyword as it is written in ssh's manual."""
    return tuple(
        Text(f"{place}: {name} {path} does not exist", f"{place}：{name} {path} 不存在") for path, place in missing.items()
    )
