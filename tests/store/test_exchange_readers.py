"""Do tables come in as they were sent, and do hostile ones end in a clear word within bounded time and memory?"""

from __future__ import annotations

import datetime
import resource
import struct
import time
from decimal import Decimal
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.store.exchange.plain_text import decode, delimiter_of, read_text
from gpulease_gui.store.exchange.sheet import CellFault, Limits, Merged, Sheet, column_letters, fill_merged
from gpulease_gui.store.exchange.source import read_file

from .workbooks import HEAD, pack, parts, rows, workbook

QUOTE = "型号,卡数,单价\nH100 80GB SXM,8,12.5\n"


# -- text ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("gb18030", "gb18030"), ("utf-16", "utf-16"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)  # fmt: skip
def test_that_the_encodings_of_chinese_spreadsheets_are_told_apart(encoding, named):
    sheet = read_text(QUOTE.encode(encoding))
    assert sheet.rows == (("型号", "卡数", "单价"), ("H100 80GB SXM", "8", "12.5"))
    assert (sheet.encoding, sheet.delimiter) == (named, ",")


@given(st.text(st.characters(codec="gb18030", exclude_characters="\r\n\0", exclude_categories=["Cc", "Cf", "Cs", "Zs"]), min_size=1, max_size=60))
def test_that_any_chinese_text_survives_its_encoding(words):
    assert decode(words.encode("utf-8"))[0] == words
    assert decode(words.encode("gb18030"), "gb18030")[0] == words


def test_that_a_wrong_encoding_is_refused_and_the_right_one_can_be_chosen():
    assert read_text("型號,單價".encode("big5"), encoding="big5").rows == (("型號", "單價"),)
    with pytest.raises(UserFacing, match="the file is not utf-8"):
        read_text("型号".encode("gb18030"), encoding="utf-8")
    with pytest.raises(UserFacing, match="no text table"):
        read_text(b"\x00\x01\x02PNG\x00\x00\xff\xfe\xfa")


@pytest.mark.parametrize(("text", "delimiter"), [("a\tb\n1\t2", "\t"), ("a;b\n1,5;2", ";"), ("a|b|c\n1|2|3", "|"), ("a,b\n\"x,y\",2", ","), ("one", ",")])
def test_that_the_delimiter_is_the_one_that_cuts_every_line_alike(text, delimiter):
    assert delimiter_of(text) == delimiter


def test_that_a_clipboard_cell_keeps_its_line_breaks_and_quotes():
    sheet = read_text('型号\t备注\n"H100\n80GB"\t"said ""now"""\n'.encode())
    assert sheet.rows[1] == ("H100\n80GB", 'said "now"')


def test_that_text_stays_text_and_control_characters_are_seen():
    sheet = read_text("serial,name\n007,a\x1b[2Jb\u202ec\n12345678901234567890,\u200b\n".encode())
    assert sheet.rows[1] == ("007", "a␛[2Jb⟨U+202E⟩c")
    assert sheet.rows[2] == ("12345678901234567890", "⟨U+200B⟩")


def test_that_a_text_table_has_its_limits_and_can_be_cancelled():
    with pytest.raises(UserFacing, match="601 rows and 1 columns"):
        read_text(b"x\n" * 700, limits=Limits(rows=600))
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        read_text(b"x\n" * 700, cancel=token)


def test_that_cells_are_named_as_the_spreadsheet_names_them():
    sheet = Sheet("Offers", ((), ("a", "b", "c")), first_row=6)
    assert sheet.address(1, 2) == "Offers!C7"
    assert [column_letters(n) for n in (0, 25, 26, 701, 702)] == ["A", "Z", "AA", "ZZ", "AAA"]


# -- workbooks -------------------------------------------------------------------------------------------------------------


def test_that_a_workbook_keeps_numbers_exact_and_days_as_days(tmp_path: Path):
    book = openpyxl.Workbook()
    book.active.title = "报价"
    book.active.append(["型号", "单价", "日期", "编号", "含税"])
    book.active.append(["H100", 16.2, datetime.date(2026, 12, 31), "007", True])
    book.active["A5"] = 1e15
    book.create_sheet("hidden").sheet_state = "hidden"
    book.save(tmp_path / "q.xlsx")
    seen: list[int] = []
    sheet = read_file(tmp_path / "q.xlsx", progress=seen.append)
    assert sheet.rows[1] == ("H100", Decimal("16.2"), datetime.date(2026, 12, 31), "007", True)
    assert sheet.rows[2:] == ((), (), (10**15,))
    assert (sheet.name, sheet.sheets, seen[-1]) == ("报价", ("报价", "hidden"), 5)
    assert [note.en for note in sheet.notes] == ["hidden sheets: hidden"]
    assert read_file(tmp_path / "q.xlsx", sheet="hidden").rows == ()
    with pytest.raises(UserFacing, match="there is no sheet 'Other'"):
        read_file(tmp_path / "q.xlsx", sheet="Other")


