"""Workbooks that tests make by hand: honest ones, and ones that were made to harm."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'


def parts(sheet: str, *, strings: str = "", more: Mapping[str, bytes] | None = None) -> dict[str, bytes]:
    """The parts of a workbook of one sheet, whose XML below <worksheet> is `sheet`."""
    made = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{_TYPES}.sharedStrings+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_TYPES}.worksheet+xml"/></Types>',
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{_RELS}"><Relationship Id="rId1" Type="{_OFFICE}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        '<sheet name="Offers" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{_RELS}"><Relationship Id="rId1" Type="{_OFFICE}/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/sharedStrings.xml": f'{HEAD}<sst xmlns="{_MAIN}">{strings}</sst>',
        "xl/worksheets/sheet1.xml": f'{HEAD}<worksheet xmlns="{_MAIN}">{sheet}</worksheet>',
    }  # fmt: skip
    return {**{name: text.encode() for name, text in made.items()}, **(more or {})}


def pack(contents: Mapping[str, bytes]) -> bytes:
    """The parts as a ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in contents.items():
            file.writestr(name, content)
    return out.getvalue()


def rows(cells: Iterable[Iterable[str]]) -> str:
    """A sheet of text cells."""
    return "<sheetData>" + "".join(
        f'<row r="{number}">' + "".join(f'<c t="inlineStr"><is><t>{words}</t></is></c>' for words in row) + "</row>"
        for number, row in enumerate(cells, 1)
    ) + "</sheetData>"


def workbook(folder: Path, sheet: str, name: str = "quote.xlsx", *, strings: str = "", more: Mapping[str, bytes] | None = None) -> Path:
    """A file of one sheet."""
    path = folder / name
    path.write_bytes(pack(parts(sheet, strings=strings, more=more)))
    return path
