"""Does a driver of this number exist for Linux?"""

from __future__ import annotations

from gpulease_gui.catalog.cuda import version_key
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.driver_files import DriverFiles
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_binary import SmiBinary
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="trust.driver_plausible",
    title=Text("Driver version exists", "驱动版本真实存在"),
    why=Text(
        "Machines that fake a card have been caught with driver numbers that exist for Windows only.",
        "伪造显卡的机器曾因使用只存在于 Windows 的驱动号而露馅。",
    ),
    facts=("driver_files",),
    optional=("environment", "smi_binary", "smi_xml"),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
    rule_version=2,
)
# Between these branches every Linux driver had a number that ends in 0 or 5; before and after there were others.
_REGULAR = range(430, 600)
_RUN = Text("run `cat /proc/driver/nvidia/version; nvidia-smi; modinfo -F version nvidia`", "运行 `cat /proc/driver/nvidia/version; nvidia-smi; modinfo -F version nvidia`")
_ASK = Text("show the supplier both numbers and ask for an explanation", "向供应商出示两个版本号并要求解释")
_RESTART = Text("an update waits for a restart of the node", "有更新待节点重启后生效")


def judge(
    files: DriverFiles, environment: Environment | None, binary: SmiBinary | None, report: SmiReport | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding; measured is the version of the loaded driver. The report is the same tool: it can only contradict."""
    verdict, reason, code, step = _reported(files, report) or _judged(files, environment, binary, promise)
    version = files.module_version or files.smi_version
    return (CHECK.finding(verdict, reason, measured=version, reason_code=str(code), next_step=step),)


_Answer = tuple[Verdict, Text, str, Text]


def _reported(files: DriverFiles, report: SmiReport | None) -> _Answer | None:
    told = report.driver_version if report else None
    name, other = ("nvidia-smi --query-gpu", files.smi_version) if files.smi_version else ("the kernel", files.module_version)
    if not told or not other or told == other:
        return None
    zh = "内核" if name == "the kernel" else name
    return Verdict.FAIL, Text(f"nvidia-smi -q says {told}, {name} says {other}", f"nvidia-smi -q 报告 {told}，{zh} 报告 {other}"), Reason.INCONSISTENT, _ASK


def _judged(files: DriverFiles, environment: Environment | None, binary: SmiBinary | None, promise: Promise) -> _Answer:
    kernel, smi = files.module_version, files.smi_version
    if kernel and smi and kernel != smi:
        return Verdict.FAIL, Text(f"the kernel has {kernel}, nvidia-smi says {smi}", f"内核为 {kernel}，nvidia-smi 报告 {smi}"), Reason.INCONSISTENT, _ASK
    version = kernel or smi
    if version is None or not version_key(version):
        return Verdict.INCONCLUSIVE, Text("no driver version was told", "未给出驱动版本"), Reason.UNREADABLE, _RUN
    wsl = environment is not None and environment.is_wsl
    number = version_key(version)[0]
    if number in _REGULAR and number % 5 and not wsl:
        return Verdict.FAIL, Text(f"{version} is no Linux driver: such numbers exist for Windows only", f"{version} 不是 Linux 驱动：此类版本号只用于 Windows"), "windows_only", _ASK
    if kernel is None or smi is None:
        return Verdict.INCONCLUSIVE, Text(f"only one source tells the version ({version})", f"只有一个来源给出版本（{version}）"), "too_few_sources", _RUN
    waiting = binary.modinfo if binary else None
    if waiting and version_key(waiting) and waiting != version:
        return Verdict.WARN, Text(f"{version} is loaded, {waiting} is installed", f"已加载 {version}，已安装 {waiting}"), "restart_pending", _RESTART
    if number not in _known(promise):
        return Verdict.WARN, Text(f"the catalogue knows no branch {number}", f"目录中没有 {number} 分支"), "unknown_branch", _ASK
    return Verdict.PASS, Text(f"{version}, from kernel and nvidia-smi alike", f"{version}，内核与 nvidia-smi 一致"), "", NO_TEXT


def _known(promise: Promise) -> set[int]:
    cuda = promise.catalogue.cuda
    listed = [t.driver for t in cuda.toolkit] + [f.driver for f in cuda.family] + [a.driver for a in cuda.architecture]
    return {b.number for b in cuda.branch} | {key[0] for driver in listed if (key := version_key(driver))}
