"""Which file is run when nvidia-smi is called?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines

_SCRIPT = (
    SHELL
    + """\
path=$(command -v nvidia-smi)
if [ -z "$path" ]; then echo 'nvidia-smi: not found' >&2; exit 127; fi
real=$(readlink -f "$path")
say path "$path"
say real "$real"
say magic "$(head -c 4 "$real" | od -An -tx1)"
say sha256 "$(sha256sum "$real")"
say stat "$(stat -c '%U %a %s' "$real")"
say dir "$(stat -c '%U %a' "${path%/*}")"
old=$IFS; IFS=:; set -- $PATH; IFS=$old
for dir in "$@"; do
  if [ -e "$dir/nvidia-smi" ]; then say copy "$(readlink -f "$dir/nvidia-smi")"; fi
done
if [ -r /proc/self/mountinfo ]; then
  while read -r id parent device root point rest; do
    if [ "$point" = "$real" ]; then say mounted "$point"; fi
  done </proc/self/mountinfo
fi
if [ -r /proc/driver/nvidia/version ]; then
  read -r line </proc/driver/nvidia/version
  say driver "$line"
  for word in $line; do
    case $word in [0-9]*.[0-9]*) say named "$(grep -c -F -e "$word" "$real")";; esac
  done
fi
if command -v modinfo >/dev/null; then say modinfo "$(modinfo -F version nvidia)"; fi
if command -v dpkg >/dev/null; then
  owner=$(dpkg -S "$real"); say owner "$owner"
  if [ -n "$owner" ]; then said=$(dpkg -V "${owner%%:*}"); say verified "$?"; printf '%s\\n' "$said" | while IFS= read -r line; do say differs "$line"; done; fi
elif command -v rpm >/dev/null; then
  owner=$(rpm -qf "$real"); code=$?
  if [ "$code" -eq 0 ]; then
    say owner "$owner"
    said=$(rpm -Vf "$real"); say verified "$?"; printf '%s\\n' "$said" | while IFS= read -r line; do say differs "$line"; done
  fi
fi
"""
    + END
)

FACT = Fact(id="smi_binary", title=Text("The program nvidia-smi", "nvidia-smi 程序文件"), command=Command(script=_SCRIPT), seconds=20)


@dataclass(frozen=True, slots=True)
class SmiBinary:
    """None = not told. `mode` in octal digits; `copies` are all files of this name on the path, without doubles.

    `mounted`: the file itself is a mount point, as container toolkits do. `names_driver`: its bytes hold the version
    of the loaded driver. `differs` are the lines of the package check that name this file.
    """

    path: str
    real: str | None
    magic: str | None
    sha256: str | None
    owner: str | None
    mode: str | None
    dir_owner: str | None
    dir_mode: str | None
    copies: tuple[str, ...]
    mounted: bool
    names_driver: bool | None
    modinfo: str | None
    package: str | None
    verified: bool
    differs: tuple[str, ...]

    @property
    def is_elf(self) -> bool | None:
        """Whether it is a compiled program; None if its first bytes were not read."""
        return self.magic.replace(" ", "") == "7f454c46" if self.magic else None


def parse(output: CommandOutput) -> SmiBinary:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "path")
    stat, folder = (lines.first("stat") or "").split(), (lines.first("dir") or "").split()
    digest = (lines.first("sha256") or "").split(" ")[0]
    real, named = lines.first("real"), lines.number("named")
    owner = lines.first("owner")
    return SmiBinary(
        lines.first("path") or "?", real, lines.first("magic"), digest if re.fullmatch(r"[0-9a-f]{64}", digest) else None,
        stat[0] if stat else None, stat[1] if len(stat) > 1 else None, folder[0] if folder else None,
        folder[1] if len(folder) > 1 else None, tuple(dict.fromkeys(lines.all("copy"))), bool(lines.all("mounted")),
        None if named is None else named > 0, lines.first("modinfo"), owner.split(":")[0] if owner else None,
        lines.number("verified") is not None, tuple(line for line in lines.all("differs") if real and line.endswith(real)),
    )  # fmt: skip


def as_dict(reading: SmiBinary) -> dict[str, object]:
    """The fields by name, and is_elf."""
    return {
        "path": reading.path, "real": reading.real, "is_elf": reading.is_elf, "sha256": reading.sha256, "owner": reading.owner,
        "mode": reading.mode, "dir_owner": reading.dir_owner, "dir_mode": reading.dir_mode, "copies": list(reading.copies),
        "mounted": reading.mounted, "names_driver": reading.names_driver, "modinfo": reading.modinfo, "package": reading.package,
        "verified": reading.verified, "differs": list(reading.differs),
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first lines."""
    return 97 if text.startswith("path: ") and "\nmagic: " in text[:2000] else 0
