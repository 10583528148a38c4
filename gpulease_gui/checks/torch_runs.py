"""When does a run of a task by PyTorch give no figure to judge, and what is to be done then?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.cards import cards
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Basis, Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.task_lines import ABSENT, BROKEN, TaskCard, TaskHead

NO_GPU, NOT_IDLE, ABOVE, NO_YARDSTICK, SHEET = "no_gpu", "not_idle", "above_spec", "no_yardstick", "sheet_figure"

INSTALL = Text("install PyTorch on the node: python3 -m pip install torch", "请在节点上安装 PyTorch：python3 -m pip install torch")
REPAIR = Text(
    "run `python3 -c 'import torch'` on the node; install a build of PyTorch that fits its driver: python3 -m pip install torch",
    "请在节点上运行 `python3 -c 'import torch'`；安装与驱动相配的 PyTorch：python3 -m pip install torch",
)
SEE_GPU = Text(
    "run `python3 -c 'import torch; print(torch.cuda.is_available())'`; a build for CPU only, or one newer than the driver, sees no GPU",
    "请运行 `python3 -c 'import torch; print(torch.cuda.is_available())'`；CPU 版或比驱动更新的 PyTorch 看不到显卡",
)
AGAIN = Text("run it again on the idle node: one low run proves nothing", "请在节点空闲时再测一次：单次偏低不足为据")
CLEAR = Text("stop everything on the GPUs, then run it again", "停掉显卡上的一切任务，再测一次")
NEWER = Text("install a newer PyTorch on the node: python3 -m pip install -U torch", "请在节点上安装更新的 PyTorch：python3 -m pip install -U torch")
TO_THE_END = Text("run it again to its end", "请重新运行，直到结束")
BY_HAND = Text("run the task by hand on the node and read its last lines", "请在节点上手动运行该任务，查看最后几行")
ASK_CAP = Text(
    "ask the supplier to set the power limit back to the card's own (`nvidia-smi -pl`), then run it again",
    "请供应商把功耗上限恢复为该卡的默认值（`nvidia-smi -pl`），然后重测",
)
ASK_COOL = Text(
    "ask the supplier to repair cooling and power of this node, then run it again", "请供应商检修该节点的散热与供电，然后重测"
)
ASK_SLOW = Text(
    "ask the supplier why these GPUs are slower than their kind, with this report", "请将本报告发给供应商，询问为何慢于同型号"
)


def heads_with_result(heads: Sequence[TaskHead]) -> list[TaskHead]:
    """Runs on GPUs that told anything."""
    return [head for head in heads if not head.trouble and head.on_gpu and head.cards]


def without_result(
    check: Check, heads: Sequence[TaskHead], term: str | None = None, promise: Promise | None = None, part: str = ""
) -> Finding:
    """The finding where no run gave a figure: inconclusive, with what to install, repair or do. `part`: what was wanted."""
    last = heads[-1] if heads else TaskHead(code=Reason.NOT_COLLECTED)
    stated = promise.get(term) if term and promise else None
    reason, code, step = _why_none(last, part)
    return check.finding(
        Verdict.INCONCLUSIVE, reason, term=term if stated else None, promised=stated.value if stated else None, reason_code=code, next_step=step,
        basis=Basis.MEASURED,
    )  # fmt: skip


def _why_none(head: TaskHead, part: str) -> tuple[Text, str, Text]:
    if head.code == ABSENT:
        return Text("PyTorch is not installed on the node", "节点上没有安装 PyTorch"), ABSENT, INSTALL
    if head.code == BROKEN:
        return Text(f"PyTorch does not load: {head.trouble}", f"PyTorch 无法加载：{head.trouble}"), BROKEN, REPAIR
    if head.trouble or head.error:
        said = head.trouble or head.error
        code = head.code or Reason.UNREADABLE
        return Text(f"nothing was measured: {said}", f"没有测得结果：{said}"), str(code), BY_HAND
    if not head.on_gpu and head.torch:
        return (
            Text("the task ran on processors: PyTorch sees no GPU here", "任务跑在 CPU 上：PyTorch 看不到显卡"), NO_GPU, SEE_GPU
        )  # fmt: skip
    if why := next((why for kind, why in head.skipped if kind == part), ""):
        return Text(f"this PyTorch or this GPU cannot do it: {why}", f"该 PyTorch 或显卡不支持：{why}"), "not_supported", NEWER
    return Text("nothing was measured", "没有测得结果"), str(head.code or Reason.NOT_COLLECTED), BY_HAND


def product_of(card: TaskCard, report: SmiReport | None, promise: Promise) -> GpuModel | None:
    """What the card should be: the promised product, else what the report makes of it, else what its name leaves."""
    model = promise.model
    if model is not None and model.product is not None:
        return model.product
    for seen in cards(report, None, promise.catalogue.gpus) if report else ():
        if seen.identity.product and (seen.gpu.uuid == card.uuid if seen.gpu.uuid and card.uuid else seen.gpu.index == card.gpu):
            return seen.identity.product
    named = promise.catalogue.gpus.named(card.name) if card.name else ()
    return named[0] if len(named) == 1 else None
