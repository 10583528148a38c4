"""Memory that the window's threads give back is one heap's."""

import pytest

from gpulease_gui.gui import app
from gpulease_gui.services import small_heap


def test_that_the_heap_is_kept_small_before_the_window_and_its_threads_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    class Made(Exception):
        pass

    def make() -> None:
        done.append("window")
        raise Made

    monkeypatch.setattr(small_heap, "keep_heap_small", lambda: done.append("heap"))
    monkeypatch.setattr(app, "make_application", make)
    with pytest.raises(Made):
        app.main([])
    assert done == ["heap", "window"]
