"""Does every pair of GPUs copy as fast as its NVLinks should?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from gpulease_gui.catalog.gpus import FormClass, GpuModel
from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.copy_cards import copy_cards, copy_check, copy_heads, usable_copies
from gpulease_gui.checks.load_words import BUSY_BEFORE
from gpulease_gui.checks.pcie_h2d_d2h import WIRE_GB_S
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks, judged
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.checks.torch_rates import tempered
from gpulease_gui.checks.torch_runs import ABOVE, BY_HAND, NO_YARDSTICK, product_of, without_result
from gpulease_gui.checks.yardstick import words_of, yardstick
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_copy import BETWEEN, TorchCopy

BANDS = band_marks(
    "nvlink.p2p_bw", 0.93, 0.88, Text("the rate of its kind", "同型号速率"), origin=Origin.PUBLISHED,
    source="Azure/azurehpc-health-checks:conf/nd96isr_h100_v5.conf",
)  # fmt: skip
SISTERS = band_marks("nvlink.p2p_bw", 0.95, 0.9, Text("the median pair of the node", "本节点各对的中位数"), name="pairs")
OVER = Threshold(
    "nvlink.p2p_bw", "over", 1.0, SHARE, Text("the test is wrong above (share of the links' rate)", "超过链路速率此比例即测试有误"), ">", low=0.9
)

CHECK = copy_check(
    id="nvlink.p2p_bw",
    title=Text("Copies from GPU to GPU", "卡间拷贝带宽"),
    why=Text("Links that report themselves as active can still be slow or bypassed.", "链路显示激活，不等于真的快、真的在用。"),
    writes=Text("nothing; 1 GiB of the memory of two GPUs at a time", "不写入；每次占用两张卡各 1 GiB 显存"),
    thresholds=(*BANDS.both, *SISTERS.both, OVER, WIRE_GB_S, BUSY_BEFORE),
)
_ASK = Text("ask the supplier for `nvidia-smi nvlink -s` and `nvidia-smi topo -m` of this node, and why this pair is slow",
            "请供应商提供该节点的 `nvidia-smi nvlink -s` 与 `nvidia-smi topo -m`，并说明这一对为何慢")  # fmt: skip
_BAD = Text("have both GPUs and their links examined: bytes arrived changed", "请检修这两张卡及其链路：到达的数据已被改变")
_BRIDGED = Text("compare the pairs with topo.matrix, which names the bridges", "请对照 topo.matrix 中列出的桥接关系")
_UNKNOWN = Text("compare with another node of this kind", "请与另一台同型号节点比较")


@dataclass(frozen=True, slots=True)
class _Pair:
    """One ordered pair with its rate of each run, GB/s one way."""

    name: str
    rates: tuple[float, ...]
    correct: bool
    peer: bool

    @property
    def best(self) -> float:
        return max(self.rates, default=0.0)


def judge(found: TorchCopy, report: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest ordered pair in GB/s one way."""
    cards, pairs = copy_cards(found), _pairs(found)
    if len(cards) == 1:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("there is one GPU", "只有一张卡"), basis=Basis.MEASURED),)
    product = product_of(cards[0], report, promise) if cards else None
    if product and not product.nvlink_links:
        words = Text(f"{product.name} has no NVLink: its copies go over PCIe", f"{product.name} 没有 NVLink：卡间拷贝走 PCIe")
        return (CHECK.finding(Verdict.NOT_APPLICABLE, words, basis=Basis.MEASURED),)
    told = [pair for pair in pairs if pair.rates]
    if not told:
        return (without_result(CHECK, copy_heads(found)),)
    if product and product.form_class in (FormClass.PCIE, FormClass.NVL) and all(pair.correct for pair in told):
        slow = min(told, key=lambda pair: pair.best)
        words = Text(f"slowest pair {slow.name} {number_text(slow.best)} GB/s; only cards under one bridge have NVLink between them",
                     f"最慢一对 {slow.name} {number_text(slow.best)} GB/s；只有同一桥接器下的卡之间才有 NVLink")  # fmt: skip
        return (_finding(Verdict.INCONCLUSIVE, words, "bridged", _BRIDGED, slow, told, {}),)
    return (_judged(told, product, found, promise),)


def _pairs(found: TorchCopy) -> list[_Pair]:
    rates: dict[str, list[float]] = {}
    wrong, direct = set(), set()
    for run in usable_copies(found):
        for copy in run.of(BETWEEN):
            name = f"{copy.card}->{copy.to}"
            rates.setdefault(name, []).extend([] if copy.gb_s is None else [copy.gb_s])
            wrong |= {name} if copy.correct is False else set()
            direct |= set() if copy.peer is False else {name}
    return [_Pair(name, tuple(own), name not in wrong, name in direct) for name, own in rates.items()]


