"""Who signs that this is what was found?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.reports.document import Block, Pair, Paragraph, SignOff, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.reports.section import Section

SECTION = Section("sign_off", 100, Text("Sign-off", "签字确认"))


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """Lines for both parties under one sentence that names the hash."""
    words = Text(
        f"The undersigned have seen this evaluation of contract {facts.contract.number}; the hash stands for its findings: {facts.hash}",
        f"双方已阅合同 {facts.contract.number} 的本评估报告；其检查结果由下列哈希值标识：{facts.hash}",
    )
    parties = (
        Pair(Text("Supplier", "供应商"), Words(foreign(facts.supplier.name))),
        Pair(Text("Renter", "承租方"), Words(Text("", ""), Tone.PLAIN)),
    )
    fields = (Text("Name", "姓名"), Text("Signature and seal", "签字盖章"), Text("Date", "日期"))
    return Paragraph(words), SignOff(parties, fields)
