"""Which driver version do kernel module, libraries and nvidia-smi each have?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# nvidia-smi runs without a pipe, so that its exit code is its own (18 = library and module differ).
_SCRIPT = (
    SHELL
    + """\
if [ -r /proc/driver/nvidia/version ]; then say driver_module yes; else say driver_module no; fi
put version /proc/driver/nvidia/version
old=$IFS; IFS=:; set -- ${LD_LIBRARY_PATH-}; IFS=$old
for dir in "$@" /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib64 /usr/lib /usr/lib/wsl/lib \\
  /usr/local/nvidia/lib64 /usr/local/cuda/compat /usr/local/cuda-*/compat; do
  for file in "$dir"/libcuda.so.1 "$dir"/libnvidia-ml.so.1; do
    [ -e "$file" ] || continue
    say library "$file"
    say real "$(readlink -f "$file")"
  done
done
said=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader); code=$?
say smi_code "$code"
printf '%s\\n' "$said" | while IFS= read -r line; do say smi "$line"; done
"""
    + END
)

FACT = Fact(
    id="driver_files", title=Text("Driver versions, side by side", "驱动版本对照"), command=Command(script=_SCRIPT),
    seconds=40, lane="nvidia",
)  # fmt: skip

MISMATCH_CODE = 18


@dataclass(frozen=True, slots=True)
class Library:
    """A library as programs load it. `version` is that of the file behind the link; None = its name tells none."""

    path: str
    version: str | None

    @property
    def is_compat(self) -> bool:
        """Whether it belongs to a forward-compatibility package."""
        return "/compat" in self.path


@dataclass(frozen=True, slots=True)
class DriverFiles:
    """None = that source did not answer. `smi_message` is what nvidia-smi said instead of a version."""

    module_version: str | None
    libraries: tuple[Library, ...]
    smi_version: str | None
    smi_code: int | None
    smi_message: str

    @property
    def mismatch_told(self) -> bool:
        """Whether nvidia-smi itself says that library and kernel module differ."""
        return self.smi_code == MISMATCH_CODE or "library version mismatch" in self.smi_message.lower()


_VERSION = re.compile(r"\d+(?:\.\d+)+")


def parse(output: CommandOutput) -> DriverFiles:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "driver_module")
    said = lines.all("smi")
    versions = [line for line in said if _VERSION.fullmatch(line)]
    return DriverFiles(
        _module_version(lines), tuple(_libraries(lines)), versions[0] if versions else None, lines.number("smi_code"),
        "" if versions else " ".join(said) or output.error_text.strip()[:500],
    )  # fmt: skip


def _module_version(lines: KeyedLines) -> str | None:
    for line in lines.all("version"):
        found = re.search(r"Kernel Module\b.*?\s(\d+(?:\.\d+)+)\b", line)
        if found:
            return found[1]
    return None


def _libraries(lines: KeyedLines) -> list[Library]:
    found: dict[str, Library] = {}
    for record in lines.records("library"):
        path, real = record.first("library"), record.first("real") or ""
        version = re.search(r"\.so\.(\d+(?:\.\d+)+)$", real)
        if path is not None:
            found.setdefault(path, Library(path, version[1] if version else None))
    return list(found.values())


def as_dict(reading: DriverFiles) -> dict[str, object]:
    """module_version, smi_version, smi_code, smi_message, and lists: library_paths, library_versions."""
    return {
        "module_version": reading.module_version,
        "smi_version": reading.smi_version,
        "smi_code": reading.smi_code,
        "smi_message": reading.smi_message,
        "library_paths": [library.path for library in reading.libraries],
        "library_versions": [library.version for library in reading.libraries],
    }


def recognise(text: str) -> int:
    """Sure of our own lines."""
    return 95 if text.startswith(("driver_module: yes\n", "driver_module: no\n")) else 0
