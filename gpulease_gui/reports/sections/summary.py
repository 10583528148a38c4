"""What is the conclusion, and whom does it concern?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Finding, Verdict, totals
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.reports.assemble import report_title
from gpulease_gui.reports.document import Block, Pair, Title, Tone, VerdictBox, Words
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import NOT_STATED, grouped_hash, moment, term_name, value_text, zone_name

SECTION = Section("summary", 10)
_NAMED = 3


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """The title and the verdict box."""
    counts = totals(facts.findings())
    sums = Text(
        f"{sum(counts.values())} checks: {counts[Verdict.FAIL]} fail, {counts[Verdict.INCONCLUSIVE]} inconclusive",
        f"{sum(counts.values())} 项中 {counts[Verdict.FAIL]} 项不符，{counts[Verdict.INCONCLUSIVE]} 项无法判定",
    )
    box = VerdictBox(
        Text("Conclusion", "总体结论"), facts.verdict, (facts.sentence, sums, _coverage(facts), *_unjudged(facts)), tuple(_pairs(facts))
    )
    return Title(report_title(facts), _lines(facts)), box


def _coverage(facts: EvaluationFacts) -> Text:
    judged, stated = facts.coverage()
    if not stated:
        return Text("the contract states no technical promise", "合同未载明任何技术承诺")
    share = 100 * judged // stated
    return Text(f"{judged} of {stated} promises judged, coverage {share} %", f"{stated} 项承诺已判定 {judged} 项，覆盖率 {share} %")


def _unjudged(facts: EvaluationFacts) -> tuple[Text, ...]:
    terms = dict.fromkeys(term for node in facts.verified if node.run for term in node.run.unjudged)
    names = [term_name(term, facts.terms) for term in terms][:_NAMED]
    more = len(terms) - len(names)
    if not names:
        return ()
    en = "not checked: " + ", ".join(name.en for name in names) + (f" and {more} more" if more else "")
    zh = "未检查：" + "、".join(name.zh for name in names) + (f" 等 {len(terms)} 项" if more else "")
    return (Text(en, zh),)


def _lines(facts: EvaluationFacts) -> tuple[Text, ...]:
    runs = [node.run for node in facts.verified if node.run]
    hash_line = foreign(f"SHA-256 {grouped_hash(facts.hash[:16])}")
    made = moment(facts.made_at, facts.zone)
    if not runs:
        return Text(f"made {made}, never verified", f"制表 {made}，从未验收"), hash_line
    begin = min(run.started_at for run in runs).astimezone(facts.zone)
    end = max(run.finished_at or run.started_at for run in runs).astimezone(facts.zone)
    tail = f"{end:%H:%M}" if end.date() == begin.date() else f"{end:%Y-%m-%d %H:%M}"
    stretch = f"{begin:%Y-%m-%d %H:%M} – {tail} {zone_name(facts.zone)}"
    return Text(f"Verified {stretch}", f"验收 {stretch}"), hash_line


def _pairs(facts: EvaluationFacts) -> list[Pair]:
    names = [node.node.name for node in facts.nodes]
    shown = ", ".join(names[:_NAMED])
    more = len(names) - _NAMED
    nodes = Text(shown + (f" and {more} more" if more > 0 else ""), shown + (f" 等 {len(names)} 个" if more > 0 else ""))
    pairs = [
        Pair(Text("Supplier", "供应商"), Words(foreign(facts.supplier.name))),
        Pair(Text("Contract", "合同"), Words(foreign(facts.contract.number))),
        Pair(Text("Nodes", "节点"), Words(nodes) if names else Words(Text("none", "无"), Tone.MISSING)),
        Pair(Text("Promised", "约定"), _promised(facts)),
        Pair(Text("Host key", "主机密钥"), _key(facts)),
        Pair(Text("Found", "实为"), _found(facts)),
        Pair(Text("Term", "租期"), _term(facts)),
        Pair(Text("Program", "程序"), Words(foreign(f"GPULease {facts.tool_version}"))),
    ]
    return pairs


def _term(facts: EvaluationFacts) -> Words:
    contract = facts.contract
    if not contract.start and not contract.end:
        return NOT_STATED
    return Words(foreign(f"{contract.start or '…'} – {contract.end or '…'}"))


def _promised(facts: EvaluationFacts) -> Words:
    model = _model_finding(facts)
    named = model.promised if model and model.promised is not None else facts.promised("gpu.model") or facts.promised("npu.model")
    count = facts.promised("gpu.count") or facts.promised("npu.count")
    if named is None:
        return Words(Text("no model stated", "未约定型号"), Tone.MISSING)
    words = value_text(named)
    return Words(_times(count, words))


def _found(facts: EvaluationFacts) -> Words:
    model = _model_finding(facts)
    if model is None or model.measured is None:
        return Words(Text("not readable", "读不到"), Tone.MISSING)
    several = {f.measured for f in facts.findings() if (f.check, f.term) == (model.check, model.term)}
    words = value_text(model.measured)
    if len(several) > 1:
        words = Text(f"{words.en} and others", f"{words.zh} 等")
    count = next((f.measured for f in facts.findings() if f.term in ("gpu.count", "npu.count")), None)
    tone = Tone.FAIL if model.verdict is Verdict.FAIL else Tone.PLAIN
    return Words(_times(count, words), tone)


def _times(count: object, words: Text) -> Text:
    if isinstance(count, bool) or not isinstance(count, int):
        return words
    return Text(f"{count} × {words.en}", f"{count} × {words.zh}")


def _model_finding(facts: EvaluationFacts) -> Finding | None:
    """The worst one, since the nodes stand failing ones first."""
    return next((f for f in facts.findings() if f.term in ("gpu.model", "npu.model") and f.check.endswith((".model", ".inventory"))), None)


def _key(facts: EvaluationFacts) -> Words:
    seen = [node for node in facts.verified if node.run and node.run.host_key]
    if not seen:
        return Words(Text("none seen", "未见到"), Tone.MISSING)
    pinned = sum(1 for node in seen if node.run and any(line.key == node.run.host_key for line in node.keys))
    if pinned == len(seen):
        return Words(Text("as pinned", "与已固定的一致"))
    return Words(Text(f"pinned on {pinned} of {len(seen)} nodes", f"{len(seen)} 个节点中 {pinned} 个已固定"))
