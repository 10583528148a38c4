"""Are all GPUs joined as promised?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpulease_gui.catalog.gpus import FormClass
from gpulease_gui.checks.card_links import products, promised_links, reported_links
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.topo import GpuPair, Topology, link_rank

TERM = "gpu.interconnect"

CHECK = Check(
    id="topo.matrix",
    title=Text("GPU interconnect", "卡间互联"),
    why=Text(
        "Cards that talk over the processor instead of NVLink train large models several times slower.",
        "卡间不走 NVLink 而绕经 CPU 时，大模型训练会慢数倍。",
    ),
    facts=("topo",),
    optional=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    partial=True,
    rule_version=2,
    ask=Text(
        "How are the GPUs joined inside the node: NVSwitch, NVLink, bridges or PCIe only?",
        "节点内 GPU 如何互联：NVSwitch、NVLink、桥接还是仅 PCIe？",
    ),
)

_BEST_FIRST = ("nvswitch", "nvlink", "nvlink_bridge", "pcie")
_WORDS = {
    "nvswitch": Text("every pair over NVSwitch", "全部经 NVSwitch 互联"),
    "nvlink": Text("every pair over NVLink", "全部经 NVLink 互联"),
    "nvlink_bridge": Text("an NVLink partner for every card", "每张卡都有 NVLink 桥接伙伴"),
    "pcie": Text("PCIe", "仅 PCIe 互联"),
}
_KNOWN_RANK = 1000


@dataclass(frozen=True, slots=True)
class _Board:
    """The matrix with what is needed to read it.

    `links` is the NVLink count of the card (None = unknown). `bridged`: two slot cards can only meet over a bridge,
    which shows the same words as a switch.
    """

    topology: Topology
    links: int | None
    whole: bool
    bridged: bool

    def breaks(self, pair: GpuPair, wanted: str) -> bool | None:
        """Whether a pair breaks the promise `wanted`; None = its word can't be judged."""
        if wanted not in ("nvswitch", "nvlink"):
            return False
        if pair.nvlinks is None:
            return None if link_rank(pair.link) >= _KNOWN_RANK or self.doubted(pair) else True
        if wanted == "nvlink":
            return False
        if self.bridged:
            return True
        if self.links is None or pair.nvlinks > self.links:
            return None
        return pair.nvlinks < self.links and (None if self.doubted(pair) else True)

    def doubted(self, pair: GpuPair) -> bool:
        """Whether the two cells of the pair name different links."""
        return (pair.first, pair.second) in self.topology.disagreeing

    def of_gpu(self, gpu: int) -> Iterator[GpuPair]:
        """The pairs of one GPU."""
        return (p for p in self.topology.pairs if gpu in (p.first, p.second))


