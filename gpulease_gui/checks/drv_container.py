"""Can containers with GPUs be started?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.containers import Containers
from gpulease_gui.facts.environment import Environment

CHECK = Check(
    id="drv.container",
    title=Text("Containers with GPUs", "GPU 容器"),
    why=Text(
        "Docker without the NVIDIA toolkit starts containers that see no card.",
        "没有 NVIDIA 容器工具包的 Docker，启动的容器里看不到显卡。",
    ),
    facts=("containers",),
    optional=("environment",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_INSTALL = Text("install nvidia-container-toolkit and run `nvidia-ctk runtime configure`, or ask the supplier to",
                "安装 nvidia-container-toolkit 并执行 `nvidia-ctk runtime configure`，或请供应商安装")  # fmt: skip
_GROUP = Text("ask for root or for the group docker, then run again", "请申请 root 或 docker 组权限后重新检查")


def judge(found: Containers, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the way in which containers get cards."""
    engine = next((tool for tool in ("docker", "podman", "enroot", "apptainer", "singularity") if tool in found.tools), None)
    if engine is None:
        inside = environment is not None and environment.is_container
        none = Text("no container tool is installed here", "此处未安装容器工具")
        return (CHECK.finding(Verdict.NOT_APPLICABLE if inside else Verdict.WARN, none, reason_code="" if inside else "no_engine",
                              next_step=NO_TEXT if inside else _INSTALL),)  # fmt: skip
    if found.runtimes and "nvidia" in found.runtimes:
        return (_finding(Verdict.PASS, Text("docker has the runtime nvidia", "docker 已配置 nvidia 运行时"), "runtime nvidia"),)
    if found.cdi or engine in ("apptainer", "singularity", "enroot"):
        described = Text(f"{engine} gets cards through device descriptions or its own switch", f"{engine} 通过设备描述或自带选项使用显卡")
        return (_finding(Verdict.PASS, described, engine),)
    if engine == "docker" and found.runtimes is None:
        closed = Text("docker is installed, but its daemon does not answer this user", "已安装 docker，但守护进程不响应当前用户")
        return (_finding(Verdict.INCONCLUSIVE, closed, None, "daemon_closed", _GROUP),)
    missing = Text(f"{engine} is there, the NVIDIA toolkit is not set up", f"有 {engine}，但未配置 NVIDIA 工具包")
    return (_finding(Verdict.WARN, missing, None, "no_toolkit", _INSTALL),)


def _finding(verdict: Verdict, reason: Text, way: str | None, code: str = "", step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(verdict, reason, measured=way, reason_code=code, next_step=step)
