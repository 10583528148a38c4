"""Are the RoCE ports set up so that RDMA can use them?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.roce_ports import RocePort, RocePorts

ENOUGH_MTU = Threshold(
    "rdma.roce_config", "mtu", 4200, "bytes", Text("frames are large enough from", "MTU 足够的下限"), ">=", Origin.SPEC,
    "4096 bytes of InfiniBand payload and the headers around it", low=256.0, high=65535.0,
)  # fmt: skip

CHECK = Check(
    id="rdma.roce_config",
    title=Text("RoCE set-up", "RoCE 配置"),
    why=Text(
        "RDMA over Ethernet needs a version 2 address and large frames; without them it fails or crawls.",
        "以太网 RDMA 需要 v2 地址和大帧；缺少它们会失败或极慢。",
    ),
    facts=("roce_ports",),
    needs_promise=False,
    thresholds=(ENOUGH_MTU,),
)
_ASK = Text("ask the supplier for an IP address on the port and for an MTU of 9000", "请供应商为端口配置 IP 地址，并将 MTU 设为 9000")
_RUN = Text("run `show_gids; ip link` on the host", "在宿主机上运行 `show_gids; ip link`")
_CODES = {Verdict.FAIL: "no_v2_address", Verdict.WARN: "small_frames", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}


def judge(roce: RocePorts, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each active Ethernet port; the flow control of the switch can't be seen here."""
    ports = [port for port in roce.ports if port.link_layer == "Ethernet" and port.active is not False]
    stated = promise.get("network.kind")
    promised = stated is not None and stated.value == "roce"
    if not ports:
        none = Text("no active RoCE port is visible here", "此处看不到已启用的 RoCE 端口")
        verdict = Verdict.INCONCLUSIVE if promised else Verdict.NOT_APPLICABLE
        return (CHECK.finding(verdict, none, reason_code="not_visible" if promised else "", next_step=_RUN if promised else NO_TEXT),)
    subjects = [_subject(port, promised, promise) for port in ports]
    verdict = worst(s.verdict for s in subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    step = {Verdict.PASS: NO_TEXT, Verdict.INCONCLUSIVE: _RUN}.get(verdict, _ASK)
    code = _CODES.get(verdict, "")
    return (CHECK.finding(
        verdict, Text(f"{first.id}: {first.reason.en}", f"{first.id}：{first.reason.zh}"), measured=first.measured, unit="bytes",
        subjects=subjects, reason_code=code, next_step=step,
    ),)  # fmt: skip


def _subject(port: RocePort, promised: bool, promise: Promise) -> SubjectFinding:
    """A port without any address is not set up; that is a fault only where RoCE was promised."""
    if not port.v2_indexes:
        verdict = Verdict.INCONCLUSIVE if not port.gid_count else Verdict.FAIL if promised else Verdict.WARN
        return SubjectFinding(port.name, verdict, port.mtu_bytes, None, Text("no RoCE v2 address", "没有 RoCE v2 地址"))
    index = port.v2_indexes[0]
    told = Text(
        f"RoCE v2 at index {index}, MTU {port.mtu_bytes or '?'}; flow control not seen", f"RoCE v2 索引 {index}，MTU {port.mtu_bytes or '?'}；流控未知"
    )
    if port.mtu_bytes is None:
        return SubjectFinding(port.name, Verdict.INCONCLUSIVE, None, None, told)
    return SubjectFinding(port.name, Verdict.WARN if port.mtu_bytes < promise.limit(ENOUGH_MTU) else Verdict.PASS, port.mtu_bytes, None, told)