def judge(topology: Topology, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each GPU: its worst link. Better than promised passes."""
    if topology.form != "links":
        stated = promise.get(TERM)
        return (CHECK.finding(
            Verdict.INCONCLUSIVE, _OTHER_MATRIX, term=TERM, promised=_value(stated), reason_code="other_matrix",
            next_step=_RUN_AGAIN,
        ),)  # fmt: skip
    cards = topology.gpu_count if topology.gpu_count is not None else len(topology.gpu_rows)
    if cards == 1 and (smi is None or len(smi.gpus) <= 1):
        return (CHECK.finding(Verdict.NOT_APPLICABLE, _ONE_GPU, term=TERM, promised=_value(promise.get(TERM))),)
    whole = topology.complete and (smi is None or len(smi.gpus) <= cards)
    board = _Board(topology, _links(smi, promise), whole, _slot_cards(smi, promise))
    delivered, stated = _delivered(board), promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, delivered, subjects=_unjudged(board, smi)),)
    return (_judged(board, smi, delivered, stated),)


def _links(smi: SmiReport | None, promise: Promise) -> int | None:
    """The NVLink count of the card that is there; of the promised one if the node's can't be named."""
    found = {reported_links(gpu, promise.catalogue.gpus) for gpu in smi.gpus} if smi else set()
    return found.pop() if len(found) == 1 and None not in found else promised_links(promise)


def _slot_cards(smi: SmiReport | None, promise: Promise) -> bool:
    found = [m for g in smi.gpus for m in products(g.name, g.pci_device_id, promise.catalogue.gpus)] if smi else []
    return bool(found) and all(m.form_class in (FormClass.PCIE, FormClass.NVL) for m in found)


def _delivered(board: _Board) -> str | None:
    """The best class that the whole matrix keeps; None if pairs are missing or a word can't be judged."""
    if not board.whole or not board.topology.pairs:
        return None
    for wanted in _BEST_FIRST:
        states = set(_states(board, wanted))
        if states == {False}:
            return wanted
        if None in states and True not in states and wanted != "nvswitch":
            return None
    return "pcie"


def _states(board: _Board, wanted: str) -> Iterator[bool | None]:
    if wanted == "nvlink_bridge":
        yield from (_lonely(board, gpu) for gpu in board.topology.gpu_rows)
    yield from (board.breaks(pair, wanted) for pair in board.topology.pairs)


def _lonely(board: _Board, gpu: int) -> bool | None:
    """Whether no NVLink joins `gpu` to any other; None if a cell that could is missing."""
    pairs = list(board.of_gpu(gpu))
    if any(p.nvlinks for p in pairs):
        return False
    expected = (board.topology.gpu_count or 0) - 1
    return True if board.whole or len(pairs) == expected > 0 else None


def _judged(board: _Board, smi: SmiReport | None, delivered: str | None, stated: Stated) -> Finding:
    wanted = str(stated.value)
    subjects = _subjects(board, smi, wanted)
    verdict = worst(s.verdict for s in subjects)
    seen = ", ".join(f"{n}x {link}" for link, n in board.topology.link_counts.items()) or "-"
    if verdict is Verdict.FAIL:
        reason = Text(
            f"{_WORDS[wanted].en} was promised; the pairs show {seen}", f"承诺{_WORDS[wanted].zh}；实际卡对为 {seen}"
        )
        return _finding(verdict, reason, stated, delivered, subjects, "weaker_interconnect", _ASK_BOARD)
    if verdict is Verdict.INCONCLUSIVE or not board.whole:
        return _finding(Verdict.INCONCLUSIVE, _why_open(board, seen), stated, delivered, subjects, *_open_code(board))
    reason = Text(
        f"{_WORDS[delivered or wanted].en}: {seen}", f"{_WORDS[delivered or wanted].zh}：{seen}"
    )  # fmt: skip
    return _finding(Verdict.PASS, reason, stated, delivered, subjects, stated.reason_code)


def _why_open(board: _Board, seen: str) -> Text:
    if not board.whole:
        total = board.topology.pairs_expected
        return Text(
            f"the matrix shows {len(board.topology.pairs)} of {total if total is not None else '?'} GPU pairs ({seen})",
            f"拓扑矩阵只显示 {total if total is not None else '?'} 对中的 {len(board.topology.pairs)} 对（{seen}）",
        )
    if board.topology.disagreeing:
        return Text(f"the two halves of the matrix contradict each other ({seen})", f"拓扑矩阵两半互相矛盾（{seen}）")
    links = board.links if board.links is not None else "?"
    return Text(
        f"the pairs show {seen}, the card's NVLink count is {links}: this does not decide",
        f"卡对为 {seen}，该卡 NVLink 数为 {links}：不足以判断",
    )


def _open_code(board: _Board) -> tuple[str, Text]:
    if not board.whole:
        return Reason.CUT_OFF, _RUN_AGAIN
    return (Reason.INCONSISTENT, _RUN_AGAIN) if board.topology.disagreeing else ("link_count_unknown", _RUN_NVLINK)


def _subjects(board: _Board, smi: SmiReport | None, wanted: str) -> list[SubjectFinding]:
    names = {gpu.index: gpu.key for gpu in smi.gpus} if smi else {}
    rows = board.topology.gpu_columns or board.topology.gpu_rows
    return [_subject(board, gpu, names.get(gpu, f"GPU{gpu}"), wanted) for gpu in rows]


def _unjudged(board: _Board, smi: SmiReport | None) -> list[SubjectFinding]:
    return [replace(subject, verdict=Verdict.INCONCLUSIVE) for subject in _subjects(board, smi, "pcie")]


def _subject(board: _Board, gpu: int, name: str, wanted: str) -> SubjectFinding:
    pairs = sorted(board.of_gpu(gpu), key=lambda p: link_rank(p.link))
    if not pairs:
        return SubjectFinding(
            name, Verdict.INCONCLUSIVE, None, gpu, Text("no pair of this card is shown", "未显示该卡的卡对")
        )
    last = pairs[-1]
    states = {board.breaks(p, wanted) for p in pairs} | ({_lonely(board, gpu)} if wanted == "nvlink_bridge" else set())
    verdict = Verdict.FAIL if True in states else Verdict.INCONCLUSIVE if None in states else Verdict.PASS
    other = last.second if last.first == gpu else last.first
    return SubjectFinding(
        name, verdict, last.link, gpu, Text(f"to GPU {other}: {last.link}", f"到 GPU {other}：{last.link}")
    )


def _value(stated: Stated | None) -> str | None:
    return str(stated.value) if stated else None


_OTHER_MATRIX = Text("this matrix shows states of peer access, not links", "该矩阵显示的是 P2P 访问状态，不是链路类型")
_ONE_GPU = Text("a single GPU has no other to be joined to", "只有一张 GPU，不存在卡间互联")
_ASK_BOARD = Text(
    "Ask for a node with the promised board; show the supplier this matrix.",
    "要求更换为承诺的板型，并向供应商出示该矩阵。",
)
_RUN_AGAIN = Text(
    "Run nvidia-smi topo -m on the node and keep the whole output.",
    "请在节点上运行 nvidia-smi topo -m 并保留完整输出。",
)
_RUN_NVLINK = Text(
    "Compare with nvidia-smi nvlink -s, and ask which board the node has.",
    "请对照 nvidia-smi nvlink -s，并询问节点的板型。",
)


def _finding(
    verdict: Verdict, reason: Text, stated: Stated, delivered: str | None, subjects: list[SubjectFinding], code: str,
    step: Text = NO_TEXT,
) -> Finding:  # fmt: skip
    return CHECK.finding(
        verdict,
        reason,
        term=TERM,
        promised=stated.value,
        measured=delivered,
        subjects=subjects,
        reason_code=code,
        next_step=step,
    )
