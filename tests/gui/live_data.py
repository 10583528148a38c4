"""Synthetic hours of a node, told by the simulated nodes' own texts and read by the real readers."""

from __future__ import annotations

from itertools import islice

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.demo.stream import stream_lines
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import GapSpan, WatchView
from gpulease_gui.telemetry.source import streamed


def told_view(name: str, seconds: int, end_s: float, *, gap: tuple[int, int] | None = None) -> WatchView:
    """What a watch of the demo node holds after so many seconds; no samples in `gap` (seconds since the start)."""
    view = WatchView(f"demo-{name}", 1.0, state=NodeState.CONNECTED)
    readers = {id_: source.reader() for id_, source in streamed().items()}
    told = stream_lines(demo_nodes()[name], "B", tuple(readers))
    refusals = next(told)[1].decode().split("\n")
    for line in refusals:
        _, _, rest = line.partition(" ")
        source, _, words = rest.partition(" ")
        if words.startswith("! "):
            view.troubles[source] = words[2:]
    start_s = end_s - seconds
    for second, data in islice(told, seconds + 1):
        if gap and gap[0] < second < gap[1]:
            continue
        _take(view, readers, data.decode(), start_s + second)
        if gap and second == gap[0]:
            for ring in view.rings.values():
                ring.append(start_s + second, None)
    if gap:
        view.gaps.append(GapSpan(start_s + gap[0], "connection_lost", start_s + gap[1] if gap[1] < seconds else None, gap[1] < seconds))
    return view


def _take(view: WatchView, readers: dict[str, object], text: str, at_s: float) -> None:
    for line in text.split("\n"):  # not splitlines: a sample holds the byte 0x1E
        words = line.split(" ", 2)
        if len(words) == 3 and words[1] in readers:
            for point in readers[words[1]].read(words[2]):  # type: ignore[attr-defined]
                view.rings.setdefault((point.metric, point.subject), Ring()).append(at_s, point.value)
