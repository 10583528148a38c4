"""How are pieces of a report spread over pages?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from PySide6.QtGui import QPainter

Draw = Callable[[QPainter, float, float], None]


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is never split over two pages; lengths in points.

    `draw(painter, x, y)` gets its upper left corner. `gap` is the space above it, except at the top of a page. `keep`
    holds it on the page of the next piece. `head` is drawn again above it when it begins a page.
    """

    height: float
    draw: Draw
    gap: float = 0.0
    keep: bool = False
    head: Piece | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece at its distance from the top of the page's text area."""

    y: float
    piece: Piece


def paginate(pieces: Iterable[Piece], height: float) -> tuple[tuple[Placed, ...], ...]:
    """The pages, each at most `height` high (a piece that is higher has a page of its own)."""
    pages: list[list[Placed]] = [[]]
    y = 0.0
    for group in _groups(pieces):
        if pages[-1] and y + sum(piece.gap + piece.height for piece in group) > height:
            pages.append([])
            y = 0.0
        for piece in group:
            y = _place(pages[-1], piece, y)
    return tuple(tuple(page) for page in pages)


def _place(page: list[Placed], piece: Piece, y: float) -> float:
    if not page and piece.head is not None:
        page.append(Placed(0.0, piece.head))
        y = piece.head.height
    elif page:
        y += piece.gap
    page.append(Placed(y, piece))
    return y + piece.height


def _groups(pieces: Iterable[Piece]) -> Iterable[list[Piece]]:
    """Pieces that must stand on one page: those that keep, with the one after them."""
    group: list[Piece] = []
    for piece in pieces:
        group.append(piece)
        if not piece.keep:
            yield group
            group = []
    if group:
        yield group
