"""Is nvidia-smi the maker's program, not something in its place?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_binary import SmiBinary
from gpulease_gui.facts.smi_xml import SmiReport

NODES = Threshold("trust.smi_binary", "nodes", 3, "nodes", Text("a file is known from this many other nodes", "文件在其他节点上出现达到此数即为已知"), ">=", low=2.0)
SUPPLIERS = Threshold(
    "trust.smi_binary", "suppliers", 2, "suppliers", Text("of at least this many suppliers", "且至少来自此数量的供应商"), ">=", low=2.0
)

CHECK = Check(
    id="trust.smi_binary",
    title=Text("nvidia-smi is genuine", "nvidia-smi 为原厂程序"),
    why=Text(
        "A script in its place can print any card; this check looks at the file, not at what it says.",
        "用脚本顶替它可以打印任何型号；本项看的是文件本身，而不是它的输出。",
    ),
    facts=("smi_binary",),
    optional=("environment", "smi_xml"),
    needs_promise=False,
    level=0,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    thresholds=(NODES, SUPPLIERS),
)
_ASK = Text("ask the supplier why this file is not the maker's; trust no reading of it", "请供应商解释该文件为何不是原厂程序；不要相信它的读数")
_COMPARE = Text("compare the SHA-256 with another node of the same driver", "与同版本驱动的其他节点核对 SHA-256")
_RUN = Text("run `file $(readlink -f $(command -v nvidia-smi))` on the node", "在节点上运行 `file $(readlink -f $(command -v nvidia-smi))`")
_OPEN_TO_OTHERS = 0o022
_UNVOUCHED = ("host_file", "hash_unknown")


def judge(
    binary: SmiBinary, environment: Environment | None, report: SmiReport | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding; measured is the SHA-256 of the file. This is evidence, never proof: root can change all of it."""
    verdict, reason, code, step = _judged(binary, environment)
    if code in _UNVOUCHED and (known := _known(binary, report, promise)):
        verdict, reason, code, step = Verdict.PASS, known, "", NO_TEXT
    return (CHECK.finding(verdict, reason, measured=binary.sha256, reason_code=str(code), next_step=step),)


def _known(binary: SmiBinary, report: SmiReport | None, promise: Promise) -> Text | None:
    """The very same file beside the same driver on nodes of several suppliers: they can hardly have made it all alike."""
    driver = report.driver_version if report else None
    seen = promise.fleet.tool(driver, binary.sha256)
    if seen is None or seen.nodes < promise.limit(NODES) or seen.suppliers < promise.limit(SUPPLIERS):
        return None
    return Text(
        f"compiled, the same file as on {seen.nodes} other nodes of {seen.suppliers} suppliers with driver {seen.driver}",
        f"编译程序，与 {seen.suppliers} 家供应商的另外 {seen.nodes} 个节点（驱动 {seen.driver}）上的文件相同",
    )


_Answer = tuple[Verdict, Text, str, Text]


def _judged(binary: SmiBinary, environment: Environment | None) -> _Answer:
    place = (binary.real or binary.path)[:120]
    if binary.is_elf is None:
        return Verdict.INCONCLUSIVE, Text(f"{place} could not be read", f"无法读取 {place}"), Reason.UNREADABLE, _RUN
    if not binary.is_elf:
        return Verdict.FAIL, Text(f"{place} is a script, not the maker's program", f"{place} 是脚本，不是原厂程序"), "script", _ASK
    loose = _loose(binary)
    if loose.en:
        return Verdict.FAIL, Text(f"{place}: {loose.en}", f"{place}：{loose.zh}"), "user_writable", _ASK
    if binary.differs and not binary.mounted and not binary.names_driver:
        changed = Text(f"{place} differs from the file of its package", f"{place} 与其软件包中的文件不同")
        return Verdict.FAIL, changed, "changed", _ASK
    if binary.owner is None or binary.sha256 is None:
        return Verdict.INCONCLUSIVE, Text("owner and digest were not told", "未给出属主与摘要"), Reason.UNREADABLE, _RUN
    return _unaltered(binary, environment, place)


def _loose(binary: SmiBinary) -> Text:
    """Who but root could have changed the file or its folder?"""
    for owner, mode in ((binary.owner, binary.mode), (binary.dir_owner, binary.dir_mode)):
        # A user that this system has no name for is the host's root, seen from inside a container.
        if owner not in (None, "root", "UNKNOWN", "nobody"):
            return Text(f"it belongs to {owner}, not to root", f"属主是 {owner} 而不是 root")
        if mode is not None and mode.isdigit() and len(mode) <= 5 and not set(mode) & {"8", "9"} and int(mode, 8) & _OPEN_TO_OTHERS:
            return Text(f"others may write to it (mode {mode})", f"其他用户可写（权限 {mode}）")
    return NO_TEXT


def _unaltered(binary: SmiBinary, environment: Environment | None, place: str) -> _Answer:
    if len(binary.copies) > 1:
        two = Text(f"there are {len(binary.copies)} files of this name on the path", f"路径中有 {len(binary.copies)} 个同名文件")
        return Verdict.WARN, two, "shadowed", _COMPARE
    if binary.package and binary.verified and not binary.differs:
        return Verdict.PASS, Text(f"compiled, of package {binary.package[:60]}, unchanged", f"编译程序，属于软件包 {binary.package[:60]}，未被改动"), "", NO_TEXT
    if binary.mounted or (environment is not None and environment.is_container):
        host = Text("compiled; it comes from the host, no package here vouches for it", "编译程序；来自宿主机，此处没有软件包可核对")
        return Verdict.WARN, host, "host_file", _COMPARE
    lone = Text(f"{place} is compiled, but no package vouches for it", f"{place} 是编译程序，但没有软件包可核对")
    return Verdict.WARN, lone, "hash_unknown", _COMPARE
