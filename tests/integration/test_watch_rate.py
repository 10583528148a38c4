"""Is a node read as often as was chosen for it, and is what was expected counted by that?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.watch_rate import WatchRates, get_rates, parse_rate
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.samples import read_blocks
from tests.integration.test_watch_scripted import NS, POWER, START_S, A, B, Scripted

NODE = Node("here", "this computer", Reach.LOCAL)
CPU = ("ram.used_gib", "")


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    services = open_services(tmp_path / "own.gpulease.db")
    services.workspace.submit(lambda db: save_node(db, NODE)).result()
    yield services
    services.close()


@pytest.mark.parametrize("words", ["0.1", "11", "-1", "nan", "inf", "", "fast", "0x1"])
def test_that_a_rate_out_of_bounds_is_refused_with_the_bounds(words: str) -> None:
    with pytest.raises(UsageError, match="no rate") as told:
        parse_rate(words)
    assert told.value.next_step == "0.2 to 10 samples a second"
    assert [parse_rate(said) for said in ("0.2", " 2.5 ", "10")] == [0.2, 2.5, 10.0]


def test_that_a_chosen_rate_is_kept_for_its_node_alone_and_the_usual_one_is_no_choice(own: Services) -> None:
    own.watching.set_rate("here", 5.0).result()
    own.watching.set_rate("there", 0.2).result()
    own.watching.set_rate("there", 1.0).result()
    with own.workspace.read() as connection:
        assert get_rates(connection) == {"here": 5.0}
    again = WatchRates(own.workspace)
    assert (again.hz("here"), again.hz("there")) == (5.0, 1.0)


def test_that_a_watch_goes_on_at_another_rate_and_both_are_stored_as_they_were_taken(own: Services, until: Callable[..., bool]) -> None:
    own.watching.set_rate("here", 10.0).result()
    view = own.watching.start(NODE)
    assert view.interval_s == 0.1
    assert until(lambda: CPU in view.rings and view.rings[CPU].total >= 5, 30)
    own.watching.set_rate("here", 5.0).result()
    after = own.watching.view("here")
    assert after is not None and after is not view and after.interval_s == 0.2

    def reads_on() -> bool:
        last = after.rings[CPU].last if CPU in after.rings else None
        return last is not None and bool(after.paces) and last[0] > after.paces[-1][0] + 1.0

    assert until(reads_on, 30)
    assert (after.paces[0][1], after.paces[-1][1]) == (0.1, 0.2)
    own.watching.stop("here")
    own.watching.close()
    own.workspace.submit(lambda db: None).result()
    with own.workspace.read() as connection:
        steps = [block.step_ns for series, some in read_blocks(connection, "here", 0, 2**62).items() if series.metric == CPU[0] for block in some]
    assert sorted(set(steps)) == [NS // 10, NS // 5]


def test_that_a_watch_begun_while_the_last_one_ends_is_a_watch(own: Services, until: Callable[..., bool]) -> None:
    own.watching.set_rate("here", 10.0).result()
    before = own.watching.start(NODE)
    assert until(lambda: CPU in before.rings, 30)
    own.watching.stop("here")
    view = own.watching.start(NODE)
    assert until(lambda: CPU in view.rings and view.rings[CPU].total > before.rings[CPU].total, 30)
    assert view is not before and own.watching.views() == (view,)


@pytest.mark.parametrize("interval_s", [0.1, 5.0])
def test_that_samples_are_expected_as_often_as_the_node_is_read(tmp_path: Path, request: pytest.FixtureRequest, interval_s: float) -> None:
    node = Scripted(tmp_path, interval_s)
    request.addfinalizer(node.services.close)
    for n in range(100):
        for index, uuid in enumerate((A, B)):
            if uuid == A or not 40 <= n < 60:
                row = f"{index}, {uuid}, 97, 41, 71680, 500, 63, 1755, 2619, 0x0000000000000000"
                node.watch._on_line("gpu", row.encode(), 1000.0 + n * interval_s)
    node.end()
    end_s = START_S + 100 * interval_s
    with node.services.workspace.read() as connection:
        for asked_s in (interval_s, 1.0):
            past = read_past(connection, Wish("scripted", START_S, end_s, 900, (START_S, end_s), asked_s), {})
            figures, expected = past.figures[POWER, ""]
            assert (figures.count, expected) == (180, 198) and past.view.gaps == [], "from the first to the last reading, however often it is read by now"


@pytest.mark.parametrize(("words", "said"), [
    (["--rate-hz", "20"], "'20' is no rate at which a node can be read. 0.2 to 10 samples a second"),
    (["--for", "0"], "--for 0 is out of range. seconds, up to 2592000"),
    (["demo:honest"], "demo nodes and real ones are never watched together"),
])  # fmt: skip
def test_that_a_wrong_watch_is_a_wrong_call(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "local", *words, "--workspace", str(tmp_path / "own.db")]) == 64
    assert said in capsys.readouterr().err and not (tmp_path / "own.db").exists()


def test_that_the_command_line_watches_at_the_rate_that_it_names_and_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "own.db"
    assert main(["watch", "local", "--workspace", str(place), "--rate-hz", "10", "--for", "4", "--json"]) in (0, 3)
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    states = [line["event"] for line in told if line["event"] in {"connecting", "connected"}]
    assert told[0]["node"] == "this computer" and states == ["connecting", "connected"], "the connection and its first reading are one"
    services = open_services(place)
    with services.workspace.read() as connection:
        assert get_rates(connection) == {"this-computer": 10.0}
    services.close()
