"""Can the promised PyTorch run on these cards with this driver?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpulease_gui.catalog.cuda import TorchWheel, at_least, version_key
from gpulease_gui.checks.cards import cards
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.facts.smi_extra import SmiExtra
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.facts.torch_files import TorchFiles

TERM = "framework"

CHECK = Check(
    id="drv.framework",
    title=Text("PyTorch runs here", "PyTorch 可运行"),
    why=Text(
        "A build without code for your card ends with `no kernel image`; one for a newer driver does not start at all.",
        "没有该卡代码的版本会报 `no kernel image`；要求更新驱动的版本根本无法启动。",
    ),
    facts=("smi_xml",),
    optional=("smi_extra", "torch_files"),
    terms=(TERM,),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    ask=Text("Which framework and version must run (for example torch 2.6 cu124)?", "须运行哪个框架与版本（如 torch 2.6 cu124）？"),
)
_BLACKWELL, _BLACKWELL_DRIVER = 10, "570"
_UPDATE = Text("use another build of PyTorch, or ask the supplier for a newer driver", "换用其他 PyTorch 版本，或请供应商升级驱动")
_TRY = Text("start it once: `python3 -c \"import torch; torch.zeros(1).cuda()\"`", "试运行一次：`python3 -c \"import torch; torch.zeros(1).cuda()\"`")


def judge(report: SmiReport, extra: SmiExtra | None, torch: TorchFiles | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding for framework, and one without a term for the PyTorch that is installed. Nothing is started."""
    stated = promise.get(TERM)
    capabilities = _capabilities(report, extra, promise)
    found = [_promised(report, capabilities, torch, stated, promise) if stated else _unnamed(report, capabilities, torch, promise)]
    if torch is not None and torch.version is not None:
        found.append(_installed(report, capabilities, torch, promise))
    return tuple(found)


def _name(torch: TorchFiles | None) -> str | None:
    return f"torch {torch.version} {torch.tag or ''}".strip() if torch is not None and torch.version else None


def _capabilities(report: SmiReport, extra: SmiExtra | None, promise: Promise) -> frozenset[str]:
    """What the cards are, by driver and catalogue; empty if a card is not known or both tell different things."""
    found: list[str | None] = []
    for card in cards(report, None, promise.catalogue.gpus):
        row = extra.of(card.gpu.index, card.gpu.uuid) if extra else None
        own = card.identity.product.compute_capability if card.identity.product else None
        told = row.compute_capability if row else None
        found.append(None if told and own and told != own else told or own)
    return frozenset(c for c in found if c) if all(found) else frozenset()


def _promised(
    report: SmiReport, capabilities: frozenset[str], torch: TorchFiles | None, stated: Stated, promise: Promise
) -> Finding:
    words = str(stated.value)
    version = re.search(r"\b(?:py)?torch\s*[=>~]*\s*v?(\d{1,2}\.\d{1,2})", words, re.IGNORECASE)
    tag = re.search(r"\bcu(?:da)?[ -]?(\d{2})\.?(\d)\b", words, re.IGNORECASE)
    if version is None:
        other = Text(f"this program knows the builds of PyTorch only, not {words[:60]}", f"本程序只掌握 PyTorch 的版本信息，不了解 {words[:60]}")
        return _finding(Verdict.INCONCLUSIVE, other, stated, _name(torch), "unknown_framework", _TRY)
    wheels = promise.catalogue.cuda.wheels_of(version[1])
    wanted = f"cu{tag[1]}{tag[2]}" if tag else None
    chosen = [w for w in wheels if wanted is None or w.tag == wanted]
    name = f"torch {version[1]} {wanted or ''}".strip()
    verdict, reason, code = _runs(foreign(name), chosen, report, capabilities, promise)
    step = NO_TEXT if verdict is Verdict.PASS else _TRY if verdict is Verdict.INCONCLUSIVE else _UPDATE
    return _finding(verdict, reason, stated, _name(torch), code or stated.reason_code, step)


def _unnamed(report: SmiReport, capabilities: frozenset[str], torch: TorchFiles | None, promise: Promise) -> Finding:
    """Nobody named a framework: what could run here, in words."""
    driver = report.driver_version
    if driver is None or not version_key(driver) or not capabilities:
        return CHECK.not_promised(TERM, _name(torch))
    wheels = promise.catalogue.cuda.wheel
    good = [w for w in wheels if not _trouble(w, driver, capabilities).en]
    spans = {tag: ", ".join(_span(w) for w in good if w.tag == tag) for tag in dict.fromkeys(w.tag for w in good)}
    shown = "; ".join(f"{tag} (torch {span})" for tag, span in spans.items()) or "–"
    words = Text(f"no framework was promised; builds of PyTorch that can run here: {shown}", f"未约定框架；此处可运行的 PyTorch 版本：{shown}")
    return CHECK.finding(
        Verdict.INCONCLUSIVE, words, term=TERM, measured=_name(torch), reason_code=Reason.NOT_PROMISED, next_step=CHECK.ask
    )


def _span(wheel: TorchWheel) -> str:
    """The versions of PyTorch that come as this build: one, or from the first to the last (open = still built)."""
    return wheel.first if wheel.first == wheel.last else f"{wheel.first}–{wheel.last or '…'}"


