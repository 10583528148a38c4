"""Does anything slip itself between programs and the driver?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines

# The libraries of this very shell show what the linker loads into every program. Of a preloaded library it is counted
# how many of its lines name functions of the driver.
_SCRIPT = (
    SHELL
    + """\
if [ -e /etc/ld.so.preload ]; then say preload_file yes; else say preload_file no; fi
put preload /etc/ld.so.preload
if [ -r /etc/ld.so.preload ]; then
  while read -r words || [ -n "$words" ]; do
    case $words in '#'*) continue;; esac
    for file in $words; do
      say library "$file"
      say real "$(readlink -f "$file")"
      if [ -r "$file" ]; then say hooks "$(grep -c -e nvmlInit -e cuInit -e cuMemAlloc "$file")"; fi
    done
  done </etc/ld.so.preload
fi
env | while IFS= read -r line; do
  case $line in LD_*=*|CUDA_*=*|NVIDIA_*=*|GPU_*=*|ASCEND_*=*|BASH_ENV=*|ENV=*) say env "$line";; esac
done
if [ -r /proc/self/maps ]; then
  while read -r range rights offset device inode path; do
    case $path in */lib*.so*) say mapped "$path";; esac
  done </proc/self/maps
fi
for file in /tmp/cudevshr.cache /usr/local/vgpu /etc/vgpu-manager /usr/local/vgpu/libvgpu.so; do
  if [ -e "$file" ]; then say marker "$file"; fi
done
for dir in /usr/local/cuda/compat /usr/local/cuda-*/compat; do
  if [ -d "$dir" ]; then say compat "$dir"; fi
done
"""
    + END
)

FACT = Fact(id="preload", title=Text("Preloaded libraries", "预加载库"), command=Command(script=_SCRIPT), seconds=10)


@dataclass(frozen=True, slots=True)
class PreloadLibrary:
    """A library of /etc/ld.so.preload. `hooks` is how many driver functions' lines it names; None = not readable."""

    path: str
    real: str | None
    hooks: int | None


@dataclass(frozen=True, slots=True)
class Preload:
    """`env` are NAME=value words; `mapped` the libraries that the linker loaded into our shell, without doubles."""

    libraries: tuple[PreloadLibrary, ...]
    env: tuple[str, ...]
    mapped: tuple[str, ...]
    markers: tuple[str, ...]
    compat: tuple[str, ...]
    denied: tuple[str, ...] = ()

    def variable(self, name: str) -> str | None:
        """The value of an environment variable; None if it is not set."""
        return next((words.split("=", 1)[1] for words in self.env if words.startswith(f"{name}=")), None)


def parse(output: CommandOutput) -> Preload:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "preload_file")
    return Preload(
        tuple(_library(record) for record in lines.records("library")), lines.all("env"),
        tuple(dict.fromkeys(lines.all("mapped"))), lines.all("marker"), lines.all("compat"), lines.all("denied"),
    )  # fmt: skip


def _library(record: KeyedLines) -> PreloadLibrary:
    return PreloadLibrary(record.first("library") or "?", record.first("real"), record.number("hooks"))


def as_dict(reading: Preload) -> dict[str, object]:
    """libraries, hooks, and the other fields by name as lists."""
    return {
        "libraries": [library.path for library in reading.libraries],
        "hooks": [library.hooks for library in reading.libraries],
        "env": list(reading.env),
        "mapped": list(reading.mapped),
        "markers": list(reading.markers),
        "compat": list(reading.compat),
        "denied": list(reading.denied),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith(("preload_file: yes\n", "preload_file: no\n")) else 0
