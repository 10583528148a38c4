"""Is the machine rented out as promised: bare metal, virtual, or a container?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.environment import Environment

TERM = "isolation"

CHECK = Check(
    id="trust.environment",
    title=Text("Bare metal, virtual machine or container", "裸金属、虚拟机还是容器"),
    why=Text(
        "A container or a virtual machine sold as a dedicated server shares it, and hides what others do there.",
        "把容器或虚拟机当作独占服务器出租，意味着与他人共用整机，且看不到他人的活动。",
    ),
    facts=("environment",),
    terms=(TERM,),
    level=0,
    ask=Text("Is the node bare metal, a virtual machine or a container?", "节点是裸金属、虚拟机还是容器？"),
)

# Strongest first: more of the machine is ours.
_RANK = {"bare_metal": 0, "vm": 1, "container": 2}
_WORDS = {
    "bare_metal": Text("bare metal", "裸金属"),
    "vm": Text("a virtual machine", "虚拟机"),
    "container": Text("a container", "容器"),
}


def judge(environment: Environment, promise: Promise) -> tuple[Finding, ...]:
    """One finding for isolation. A container sign or the CPU's hypervisor flag decides; DMI strings only warn."""
    found = _found(environment)
    stated = promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, found),)
    return (_judged(environment, found, stated),)


def _found(environment: Environment) -> str | None:
    if environment.is_container:
        return "container"
    if environment.cpu_hypervisor or environment.is_wsl or environment.hypervisor_type:
        return "vm"
    if environment.cpu_hypervisor is None and environment.virt_vm != "none":
        return None
    return "bare_metal"


def _judged(environment: Environment, found: str | None, stated: Stated) -> Finding:
    promised = str(stated.value)
    if found is None:
        return _finding(Verdict.INCONCLUSIVE, stated, None, _unknown(environment), "isolation_unknown", _ASK_PROOF)
    signs = _signs(environment, found)
    if _RANK[found] > _RANK.get(promised, 0):
        reason = Text(
            f"the node is {_WORDS[found].en}, {_WORDS.get(promised, _WORDS['bare_metal']).en} was promised ({signs})",
            f"实际是{_WORDS[found].zh}，承诺的是{_WORDS.get(promised, _WORDS['bare_metal']).zh}（{signs}）",
        )
        return _finding(Verdict.FAIL, stated, found, reason, "weaker_isolation", _ASK_MOVE)
    if promised == "bare_metal" and (doubt := _doubt(environment)):
        return _finding(Verdict.WARN, stated, found, doubt, "isolation_doubtful", _ASK_PROOF)
    reason = Text(f"the node is {_WORDS[found].en} ({signs})", f"节点是{_WORDS[found].zh}（{signs}）")
    return _finding(Verdict.PASS, stated, found, reason, stated.reason_code)


def _signs(environment: Environment, found: str) -> str:
    if found == "container":
        return "; ".join((*environment.container_signs, *environment.container_hints)[:4])
    if found == "bare_metal":
        return "CPU flag hypervisor: no" if environment.cpu_hypervisor is False else "systemd-detect-virt: none"
    if environment.cpu_hypervisor:
        return "CPU flag hypervisor: yes"
    return environment.kernel or "" if environment.is_wsl else f"/sys/hypervisor/type: {environment.hypervisor_type}"


def _doubt(environment: Environment) -> Text | None:
    if environment.container_hints:
        hint = environment.container_hints[0]
        return Text(f"no hypervisor is seen, yet {hint}: perhaps a container", f"未见虚拟化，但 {hint}：可能是容器")
    tool = environment.virt_vm if environment.virt_vm not in (None, "none") else None
    if not tool and not environment.dmi_says_vm:
        return None
    words = tool or f"{environment.dmi_vendor or ''} {environment.dmi_product or ''}".strip()
    return Text(
        f"the maker's strings of the board speak of a virtual machine ({words}), the CPU does not",
        f"主板厂商信息指向虚拟机（{words}），但 CPU 没有虚拟化标志",
    )


def _unknown(environment: Environment) -> Text:
    said = environment.virt_vm or f"{environment.dmi_vendor or ''} {environment.dmi_product or ''}".strip() or "-"
    return Text(
        f"this CPU lists no hypervisor flag, and what remains does not decide ({said})",
        f"该 CPU 不列出虚拟化标志，其余信息不足以判断（{said}）",
    )


_ASK_MOVE = Text(
    "Ask for a node of the promised kind, or for the price of what was delivered.",
    "要求更换为承诺的形态，或按实际形态重新定价。",
)
_ASK_PROOF = Text(
    "Ask the supplier for proof: the management controller (BMC) login or the asset label.",
    "请供应商提供证明：BMC 登录权限或资产标签。",
)


def _finding(
    verdict: Verdict, stated: Stated, found: str | None, reason: Text, code: str, step: Text = NO_TEXT
) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=found, reason_code=code, next_step=step
    )
