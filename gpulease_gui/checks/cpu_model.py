"""Is it the promised processor, with the promised cores?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.cpu_limits import CpuLimits

MODEL, CORES = "cpu.model", "cpu.cores"

CHECK = Check(
    id="cpu.model",
    title=Text("Processor model and cores", "CPU 型号与核数"),
    why=Text(
        "An older or smaller processor starves eight GPUs; threads are sold as cores.",
        "更旧或更小的 CPU 喂不饱八张 GPU；线程常被当作核来卖。",
    ),
    facts=("cpu_limits",),
    terms=(MODEL, CORES),
    ask=Text("Which processor is it, and how many physical cores?", "CPU 是什么型号？多少物理核？"),
)
_FAMILIES = ("epyc", "xeon", "kunpeng", "threadripper", "ryzen", "core", "grace", "hygon", "phytium", "ampere", "neoverse")
_MASKS = ("qemu virtual", "common kvm", "virtual cpu", "(skylake", "(icelake", "(cascadelake", "(sapphire", "epyc processor", "epyc-", "kvm processor")
_NOISE = frozenset(["amd", "intel", "cpu", "processor", "core", "cores", "r", "tm", "the", "huawei", "platinum", "gold", "silver", "64"])
_RUN = Text("run `lscpu` on the host, or ask the supplier for it", "在宿主机上运行 `lscpu`，或向供应商索取")
_ASK = Text("ask the supplier for the promised processor, or for another price", "请供应商提供承诺的 CPU，或调整价格")


def judge(cpu: CpuLimits, promise: Promise) -> tuple[Finding, ...]:
    """One finding for the model, one for the cores (physical ones where sockets and threads are told)."""
    return (_model(cpu, promise.get(MODEL)), _cores(cpu, promise.get(CORES)))


def _model(cpu: CpuLimits, stated: Stated | None) -> Finding:
    shown = cpu.model
    if stated is None:
        return CHECK.not_promised(MODEL, shown)
    wanted = str(stated.value)
    told = Text(f"{shown or '-'}; promised: {wanted[:80]}", f"{shown or '-'}；承诺：{wanted[:80]}")
    if not shown or any(mask in shown.lower() for mask in _MASKS):
        return _finding(Verdict.INCONCLUSIVE, told, stated, shown, "model_masked", _RUN)
    if _words(wanted) and _words(wanted) <= _words(shown):
        return _finding(Verdict.PASS, told, stated, shown, stated.reason_code)
    older = _older(shown, wanted)
    if older is None:
        return _finding(Verdict.INCONCLUSIVE, told, stated, shown, "model_unclear", _RUN)
    return _finding(Verdict.FAIL if older else Verdict.WARN, told, stated, shown, "other_model", _ASK)


def _words(name: str) -> frozenset[str]:
    plain = re.sub(r"\((?:r|tm)\)|@.*|\d+-core.*", " ", name.lower()[:200])
    return frozenset(re.findall(r"[a-z0-9+]+", plain)) - _NOISE


def _older(shown: str, wanted: str) -> bool | None:
    """Whether the model shown is of another family or an older generation; None if the names don't tell."""
    one, other = _family(shown), _family(wanted)
    if one and other and one != other:
        return True
    have, want = _generation(shown), _generation(wanted)
    if have is None or want is None:
        return None
    return have < want


def _family(name: str) -> str | None:
    return next((word for word in _FAMILIES if word in re.findall(r"[a-z]+", name.lower())), None)


def _generation(name: str) -> int | None:
    """EPYC 9654 is of generation 4 by its last digit, Xeon 8480 of 4 by its second."""
    number = re.search(r"\b(\d)(\d)(\d)(\d)[a-z+]{0,2}\b", name.lower())
    if number is None:
        return None
    family = _family(name)
    if family == "epyc":
        return int(number[4])
    return int(number[2]) if family in ("xeon", None) else None


def _cores(cpu: CpuLimits, stated: Stated | None) -> Finding:
    threads = cpu.online if cpu.online is not None else cpu.nproc
    physical = cpu.sockets * cpu.cores_per_socket if cpu.sockets and cpu.cores_per_socket else None
    if stated is None:
        return CHECK.not_promised(CORES, physical or threads, unit="cores")
    if threads is None:
        return _count(Verdict.INCONCLUSIVE, Text("no count of processors was told", "未给出处理器数量"), stated, None, Reason.UNREADABLE, _RUN)
    shown = physical if physical is not None else threads
    told = Text(
        f"{physical if physical is not None else '?'} cores, {threads} threads; {int(stated.number)} promised",
        f"{physical if physical is not None else '?'} 个物理核、{threads} 个线程；承诺 {int(stated.number)}",
    )
    if threads < stated.number:
        return _count(Verdict.FAIL, told, stated, shown, "cores_missing", _ASK)
    if physical is not None and physical < stated.number:
        return _count(Verdict.WARN, told, stated, shown, "threads_as_cores", CHECK.ask)
    return _count(Verdict.PASS, told, stated, shown, stated.reason_code)


def _finding(verdict: Verdict, reason: Text, stated: Stated, shown: str | None, code: str, step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(verdict, reason, term=MODEL, promised=stated.value, measured=shown, reason_code=code, next_step=step)


def _count(verdict: Verdict, reason: Text, stated: Stated, shown: int | None, code: str, step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(
        verdict, reason, term=CORES, promised=stated.value, measured=shown, unit="cores", reason_code=str(code), next_step=step, better="more"
    )
