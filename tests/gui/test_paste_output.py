"""Is what a supplier sent read, judged and kept beside the window, as plain text and never as a measurement?"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.paste_edit import SHOWN_CHARACTERS
from gpulease_gui.gui.pages.paste_output import PAGE, PasteOutputPage
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.services.composition import Services
from gpulease_gui.store import claims
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.pastes import list_pastes

from .guards import StallGuard
from .opened import cells, demo_services, wait_for, words_of

OUTPUTS = Path(__file__).parents[1] / "outputs"
CONTRACT = "demo-contract-BM-0047-1"
TOPO = (OUTPUTS / "d_topo_bridges.txt").read_text("utf-8")
LIST = "".join(f"GPU {n}: NVIDIA H100 80GB HBM3 (UUID: GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f{n})\n" for n in range(8))
CHAT = f"root@gpu-07:~# nvidia-smi -L\n{LIST}root@gpu-07:~# nvidia-smi topo -m\n{TOPO}"


@pytest.fixture
def page(theme: Theme, english: Translations, tmp_path: Path, qtbot: QtBot) -> Iterator[PasteOutputPage]:
    services = demo_services(tmp_path)
    services.workspace.forbid_main_thread()
    window = MainWindow(theme, english, Preferences(tmp_path / "window.ini"), (PAGE,), tmp_path)
    window.resize(1440, 900)
    window.show()
    window.attach(services)
    window.go("paste", CONTRACT)
    shown = window.page
    assert isinstance(shown, PasteOutputPage)
    wait_for(qtbot, lambda: shown.contract.current == CONTRACT and bool(shown.question_model.rows))
    yield shown
    window.detach()
    window.close()
    window.deleteLater()
    services.close()


def paste(page: PasteOutputPage, qtbot: QtBot, text: str) -> None:
    """Put `text` into the clipboard and press Ctrl+V."""
    QGuiApplication.clipboard().setText(text)
    page.edit.setFocus()
    QTest.keyClick(page.edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: page.judged is not None and page.keep_button.isEnabled())


def services_of(page: PasteOutputPage) -> Services:
    return page.frame.services


def test_that_a_pasted_chat_is_split_read_and_judged_against_the_contract(page: PasteOutputPage, qtbot: QtBot) -> None:
    assert page.stack.currentIndex() == 0 and not page.keep_button.isEnabled()
    paste(page, qtbot, CHAT)
    results = page.results
    assert page.stack.currentIndex() == 1
    assert [row.output.piece.kind for row in results.output_rows.rows] == ["smi_list", "topo"]
    assert cells(results.outputs, 1) == ["nvidia-smi -L", "nvidia-smi topo -m"]
    assert ("names", "8 × NVIDIA H100 80GB HBM3") in [(row.key, row.value) for row in results.value_rows.rows]
    said = {f.check: f.verdict.value for f in results.finding_rows.rows}
    assert (said["gpu.count"], said["topo.matrix"]) == ("pass", "fail")
    assert results.badge.word == "Fail" and cells(results.findings, 3)[0] == "Fail"
    assert results.reason.text().startswith("as sent by the supplier: ")


def test_that_other_outputs_show_their_reading_when_they_are_chosen(page: PasteOutputPage, qtbot: QtBot) -> None:
    paste(page, qtbot, CHAT)
    page.results.outputs.choose(2)
    assert "gpu_pairs_seen" in cells(page.results.values, 0)


def test_that_keeping_stores_the_outputs_and_notes_them_on_the_claims(page: PasteOutputPage, qtbot: QtBot) -> None:
    paste(page, qtbot, CHAT)
    QTest.mouseClick(page.keep_button, Qt.MouseButton.LeftButton)
    workspace = services_of(page).workspace

    def states() -> dict[str, ClaimState]:
        return services_of(page).query(
            lambda c: {claim.term: claim.state for claim in claims.list_claims(c, Holder.contract(CONTRACT))}
        ).result(timeout=10)  # fmt: skip

    wait_for(qtbot, lambda: states()["gpu.interconnect"] is ClaimState.REFUTED)
    assert states()["gpu.count"] is ClaimState.EVIDENCED
    kept = services_of(page).query(lambda c: list_pastes(c, CONTRACT)).result(timeout=10)
    assert [o.fact_id for o in kept[0].outputs] == ["smi_list", "topo"] and len(kept) == 1
    content = services_of(page).query(lambda c: get_content(c, kept[0].outputs[0].sha256)).result(timeout=10)
    assert content == LIST.encode()
    wait_for(qtbot, lambda: "GPUs per node" not in cells(page.questions, 0))
    assert not page.keep_button.isEnabled() and workspace.demo


def test_that_the_question_of_a_claim_is_copied_with_its_command(page: PasteOutputPage, qtbot: QtBot) -> None:
    row = next(row for row in page.question_model.rows if row.question.term == "gpu.interconnect")
    page.questions.acted.emit(row, "copy")
    assert QGuiApplication.clipboard().text().endswith("send the whole output as text, not as a picture:\nnvidia-smi topo -m")
    QTest.mouseClick(page.copy_all, Qt.MouseButton.LeftButton)
    copied = QGuiApplication.clipboard().text()
    assert copied.count("nvidia-smi -q -x") == copied.count("nvidia-smi topo -m") == 1


def test_that_what_no_tool_prints_is_said_and_a_named_kind_is_believed(page: PasteOutputPage, qtbot: QtBot) -> None:
    paste(page, qtbot, "all is well, trust me")
    assert page.results.none.text().startswith("Nothing was recognised.") and page.results.findings.isHidden()
    assert cells(page.results.outputs, 0) == ["not recognised"]
    page.kind.choose("topo")
    page.kind.picked.emit("topo")
    wait_for(qtbot, lambda: cells(page.results.outputs, 0) == ["GPU topology"])
    assert page.results.badge.word != "Pass"


def test_that_markup_and_control_characters_stay_plain_text(page: PasteOutputPage, qtbot: QtBot) -> None:
    nasty = "<img src=x><b>PASS</b>"
    mime = QMimeData()
    mime.setHtml(f"<b>{nasty}</b>")
    mime.setText(f"GPU 0: {nasty} \x1b[31m(UUID: GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f0)\n")
    page.edit.insertFromMimeData(mime)
    wait_for(qtbot, lambda: bool(page.results.value_rows.rows))
    assert page.edit.toPlainText().startswith(f"GPU 0: {nasty}")
    assert any(nasty in cell for cell in cells(page.results.values, 1))


def test_that_a_dropped_file_is_read_beside_the_window_and_kept_byte_for_byte(
    page: PasteOutputPage, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "smi.txt"
    path.write_bytes(LIST.encode() + b"\xff\xfe\n")
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    assert page.edit.canInsertFromMimeData(mime)
    page.edit.insertFromMimeData(mime)
    wait_for(qtbot, lambda: page.judged is not None)
    assert page.judged is not None
    piece = page.judged.outputs[0].piece
    assert (piece.source, piece.kind, piece.data) == ("smi.txt", "smi_list", path.read_bytes())
    path.unlink()
    page.open_file(path)
    wait_for(qtbot, lambda: any("smi.txt" in words for words in words_of(page.window())))


def test_that_eight_mebibytes_do_not_hold_the_window_up(page: PasteOutputPage, qtbot: QtBot) -> None:
    """Of three pastes, at most one may have met a machine that was short of memory at just that moment."""
    text = LIST + "x" * 79 + "\n" * 1 + ("y" * 79 + "\n") * (MAX_STDOUT_BYTES // 80)
    mime = QMimeData()
    mime.setText(text)
    held: list[str] = []
    for _ in range(3):
        guard = StallGuard()
        gc.collect()
        gc.freeze()
        guard.start()
        page.edit.insertFromMimeData(mime)
        wait_for(qtbot, lambda: page.judged is not None)
        guard.stop()
        gc.unfreeze()
        try:
            guard.check()
        except AssertionError as why:
            held.append(str(why))
        assert page.edit.is_head and len(page.edit.toPlainText()) == SHOWN_CHARACTERS
        assert page.judged is not None and page.judged.outputs[0].piece.cut
        QTest.mouseClick(page.clear_button, Qt.MouseButton.LeftButton)
        wait_for(qtbot, lambda: page.stack.currentIndex() == 0 and page.judged is None)
        assert not page.edit.isReadOnly() and page.edit.toPlainText() == ""
    assert len(held) <= 1, held


def test_that_an_older_answer_never_covers_a_newer_text(page: PasteOutputPage, qtbot: QtBot) -> None:
    page.edit.show_text(LIST)
    page._read()
    page.edit.show_text(TOPO)
    page._read()
    wait_for(qtbot, lambda: page.judged is not None)
    qtbot.wait(300)
    assert [row.output.piece.kind for row in page.results.output_rows.rows] == ["topo"]


def test_that_the_page_speaks_chinese_and_wears_the_dark_theme(
    page: PasteOutputPage, qtbot: QtBot, english: Translations, theme: Theme
) -> None:
    paste(page, qtbot, CHAT)
    english.switch(Language.ZH)
    theme.choose(ThemeMode.DARK)
    wait_for(qtbot, lambda: "检查结果" in words_of(page))
    words = set(words_of(page))
    assert {"识别出的输出", "读数", "检查结果", "供应商提供", "待证承诺", "复制"} <= words and "Findings" not in words
    assert page.keep_button.text().endswith("存为证据") and page.results.badge.word == "不符"
    assert page.results.reason.text().startswith("供应商提供：")
