"""How does any table become a CSV that a spreadsheet opens in the right encoding and takes no text of for a formula?"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from gpulease_gui.domain.finding import Value
from gpulease_gui.reports.as_csv import safe_cell


def csv_table(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> bytes:
    """UTF-8 with a byte order mark, CRLF; no text cell can start a formula, numbers stay as they are."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([safe_cell(words) for words in head])
    writer.writerows([safe_cell(value) for value in row] for row in rows)
    return out.getvalue().encode("utf-8-sig", "replace")
