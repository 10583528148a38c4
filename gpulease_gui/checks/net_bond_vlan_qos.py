"""What is the promised bandwidth made of?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.net_shape import NetShape, Shaper

TERM = "network.gbit_s"

CHECK = Check(
    id="net.bond_vlan_qos",
    title=Text("Bundles and shapers", "聚合与限速"),
    why=Text(
        "Four ports of 25 bundled and sold as 100 carry one stream at 25; a shaper caps what the port could do.",
        "四个 25G 聚合当 100G 卖，单流只有 25G；限速规则会压低端口能力。",
    ),
    facts=("net_shape",),
    terms=(TERM,),
    ask=Text("Is the bandwidth one port or a bundle, and is it shaped?", "带宽是单端口还是聚合？是否限速？"),
)
_ASK = Text("ask the supplier to lift the shaper, or to correct the offer", "请供应商取消限速，或更正报价")
_STREAMS = Text("one stream gets one port of the bundle: measure with several streams", "单流只走聚合中的一个端口：请用多流实测")
_RUN = Text("run `tc qdisc show; tc class show` on the host; only a long measurement shows a shaper of the switch",
            "在宿主机上运行 `tc qdisc show; tc class show`；交换机侧限速只有长时间实测才能看出")  # fmt: skip


def judge(shape: NetShape, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest shaper in Gbit/s, else None. A shaper of the switch can't be seen here."""
    stated = promise.get(TERM)
    shapers = shape.shapers or ()
    slowest = min((s.gbit_s for s in shapers if s.gbit_s is not None), default=None)
    if stated is None:
        return (CHECK.not_promised(TERM, slowest, unit="Gbit/s"),)
    return (_judged(shape, shapers, slowest, stated),)


def _judged(shape: NetShape, shapers: tuple[Shaper, ...], slowest: float | None, stated: Stated) -> Finding:
    subjects = [_shaper(s, stated) for s in shapers] + [
        SubjectFinding(b.name, Verdict.WARN if len(b.members) > 1 else Verdict.PASS, b.mode, None, _members(b.members)) for b in shape.bonds
    ]
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.PASS
    if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE) and shape.shapers is None:
        unseen = Text("whether the node shapes its traffic can't be seen (tc and ip missing)", "看不到节点是否限速（缺少 tc 与 ip）")
        return _finding(Verdict.INCONCLUSIVE, unseen, stated, slowest, subjects, "tool_missing", _RUN)
    if verdict is Verdict.PASS:
        # The absence of a brake is no speed: this pass speaks of no term and proves no promise.
        free = Text("no shaper and no bundle on this node", "该节点没有限速和聚合") if not shape.by_links else Text(
            "no port is shaped at its outermost queue, and none is a bundle (tc is missing)", "各端口最外层队列没有限速，也没有聚合（缺少 tc）"
        )  # fmt: skip
        return CHECK.finding(verdict, free, measured=slowest if slowest is not None else "none", subjects=subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    reason = Text(f"{first.id}: {first.reason.en}", f"{first.id}：{first.reason.zh}")
    code = {Verdict.FAIL: "shaped", Verdict.WARN: "bundle"}.get(verdict, "rate_unknown")
    step = {Verdict.FAIL: _ASK, Verdict.WARN: _STREAMS}.get(verdict, _RUN)
    return _finding(verdict, reason, stated, slowest, subjects, code, step)


def _members(members: tuple[str, ...]) -> Text:
    names = ", ".join(members[:8])
    return Text(f"a bundle of {names}", f"由 {names} 聚合")


def _shaper(shaper: Shaper, stated: Stated) -> SubjectFinding:
    name = f"{shaper.device} {shaper.kind}"[:80]
    if shaper.gbit_s is None:
        return SubjectFinding(name, Verdict.INCONCLUSIVE, None, None, Text("a shaper whose rate is not told", "限速规则未给出速率"))
    told = Text(f"shaped to {number_text(shaper.gbit_s, 3)} Gbit/s", f"限速 {number_text(shaper.gbit_s, 3)} Gbit/s")
    return SubjectFinding(name, Verdict.FAIL if shaper.gbit_s < stated.number else Verdict.PASS, shaper.gbit_s, None, told)


def _finding(
    verdict: Verdict, reason: Text, stated: Stated, slowest: float | None, subjects: list[SubjectFinding], code: str, step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=slowest, unit="Gbit/s", subjects=subjects, reason_code=code,
        next_step=step, better="more",
    )  # fmt: skip
