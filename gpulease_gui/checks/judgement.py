"""How do readings become findings, so that no rule can pass what was never read?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from gpulease_gui.checks.check import Check, Rule, Vendor
from gpulease_gui.checks.fleet import FLEET_NODES
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.terms_conflict import Conflict, conflicts
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.facts.train_log import READ_THE_LOG, TASK_FAILED
from gpulease_gui.facts.unreadable_words import unreadable_words

ALWAYS_REQUIRED = frozenset(
    ["health.ecc_uncorrected", "health.sram_threshold", "health.row_remap", "health.retired_pages", "health.xid",
     "health.recovery_action", "health.err_fields", "drv.match", "iso.foreign_procs"]
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one fact gave: a reading, or why there is none; and the hash of the raw output."""

    reading: object | None = None
    trouble: Unreadable | None = None
    sha256: str | None = None


def judge(rule: Rule, evidence: Mapping[str, Evidence], promise: Promise) -> tuple[Finding, ...]:
    """The findings of one check. Never raises for anything that the node said."""
    check = rule.check
    hashes = tuple(e.sha256 for id_ in (*check.facts, *check.optional) if (e := evidence.get(id_)) and e.sha256)
    found = _findings(rule, evidence, promise)
    torn = conflicts(promise) if any(f.term is not None for f in found) else ()
    return tuple(_finished(check, _never_decide_between(f, torn), promise, hashes) for f in found)


_ONE_TERM = Text("settle in writing which of the two holds, and correct the contract", "请书面确认以哪一条为准，并更正合同")


def _never_decide_between(finding: Finding, torn: tuple[Conflict, ...]) -> Finding:
    """A term that another one of the contract excludes: whatever the node shows, one of both is broken."""
    conflict = next((one for one in torn if finding.term in one.open_terms), None)
    if conflict is None or finding.verdict is Verdict.NOT_APPLICABLE:
        return finding
    told = Text(f"{conflict.words.en}; {finding.reason.en}", f"{conflict.words.zh}；{finding.reason.zh}")
    return replace(
        finding, verdict=Verdict.INCONCLUSIVE, reason=told, reason_code=Reason.TERMS_CONTRADICT, next_step=_ONE_TERM
    )


def _findings(rule: Rule, evidence: Mapping[str, Evidence], promise: Promise) -> tuple[Finding, ...]:
    check = rule.check
    if _other_vendor(check.vendor, promise):
        return (check.finding(
            Verdict.NOT_APPLICABLE, Text("the contract rents another kind of accelerator", "合同租用的是另一类加速卡"),
            reason_code=Reason.OTHER_VENDOR,
        ),)  # fmt: skip
    for id_ in check.facts:
        found = evidence.get(id_)
        if found is None or found.reading is None:
            return _fails_of_a_part(rule, evidence, promise) or _no_reading(check, found.trouble if found else None, promise)
    readings = [_reading(evidence, id_) for id_ in (*check.facts, *check.optional)]
    findings = rule.judge(*readings, promise)
    if not findings:
        return (check.finding(
            Verdict.INCONCLUSIVE, Text("the output says nothing about this", "输出中没有这一项"), reason_code=Reason.UNREADABLE
        ),)  # fmt: skip
    torn = next((e.trouble for id_ in check.optional if (e := evidence.get(id_)) and _broke_off(e)), None)
    return tuple(_never_pass_unpromised(check, _never_pass_torn(f, torn), promise) for f in findings)


def _broke_off(found: Evidence) -> bool:
    return found.trouble is not None and found.trouble.code in (Reason.CUT_OFF, Reason.MALFORMED)


def _never_pass_torn(finding: Finding, torn: Unreadable | None) -> Finding:
    """A second source that broke off is not silent: what would refute the pass may stand in the part that is lost."""
    if torn is None or finding.verdict is not Verdict.PASS:
        return finding
    lost = Text(f"a second source broke off ({torn.reason})", f"另一来源的输出不完整（{torn.reason}）")
    told = Text(f"{finding.reason.en}; {lost.en}", f"{finding.reason.zh}；{lost.zh}")
    return replace(finding, verdict=Verdict.INCONCLUSIVE, reason=told, reason_code=Reason.CUT_OFF, next_step=NO_TEXT)


