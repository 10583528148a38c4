"""How is the letter to a supplier written to a file?"""

from __future__ import annotations

from pathlib import Path

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.text import Language
from gpulease_gui.services.commerce_letter import Letter, letter_text
from gpulease_gui.services.evaluate import write_by_child, write_whole


def save_letter_text(letter: Letter, language: Language, path: Path) -> str:
    """Write the letter as plain text (UTF-8); the answer is the file's SHA-256. Raises UserFacing."""
    return write_whole(path, letter_text(letter, language).encode("utf-8", "replace"))


def export_letter(
    workspace_path: Path, subject: Subject, scenario: str, language: Language, out_path: Path, cancel: CancelToken, *,
    demo: bool = False,
) -> Path:  # fmt: skip
    """Write the letter as PDF by the program's own `letter` in a child process; `scenario` "" = every use.

    Blocks; cancelling raises Cancelled. Raises UserFacing.
    """
    words = [
        "letter", subject.id, "--lang", str(language), "--out", str(out_path), "--workspace", str(workspace_path),
        *(["--scenario", scenario] if scenario else []), *(["--demo"] if demo else []),
    ]  # fmt: skip
    write_by_child(words, out_path, cancel)
    return out_path
