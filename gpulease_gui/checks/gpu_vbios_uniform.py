"""Are all boards of the node of one make, with their data whole?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_extra import SmiExtra
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="gpu.vbios_uniform",
    title=Text("Boards alike and unaltered", "板卡一致且未被改动"),
    why=Text(
        "A node put together from leftovers, or with rewritten firmware, shows in VBIOS, part number and checksum.",
        "用拼凑的卡或改写固件组成的节点，会在 VBIOS、料号和校验和上露出痕迹。",
    ),
    facts=("smi_xml",),
    optional=("smi_extra",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
# The chip's part number begins with the PCI device id: 2330-885-A1.
_PART = re.compile(r"([0-9A-F]{4})-\d{3}-[A-Z]\d", re.IGNORECASE)
_ASK = Text("ask the supplier where these boards come from, and for boards of one kind", "请供应商说明板卡来源，并更换为同一批次")
_RUN = Text("run `nvidia-smi --query-gpu=vbios_version,inforom.checksum_validation --format=csv`",
            "运行 `nvidia-smi --query-gpu=vbios_version,inforom.checksum_validation --format=csv`")  # fmt: skip


def judge(report: SmiReport, extra: SmiExtra | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the VBIOS."""
    marks = [(gpu, _mark(gpu, report.gpus, extra, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu, all_gpus: Sequence[Gpu], extra: SmiExtra | None, promise: Promise) -> Mark:
    row = extra.of(gpu.index, gpu.uuid) if extra else None
    checksum = (row.checksum or "").lower() if row else ""
    if checksum and checksum != "valid":
        return Mark(Verdict.FAIL, Text(f"the checksum of the board's data is {checksum[:40]}", f"板卡数据校验结果为 {checksum[:40]}"), "checksum", gpu.vbios, _ASK)
    part = _PART.fullmatch(gpu.gpu_part or "")
    if part and gpu.pci_device_id and gpu.pci_device_id[5:] != part[1].lower():
        return _other_part(gpu, part[1].lower(), promise)
    if gpu.vbios is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the VBIOS version was not told", "未给出 VBIOS 版本"), "unreadable", None, _RUN)
    odd = _odd_one(gpu, all_gpus)
    if odd:
        return Mark(Verdict.WARN, odd, "mixed_boards", gpu.vbios, _ASK)
    if extra is None or (extra.knows_checksum and row is None):
        return Mark(Verdict.INCONCLUSIVE, Text("the boards look alike, their checksums were not read", "板卡一致，但未读取校验和"), "checksum_not_told", gpu.vbios, _RUN)
    return Mark(Verdict.PASS, Text(f"all boards alike, VBIOS {gpu.vbios}", f"板卡一致，VBIOS {gpu.vbios}"), "", gpu.vbios)


def _other_part(gpu: Gpu, device: str, promise: Promise) -> Mark:
    """The part number is of another chip; of another listed product it is a proof."""
    told = Text(f"part number {gpu.gpu_part} does not fit PCI id {gpu.pci_device_id}", f"料号 {gpu.gpu_part} 与 PCI 设备号 {gpu.pci_device_id} 不符")
    listed = promise.catalogue.gpus.of_device(f"10de:{device}")
    return Mark(Verdict.FAIL if listed else Verdict.WARN, told, "other_part", gpu.vbios, _ASK)


def _odd_one(gpu: Gpu, all_gpus: Sequence[Gpu]) -> Text | None:
    """How this card differs from the first of the same name."""
    first = next((g for g in all_gpus if g.name == gpu.name), gpu)
    pairs = (("VBIOS", first.vbios, gpu.vbios), ("board part number", first.board_part, gpu.board_part),
             ("inforom", first.inforom_image, gpu.inforom_image))  # fmt: skip
    for name, one, other in pairs:
        if one and other and one != other:
            zh = {"board part number": "板卡料号"}.get(name, name)
            return Text(f"{name} {other}, the first card has {one}", f"{zh} 为 {other}，第一张卡为 {one}")
    return None
