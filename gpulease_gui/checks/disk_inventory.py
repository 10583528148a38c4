"""Are the promised disks in the node?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.disk_kinds import KIND_WORDS, DiskKind, PromisedDisk, is_disk, kind_of, promised_disk
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.lsblk import BlockDevice, BlockDevices
from gpulease_gui.facts.mounts import Mounts

TERM = "disk.kind"

# A disk sold as 3.84 TB may show a little less after over-provisioning.
SIZE_SHARE = Threshold(
    "disk.inventory", "size_share", 0.95, SHARE, Text("a disk is as large as promised from this share", "容量达到承诺的此比例即相符"), ">=", high=1.0
)

CHECK = Check(
    id="disk.inventory",
    title=Text("Disks", "磁盘"),
    why=Text(
        "A hard disk or a shared network disk in place of local NVMe starves the data loader.",
        "用机械盘或共享网络盘代替本地 NVMe，会拖垮数据加载。",
    ),
    facts=("lsblk",),
    optional=("mounts", "environment"),
    terms=(TERM,),
    ask=Text("What disks does the node have: local NVMe, SATA SSD, hard disk or a network disk?",
             "节点配什么磁盘：本地 NVMe、SATA SSD、机械盘还是网络盘？"),
    thresholds=(SIZE_SHARE,),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Disk:
    """A disk with the kind that it shows."""

    device: BlockDevice
    kind: DiskKind
    size_share: float

    @property
    def gb(self) -> float | None:
        """Decimal GB; None if the size is no plain number."""
        return self.device.size_bytes / 1e9 if self.device.size_bytes is not None else None

    def fits(self, wanted: PromisedDisk) -> bool:
        """Whether it is as good as the promised kind, and as large."""
        small = wanted.each_gb is not None and (self.gb is None or self.gb < wanted.each_gb * self.size_share)
        return self.kind in _AS_GOOD[wanted.kind] and not small


_AS_GOOD = {
    DiskKind.NVME: (DiskKind.NVME,),
    DiskKind.SSD: (DiskKind.NVME, DiskKind.SSD),
    DiskKind.HDD: (DiskKind.NVME, DiskKind.SSD, DiskKind.HDD),
    DiskKind.NETWORK: tuple(DiskKind),
}
_HIDDEN = (DiskKind.VIRTUAL, DiskKind.NETWORK, DiskKind.UNKNOWN)


def judge(
    listed: BlockDevices, mounts: Mounts | None, environment: Environment | None, promise: Promise
) -> tuple[Finding, ...]:
    """One finding with a subject for each disk."""
    disks = [_Disk(d, kind_of(d), promise.limit(SIZE_SHARE)) for d in listed.disks if is_disk(d)]
    stated = promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, _summary(disks, zh=False) or None, subjects=_subjects(disks, None)),)
    wanted = promised_disk(str(stated.value))
    if wanted is None:
        return (_finding(Verdict.INCONCLUSIVE, _UNKNOWN_WORDS, stated, disks, None, "kind_not_understood", CHECK.ask),)
    if not disks:
        return (_finding(Verdict.INCONCLUSIVE, _NONE_SHOWN, stated, disks, wanted, Reason.UNREADABLE, _RUN_ON_HOST),)
    return (_judged(disks, wanted, stated, listed.cut_off, mounts, environment),)


def _judged(
    disks: list[_Disk], wanted: PromisedDisk, stated: Stated, cut: bool, mounts: Mounts | None,
    environment: Environment | None,
) -> Finding:  # fmt: skip
    shown = Text(_summary(disks, zh=False), _summary(disks, zh=True))
    fitting = sum(d.fits(wanted) for d in disks)
    if fitting >= (wanted.count or 1):
        if wanted.kind is not DiskKind.NETWORK and (doubt := _not_given(mounts, environment)):
            return _finding(Verdict.WARN, doubt, stated, disks, wanted, "disk_not_given", _RUN_ON_HOST)
        return _finding(
            Verdict.PASS,
            Text(f"the node has {shown.en}", f"节点配有 {shown.zh}"),
            stated,
            disks,
            wanted,
            stated.reason_code,
        )
    if cut:
        return _finding(Verdict.INCONCLUSIVE, _CUT, stated, disks, wanted, Reason.CUT_OFF, _RUN_ON_HOST)
    if any(d.kind in _HIDDEN for d in disks):
        reason = Text(
            f"the node shows {shown.en}: what they are made of is not visible",
            f"节点显示 {shown.zh}：看不到底层介质",
        )
        return _finding(Verdict.WARN, reason, stated, disks, wanted, "disk_kind_hidden", _MEASURE)
    reason = Text(f"{stated.value} was promised, the node has {shown.en}", f"承诺 {stated.value}，节点只有 {shown.zh}")
    return _finding(Verdict.FAIL, reason, stated, disks, wanted, "disks_missing", _ASK_DISKS)


def _not_given(mounts: Mounts | None, environment: Environment | None) -> Text | None:
    """In a container lsblk lists the host's disks; only a mount of one says that we may use it."""
    if environment is None or not environment.is_container:
        return None
    largest = mounts.largest() if mounts else None
    if largest is not None and largest.source.startswith("/dev/"):
        return None
    kind = largest.kind if largest else "?"
    return Text(
        f"the host has such disks, but this container was given {kind}", f"宿主机有此类磁盘，但容器实际拿到的是 {kind}"
    )


