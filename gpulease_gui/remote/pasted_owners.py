"""Of which nodes of a pasted text can't it be told whose lines of labels those are? They are refused: no password is guessed to a node."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping, Sequence

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text

# A line that names a machine, or that was not understood and may name one.
PLACE = "place"


def unclear(nodes: Sequence[Mapping[int, str]], passed_over: Sequence[int] = ()) -> set[int]:
    """The nodes, by their place in `nodes`, whose labels may be another's.

    Each node is what its lines begin with, by their number: PLACE, or the field of a label such as password; with PLACE behind it where
    the line names a machine, too. `passed_over`: lines, rising, of comments that name a machine, whose labels may stand below. Where a text
    begins with a place, all its nodes do; where it begins with a label, its nodes are all of one shape, so that the same label opens
    each. All else can be read in two ways, but for nodes that stand in one line each.
    """
    told = [(at, sorted(lines.items())) for at, lines in enumerate(nodes) if lines]
    if len(told) + len(passed_over) < 2 or all(_is_whole(lines) for _, lines in told):
        return set()
    if told[0][1][0][1] != PLACE:
        shapes = {tuple(kind for _, kind in lines) for _, lines in told}
        return set() if len(shapes) == 1 and not passed_over else {at for at, _ in told}
    found: set[int] = set()
    before = told[0][0]
    for at, lines in told:
        if lines[0][1] != PLACE and not _is_whole(lines):
            found |= {before, at}
        elif bisect(passed_over, lines[0][0]) < bisect(passed_over, lines[-1][0]):
            found.add(at)
        before = at
    return found


def with_place(kind: str) -> str:
    """What a line that began with a label is that names a machine, too."""
    return kind if kind.endswith(PLACE) else f"{kind} {PLACE}"


def _is_whole(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether all of a node stands in one line."""
    return len(lines) == 1 and lines[0][1].endswith(PLACE)


def whose() -> UsageError:
    """Why such a node is refused."""
    return UsageError(
        Text("which node the labels in other lines are about can't be told", "无法判断其他行的标签属于哪个节点"), "",
        Text("write all of a node in one line, or begin each node with its host", "请把一个节点的内容写在同一行，或每个节点都先写主机"),
    )  # fmt: skip
