"""Is the PCI id of every card that of the promised product?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel, ModelPromise
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.pci_devices import PciBus, bus_id
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "gpu.model"

CHECK = Check(
    id="gpu.pci_id",
    title=Text("PCI id", "PCI 设备号"),
    why=Text(
        "The PCI id comes from the chip: it survives a changed name and tells SXM, PCIe and export versions apart.",
        "PCI 设备号来自芯片，改名改不掉它，可区分 SXM、PCIe 与出口版本。",
    ),
    facts=("smi_xml",),
    optional=("pci_devices",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    ask=Text("Which exact GPU model is rented?", "租用的 GPU 确切型号是什么？"),
)
_ASK_ID = Text("run `lspci -nn -d 10de:` on the node", "在节点上运行 `lspci -nn -d 10de:`")
_ASK_WHY = Text("ask the supplier why the card has the id of another product", "请供应商说明为何设备号属于另一型号")


def judge(report: SmiReport, bus: PciBus | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: device and subsystem id against those of gpu.model."""
    model = promise.model
    if not report.gpus:
        return ()
    if model is None:
        subjects = [SubjectFinding(g.key, Verdict.INCONCLUSIVE, g.pci_device_id, g.index) for g in report.gpus]
        return (CHECK.not_promised(TERM, report.gpus[0].pci_device_id, subjects=subjects),)
    marks = [(gpu, _contradiction(gpu, bus) or _mark(gpu, model, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, term=TERM, promised=model.sold_as),)


def _contradiction(gpu: Gpu, bus: PciBus | None) -> Mark | None:
    """The bus tells another id for the same slot than the driver: one of both was changed."""
    slot = next((d for d in bus.devices if d.bus_id == bus_id(gpu.bus_id)), None) if bus else None
    seen = f"{slot.vendor}:{slot.device}" if slot else None
    if seen is None or gpu.pci_device_id is None or seen == gpu.pci_device_id:
        return None
    return Mark(Verdict.FAIL, Text(
        f"nvidia-smi says {gpu.pci_device_id}, the PCI bus says {seen}", f"nvidia-smi 报 {gpu.pci_device_id}，PCI 总线报 {seen}"
    ), Reason.INCONSISTENT, seen, _ASK_WHY)  # fmt: skip


def _mark(gpu: Gpu, model: ModelPromise, promise: Promise) -> Mark:
    device = gpu.pci_device_id
    if device is None:
        return Mark(Verdict.INCONCLUSIVE, Text("the PCI id was not told", "未给出 PCI 设备号"), "unreadable", None, _ASK_ID)
    wanted = [m for m in model.products if device.lower() in m.pci_device_ids]
    if wanted:
        return _board(gpu, device, wanted)
    if not any(m.pci_device_ids for m in model.products):
        text = Text(f"the catalogue knows no PCI id of {model.word}", f"目录中没有 {model.word} 的 PCI 设备号")
        return Mark(Verdict.INCONCLUSIVE, text, "no_reference", device)
    other = promise.catalogue.gpus.of_device(device)
    if not other:
        text = Text(f"no product has the PCI id {device}", f"没有型号使用 PCI 设备号 {device}")
        return Mark(Verdict.INCONCLUSIVE, text, "unlisted_id", device, _ASK_ID)
    names = " / ".join(m.name for m in other)
    return Mark(Verdict.FAIL, Text(
        f"PCI id {device} is {names}, not {model.sold_as}", f"PCI 设备号 {device} 属于 {names}，不是 {model.sold_as}"
    ), "other_product", device, _ASK_WHY)  # fmt: skip


def _board(gpu: Gpu, device: str, wanted: list[GpuModel]) -> Mark:
    name, subsystem = wanted[0].name, (gpu.pci_subsystem_id or "").lower()
    boards = {known for m in wanted for known in m.pci_subsystem_ids}
    if boards and subsystem not in boards:
        return Mark(Verdict.WARN, Text(
            f"PCI id {device} is {name}; its board {subsystem or '(not told)'} is not in the catalogue",
            f"PCI 设备号 {device} 属于 {name}；板卡号 {subsystem or '（未给出）'} 不在目录中",
        ), "unknown_board", device)  # fmt: skip
    return Mark(Verdict.PASS, Text(f"PCI id {device} is {name}", f"PCI 设备号 {device} 属于 {name}"), "", device)
