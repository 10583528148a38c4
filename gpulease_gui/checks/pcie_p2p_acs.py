"""May all cards reach each other's memory straight away?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.catalog.gpus import FormClass
from gpulease_gui.checks.card_links import products
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.p2p import PeerAccess
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.topo import Topology

CHECK = Check(
    id="pcie.p2p_acs",
    title=Text("Cards reach each other", "卡间直接访问"),
    why=Text(
        "Without peer access every transfer goes through main memory; access control on bridges slows it or spoils the data.",
        "没有 P2P 时卡间传输须绕经内存；桥上的访问控制会拖慢甚至损坏数据。",
    ),
    facts=("p2p",),
    optional=("smi_xml", "environment"),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_ASK = Text("ask the supplier why peer access is off between these cards", "请供应商说明这些卡之间为何不能 P2P")
_LIVE = Text("usual for GeForce and across sockets or in a virtual machine: measure with several cards before you rely on it",
             "GeForce、跨 CPU 或虚拟机中常见：请先用多卡实测再决定")  # fmt: skip
_ACS = Text("ask the supplier to switch ACS redirect off on the bridges of the cards (needs bare metal)", "请供应商在显卡所在的桥上关闭 ACS 重定向（仅裸金属）")
_RUN = Text("run `nvidia-smi topo -p2p r` on the node and keep the whole output", "在节点上运行 `nvidia-smi topo -p2p r` 并保留完整输出")


@dataclass(frozen=True, slots=True)
class _Place:
    """Whether closed peer access is a fault here: boards with NVLink, on bare metal, without slices."""

    strict: bool
    geforce: bool


def judge(access: PeerAccess, report: SmiReport | None, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of pairs that can't reach each other."""
    matrices = [access.read, *([access.write] if access.write else [])]
    if max(len(m.gpu_rows) for m in matrices) < 2:
        return (CHECK.finding(Verdict.NOT_APPLICABLE, Text("one card has nobody to reach", "只有一张卡")),)
    place = _place(report, environment, promise)
    closed = _closed(matrices)
    if closed:
        return (_shut(closed, place),)
    if access.write is None or not all(m.complete and m.form == "p2p" for m in matrices):
        torn = Text("not every pair of cards was told", "未给出所有卡对的状态")
        return (CHECK.finding(Verdict.INCONCLUSIVE, torn, reason_code=Reason.UNREADABLE, next_step=_RUN),)
    return (_open(access, len(access.read.pairs)),)


def _place(report: SmiReport | None, environment: Environment | None, promise: Promise) -> _Place:
    gpus = report.gpus if report else ()
    bare = environment is not None and environment.cpu_hypervisor is False and not environment.is_container
    whole = all((gpu.mig_mode_current or "").lower() != "enabled" for gpu in gpus)
    boards = [products(gpu.name, gpu.pci_device_id, promise.catalogue.gpus) for gpu in gpus]
    linked = bool(boards) and all(found and all(m.form_class is FormClass.SXM for m in found) for found in boards)
    return _Place(bare and whole and linked, any("geforce" in (gpu.name or "").lower() for gpu in gpus))


def _closed(matrices: list[Topology]) -> dict[tuple[int, int], str]:
    return {(p.first, p.second): p.link for m in matrices for p in m.pairs if m.form == "p2p" and p.link != "OK"}


def _shut(closed: dict[tuple[int, int], str], place: _Place) -> Finding:
    verdict = Verdict.FAIL if place.strict else Verdict.WARN
    words = ", ".join(sorted(set(closed.values())))[:60]
    driver = Text("; the driver of GeForce cards blocks it", "；GeForce 驱动会禁用") if place.geforce else NO_TEXT
    reason = Text(f"{len(closed)} pairs can't reach each other ({words}){driver.en}", f"{len(closed)} 对卡无法互访（{words}）{driver.zh}")
    subjects = [SubjectFinding(f"{a}->{b}", verdict, word, a, Text(word, word)) for (a, b), word in sorted(closed.items())[:64]]
    step = _ASK if place.strict else _LIVE
    return CHECK.finding(verdict, reason, measured=len(closed), unit="pairs", subjects=subjects, reason_code="no_peer_access", next_step=step, better="less")


def _open(access: PeerAccess, pairs: int) -> Finding:
    told = Text(f"all {pairs} pairs may read and write each other", f"全部 {pairs} 对卡可互相读写")
    if access.redirects:
        slots = ", ".join(access.redirects[:4])
        acs = Text(f"{told.en}, but bridges redirect the traffic ({slots})", f"{told.zh}，但有桥重定向流量（{slots}）")
        return CHECK.finding(Verdict.WARN, acs, measured=0, unit="pairs", reason_code="acs_on", next_step=_ACS, better="less")
    unseen = Text("; access control on bridges was not told (root only)", "；桥的访问控制未知（仅 root 可读）") if access.redirects is None else NO_TEXT
    return CHECK.finding(Verdict.PASS, Text(told.en + unseen.en, told.zh + unseen.zh), measured=0, unit="pairs", better="less")
