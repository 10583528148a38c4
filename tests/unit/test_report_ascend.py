"""Does the report tell a renter of Ascend nodes what moving from CUDA means, and nobody else?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Pairs, Paragraph, SubHeading
from gpulease_gui.reports.sections import ascend
from tests.unit.report_facts import GOOD, facts_of, node_of, usual

COUNT = Finding(
    "npu.inventory", Verdict.INCONCLUSIVE, Text("nobody promised this", "没有人承诺过这一项"), "npu.count", None, 8, "NPUs",
    reason_code=Reason.NOT_PROMISED,
)  # fmt: skip
SET = Finding("npu.versions", Verdict.PASS, Text("driver 24.1, firmware 7.3, CANN 8.0", "驱动 24.1、固件 7.3、CANN 8.0"), None, None, "x")
LINKS = Finding("npu.pcie", Verdict.FAIL, Text("1 of 28 pairs are not joined by HCCS (PIX)", "28 对中有 1 对不是 HCCS（PIX）"))


def test_that_an_ascend_node_gets_its_set_and_the_hint_that_cann_is_not_cuda() -> None:
    heading, pairs, moving, counting = ascend.build(facts_of(node_of([COUNT, SET, LINKS])))
    assert isinstance(heading, SubHeading) and isinstance(pairs, Pairs)
    assert [pair.value.text.en for pair in pairs.pairs] == ["8 NPUs", SET.reason.en, LINKS.reason.en, "not read"]
    assert isinstance(moving, Paragraph) and moving.text.en.startswith("CANN is not CUDA") and "torch_npu" in moving.text.zh
    assert isinstance(counting, Paragraph) and "910C" in counting.text.en


def test_that_a_node_with_gpus_gets_no_word_of_it() -> None:
    silent = Finding("npu.inventory", Verdict.NOT_APPLICABLE, Text("other", "其他"), reason_code=Reason.OTHER_VENDOR)
    assert ascend.build(usual()) == () and ascend.build(facts_of(node_of([GOOD, silent]))) == ()
