"""An evaluation that was made by hand: one failing node with many findings, one that was never verified."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.claim import Claim
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Blank, Curve
from gpulease_gui.reports.facts import (
    Device,
    EvaluationFacts,
    EvidenceLine,
    KeyLine,
    LiveStretch,
    NodeFacts,
    RunFacts,
)
from gpulease_gui.reports.run_hash import joint_hash, run_hash

START = datetime(2026, 3, 2, 7, 30, 5, tzinfo=UTC)
KEY = HostKey("ssh-ed25519", "SHA256:pQ0rS1tU2vW3xY4zA5bC6dE7fG8hJ9kL0mN1oP2qR3s")
DEVICES = tuple(Device(n, "NVIDIA H100 PCIe", f"GPU-5a1e000{n}-77aa-4b1c-9d2e-0123456789ab", f"16500{n}") for n in range(8))


def digest(word: str) -> str:
    return sha256(word.encode()).hexdigest()


def subject(device: Device, verdict: Verdict, measured: float | str) -> SubjectFinding:
    return SubjectFinding(device.uuid or "", verdict, measured, device.index, Text("below", "偏低"))


BANDWIDTH = Finding(
    "net.iperf_multi", Verdict.FAIL, Text("24.6 Gbit/s arrived", "实收 24.6 Gbit/s"), "network.gbit_s", 100, 24.63, "Gbit/s",
    next_step=Text("ask for the switch port", "请核对交换机端口"), basis=Basis.MEASURED, required=True,
    evidence=(digest("iperf"),), direction="target->peer",
)  # fmt: skip
POWER = Finding(
    "power.limit", Verdict.FAIL, Text("limited to 350 W", "上限为 350 W"), "gpu.power_w", 700, 350.0, "W",
    tuple(subject(device, Verdict.FAIL, 350.0) for device in DEVICES), "capped", Text("lift the limit", "恢复功耗上限"),
    required=True, evidence=(digest("smi"),),
)  # fmt: skip
DENIED = Finding(
    "health.xid", Verdict.INCONCLUSIVE, Text("the kernel log was denied", "无权读取内核日志"), reason_code=Reason.DENIED,
    next_step=Text("ask for the kernel log", "请提供内核日志"), required=True, evidence=(digest("dmesg"),),
)  # fmt: skip
UNPROMISED = Finding(
    "cpu.quota", Verdict.INCONCLUSIVE, Text("nobody promised this", "没有人承诺过这一项"), "cpu.cores", None, 128, "cores",
    reason_code=Reason.NOT_PROMISED, next_step=Text("how many cores are usable?", "可用多少核？"), evidence=(digest("cpu"),),
)  # fmt: skip
COLDER = Finding(
    "ram.total", Verdict.WARN, Text("a difference of -12.5", "相差 -12.5"), "ram_gb", 2048, -12.5, "GiB", required=True,
    evidence=(digest("ram"),),
)  # fmt: skip
GOOD = Finding(
    "gpu.count", Verdict.PASS, Text("8 cards", "8 张卡"), "gpu.count", 8, 8, "GPUs", required=True, evidence=(digest("smi"),)
)


def many(count: int) -> tuple[Finding, ...]:
    """`count` findings of all verdicts, each with a name and figures of its own."""
    ids = sorted(rules())
    verdicts = (Verdict.PASS, Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE)
    return tuple(
        Finding(
            ids[n % len(ids)], verdicts[n % 4], Text(f"reason number {n}", f"第 {n} 条原因"), None, 100 + n, 31.25 + n, "GB/s",
            required=True, evidence=(digest(str(n)),), direction=f"way {n:02d}",
        )
        for n in range(count)
    )  # fmt: skip


def run_of(findings: Iterable[Finding], **changes: object) -> RunFacts:
    kept = tuple(findings)
    evidence = tuple(
        EvidenceLine(fact, command, START + timedelta(seconds=n), code, digest(fact))
        for n, (fact, command, code) in enumerate([("smi_xml", "nvidia-smi -q -x", 0), ("dmesg", "dmesg --time-format iso", 1)])
    )
    run = RunFacts(
        "run-1", START, START + timedelta(minutes=6), Verdict.FAIL, kept, evidence,
        run_hash("run-1", kept, [line.sha256 for line in evidence]), "0.1.0", KEY, -2.5, DEVICES, "535.183.01", "12.2",
    )  # fmt: skip
    return replace(run, **changes)  # type: ignore[arg-type]


def stretch() -> LiveStretch:
    """Ten minutes of a link that falls from 97 to 25 Gbit/s, with a gap of 81 s."""
    begin = START.timestamp()
    times = [begin + n for n in range(600) if not 300 < n < 381]
    values = tuple(97.0 if at < begin + 60 else 25.0 for at in times)
    curve = Curve("eth2", tuple(times), values, values)
    gap = Blank(begin + 300, begin + 381, Text("connection lost", "连接中断"))
    return LiveStretch(Text("Sent", "发送"), "Gbit/s", (curve,), begin, begin + 600, 100.0, (gap,))


def node_of(findings: Iterable[Finding], **changes: object) -> NodeFacts:
    node = Node("n7", "node-07", address=Address("203.0.113.7", 2222), contract_id="c1")
    keys = (KeyLine(KEY, Text("trusted", "信任"), START - timedelta(days=1), "fingerprint from the supplier"),)
    return NodeFacts(node, run_of(findings, **changes), keys, (stretch(),))


def facts_of(*nodes: NodeFacts, **changes: object) -> EvaluationFacts:
    facts = EvaluationFacts(
        Supplier("s1", "海穹算力 Skyvault", "CN", "ops@skyvault.example"),
        Contract("c1", "s1", "HT-2026-118", start=date(2026, 3, 1), end=date(2026, 9, 1)),
        (Claim("gpu.count", 8), Claim("network.gbit_s", 100), Claim("gpu.power_w", 700), Claim("sla.uptime", 99.9)),
        nodes, Verdict.FAIL, Text("0 of 2 accepted", "2 个节点中 0 个通过验收"), joint_hash(n.run.hash for n in nodes if n.run),
        START + timedelta(hours=1), load_catalogue().terms, ("sla.uptime",), 8 * 3600, "0.1.0",
    )  # fmt: skip
    return replace(facts, **changes)  # type: ignore[arg-type]


def usual(**changes: object) -> EvaluationFacts:
    """The failing node beside one that was never verified."""
    never = NodeFacts(Node("n8", "node-08", address=Address("203.0.113.8"), contract_id="c1"))
    return facts_of(node_of((BANDWIDTH, POWER, DENIED, UNPROMISED, COLDER, GOOD)), never, **changes)
