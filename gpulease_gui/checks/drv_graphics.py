"""Can programs draw and encode video on these cards?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.graphics import Graphics
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="drv.graphics",
    title=Text("Graphics, encoder and licence", "图形、编码与授权"),
    why=Text(
        "Compute drivers come without OpenGL, Vulkan and the encoder, and a vGPU without a licence is slowed down.",
        "纯计算驱动不含 OpenGL、Vulkan 和编码器；未授权的 vGPU 会被限速。",
    ),
    facts=("graphics",),
    optional=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_GET = Text(
    "needed for rendering only: ask for the full driver; in a container set NVIDIA_DRIVER_CAPABILITIES=all",
    "仅渲染场景需要：请供应商安装完整驱动；容器内设置 NVIDIA_DRIVER_CAPABILITIES=all",
)
_TRY = Text("install vulkan-tools, run `vulkaninfo --summary`, and encode a clip: `ffmpeg -f lavfi -i testsrc -t 2 -c:v h264_nvenc x.mp4`",
            "安装 vulkan-tools 后运行 `vulkaninfo --summary`，并试编码：`ffmpeg -f lavfi -i testsrc -t 2 -c:v h264_nvenc x.mp4`")  # fmt: skip
_LICENSE = Text("ask the supplier for the vGPU licence server", "请供应商配置 vGPU 授权服务器")


def judge(graphics: Graphics, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of NVIDIA devices that Vulkan lists."""
    unpaid = [gpu for gpu in (report.gpus if report else ()) if (gpu.license_status or "").lower().startswith("unlicensed")]
    if unpaid:
        words = Text(f"{len(unpaid)} vGPUs have no licence", f"{len(unpaid)} 个 vGPU 未获授权")
        subjects = [SubjectFinding(gpu.key, Verdict.FAIL, None, gpu.index, words) for gpu in unpaid]
        return (CHECK.finding(Verdict.FAIL, words, subjects=subjects, reason_code="unlicensed", next_step=_LICENSE),)
    if not graphics.icds and not graphics.libraries:
        if report is None:
            unknown = Text("no driver of NVIDIA answers here", "此处没有 NVIDIA 驱动应答")
            return (_finding(Verdict.INCONCLUSIVE, unknown, None, Reason.DRIVER, _TRY),)
        absent = Text("no OpenGL, Vulkan or encoder library of the driver is here", "没有驱动的 OpenGL、Vulkan 或编码库")
        return (_finding(Verdict.WARN, absent, None, "no_graphics", _GET),)
    if graphics.devices is None:
        untried = Text("the libraries are here; nothing was drawn or listed with them", "库文件存在，但尚未实际列出设备或绘图")
        return (_finding(Verdict.INCONCLUSIVE, untried, None, "not_tried", _TRY),)
    return (_listed(graphics, graphics.devices, len(report.gpus) if report else None),)


def _listed(graphics: Graphics, devices: tuple[str, ...], cards: int | None) -> Finding:
    own = [name for name in devices if "nvidia" in name.lower() or "tesla" in name.lower() or "geforce" in name.lower()]
    told = Text(f"Vulkan lists {len(own)} NVIDIA devices", f"Vulkan 列出 {len(own)} 个 NVIDIA 设备")
    if not own:
        return _finding(Verdict.WARN, Text("Vulkan lists no NVIDIA device", "Vulkan 未列出 NVIDIA 设备"), 0, "software_only", _GET)
    if cards is not None and len(own) < cards:
        few = Text(f"{told.en} of {cards} cards", f"{told.zh}，共 {cards} 张卡")
        return _finding(Verdict.WARN, few, len(own), "some_cards", _GET)
    if not graphics.has("libnvidia-encode"):
        return _finding(Verdict.WARN, Text(f"{told.en}; the encoder library is missing", f"{told.zh}；缺少编码库"), len(own), "no_encoder", _GET)
    return _finding(Verdict.PASS, Text(f"{told.en}; the encoder library is here", f"{told.zh}；编码库存在"), len(own), "", NO_TEXT)


def _finding(verdict: Verdict, reason: Text, count: int | None, code: str, step: Text) -> Finding:
    return CHECK.finding(verdict, reason, measured=count, reason_code=str(code), next_step=step)
