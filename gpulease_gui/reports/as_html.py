"""How is a report written as one web page that loads nothing?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import Any

from gpulease_gui.domain.finding import VERDICT_WORDS, CheckState, Verdict
from gpulease_gui.domain.text import Language, Text, visible
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.blank_words import blank_text
from gpulease_gui.reports.document import (
    BarChart,
    Cell,
    Document,
    Heading,
    Items,
    LineChart,
    Mark,
    Marks,
    Pair,
    Pairs,
    Paragraph,
    Ruler,
    SignOff,
    SubHeading,
    Table,
    Title,
    VerdictBox,
)

NOT_RUN = Text("Not run", "未执行")
_STYLE = (
    "body{font:14px/1.5 sans-serif;max-width:60em;margin:2em auto;color:#161A20}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;border-bottom:1px solid #DDE1E7;padding:4px 8px}"
    "th{border-bottom:1.5px solid #161A20}.fail{color:#A5162A;font-weight:600}.missing,.quiet{color:#5F6977}"
    "td.number{text-align:right}td.hash,.code{font-family:monospace;overflow-wrap:anywhere}"
)


def html_text(document: Document) -> str:
    """The page; every word of it is escaped, scripts and outside addresses are not in it."""
    say = partial(_said, language=document.language)
    body = "\n".join(_WRITERS[type(block)](block, say) for block in document.blocks)
    demo = "<p class=fail>DEMO</p>\n" if document.demo else ""
    return (
        f'<!DOCTYPE html>\n<html lang="{document.language}">\n<head><meta charset="utf-8">'
        f"<title>{say(document.title)}</title><style>{_STYLE}</style></head>\n<body>\n{demo}{body}\n"
        f"<footer class=quiet>{say(document.footer)} · SHA-256 {escape(document.hash)}</footer>\n</body>\n</html>\n"
    )


Say = Callable[[Text], str]


def _said(text: Text, language: Language) -> str:
    return escape(visible(text.say(language)))


def _state(state: Verdict | CheckState, say: Say) -> str:
    words = VERDICT_WORDS[state] if isinstance(state, Verdict) else NOT_RUN
    return f"<span class={state}>{say(words)}</span>"


def _cell(cell: Cell, say: Say) -> str:
    if isinstance(cell, Mark):
        return _state(cell.state, say)
    if isinstance(cell, Ruler):
        return ""
    return f"<span class={cell.tone}>{say(cell.text)}</span>"


def _title(block: Title, say: Say) -> str:
    return f"<h1>{say(block.text)}</h1>" + "".join(f"<p class=quiet>{say(line)}</p>" for line in block.lines)


def _box(block: VerdictBox, say: Say) -> str:
    details = "".join(f"<br>{say(line)}" for line in block.details)
    return f"<p>{say(block.caption)}: <b>{_state(block.verdict, say)}</b>{details}</p>" + _pair_list(block.pairs, say)


def _pair_list(pairs: tuple[Pair, ...], say: Say) -> str:
    return "<dl>" + "".join(f"<dt>{say(p.label)}</dt><dd>{_cell(p.value, say)}</dd>" for p in pairs) + "</dl>"


def _sub(block: SubHeading, say: Say) -> str:
    state = f" {_state(block.state, say)}" if block.state is not None else ""
    return f"<h3>{say(block.text)}{state} <small>{say(block.note)}</small></h3>"


def _table(block: Table, say: Say) -> str:
    head = "".join(f"<th>{say(column.head)}</th>" for column in block.columns)
    kinds = [column.kind for column in block.columns]
    rows = "".join(
        "<tr>" + "".join(f"<td class={k}>{_cell(c, say)}</td>" for k, c in zip(kinds, row, strict=True)) + "</tr>\n"
        for row in block.rows
    )
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _bars(block: BarChart, say: Say) -> str:
    def said(value: float | None) -> str:
        return "–" if value is None else number_text(value)

    rows = "".join(
        f"<tr><td>{say(b.label)}</td><td class=number>{said(b.measured)}</td><td class=number>{said(b.promised)}</td></tr>"
        for b in block.bars
    )
    return f"<p>{say(block.caption)}</p><table>{rows}</table>"


def _lines(block: LineChart, say: Say) -> str:
    rows = "".join(
        f"<tr><td>{escape(visible(c.name))}</td><td class=number>{number_text(min(c.low))}</td>"
        f"<td class=number>{number_text(max(c.high))}</td></tr>"
        for c in block.curves if c.low
    )  # fmt: skip
    gaps = "".join(f"<br>{say(blank_text(blank, block.utc_offset_s))}" for blank in block.blanks)
    return f"<p>{say(block.caption)} {say(block.contract_words)}{gaps}</p><table>{rows}</table>"


def _sign(block: SignOff, say: Say) -> str:
    fields = "".join(f"<br>{say(field)}: ____________________" for field in block.fields)
    return "".join(f"<p>{say(p.label)}: {_cell(p.value, say)}{fields}</p>" for p in block.parties)


_WRITERS: Mapping[type, Callable[[Any, Say], str]] = {
    Title: _title, VerdictBox: _box, SubHeading: _sub, Table: _table, BarChart: _bars, LineChart: _lines, SignOff: _sign,
    Heading: lambda block, say: f"<h2>{block.number} {say(block.text)}</h2>",
    Paragraph: lambda block, say: f"<p class={block.tone}>{say(block.text)}</p>",
    Items: lambda block, say: "<ol>" + "".join(f"<li>{say(item)}</li>" for item in block.items) + "</ol>",
    Pairs: lambda block, say: _pair_list(block.pairs, say),
    Marks: lambda block, say: "<p>" + " ".join(_state(state, say) for state in block.states) + "</p>",
}  # fmt: skip
