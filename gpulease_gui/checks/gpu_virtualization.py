"""Are the cards real ones, or shares that a hypervisor cut out of them?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.shares import is_vgpu, share_signs, share_words
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.preload import Preload
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "gpu.whole"

CHECK = Check(
    id="gpu.virtualization",
    title=Text("Real card, not a vGPU", "实体卡而非 vGPU"),
    why=Text(
        "A vGPU carries the name of the card and gets a share of its time.",
        "vGPU 带着整卡的名字，却只分到一部分时间片。",
    ),
    facts=("smi_xml",),
    optional=("preload",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    rule_version=3,
    ask=Text("Do we get whole cards, or shares of them (vGPU)?", "交付的是整卡还是 vGPU？"),
)
# What the driver calls "None"; as a figure beside a promise that word would read as nothing measured.
_NO_MODE = "none (whole GPU)"
_ASK = Text("ask the supplier for whole cards, or for the price of a share", "请供应商交付整卡，或按份额计价")
_LOOK = Text("run `env; cat /etc/ld.so.preload` where you work and look for names of vGPU software", "请在工作环境中运行 `env; cat /etc/ld.so.preload`，查看有无 vGPU 切分软件")
_RUN = Text("run `nvidia-smi -q` on the node and read GPU Virtualization Mode", "在节点上运行 `nvidia-smi -q`，查看 GPU Virtualization Mode")


def judge(report: SmiReport, preload: Preload | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the mode that the driver names, or what cuts the card."""
    stated = promise.get(TERM)
    if not report.gpus:
        return ()
    if stated is None and (share := next((w for gpu in report.gpus if (w := share_words(gpu, preload))), None)):
        nobody = Text(f"{share.en}; nobody promised whole cards", f"{share.zh}；也无人承诺整卡")
        return (CHECK.finding(Verdict.INCONCLUSIVE, nobody, term=TERM, measured="share", reason_code=Reason.NOT_PROMISED, next_step=CHECK.ask),)
    if stated is None:
        modes = sorted({_said(gpu.virtualization_mode) or "?" for gpu in report.gpus})
        return (CHECK.not_promised(TERM, ", ".join(modes)),)
    if stated.value is False:
        shares = Text("the contract rents shares of cards", "合同租用的是显卡份额")
        return (CHECK.finding(Verdict.NOT_APPLICABLE, shares, term=TERM, promised=False),)
    bare = promise.terms.get("isolation") == "bare_metal"
    marks = [(gpu, _mark(gpu, preload, bare)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, term=TERM, promised=stated.value, pass_code=stated.reason_code),)


def _mark(gpu: Gpu, preload: Preload | None, bare: bool) -> Mark:
    mode, name = (gpu.virtualization_mode or "").strip(), (gpu.name or "").strip()
    share = share_words(gpu, preload)
    if share and is_vgpu(gpu):
        return Mark(Verdict.FAIL, share, "vgpu", mode or name[:60], _ASK)
    if share and preload is not None and share_signs(preload):
        return Mark(Verdict.FAIL, share, "cut_by_software", share_signs(preload)[0][:60], _ASK)
    if mode.lower() == "host vgpu":
        host = Text("the driver is set up to cut this card into vGPUs", "驱动已设置为把该卡切成 vGPU")
        return Mark(Verdict.WARN, host, "vgpu_host", mode, _ASK)
    if mode.lower() == "pass-through" and bare:
        passed = Text("passed through to a virtual machine, bare metal was promised", "显卡直通给虚拟机，承诺的是裸金属")
        return Mark(Verdict.WARN, passed, "pass_through", mode, _ASK)
    if mode.lower() in ("none", "pass-through") and preload is None:
        open_ = Text("a whole card by the driver; whether software cuts it was not read", "驱动显示为整卡；是否被软件切分未读取")
        return Mark(Verdict.INCONCLUSIVE, open_, "software_not_read", _said(mode), _LOOK)
    if mode.lower() in ("none", "pass-through"):
        return Mark(Verdict.PASS, Text("a whole card", "整卡"), "", _said(mode))
    return Mark(Verdict.INCONCLUSIVE, Text("the driver does not name the mode", "驱动未给出虚拟化模式"), Reason.UNREADABLE, None, _RUN)


def _said(mode: str | None) -> str:
    """The driver's word for the mode, unless that word is "None"."""
    word = (mode or "").strip()
    return _NO_MODE if word.lower() == "none" else word
