"""May the cards of a node read and write each other's memory, and what lies on the way?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import topo
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, keyed_lines
from gpulease_gui.facts.topo import Topology

# Both matrices as they are; then what of the bus a user may see. Only root reads the access control of bridges.
_SCRIPT = (
    SHELL
    + """\
echo "p2p: read"
nvidia-smi topo -p2p r || exit $?
echo "p2p: write"
nvidia-smi topo -p2p w; code=$?
echo "p2p: paths"
say write_code "$code"
groups=0
for dir in /sys/kernel/iommu_groups/*; do
  if [ -d "$dir" ]; then groups=$((groups + 1)); fi
done
say iommu_groups "$groups"
if [ -r /proc/cmdline ]; then
  read -r words </proc/cmdline
  for word in $words; do
    case $word in iommu=*|intel_iommu=*|amd_iommu=*|iommu.*) say iommu_word "$word";; esac
  done
fi
if command -v lspci >/dev/null; then
  lspci -vvv </dev/null | while IFS= read -r line; do
    case $line in
      [0-9a-f]*) slot=${line%% *};;
      *'access denied'*) say shut "$slot";;
      *ACSCtl:*) say acs "$slot $line";;
    esac
  done
fi
"""
    + END
)

FACT = Fact(id="p2p", title=Text("Peer access of the cards", "卡间 P2P"), command=Command(script=_SCRIPT), seconds=40, lane="nvidia")


@dataclass(frozen=True, slots=True)
class PeerAccess:
    """`read` and `write` hold states (OK, NS ...); `write` None = it did not answer. Redirects: slots whose bridge sends
    peer traffic up to the processor; None = only root can tell. `iommu_words` are those of the kernel's command line.
    """

    read: Topology
    write: Topology | None
    iommu_groups: int | None
    iommu_words: tuple[str, ...]
    redirects: tuple[str, ...] | None


def parse(output: CommandOutput) -> PeerAccess:
    """Read both matrices and the lines after them. Raises Unreadable."""
    found = re.fullmatch(r"p2p: read\n(.*?)^p2p: write\n(.*?)^p2p: paths\n(.*)", output.text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise Unreadable("the output ends before its last line", code=Reason.CUT_OFF)
    lines = keyed_lines(CommandOutput(found[3].encode()), "write_code")
    return PeerAccess(
        topo.parse(CommandOutput(found[1].encode())), _write(found[2]) if lines.number("write_code") == 0 else None,
        lines.number("iommu_groups"), lines.all("iommu_word"), _redirects(lines.all("acs"), bool(lines.all("shut"))),
    )  # fmt: skip


def _write(text: str) -> Topology | None:
    try:
        return topo.parse(CommandOutput(text.encode()))
    except Unreadable:
        return None


def _redirects(lines: tuple[str, ...], shut: bool) -> tuple[str, ...] | None:
    """Bridges that redirect requests or completions; silence is no answer."""
    on = tuple(line.split()[0] for line in lines if re.search(r"\b(?:ReqRedir|CmpltRedir)\+", line))
    return on if on or (lines and not shut) else None


def as_dict(reading: PeerAccess) -> dict[str, object]:
    """gpus, read and write: pairs by state; iommu_groups, iommu_words, redirects."""
    return {
        "gpus": len(reading.read.gpu_rows),
        "read": reading.read.link_counts,
        "write": None if reading.write is None else reading.write.link_counts,
        "iommu_groups": reading.iommu_groups,
        "iommu_words": list(reading.iommu_words),
        "redirects": None if reading.redirects is None else list(reading.redirects),
    }


def recognise(text: str) -> int:
    """Sure of our own first line."""
    return 97 if text.startswith("p2p: read\n") else 0
