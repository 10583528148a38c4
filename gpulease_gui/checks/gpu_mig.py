"""Are the cards whole, or cut into the promised slices?"""

from __future__ import annotations

from collections import Counter

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.mig_profiles import Slice, alike, counted, named, words_of
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.mig import Mig
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

WHOLE, PROFILES = "gpu.whole", "gpu.mig"
FULL_SIZE = 7

CHECK = Check(
    id="gpu.mig",
    title=Text("MIG slices", "MIG 切片"),
    why=Text(
        "A seventh of an H100 still calls itself H100; only the slices tell.",
        "七分之一张 H100 仍自称 H100，只有切片信息能看出来。",
    ),
    facts=("smi_xml",),
    optional=("smi_list", "mig"),
    terms=(WHOLE, PROFILES),
    vendor=Vendor.NVIDIA,
    ask=Text("Do we get whole cards, or MIG slices, and which?", "交付的是整卡还是 MIG 切片？什么规格？"),
)
_RUN = Text("run `nvidia-smi -L` on the node", "在节点上运行 `nvidia-smi -L`")
_ASK = Text("ask the supplier for whole cards, or for the price of the slices", "请供应商交付整卡，或按切片计价")
_OFF = Text("switch MIG off as root: `nvidia-smi -mig 0`", "以 root 关闭 MIG：`nvidia-smi -mig 0`")


def judge(report: SmiReport, listed: SmiList | None, mig: Mig | None, promise: Promise) -> tuple[Finding, ...]:
    """A finding for gpu.whole and one for gpu.mig, whichever is stated; the first if none is."""
    slices = _slices(listed, mig)
    whole, profiles = promise.get(WHOLE), promise.get(PROFILES)
    found = [_profiles(report, slices, profiles)] if profiles else []
    if whole is None:
        return (*found, CHECK.not_promised(WHOLE, _is_whole(report))) if not found else tuple(found)
    return (_whole(report, slices, whole), *found)


def _slices(listed: SmiList | None, mig: Mig | None) -> dict[int | None, Counter[Slice]] | None:
    """Slices by card index; None if neither source answered."""
    if listed is not None and (listed.mig_devices or mig is None or not mig.instances):
        cards: set[int | None] = {d.gpu for d in listed.mig_devices}
        return {card: counted(d.profile for d in listed.mig_devices if d.gpu == card) for card in cards}
    if mig is None:
        return None
    return {i.gpu: counted(j.profile for j in mig.instances if j.gpu == i.gpu) for i in mig.instances}


def _is_whole(report: SmiReport) -> bool | None:
    modes = {(gpu.mig_mode_current or "").lower() for gpu in report.gpus}
    return True if modes == {"disabled"} else False if "enabled" in modes else None


def _whole(report: SmiReport, slices: dict[int | None, Counter[Slice]] | None, stated: Stated) -> Finding:
    shown = words_of(sum((slices or {}).values(), Counter())) if slices else ""
    if stated.value is False:
        slicing = Text(f"the contract rents slices ({shown or '-'})", f"合同租用的是切片（{shown or '-'}）")
        return CHECK.finding(Verdict.NOT_APPLICABLE, slicing, term=WHOLE, promised=False, measured=_is_whole(report))
    subjects = [_card(gpu, slices) for gpu in report.gpus]
    verdict = worst(s.verdict for s in subjects)
    first = next((s.reason for s in subjects if s.verdict is verdict), NO_TEXT)
    torn = any("disabled" == (g.mig_mode_current or "").lower() and (slices or {}).get(g.index) for g in report.gpus)
    code = {Verdict.FAIL: str(Reason.INCONSISTENT) if torn else "sliced", Verdict.WARN: "mig_on", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}.get(verdict, stated.reason_code)
    step = {Verdict.FAIL: _ASK, Verdict.WARN: _OFF, Verdict.INCONCLUSIVE: _RUN}.get(verdict, NO_TEXT)
    return CHECK.finding(
        verdict, first, term=WHOLE, promised=stated.value, measured=_is_whole(report), subjects=subjects, reason_code=code, next_step=step
    )


def _card(gpu: Gpu, slices: dict[int | None, Counter[Slice]] | None) -> SubjectFinding:
    verdict, reason = _judged(gpu, slices)
    return SubjectFinding(gpu.key, verdict, gpu.mig_mode_current, gpu.index, reason)


def _judged(gpu: Gpu, slices: dict[int | None, Counter[Slice]] | None) -> tuple[Verdict, Text]:
    now, later = (gpu.mig_mode_current or "").lower(), (gpu.mig_mode_pending or "").lower()
    own = (slices or {}).get(gpu.index, Counter())
    if now == "disabled" and not own and not gpu.mig_devices:
        if later == "enabled":
            return Verdict.WARN, Text("MIG goes on at the next reset", "下次复位后将开启 MIG")
        return Verdict.PASS, Text("whole card, MIG is off", "整卡，MIG 关闭")
    if own and (len(own) > 1 or max(own).parts < FULL_SIZE):
        return Verdict.FAIL, Text(f"the card is cut into {words_of(own)}", f"该卡被切分为 {words_of(own)}")
    if now == "enabled" and (slices is None or (gpu.mig_devices and not own)):
        return Verdict.INCONCLUSIVE, Text("MIG is on, its slices were not told", "MIG 已开启，但未给出切片")
    if now == "enabled":
        return Verdict.WARN, Text("MIG is on without smaller slices", "MIG 已开启，但没有更小的切片")
    if not now and not gpu.error_fields and not own:
        return Verdict.PASS, Text("this card has no MIG", "该卡没有 MIG 功能")
    return Verdict.INCONCLUSIVE, Text("the driver does not tell whether MIG is on", "驱动未说明 MIG 是否开启")


def _profiles(report: SmiReport, slices: dict[int | None, Counter[Slice]] | None, stated: Stated) -> Finding:
    wanted = named(str(stated.value))
    found = sum((slices or {}).values(), Counter())
    both = Text(f"{words_of(found)} are there, {words_of(wanted)} promised", f"现有 {words_of(found)}，承诺 {words_of(wanted)}")
    if not wanted:
        words = Text(f"the promise names no MIG profile: {str(stated.value)[:80]}", f"承诺中没有 MIG 规格：{str(stated.value)[:80]}")
        return _profile(Verdict.INCONCLUSIVE, words, stated, None, "promise_unclear", CHECK.ask)
    if slices is None or (not found and _is_whole(report) is not True):
        return _profile(Verdict.INCONCLUSIVE, Text("the slices were not told", "未给出切片"), stated, None, Reason.UNREADABLE, _RUN)
    if alike(found, wanted):
        return _profile(Verdict.PASS, both, stated, words_of(found), stated.reason_code, NO_TEXT)
    if not found:
        whole = Text("whole cards are there, slices were promised", "现为整卡，承诺的是切片")
        return _profile(Verdict.WARN, whole, stated, "whole", "not_sliced", NO_TEXT)
    return _profile(Verdict.FAIL, both, stated, words_of(found), "other_profiles", _ASK)


def _profile(verdict: Verdict, reason: Text, stated: Stated, measured: str | None, code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, term=PROFILES, promised=stated.value, measured=measured, reason_code=str(code), next_step=step
    )
