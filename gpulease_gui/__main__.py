"""`python -m gpulease_gui` opens the window."""

from __future__ import annotations

import sys

from gpulease_gui.gui.app import main

if __name__ == "__main__":
    sys.exit(main())
