"""What of an import that was begun is kept for the case of a crash, and how is it put back on the table?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from gpulease_gui.services.importing_desk import Loaded, Source

LARGEST = 2_000_000  # characters of a paste; more of it would be written at every pause of typing
_WORDS = 10
_NO_TABLE = "-"


@dataclass(frozen=True, slots=True)
class ImportDraft:
    """An import as it stood: its source, whose offers they are, what the columns are, and the answers to doubts.

    `header` "-" = no table was shown yet, "" = it has no headings. `columns` are the keys of targets by place.
    """

    source: Source
    supplier: str = ""
    name: str = ""
    header: str = _NO_TABLE
    columns: tuple[str, ...] = ()
    answers: Mapping[str, str] = field(default_factory=dict)

    @property
    def begun(self) -> bool:
        """Whether a table was shown already."""
        return self.header != _NO_TABLE

    @property
    def words(self) -> tuple[str, ...]:
        """As a draft keeps it; a longer text than LARGEST is left out, and nothing is kept without a source."""
        source = self.source
        text = source.text if len(source.text) <= LARGEST else ""
        return (
            text, str(source.path or ""), source.sheet, source.encoding, source.delimiter, self.supplier, self.name, self.header,
            json.dumps(self.columns), json.dumps(dict(self.answers), ensure_ascii=False),
        )  # fmt: skip

    def onto(self, loaded: Loaded) -> Loaded:
        """The table with its columns and answers as they were; columns that it has no more are left as they were guessed."""
        layout = loaded.layout
        if self.begun and self.header != ("" if layout.header is None else str(layout.header)):
            if self.header and int(self.header) >= len(loaded.sheet.rows):
                return loaded
            layout = loaded.relaid(int(self.header) if self.header else None).layout
        if len(self.columns) == len(layout.columns):
            known = loaded.targets.by_key
            layout = replace(layout, columns=tuple(key if key in known else "" for key in self.columns))
        return replace(loaded, layout=replace(layout, answers=dict(self.answers))).counted()


def begun_with(loaded: Loaded, supplier: str, name: str, answers: Mapping[str, str]) -> ImportDraft:
    """What is kept of a table that is shown."""
    header = loaded.layout.header
    said = {**loaded.layout.answers, **answers}
    return ImportDraft(loaded.source, supplier, name, "" if header is None else str(header), loaded.layout.columns, said)


def import_draft(words: Sequence[str]) -> ImportDraft | None:
    """What `ImportDraft.words` gave; None for words of another shape, or of no source."""
    if len(words) != _WORDS or not (words[0] or words[1]):
        return None
    text, path, sheet, encoding, delimiter, supplier, name, header, columns, answers = words
    try:
        keys, said = json.loads(columns), json.loads(answers)
    except ValueError:
        return None
    if not isinstance(keys, list) or not isinstance(said, dict) or not (header in ("", _NO_TABLE) or (header.isascii() and header.isdigit())):
        return None
    source = Source(Path(path) if path else None, "" if path else text, None, sheet, encoding, delimiter)
    return ImportDraft(source, supplier, name, header, tuple(map(str, keys)), {str(key): str(value) for key, value in said.items()})
