"""How does a quote from a file become offers of the workspace?"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of, wrong_input
from gpulease_gui.domain.commercial import FieldValue
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import visible
from gpulease_gui.services import importing
from gpulease_gui.services.acting import user_name_in
from gpulease_gui.services.composition import Services
from gpulease_gui.services.importing import DryRun, Planned
from gpulease_gui.services.importing_layout import Layout, columns_for, guess_layout
from gpulease_gui.services.importing_lines import LEFT_OUT, read_lines
from gpulease_gui.services.importing_memory import answers_in, mapping_text, remembered_in
from gpulease_gui.services.importing_rows import Issue, Lines, Question, left_out_words
from gpulease_gui.services.importing_sources import sheet_of_file, sheet_of_text
from gpulease_gui.services.importing_targets import Targets, targets_of
from gpulease_gui.store import suppliers
from gpulease_gui.store.exchange.sheet import Sheet, column_letters
from gpulease_gui.store.records import new_id


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease import`."""
    parser.add_argument("file", metavar="FILE", help="a CSV, TSV or XLSX file; - reads pasted cells or chat lines from standard input")
    parser.add_argument("--supplier", default="", metavar="NAME", help="whose offers these are, unless a column names it; made if new")
    parser.add_argument("--dry-run", action="store_true", help="say what would be added and changed; write nothing (without it the offers are saved)")
    parser.add_argument("--map", action="append", default=[], metavar="COLUMN=TARGET", help="what a column (its heading or letter) is")
    parser.add_argument("--answer", action="append", default=[], metavar="QUESTION=OPTION", help=f"what ambiguous cells mean ({LEFT_OUT} = without them)")
    parser.add_argument("--header", type=int, metavar="ROW", help="the row of headings, counted from 1")
    parser.add_argument("--sheet", default="", metavar="NAME", help="the sheet of a workbook")
    parser.add_argument("--encoding", default="", help="of a CSV (default: by its bytes)")
    parser.add_argument("--delimiter", default="", help="of a CSV (default: by its lines)")
    parser.add_argument("--skip-errors", action="store_true", help="import the good rows; without it an error stops the import")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the offers are kept")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Import; 0 done, 1 errors in cells, 2 questions are open: then nothing was written."""
    with closing(services_of(options.workspace, demo=options.demo)) as services:
        targets = targets_of(services.catalogue)
        with wrong_input():
            sheet = _sheet(options, targets, services)
        layout = _layout(options, sheet, targets, services)
        found = read_lines(sheet, layout, targets, services.catalogue)
        _check_answers(options.answer, found)
        with services.workspace.read() as connection:
            supplier = _supplier(suppliers.list_suppliers(connection), options.supplier)
            plan = importing.plan(connection, found, supplier, utc_now().date(), visible(Path(options.file).name) if options.file != "-" else "")
            by = user_name_in(connection)
        code = _verdict(plan, skip=options.skip_errors)
        saved = 0
        if code is Exit.OK and not options.dry_run and plan.added + plan.changed:
            mapping = mapping_text(sheet, layout, targets)
            work = services.change(lambda db: importing.save(db, plan, by=by, at=utc_now(), mapping=mapping), "supplier", "offer", "claim")
            saved = work.result() and plan.added + plan.changed
        _print(options, sheet, layout, plan, saved)
        return code


def _sheet(options: argparse.Namespace, targets: Targets, services: Services) -> Sheet:
    if options.file == "-":
        return sheet_of_text(sys.stdin.read(), targets, services.catalogue)
    delimiter = {"tab": "\t", "\\t": "\t"}.get(options.delimiter, options.delimiter)
    return sheet_of_file(Path(options.file), sheet=options.sheet, encoding=options.encoding, delimiter=delimiter)


