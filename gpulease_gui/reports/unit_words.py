"""How is a unit written beside a figure, in either language?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.text import Text, foreign

# Counted things: (one, several, Chinese). Units of measure are the same in every language.
_COUNTED: Mapping[str, tuple[str, str, str]] = {
    "GPUs": ("GPU", "GPUs", "卡"), "NPUs": ("NPU", "NPUs", "卡"), "cards": ("card", "cards", "卡"),
    "cores": ("core", "cores", "核"), "nodes": ("node", "nodes", "个节点"), "lanes": ("lane", "lanes", "通道"),
    "NICs": ("NIC", "NICs", "张网卡"), "ports": ("port", "ports", "个端口"), "generation": ("", "", ""),
    "packets": ("packet", "packets", "个包"), "processors": ("processor", "processors", "个处理器"),
    "sockets": ("socket", "sockets", "路"), "banks": ("bank", "banks", "个存储体"), "errors": ("error", "errors", "个错误"),
    "events": ("event", "events", "条事件"), "rows": ("row", "rows", "行"), "links": ("link", "links", "条链路"),
    "processes": ("process", "processes", "个进程"), "pages": ("page", "pages", "页"),
    "samples": ("sample", "samples", "个样本"), "fields": ("field", "fields", "个字段"), "bytes": ("byte", "bytes", "字节"),
}  # fmt: skip


def unit_text(unit: str, figure: object = None) -> Text:
    """A unit without the explanation that follows it; one thing is said in the singular."""
    short = unit.split(",")[0].split(" ")[0]
    if short not in _COUNTED:
        return foreign(short)
    one, several, zh = _COUNTED[short]
    return Text(one if figure == 1 else several, zh)
