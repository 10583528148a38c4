"""Is this a machine, a virtual one or a container, by the word of `systemd-detect-virt`?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.table_text import clean, first_line

FACT = Fact(
    id="detect_virt", title=Text("Virtualization (systemd-detect-virt)", "虚拟化（systemd-detect-virt）"), ok_codes=None,
    ask=Text("systemd-detect-virt", "systemd-detect-virt"), answers=("environment",),
)  # fmt: skip
# The words that its manual lists.
MACHINES = frozenset([
    "qemu", "kvm", "amazon", "zvm", "vmware", "microsoft", "oracle", "powervm", "xen", "bochs", "uml", "parallels", "bhyve", "qnx",
    "acrn", "apple", "sre", "google", "vm-other",
])  # fmt: skip
CONTAINERS = frozenset([
    "openvz", "lxc", "lxc-libvirt", "systemd-nspawn", "docker", "podman", "rkt", "wsl", "proot", "pouch", "container-other",
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Virtualization:
    """The word as printed; "none" = neither."""

    word: str

    @property
    def is_machine(self) -> bool:
        """Whether it names a hypervisor."""
        return self.word in MACHINES

    @property
    def is_container(self) -> bool:
        """Whether it names a container."""
        return self.word in CONTAINERS


def parse(output: CommandOutput) -> Virtualization:
    """Read the word. Raises Unreadable for anything else."""
    word = clean(output.text).strip()
    if word != "none" and word not in MACHINES | CONTAINERS:
        raise Unreadable(f"no word of systemd-detect-virt: {first_line(output.text) or first_line(output.error_text) or 'the output is empty'}")
    return Virtualization(word)


def as_dict(reading: Virtualization) -> dict[str, object]:
    """word, machine, container."""
    return {"word": reading.word, "machine": reading.is_machine, "container": reading.is_container}


def recognise(text: str) -> int:
    """One of its words and nothing else; "none" alone could be anything."""
    word = clean(text[:60]).strip() if len(text) < 60 else ""
    return 70 if word in MACHINES | CONTAINERS else 25 * (word == "none")