def _runs(
    name: Text, wheels: Sequence[TorchWheel], report: SmiReport, capabilities: frozenset[str], promise: Promise
) -> tuple[Verdict, Text, str]:
    driver = report.driver_version
    if not wheels:
        return Verdict.INCONCLUSIVE, Text(f"no such build is known: {name.en}", f"没有这一版本的资料：{name.zh}"), "unknown_build"
    if driver is None or not version_key(driver) or not capabilities:
        return Verdict.INCONCLUSIVE, Text("driver or cards were not told", "未给出驱动或显卡信息"), Reason.UNREADABLE
    troubles = [(wheel, _trouble(wheel, driver, capabilities)) for wheel in wheels]
    good = [wheel for wheel, trouble in troubles if not trouble.en]
    shown = ", ".join(sorted(capabilities))
    if good:
        tags = ", ".join(wheel.tag for wheel in good)
        minor = _by_minor_version(good, driver, promise)
        return Verdict.PASS, Text(
            f"{name.en} can run here ({tags}) on driver {driver}, compute capability {shown}{minor.en}",
            f"{name.zh} 可运行（{tags}）：驱动 {driver}，计算能力 {shown}{minor.zh}",
        ), ""  # fmt: skip
    wheel, last = troubles[-1]
    forward = _forward(wheel, report, capabilities)
    return (
        Verdict.FAIL, Text(f"{name.en} can't run here: {last.en}{forward.en}", f"{name.zh} 无法运行：{last.zh}{forward.zh}"), "no_fitting_build"
    )  # fmt: skip


def _by_minor_version(wheels: Sequence[TorchWheel], driver: str, promise: Promise) -> Text:
    """A build of a newer toolkit than the driver's own runs all the same within one CUDA major; empty if none has to."""
    newer = [(w, own) for w in wheels if (own := _own_driver(w, promise)) and not at_least(driver, own)]
    if len(newer) < len(wheels) or not newer:
        return NO_TEXT
    wheel, own = newer[0]
    return Text(
        f"; {wheel.tag} by minor-version compatibility (its toolkit came with {own}): code that is only PTX fails",
        f"；{wheel.tag} 依靠次版本兼容（其工具包自带驱动 {own}）：仅含 PTX 的代码会失败",
    )


def _own_driver(wheel: TorchWheel, promise: Promise) -> str | None:
    """The driver that came with the first release of the build's toolkit; None if the table has none."""
    cuda = f"{wheel.tag[2:-1]}.{wheel.tag[-1:]}"
    drivers = [t.driver for t in promise.catalogue.cuda.toolkit if t.version.split(" ")[0] == cuda]
    return min(drivers, key=version_key, default=None)


def _forward(wheel: TorchWheel, report: SmiReport, capabilities: frozenset[str]) -> Text:
    """Whether a compatibility package could lift a driver that is too old; empty where the card is the trouble."""
    if any(not any(_serves(code, card) for code in wheel.capabilities) for card in capabilities):
        return NO_TEXT
    if any("geforce" in (gpu.name or "").lower() for gpu in report.gpus):
        return Text("; a compat package does not serve GeForce cards", "；compat 包不支持 GeForce")
    return Text("; a cuda-compat package may serve it on data-centre cards", "；数据中心卡可尝试 cuda-compat 包")


def _trouble(wheel: TorchWheel, driver: str, capabilities: frozenset[str]) -> Text:
    """Why this build can't run; empty if it can."""
    missing = sorted(c for c in capabilities if not any(_serves(code, c) for code in wheel.capabilities))
    if missing:
        return Text(f"{wheel.tag} has no code for {', '.join(missing)}", f"{wheel.tag} 不含 {', '.join(missing)} 的代码")
    newer = any(version_key(c)[0] >= _BLACKWELL for c in capabilities)
    floor = _BLACKWELL_DRIVER if newer and not at_least(wheel.driver, _BLACKWELL_DRIVER) else wheel.driver
    if not at_least(driver, floor):
        return Text(f"{wheel.tag} needs driver {floor}, here is {driver}", f"{wheel.tag} 需要驱动 {floor}，此处为 {driver}")
    return NO_TEXT


def _serves(code: str, card: str) -> bool:
    """Code runs on cards of its major version with the same or a higher minor one."""
    built, have = version_key(code), version_key(card)
    return built[:1] == have[:1] and built <= have


def _installed(report: SmiReport, capabilities: frozenset[str], torch: TorchFiles, promise: Promise) -> Finding:
    name = _name(torch) or "torch"
    if torch.tag is None:
        plain = Text(f"{name} is a build without CUDA", f"{name} 是不带 CUDA 的版本")
        return CHECK.finding(Verdict.WARN, plain, measured=name, reason_code="cpu_build", next_step=_UPDATE)
    wheels = [w for w in promise.catalogue.cuda.wheels_of(torch.version or "") if w.tag == torch.tag]
    verdict, reason, code = _runs(Text(f"the installed {name}", f"已安装的 {name}"), wheels, report, capabilities, promise)
    # An image may bring another one, so the host's own copy is no breach of the contract.
    verdict = Verdict.WARN if verdict is Verdict.FAIL else verdict
    return CHECK.finding(
        verdict, reason, measured=name, reason_code=str(code),
        next_step=NO_TEXT if verdict is Verdict.PASS else _UPDATE,
    )  # fmt: skip


def _finding(verdict: Verdict, reason: Text, stated: Stated, measured: str | None, code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=measured, reason_code=str(code), next_step=step
    )
