"""Does every NPU compute as fast as its product should?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks, judged
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.npu_flops import NpuFlops
from gpulease_gui.facts.npu_smi import NpuReport

BANDS = band_marks("npu.flops", 0.85, 0.75, Text("the chip's sheet", "芯片规格"))

CHECK = Check(
    id="npu.flops",
    title=Text("NPU compute", "NPU 算力"),
    why=Text(
        "The bins of the 910B differ by a third, and the driver can hide which one it is: only a test tells.",
        "910B 各档次算力相差三分之一，驱动又可能隐藏档次：只有实测能分辨。",
    ),
    facts=("npu_flops",),
    optional=("npu_smi",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.ASCEND,
    takes_s=60,
    rule_version=2,
    writes=Text("nothing; the NPUs are used alone by the test", "不写入；测试独占 NPU"),
    thresholds=BANDS.both,
)
_AGAIN = Text("stop everything on the NPUs and run it again", "停掉 NPU 上的一切任务后重测")
_ASK = Text("ask the supplier which bin these NPUs are (910B1 to B4), and why they are slow", "请供应商说明 NPU 档次（910B1～B4）以及为何偏慢")
_RUN = Text("run `ascend-dmi -f -t fp16 -d 0 -q` on the node", "在节点上运行 `ascend-dmi -f -t fp16 -d 0 -q`")


def judge(found: NpuFlops, report: NpuReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the slowest device's better test in TFLOPS of FP16."""
    best = _best(found)
    if not best:
        said = Text(f"nothing was measured: {found.trouble}", f"没有测得结果：{found.trouble}")
        return (CHECK.finding(Verdict.INCONCLUSIVE, said, reason_code=found.code or Reason.NOT_COLLECTED, next_step=_RUN, basis=Basis.MEASURED),)
    if dead := [device for device, rates in best.items() if rates and not any(rates)]:
        return (_finding(Verdict.FAIL, _dead(dead), best, 0.0, "nothing_computed", _ASK, dict.fromkeys(dead, Verdict.FAIL)),)
    slowest = min((rates for rates in best.values() if rates), key=max)
    sheet, name = _sheet(report, promise)
    told = Text(f"{number_text(max(slowest))} TFLOPS of FP16", f"FP16 {number_text(max(slowest))} TFLOPS")
    silent = [device for device, rates in best.items() if not rates]
    if sheet is None:
        unknown = Text(f"{told.en}; what this NPU should reach is not known", f"{told.zh}；该 NPU 应达到多少未知")
        return (_finding(Verdict.INCONCLUSIVE, unknown, best, max(slowest), "unknown_model", _ASK, {}),)
    marks = {device: judged(rates, sheet, BANDS.at(promise)) for device, rates in best.items() if rates}
    verdict = worst(v for v, _ in marks.values())
    code = next(c for v, c in marks.values() if v is verdict)
    full = Text(f"{told.en}, {name} has {number_text(sheet)}", f"{told.zh}，{name} 规格为 {number_text(sheet)}")
    if silent and verdict is Verdict.PASS:
        some = Text(f"{full.en}; {len(silent)} devices gave no figure", f"{full.zh}；{len(silent)} 个设备没有结果")
        return (_finding(Verdict.INCONCLUSIVE, some, best, max(slowest), Reason.UNREADABLE, _RUN, {}),)
    step = NO_TEXT if verdict is Verdict.PASS else _AGAIN if code == MEASURED_ONCE else _ASK
    return (_finding(verdict, full, best, max(slowest), code, step, {d: v for d, (v, _) in marks.items()}),)


def _dead(devices: list[int]) -> Text:
    names = ", ".join(f"npu{device}" for device in devices[:8])
    return Text(f"0 TFLOPS on {names}: the tool ended well and nothing was computed", f"{names} 为 0 TFLOPS：工具报告正常结束，却没有任何计算量")


def to_repeat(found: NpuFlops, promise: Promise) -> tuple[str, ...]:
    """`flops` when one device is far behind the fastest of the only test: it is run once more at once."""
    rates = [d.tflops for d in found.tests[0] if d.tflops is not None] if len(found.tests) == 1 else []
    return ("flops",) if rates and min(rates) < promise.limit(BANDS.warns) * max(rates) else ()


def _best(found: NpuFlops) -> dict[int, list[float]]:
    """The figures of each device over all tests."""
    rates: dict[int, list[float]] = {}
    for test in found.tests:
        for device in test:
            rates.setdefault(device.device, []).extend([] if device.tflops is None else [device.tflops])
    return rates if any(rates.values()) else {}


def _sheet(report: NpuReport | None, promise: Promise) -> tuple[float | None, str]:
    """The figure of the one product that all chips are; of two chips in a card nobody says what the tool counts."""
    if report is None or report.cut_off or report.npu_count != len(report.chips):
        return None, ""
    products: set[GpuModel] = {model for chip in report.chips for model in promise.catalogue.gpus.named(chip.name)}
    names = {chip.name for chip in report.chips}
    known = {model.fp16_dense_tflops for model in products}
    return (known.pop(), names.pop()) if len(names) == 1 and len(known) == 1 else (None, "")


def _finding(
    verdict: Verdict, reason: Text, best: dict[int, list[float]], slowest: float, code: str, step: Text, marks: dict[int, Verdict]
) -> Finding:
    subjects = [SubjectFinding(f"npu{d}", marks.get(d, Verdict.INCONCLUSIVE), max(rates, default=None), d) for d, rates in best.items()]
    return CHECK.finding(
        verdict, reason, measured=slowest, unit="TFLOPS", subjects=subjects, reason_code=str(code), next_step=step, basis=Basis.MEASURED, better="more"
    )
