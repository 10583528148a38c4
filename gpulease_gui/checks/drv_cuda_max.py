"""Which CUDA does the driver serve at most?"""

from __future__ import annotations

from gpulease_gui.catalog.cuda import at_least, version_key
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.smi_xml import SmiReport

TERM = "cuda.min"

CHECK = Check(
    id="drv.cuda_max",
    title=Text("Highest CUDA of the driver", "驱动支持的最高 CUDA"),
    why=Text(
        "The CUDA version that nvidia-smi prints is the driver's ceiling, not an installed toolkit. Images above it may not start.",
        "nvidia-smi 显示的 CUDA 版本是驱动的上限，不是已安装的工具包；高于它的镜像可能无法启动。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("Which CUDA version must the driver support?", "驱动须支持哪个 CUDA 版本？"),
)
_UPDATE = Text("ask the supplier for a newer driver, or run an image of an older CUDA", "请供应商更新驱动，或使用较低 CUDA 版本的镜像")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the driver's CUDA ceiling against cuda.min."""
    ceiling, stated = report.cuda_version, promise.get(TERM)
    if ceiling is None or not version_key(ceiling):
        told = Text("the driver's CUDA version was not told", "未给出驱动的 CUDA 版本")
        return (_finding(Verdict.INCONCLUSIVE, told, str(stated.value) if stated else None, None, "unreadable"),)
    if stated is None:
        return (CHECK.not_promised(TERM, ceiling),)
    wanted = str(stated.value)
    if at_least(ceiling, wanted):
        told = Text(f"the driver serves CUDA up to {ceiling}", f"驱动最高支持 CUDA {ceiling}")
        return (_finding(Verdict.PASS, told, wanted, ceiling),)
    return (_finding(Verdict.FAIL, _too_low(report, ceiling, wanted, promise), wanted, ceiling, "too_low", _UPDATE),)


def _too_low(report: SmiReport, ceiling: str, wanted: str, promise: Promise) -> Text:
    base = Text(f"the driver serves CUDA up to {ceiling}, {wanted} was promised", f"驱动最高支持 CUDA {ceiling}，承诺 {wanted}")
    floor = promise.catalogue.cuda.floor_for_cuda(wanted)
    if floor and version_key(ceiling)[:1] == version_key(wanted)[:1] and at_least(report.driver_version or "", floor):
        return Text(
            f"{base.en}; programs built for {wanted} may still run (same major version), unless they bring newer PTX",
            f"{base.zh}；同一主版本内 {wanted} 的程序仍可能运行，但带新版 PTX 的不行",
        )
    return Text(
        f"{base.en}; only a compat package on a data-centre card may still run it", f"{base.zh}；仅数据中心卡加装 compat 包才可能运行"
    )


def _finding(
    verdict: Verdict, reason: Text, promised: str | None, measured: str | None, code: str = "", step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=promised, measured=measured, reason_code=code, next_step=step, better="more"
    )
