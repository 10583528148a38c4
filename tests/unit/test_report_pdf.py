"""Does the PDF hold every word and every mark of the report, on pages that a reader can use?"""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pypdf
import pytest
from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QColor, QImage, QPainter, QPdfWriter

from gpulease_gui.domain.finding import VERDICT_WORDS, CheckState, Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Language, Text, foreign
from gpulease_gui.pdf.axis import tick_text, ticks
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.pdf.curves import band_of, runs_of
from gpulease_gui.pdf.draw_lines import line_pieces
from gpulease_gui.pdf.palette import LIGHT
from gpulease_gui.pdf.pieces import Piece, paginate
from gpulease_gui.pdf.report import pdf_bytes
from gpulease_gui.pdf.sheet import WIDTH, Sheet
from gpulease_gui.reports.assemble import assemble
from gpulease_gui.reports.blank_words import blank_text
from gpulease_gui.reports.document import Blank, Curve, Document, LineChart, Mark, Ruler, Table, Words
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.reports.sections import findings

from .report_facts import GOOD, facts_of, many, node_of, usual

# The fixture of pytest-qt keeps one application for the whole test process.
pytestmark = pytest.mark.usefixtures("qapp")
SIXTY = 60


def squeezed(text: str) -> str:
    return "".join(text.split())


@dataclass(frozen=True)
class Read:
    """A PDF as tools read it back: text by page in the order of drawing and as it lies on the page."""

    content: bytes
    raw: list[str]
    laid: list[str]


def text_of(path: Path, mode: str) -> list[str]:
    said = subprocess.run(["pdftotext", mode, str(path), "-"], capture_output=True, check=True).stdout.decode()
    return said.split("\f")[:-1]


def read_back(document: Document, folder: Path) -> Read:
    path = folder / f"{document.language}.pdf"
    path.write_bytes(pdf_bytes(document))
    return Read(path.read_bytes(), [squeezed(page) for page in text_of(path, "-raw")], text_of(path, "-layout"))


def sixty(language: Language) -> Document:
    return assemble(facts_of(node_of(many(SIXTY))), language)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pdf")


def said(cell: Words | Mark | Ruler, language: Language) -> str:
    if isinstance(cell, Words):
        return squeezed(cell.text.say(language))
    if isinstance(cell, Mark):
        return squeezed(badge_of(cell.state).word.say(language))
    return ""


@pytest.mark.parametrize("language", list(Language))
def test_that_each_of_sixty_rows_stands_whole_on_one_page_with_every_cell(language: Language, qapp: object, folder: Path) -> None:
    document = sixty(language)
    read = read_back(document, folder)
    table = next(iter(document.tables()))
    assert len(table.rows) == SIXTY
    rows = ["".join(said(cell, language) for cell in row) for row in table.rows]
    assert [row for row in rows if sum(page.count(row) for page in read.raw) != 1] == []
    assert len({n for n, page in enumerate(read.raw) for row in rows if row in page}) >= 2


@pytest.mark.parametrize("language", list(Language))
def test_that_all_other_words_are_in_the_text_too(language: Language, qapp: object, folder: Path) -> None:
    document = assemble(usual(), language)
    whole = "".join(read_back(document, folder).raw)
    words = [cell for table in document.tables() for row in table.rows for cell in row if isinstance(cell, Words)]
    assert [w.text.say(language) for w in words if squeezed(w.text.say(language)) not in whole] == []
    for phrase in ("−75.4%", "−12.5", "350", "2026-03-0207:30:02", "GPU-5a1e0007-77aa-4b1c-9d2e-0123456789ab", document.hash):
        assert phrase in whole


@pytest.mark.parametrize(("language", "head"), [(Language.EN, "Deviation"), (Language.ZH, "对照承诺")])
def test_that_the_head_is_repeated_on_each_page_of_the_table(language: Language, head: str, qapp: object, folder: Path) -> None:
    document = sixty(language)
    read = read_back(document, folder)
    rows = [squeezed(row[0].text.say(language)) for row in next(iter(document.tables())).rows if isinstance(row[0], Words)]
    full = [n for n, page in enumerate(read.raw) if sum(row in page for row in rows) > 5 and head in read.laid[n]]
    assert len(full) >= 2
    assert all(read.laid[n].count(head) == 1 for n in full)