def _summary(disks: list[_Disk], *, zh: bool) -> str:
    """`8x NVMe 3,841 GB, 2x SATA/SAS SSD 960 GB`."""
    counts = Counter((d.kind, round(d.gb) if d.gb is not None else None) for d in disks)
    parts = []
    for (kind, gb), n in counts.most_common(8):
        word = KIND_WORDS[kind].zh if zh else KIND_WORDS[kind].en
        parts.append(f"{n}x {word}" + (f" {number_text(gb)} GB" if gb is not None else ""))
    return ", ".join(parts)


def _subjects(disks: list[_Disk], wanted: PromisedDisk | None) -> list[SubjectFinding]:
    """Each disk; one that does not fit is no fault as long as enough others do."""
    found = []
    for disk in disks:
        fits = wanted is not None and disk.fits(wanted)
        text = KIND_WORDS[disk.kind]
        model = disk.device.model or ""
        found.append(SubjectFinding(
            disk.device.name, Verdict.PASS if fits else Verdict.NOT_APPLICABLE,
            round(disk.gb, 1) if disk.gb is not None else None,
            reason=Text(f"{text.en} {model}".strip(), f"{text.zh} {model}".strip()),
        ))  # fmt: skip
    return found


_UNKNOWN_WORDS = Text("the contract's words name no kind of disk that we know", "合同文字没有写明可识别的磁盘类型")
_NONE_SHOWN = Text("no disk is visible here", "此处看不到任何磁盘")
_CUT = Text("the list ends early, disks may be missing from it", "列表不完整，可能有磁盘未列出")
_RUN_ON_HOST = Text(
    "Run lsblk and df -T on the host, or ask the supplier for both.",
    "请在宿主机上运行 lsblk 和 df -T，或向供应商索取。",
)
_MEASURE = Text("Measure it: run the check disk.seq.", "请实测：运行检查项 disk.seq。")
_ASK_DISKS = Text("Ask the supplier for the missing disks or for a lower price.", "请供应商补齐磁盘或降价。")


def _finding(
    verdict: Verdict, reason: Text, stated: Stated, disks: list[_Disk], wanted: PromisedDisk | None, code: str,
    step: Text = NO_TEXT,
) -> Finding:  # fmt: skip
    return CHECK.finding(
        verdict,
        reason,
        term=TERM,
        promised=stated.value,
        measured=_summary(disks, zh=False) or None,
        subjects=_subjects(disks, wanted),
        reason_code=str(code),
        next_step=step,
    )
