"""Does every card have a network card near it?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.topo import Topology

TERM = "network.rails"

CHECK = Check(
    id="topo.nic_affinity",
    title=Text("Network card near every GPU", "GPU 就近网卡"),
    why=Text(
        "With eight rails every GPU talks through its own card; with one far card all eight queue behind it.",
        "八轨网络中每张 GPU 走自己的网卡；若只有一张远端网卡，八张 GPU 都要排队。",
    ),
    facts=("topo",),
    optional=("smi_xml",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    partial=True,
    rule_version=3,
    ask=Text("How many network cards are there, and is one near every GPU?", "有多少张网卡？每张 GPU 是否都有就近网卡？"),
)
_NEAR = ("PIX", "PXB")
_FAR = ("SYS", "SOC")
_NO_NIC = Text("no network card is in this matrix", "该矩阵中没有网卡")
_RUN = Text("run `nvidia-smi topo -m` on the host, with the network driver loaded", "在宿主机上运行 `nvidia-smi topo -m`（须已加载网卡驱动）")
_ASK = Text("ask the supplier how the rails are wired", "请供应商说明多轨网络的接线")


def judge(topology: Topology, smi: SmiReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each GPU; measured is the number of network cards near some GPU."""
    stated = promise.get(TERM)
    near = {gpu: tuple(n.nic for n in topology.nic_links if n.gpu == gpu and n.link in _NEAR) for gpu in topology.gpu_rows}
    rails = len({nic for nics in near.values() for nic in nics})
    if stated is None:
        return (CHECK.not_promised(TERM, rails if topology.nic_columns else None, unit="NICs"),)
    if topology.form != "links" or not topology.nic_links:
        return (_finding(Verdict.INCONCLUSIVE, _NO_NIC, stated, None, [], "no_nic", _RUN),)
    left_out = len(smi.gpus) - len(near) if smi else 0
    return (_judged(topology, near, rails, stated, left_out),)


def _judged(topology: Topology, near: Mapping[int, tuple[str, ...]], rails: int, stated: Stated, left_out: int) -> Finding:
    subjects = [_subject(topology, gpu, nics) for gpu, nics in near.items()]
    fewest = min((len(nics) for nics in near.values()), default=0)
    told = Text(
        f"{rails} network cards near a GPU, at least {fewest} near each; {int(stated.number)} promised",
        f"共 {rails} 张网卡靠近 GPU，每张 GPU 至少 {fewest} 张；承诺 {int(stated.number)}",
    )
    if topology.missing_rows or topology.broken_rows:
        return _finding(Verdict.INCONCLUSIVE, Text("rows of the matrix are missing", "拓扑矩阵缺行"), stated, rails, subjects, "cut_off", _RUN)
    far = all(s.measured in _FAR for s in subjects)
    too_few = len(set(topology.nic_columns or ())) < stated.number
    if far or too_few:
        return _finding(Verdict.FAIL, told, stated, rails, subjects, "rails_missing", _ASK)
    if left_out > 0:
        absent = Text(f"the matrix leaves out {left_out} of the GPUs", f"拓扑矩阵缺少 {left_out} 张 GPU")
        return _finding(Verdict.INCONCLUSIVE, absent, stated, rails, subjects, "cut_off", _RUN)
    if fewest > 0 and max(rails, fewest) >= stated.number:
        return _finding(Verdict.PASS, told, stated, rails, subjects, stated.reason_code)
    return _finding(Verdict.WARN, told, stated, rails, subjects, "nics_far", _ASK)


def _subject(topology: Topology, gpu: int, nics: tuple[str, ...]) -> SubjectFinding:
    best = topology.best_nics(gpu)
    word = best[0] if best else None
    verdict = Verdict.PASS if nics else Verdict.INCONCLUSIVE if word is None else Verdict.FAIL if word in _FAR else Verdict.WARN
    names = ", ".join((best[1] if best else ())[:4])
    return SubjectFinding(f"GPU{gpu}", verdict, word, gpu, Text(f"{word or '?'}: {names}", f"{word or '?'}：{names}"))


def _finding(
    verdict: Verdict, reason: Text, stated: Stated, rails: int | None, subjects: list[SubjectFinding], code: str, step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=rails, unit="NICs", subjects=subjects, reason_code=code,
        next_step=step, better="more",
    )  # fmt: skip