def test_that_each_page_says_contract_node_hash_and_its_number(qapp: object, folder: Path) -> None:
    document = sixty(Language.EN)
    pages = read_back(document, folder).laid
    for number, page in enumerate(pages, 1):
        assert f"Page {number} of {len(pages)}" in page
        assert "HT-2026-118" in page and "node-07" in page and f"SHA-256 {document.hash}" in page


def test_that_fonts_are_embedded_and_the_metadata_names_nobody(qapp: object) -> None:
    reader = pypdf.PdfReader(io.BytesIO(pdf_bytes(assemble(usual(), Language.ZH))))
    fonts = {
        str(font.get_object()["/BaseFont"]): "/FontFile2" in font.get_object()["/DescendantFonts"][0].get_object()["/FontDescriptor"]
        for page in reader.pages for font in page["/Resources"]["/Font"].values()
    }  # fmt: skip
    assert fonts and all(fonts.values())
    assert all("GPULeaseSansSC" in name for name in fonts)
    assert reader.metadata is not None
    assert reader.metadata.title == "GPU 租用评估报告 HT-2026-118"
    assert not reader.metadata.author
    assert str(Path.home()) not in str(reader.metadata)


def test_that_only_a_demo_is_marked_as_one(qapp: object, folder: Path) -> None:
    real = read_back(assemble(usual(), Language.EN), folder)
    demo = read_back(assemble(usual(demo=True), Language.ZH), folder)
    assert not any("DEMO" in page for page in real.raw)
    assert all("DEMO" in page for page in demo.raw)


@dataclass(frozen=True)
class Picture:
    """A page as RGB bytes."""

    width: int
    height: int
    pixels: bytes

    def colours(self) -> Counter[tuple[int, int, int]]:
        data = self.pixels
        return Counter(zip(data[0::3], data[1::3], data[2::3], strict=True))

    def row(self, y: int) -> Counter[tuple[int, int, int]]:
        data = self.pixels[3 * y * self.width : 3 * (y + 1) * self.width]
        return Counter(zip(data[0::3], data[1::3], data[2::3], strict=True))


def pictures(document: Document, folder: Path) -> list[Picture]:
    path = folder / "picture.pdf"
    path.write_bytes(pdf_bytes(document))
    for old in folder.glob("page-*.ppm"):
        old.unlink()
    subprocess.run(["pdftoppm", "-r", "72", str(path), str(folder / "page")], check=True)
    return [_picture(page.read_bytes()) for page in sorted(folder.glob("page-*.ppm"))]


def _picture(content: bytes) -> Picture:
    head = re.match(rb"P6\s(\d+)\s(\d+)\s255\s", content)
    assert head
    return Picture(int(head[1]), int(head[2]), content[head.end() :])


def rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def test_that_tints_contract_line_and_hatching_are_drawn_and_no_page_is_blank(qapp: object, folder: Path) -> None:
    pages = pictures(assemble(usual(), Language.ZH), folder)
    assert len(pages) >= 3
    counted = [page.colours() for page in pages]
    assert all(sum(n for c, n in one.items() if c != (255, 255, 255)) > 1500 for one in counted)
    assert counted[0][rgb(LIGHT.fail_bg)] > 5000
    assert counted[0][rgb(LIGHT.warn_bg)] > 200
    whole = sum(counted, Counter())
    assert whole[rgb(LIGHT.surface2)] > 300  # the ground of the gap
    assert whole[rgb(LIGHT.fail)] > 200  # bars that fall short
    assert any(_contract_line(page) for page in pages[1:])


def _contract_line(page: Picture) -> bool:
    """A row of ink as wide as the plot, which begins right of the margin: rules of heads and title begin at it."""
    left = round((page.width - WIDTH) / 2)
    for y in range(page.height):
        data = page.pixels[3 * y * page.width : 3 * (y + 1) * page.width]
        dark = [x for x in range(page.width) if max(data[3 * x : 3 * x + 3]) < 60]
        if len(dark) > 400 and dark[0] > left + 20:
            return True
    return False


