"""Which PyTorch is installed for the node's own Python?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines

# PyTorch is not started, only its file of versions is read: starting it takes seconds and wakes the cards.
_SCRIPT = (
    SHELL
    + """\
if command -v python3 >/dev/null; then
  say python "$(command -v python3)"
  python3 -c '
import importlib.util, os, sys
print("python_version: %d.%d" % sys.version_info[:2])
found = importlib.util.find_spec("torch")
if found and found.origin:
    print("torch: " + found.origin)
    with open(os.path.join(os.path.dirname(found.origin), "version.py")) as lines:
        for line in lines:
            print("version_line: " + line.rstrip())
'
else
  say python no
fi
"""
    + END
)

FACT = Fact(id="torch_files", title=Text("Installed PyTorch", "已安装的 PyTorch"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class TorchFiles:
    """None = not installed, or not told. `version` without its build, `tag` the build as in cu124."""

    python: str | None
    version: str | None
    cuda: str | None

    @property
    def installed(self) -> bool:
        """Whether a PyTorch with a version is there."""
        return self.version is not None

    @property
    def tag(self) -> str | None:
        """The build's name, from its CUDA version: cu124 of 12.4."""
        return f"cu{self.cuda.replace('.', '')}" if self.cuda else None


def parse(output: CommandOutput) -> TorchFiles:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "python")
    text = "\n".join(lines.all("version_line"))
    version = re.search(r"^__version__\s*=\s*'(\d+\.\d+(?:\.\d+)?)", text, re.MULTILINE)
    cuda = re.search(r"^cuda\b[^=\n]*=\s*'(\d{1,2}\.\d{1,2})'", text, re.MULTILINE)
    return TorchFiles(lines.first("python_version"), version[1] if version else None, cuda[1] if cuda else None)


def as_dict(reading: TorchFiles) -> dict[str, object]:
    """python, version, cuda, tag."""
    return {"python": reading.python, "version": reading.version, "cuda": reading.cuda, "tag": reading.tag}


def recognise(text: str) -> int:
    """Sure of our own first lines."""
    return 97 if text.startswith("python: ") and text.endswith("end: yes\n") else 0
