"""Are the promised RDMA ports up, at the promised rate?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.net_links import NetLinks, RdmaPort

PORTS, RATE, KIND = "rdma.ports", "rdma.gbit_s", "network.kind"

TOLERANCE = Threshold(
    "rdma.ports", "tolerance", 0.01, SHARE, Text("a port is slow if below the promised rate by more than", "端口速率低于承诺超过此比例即偏慢"), ">",
    high=0.5, terms=(RATE,),
)  # fmt: skip

CHECK = Check(
    id="rdma.ports",
    title=Text("RDMA ports", "RDMA 端口"),
    why=Text(
        "One rail of eight that is down, or trained at half its rate, slows the whole cluster.",
        "八轨中有一轨断开或只协商到一半速率，就会拖慢整个集群。",
    ),
    facts=("net_links",),
    terms=(PORTS, RATE, KIND),
    ask=Text("How many RDMA ports are there, and at which rate?", "有多少个 RDMA 端口？速率是多少？"),
    thresholds=(TOLERANCE,),
)
_LAYERS = {"infiniband": "InfiniBand", "roce": "Ethernet"}
_ASK = Text("ask the supplier to bring the ports up at the promised rate", "请供应商按承诺速率启用端口")
_RUN = Text("run `ibstat` on the host, or ask the supplier for it", "在宿主机上运行 `ibstat`，或向供应商索取")


def judge(net: NetLinks, promise: Promise) -> tuple[Finding, ...]:
    """One finding for the count, one for the rate of the ports counted, one for the kind where RDMA was promised."""
    ports, kind = promise.get(PORTS), promise.get(KIND)
    up = [port for port in net.rdma if port.active]
    findings = [_count(net, up, ports), _rate(net, up, promise)]
    if kind is not None:
        findings.append(_kind(net, up, str(kind.value), kind))
    return tuple(findings)


def _unseen(net: NetLinks, stated: Stated, term: str, unit: str) -> Finding | None:
    """Nothing to see is no proof that nothing is there."""
    if net.rdma_visible and net.rdma:
        return None
    hidden = Text("no RDMA port is visible here (driver missing, or a container)", "此处看不到 RDMA 端口（缺少驱动，或在容器内）")
    return CHECK.finding(
        Verdict.INCONCLUSIVE, hidden, term=term, promised=stated.value, unit=unit, reason_code="not_visible", next_step=_RUN
    )


def _count(net: NetLinks, up: list[RdmaPort], stated: Stated | None) -> Finding:
    if stated is None:
        return CHECK.not_promised(PORTS, len(up) if net.rdma_visible else None, unit="ports")
    if hidden := _unseen(net, stated, PORTS, "ports"):
        return hidden
    want, unknown = int(stated.number), sum(port.active is None for port in net.rdma)
    told = Text(f"{len(up)} of {len(net.rdma)} ports are up, {want} promised", f"{len(net.rdma)} 个端口中 {len(up)} 个已启用，承诺 {want}")
    subjects = [_port(port, enough=len(up) >= want) for port in net.rdma]
    if len(up) >= want:
        return _finding(Verdict.PASS, told, PORTS, stated, len(up), "ports", subjects, stated.reason_code)
    if len(up) + unknown >= want:
        return _finding(Verdict.INCONCLUSIVE, told, PORTS, stated, len(up), "ports", subjects, Reason.UNREADABLE, _RUN)
    return _finding(Verdict.FAIL, told, PORTS, stated, len(up), "ports", subjects, "ports_down", _ASK)


def _port(port: RdmaPort, *, enough: bool) -> SubjectFinding:
    rate = f"{number_text(port.rate_gbit_s)} Gbit/s" if port.rate_gbit_s is not None else "?"
    if port.active:
        return SubjectFinding(port.name, Verdict.PASS, port.rate_gbit_s, None, Text(f"up, {rate}", f"已启用，{rate}"))
    verdict = Verdict.INCONCLUSIVE if port.active is None else Verdict.FAIL
    # A port that is down beside enough others was never rented.
    return SubjectFinding(port.name, Verdict.NOT_APPLICABLE if enough else verdict, None, None, Text("not up", "未启用"))


def _rate(net: NetLinks, up: list[RdmaPort], promise: Promise) -> Finding:
    stated, ports = promise.get(RATE), promise.get(PORTS)
    fastest = sorted(up, key=lambda p: -(p.rate_gbit_s or 0))
    counted = fastest[: int(ports.number)] if ports else fastest
    rates = [p.rate_gbit_s for p in counted if p.rate_gbit_s is not None]
    slowest = min(rates, default=None)
    if stated is None:
        return CHECK.not_promised(RATE, slowest, unit="Gbit/s")
    if hidden := _unseen(net, stated, RATE, "Gbit/s"):
        return hidden
    least = stated.number * (1 - promise.limit(TOLERANCE))
    subjects = [_speed(port, least) for port in counted]
    if not counted:
        down = Text("no port is up, so none has a rate", "没有已启用的端口，无速率可言")
        return _finding(Verdict.FAIL, down, RATE, stated, None, "Gbit/s", subjects, "ports_down", _ASK)
    if len(rates) < len(counted):
        unknown = Text("the rate of a port was not told", "有端口未给出速率")
        return _finding(Verdict.INCONCLUSIVE, unknown, RATE, stated, slowest, "Gbit/s", subjects, Reason.UNREADABLE, _RUN)
    told = Text(
        f"the slowest of {len(counted)} ports runs at {number_text(min(rates))} Gbit/s, {number_text(stated.number)} promised",
        f"{len(counted)} 个端口中最慢的为 {number_text(min(rates))} Gbit/s，承诺 {number_text(stated.number)}",
    )
    if min(rates) >= least:
        return _finding(Verdict.PASS, told, RATE, stated, slowest, "Gbit/s", subjects, stated.reason_code)
    return _finding(Verdict.FAIL, told, RATE, stated, slowest, "Gbit/s", subjects, "slow_port", _ASK)


def _speed(port: RdmaPort, least: float) -> SubjectFinding:
    if port.rate_gbit_s is None:
        return SubjectFinding(port.name, Verdict.INCONCLUSIVE)
    slow = port.rate_gbit_s < least
    return SubjectFinding(port.name, Verdict.FAIL if slow else Verdict.PASS, port.rate_gbit_s)


def _kind(net: NetLinks, up: list[RdmaPort], wanted: str, stated: Stated) -> Finding:
    layer = _LAYERS.get(wanted)
    found = sorted({port.link_layer or "?" for port in up})
    shown = ", ".join(found) or None
    if layer is None:
        plain = Text("plain Ethernet was promised, no RDMA is needed", "承诺的是普通以太网，无需 RDMA")
        return _finding(Verdict.NOT_APPLICABLE, plain, KIND, stated, shown, "", [], "")
    if hidden := _unseen(net, stated, KIND, ""):
        return hidden
    told = Text(f"active RDMA ports speak {shown or '-'}; {wanted} promised", f"已启用的 RDMA 端口为 {shown or '-'}；承诺 {wanted}")
    if layer in found:
        return _finding(Verdict.PASS, told, KIND, stated, shown, "", [], stated.reason_code)
    verdict = Verdict.WARN if wanted == "roce" and "InfiniBand" in found else Verdict.FAIL
    return _finding(verdict, told, KIND, stated, shown, "", [], "other_kind", _ASK)


def _finding(
    verdict: Verdict, reason: Text, term: str, stated: Stated, measured: float | str | None, unit: str, subjects: list[SubjectFinding],
    code: str, step: Text = NO_TEXT,
) -> Finding:  # fmt: skip
    return CHECK.finding(
        verdict, reason, term=term, promised=stated.value, measured=measured, unit=unit, subjects=subjects, reason_code=str(code),
        next_step=step, better="more" if unit else None,
    )  # fmt: skip
