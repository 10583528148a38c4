"""Who stands behind the demo's quotes, where do the machines stand, and which papers came with them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.fields import load_fields, validate_field
from gpulease_gui.catalog.loader import read_toml, resource
from gpulease_gui.domain.commercial import Field, HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Attachment, Site
from gpulease_gui.store import attachments, suppliers
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.records import EvidenceBlob
from gpulease_gui.store.term_versions import document_of

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class DemoSite:
    """A place with what is stated of it."""

    site: Site
    terms: Terms


@dataclass(frozen=True, slots=True)
class DemoCompany:
    """What is stated of one supplier, and its places; their ids are made when they are written."""

    terms: Terms
    sites: tuple[DemoSite, ...]


@cache
def load_demo_companies() -> Mapping[str, DemoCompany]:
    """What resources/demo/companies.toml says, by English name. Raises CatalogueFault, UsageError or KeyError for a broken file."""
    fields = load_fields()
    return {table["name"]: _company(table, fields) for table in read_toml(resource("demo", "companies.toml"))["supplier"]}


def _company(table: Mapping[str, Any], fields: Mapping[str, Field]) -> DemoCompany:
    source = table["source"]
    sites = tuple(
        DemoSite(Site("", "", s["name"], s.get("city", ""), s.get("country", ""), s.get("note", "")), _terms(s.get("terms", {}), source, fields))
        for s in table["site"]
    )
    return DemoCompany(_terms(table["terms"], source, fields), sites)


def _terms(said: Mapping[str, object], source: str, fields: Mapping[str, Field]) -> Terms:
    return Terms({key: Stated(validate_field(key, value, fields), source=source) for key, value in said.items()})


def put_company(db: Database, supplier_id: str, name: str, by: str, paper: str) -> None:
    """Write what the demo says of one supplier; no act that could be taken back. `paper` proves what was written down."""
    company = load_demo_companies().get(name)
    if company is None:
        return
    acting = Recorder(db, by, utc_now())
    acting.put("terms", (HolderOf.SUPPLIER, supplier_id), document_of(_proven(company.terms, paper)))
    for number, place in enumerate(company.sites, 1):
        site = Site(f"{supplier_id}-site-{number}", supplier_id, place.site.name, place.site.city, place.site.country, place.site.note)
        acting.put("site", (site.id,), suppliers.site_document(site))
        if place.terms.stated:
            acting.put("terms", (HolderOf.SITE, site.id), document_of(_proven(place.terms, paper)))
    acting.settle()


def _proven(terms: Terms, paper: str) -> Terms:
    spoken = ("chat", "mail", "web form")
    return Terms({key: said if said.source.startswith(spoken) else replace(said, evidence=paper) for key, said in terms.stated.items()})


def put_paper(db: Database, subject: Subject, name: str, lines: Sequence[str], by: str) -> str:
    """Keep a sheet with a record, as the supplier would have sent it; its id."""
    acting = Recorder(db, by, utc_now())
    blob = EvidenceBlob.of(sheet(lines))
    paper = Attachment(f"demo-paper-{subject.kind}-{subject.id}", subject.kind, subject.id, blob.sha256, name, "application/pdf", acting.at, by)
    attachments.add_attachment(acting, paper, blob)
    acting.settle()
    return paper.id


def sheet(lines: Sequence[str]) -> bytes:
    """One A4 page of plain Latin lines as a PDF, small enough to be made while the demo is filled.

    >>> sheet(["Quote 1"])[:8], b"(Quote 1) Tj" in sheet(["Quote 1"])
    (b'%PDF-1.4', True)
    """
    words = "".join(f"({_escaped(line)}) Tj T*\n" for line in lines)
    drawn = f"BT /F1 11 Tf 16 TL 60 780 Td\n{words}ET".encode("latin-1", "replace")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    )  # fmt: skip
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count, start = len(objects) + 1, len(made)
    return made + b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, table, count, start)


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
