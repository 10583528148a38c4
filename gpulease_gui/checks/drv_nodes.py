"""Has the driver made all files that programs open?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.device_nodes import DeviceNodes
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.nvidia_proc import NvidiaProc

CHECK = Check(
    id="drv.nodes",
    title=Text("Driver device files", "驱动设备文件"),
    why=Text(
        "Without these files CUDA starts with error 999, though nvidia-smi looks fine.",
        "缺少这些文件时 CUDA 会报错 999，而 nvidia-smi 看起来正常。",
    ),
    facts=("device_nodes", "nvidia_proc"),
    optional=("environment",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("ask the supplier to run `nvidia-modprobe -c0 -u` or to map the devices into the container",
            "请供应商执行 `nvidia-modprobe -c0 -u`，或把设备映射进容器")  # fmt: skip
_FIRST = Text("start any CUDA program once, then run again", "先运行一次任意 CUDA 程序，再重新检查")


def judge(devices: DeviceNodes, proc: NvidiaProc, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of card files. A container may see the module's list of all cards."""
    whole = environment is None or not environment.is_container
    have, cards = set(devices.all_nodes), devices.cards("nvidia")
    if "/dev/dxg" in have:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("Linux inside Windows uses /dev/dxg", "Windows 内的 Linux 使用 /dev/dxg")),)
    if not proc.present and not have & {"/dev/nvidiactl"}:
        absent = Text("no NVIDIA driver is visible here", "此处看不到 NVIDIA 驱动")
        return (_finding(Verdict.INCONCLUSIVE, absent, None, "no_driver", _ASK),)
    missing = [f"/dev/nvidia{g.minor}" for g in proc.gpus if whole and g.minor is not None and g.minor not in cards]
    if "/dev/nvidiactl" not in have:
        missing.insert(0, "/dev/nvidiactl")
    if missing or not cards:
        gone = Text(f"missing: {', '.join(missing[:4]) or '/dev/nvidia0'}", f"缺少：{', '.join(missing[:4]) or '/dev/nvidia0'}")
        return (_finding(Verdict.FAIL, gone, len(cards), "nodes_missing", _ASK),)
    later = [name for name in ("/dev/nvidia-uvm",) if name not in have]
    if later:
        waiting = Text(f"not there before the first use: {later[0]}", f"首次使用前尚不存在：{later[0]}")
        return (_finding(Verdict.WARN, waiting, len(cards), "no_uvm", _FIRST),)
    return (_finding(Verdict.PASS, Text(f"all files of {len(cards)} cards are there", f"{len(cards)} 张卡的设备文件齐全"), len(cards)),)


def _finding(verdict: Verdict, reason: Text, cards: int | None, code: str = "", step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(verdict, reason, measured=cards, unit="cards", reason_code=code, next_step=step)
