"""Who else can get into the node, and are we its administrator?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.access import Access, Listener

TERM = "access.root"

CHECK = Check(
    id="iso.access",
    title=Text("Ways into the node", "可进入节点的途径"),
    why=Text(
        "Keys and open services that you did not install let somebody else read your data and weights.",
        "不是您安装的密钥和开放服务，意味着他人可以读取您的数据和权重。",
    ),
    facts=("access",),
    terms=(TERM,),
    needs_promise=False,
    ask=Text("Do we get administrator rights on the node?", "我方是否获得节点管理员权限？"),
)
# Services that let anybody in who can reach them.
_OPEN_DOORS = {2375: "docker"}
_DOUBTFUL = {8888: "jupyter", 8265: "ray", 11434: "ollama", 2049: "nfs", 10250: "kubelet", 6379: "redis"}
_SSH = 22
_ADMIN_GROUPS = frozenset(["sudo", "wheel", "admin"])
_ASK = Text("ask the supplier to explain each of them, and close what nobody needs", "请供应商逐项说明，并关闭不需要的服务")
_ROOT = Text("ask the supplier for root or for sudo", "请供应商提供 root 或 sudo 权限")


def judge(access: Access, promise: Promise) -> tuple[Finding, ...]:
    """One finding for access.root and one, without a term, for the ways in: a subject for each service and key."""
    stated = promise.get(TERM)
    return (_rights(access, stated), _ways(access))


def _rights(access: Access, stated: Stated | None) -> Finding:
    group = next((name for name in access.groups if name in _ADMIN_GROUPS), None)
    mine = True if access.uid == 0 else None if access.uid is None or group else False
    if stated is None:
        return CHECK.not_promised(TERM, mine)
    if mine:
        return _root(Verdict.PASS, Text("we are root here", "我方为 root"), stated, True, stated.reason_code)
    if stated.value is False:
        return _root(Verdict.PASS, Text("administrator rights were not promised", "未承诺管理员权限"), stated, mine, "")
    if access.uid is None:
        return _root(Verdict.INCONCLUSIVE, Text("the user was not told", "未给出用户"), stated, None, Reason.UNREADABLE)
    if group:
        perhaps = Text(f"not root, but in the group {group}", f"不是 root，但在 {group} 组中")
        return _root(Verdict.WARN, perhaps, stated, None, "perhaps_sudo")
    return _root(Verdict.FAIL, Text("this user is not root and in no group that may be", "当前用户不是 root，也不在管理员组中"), stated, False, "no_root")


def _root(verdict: Verdict, reason: Text, stated: Stated, mine: bool | None, code: str) -> Finding:
    step = NO_TEXT if verdict is Verdict.PASS else _ROOT
    return CHECK.finding(verdict, reason, term=TERM, promised=stated.value, measured=mine, reason_code=str(code), next_step=step)


def _ways(access: Access) -> Finding:
    subjects = [s for listener in access.listeners or () if (s := _service(listener))]
    if len(access.keys) > 1:
        subjects += [SubjectFinding(f"key {n}: {key[:80]}", Verdict.WARN, None, n) for n, key in enumerate(access.keys[:20])]
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.PASS
    if verdict in (Verdict.FAIL, Verdict.WARN):
        names = ", ".join(s.id for s in subjects[:4])
        told = Text(f"{len(subjects)} to be explained: {names}", f"有 {len(subjects)} 项需说明：{names}")
        return CHECK.finding(verdict, told, measured=len(subjects), subjects=subjects, reason_code="open_ways", next_step=_ASK)
    if access.listeners is None or access.denied:
        unseen = Text("not all ways in can be seen by this user", "当前用户看不到全部途径")
        return CHECK.finding(Verdict.INCONCLUSIVE, unseen, subjects=subjects, reason_code="not_visible", next_step=_ROOT)
    return CHECK.finding(Verdict.PASS, Text("only SSH is open beyond this machine", "对外只开放了 SSH"), measured=0, subjects=subjects)


def _service(listener: Listener) -> SubjectFinding | None:
    if listener.is_local or listener.program in ("sshd", "systemd-resolve") or listener.port == _SSH:
        return None
    known = _OPEN_DOORS.get(listener.port) or _DOUBTFUL.get(listener.port) or listener.program or "?"
    verdict = Verdict.FAIL if listener.port in _OPEN_DOORS else Verdict.WARN
    place = f"{listener.address}:{listener.port} {known}"
    return SubjectFinding(place[:120], verdict, listener.port)
