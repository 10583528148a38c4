"""Are the promised Ascend NPUs there, and as many?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_smi import NpuReport
from gpulease_gui.facts.npu_table import Chip

MODEL, COUNT = "npu.model", "npu.count"

CHECK = Check(
    id="npu.inventory",
    title=Text("NPU model and count", "NPU 型号与数量"),
    why=Text(
        "The 910B comes in bins that differ by a third in speed, and the driver can mask which one it is.",
        "910B 分多个档次，性能可差三分之一，而驱动可以隐藏具体档次。",
    ),
    facts=("npu_smi",),
    terms=(MODEL, COUNT),
    vendor=Vendor.ASCEND,
    ask=Text(
        "Which NPU is it exactly (910B1 to B4, 910C), and how many per node?",
        "具体是哪种 NPU（910B1～B4、910C）？每节点几张？",
    ),
)

_MASKED = "ascend910"
_CODES = {Verdict.FAIL: "other_model", Verdict.WARN: "name_masked", Verdict.INCONCLUSIVE: "unknown_model"}


def judge(report: NpuReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding for the model (a subject for each chip) and one for the number of cards."""
    return (_model(report, promise), _count(report, promise.get(COUNT)))


def _key(chip: Chip) -> str:
    return chip.bus_id or f"{chip.npu_id}/{chip.chip_id if chip.chip_id is not None else 0}"


def _model(report: NpuReport, promise: Promise) -> Finding:
    names = ", ".join(dict.fromkeys(chip.name for chip in report.chips))
    stated = promise.get(MODEL)
    if stated is None:
        return CHECK.not_promised(MODEL, names)
    try:
        allowed = promise.catalogue.gpus.promise(str(stated.value)).products
    except UsageError as error:
        return _model_finding(Verdict.INCONCLUSIVE, Text(error.what, error.what), stated, names, [], "unknown_model")
    subjects = [_subject(chip, report, allowed, promise) for chip in report.chips]
    verdict = worst(s.verdict for s in subjects)
    first = next(s.reason for s in subjects if s.verdict is verdict)
    if verdict is Verdict.PASS and report.cut_off:
        return _model_finding(Verdict.INCONCLUSIVE, _CUT, stated, names, subjects, Reason.CUT_OFF)
    code = _CODES.get(verdict, stated.reason_code)
    return _model_finding(verdict, first, stated, names, subjects, code)


def _subject(chip: Chip, report: NpuReport, allowed: tuple[GpuModel, ...], promise: Promise) -> SubjectFinding:
    verdict, reason = _judge_chip(chip, report, allowed, promise)
    return SubjectFinding(_key(chip), verdict, chip.name, chip.npu_id, reason)


def _judge_chip(chip: Chip, report: NpuReport, allowed: tuple[GpuModel, ...], promise: Promise) -> tuple[Verdict, Text]:
    masked = chip.name.lower().replace(" ", "") == _MASKED
    dual = _chips_of(chip, report) == 2
    shown = promise.catalogue.gpus.named(chip.name)
    if masked and not dual:
        return Verdict.WARN, Text(
            "the driver shows only Ascend910: the bin is masked", "驱动只显示 Ascend910：具体档次被隐藏"
        )
    if any(model in allowed for model in shown):
        extra = " (two chips per card: 910C)" if masked else ""
        return Verdict.PASS, Text(
            f"the driver names {chip.name}{extra}", f"驱动显示 {chip.name}{'（每卡两芯片：910C）' if masked else ''}"
        )
    if not shown:
        return Verdict.INCONCLUSIVE, Text(f"the catalogue does not know {chip.name}", f"目录中没有 {chip.name}")
    kind = "Ascend910 with two chips per card, a 910C" if masked else chip.name
    return Verdict.FAIL, Text(
        f"the driver names {kind}, another model was promised", f"驱动显示 {kind}，与承诺型号不符"
    )


def _chips_of(chip: Chip, report: NpuReport) -> int:
    return sum(other.npu_id == chip.npu_id for other in report.chips)


def _count(report: NpuReport, stated: Stated | None) -> Finding:
    cards, chips = report.npu_count, len(report.chips)
    if stated is None:
        return CHECK.not_promised(COUNT, cards, unit="NPUs")
    want = int(stated.number)
    both = Text(f"{cards} cards with {chips} chips; {want} promised", f"{cards} 张卡、{chips} 个芯片；承诺 {want}")
    if cards >= want:
        return _count_finding(Verdict.PASS, both, stated, cards, stated.reason_code, NO_TEXT)
    if report.cut_off:
        return _count_finding(Verdict.INCONCLUSIVE, _CUT, stated, cards, Reason.CUT_OFF, _RUN)
    if chips >= want:
        return _count_finding(Verdict.WARN, both, stated, cards, "chips_counted_as_cards", _ASK_UNIT)
    return _count_finding(Verdict.FAIL, both, stated, cards, "npus_missing", _ASK_MISSING)


_CUT = Text("the table ends early, NPUs may be missing from it", "表格不完整，可能有 NPU 未列出")
_RUN = Text("Run npu-smi info on the node and keep the whole output.", "请在节点上运行 npu-smi info 并保留完整输出。")
_ASK_UNIT = Text(
    "Ask whether the contract counts cards or chips: one 910C card holds two.",
    "请确认合同按卡还是按芯片计数：一张 910C 含两个芯片。",
)
_ASK_MISSING = Text(
    "Ask for the missing NPUs; in a container all /dev/davinci devices must be mapped.",
    "请供应商补齐 NPU；容器内须映射全部 /dev/davinci 设备。",
)
_ASK_BIN = Text(
    "Run npu-smi info -t board -i 0 (product name, board id), and ask for the bin in writing.",
    "请运行 npu-smi info -t board -i 0（产品名、板号），并要求书面确认档次。",
)


def _model_finding(
    verdict: Verdict, reason: Text, stated: Stated, names: str, subjects: list[SubjectFinding], code: str
) -> Finding:
    return CHECK.finding(
        verdict,
        reason,
        term=MODEL,
        promised=stated.value,
        measured=names,
        subjects=subjects,
        reason_code=str(code),
        next_step=NO_TEXT if verdict is Verdict.PASS else _ASK_BIN,
    )


def _count_finding(verdict: Verdict, reason: Text, stated: Stated, cards: int, code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, term=COUNT, promised=stated.value, measured=cards, unit="NPUs", reason_code=str(code),
        next_step=step, better="more",
    )  # fmt: skip
