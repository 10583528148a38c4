"""Does data of an earlier tenant still lie on the node?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.leftovers import Entry, Leftovers

# Assumptions: a bare home folder holds less than the one, a fresh system's temporary files less than the other.
HOME = Threshold("iso.leftovers", "home", 1, "MiB", Text("a home folder is told of from", "主目录达到此大小即列出"), ">=")
DATA = Threshold("iso.leftovers", "data", 100, "MiB", Text("other data is told of from", "其他数据达到此大小即列出"), ">=")

CHECK = Check(
    id="iso.leftovers",
    title=Text("Nothing left by earlier tenants", "无前租户残留"),
    why=Text(
        "A node that shows you the last tenant's data will show yours to the next one.",
        "能看到前租户数据的节点，下一位租户也能看到您的数据。",
    ),
    facts=("leftovers",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("nothing; reads sizes, opens no file", "不写入；只读大小，不打开文件"),
    takes_s=20,
    thresholds=(HOME, DATA),
)
_OWN = Text("paths and sizes only, nothing was opened: if this is not yours, ask the supplier how disks are wiped between tenants",
            "只看路径与大小，未打开任何文件：若非您的数据，请供应商说明换租时如何清盘")  # fmt: skip
_ROOT = Text("run it as root, or ask the supplier for the proof of the wipe", "以 root 重新运行，或请供应商提供清盘证明")
_SHOWN = 20


def judge(found: Leftovers, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is GiB that may be somebody else's. It can raise a doubt, never say whose data it is."""
    odd = sorted((e for e in found.entries if _is_odd(e, found, promise)), key=lambda e: -(e.kib or 0))
    hidden = [e for e in found.entries if not e.whole or e.kib is None]
    gib = round(sum(e.kib or 0 for e in odd) / 1024 / 1024, 2)
    if odd:
        subjects = [SubjectFinding(e.path[:120], Verdict.WARN, round((e.kib or 0) / 1024), None, _who(e)) for e in odd[:_SHOWN]]
        words = Text(
            f"{len(odd)} entries with {number_text(gib, 2)} GiB, the largest {odd[0].path[:80]}",
            f"{len(odd)} 项共 {number_text(gib, 2)} GiB，最大的是 {odd[0].path[:80]}",
        )
        return (_finding(Verdict.WARN, words, gib, subjects, "data_found", _OWN),)
    if hidden or found.more:
        shut = Text(f"{len(hidden)} entries could not be counted", f"有 {len(hidden)} 项无法统计") if hidden else Text(
            "there are more entries than were looked at", "条目过多，未全部查看"
        )  # fmt: skip
        subjects = [SubjectFinding(e.path[:120], Verdict.INCONCLUSIVE, None, None, _who(e)) for e in hidden[:_SHOWN]]
        return (_finding(Verdict.INCONCLUSIVE, shut, None, subjects, "not_counted", _ROOT),)
    clean = Text("nothing of size lies where tenants keep data; the memory of the cards was not looked at", "租户数据目录下没有成规模的文件；未检查显存")
    return (_finding(Verdict.PASS, clean, gib, [], "", NO_TEXT),)


def _is_odd(entry: Entry, found: Leftovers, promise: Promise) -> bool:
    """Big, and not our own home folder."""
    if entry.path == found.home or entry.kib is None:
        return False
    home = entry.path.startswith("/home/") or entry.path == "/root"
    return entry.kib >= 1024 * promise.limit(HOME if home else DATA)


def _who(entry: Entry) -> Text:
    mib, owner = number_text(round((entry.kib or 0) / 1024)), entry.owner or "?"
    if entry.kib is None or not entry.whole:
        return Text(f"owner {owner}; not all of it may be counted", f"属主 {owner}；无法统计全部")
    return Text(f"owner {owner}, {mib} MiB", f"属主 {owner}，{mib} MiB")


def _finding(
    verdict: Verdict, reason: Text, gib: float | None, subjects: list[SubjectFinding], code: str, step: Text
) -> Finding:
    return CHECK.finding(verdict, reason, measured=gib, unit="GiB", subjects=subjects, reason_code=code, next_step=step, better="less")
