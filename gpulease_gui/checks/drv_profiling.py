"""May we read profiling counters and health telemetry of the cards?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.device_nodes import DeviceNodes
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="drv.profiling",
    title=Text("Profiling counters readable", "性能计数器可读"),
    why=Text(
        "Without the counters nobody can see why a job is slow: Nsight ends with ERR_NVGPUCTRPERM.",
        "读不到计数器就查不出任务为何变慢：Nsight 会报 ERR_NVGPUCTRPERM。",
    ),
    facts=("device_nodes",),
    optional=("environment", "smi_xml"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
# Capability bits of Linux: sys_admin, and perfmon since kernel 5.8.
_ADMIN, _PERFMON = 1 << 21, 1 << 38
_OPEN = Text(
    "ask the supplier to load the driver with NVreg_RestrictProfilingToAdminUsers=0, or to grant CAP_SYS_ADMIN",
    "请供应商以 NVreg_RestrictProfilingToAdminUsers=0 加载驱动，或授予 CAP_SYS_ADMIN",
)
_READ = Text("run `cat /proc/driver/nvidia/params` on the host and read RmProfilingAdminOnly",
             "在宿主机上运行 `cat /proc/driver/nvidia/params`，查看 RmProfilingAdminOnly")  # fmt: skip


def judge(
    devices: DeviceNodes, environment: Environment | None, report: SmiReport | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding; measured says who may read them: everybody, administrators."""
    denied = sorted({name for gpu in report.gpus for name in gpu.denied_fields}) if report else []
    if denied:
        shown = ", ".join(denied[:4])
        reason = Text(f"the driver denies this user: {shown}", f"驱动拒绝当前用户读取：{shown}")
        return (_finding(Verdict.WARN, reason, None, "telemetry_denied", _OPEN),)
    only_admin = _admin_only(devices)
    if only_admin is None:
        unknown = Text("the driver does not tell who may read them", "驱动未说明谁可以读取")
        return (_finding(Verdict.INCONCLUSIVE, unknown, None, Reason.UNREADABLE, _READ),)
    if not only_admin:
        return (_finding(Verdict.PASS, Text("every user may read them", "所有用户均可读取"), "everybody", "", NO_TEXT),)
    return (_restricted(environment),)


def _admin_only(devices: DeviceNodes) -> bool | None:
    for line in devices.params:
        if found := re.fullmatch(r"RmProfilingAdminOnly:\s*([01])\s*", line):
            return found[1] == "1"
    return None


def _restricted(environment: Environment | None) -> Finding:
    rights = environment.cap_eff if environment else None
    if rights is None:
        unknown = Text("only administrators may; whether this user is one was not told", "仅管理员可读；未能得知当前用户是否为管理员")
        return _finding(Verdict.INCONCLUSIVE, unknown, "administrators", Reason.UNREADABLE, _READ)
    if rights & (_ADMIN | _PERFMON):
        return _finding(Verdict.PASS, Text("administrators may, and this user is one", "管理员可读，当前用户具备该权限"), "administrators", "", NO_TEXT)
    closed = Text("only administrators may, and this user is none", "仅管理员可读，当前用户没有该权限")
    return _finding(Verdict.WARN, closed, "administrators", "admin_only", _OPEN)


def _finding(verdict: Verdict, reason: Text, who: str | None, code: str, step: Text) -> Finding:
    return CHECK.finding(verdict, reason, measured=who, reason_code=str(code), next_step=step)