def test_that_a_formula_counts_by_its_saved_result_and_is_a_fault_without_one(tmp_path: Path):
    cells = (
        '<sheetData><row r="1"><c r="A1"><f>1+1</f><v>2</v></c><c r="B1"><f>HYPERLINK("http://x")</f></c>'
        '<c r="C1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="D1" t="str"><f>A1</f><v>=cmd|calc</v></c></row></sheetData>'
    )
    assert read_file(workbook(tmp_path, cells)).rows == ((2, CellFault("", formula=True), CellFault("#DIV/0!"), "=cmd|calc"),)


def test_that_no_noise_behind_the_fifteenth_digit_becomes_money(tmp_path: Path):
    cells = '<sheetData><row r="1"><c r="A1"><v>48.300000000000004</v></c><c r="B1"><v>0.1</v></c><c r="C1"><v>1.23456789012345E-3</v></c></row></sheetData>'
    assert read_file(workbook(tmp_path, cells)).rows == ((Decimal("48.3"), Decimal("0.1"), Decimal("0.00123456789012345")),)


def test_that_rows_out_of_order_keep_their_numbers(tmp_path: Path):
    cells = '<sheetData><row r="3"><c r="A3"><v>3</v></c></row><row r="2"><c r="A2"><v>2</v></c></row><row r="-4"><c r="A5"><v>4</v></c></row></sheetData>'
    assert read_file(workbook(tmp_path, cells)).rows == ((), (2,), (3,), (4,))


def test_that_shared_texts_read_as_the_library_reads_them(tmp_path: Path):
    strings = (
        "<si><t>H100</t></si><si><r><t>8 </t></r><r><rPr><b/></rPr><t>cards</t></r></si><si><t/></si><si/>"
        '<si><t>显卡</t><rPh sb="0" eb="2"><t>xianka</t></rPh></si><si><t xml:space="preserve"> a </t></si><si><t>_x005F_x000D_</t></si>'
    )
    cells = "".join(f'<c r="{column}1" t="s"><v>{n}</v></c>' for n, column in enumerate("ABCDEFG"))
    path = workbook(tmp_path, f'<sheetData><row r="1">{cells}</row></sheetData>', strings=strings)
    (library,) = openpyxl.load_workbook(path).active.iter_rows(values_only=True)
    assert library == ("H100", "8 cards", "", "", "显卡", " a ", "_x000D_")
    assert read_file(path).rows == (("H100", "8 cards", None, None, "显卡", "a", "_x000D_"),)


def test_that_merged_cells_hold_for_their_rows(tmp_path: Path):
    book = openpyxl.Workbook()
    for row in (["报价单", None], ["H100", 1], [None, 2], ["H800", 3]):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "q.xlsx")
    sheet = read_file(tmp_path / "q.xlsx")
    assert sheet.rows == (("报价单",), ("H100", 1), ("H100", 2), ("H800", 3))
    assert [note.en for note in sheet.notes] == ["1 merged cells hold for each of their rows: A2:A3"]


def test_that_hidden_rows_and_columns_are_left_out_with_a_word(tmp_path: Path):
    book = openpyxl.Workbook()
    for row in (["型号", "成本", "单价"], ["H20", 9, 12], ["H800", 10, 13], ["L20", 1, 2]):
        book.active.append(row)
    book.active.row_dimensions[3].hidden = True
    book.active.column_dimensions["B"].hidden = True
    book.save(tmp_path / "q.xlsx")
    sheet = read_file(tmp_path / "q.xlsx")
    assert sheet.rows == (("型号", None, "单价"), ("H20", None, 12), (), ("L20", None, 2))
    assert [note.en for note in sheet.notes] == ["hidden rows were left out (1): 3", "hidden columns were left out: B"]


def test_that_merged_ranges_beyond_the_table_cost_nothing():
    sheet = Sheet("s", (("a", "b"), (None, "c")))
    filled = fill_merged(sheet, [Merged(1, 1, 1_048_576, 16_384)] * 3)
    assert filled.rows == (("a", "b"), ("a", "c"))


