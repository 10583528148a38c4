"""Where do the programs that we are compared with live?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".venv-bench"
_SECONDS = 300


class Peers:
    """An environment of the bench's own; packages are installed into it when they are first wanted."""

    def __init__(self) -> None:
        self.python = FOLDER / "bin" / "python"
        self._why: dict[str, str] = {}

    def missing(self, package: str, module: str) -> str:
        """Why `module` of `package` can't be used, "" if it can."""
        if module not in self._why:
            self._why[module] = "" if self._has(module) else self._install(package, module)
        return self._why[module]

    def _has(self, module: str) -> bool:
        if not self.python.exists():
            return False
        return subprocess.run([self.python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0

    def _install(self, package: str, module: str) -> str:
        try:
            if not self.python.exists():
                subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True, capture_output=True, timeout=_SECONDS)
            words = [self.python, "-m", "pip", "install", "-q", package]
            done = subprocess.run(words, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return f"{package} can't be installed: {error}"
        if done.returncode == 0 and self._has(module):
            return ""
        said = done.stderr.strip().splitlines()
        return f"{package} can't be installed: {said[-1][:120] if said else 'it does not import'}"
