"""Where does the list of cards (`nvidia-smi -L`) contradict the report of the same tool?"""

from __future__ import annotations

from gpulease_gui.checks.gpu_count import gone
from gpulease_gui.domain.finding import SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_list import ListedGpu, SmiList
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

_LEFT_OUT = Text("nvidia-smi -q reports this card, nvidia-smi -L leaves it out", "nvidia-smi -q 报告了该卡，nvidia-smi -L 中却没有")
_ONLY_LISTED = Text("nvidia-smi -L lists this card, nvidia-smi -q leaves it out", "nvidia-smi -L 列出了该卡，nvidia-smi -q 中却没有")


def contradiction(gpu: Gpu, smi: SmiReport, listed: SmiList) -> Text | None:
    """What the list says otherwise of one card of the report; a list that breaks off may leave cards out."""
    twin = _listed_as(gpu, smi, listed)
    if twin is None:
        return None if listed.cut_off or gone(gpu) else _LEFT_OUT
    pairs = (("UUID", gpu.uuid, twin.uuid), (_NAME, _plain(gpu.name), _plain(twin.name)))
    for what, ours, other in pairs:
        if ours and other and ours != other and not _is_short_for(ours, other):
            zh = "名称" if what == _NAME else what
            return Text(f"{what}: nvidia-smi -q says {ours}, nvidia-smi -L says {other}", f"{zh}：nvidia-smi -q 显示 {ours}，nvidia-smi -L 显示 {other}")
    return None


def only_listed(smi: SmiReport, listed: SmiList) -> list[SubjectFinding]:
    """The cards of the list that the report leaves out."""
    known = [twin for gpu in smi.gpus if (twin := _listed_as(gpu, smi, listed))]
    return [
        SubjectFinding(card.uuid or f"gpu{card.index}", Verdict.FAIL, card.name, card.index, _ONLY_LISTED)
        for card in listed.gpus
        if card not in known
    ]


_NAME = "name"


def _listed_as(gpu: Gpu, smi: SmiReport, listed: SmiList) -> ListedGpu | None:
    """The line of the list for this card: by UUID, else by number unless that line is another card of the report."""
    same = next((card for card in listed.gpus if gpu.uuid and card.uuid == gpu.uuid), None)
    numbered = next((card for card in listed.gpus if card.index == gpu.index), None)
    taken = gpu.uuid and numbered and any(other.uuid == numbered.uuid for other in smi.gpus if other.uuid)
    return same or (None if taken else numbered)


def _plain(name: str | None) -> str:
    return " ".join((name or "").split()).removeprefix("NVIDIA ")


def _is_short_for(one: str, other: str) -> bool:
    """The table of nvidia-smi prints long names with dots at the end."""
    return any(short.endswith("...") and whole.startswith(short[:-3]) for short, whole in ((one, other), (other, one)))