def _reading(evidence: Mapping[str, Evidence], fact_id: str) -> object | None:
    found = evidence.get(fact_id)
    return found.reading if found else None


def _other_vendor(vendor: Vendor | None, promise: Promise) -> bool:
    gpu = any(t.startswith("gpu.") for t in promise.terms)
    npu = any(t.startswith("npu.") for t in promise.terms)
    return (vendor is Vendor.NVIDIA and npu and not gpu) or (vendor is Vendor.ASCEND and gpu and not npu)


_CODE_WORDS: Mapping[str, Text] = {
    Reason.TIMEOUT: Text("the command gave no answer in time", "命令在限时内没有应答"),
    Reason.MISSING_TOOL: Text("the tool is missing on the node", "节点上缺少该工具"),
    Reason.DENIED: Text("the node denied reading it", "节点拒绝读取"),
    Reason.CUT_OFF: Text("the output is cut off", "输出不完整"),
    Reason.MALFORMED: Text("the output is malformed", "输出格式损坏"),
    Reason.SAME_MACHINE: Text("the test was not made", "未进行测试"),
    Reason.CONNECTION_LOST: Text("the connection was lost before the output ended", "输出结束前连接中断"),
    Reason.COMPUTER_SLEPT: Text("this computer slept or stood still before the output ended", "输出结束前本机休眠或停顿"),
    Reason.OWN_NETWORK: Text("this computer had no network before the output ended", "输出结束前本机无网络"),
    Reason.NOT_COLLECTED: Text("this was not read in this run", "本次未读取"),
    Reason.DRIVER: Text("the driver does not answer", "驱动没有应答"),
    Reason.UNREADABLE: Text("the output could not be read", "输出无法识别"),
    TASK_FAILED: Text("the task did not end well", "任务没有正常结束"),
}


_STEPS: Mapping[str, Text] = {
    Reason.TIMEOUT: Text(
        "run it by hand on the node; a driver that hangs needs the supplier",
        "请在节点上手动运行；驱动挂起需由供应商处理",
    ),
    Reason.MISSING_TOOL: Text("ask the supplier for it, or for its full path", "请供应商安装该工具，或告知完整路径"),
    Reason.DENIED: Text("ask the supplier for read access", "请供应商开放读取权限"),
    Reason.CUT_OFF: Text(
        "run the command by hand: an honest output is smaller", "请手动运行该命令：正常输出没有这么大"
    ),
    Reason.CONNECTION_LOST: Text(
        "run it again; if it happens again, ask the supplier about the SSH service and the network",
        "请重新运行；若再次发生，请向供应商询问 SSH 服务与网络情况",
    ),
    Reason.COMPUTER_SLEPT: Text("keep this computer awake and run it again", "请保持本机唤醒并重新运行"),
    Reason.OWN_NETWORK: Text("check the network of this computer and run it again", "请检查本机网络并重新运行"),
    Reason.MALFORMED: Text(
        "ask for the output as a file: an editor or a chat has changed this one",
        "请索取文件形式的原始输出：当前内容被编辑器或聊天软件改动过",
    ),
    Reason.SAME_MACHINE: Text("name a node on another machine", "请指定位于另一台机器上的节点"),
    Reason.NOT_COLLECTED: Text(
        "run it again; if it is missing again, run the command by hand on the node",
        "请重新运行；若仍然缺失，请在节点上手动运行该命令",
    ),
    Reason.DRIVER: Text("ask the supplier to repair the driver, then run it again", "请供应商修复驱动，然后重新运行"),
    TASK_FAILED: Text(READ_THE_LOG, "请查看日志最后几行，其中写有原因"),
}  # fmt: skip
_ANY_STEP = Text(
    "run the command by hand on the node and compare; send the raw output to the supplier if it says the same",
    "请在节点上手动运行该命令并对照；若结果相同，请将原始输出发给供应商",
)


