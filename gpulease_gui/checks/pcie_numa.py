"""Does the node tell which processor socket each card hangs on?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.cpu_limits import CpuLimits
from gpulease_gui.facts.pci_devices import PciBus

CHECK = Check(
    id="pcie.numa",
    title=Text("Socket of every card", "各卡所属 NUMA 节点"),
    why=Text(
        "A virtual machine that hides the sockets makes jobs cross them, and copies run slower.",
        "虚拟机隐藏 NUMA 拓扑时，任务会跨路访问，拷贝变慢。",
    ),
    facts=("pci_devices",),
    optional=("cpu_limits",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_NO_BUS = Text("no NVIDIA card is visible on the PCI bus here", "此处 PCI 总线上看不到 NVIDIA 卡")
_ASK = Text("ask the supplier to pass the NUMA layout through to the machine", "请供应商把 NUMA 拓扑透传给该机器")


def judge(bus: PciBus, cpu: CpuLimits | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each card; measured is the number of sockets that hold cards."""
    gpus = bus.nvidia_gpus
    if not gpus:
        return (CHECK.finding(Verdict.INCONCLUSIVE, _NO_BUS, reason_code="no_pci_bus", next_step=_ASK),)
    subjects = [
        SubjectFinding(g.bus_id, Verdict.WARN if g.numa_node is None else Verdict.PASS, g.numa_node, n) for n, g in enumerate(gpus)
    ]
    unknown, nodes = sum(g.numa_node is None for g in gpus), {g.numa_node for g in gpus if g.numa_node is not None}
    if unknown:
        hidden = Text(f"{unknown} of {len(gpus)} cards name no socket", f"{len(gpus)} 张卡中有 {unknown} 张未给出 NUMA 节点")
        return (CHECK.finding(Verdict.WARN, hidden, measured=len(nodes), unit="sockets", subjects=subjects, reason_code="numa_hidden", next_step=_ASK),)
    sockets = cpu.sockets if cpu else None
    told = Text(f"the cards hang on {len(nodes)} NUMA nodes", f"各卡分布在 {len(nodes)} 个 NUMA 节点")
    if sockets is not None and sockets > 1 and len(nodes) == 1 and len(gpus) > sockets * 2:
        lopsided = Text(f"{told.en}, the host has {sockets} sockets", f"{told.zh}，主机有 {sockets} 路")
        return (CHECK.finding(Verdict.WARN, lopsided, measured=1, unit="sockets", subjects=subjects, reason_code="one_socket", next_step=_ASK),)
    return (CHECK.finding(Verdict.PASS, told, measured=len(nodes), unit="sockets", subjects=subjects),)