def _judged(pairs: Sequence[_Pair], product: GpuModel | None, found: TorchCopy, promise: Promise) -> Finding:
    slow = min(pairs, key=lambda pair: pair.best)
    if bad := [pair for pair in pairs if not pair.correct]:
        words = Text(f"bytes arrived changed on {bad[0].name}", f"{bad[0].name} 上到达的数据被改变")
        return _finding(Verdict.FAIL, words, "wrong_bytes", _BAD, slow, pairs, {bad[0].name: Verdict.FAIL})
    if slow.best <= 0:
        words = Text(f"nothing was copied on {slow.name}", f"{slow.name} 上没有拷贝任何数据")
        return _finding(Verdict.FAIL, words, "nothing_moved", BY_HAND, slow, pairs, {slow.name: Verdict.FAIL})
    fast = max(pairs, key=lambda pair: pair.best)
    wire = product.nvlink_total_gb_s / 2 if product and product.nvlink_total_gb_s else None
    if wire and fast.best > wire * promise.limit(OVER):
        words = Text(f"{number_text(fast.best)} GB/s is more than these links carry ({number_text(wire)}): the test is wrong",
                     f"{number_text(fast.best)} GB/s 超过这些链路所能承载（{number_text(wire)}）：测试有误")  # fmt: skip
        return _finding(Verdict.INCONCLUSIVE, words, ABOVE, BY_HAND, fast, pairs, {})
    return _compared(slow, pairs, product, found, promise)


def _compared(slow: _Pair, pairs: Sequence[_Pair], product: GpuModel | None, found: TorchCopy, promise: Promise) -> Finding:
    own = yardstick(promise, CHECK.id, product, Metric.P2P_ONE_WAY) if product else None
    middle = median(pair.best for pair in pairs)
    marks = {pair.name: judged(pair.rates, middle, SISTERS.at(promise)) for pair in pairs}
    if own:
        by_kind = {pair.name: judged(pair.rates, own.value, BANDS.at(promise)) for pair in pairs}
        marks = {name: max(one, by_kind[name], key=_rank) for name, one in marks.items()}
    wire = _pcie_gb_s(product, pairs, promise)
    if wire is not None:
        marks = {pair.name: (Verdict.FAIL, "over_pcie") if len(pair.rates) > 1 else (Verdict.WARN, MEASURED_ONCE) for pair in pairs}
    verdict = worst(v for v, _ in marks.values())
    code = next(c for v, c in marks.values() if v is verdict)
    verdict, code, step = tempered(verdict, code, _ASK, copy_heads(found), promise)
    if verdict is Verdict.PASS and own is None:
        verdict, code, step = Verdict.INCONCLUSIVE, NO_YARDSTICK, _UNKNOWN
    return _finding(verdict, _reason(slow, middle, own, wire), code, step, slow, pairs, {name: v for name, (v, _) in marks.items()}, own)


def _pcie_gb_s(product: GpuModel | None, pairs: Sequence[_Pair], promise: Promise) -> float | None:
    """What PCIe carries one way, if no pair copies faster than that: then these links are not used. None otherwise."""
    if product is None or not product.pcie_gen or not product.pcie_width:
        return None
    wire = promise.limit(WIRE_GB_S) * 2.0 ** (product.pcie_gen - 4) * product.pcie_width
    return wire if max(pair.best for pair in pairs) <= wire else None


def _rank(mark: tuple[Verdict, str]) -> int:
    return (Verdict.PASS, Verdict.WARN, Verdict.FAIL).index(mark[0])


def _reason(slow: _Pair, middle: float, own: JudgedBy | None, wire: float | None) -> Text:
    rate, mid = number_text(slow.best), number_text(middle)
    en, zh = f"slowest pair {slow.name} {rate} GB/s one way, median pair {mid}", f"最慢一对 {slow.name} 单向 {rate} GB/s，中位数 {mid}"
    if own:
        of, kind = number_text(own.value), words_of(own)
        en, zh = f"{en}; its kind copies {of} ({kind.en})", f"{zh}；同型号为 {of}（{kind.zh}）"
    if wire is not None:
        most = number_text(wire)
        en, zh = f"{en}; that is no more than PCIe carries ({most}): NVLink is not used", f"{zh}；不超过 PCIe 所能承载（{most}）：没有用上 NVLink"
    if not slow.peer:
        en, zh = f"{en}; the driver gives this pair no direct way", f"{zh}；驱动没有给这一对直连通道"
    return Text(en, zh)


def _finding(
    verdict: Verdict, reason: Text, code: str, step: Text, slow: _Pair, pairs: Sequence[_Pair], marks: dict[str, Verdict], own: JudgedBy | None = None
) -> Finding:
    subjects = [SubjectFinding(pair.name, marks.get(pair.name, Verdict.INCONCLUSIVE), round(pair.best, 1)) for pair in pairs]
    made = CHECK.finding(
        verdict, reason, measured=round(slow.best, 1), unit="GB/s", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more"
    )
    return made if own is None else replace(made, judged_by=(own,))
