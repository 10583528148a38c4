"""Do kernel module, libraries and nvidia-smi have the same driver version?"""

from __future__ import annotations

from gpulease_gui.catalog.cuda import version_key
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.driver_files import DriverFiles, Library
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="drv.match",
    title=Text("Driver parts match", "驱动各部分一致"),
    why=Text(
        "After an update without a restart the library and the kernel module differ, and no CUDA program starts.",
        "更新驱动后未重启，用户库与内核模块版本不同，任何 CUDA 程序都无法启动。",
    ),
    facts=("driver_files",),
    optional=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
)
_RESTART = Text("ask the supplier to restart the node or reload the driver", "请供应商重启节点或重新加载驱动")
_COMPAT = Text("keep the compat folder out of the library path, or test your image first", "不要把 compat 目录放进库路径，或先测试镜像")
_EXPLAIN = Text("show the supplier both outputs and ask which nvidia-smi runs on the node", "向供应商出示两份输出，并询问节点上运行的是哪个 nvidia-smi")
_LOOK = Text("run `cat /proc/driver/nvidia/version; nvidia-smi` on the node", "在节点上运行 `cat /proc/driver/nvidia/version; nvidia-smi`")


def judge(files: DriverFiles, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the versions of all sources that answered."""
    told = report.driver_version if report else None
    smi = files.smi_version or told
    verdict, reason, code, step = _of_one_tool(files.smi_version, told) or _compare(files, smi)
    sources = [("kernel module", files.module_version), ("nvidia-smi", smi)]
    sources += [("nvidia-smi -q", told)] if told != smi else []
    sources += [(library.path, library.version) for library in files.libraries]
    subjects = [SubjectFinding(name, verdict, version) for name, version in sources if version]
    shown = next((version for _, version in sources if version), None)
    return (CHECK.finding(verdict, reason, measured=shown, subjects=subjects, reason_code=code, next_step=step),)


_Answer = tuple[Verdict, Text, str, Text]


def _of_one_tool(queried: str | None, reported: str | None) -> _Answer | None:
    """Two answers of nvidia-smi that contradict each other."""
    if not queried or not reported or queried == reported:
        return None
    both = Text(
        f"nvidia-smi -q says {reported}, nvidia-smi --query-gpu says {queried}",
        f"nvidia-smi -q 报告 {reported}，nvidia-smi --query-gpu 报告 {queried}",
    )
    return Verdict.FAIL, both, Reason.INCONSISTENT, _EXPLAIN


def _compare(files: DriverFiles, smi: str | None) -> _Answer:
    kernel, own = files.module_version, _own(files)
    told = [version for version in (kernel, smi) if version]
    if files.mismatch_told:
        said = Text("nvidia-smi says that driver and library differ", "nvidia-smi 报告驱动与库版本不一致")
        return Verdict.FAIL, said, "version_mismatch", _RESTART
    if len(set(told)) > 1:
        both = Text(f"the kernel module is {kernel}, nvidia-smi says {smi}", f"内核模块为 {kernel}，nvidia-smi 报告 {smi}")
        return Verdict.FAIL, both, Reason.INCONSISTENT, _RESTART
    if told and own and all(library.version != told[0] for library in own):
        other = Text(f"the driver is {told[0]}, the library {own[0].version}", f"驱动为 {told[0]}，用户库为 {own[0].version}")
        return Verdict.FAIL, other, "version_mismatch", _RESTART
    if not told or len(told) + bool(own) < 2:
        few = Text("fewer than two sources tell the driver version", "给出驱动版本的来源不足两个")
        return Verdict.INCONCLUSIVE, few, "too_few_sources", _LOOK
    return _second_copies(files, told[0])


def _own(files: DriverFiles) -> list[Library]:
    return [library for library in files.libraries if library.version and not library.is_compat]


def _second_copies(files: DriverFiles, driver: str) -> _Answer:
    """The loaded parts agree; what else lies in the library folders?"""
    newer = [lib for lib in files.libraries if lib.is_compat and lib.version and version_key(lib.version) > version_key(driver)]
    if newer:
        compat = Text(
            f"{newer[0].path} is {newer[0].version}, newer than driver {driver}: CUDA and nvidia-smi may disagree",
            f"{newer[0].path} 为 {newer[0].version}，高于驱动 {driver}：CUDA 与 nvidia-smi 可能不一致",
        )  # fmt: skip
        return Verdict.WARN, compat, "forward_compat", _COMPAT
    stale = [library for library in _own(files) if library.version != driver]
    if stale:
        copy = Text(
            f"a second copy {stale[0].path} is {stale[0].version}, the driver {driver}",
            f"另有一份 {stale[0].path} 为 {stale[0].version}，驱动为 {driver}",
        )  # fmt: skip
        return Verdict.WARN, copy, "second_copy", _LOOK
    return Verdict.PASS, Text(f"all parts are {driver}", f"各部分均为 {driver}"), "", NO_TEXT
