"""How are notes that the program itself wrote down said in either language?

The store keeps a note as it was written; a note in a person's own words stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.text import Text, foreign

_KNOWN: Mapping[str, Text] = {
    "fingerprint from the supplier": Text("compared with the supplier's fingerprint", "已与供应商指纹比对"),
    "fingerprint given by the user": Text("compared with a given fingerprint", "已与所给指纹比对"),
    "known_hosts, a certificate of the host's authority": Text("certificate of an authority in known_hosts", "known_hosts 中 CA 签发的主机证书"),
    "not compared": Text("not compared", "未比对"),
    "shipped with the demo": Text("shipped with the demo", "随演示提供"),
    "replaced by hand, with a reason": Text("replaced by hand", "手动替换"),
    "the same key at an edited address": Text("the same key at an edited address", "修改地址后密钥相同"),
    "taken over from the offer": Text("taken over from the offer", "取自报价"),
}
_FROM_OFFER = "taken over from offer "
# Before the name of another record of the place and how its key was compared.
AS_FOR = "as for "


def note_text(note: str) -> Text:
    """The note in both languages if the program wrote it, else as it is."""
    if note.startswith(_FROM_OFFER):
        return Text(note, f"取自报价 {note.removeprefix(_FROM_OFFER)}")
    if note.startswith(AS_FOR):
        name, _, how = note.removeprefix(AS_FOR).partition(": ")
        told = note_text(how)
        return Text(f"{AS_FOR}{name}: {told.en}", f"与 {name} 相同：{told.zh}")
    return _KNOWN.get(note, foreign(note))