def _step_of(code: str, words: str) -> Text:
    """A reader speaks English only; the steps that follow from the code are known in both languages."""
    known = _STEPS.get(code)
    return known if known and known.en == words else foreign(words)


def _with_step(check: Check, finding: Finding) -> Finding:
    """No finding leaves the user without a next step: where the rule names none, the reason does."""
    if finding.verdict is not Verdict.INCONCLUSIVE or finding.next_step.en:
        return finding
    asked = check.ask if finding.reason_code == Reason.NOT_PROMISED and check.ask.en else _ANY_STEP
    return replace(finding, next_step=_STEPS.get(finding.reason_code, asked))


def _fails_of_a_part(rule: Rule, evidence: Mapping[str, Evidence], promise: Promise) -> tuple[Finding, ...]:
    """The fails that stand in what could be read of broken-off outputs; what is missing there proves nothing."""
    check = rule.check
    parts = [_part(evidence.get(id_)) for id_ in check.facts]
    if not check.partial or any(part is None for part in parts):
        return ()
    others = [_reading(evidence, id_) for id_ in check.optional]
    return tuple(f for f in rule.judge(*parts, *others, promise) if f.verdict is Verdict.FAIL)


def _part(found: Evidence | None) -> object | None:
    if found is None or found.reading is not None:
        return found.reading if found else None
    return found.trouble.reading if found.trouble else None


def _said(trouble: Unreadable) -> Text:
    return Text(trouble.reason, trouble.reason_zh) if trouble.reason_zh else unreadable_words(trouble.reason)


def _no_reading(check: Check, trouble: Unreadable | None, promise: Promise) -> tuple[Finding, ...]:
    code = str(trouble.code) if trouble else str(Reason.NOT_COLLECTED)
    word = _CODE_WORDS.get(code, _CODE_WORDS[Reason.UNREADABLE])
    said = _said(trouble) if trouble and trouble.reason else None
    reason = Text(f"{word.en}: {said.en}", f"{word.zh}：{said.zh}") if said else word
    step = _step_of(code, trouble.next_step) if trouble and trouble.next_step else NO_TEXT
    terms: list[str | None] = [t for t in check.terms if promise.get(t)] or [None]
    return tuple(
        check.finding(
            Verdict.INCONCLUSIVE, reason, term=t, promised=stated.value if t and (stated := promise.get(t)) else None,
            reason_code=code, next_step=step,
        )
        for t in terms
    )  # fmt: skip


def _never_pass_unpromised(check: Check, finding: Finding, promise: Promise) -> Finding:
    """A rule that passes a term which nobody promised has a fault; the user must not pay for it."""
    if finding.verdict is not Verdict.PASS or not check.needs_promise:
        return finding
    if finding.term is not None and promise.get(finding.term) is not None:
        return finding
    if finding.term is None and any(promise.get(t) for t in check.terms):
        return finding
    return replace(finding, verdict=Verdict.INCONCLUSIVE, reason_code=Reason.NOT_PROMISED, next_step=check.ask)


def _finished(check: Check, finding: Finding, promise: Promise, hashes: tuple[str, ...]) -> Finding:
    promised = finding.term is not None and promise.get(finding.term) is not None
    required = finding.verdict is Verdict.FAIL or check.id in ALWAYS_REQUIRED or promised
    used = promise.thresholds.judged_by(check.thresholds, finding.term) if _was_judged(finding) else ()
    used += promise.fleet.beside(finding, promise.limit(FLEET_NODES))
    # What a rule itself compared with (a median, a window) stands first.
    return replace(_with_step(check, finding), required=required, evidence=hashes, judged_by=(*finding.judged_by, *used))


def _was_judged(finding: Finding) -> bool:
    """Whether a reading was held against the figures of the check at all."""
    if finding.verdict is Verdict.NOT_APPLICABLE or finding.reason_code == Reason.NOT_PROMISED:
        return False
    return finding.measured is not None or finding.verdict is not Verdict.INCONCLUSIVE