def _layout(options: argparse.Namespace, sheet: Sheet, targets: Targets, services: Services) -> Layout:
    with services.workspace.read() as connection:
        known = [s for s in suppliers.list_suppliers(connection) if s.name == options.supplier]
        owner = known[0].id if known else ""
        kept, answers = remembered_in(connection, owner), answers_in(connection, owner)
    if options.header is None:
        layout = guess_layout(sheet, targets, kept.columns)
    else:
        layout = columns_for(sheet, options.header - sheet.first_row, targets, kept.columns)
    layout = replace(layout, remembered=answers)
    for words in options.map:
        heading, _, target = words.partition("=")
        layout = layout.with_column(_column(sheet, layout, heading), _target(targets, target))
    for words in options.answer:
        key, _, option = words.rpartition("=")
        layout = layout.with_answer(key, option)
    return layout


def _column(sheet: Sheet, layout: Layout, heading: str) -> int:
    headings = list(layout.headings(sheet))
    letters = [column_letters(c) for c in range(sheet.width)]
    for known in (headings, letters):
        if heading in known:
            return known.index(heading)
    raise UsageError(f"--map: there is no column {heading!r}", next_step=f"the columns are {', '.join(filter(None, headings)) or ', '.join(letters)}")


def _target(targets: Targets, key: str) -> str:
    if key and key not in targets.by_key:
        raise UsageError(f"--map: {key!r} is nothing that a column can be", next_step=f"write one of: {', '.join(targets.by_key)}")
    return key


def _supplier(known: Iterable[Supplier], name: str) -> Supplier | None:
    return next((s for s in known if s.name == name), Supplier(new_id(), name)) if name else None


def _check_answers(answers: Iterable[str], found: Lines) -> None:
    """An answer to a question that nobody asked is a slip, and is never kept."""
    asked = {question.key: question for question in (*found.questions, *found.choices)}
    for words in answers:
        key, _, option = words.rpartition("=")
        if key not in asked:
            waiting = {one for line in found.lines for one in line.waits}
            keys = [one for one in asked if one in waiting] or list(asked)
            raise UsageError(f"--answer: no question {key!r} was asked", next_step=f"the questions are {', '.join(map(repr, keys))}" if keys else "leave it out: there are no questions")
        known = [LEFT_OUT, *(id_ for id_, _ in asked[key].options)]
        if option not in known:
            raise UsageError(f"--answer: {option!r} is no answer to {key!r}", next_step=f"write one of: {', '.join(known)}")


def _verdict(plan: DryRun, *, skip: bool) -> Exit:
    if plan.open:
        return Exit.INCONCLUSIVE
    return Exit.FAIL if plan.bad and not skip else Exit.OK


def _print(options: argparse.Namespace, sheet: Sheet, layout: Layout, plan: DryRun, saved: int) -> None:
    if options.json:
        print(json.dumps(as_dict(sheet, layout, plan, saved), ensure_ascii=False, indent=1))
        return
    for note in _notes(sheet, plan):
        print(f"note: {note}")
    if layout.header is None:
        print("note: no row of headings was found; say what the columns are with --map A=gpu.model --map B=price ...")
    for address, words in plan.lines.skipped:
        print(f"{address}: {words!r} is no offer, skipped")
    for issue in plan.lines.issues:
        print(f"error: {issue.sentence}")
    for warning in plan.lines.warnings:
        print(f"warning: {warning.sentence}")
    for question in plan.lines.questions:
        if question.key in plan.open:
            print(f"question: {_asked(question)}")
    for choice in plan.lines.choices:
        print(f"choice: {_asked(choice)}")
    for row in plan.planned:
        print(f"{'add' if row.is_new else 'change' if row.changes else 'same'}: {_name(row)}{''.join(f'; {words}' for words in row.changes)}")
    waiting = f", because {len(plan.open)} question(s) above are open: answer them with --answer" if plan.open else ""
    known = "; every offer stands in the workspace already, just so" if plan.planned and plan.same == len(plan.planned) else ""
    what = "saved" if saved else f"nothing written{waiting}{known}"
    print(f"{plan.added} to add, {plan.changed} to change, {plan.same} the same, {plan.bad} with an error, {len(plan.lines.warnings)} warnings: {what}")


