"""Has the fabric manager the version of the driver?"""

from __future__ import annotations

from gpulease_gui.catalog.cuda import version_key
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.fabric_manager import FabricService
from gpulease_gui.facts.pci_devices import NVIDIA, PciBus
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="drv.fabric_manager",
    title=Text("Fabric manager fits the driver", "Fabric Manager 与驱动一致"),
    why=Text(
        "On boards with NVSwitch a fabric manager of another version refuses to start, and CUDA ends with error 802.",
        "NVSwitch 整机上，版本不一致的 Fabric Manager 无法启动，CUDA 会报错 802。",
    ),
    facts=("fabric_manager",),
    optional=("smi_xml", "pci_devices", "environment"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("ask the supplier for `nv-fabricmanager --version` of the host", "请供应商提供宿主机上 `nv-fabricmanager --version` 的输出")
_REPAIR = Text("ask the supplier to install the fabric manager of the driver's version and to restart both",
               "请供应商安装与驱动同版本的 Fabric Manager，并重启两者")  # fmt: skip
_SWITCH_CLASS = "0680"
_SWITCHED_STATES = ("completed", "in progress", "not started")


def judge(
    manager: FabricService, report: SmiReport | None, bus: PciBus | None, environment: Environment | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding; measured is the fabric manager's version. Boards without a switch need none."""
    switched = _has_switch(report, bus, promise)
    if switched is None:
        unknown = Text("whether this board has NVSwitches was not told", "未能得知该板是否带 NVSwitch")
        return (_finding(Verdict.INCONCLUSIVE, unknown, None, Reason.UNREADABLE, _ASK),)
    if not switched:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("no NVSwitch is seen or promised here", "此处没有也未承诺 NVSwitch")),)
    return (_judged(manager, report, environment is not None and environment.is_container),)


def _has_switch(report: SmiReport | None, bus: PciBus | None, promise: Promise) -> bool | None:
    """Bus, driver and promise each can say yes; None if nobody answered."""
    stated = promise.get("gpu.interconnect")
    if stated is not None and stated.value == "nvswitch":
        return True
    if bus is not None and any(d.vendor == NVIDIA and d.class_code[:4] == _SWITCH_CLASS for d in bus.devices):
        return True
    if report is not None and any((gpu.fabric_state or "").strip().lower() in _SWITCHED_STATES for gpu in report.gpus):
        return True
    seen = (bus is not None and bus.visible) or (report is not None and bool(report.gpus))
    return False if seen else None


def _judged(manager: FabricService, report: SmiReport | None, container: bool) -> Finding:
    driver, version = report.driver_version if report else None, manager.version
    if version is None:
        absent = Text("it runs on the host, which a container does not see", "它运行在宿主机上，容器内看不到") if container else Text(
            "no fabric manager told its version", "未能读出 Fabric Manager 的版本"
        )  # fmt: skip
        return _finding(Verdict.INCONCLUSIVE, absent, None, "version_unread", _ASK)
    if driver is None or not version_key(driver):
        unknown = Text(f"fabric manager {version}; the driver's version was not told", f"Fabric Manager {version}；未得到驱动版本")
        return _finding(Verdict.INCONCLUSIVE, unknown, version, Reason.UNREADABLE, _ASK)
    both = Text(f"fabric manager {version}, driver {driver}", f"Fabric Manager {version}，驱动 {driver}")
    if version_key(version) != version_key(driver):
        return _differs(both, version, container)
    if not manager.running and not _joined(report):
        still = Text(f"{both.en}, but it does not run", f"{both.zh}，但未在运行")
        return _finding(Verdict.WARN, still, version, "not_running", _REPAIR)
    return _finding(Verdict.PASS, both, version, "", NO_TEXT)


def _differs(both: Text, version: str, container: bool) -> Finding:
    """Inside a container an image may bring a package of its own, which serves nobody."""
    if container:
        image = Text(f"{both.en}; this one belongs to the image, not to the host", f"{both.zh}；这是镜像自带的，并非宿主机的")
        return _finding(Verdict.INCONCLUSIVE, image, version, "of_the_image", _ASK)
    return _finding(Verdict.FAIL, both, version, "version_differs", _REPAIR)


def _joined(report: SmiReport | None) -> bool:
    """Whether every card was taken in: then some fabric manager does its work."""
    states = [(gpu.fabric_state or "").strip().lower() for gpu in report.gpus] if report else []
    return bool(states) and all(state == "completed" for state in states)


def _finding(verdict: Verdict, reason: Text, version: str | None, code: str, step: Text) -> Finding:
    return CHECK.finding(verdict, reason, measured=version, reason_code=str(code), next_step=step)
