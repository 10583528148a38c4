"""Do packets go straight to the peer, and as large as the own port allows?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.net_links import NetLinks
from gpulease_gui.facts.peer_path import PeerPath

# Names that VPNs and container networks give to their devices.
_TUNNEL = re.compile(r"(tun|tap|wg|tailscale|zt|vxlan|flannel|cali|cilium|weave|cni|gre|ipip|geneve|ppp|docker|br-)")

CHECK = Check(
    id="net.path",
    title=Text("Path between nodes", "节点间路径"),
    why=Text(
        "A tunnel or a router between two nodes of a cluster costs bandwidth that no port speed shows.",
        "集群节点之间若有隧道或路由，损失的带宽从网卡速率上看不出来。",
    ),
    facts=("peer_path",),
    optional=("net_links",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=1,
    writes=Text("nothing; some packets to the peer", "不写入；向对端发送少量数据包"),
    takes_s=20,
)


def judge(path: PeerPath, links: NetLinks | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: routers between the nodes (0 = neighbours) and the largest packet that passes."""
    if path.local:
        return (_finding(path, Verdict.INCONCLUSIVE, _ITSELF, "own_address", _OTHER),)
    mtu = next((link.mtu_bytes for link in links.links if link.name == path.device), None) if links else None
    reason = _reason(path, mtu)
    if path.device is not None and _TUNNEL.match(path.device):
        return (_finding(path, Verdict.WARN, reason, "tunnel", _STRAIGHT),)
    if path.hops or path.gateway:
        return (_finding(path, Verdict.WARN, reason, "routed", _STRAIGHT),)
    if path.pmtu_bytes is None or path.hops is None:
        step = _INSTALL if path.trace_missing else _BY_HAND
        return (_finding(path, Verdict.INCONCLUSIVE, reason, "path_unseen", step),)
    if mtu is not None and path.pmtu_bytes < mtu:
        return (_finding(path, Verdict.WARN, reason, "mtu_shrinks", _MTU_STEP),)
    if mtu is None:
        return (_finding(path, Verdict.INCONCLUSIVE, reason, "mtu_unknown", _BY_HAND),)
    return (_finding(path, Verdict.PASS, reason, "", NO_TEXT),)


def _reason(path: PeerPath, mtu: int | None) -> Text:
    device = path.device or "?"
    way = _way(path)
    size = number_text(path.pmtu_bytes) if path.pmtu_bytes is not None else "?"
    own = number_text(mtu) if mtu is not None else "?"
    return Text(
        f"through {device}, {way.en}; packets of {size} bytes pass (MTU of the port: {own})",
        f"经 {device}，{way.zh}；可通过 {size} 字节的包（网口 MTU {own}）",
    )


def _way(path: PeerPath) -> Text:
    if path.hops:
        hops = number_text(path.hops)
        return Text(f"{hops} routers between", f"中间有 {hops} 个路由")
    if path.gateway:
        return Text(f"by the gateway {path.gateway}", f"经网关 {path.gateway}")
    return Text("straight to the peer", "直达对端") if path.hops == 0 or path.gateway == "" else _UNSEEN


_UNSEEN = Text("the way was not told", "路径未知")
_ITSELF = Text("the peer's address is the node's own", "对端地址就是本节点自己")
_OTHER = Text("Name another node as the peer.", "请指定另一个节点作为对端。")
_INSTALL = Text(
    "Install tracepath on the node: apt-get install -y iputils-tracepath",
    "请在节点上安装 tracepath：apt-get install -y iputils-tracepath",
)
_BY_HAND = Text("Run tracepath -n to the peer by hand on the node.", "请在节点上手动运行 tracepath -n 到对端。")
_STRAIGHT = Text(
    "Ask the supplier for addresses of the nodes on one segment, without a router or tunnel between them.",
    "请供应商提供两节点在同一网段、中间无路由和隧道的地址。",
)
_MTU_STEP = Text(
    "Ask the supplier to set one MTU on both ports and on the switch.", "请供应商统一两端网口和交换机的 MTU。"
)


def _finding(path: PeerPath, verdict: Verdict, reason: Text, code: str, step: Text) -> Finding:
    subject = SubjectFinding(path.device or "target->peer", verdict, path.hops)
    return CHECK.finding(
        verdict, reason, measured=path.hops, subjects=(subject,), reason_code=code, next_step=step, better="less"
    )
