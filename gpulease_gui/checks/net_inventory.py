"""Does a port of the promised kind and speed stand in the node?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.net_links import ETHERNET_TYPE, Link, NetLinks, RdmaPort

SPEED, KIND = "network.gbit_s", "network.kind"

CHECK = Check(
    id="net.inventory",
    title=Text("Network ports", "网络端口"),
    why=Text(
        "A port of 25 Gbit/s can't carry the promised 100, whatever else is true.",
        "25 Gbit/s 的端口无论如何也跑不出承诺的 100。",
    ),
    facts=("net_links",),
    terms=(SPEED, KIND),
    ask=Text(
        "What is the bandwidth between two nodes, over which kind of network?", "两节点之间的带宽是多少？走哪种网络？"
    ),
)


@dataclass(frozen=True, slots=True)
class _Port:
    """A port that carries traffic; `gbit_s` None = nobody knows its speed."""

    name: str
    gbit_s: float | None
    note: Text = NO_TEXT


def judge(net: NetLinks, promise: Promise) -> tuple[Finding, ...]:
    """One finding for the speed of the fastest port that is up, one for the kind of the network."""
    return (_speed(_ports(net), promise.get(SPEED)), _kind(net, promise.get(KIND)))


def _ports(net: NetLinks) -> list[_Port]:
    infiniband = [_Port(p.name, p.rate_gbit_s) for p in net.rdma if p.active and p.link_layer == "InfiniBand"]
    known_by_rdma = {name for p in net.rdma if p.link_layer == "InfiniBand" for name in p.netdevs}
    bonds = [k for k in net.links if k.bond_mode is not None and k.up]
    singles = [k for k in net.links if _stands_alone(k, bonds) and k.name not in known_by_rdma]
    ports = [*infiniband, *(_bond(bond, net) for bond in bonds), *(_single(k) for k in singles)]
    return sorted(ports, key=lambda p: -(p.gbit_s or 0))


def _stands_alone(link: Link, bonds: list[Link]) -> bool:
    return link.up and link.has_device and link.master not in [bond.name for bond in bonds]


def _single(link: Link) -> _Port:
    if not link.physical:
        return _Port(link.name, None, Text(f"virtual port ({link.driver or '?'})", f"虚拟端口（{link.driver or '?'}）"))
    return _Port(link.name, link.speed_mbit_s / 1000 if link.speed_mbit_s is not None else None)


def _bond(bond: Link, net: NetLinks) -> _Port:
    """The sum of the members that are up; of an active-backup bond only one works at a time."""
    members = [k for k in net.links if k.master == bond.name and k.up]
    speeds = [k.speed_mbit_s / 1000 if k.physical and k.speed_mbit_s is not None else None for k in members]
    known = [s for s in speeds if s is not None]
    names = "+".join(k.name for k in members)
    if not known or len(known) < len(speeds):
        return _Port(bond.name, None, Text(f"bond of {names or '?'}", f"聚合口 {names or '?'}"))
    total = max(known) if bond.bond_mode == "active-backup" else sum(known)
    return _Port(bond.name, total, Text(f"{bond.bond_mode} bond of {names}", f"{names} 的 {bond.bond_mode} 聚合"))


def _speed(ports: list[_Port], stated: Stated | None) -> Finding:
    known = [p for p in ports if p.gbit_s is not None]
    best = known[0] if known else None
    measured = best.gbit_s if best else None
    if stated is None:
        return CHECK.not_promised(SPEED, measured, unit="Gbit/s", subjects=_unjudged(ports))
    if best and (best.gbit_s or 0) >= stated.number:
        return _speed_finding(Verdict.PASS, _fastest(best, stated), stated, measured, ports, stated.reason_code)
    if best and len(known) == len(ports):
        return _speed_finding(Verdict.FAIL, _fastest(best, stated), stated, measured, ports, "port_too_slow", _ASK_PORT)
    return _speed_finding(Verdict.INCONCLUSIVE, _unknown(ports), stated, measured, ports, "speed_unknown", _RUN_IPERF)


def _fastest(best: _Port, stated: Stated) -> Text:
    have, want = number_text(best.gbit_s or 0), number_text(stated.number)
    note_en = f", {best.note.en}" if best.note.en else ""
    note_zh = f"，{best.note.zh}" if best.note.zh else ""
    return Text(
        f"the fastest port that is up, {best.name}{note_en}, has {have} Gbit/s; {want} promised",
        f"已启用的最快端口 {best.name}{note_zh} 为 {have} Gbit/s；承诺 {want}",
    )


def _unknown(ports: list[_Port]) -> Text:
    names = ", ".join(p.name for p in ports if p.gbit_s is None)[:200]
    if not names:
        return Text("no network card with a link is visible here", "此处看不到已连通的网卡")
    return Text(
        f"nobody knows the real speed of {names} (virtual port, or the driver does not say)",
        f"无法得知 {names} 的真实速率（虚拟端口，或驱动未给出）",
    )


def _unjudged(ports: list[_Port]) -> list[SubjectFinding]:
    return [SubjectFinding(p.name, Verdict.INCONCLUSIVE, p.gbit_s, reason=p.note) for p in ports]


def _subjects(ports: list[_Port], floor: float, short: Verdict) -> list[SubjectFinding]:
    """Each port; one that is too slow matters only when none is fast enough."""
    return [SubjectFinding(p.name, _verdict_of(p, floor, short), p.gbit_s, reason=p.note) for p in ports]


def _verdict_of(port: _Port, floor: float, short: Verdict) -> Verdict:
    if port.gbit_s is None:
        return Verdict.INCONCLUSIVE if short is not Verdict.NOT_APPLICABLE else short
    return short if port.gbit_s < floor else Verdict.PASS


def _speed_finding(
    verdict: Verdict, reason: Text, stated: Stated, measured: float | None, ports: list[_Port], code: str,
    step: Text = NO_TEXT,
) -> Finding:  # fmt: skip
    short = Verdict.NOT_APPLICABLE if verdict is Verdict.PASS else Verdict.FAIL
    return CHECK.finding(
        verdict,
        reason,
        term=SPEED,
        promised=stated.value,
        measured=measured,
        unit="Gbit/s",
        better="more",
        subjects=_subjects(ports, stated.number, short),
        reason_code=code,
        next_step=step,
    )


def _kind(net: NetLinks, stated: Stated | None) -> Finding:
    found = _kinds(net)
    measured = ", ".join(found) or None
    if stated is None:
        return CHECK.not_promised(KIND, measured)
    wanted = str(stated.value)
    verdict, reason, code, step = _judge_kind(net, found, wanted)
    return CHECK.finding(
        verdict, reason, term=KIND, promised=wanted, measured=measured, next_step=step,
        reason_code=code or stated.reason_code,
    )  # fmt: skip


def _kinds(net: NetLinks) -> list[str]:
    found = ["infiniband"] if any(_carries(p, "InfiniBand") for p in net.rdma) else []
    found += ["roce"] if any(_carries(p, "Ethernet") for p in net.rdma) else []
    wired = any(k.up and k.has_device and k.type == ETHERNET_TYPE for k in net.links)
    return [*found, "ethernet"] if wired else found


def _carries(port: RdmaPort, layer: str) -> bool:
    return port.active is True and port.link_layer == layer


def _judge_kind(net: NetLinks, found: list[str], wanted: str) -> tuple[Verdict, Text, str, Text]:
    if wanted in found:
        return (
            Verdict.PASS,
            Text(f"an active port of this kind is there: {wanted}", f"有此类型的活动端口：{wanted}"),
            "",
            NO_TEXT,
        )
    if wanted == "ethernet" or not net.rdma_visible:
        return Verdict.INCONCLUSIVE, _NOT_VISIBLE, "kind_not_visible", _RUN_IBSTAT
    shown = ", ".join(found) or "-"
    if wanted == "roce" and "infiniband" in found:
        return (
            Verdict.WARN,
            Text("InfiniBand instead of the promised RoCE", "实际为 InfiniBand，承诺的是 RoCE"),
            "other_kind",
            _ASK_PORT,
        )
    reason = Text(f"no active {wanted} port; the node shows {shown}", f"没有活动的 {wanted} 端口；节点显示 {shown}")
    return Verdict.FAIL, reason, "other_kind", _ASK_PORT


_NOT_VISIBLE = Text(
    "no card of this kind is visible here (driver missing, or a container)",
    "此处看不到此类网卡（缺少驱动，或在容器内）",
)
_RUN_IBSTAT = Text(
    "Run ibstat and ip link on the host, or ask the supplier for both.",
    "请在宿主机上运行 ibstat 和 ip link，或向供应商索取。",
)
_RUN_IPERF = Text(
    "Measure between two nodes with iperf3: only that can tell.", "请在两节点之间用 iperf3 实测：只有实测才能判断。"
)
_ASK_PORT = Text(
    "Ask the supplier which card and which switch port the promise rests on.",
    "请供应商说明承诺所依据的网卡和交换机端口。",
)
