"""Is this a whole machine, a virtual one or a container, and who are we on it?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.keyed_lines import END, SHELL, KeyedLines, keyed_lines, whole

# cpu.hypervisor is said only where the processor lists flags (x86); silence means that nobody knows.
_SCRIPT = (
    SHELL
    + """\
say kernel "$(uname -s) $(uname -r) $(uname -m)"
say hostname "$(uname -n)"
say user "$(id -u) $(id -un)"
say path "$PATH"
if command -v systemd-detect-virt >/dev/null; then
  say virt.vm "$(systemd-detect-virt -v)"
  say virt.container "$(systemd-detect-virt -c)"
fi
for file in /.dockerenv /run/.containerenv /run/systemd/container; do
  if [ -e "$file" ]; then say marker "$file"; fi
done
put container.kind /run/systemd/container
put pid1 /proc/1/comm
put cgroup1 /proc/1/cgroup
put hypervisor.type /sys/hypervisor/type
if [ -r /proc/cpuinfo ]; then
  while IFS= read -r line; do
    case $line in
      flags*) case " $line " in *" hypervisor "*) say cpu.hypervisor yes;; *) say cpu.hypervisor no;; esac; break;;
    esac
  done </proc/cpuinfo
fi
if [ -r /proc/self/mountinfo ]; then
  while read -r id parent device root point rest; do
    case $point in
      /) say mount.root "$root $rest";;
      /etc/hosts|/etc/hostname) say mount.bind "$point";;
    esac
  done </proc/self/mountinfo
fi
if [ -r /proc/self/status ]; then
  while IFS= read -r line; do
    case $line in CapEff:*|CapBnd:*|Seccomp:*) say "status.${line%%:*}" "${line#*:}";; esac
  done </proc/self/status
fi
put uid_map /proc/self/uid_map
for name in sys_vendor product_name board_vendor chassis_vendor bios_vendor; do
  put "dmi.$name" "/sys/class/dmi/id/$name"
done
if [ -f /etc/os-release ]; then put os /etc/os-release; else put os /usr/lib/os-release; fi
put boot_id /proc/sys/kernel/random/boot_id
put machine_id /etc/machine-id
"""
    + END
)

FACT = Fact(
    id="environment", title=Text("Machine and session", "机器与会话"), command=Command(script=_SCRIPT), seconds=10
)

_CONTAINER_PATHS = ("docker", "kubepods", "containerd", "crio", "libpod", "lxc", "garden", "podman")
_CONTAINER_STORES = ("/docker/", "/containerd/", "/containers/storage/", "/kubelet/", "snapshotter")
# What may be process 1 of a machine that runs itself.
_INITS = ("systemd", "init", "openrc-init", "runit", "dinit", "procd", "linuxrc")
_VM_WORDS = ("kvm", "qemu", "vmware", "virtualbox", "xen", "bochs", "openstack", "amazon ec2", "google compute",
             "virtual machine", "alibaba cloud ecs", "cvm", "parallels", "bhyve", "hvm domu",
             "firecracker")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Environment:
    """What the node says of itself; None = it does not say it.

    `virt_vm` and `virt_container` are the words of systemd-detect-virt ("none" included). `cpu_hypervisor` is the
    processor's own flag. `container_signs` are the proofs of a container, `container_hints` only make one likely.
    """

    kernel: str | None = None
    hostname: str | None = None
    uid: int | None = None
    user: str | None = None
    path: str | None = None
    virt_vm: str | None = None
    virt_container: str | None = None
    cpu_hypervisor: bool | None = None
    hypervisor_type: str | None = None
    dmi_vendor: str | None = None
    dmi_product: str | None = None
    os_name: str | None = None
    boot_id: str | None = None
    machine_id: str | None = None
    cap_eff: int | None = None
    root_fs: str | None = None
    container_signs: tuple[str, ...] = ()
    container_hints: tuple[str, ...] = ()

    @property
    def is_container(self) -> bool:
        """Whether a proof, or two signs that each could have another cause, speak for a container."""
        return bool(self.container_signs) or len(self.container_hints) > 1

    @property
    def is_wsl(self) -> bool:
        """Whether this is Linux inside Windows, whose driver is the one of Windows."""
        return "microsoft" in (self.kernel or "").lower()

    @property
    def dmi_says_vm(self) -> bool:
        """Whether the maker's strings of the machine, or a tool that reads them, speak of a virtual one."""
        words = f"{self.dmi_vendor or ''} {self.dmi_product or ''}".lower()
        return any(word in words for word in _VM_WORDS)