def test_that_passing_reports_are_quiet(qapp: object, folder: Path) -> None:
    node = node_of((GOOD,), verdict=Verdict.PASS)
    facts = facts_of(node, verdict=Verdict.PASS, sentence=Text("1 of 1 accepted", "1 个节点中 1 个通过验收"))
    first = pictures(assemble(facts, Language.EN), folder)[0].colours()
    assert first[rgb(LIGHT.fail_bg)] < 300  # the legend shows what a fail looks like
    assert first[rgb(LIGHT.pass_bg)] > 5000


def hostile() -> EvaluationFacts:
    word = "x" * 40 + "<b>bold</b>\x1b[2J\u202egnp.exe\u200b\U0001f600"
    finding = Finding("gpu.model", Verdict.FAIL, foreign(word * 30), "gpu.model", word, word, required=True)
    return facts_of(replace(node_of((finding,)), node=Node("n", word)))


def test_that_foreign_words_are_printed_as_they_are_and_no_letter_is_lost(qapp: object, folder: Path) -> None:
    whole = "".join(read_back(assemble(hostile(), Language.EN), folder).raw)
    assert "<b>bold</b>␛[2J⟨U+202E⟩gnp.exe⟨U+200B⟩" in whole
    assert "⟨U+1F600⟩" in whole
    assert "\u202e" not in whole


def sheet() -> tuple[Sheet, QBuffer]:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(72)
    return Sheet(writer, Language.EN), buffer


def test_that_a_word_of_forty_letters_wraps_inside_its_column(qapp: object) -> None:
    paper, _ = sheet()
    lines = paper.set("W" * 40, 60.0)
    assert lines.layout.lineCount() > 3
    assert lines.natural_width <= 60.0


def test_that_a_long_name_is_parted_at_its_joints(qapp: object) -> None:
    paper, _ = sheet()
    layout = paper.set("nvidia_peermem", 52.0).layout
    lines = [layout.lineAt(n) for n in range(layout.lineCount())]
    assert [layout.text()[line.textStart() : line.textStart() + line.textLength()] for line in lines] == ["nvidia_", "peermem"]


def test_that_endless_words_are_cut_with_a_sign(qapp: object) -> None:
    paper, _ = sheet()
    lines = paper.set("many words " * 4000, 100.0, max_lines=5)
    assert lines.layout.text().endswith("…")
    assert lines.layout.lineCount() <= 6


def piece(height: float, *, keep: bool = False, head: Piece | None = None, gap: float = 0.0) -> Piece:
    return Piece(height, lambda painter, x, y: None, gap, keep, head)


def test_that_a_heading_moves_to_the_page_of_what_follows_it() -> None:
    pages = paginate([piece(90), piece(5, keep=True), piece(20)], 100)
    assert [[p.piece.height for p in page] for page in pages] == [[90], [5, 20]]


def test_that_a_row_that_begins_a_page_has_its_head_above_it() -> None:
    head = piece(10)
    pages = paginate([piece(10, keep=True), piece(40, head=head), piece(40, head=head), piece(40, head=head)], 100)
    assert [[(p.y, p.piece.height) for p in page] for page in pages] == [[(0, 10), (10, 40), (50, 40)], [(0, 10), (10, 40)]]


def test_that_a_gap_above_a_piece_is_dropped_at_the_top_of_a_page() -> None:
    pages = paginate([piece(60), piece(50, gap=30)], 100)
    assert [[p.y for p in page] for page in pages] == [[0], [0]]


@pytest.mark.parametrize(
    ("top", "marks"), [(115.0, (0, 25, 50, 75, 100)), (0.9, (0, 0.2, 0.4, 0.6, 0.8)), (7000.0, (0, 2000, 4000, 6000))]
)
def test_that_axes_carry_round_values(top: float, marks: tuple[float, ...]) -> None:
    assert ticks(top, 5) == pytest.approx(marks)
    assert [tick_text(value) for value in ticks(top, 5)] == [f"{mark:,g}" for mark in marks]