# -- hostile ---------------------------------------------------------------------------------------------------------------


def _spent_s() -> float:
    """CPU seconds of this process and of those that it waited for."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def refused(path: Path, seconds: float = 12, memory_mib: int = 1100) -> str:
    """The words with which a file is refused; fails if that takes too long or too much memory."""
    began_s = _spent_s()
    with pytest.raises(UserFacing) as trouble:
        read_file(path)
    assert _spent_s() - began_s < seconds
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < memory_mib * 1024
    assert trouble.value.next_step
    return str(trouble.value)


def test_that_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path):
    fill = {f"xl/media/{n}.bin": bytes(33 * 1024 * 1024) for n in range(2)}
    packed = workbook(tmp_path, rows([["x"]]), more=fill)
    assert packed.stat().st_size < 1024 * 1024
    assert "times its size, as bombs do" in refused(packed, 5)
    content = packed.read_bytes()
    at = content.rindex(b"xl/media/0.bin") - 46
    packed.write_bytes(content[: at + 24] + struct.pack("<I", 300 * 1024 * 1024) + content[at + 28 :])
    assert "unpacked, the workbook has 349 MB" in refused(packed, 5)


def test_that_sizes_that_lie_do_not_unpack_more_than_they_say(tmp_path: Path):
    content = pack(parts(rows([["x"] * 50] * 4000)))
    at = content.rindex(b"xl/worksheets/sheet1.xml") - 46
    lying = content[: at + 24] + struct.pack("<I", 400) + content[at + 28 :]
    (tmp_path / "q.xlsx").write_bytes(lying)
    assert "damaged" in refused(tmp_path / "q.xlsx")


def test_that_thousands_of_parts_are_refused(tmp_path: Path):
    many = workbook(tmp_path, rows([["x"]]), more={f"xl/worksheets/s{n}.xml": b"x" for n in range(2500)})
    assert "parts; at most 2,000" in refused(many)


def test_that_forty_two_thousand_merged_ranges_do_not_crawl(tmp_path: Path):
    cells = rows([["型号", "单价"], *([f"H{n}", "1"] for n in range(1, 500))])
    ranges = "".join(f'<mergeCell ref="A{n * 2}:A{n * 2 + 1}"/>' for n in range(1, 42_001))
    path = workbook(tmp_path, f"{cells}<mergeCells>{ranges}</mergeCells>")
    began = time.process_time()
    sheet = read_file(path)
    assert len(sheet.rows) == 500 and sheet.notes
    assert time.process_time() - began < 2


def test_that_entities_are_never_expanded(tmp_path: Path):
    laughs = '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    whole = parts(rows([["x"]]))
    whole["xl/worksheets/sheet1.xml"] = whole["xl/worksheets/sheet1.xml"].replace(HEAD.encode(), (HEAD + laughs).encode())
    (tmp_path / "q.xlsx").write_bytes(pack(whole))
    assert "declares XML entities" in refused(tmp_path / "q.xlsx")
    whole["xl/worksheets/sheet1.xml"] = (HEAD + laughs + "<w>&b;</w>").encode("utf-16").replace('encoding="UTF-8"'.encode("utf-16-le"), b"")
    (tmp_path / "q.xlsx").write_bytes(pack(whole))
    assert "declares XML entities" in refused(tmp_path / "q.xlsx"), "in another encoding, too"
    late = HEAD.encode() + b"<!--" + b"x" * 2_000_000 + b"-->" + laughs.encode() + b"<w/>"
    (tmp_path / "q.xlsx").write_bytes(pack({**whole, "xl/sharedStrings.xml": late, "xl/worksheets/sheet1.xml": b"<w/>"}))
    assert "a megabyte of nothing" in refused(tmp_path / "q.xlsx")


def test_that_links_to_other_files_are_not_followed(tmp_path: Path):
    target = tmp_path / "secret.txt"
    target.write_text("secret")
    link = f'{HEAD}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="x" Target="file://{target}" TargetMode="External"/></Relationships>'
    path = workbook(tmp_path, '<sheetData><row r="1"><c r="A1"><f>[1]S!A1</f><v>7</v></c></row></sheetData>',
                    more={"xl/externalLinks/externalLink1.xml": b"<x/>", "xl/externalLinks/_rels/externalLink1.xml.rels": link.encode()})  # fmt: skip
    sheet = read_file(path)
    assert sheet.rows == ((7,),) and [note.en for note in sheet.notes] == ["links to other files were not followed"]


def test_that_too_many_columns_rows_and_strings_are_refused(tmp_path: Path):
    wide = "".join(f'<c r="{column_letters(n)}1"><v>1</v></c>' for n in range(0, 16_384, 7))
    assert "columns and" in refused(workbook(tmp_path, f'<sheetData><row r="1">{wide}</row></sheetData>'))
    assert "row 1,048,576" in refused(workbook(tmp_path, '<sheetData><row r="1048576"><c r="A1048576"><v>1</v></c></row></sheetData>'))
    assert "damaged" in refused(workbook(tmp_path, '<sheetData><row r="1"><c r="BDWGN1"><v>1</v></c></row></sheetData>'))
    million = '<sheetData><row r="1">' + "<c><v>1</v></c>" * 1_000_000 + "</row></sheetData>"
    assert "more cells than a spreadsheet can hold" in refused(workbook(tmp_path, million))


def test_that_huge_shared_strings_end_within_memory(tmp_path: Path):
    strings = "".join(f"<si><t>{n:x}{'y' * 90}</t></si>" for n in range(40_000))
    path = workbook(tmp_path, '<sheetData><row r="1"><c r="A1" t="s"><v>7</v></c></row></sheetData>', strings=strings)
    assert read_file(path).rows == ((f"7{'y' * 90}",),)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1100 * 1024


def test_that_a_child_that_takes_too_long_is_ended(tmp_path: Path):
    path = workbook(tmp_path, rows([["x"] * 40] * 9000))
    with pytest.raises(UserFacing, match="takes too long"):
        read_file(path, limits=Limits(seconds=0.3))


def test_that_reading_a_workbook_can_be_cancelled(tmp_path: Path):
    path, token = workbook(tmp_path, rows([["x"] * 40] * 2000)), CancelToken()
    with pytest.raises(Cancelled):
        read_file(path, cancel=token, progress=lambda _: token.cancel())


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("q.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "old XLS file, or a workbook with a password"),
        ("q.csv", b"%PDF-1.7\n", "this is a PDF"),
        ("q.xls", b"<html><table><tr><td>1</td></tr></table></html>", "a web page"),
        ("q.xlsx", b"PK\x03\x04" + bytes(60), "damaged"),
        ("q.xlsx", pack({"readme.txt": b"hello"}), "no workbook"),
        ("q.xlsx", pack(parts(rows([["x"]])))[:-200], "damaged"),
        ("q.xlsm", pack(parts(rows([["x"]]), more={"xl/vbaProject.bin": b"macro"})), "macros"),
        ("q.xlsx", pack(parts(rows([["x"]]), more={"xl/vbaProject.bin": b"macro"})), "macros"),
        ("q.xlsm", pack(parts(rows([["x"]]))), "macros"),
        ("q.ods", pack({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet", "META-INF/manifest.xml": b"<x/>", "content.xml": b"<x/>"}), "ODS"),
        ("q.numbers", pack({"Index/Document.iwa": b"x", "Metadata/Properties.plist": b"x"}), "Numbers"),
        ("q.xlsb", pack({"[Content_Types].xml": b"<Types/>", "xl/workbook.bin": b"x"}), "XLSB"),
        ("q.docx", pack({"[Content_Types].xml": b"<Types/>", "word/document.xml": b"<x/>"}), "no workbook"),
        ("q.db", b"SQLite format 3\0" + bytes(100), "database"),
    ],
)
def test_that_what_is_no_table_is_refused_in_words(tmp_path: Path, name: str, content: bytes, words: str):
    (tmp_path / name).write_bytes(content)
    assert words in refused(tmp_path / name)


def test_that_an_encrypted_part_and_a_folder_are_refused(tmp_path: Path):
    content = bytearray(pack(parts(rows([["x"]]))))
    at = content.rindex(b"xl/worksheets/sheet1.xml") - 46
    content[at + 8] |= 1
    (tmp_path / "q.xlsx").write_bytes(content)
    assert "password" in refused(tmp_path / "q.xlsx")
    assert "is no file" in refused(tmp_path)


def test_that_the_ending_of_the_name_decides_nothing(tmp_path: Path):
    (tmp_path / "q.xlsx").write_text(QUOTE, "utf-8")
    assert read_file(tmp_path / "q.xlsx").rows[1] == ("H100 80GB SXM", "8", "12.5")
    workbook(tmp_path, rows([["x"]]), "q.csv")
    assert read_file(tmp_path / "q.csv").rows == (("x",),)
