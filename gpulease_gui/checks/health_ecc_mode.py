"""Is the error correction of the memory switched on, and does it stay on?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import has_hbm
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.health_ecc_uncorrected import is_geforce
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "gpu.ecc"

CHECK = Check(
    id="health.ecc_mode",
    title=Text("ECC switched on", "ECC 已开启"),
    why=Text(
        "With ECC off a card shows a little more memory and hides that the memory is bad.",
        "关闭 ECC 会多出一点显存，也会掩盖显存故障。",
    ),
    facts=("smi_xml",),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    ask=Text("Is ECC on for every GPU?", "每张 GPU 是否都开启 ECC？"),
)
_SWITCH_ON = Text("ask the supplier to run `nvidia-smi -e 1` and to restart the node", "请供应商执行 `nvidia-smi -e 1` 并重启节点")
_READ = Text("run `nvidia-smi -q -d ECC` on the node", "在节点上运行 `nvidia-smi -q -d ECC`")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards: the mode now and after the next restart; measured is Enabled or Disabled."""
    stated = promise.get(TERM)
    marks = [(gpu, _mark(gpu, promise, stated.value if stated else None)) for gpu in report.gpus]
    if not marks:
        return ()
    return (finding_of(CHECK, marks, term=TERM if stated else None, promised=stated.value if stated else None),)


def _mark(gpu: Gpu, promise: Promise, wanted: object) -> Mark:
    now, later = (gpu.ecc_mode_current or "").lower(), (gpu.ecc_mode_pending or "").lower()
    if "disabled" in (now, later):
        return _off(gpu, promise, wanted, now == "disabled")
    if now == "enabled":
        return _on(gpu, wanted, later == "enabled")
    if not now and wanted is not True and is_geforce(gpu) and not gpu.error_fields:
        return Mark(Verdict.NOT_APPLICABLE, Text("this card has no ECC switch", "该卡没有 ECC 开关"))
    return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell whether ECC is on", "驱动未说明 ECC 是否开启"), "unreadable", None, _READ)


def _on(gpu: Gpu, wanted: object, stays: bool) -> Mark:
    if not stays:
        told = Text("ECC is on; whether it stays on after a restart is not told", "ECC 已开启；重启后是否保持未说明")
        return Mark(Verdict.INCONCLUSIVE, told, "unreadable", "Enabled", _READ)
    if wanted is False:
        return Mark(Verdict.WARN, Text("ECC is on, the contract says off", "ECC 已开启，合同写明关闭"), "ecc_on", "Enabled")
    return Mark(Verdict.PASS, Text("ECC is on and stays on", "ECC 已开启且重启后保持"), "", "Enabled")


def _off(gpu: Gpu, promise: Promise, wanted: object, now: bool) -> Mark:
    told = Text("ECC is off", "ECC 已关闭") if now else Text("ECC goes off at the next restart", "下次重启后 ECC 将关闭")
    shown = "Disabled" if now else gpu.ecc_mode_current or "?"
    if wanted is False:
        return Mark(Verdict.PASS, Text(f"{told.en}, as the contract says", f"{told.zh}，与合同一致"), "", shown)
    if wanted is True or has_hbm(gpu, promise):
        return Mark(Verdict.FAIL, told, "ecc_off", shown, _SWITCH_ON)
    if is_geforce(gpu):
        return Mark(Verdict.NOT_APPLICABLE, Text("this card is delivered without ECC", "该卡出厂不启用 ECC"), "", shown)
    return Mark(Verdict.WARN, Text(
        f"{told.en}; it can be switched on at the cost of a sixteenth of the memory", f"{told.zh}；可以开启，代价是十六分之一显存"
    ), "ecc_off", shown, _SWITCH_ON)  # fmt: skip
