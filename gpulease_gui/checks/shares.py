"""Is what this node shows a whole card, or a share that something cut out of it?"""

from __future__ import annotations

import re

from gpulease_gui.domain.text import Text
from gpulease_gui.facts.preload import Preload
from gpulease_gui.facts.smi_xml import Gpu

# GRID A100-20C, NVIDIA H100L-2-24C, A16-4Q: the profile behind the name of the card.
_PROFILE = re.compile(r"^grid\b|-\d{1,3}(?:-\d{1,3})?[abcq]$", re.IGNORECASE)
_SHARE_VARIABLE = re.compile(r"CUDA_DEVICE_(?:MEMORY|SM)_LIMIT(?:_\d+)?=(.*)", re.DOTALL)
_HOOK_NAMES = ("libvgpu", "vgpu-control", "libcuda-control", "hami")


def is_vgpu(gpu: Gpu) -> bool:
    """Whether the driver or the name of the card speaks of a vGPU."""
    return (gpu.virtualization_mode or "").strip().lower() == "vgpu" or bool(_PROFILE.search((gpu.name or "").strip()))


def is_hook(path: str) -> bool:
    """Whether a library bears the name of software that shares cards out."""
    return any(word in path.rsplit("/", 1)[-1].lower() for word in _HOOK_NAMES)


def share_signs(preload: Preload) -> tuple[str, ...]:
    """Variables and libraries of software such as HAMi that cut a card for programs; () if there are none."""
    found = [words for words in preload.env if (hit := _SHARE_VARIABLE.fullmatch(words)) and hit[1].strip() not in ("", "0")]
    found += [path for path in (*preload.mapped, *(x.path for x in preload.libraries)) if is_hook(path)]
    found += [words for words in preload.env if words.startswith("LD_PRELOAD=") and is_hook(words)]
    return tuple(dict.fromkeys(found))


def share_words(gpu: Gpu, preload: Preload | None) -> Text | None:
    """What the renter of this card is told that it is; None where nothing speaks of a share."""
    if is_vgpu(gpu):
        name = (gpu.name or "?")[:60]
        return Text(f"you rent a share of a card, a vGPU ({name})", f"您租到的是一份 vGPU，而非整卡（{name}）")
    if preload is not None and (signs := share_signs(preload)):
        return Text(f"you rent a share of a card, cut by software ({signs[0][:60]})", f"您租到的是软件切分的份额，而非整卡（{signs[0][:60]}）")
    if (gpu.mig_mode_current or "").strip().lower() == "enabled" and gpu.mig_devices:
        return Text(
            f"you rent a share of a card: MIG is on, {gpu.mig_devices} slices are shown",
            f"您租到的是 MIG 切片，而非整卡：可见 {gpu.mig_devices} 个切片",
        )
    return None
