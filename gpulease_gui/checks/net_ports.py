"""Can all promised ports of the node be reached from here?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.port_reach import MAX_PORTS, PortReach, PortTry

TERM = "network.ports"
_MAX_PORT = 65535
# A number of ports ("3 ports per GPU") and the parts of an address are no port.
_ITEM = re.compile(
    r"(?<![\d.])(\d{1,5})(?:\s*[-–—~～]\s*(\d{1,5})|\s*(?:->|→|:|=>)\s*(\d{1,5}))?(?![\d.])(?!\s*(?:ports?\b|个))", re.I
)

CHECK = Check(
    id="net.ports",
    title=Text("Open ports", "开放端口"),
    why=Text(
        "A service that nobody outside can reach is of no use; a supplier's firewall shows only when one calls.",
        "外部访问不到的服务毫无用处；供应商的防火墙只有真正连一次才看得出来。",
    ),
    facts=("port_reach",),
    terms=(TERM,),
    impact=Impact.ACTIVE,
    level=1,
    ask=Text("Which ports of the node can be reached from outside?", "节点的哪些端口可以从外部访问？"),
    writes=Text("nothing; listens on the promised ports until it was called from here", "不写入；在承诺的端口上监听，直到从本机连通为止"),
    takes_s=10,
)


def promised_ports(words: str) -> tuple[tuple[int, int], ...]:
    """The ports that `words` name, as (outside, inside): `22, 8000-8003, 40022->22`; at most 64, each once.

    >>> promised_ports("22, 8000-8001, 40022->22")
    ((22, 22), (8000, 8000), (8001, 8001), (40022, 22))
    """
    found: dict[int, int] = {}
    for first, last, inside in _ITEM.findall(words):
        low, high = int(first), int(last or first)
        for port in range(low, min(high, low + MAX_PORTS) + 1):
            if 0 < port <= _MAX_PORT and len(found) < MAX_PORTS:
                found.setdefault(port, int(inside) if inside else port)
    return tuple((outside, inside) for outside, inside in found.items() if 0 < inside <= _MAX_PORT)


def judge(reach: PortReach, promise: Promise) -> tuple[Finding, ...]:
    """One finding: how many of the promised ports answer; the ports are its subjects."""
    stated = promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, None),)
    if not reach.ports:
        reason = foreign(reach.trouble) if reach.trouble else _NONE
        return (_finding(Verdict.INCONCLUSIVE, reason, reach, stated.value, reach.code or Reason.NOT_COLLECTED,
                         foreign(reach.next_step) if reach.next_step else _WRITE),)  # fmt: skip
    verdicts = [_verdict(port) for port in reach.ports]
    if Verdict.FAIL in verdicts:
        return (_finding(Verdict.FAIL, _closed(reach), reach, stated.value, "port_closed", _OPEN),)
    if Verdict.INCONCLUSIVE in verdicts:
        return (_finding(Verdict.INCONCLUSIVE, _unsure(reach), reach, stated.value, "port_unsure", _BY_HAND),)
    return (_finding(Verdict.PASS, _all(reach), reach, stated.value, "", NO_TEXT),)


def _verdict(port: PortTry) -> Verdict:
    """Only a port on which our own listener waits can be called closed, and only the node itself open."""
    if port.answer == "ours" or (port.answer == "open" and port.listener == "taken"):
        return Verdict.PASS
    closed = port.answer in ("refused", "timeout", "unreachable")
    return Verdict.FAIL if closed and port.listener == "listening" else Verdict.INCONCLUSIVE


def _names(reach: PortReach, verdict: Verdict) -> str:
    """The ports of one verdict, the first eight by number."""
    ports = [f"{port.outside} ({port.answer})" for port in reach.ports if _verdict(port) is verdict]
    return ", ".join(ports[:8]) + (", …" if len(ports) > 8 else "")


def _closed(reach: PortReach) -> Text:
    names, total = _names(reach, Verdict.FAIL), number_text(len(reach.ports))
    return Text(
        f"of {total} promised ports these can't be reached from here: {names}",
        f"承诺的 {total} 个端口中，以下从本机无法访问：{names}",
    )


def _unsure(reach: PortReach) -> Text:
    names = _names(reach, Verdict.INCONCLUSIVE)
    return Text(
        f"on these ports the node could not listen, or another machine answered: {names}",
        f"以下端口节点无法监听，或应答的不是该节点：{names}",
    )


def _all(reach: PortReach) -> Text:
    total = number_text(len(reach.ports))
    return Text(f"all {total} promised ports answer from here", f"承诺的 {total} 个端口从本机均可访问")


_NONE = Text("the contract's words name no port number", "合同条款里没有端口号")
_WRITE = Text(
    "Write the ports as numbers: 22, 8000-8010, 40022->22 (outside->inside).",
    "请写成数字：22、8000-8010、40022->22（外部->内部）。",
)
_OPEN = Text(
    "Ask the supplier to open them; if ports are mapped, write OUTSIDE->INSIDE in the term; try from another network too.",
    "请供应商开放这些端口；若有端口映射，请在条款中写成 外部->内部；也可换个网络再试。",
)
_BY_HAND = Text(
    "Start a service on the port and call it from outside.", "请在该端口启动一个服务，再从外部访问。"
)


def _finding(verdict: Verdict, reason: Text, reach: PortReach, promised: object, code: str, step: Text) -> Finding:
    subjects = [
        SubjectFinding(str(port.outside), _verdict(port), port.answer, port.outside) for port in reach.ports
    ]
    good = sum(1 for port in reach.ports if _verdict(port) is Verdict.PASS)
    return CHECK.finding(
        verdict, reason, term=TERM, promised=str(promised), measured=good if reach.ports else None, unit="ports",
        subjects=subjects, reason_code=str(code), next_step=step, basis=Basis.MEASURED,
    )  # fmt: skip
