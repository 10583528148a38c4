"""Is the driver new enough, and does it still get fixes?"""

from __future__ import annotations

from gpulease_gui.catalog.cuda import at_least, version_key
from gpulease_gui.checks.cards import cards
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.driver_files import DriverFiles
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "driver.min"

CHECK = Check(
    id="drv.version",
    title=Text("Driver version", "驱动版本"),
    why=Text(
        "An old driver starts no new image; a branch past its end of life gets no security fixes.",
        "旧驱动无法运行新镜像；停止维护的分支不再有安全修复。",
    ),
    facts=("smi_xml",),
    optional=("driver_files",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    rule_version=2,
    ask=Text("Which driver version is installed, and who may update it?", "安装的驱动版本是多少，由谁更新？"),
)
_EXPLAIN = Text("run `cat /proc/driver/nvidia/version; nvidia-smi` by hand and ask the supplier to explain both numbers",
                "请手动运行 `cat /proc/driver/nvidia/version; nvidia-smi`，并要求供应商解释两个版本号")  # fmt: skip
_UPDATE = Text("ask the supplier to update the driver", "请供应商更新驱动")


def judge(report: SmiReport, files: DriverFiles | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the driver against driver.min, the floor of the cards and the end of its branch."""
    driver, stated = report.driver_version, promise.get(TERM)
    wanted = str(stated.value) if stated else None
    if driver is None or not version_key(driver):
        return (_finding(Verdict.INCONCLUSIVE, Text("the driver version was not told", "未给出驱动版本"), wanted, None, "unreadable"),)
    if other := _otherwise(driver, files):
        return (_finding(Verdict.FAIL, other, wanted, driver, Reason.INCONSISTENT, _EXPLAIN),)
    if wanted is not None and not at_least(driver, wanted):
        told = Text(f"driver {driver} is older than the promised {wanted}", f"驱动 {driver} 低于承诺的 {wanted}")
        return (_finding(Verdict.FAIL, told, wanted, driver, "too_old", _UPDATE),)
    floor = _floor(report, promise)
    if floor is not None and not at_least(driver, floor):
        told = Text(f"driver {driver} is older than {floor}, the first for this card", f"驱动 {driver} 低于该卡所需的最低版本 {floor}")
        return (_finding(Verdict.FAIL, told, wanted, driver, "too_old_for_card", _UPDATE),)
    branch = promise.catalogue.cuda.branch_of(driver)
    if branch is not None and promise.catalogue.cuda.ended(branch):
        told = Text(
            f"branch R{branch.number} of driver {driver} reached its end of life in {branch.end_of_life}",
            f"驱动 {driver} 所属的 R{branch.number} 分支已于 {branch.end_of_life} 停止维护",
        )
        return (_finding(Verdict.WARN, told, wanted, driver, "end_of_life", _UPDATE),)
    if wanted is None:
        return (CHECK.not_promised(TERM, driver),)
    return (_finding(Verdict.PASS, Text(f"driver {driver} is {wanted} or newer", f"驱动 {driver} 不低于 {wanted}"), wanted, driver),)


def _otherwise(driver: str, files: DriverFiles | None) -> Text | None:
    """What another source says of the driver, if it is not what the report says."""
    if files and files.smi_version and files.smi_version != driver:
        return Text(
            f"nvidia-smi -q says {driver}, nvidia-smi --query-gpu says {files.smi_version}",
            f"nvidia-smi -q 报告 {driver}，nvidia-smi --query-gpu 报告 {files.smi_version}",
        )
    if files and files.module_version and files.module_version != driver:
        return Text(f"nvidia-smi says {driver}, the kernel module is {files.module_version}",
                    f"nvidia-smi 报告 {driver}，内核模块为 {files.module_version}")  # fmt: skip
    return None


def _floor(report: SmiReport, promise: Promise) -> str | None:
    """The highest driver floor among the identified cards."""
    products = [c.identity.product for c in cards(report, None, promise.catalogue.gpus)]
    capabilities = {p.compute_capability for p in products if p and p.compute_capability}
    floors = [f for c in capabilities if (f := promise.catalogue.cuda.floor_for_capability(c))]
    return max(floors, key=version_key, default=None)


def _finding(
    verdict: Verdict, reason: Text, promised: str | None, measured: str | None, code: str = "", step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=promised, measured=measured, reason_code=code, next_step=step, better="more"
    )
