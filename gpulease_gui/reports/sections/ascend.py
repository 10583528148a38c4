"""What must a renter of Ascend nodes know besides the findings?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.reports.document import Block, Pair, Pairs, Paragraph, SubHeading, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import NOT_READ

SECTION = Section("ascend", 55, Text("Ascend nodes", "昇腾节点"))
_MOVING = Text(
    "CANN is not CUDA: programs, images and kernels made for CUDA do not start on these NPUs. PyTorch runs there through torch_npu, whose "
    "version must fit both PyTorch and CANN; own CUDA kernels and packages that bring some need an Ascend counterpart. Plan the move as "
    "work of its own, and let one of your jobs run on the node before you sign.",
    "CANN 不是 CUDA：为 CUDA 编写的程序、镜像和算子无法直接在 NPU 上运行。PyTorch 须通过 torch_npu，其版本要同时匹配 PyTorch 与 CANN；"
    "自研 CUDA 算子及自带 CUDA 算子的软件包都需要昇腾对应版本。请把迁移单独排期，并在签约前让自己的一个任务在节点上跑通。",
)
_COUNTING = Text(
    "One 910C module and one 300I Duo card hold two chips each: the contract should say whether it counts modules, cards or chips.",
    "一个 910C 模组、一张 300I Duo 卡都含两个芯片：合同应写明按模组、卡还是芯片计数。",
)


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """Cards, chips, software set and links of each Ascend node, then what moving from CUDA means; empty without such nodes."""
    nodes = [node for node in facts.nodes if _is_ascend(node)]
    if not nodes:
        return ()
    blocks: list[Block] = []
    for node in nodes:
        blocks += [SubHeading(foreign(node.node.name)), Pairs(_pairs(node), 1)]
    return (*blocks, Paragraph(_MOVING), Paragraph(_COUNTING, Tone.QUIET))


def _is_ascend(node: NodeFacts) -> bool:
    """Whether the run saw NPUs, or was made for a contract that rents some."""
    found = node.run.findings if node.run else ()
    return any(f.check == "npu.inventory" and (f.measured is not None or f.promised is not None) for f in found)


def _pairs(node: NodeFacts) -> tuple[Pair, ...]:
    return (
        Pair(Text("Cards and chips", "卡与芯片"), _said(_of(node, "npu.inventory", "npu.count"))),
        Pair(Text("Driver, firmware, CANN", "驱动、固件与 CANN"), _said(_of(node, "npu.versions", None))),
        Pair(Text("Links", "互联"), _said(_of(node, "npu.pcie", None))),
        Pair(Text("Network ports", "参数面网口"), _said(_of(node, "npu.roce", None))),
    )


def _of(node: NodeFacts, check: str, term: str | None) -> Finding | None:
    found = node.run.findings if node.run else ()
    return next((f for f in found if f.check == check and f.term == term), None)


def _said(finding: Finding | None) -> Words:
    if finding is None or finding.verdict is Verdict.NOT_APPLICABLE:
        return NOT_READ
    if finding.reason_code == Reason.NOT_PROMISED and finding.measured is not None:
        return Words(foreign(f"{finding.measured} {finding.unit}".strip()))
    tone = Tone.FAIL if finding.verdict is Verdict.FAIL else Tone.MISSING if finding.verdict is Verdict.INCONCLUSIVE else Tone.PLAIN
    return Words(finding.reason, tone)
