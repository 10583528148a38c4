"""How does a file, the clipboard or a chat become one table?"""

from __future__ import annotations

import re
from pathlib import Path

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_line import NOTE, parts_of
from gpulease_gui.services.importing_lines import guess_layout
from gpulease_gui.services.importing_targets import Targets
from gpulease_gui.store.exchange.book import Progress
from gpulease_gui.store.exchange.plain_text import delimiter_of, read_text
from gpulease_gui.store.exchange.sheet import Row, Sheet, clean
from gpulease_gui.store.exchange.source import read_file

MOST_CHAT_LINES = 500
CHAT = "chat"
# The parts of a chat line and the columns that they fill.
_COLUMNS = (
    ("gpu", "gpu.model"), ("memory", "gpu.memory_gb"), ("gpus", "gpu.count"), ("nodes", "node.count"), ("price", "price"), ("unit", "unit"), ("tax", "tax"),
    ("deposit", "deposit.amount"), ("min_gpus", "billing.min_gpus"), ("min_nodes", "billing.min_nodes"),
    ("min_billed", "billing.min_billed_s"), ("valid_until", "valid_until"), ("whole", "billing.whole_node_only"), ("granularity", "billing.granularity_s"), ("network", "network.gbit_s"), ("ram", "ram_gb"),
    ("disk", "disk.size_gb"), ("sla", "sla.target"), (NOTE, "note"),
)  # fmt: skip


def sheet_of_file(
    path: Path, *, sheet: str = "", encoding: str = "", delimiter: str = "", cancel: CancelToken | None = None, progress: Progress | None = None
) -> Sheet:
    """The table in a CSV, TSV or XLSX file. Raises UserFacing, Cancelled."""
    return read_file(path, sheet=sheet, encoding=encoding, delimiter=delimiter, cancel=cancel, progress=progress)


def sheet_of_text(text: str, targets: Targets, catalogue: Catalogue, *, as_chat: bool | None = None) -> Sheet:
    """What was pasted: cells from a spreadsheet (TSV), CSV, or lines of a chat. `as_chat` None = told by its look.

    Raises UserFacing for a text that is too large.
    """
    if as_chat is not True:
        table = read_text(text.encode("utf-8", "replace"), Text("pasted", "粘贴").en, encoding="utf-8")
        if as_chat is False or _is_table(text, table, targets):
            return table
    return _chat(text, targets, catalogue)


def _is_table(text: str, table: Sheet, targets: Targets) -> bool:
    if delimiter_of(text) == "\t" and table.width > 1:
        return True
    return table.width > 1 and guess_layout(table, targets).header is not None


def _chat(text: str, targets: Targets, catalogue: Catalogue) -> Sheet:
    """One row a line, the columns in a fixed order; the address of a line counts from 1."""
    lines = text.splitlines()
    if len(lines) > MOST_CHAT_LINES:
        raise UserFacing(Text(f"the chat has {len(lines)} lines", f"聊天记录有 {len(lines)} 行"), Text(f"at most {MOST_CHAT_LINES} are read", f"最多读取 {MOST_CHAT_LINES} 行"), Text("paste only the lines with offers", "请只粘贴含报价的行"))
    found = [_said(line, catalogue) for line in lines]
    used = [(name, key) for name, key in _COLUMNS if key in targets.by_key and any(name in row for row in found)]
    rows = tuple(_row(row, used) for row in found)
    return Sheet(CHAT, (tuple(key for _, key in used), *rows), first_row=0)


_NODE = re.compile(r"整机|整台|whole|full", re.IGNORECASE)
_ASKING = re.compile(r"[?？]|吗|有没有|求购|求租")


def _said(line: str, catalogue: Catalogue) -> dict[str, str]:
    said = {part.field: clean(part.words) for part in parts_of(line, catalogue.gpus)}
    if "price" not in said and _ASKING.search(line):
        return {}  # a question about a card is no offer of one
    if _NODE.search(said.get("whole", "")) and "price" in said:
        said["unit"] = "整机"  # what "7万/月" is per, unless the price says it itself
    return said


def _row(said: dict[str, str], used: list[tuple[str, str]]) -> Row:
    """A line that names neither a card nor a price is talk, no offer."""
    if "gpu" not in said and "price" not in said:
        return ()
    return tuple(said.get(name) for name, _ in used)