def test_that_no_line_is_drawn_over_a_gap() -> None:
    curve = Curve("a", (0.0, 1.0, 9.0, 10.0), (1.0, 1.0, 2.0, 2.0), (1.0, 3.0, 2.0, 2.0))
    parts = runs_of(curve, (Blank(1.0, 9.0, foreign("lost")),))
    assert parts == [[(0.0, 1.0), (1.0, 1.0), (1.0, 3.0)], [(9.0, 2.0), (10.0, 2.0)]]


def test_that_many_curves_become_a_band_with_its_median_up_to_the_gap() -> None:
    curves = tuple(Curve(str(n), (0.0, 1.0, 9.0), (float(n), float(n), 5.0), (float(n), float(n), 5.0)) for n in range(5))
    chart = LineChart(foreign("c"), "W", curves, 0.0, 10.0, blanks=(Blank(1.0, 9.0, foreign("lost")),))
    band = band_of(chart)
    assert [[(s.at_s, s.low, s.median, s.high) for s in part] for part in band] == [
        [(0.0, 0.0, 2.0, 4.0), (1.0, 0.0, 2.0, 4.0)], [(9.0, 5.0, 5.0, 5.0)]
    ]  # fmt: skip


def test_that_a_gap_of_one_curve_cuts_that_curve_only_and_no_band() -> None:
    curves = tuple(Curve(str(n), (0.0, 1.0, 9.0), (float(n),) * 3, (float(n),) * 3) for n in range(5))
    part = Blank(1.0, 9.0, foreign("lost"), ("2",), foreign("GPU 2"))
    assert [len(runs_of(curve, (part,))) for curve in curves] == [1, 1, 2, 1, 1]
    chart = LineChart(foreign("c"), "W", curves, 0.0, 10.0, blanks=(part,))
    assert [len(band) for band in band_of(chart)] == [3]


def test_that_a_gap_of_one_curve_hatches_the_upper_edge_of_its_chart_and_is_told_below_it() -> None:
    curves = tuple(Curve(f"GPU {n}", tuple(map(float, range(60))), (400.0 + n,) * 60, (400.0 + n,) * 60) for n in range(2))
    gap = Blank(20.0, 50.0, Text("lost", "丢失"))
    part = replace(gap, curves=("GPU 1",), whose=foreign("GPU 1"))
    hatched, words = {}, {}
    for name, blanks in (("none", ()), ("whole", (gap,)), ("part", (part,))):
        chart = LineChart(foreign("c"), "W", curves, 0.0, 60.0, blanks=blanks)
        page, _ = sheet()
        (piece,) = line_pieces(chart, page)
        image = QImage(round(WIDTH), round(piece.height), QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        piece.draw(painter, 0, 0)
        painter.end()
        ground, x = QColor(page.palette.surface2), round(34 + (WIDTH - 34) * 26 / 60)
        hatched[name] = {y for y in range(image.height()) if any(image.pixelColor(x + n, y) == ground for n in range(6))}
        words[name] = piece.height
    assert hatched["none"] == set() and len(hatched["whole"]) > 80
    assert 3 <= len(hatched["part"]) <= 6 and max(hatched["part"]) <= min(hatched["whole"]), "above the plot, where the others are drawn"
    assert words["part"] > words["whole"] == words["none"], "one more line below"


def test_that_a_gap_of_one_curve_says_whose_it_is_since_when_and_for_how_long() -> None:
    part = Blank(3600.0, 3630.0, Text("lost", "丢失"), ("GPU 1",), foreign("GPU 1"))
    assert blank_text(part, 8 * 3600) == Text("GPU 1: not read for 30 s from 09:00:00, lost", "GPU 1：09:00:00 起 30 秒未读取，丢失")
    assert blank_text(replace(part, curves=()), 0) == Text("no data 30 s, lost", "无数据 30 秒，丢失")
    assert blank_text(replace(part, end_s=3600.4), 0).en == "GPU 1: not read for less than 1 s from 01:00:00, lost"


def test_that_every_state_of_the_legend_has_its_word_in_both_languages() -> None:
    assert {badge_of(v).word for v in VERDICT_WORDS} == set(VERDICT_WORDS.values())
    assert badge_of(CheckState.NOT_RUN).word == Text("Not run", "未执行")
    assert isinstance(findings.build(usual())[1], Table)
