"""By what names do the layers above speak of the connections that they only pass on?

`Database` is a name for annotations: sqlite-utils itself is loaded late, so that a window can be drawn before it.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import sqlite_utils

Reader: TypeAlias = sqlite3.Connection
Database: TypeAlias = "sqlite_utils.Database"
