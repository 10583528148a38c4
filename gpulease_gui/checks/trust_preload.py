"""Does a library rewrite what the driver says, or share a card out in secret?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.shares import is_hook, share_signs
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.preload import Preload, PreloadLibrary

CHECK = Check(
    id="trust.preload",
    title=Text("Nothing between programs and driver", "程序与驱动之间无拦截"),
    why=Text(
        "A preloaded library can hide half of the memory or print another card's name; everything else then lies too.",
        "预加载库可以隐藏一半显存，或打印别的型号；其他读数也就不可信。",
    ),
    facts=("preload",),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
)
_VENDOR = re.compile(r"lib(?:cuda|nvidia|nvcuvid|nvoptix)[\w.-]*\.so[\w.]*", re.ASCII)
# What the linker loads into a bare shell.
_PLAIN = re.compile(
    r"(?:libc|ld|libm|libdl|libpthread|librt|libtinfo|libncurses\w*|libreadline|libedit|libbsd|libmd|libselinux|libpcre2?[\w-]*|libcrypt"
    r"|libgcc_s|libresolv|libnss_\w+|libnsl|libacl|libattr)[\w.-]*\.so[\w.-]*",
    re.ASCII,
)
_ASK = Text("ask the supplier to take it out, then run again; until then trust no reading of this node",
            "请供应商移除后重新检查；在此之前不要相信该节点的任何读数")  # fmt: skip
_LOOK = Text("ask the supplier what it is for", "请供应商说明用途")
_CODES = {Verdict.FAIL: "hook", Verdict.WARN: "preloaded", Verdict.INCONCLUSIVE: str(Reason.DENIED)}


def judge(preload: Preload, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each thing found. What only a probe can see stays open, and is said."""
    whole = promise.terms.get("gpu.whole") is not False
    subjects = [*_shares(preload, whole), *map(_library, preload.libraries), *_mapped(preload), *_settings(preload)]
    subjects += [SubjectFinding(path[:120], Verdict.INCONCLUSIVE, None, None, _CLOSED) for path in preload.denied[:4]]
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.PASS
    if verdict in (Verdict.PASS, Verdict.NOT_APPLICABLE):
        return (CHECK.finding(Verdict.PASS, _NOTHING, measured="none", subjects=subjects),)
    bad = [s for s in subjects if s.verdict is verdict]
    named = "; ".join(s.id for s in bad[:3])
    reason = Text(f"{bad[0].reason.en}: {named}", f"{bad[0].reason.zh}：{named}")
    step = _ASK if verdict is Verdict.FAIL else _LOOK
    return (CHECK.finding(verdict, reason, measured=bad[0].id, subjects=subjects, reason_code=_CODES[verdict], next_step=step),)


_NOTHING = Text("no library is preloaded, no variable cuts a card", "没有预加载库，也没有切分显卡的变量")
_CLOSED = Text("this file may not be read", "该文件不可读取")
_SHARING = Text("software cuts the cards into shares", "有软件把显卡切成份额")
_HOOK = Text("a preloaded library names functions of the driver", "预加载库包含驱动函数")
_HARMLESS = Text("a library is loaded into every program", "有库被加载进每个程序")
_UNREAD = Text("a preloaded library can't be read", "预加载库无法读取")
_SETTING = Text("a setting changes which driver library is found", "有设置会改变所用的驱动库")


def _shares(preload: Preload, whole: bool) -> list[SubjectFinding]:
    """Variables, files and libraries of software that sells parts of a card."""
    verdict = Verdict.FAIL if whole else Verdict.PASS
    marks = [SubjectFinding(words[:120], verdict, None, None, _SHARING) for words in share_signs(preload)]
    return marks + [SubjectFinding(path, Verdict.WARN if whole else Verdict.PASS, None, None, _SHARING) for path in preload.markers]


def _library(library: PreloadLibrary) -> SubjectFinding:
    name = (library.real or library.path).rsplit("/", 1)[-1]
    if library.hooks is None:
        return SubjectFinding(library.path[:120], Verdict.INCONCLUSIVE, None, None, _UNREAD)
    if library.hooks and not _VENDOR.fullmatch(name):
        return SubjectFinding(library.path[:120], Verdict.FAIL, library.hooks, None, _HOOK)
    return SubjectFinding(library.path[:120], Verdict.WARN, library.hooks, None, _HARMLESS)


def _mapped(preload: Preload) -> list[SubjectFinding]:
    known = {library.real or library.path for library in preload.libraries} | {x.path for x in preload.libraries}
    odd = [p for p in preload.mapped if p not in known and not _PLAIN.fullmatch(p.rsplit("/", 1)[-1]) and not is_hook(p)]
    return [SubjectFinding(path[:120], Verdict.WARN, None, None, _HARMLESS) for path in odd[:20]]


def _settings(preload: Preload) -> list[SubjectFinding]:
    found = []
    for name in ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "CUDA_INJECTION64_PATH", "CUDA_MPS_PIPE_DIRECTORY", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"):
        if value := preload.variable(name):
            found.append(SubjectFinding(f"{name}={value}"[:120], Verdict.WARN, None, None, _SETTING))
    return found
