"""Does the command line say what goes wrong while it watches, and that it was interrupted?"""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from gpulease_gui.cli import watch
from gpulease_gui.cli.main import main
from gpulease_gui.cli.watch_told import AGAIN_S, Troubles
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.watch_driver import SILENT


def test_that_a_full_disk_and_troubles_of_a_source_are_said_once_and_again_when_they_are_over() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    assert told.changes([view], 0.0) == ()
    view.unsaved, view.troubles = "the disk is full", {"gpu": SILENT}
    made = told.changes([view], 1.0)
    assert [(node_id, kind, words.en) for node_id, kind, words in made] == [
        ("n1", "trouble", f"gpu: {SILENT}"), ("n1", "not_kept", "readings are not kept: the disk is full"),
    ]  # fmt: skip
    assert [words.zh for _, _, words in made] == ["gpu：长时间未收到显卡的任何数据", "采样未能保存：the disk is full"]
    assert told.changes([view], 60.0) == ()
    view.unsaved, view.troubles = "", {}
    assert [kind for _, kind, _ in told.changes([view], 61.0)] == ["kept_again", "trouble_over"]
    assert told.changes([view], 120.0) == ()


def test_that_a_node_whose_words_change_all_the_time_is_told_of_now_and_then() -> None:
    view, told = WatchView("n1", 1.0), Troubles()
    said = 0
    for tenth in range(100):
        view.troubles = {"gpu": f"odd {tenth}"}
        said += len(told.changes([view], tenth / 10))
    assert said == 10 / AGAIN_S


def test_that_a_watch_ended_by_the_user_says_so_by_its_code_and_where_the_readings_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupts(*given: object, **named: object) -> None:
        signal.raise_signal(signal.SIGINT)

    place = tmp_path / "own.db"
    monkeypatch.setattr(watch, "_tell", interrupts)
    monkeypatch.setattr(watch, "_LOOK_S", 60.0)
    assert main(["watch", "local", "--workspace", str(place), "--for", "60", "--json"]) == 130
    out = capsys.readouterr()
    assert out.err.splitlines()[-1] == f"stopped; what was read and could be written is kept in {place}"
    assert all(json.loads(line)["event"] for line in out.out.splitlines())
