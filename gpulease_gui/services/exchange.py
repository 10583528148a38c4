"""How does a whole workspace travel to another computer, and what would one that comes in change?"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpulease_gui import __version__
from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.fields import validate_terms
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.services.acting import recorder
from gpulease_gui.store.codec import maybe_value_from, utc_text
from gpulease_gui.store.exchange.bundle import Merge, bundle_bytes, compare, write
from gpulease_gui.store.exchange.bundle_schema import MOST_BYTES, Bundle, Record, parse_bundle
from gpulease_gui.store.term_versions import terms_from, terms_text

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Database, Reader

KINDS = ("supplier", "offer", "contract", "claim", "terms", "price", "answer", "waiver", "attachment", "site", "rate", "workload", "weight", "template", "market")


def export_bundle(connection: Reader, *, at: datetime, demo: bool) -> bytes:
    """The whole workspace as one bundle of JSON: suppliers, offers, contracts, what was said of them, attachments.

    Nodes, keys, runs and samples stay: they belong to this computer. `at` is UTC.
    """
    return bundle_bytes(connection, made_at=utc_text(at), tool_version=__version__, demo=demo)


def read_bundle(path: Path, catalogue: Catalogue) -> Bundle:
    """The bundle in a file, every value such as its term or field can have. Raises UserFacing; nothing is guessed.

    Promises and fields that this version does not know are left out, and named in `unknown`.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserFacing(f"{path.name} is too large for a bundle", f"at most {MOST_BYTES / 1e6:,.0f} MB are read", "export it without large attachments")
        data = path.read_bytes()
    except OSError as error:
        raise UserFacing(f"{path.name} can't be read", error.strerror or str(error), "check the file and its permissions") from error
    return valid_bundle(parse_bundle(data), catalogue)


def valid_bundle(bundle: Bundle, catalogue: Catalogue) -> Bundle:
    """The bundle without what this version's catalogue does not know. Raises UserFacing for a value that can't be meant."""
    kept: list[Record] = []
    unknown = list(bundle.unknown)
    for record in bundle.records:
        if record.section.name == "claims":
            if record.key[2] not in catalogue.terms:
                unknown.append(f"claims: {record.key[2][:60]}")
                continue
            _refuse_claim(record, catalogue)
        elif record.section.name == "terms":
            record = _known_terms(record, catalogue, unknown)
        kept.append(record)
    return replace(bundle, records=tuple(kept), unknown=tuple(dict.fromkeys(unknown)))


def _refuse_claim(record: Record, catalogue: Catalogue) -> None:
    value = maybe_value_from(json.loads(str(record.value("value"))))
    try:
        if value is not None:
            validate_term(record.key[2], value, catalogue)
    except UsageError as error:
        raise UserFacing("a promise of the bundle can't be meant", error.what, error.next_step or "ask who wrote it") from error


def _known_terms(record: Record, catalogue: Catalogue, unknown: list[str]) -> Record:
    try:
        terms = terms_from(str(record.value("terms")))
        unknown += [f"terms: {key[:60]}" for key in terms.stated if key not in catalogue.fields]
        known = replace(terms, stated={key: said for key, said in terms.stated.items() if key in catalogue.fields})
        return replace(record, fields=(("terms", terms_text(validate_terms(known, catalogue.fields))),))
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise UserFacing("commercial terms of the bundle are damaged", str(error)[:100], "export it again") from error
    except UsageError as error:
        raise UserFacing("a term of the bundle can't be meant", error.what, error.next_step or "ask who wrote it") from error


def merge_in(connection: Reader, bundle: Bundle, *, demo: bool) -> Merge:
    """What merging the bundle would add and change; writes nothing. Raises UserFacing.

    Demo data and real data never come into one file.
    """
    if bundle.demo != demo:
        raise UserFacing("demo data and real data can't be merged", "this bundle is of the other kind", "open the workspace of its kind")
    return compare(connection, bundle)


def apply_merge(db: Database, merge: Merge, source: str = "") -> int:
    """Write what `merge_in` showed: one transaction, one step back; how many records changed."""
    acting = recorder(db, f"merged from {source}" if source else "merged")
    write(acting, merge)
    name = source or "a bundle"
    return acting.finish(Text(f"merge of {len(merge.differences)} records from {name}", f"从 {source or '数据包'} 合并 {len(merge.differences)} 条记录"))


def write_private(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; only its owner may read it. Raises UserFacing; an earlier file stays then."""
    beside = path.with_name(f"{path.name}.part")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserFacing(f"{path.name} was not written", error.strerror or str(error), "check the folder and the disk") from error