def _notes(sheet: Sheet, plan: DryRun) -> list[str]:
    """What a person should know of the whole table: how it was cut, what is not imported, which answers are old ones."""
    unread = left_out_words(plan.lines.left_out)
    old = [f"{one.question}={one.option}: remembered from the last import of {visible(one.supplier) or 'this supplier'} ({one.cells} {'cell' if one.cells == 1 else 'cells'})"
           for one in plan.lines.given if one.remembered]  # fmt: skip
    return [*(note.en for note in sheet.notes), *([unread.en] if unread else []), *old]


def _asked(question: Question) -> str:
    answers = " | ".join(f"--answer {question.key!r}={id_} ({label})" for id_, label in question.options)
    more = f" and {len(question.cells) - 5} more" if len(question.cells) > 5 else ""
    return f"{', '.join(question.cells[:5])}{more} {question.words[:60]!r}: {question.question} {answers}"


def _name(row: Planned) -> str:
    return visible(" ".join(part for part in (row.offer.quote_no, row.offer.title) if part))


def as_dict(sheet: Sheet, layout: Layout, plan: DryRun, saved: int) -> dict[str, object]:
    """The keys of `--json`."""
    return {
        "sheet": sheet.name, "rows": len(sheet.rows), "encoding": sheet.encoding or None,
        "header_row": None if layout.header is None else layout.header + sheet.first_row, "columns": list(layout.columns),
        "add": plan.added, "change": plan.changed, "same": plan.same, "saved": saved,
        "offers": [
            {"cell": row.line.address, "quote_no": row.offer.quote_no, "title": row.offer.title, "new": row.is_new,
             "price": _price_dict(row), "valid_until": None if row.offer.valid_until is None else row.offer.valid_until.isoformat(), "note": row.offer.note,
             "terms": {said.key: said.value for said in row.line.terms}, "fields": {said.key: _plain(said.value) for said in row.line.fields},
             "changes": [words.en for words in row.changes]}
            for row in plan.planned
        ],
        "errors": [_issue_dict(issue) for issue in plan.lines.issues],
        "warnings": [_issue_dict(warning) for warning in plan.lines.warnings],
        "questions": [_question_dict(q) for q in plan.lines.questions if q.key in plan.open],
        "choices": [{**_question_dict(q), "default": q.default} for q in plan.lines.choices],
        "skipped": [{"cell": address, "words": words} for address, words in plan.lines.skipped],
        "notes": _notes(sheet, plan),
        "not_imported": [{"column": column_letters(one.column), "heading": one.heading, "rows": one.rows} for one in plan.lines.left_out],
        "remembered": [{"supplier": one.supplier, "question": one.question, "option": one.option, "cells": one.cells}
                       for one in plan.lines.given if one.remembered],
    }  # fmt: skip


def _plain(value: FieldValue | TermValue) -> object:
    """Yes, no and whole numbers as JSON has them; decimals as exact text, days as 2026-12-01."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, tuple):
        return [{name: _plain(cell) for name, cell in row} for row in value]
    return value.isoformat() if isinstance(value, date) else value


def _price_dict(row: Planned) -> dict[str, object] | None:
    """The price as the row states it, with its tax; null = the row states none."""
    price, tax = row.offer.price, row.line.price.tax if row.line.price else None
    if price is None:
        return None
    return {
        "amount": format(price.amount, "f"), "currency": price.currency, "unit": row.offer.price_unit, "mode": row.line.mode,
        "tax_included": None if tax is None else tax.included, "tax_rate": None if tax is None or tax.rate is None else format(tax.rate.normalize(), "f"),
    }  # fmt: skip


def _issue_dict(issue: Issue) -> dict[str, object]:
    return {"cell": issue.address, "words": issue.words, "why": issue.why.en, "next_step": issue.next_step.en}


def _question_dict(q: Question) -> dict[str, object]:
    return {"key": q.key, "question": q.question.en, "words": q.words, "cells": list(q.cells), "options": {id_: label.en for id_, label in q.options}}
