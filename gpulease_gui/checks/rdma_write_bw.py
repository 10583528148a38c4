"""Does RDMA write as fast as the port says, on every NIC?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MOVED_NOTHING, BandMarks, band_marks, judged
from gpulease_gui.checks.thresholds import Origin
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.ib_pair import IbPair, IbPort

_PORT = Text("the port's own rate", "端口自身速率")
_AZURE = "Azure/azurehpc-health-checks asks for 380 of 400 and 180 of 200 Gbit/s"
_FAST = band_marks("rdma.write_bw", 0.95, 0.85, Text("an InfiniBand port of 400 Gbit/s", "400 Gbit/s InfiniBand 端口"), origin=Origin.PUBLISHED, source=_AZURE, name="ib400")
_ROCE_FAST = band_marks(
    "rdma.write_bw", 0.925, 0.825, Text("a RoCE port of 400 Gbit/s", "400 Gbit/s RoCE 端口"), origin=Origin.PUBLISHED,
    source="NVIDIA/nccl#2409: 392 of 400 Gbit/s; widened", name="roce400",
)  # fmt: skip
_OTHER = band_marks("rdma.write_bw", 0.9, 0.8, Text("any other port", "其他端口"), origin=Origin.PUBLISHED, source=_AZURE)
_INFINIBAND = {400.0: _FAST}
_ROCE = {400.0: _ROCE_FAST}

CHECK = Check(
    id="rdma.write_bw",
    title=Text("RDMA write bandwidth", "RDMA 写带宽"),
    why=Text(
        "One slow rail slows the collective operations of all GPUs.",
        "一条慢 rail 会拖慢所有 GPU 的集合通信。",
    ),
    facts=("ib_pair",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=3,
    writes=Text("memory of the peer only; each RDMA port is full for 10 s", "仅写入对端内存；每个 RDMA 端口占满 10 秒"),
    takes_s=10,
    rule_version=2,
    thresholds=(*_FAST.both, *_ROCE_FAST.both, *_OTHER.both),
)


def judge(pair: IbPair, promise: Promise) -> tuple[Finding, ...]:
    """One finding, its subjects the NICs, each against the rate of its own port (Gbit/s); the better of two tests."""
    if not pair.ports:
        code = pair.code or Reason.NOT_COLLECTED
        reason = Text(f"no RDMA device was tested: {pair.trouble}", f"没有测到 RDMA 设备：{pair.trouble}") if pair.trouble else _NONE
        return (_finding((), reason, code, _INSTALL if code == Reason.MISSING_TOOL else _ASK_DEVICE),)
    subjects = tuple(_subject(port, promise) for port in pair.ports)
    bad = [subject for subject in subjects if subject.verdict is not Verdict.PASS]
    if not bad:
        return (_finding(subjects, _all(subjects), "", NO_TEXT),)
    worst = CHECK.of_subjects(subjects, NO_TEXT).subjects[0]
    code, step = _why(worst, pair)
    told = Text(f"{worst.id}: {worst.reason.en}", f"{worst.id}：{worst.reason.zh}")
    return (_finding(subjects, told, code, step),)


def to_repeat(pair: IbPair, promise: Promise) -> tuple[str, ...]:
    """The devices whose only test would fail: each is measured once more at once."""
    return tuple(port.device for port in pair.ports if len(_rates(port)) == 1 and _low(port, promise))


def _low(port: IbPort, promise: Promise) -> bool:
    return port.rate_gbit_s is not None and _bands(port).at(promise).of(_rates(port)[0], port.rate_gbit_s) is Verdict.FAIL


def _rates(port: IbPort) -> list[float]:
    return [test.gbit_s for test in port.tests if test.gbit_s]


def _bands(port: IbPort) -> BandMarks:
    table = _ROCE if port.layer == "Ethernet" else _INFINIBAND
    return table.get(port.rate_gbit_s or 0.0, _OTHER)


def _subject(port: IbPort, promise: Promise) -> SubjectFinding:
    rates = _rates(port)
    if not rates:
        if port.tests and port.tests[-1].gbit_s == 0:
            return SubjectFinding(port.device, Verdict.FAIL, 0.0, reason=MOVED_NOTHING)
        said = port.tests[-1].trouble if port.tests else ""
        words = Text(f"no rate was measured: {said}", f"没有测得带宽：{said}")
        return SubjectFinding(port.device, Verdict.INCONCLUSIVE, reason=words)
    best = round(max(rates), 1)
    if port.rate_gbit_s is None:
        words = Text(f"{number_text(best)} Gbit/s; the port tells no rate", f"{number_text(best)} Gbit/s；端口未给出速率")
        return SubjectFinding(port.device, Verdict.INCONCLUSIVE, best, reason=words)
    verdict, _ = judged(rates, port.rate_gbit_s, _bands(port).at(promise))
    share, rate = number_text(max(rates) / port.rate_gbit_s * 100, 0), number_text(port.rate_gbit_s)
    words = Text(
        f"{number_text(best)} Gbit/s, {share} % of the port's {rate}", f"{number_text(best)} Gbit/s，为端口速率 {rate} 的 {share}%"
    )
    return SubjectFinding(port.device, verdict, best, reason=words)


def _why(worst: SubjectFinding, pair: IbPair) -> tuple[str, Text]:
    if worst.verdict is not Verdict.INCONCLUSIVE:
        return "rate_low", _SLOW
    port = next(port for port in pair.ports if port.device == worst.id)
    code = (port.tests[-1].code if port.tests else "") or str(Reason.UNREADABLE)
    return code, _INSTALL if code == Reason.MISSING_TOOL else _ASK_DEVICE


def _all(subjects: tuple[SubjectFinding, ...]) -> Text:
    count, least = number_text(len(subjects)), number_text(min(float(s.measured or 0) for s in subjects))
    return Text(
        f"all {count} NICs write as fast as their ports should; the slowest {least} Gbit/s",
        f"全部 {count} 个网卡的写带宽都达到端口应有水平，最慢 {least} Gbit/s",
    )


_NONE = Text("no RDMA device was tested", "没有测到 RDMA 设备")
_INSTALL = Text(
    "Install the RDMA tools on both nodes: apt-get install -y perftest",
    "请在两个节点上安装 RDMA 工具：apt-get install -y perftest",
)
_ASK_DEVICE = Text(
    "Ask the supplier which RDMA devices the container or machine gets, and whether both nodes are on one fabric.",
    "请询问供应商该容器或机器能用哪些 RDMA 设备，两节点是否在同一网络。",
)
_SLOW = Text(
    "Run it again bound to the NUMA node of the NIC (numactl), then show the supplier the slow port.",
    "请用 numactl 绑定到网卡所在的 NUMA 节点再测，然后向供应商出示偏慢的端口。",
)


def _finding(subjects: tuple[SubjectFinding, ...], reason: Text, code: str, step: Text) -> Finding:
    rates = [float(s.measured) for s in subjects if isinstance(s.measured, float)]
    return CHECK.of_subjects(
        subjects, reason, measured=min(rates, default=None), unit="Gbit/s", reason_code=str(code), next_step=step,
        basis=Basis.MEASURED, better="more",
    )  # fmt: skip