def parse(output: CommandOutput) -> Environment:
    """Read the lines. Raises Unreadable."""
    lines = keyed_lines(output, "kernel")
    uid, _, user = (lines.first("user") or "").partition(" ")
    flag = lines.first("cpu.hypervisor")
    root = lines.first("mount.root")
    return Environment(
        kernel=lines.first("kernel"),
        hostname=lines.first("hostname"),
        uid=whole(uid),
        user=user or None,
        path=lines.first("path"),
        virt_vm=lines.first("virt.vm"),
        virt_container=lines.first("virt.container"),
        cpu_hypervisor={"yes": True, "no": False}.get(flag or ""),
        hypervisor_type=lines.first("hypervisor.type"),
        dmi_vendor=lines.first("dmi.sys_vendor"),
        dmi_product=lines.first("dmi.product_name"),
        os_name=_os_name(lines),
        boot_id=lines.first("boot_id"),
        machine_id=lines.first("machine_id"),
        cap_eff=_hex(lines.first("status.CapEff")),
        root_fs=_root_fs(root),
        container_signs=tuple(_signs(lines, root)),
        container_hints=tuple(_hints(lines, root)),
    )


def _os_name(lines: KeyedLines) -> str | None:
    for line in lines.all("os"):
        key, _, value = line.partition("=")
        if key == "PRETTY_NAME":
            return value.strip("\"'") or None
    return None


def _hex(words: str | None) -> int | None:
    try:
        return int(words, 16) if words and len(words) <= 16 else None
    except ValueError:
        return None


def _root_fs(root: str | None) -> str | None:
    """The file system type of /: the word after the lone dash of a mountinfo line."""
    _, dash, after = (root or "").partition(" - ")
    return after.split(" ", 1)[0] or None if dash else None


def _signs(lines: KeyedLines, root: str | None) -> list[str]:
    signs = [*lines.all("marker"), *(f"{point} is mounted into this system" for point in lines.all("mount.bind"))]
    if (word := lines.first("virt.container")) and word not in ("none", "wsl"):
        signs.append(f"systemd-detect-virt: {word}")
    groups = [g for g in lines.all("cgroup1") if any(word in g.lower() for word in _CONTAINER_PATHS)]
    signs.extend(f"/proc/1/cgroup: {group}" for group in groups[:1])
    if _root_fs(root) == "overlay" and any(store in (root or "") for store in _CONTAINER_STORES):
        signs.append("/ lies in the image store of a container runtime")
    return signs


def _hints(lines: KeyedLines, root: str | None) -> list[str]:
    """An overlay root is a container, or a node that boots from the network; so with the others."""
    hints = []
    if _root_fs(root) == "overlay":
        hints.append("/ is an overlay")
    if (first := lines.first("uid_map")) and first.split()[-1:] != ["4294967295"]:
        hints.append(f"uid_map: {' '.join(first.split())}")
    if (name := lines.first("pid1")) and name not in _INITS:
        hints.append(f"process 1 is {name}")
    return hints


def as_dict(reading: Environment) -> dict[str, object]:
    """The fields by name, tuples as lists, the capabilities as hexadecimal digits."""
    return {
        "kernel": reading.kernel, "hostname": reading.hostname, "uid": reading.uid, "user": reading.user,
        "path": reading.path, "virt_vm": reading.virt_vm, "virt_container": reading.virt_container,
        "cpu_hypervisor": reading.cpu_hypervisor, "hypervisor_type": reading.hypervisor_type,
        "dmi_vendor": reading.dmi_vendor, "dmi_product": reading.dmi_product, "dmi_says_vm": reading.dmi_says_vm,
        "os_name": reading.os_name, "boot_id": reading.boot_id, "machine_id": reading.machine_id,
        "cap_eff": f"{reading.cap_eff:016x}" if reading.cap_eff is not None else None, "root_fs": reading.root_fs,
        "container_signs": list(reading.container_signs), "container_hints": list(reading.container_hints),
        "is_container": reading.is_container, "is_wsl": reading.is_wsl,
    }  # fmt: skip


def recognise(text: str) -> int:
    """Sure of our own first lines."""
    return 97 if text.startswith("kernel: ") and "\nhostname: " in text[:1000] else 0
