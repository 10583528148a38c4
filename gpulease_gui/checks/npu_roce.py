"""Are the network ports of all NPUs up and healthy?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.npu_ports import NpuPort, NpuPorts

CHECK = Check(
    id="npu.roce",
    title=Text("NPU network ports", "NPU 参数面网口"),
    why=Text(
        "Training over several nodes runs through the ports of the NPUs themselves; one that is down stops the job.",
        "多机训练走 NPU 自带网口；一个口断开，任务就无法运行。",
    ),
    facts=("npu_ports",),
    needs_promise=False,
    vendor=Vendor.ASCEND,
)
_ASK = Text("ask the supplier for the cabling and addresses of the NPU ports; several nodes need them", "请供应商说明 NPU 网口的接线与地址；多机任务必需")
_ROOT = Text("run as root: `hccn_tool -i 0 -link -g; hccn_tool -i 0 -net_health -g`", "以 root 运行：`hccn_tool -i 0 -link -g; hccn_tool -i 0 -net_health -g`")


def judge(found: NpuPorts, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of ports that are up. Down is a breach only where such a network was promised."""
    wanted = promise.terms.get("network.kind") == "roce" or promise.get("rdma.ports") is not None
    subjects = [_subject(port, wanted) for port in found.ports]
    verdict = worst(s.verdict for s in subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    up = sum(port.up is True for port in found.ports)
    same = sum(s.verdict is verdict for s in subjects)
    reason = Text(f"{same} of {len(subjects)} ports: {first.reason.en}", f"{len(subjects)} 个网口中 {same} 个：{first.reason.zh}")
    code = {Verdict.FAIL: "port_down", Verdict.WARN: "port_down", Verdict.INCONCLUSIVE: str(Reason.DENIED if found.denied else Reason.UNREADABLE)}.get(verdict, "")
    step = {Verdict.FAIL: _ASK, Verdict.WARN: _ASK, Verdict.INCONCLUSIVE: _ROOT}.get(verdict, NO_TEXT)
    return (CHECK.finding(verdict, reason, measured=up, unit="ports", subjects=subjects, reason_code=code, next_step=step, better="more"),)


def _subject(port: NpuPort, wanted: bool) -> SubjectFinding:
    bad = Verdict.FAIL if wanted else Verdict.WARN
    health = (port.health or "").strip().lower()
    if port.up is False:
        return SubjectFinding(f"npu{port.npu_id}", bad, "DOWN", port.npu_id, Text("the link is down", "链路断开"))
    if health and health != "success":
        sick = Text(f"up, but net health is {port.health}", f"链路正常，但网络健康状态为 {port.health}")
        return SubjectFinding(f"npu{port.npu_id}", bad if health == "fault" else Verdict.WARN, port.health, port.npu_id, sick)
    if port.up is None or not health:
        return SubjectFinding(f"npu{port.npu_id}", Verdict.INCONCLUSIVE, None, port.npu_id, Text("link or health was not told", "未给出链路或健康状态"))
    rate = f", {number_text(port.speed_gbit_s)} Gbit/s" if port.speed_gbit_s is not None else ""
    told = Text(f"up and healthy{rate}", f"链路与健康状态正常{rate.replace(', ', '，')}")
    return SubjectFinding(f"npu{port.npu_id}", Verdict.PASS, "UP", port.npu_id, told)
