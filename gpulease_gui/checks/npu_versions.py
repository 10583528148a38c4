"""Is CANN new enough, and do driver, firmware and CANN fit together?"""

from __future__ import annotations

import re

from gpulease_gui.catalog.cuda import at_least, version_key
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_versions import NpuVersions

TERM = "cann.min"

CHECK = Check(
    id="npu.versions",
    title=Text("Ascend software versions", "Ascend 软件版本"),
    why=Text(
        "Driver, firmware and CANN come in sets; a wrong mix fails in the middle of a model. CANN is not CUDA.",
        "驱动、固件与 CANN 需配套；混搭会在模型中途报错。CANN 不是 CUDA。",
    ),
    facts=("npu_versions",),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.ASCEND,
    ask=Text("Which CANN version is installed, with which driver and firmware?", "安装的是哪个 CANN 版本？驱动与固件是什么版本？"),
)
_UPDATE = Text("ask the supplier for a newer CANN with its driver and firmware, or bring an image", "请供应商升级 CANN 及配套驱动、固件，或自带镜像")
_DMI = Text("run `ascend-dmi -c`, or compare with the compatibility table of CANN", "运行 `ascend-dmi -c`，或对照 CANN 配套表")


def judge(versions: NpuVersions, promise: Promise) -> tuple[Finding, ...]:
    """One finding for cann.min, and one without a term for the fit of driver, firmware and CANN."""
    return (_cann(versions, promise.get(TERM)), _fit(versions))


def _cann(versions: NpuVersions, stated: Stated | None) -> Finding:
    have = versions.toolkit
    if stated is None:
        return CHECK.not_promised(TERM, have)
    wanted = str(stated.value)
    told = Text(f"CANN {have or '-'}; {wanted} promised", f"CANN {have or '-'}；承诺 {wanted}")
    if have is None:
        absent = Text("no CANN toolkit is installed on the host; an image may bring it", "主机未安装 CANN 工具包；可由镜像提供")
        return _finding(Verdict.WARN, absent, stated, None, "toolkit_absent", _UPDATE)
    if not version_key(have):
        return _finding(Verdict.INCONCLUSIVE, told, stated, have, Reason.UNREADABLE, _DMI)
    if not at_least(have, wanted):
        return _finding(Verdict.FAIL, told, stated, have, "too_old", _UPDATE)
    if at_least(wanted, have) and _step(have) < _step(wanted):
        before = Text(f"{told.en}: a preliminary version of it", f"{told.zh}：为其预发布版")
        return _finding(Verdict.WARN, before, stated, have, "preliminary", _UPDATE)
    return _finding(Verdict.PASS, told, stated, have, stated.reason_code)


def _step(version: str) -> int:
    """Which step on the way to a release: 2 of 8.0.RC2; the release itself comes after all of them."""
    found = re.search(r"(?:rc|alpha|beta)[.-]?(\d{1,3})", version, re.IGNORECASE)
    return int(found[1]) if found else 1000


def _fit(versions: NpuVersions) -> Finding:
    shown = f"driver {versions.driver or '?'}, firmware {versions.firmware or '?'}, CANN {versions.toolkit or '?'}"
    told = Text(shown, f"驱动 {versions.driver or '?'}、固件 {versions.firmware or '?'}、CANN {versions.toolkit or '?'}")
    if versions.compatible is False:
        return CHECK.finding(Verdict.FAIL, told, measured=shown, reason_code="incompatible", next_step=_UPDATE)
    if versions.compatible is None:
        open_ = Text(f"{told.en}: whether they fit was not told", f"{told.zh}：是否配套未说明")
        return CHECK.finding(Verdict.INCONCLUSIVE, open_, measured=shown, reason_code="fit_unknown", next_step=_DMI)
    return CHECK.finding(Verdict.PASS, told, measured=shown)


def _finding(verdict: Verdict, reason: Text, stated: Stated, have: str | None, code: str, step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=have, reason_code=str(code), next_step=step, better="more"
    )
