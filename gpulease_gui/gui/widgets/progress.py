"""How does a progress bar move without the whole window being drawn at once?"""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


def show_progress(bar: QProgressBar, done: int, total: int) -> None:
    """`done` of `total` steps, 0 = unknown how many. Qt draws a bar that moves at once, and with it all that waits to be drawn."""
    bar.setUpdatesEnabled(False)
    bar.setRange(0, total)
    bar.setValue(done)
    bar.setUpdatesEnabled(True)
