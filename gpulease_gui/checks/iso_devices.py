"""Are exactly the rented cards handed into this system?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.device_nodes import DeviceNodes
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import SmiReport

CHECK = Check(
    id="iso.devices",
    title=Text("Device files of the cards", "显卡设备文件"),
    why=Text(
        "More card files than you rent mean a shared host; fewer mean that cards are missing.",
        "设备文件多于租用数量，说明主机与他人共用；少于则说明缺卡。",
    ),
    facts=("device_nodes",),
    optional=("smi_xml", "environment"),
    needs_promise=False,
)
_ASK = Text("ask the supplier which cards are passed into this system, and who uses the others", "请供应商说明哪些卡交给了本系统，其余的由谁使用")
_FIRST = Text("start any CUDA program once, then run again", "先运行一次任意 CUDA 程序，再重新检查")


@dataclass(frozen=True, slots=True)
class _Kind:
    """How one maker's cards appear."""

    files: str
    term: str


_NVIDIA, _ASCEND = _Kind("nvidia", "gpu.count"), _Kind("davinci", "npu.count")


def judge(
    devices: DeviceNodes, report: SmiReport | None, environment: Environment | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding; measured is the number of card files."""
    kind = _ASCEND if promise.get("npu.count") and not promise.get("gpu.count") else _NVIDIA
    seen = len(devices.cards(kind.files))
    stated = promise.get(kind.term)
    wanted = int(stated.number) if stated else len(report.gpus) if report and kind is _NVIDIA else None
    if "/dev/dxg" in devices.all_nodes or (environment is not None and environment.is_wsl):
        wsl = Text("Linux inside Windows has no file for each card", "Windows 内的 Linux 没有逐卡设备文件")
        return (CHECK.finding(Verdict.NOT_APPLICABLE, wsl),)
    if wanted is None:
        unknown = Text(f"{seen} card files; how many should be there is not known", f"{seen} 个设备文件；应有多少未知")
        return (_finding(Verdict.INCONCLUSIVE, unknown, seen, "count_unknown", _ASK),)
    return (_judged(devices, kind, seen, wanted),)


def _judged(devices: DeviceNodes, kind: _Kind, seen: int, wanted: int) -> Finding:
    told = Text(f"{seen} card files, {wanted} cards rented", f"{seen} 个设备文件，租用 {wanted} 张卡")
    shut = [node for node in devices.closed if node.startswith(f"/dev/{kind.files}") and node[-1:].isdigit()]
    if seen < wanted:
        return _finding(Verdict.FAIL, told, seen, "cards_missing", _ASK)
    if shut:
        closed = Text(f"this user may not open {len(shut)} of {seen} card files", f"当前用户无权打开 {seen} 个设备文件中的 {len(shut)} 个")
        return _finding(Verdict.WARN, closed, seen, "closed", _ASK)
    if seen > wanted:
        return _finding(Verdict.WARN, told, seen, "more_cards", _ASK)
    if kind is _NVIDIA and "/dev/nvidia-uvm" not in devices.all_nodes:
        absent = Text(f"{told.en}; /dev/nvidia-uvm is not there yet", f"{told.zh}；/dev/nvidia-uvm 尚不存在")
        return _finding(Verdict.WARN, absent, seen, "no_uvm", _FIRST)
    return _finding(Verdict.PASS, told, seen)


def _finding(verdict: Verdict, reason: Text, seen: int, code: str = "", step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(verdict, reason, measured=seen, unit="cards", reason_code=code, next_step=step)
