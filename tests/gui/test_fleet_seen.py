"""Is each node of a fleet told in full: its state, its reason, the next step, and never as anything but plain words?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.host_keys_dialog import HostKeysDialog
from gpulease_gui.gui.forms.node_form import NodeForm
from gpulease_gui.gui.language import Translations, say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.nodes_fleet_table import fleet_table, who_words, why_words
from gpulease_gui.gui.pages.nodes_table import ShownNode
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.fleet_rest import END_UNSEEN
from gpulease_gui.services.fleet_run import FleetLine, Phase
from gpulease_gui.services.nodes_view import NodeRow
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.records import Run, RunState

from .test_nodes_fleet import held_at, held_up

LONG_MS = 60_000
Flag = QItemSelectionModel.SelectionFlag
DEAD = Node("dead", "dead", Reach.SSH, Address("127.0.0.1", 1, "ops"), auth=AuthMethod.AGENT)
STATE, NAME, PASSED, WARNED, FAILED, UNKNOWN, SECONDS, VERDICT, REASON = 0, 1, 3, 4, 5, 6, 7, 8, 9
LIMITED = Text("limited to 500 W, 700 W were promised", "上限只有 500 W，承诺 700 W")


def line(name: str, phase: Phase, **more: object) -> FleetLine:
    return replace(FleetLine(Node(name, name, Reach.SSH, Address("h", 22, "u"))), phase=phase, **more)  # type: ignore[arg-type]


def names(model: TableModel[FleetLine]) -> list[str]:
    return [model.index(place, NAME).data() for place in range(model.rowCount())]


def fails(name: str, **more: object) -> FleetLine:
    return line(name, Phase.DONE, answered=9, planned=9, failed=1, worst=Verdict.FAIL, worst_check="power.limit",
                worst_words=LIMITED, overall=Verdict.FAIL, **more)  # fmt: skip


def test_that_a_node_that_ended_without_all_answers_is_not_called_done(qtbot: QtBot) -> None:
    model = fleet_table(lambda _: False)
    model.set_rows([fails("all"), replace(fails("some"), answered=4)])
    assert [model.index(place, STATE).data() for place in (0, 1)] == ["Done", "Partly done"]


def test_that_states_and_verdicts_are_sorted_by_what_is_to_be_seen_to_first(qtbot: QtBot) -> None:
    model = fleet_table(lambda _: False)
    model.set_rows([
        fails("fail"), line("waiting", Phase.WAITING), line("pass", Phase.DONE, answered=1, planned=1, overall=Verdict.PASS),
        line("cancelled", Phase.CANCELLED), line("gone", Phase.NOT_REACHED), replace(fails("some"), answered=4),
        line("warn", Phase.DONE, answered=1, planned=1, overall=Verdict.WARN), line("broke", Phase.BROKEN),
        line("unknown", Phase.DONE, answered=1, planned=1, overall=Verdict.INCONCLUSIVE),
    ])  # fmt: skip
    model.sort(STATE)
    assert names(model)[:4] == ["gone", "broke", "cancelled", "some"]
    assert names(model)[4] == "waiting"
    model.sort(VERDICT)
    assert names(model)[:5] == ["fail", "some", "warn", "unknown", "pass"]
    # Nodes with the same trouble stand together.
    other = fails("other", reason=Text("", ""))
    model.set_rows([fails("a"), replace(other, worst_check="cpu.model"), fails("b")])
    model.sort(REASON)
    assert names(model) == ["other", "a", "b"]


def test_that_a_cancelled_node_says_what_it_leaves_and_what_to_do(qtbot: QtBot) -> None:
    model = fleet_table(lambda _: False)
    silent = line("silent", Phase.CANCELLED)
    half = replace(fails("half"), phase=Phase.CANCELLED, answered=4, overall=None)
    model.set_rows([silent])
    assert model.index(0, REASON).data() == "cancelled before it answered anything"
    again = "Next: verify what is not done: this node is asked again"
    assert why_words(silent).en == f"cancelled before it answered anything. {again}"
    assert why_words(half).en == (
        f"cancelled; 4 of 9 checks were answered and stay. {again}. Power limit: limited to 500 W, 700 W were promised"
    )
    assert why_words(half).zh == (
        "已取消；9 项中已得到 4 项结果，予以保留。下一步：验收未完成的部分：会重新询问该节点。功耗上限：上限只有 500 W，承诺 700 W"
    )


def test_that_what_a_cell_cuts_is_whole_in_its_tip(qtbot: QtBot) -> None:
    """A name that is too long used to be nowhere in full."""
    model = fleet_table(lambda _: False)
    named = fails("a-name-much-too-long-for-its-column-in-any-window")
    model.set_rows([named])
    assert who_words(named).en == "a-name-much-too-long-for-its-column-in-any-window · u@h:22"
    assert "a-name-much-too-long-for-its-column-in-any-window" in model.index(0, NAME).data(Qt.ItemDataRole.ToolTipRole)
    assert "limited to 500 W" in model.index(0, REASON).data(Qt.ItemDataRole.ToolTipRole)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    """The simulated nodes and one where nothing listens."""
    opened = open_services(tmp_path / "demo.db", demo=True)
    opened.workspace.submit(lambda db: stored.save_node(db, DEAD)).result()
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


# The window and its page of nodes, with these chosen.
Shown = Callable[..., tuple[MainWindow, NodesPage]]


@pytest.fixture
def shown(make_window: Callable[..., MainWindow], demo: Services, qtbot: QtBot) -> Shown:
    """`shown("honest", "dead")`: the nodes of the demo in a window."""

    def show(*wanted: str) -> tuple[MainWindow, NodesPage]:
        window = make_window(nodes.PAGE, verification.PAGE)
        window.resize(1440, 900)
        window.attach(demo)
        page = window._pages["nodes"]
        assert isinstance(page, NodesPage)
        qtbot.waitUntil(lambda: len(page.model.rows) == 10)
        choose(page, *wanted)
        return window, page

    return show


def choose(page: NodesPage, *wanted: str) -> None:
    picked = page.table.selectionModel()
    picked.clear()
    for row in range(page.model.rowCount()):
        if page.model.index(row, 1).data() in wanted:
            picked.select(page.model.index(row, 0), Flag.Select | Flag.Rows)


def test_that_the_foot_says_each_row_in_full_without_moving_the_rows_and_offers_the_next_step(shown: Shown, qtbot: QtBot) -> None:
    window, page = shown("honest", "capped", "dead")
    pane = page.fleet
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    assert QApplication.focusWidget() is pane.table  # the keys go on where the eyes are
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    ids = {found.node.name: found.node.id for found in pane.model.rows}
    tops = set()
    for name, words in (
        ("honest", ""), ("capped", "Power limit: limited to 500 W, 700 W were promised"),
        ("dead", "TCP connect: the connection was refused. Next: check the port; the machine may still be starting"),
    ):  # fmt: skip
        pane.table.choose(ids[name])
        qtbot.wait(0)
        assert pane.why.text() == words and pane.who.text().startswith(name)
        tops.add(pane.table.height())
    assert len(tops) == 1
    # The one that was not reached is corrected here, and asked again alone.
    assert pane.edit.isVisible() and pane.again.isEnabled() and not pane.cancel.isVisible()
    pane.edit.click()
    form = next(found for found in window.findChildren(NodeForm) if found.isVisible())
    form.reject()
    before = {found.node.name: found.run_id for found in pane.model.rows}
    pane.again.click()
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert {found.node.name: found.run_id for found in pane.model.rows} == before
    pane.table.choose(ids["honest"])
    assert not pane.edit.isVisible() and not pane.again.isEnabled()


def test_that_verify_beside_a_fleet_under_way_says_that_nothing_was_started(shown: Shown, qtbot: QtBot) -> None:
    _, page = shown("honest", "capped")
    pane = page.fleet
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    told: list[object] = []
    pane._frame.note = told.append  # type: ignore[method-assign]
    pane.start([DEAD, DEAD])
    assert [say(words) for words in told] == ["Nothing was started: the verification of 2 nodes is still under way"]
    assert {found.node.name for found in pane.model.rows} == {"honest", "capped"}
    pane.cancel_all.click()
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)


def test_that_those_under_way_are_seen_alone_until_there_are_none(shown: Shown, demo: Services, qtbot: QtBot) -> None:
    with held_up(demo, "sick"):
        _, page = shown("sick", "dead")
        pane = page.fleet
        QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
        pane.chips["going"].click()
        qtbot.waitUntil(lambda: names(pane.model) == ["sick"], timeout=LONG_MS)
        assert pane.chips["going"].isVisible()
        pane.cancel_all.click()
        qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    # The filter that can hold nothing any more gives way to all.
    assert pane.chips[""].isChecked() and pane.chips["going"].isHidden() and pane.model.rowCount() == 2


def test_that_a_node_whose_run_was_cancelled_or_interrupted_counts_as_not_verified() -> None:
    def is_verified(state: RunState) -> bool:
        run = Run("r", "n", datetime(2026, 12, 1, tzinfo=UTC), state=state)
        return ShownNode(NodeRow(DEAD, run=run)).is_verified

    assert {state for state in RunState if not is_verified(state)} == {RunState.CANCELLED, RunState.INTERRUPTED}
    assert not ShownNode(NodeRow(DEAD)).is_verified


def test_that_a_node_that_says_nothing_of_most_is_told_by_that_reason(qtbot: QtBot) -> None:
    model = fleet_table(lambda _: False)
    tool = Text("42 of 89 findings can't be judged: no nvidia-smi", "89 项结果中有 42 项无法判定：没有 nvidia-smi")
    most, few = fails("most", reason=tool, unknown=5, passed=3), fails("few", reason=tool, unknown=4, passed=3)
    model.set_rows([most, few])
    assert [model.index(place, REASON).data() for place in (0, 1)] == [
        "42 of 89 findings can't be judged: no nvidia-smi", "Power limit: limited to 500 W, 700 W were promised"]  # fmt: skip
    assert why_words(most).en == "42 of 89 findings can't be judged: no nvidia-smi. Power limit: limited to 500 W, 700 W were promised"


def test_that_a_table_at_rest_goes_on_when_a_node_is_asked_again_from_elsewhere(shown: Shown, demo: Services, qtbot: QtBot) -> None:
    """A host key that was decided on in its own dialog asked its node again behind a table that stood still."""
    _, page = shown("honest", "dead")
    pane = page.fleet
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    pane._work._kept["dead"] = HostKeyQuestion(DEAD, (HostKey("ssh-ed25519", "SHA256:" + "a" * 43),))
    ids = [found.node.id for found in pane.model.rows]
    phases: list[Phase] = []
    pane.model.dataChanged.connect(lambda *_: phases.append(pane.model.rows[ids.index("dead")].phase))
    with held_at(demo, "127.0.0.1:1"):
        pane._work._trusted(DEAD)
        assert pane._clock.isActive()
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert phases[-1] is Phase.NOT_REACHED and page.buttons() == (pane.rest,)


@pytest.mark.parametrize("changed", [(True,), (True, True), (False, True), (False, False)])
def test_that_a_key_is_asked_about_together_with_others_only_where_they_can_be_trusted_together(shown: Shown, changed: tuple[bool, ...]) -> None:
    """One changed key used to open a list in which nothing could be decided."""
    window, page = shown("dead")
    old, new = (HostKey("ssh-ed25519", "SHA256:" + letter * 43) for letter in "ab")
    asked: list[str] = []
    page.fleet._work.ask_kept = asked.append  # type: ignore[method-assign]
    for number, is_changed in enumerate(changed):
        node = replace(DEAD, id=f"n{number}", name=f"n{number}")
        page.fleet._work._kept[node.id] = HostKeyQuestion(node, (new,), (old,) if is_changed else ())
    page.fleet._ask_for_keys()
    together = [found for found in window.findChildren(HostKeysDialog) if found.isVisible()]
    assert (len(together), asked) == ((1, []) if changed == (False, False) else (0, [f"n{number}" for number in range(len(changed))]))
    for dialog in together:
        dialog.reject()


def test_that_a_search_or_filter_without_a_hit_says_so(shown: Shown, qtbot: QtBot) -> None:
    _, page = shown("honest", "dead")
    pane = page.fleet
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    page.search("nowhere")
    assert (pane.who.text(), pane.why.text()) == ("No node matches the filter or the search", "")
    page.search("")
    assert pane.who.text() == "Select a node: its reason and the next step stand here"
    pane.chips["left"].click()
    assert pane.who.text().startswith("dead")  # what a filter leaves is told at once


def test_that_a_node_that_did_not_answer_a_cancel_says_so_once_and_still_shows_what_it_found(qtbot: QtBot) -> None:
    model = fleet_table(lambda _: False)
    half = replace(fails("half"), phase=Phase.CANCELLED, answered=4, overall=None, reason=END_UNSEEN)
    model.set_rows([half, line("none", Phase.CANCELLED, reason=END_UNSEEN, unknown=1)])
    assert [model.index(place, REASON).data() for place in (0, 1)] == [
        "Power limit: limited to 500 W, 700 W were promised", "cancelled before it answered anything"]  # fmt: skip
    assert why_words(half).en == (
        "cancelled; 4 of 9 checks were answered and stay; the node did not answer at once: its commands end when it sees that "
        "the connection did. Next: verify what is not done: this node is asked again. Power limit: limited to 500 W, 700 W were promised"
    )


@pytest.mark.parametrize("language", list(Language))
def test_that_no_button_of_the_fleet_is_cut_in_a_small_window_with_large_letters(
    shown: Shown, demo: Services, qtbot: QtBot, theme: Theme, english: Translations, language: Language
) -> None:
    """The row of filters and acts was 100 px too wide: `ost keys to decide`."""
    english.switch(language)
    window, page = shown("honest", "dead")
    pane = page.fleet
    theme.enlarge(4)
    try:
        with held_up(demo, "honest"):
            QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
            window.resize(1000, 640)
            qtbot.waitUntil(lambda: any(found.phase is Phase.NOT_REACHED for found in pane.model.rows))
            pane._work._kept["dead"] = HostKeyQuestion(DEAD, (HostKey("ssh-ed25519", "SHA256:" + "a" * 43),))
            pane.look()
            pane.table.choose("dead")
            assert pane.keys.isVisible() and pane.cancel.isVisible() and pane.decide.isVisible()
            assert cut(pane) == []
        qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
        assert pane.heavy.isVisible() and pane.again.isVisible() and pane.keys.isVisible()
        assert cut(pane) == []
    finally:
        theme.enlarge(0)
        qtbot.wait(0)


def cut(pane: QWidget) -> list[str]:
    QTest.qWait(1)
    return [found.text() for found in pane.findChildren(QAbstractButton) if found.isVisible() and found.width() < found.sizeHint().width()]


def test_that_a_filter_of_nodes_never_leaves_the_primary_with_a_node_that_is_not_shown(shown: Shown) -> None:
    """It went on to say `Verify capped`, though that node was filtered out."""
    _, page = shown("capped")
    page._only("new")
    assert page.primary.accessibleName() == "Verify capped" and page.primary.isEnabled()
    page._only("changed")
    assert page.model.rowCount() == 0 and page.primary.accessibleName() == "Verify" and not page.primary.isEnabled()
    page._only("")
    choose(page, "capped")
    page.search("nowhere")
    assert page.model.rowCount() == 0 and page.primary.accessibleName() == "Verify" and not page.primary.isEnabled()


def test_that_nothing_of_a_hostile_node_is_rich_text_in_the_foot_or_in_a_tip(shown: Shown) -> None:
    _, page = shown("dead")
    pane = page.fleet
    page._show_fleet(shown=True)
    said = Text("<b>H100</b><img src=/etc/passwd>", "<b>H100</b><img src=/etc/passwd>")
    name = "<h1>n</h1>\x1b[2J"
    pane.model.set_rows([replace(fails("n"), node=replace(DEAD, name=name), worst_words=said)])
    pane.table.choose_first()
    assert pane.who.textFormat() is pane.why.textFormat() is Qt.TextFormat.PlainText
    assert "<h1>n</h1>" in pane.who.text() and "\x1b" not in pane.who.text()
    assert pane.why.text() == "Power limit: <b>H100</b><img src=/etc/passwd>"
    tips = [pane.who.toolTip(), *(pane.model.index(0, column).data(Qt.ItemDataRole.ToolTipRole) for column in (NAME, REASON))]
    assert not any(mark in tip for tip in tips for mark in ("<h1>", "<img", "<b>H100", "\x1b"))
    assert "&lt;img" in tips[2]


def test_that_a_header_that_is_made_anew_is_never_seen_without_its_crumbs(shown: Shown) -> None:
    """Each node of a fleet that ended could show a button as wide as the window for a moment."""
    window, page = shown("honest", "dead")
    page.header_changed.emit()
    window.grab()
    assert page.primary.width() == page.primary.sizeHint().width()


@pytest.mark.parametrize("language", list(Language))
def test_that_a_narrow_window_keeps_room_for_the_reason_and_goes_without_numbers(
    shown: Shown, qtbot: QtBot, theme: Theme, english: Translations, language: Language
) -> None:
    """It was 120 px of a sentence, beside five columns of numbers."""
    english.switch(language)
    window, page = shown("honest", "dead")
    pane = page.fleet
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)

    def hidden() -> list[int]:
        QTest.qWait(1)
        return [place for place in range(pane.model.columnCount()) if pane.table.isColumnHidden(place)]

    qtbot.waitUntil(lambda: any(found.phase is Phase.NOT_REACHED for found in pane.model.rows))
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert hidden() == []
    window.resize(1000, 640)
    assert hidden() in ([PASSED, SECONDS], [PASSED, UNKNOWN, SECONDS])  # as wide as the letters of this system are
    assert pane.table.columnWidth(REASON) >= 300 and not pane.table.horizontalScrollBar().isVisible()
    theme.enlarge(4)
    try:
        assert {PASSED, UNKNOWN, SECONDS} <= set(hidden()) <= {PASSED, WARNED, FAILED, UNKNOWN, SECONDS}
        assert pane.table.columnWidth(REASON) >= 300
    finally:
        theme.enlarge(0)
    window.resize(1440, 900)
    assert hidden() == []


def test_that_numbers_without_a_column_stand_in_the_tip_of_the_checks() -> None:
    model = fleet_table(lambda _: False)
    model.set_rows([fails("a", passed=5, unknown=3, seconds=12)])
    assert model.index(0, 2).data(Qt.ItemDataRole.ToolTipRole).count("Pass 5, Warning 0, Fail 1, Inconclusive 3; 12 s") == 1
