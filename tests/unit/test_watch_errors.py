"""Does the command line tell what cards report of their errors, each once?"""

from __future__ import annotations

from gpulease_gui.cli.watch_errors import Errors
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.series import Ring

A, B = "GPU-aaaaaaaa", "GPU-bbbbbbbb"


def told(errors: Errors, view: WatchView) -> list[tuple[str, float, str, str]]:
    return [(kind, at_s, words.en, of["card"]) for _, kind, at_s, words, of in errors.new([view])]


def watched(*keys: tuple[str, str]) -> WatchView:
    view = WatchView("n1", 1.0)
    view.rings = {key: Ring() for key in keys}
    for number, subject in enumerate((A, B)):
        view.number(subject, number)
    return view


def test_that_xids_are_told_with_their_names_and_cards_and_none_of_before_the_watch() -> None:
    view = watched(("gpu.xid", A), ("gpu.xid", B))
    view.rings["gpu.xid", A].append(90.0, 13)
    errors = Errors(100.0)
    for at_s, first, second in ((100.0, 0, None), (101.0, 79, 31), (102.0, 0, 0)):
        view.rings["gpu.xid", A].append(at_s, first)
        view.rings["gpu.xid", B].append(at_s, second)
    assert told(errors, view) == [
        ("xid", 101.0, "Xid 79 (ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS)", "GPU 0"),
        ("xid", 101.0, "Xid 31 (ROBUST_CHANNEL_FIFO_ERROR_MMU_ERR_FLT)", "GPU 1"),
    ]  # fmt: skip
    assert told(errors, view) == []
    view.rings["gpu.xid", A].append(103.0, 999_999)
    ((_, kind, _, words, of),) = errors.new([view])
    assert (kind, words.en, words.zh, of) == (
        "xid", "Xid 999999", "Xid 999999", {"metric": "gpu.xid", "xid": "999999", "subject": A, "card": "GPU 0"},
    )  # fmt: skip


def test_that_a_state_that_lasts_is_one_error_until_it_was_away_for_a_quarter_of_a_minute() -> None:
    key = "gpu.remap_pending", A
    view, errors = watched(key), Errors(0.0)
    made = []
    for at_s in (*range(1, 61), 76, 77):
        view.rings[key].append(float(at_s), 1.0)
        made += told(errors, view)
    assert [(kind, at_s, card) for kind, at_s, _, card in made] == [("error", 1.0, "GPU 0"), ("error", 76.0, "GPU 0")]


def test_that_a_node_that_tells_a_thousand_different_xids_is_not_told_of_a_thousand_times() -> None:
    key = "gpu.xid", A
    view, errors = watched(key), Errors(0.0)
    for place in range(1000):
        view.rings[key].append(1.0 + place / 1000, float(place + 1))
    assert len(told(errors, view)) == 8
