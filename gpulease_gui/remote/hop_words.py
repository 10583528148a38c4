"""How is said of a jump host what our reasons say of a node?"""

from __future__ import annotations

import re

from gpulease_gui.domain.text import Text

# Only what our own sentences say of a node: words that a server sent stay as they came.
_OF_NODE = re.compile(r"the node(?= (?:refuses|ended|asks|takes|may be|opens|accepts|does not answer)\b)")
_OF_NODE_ZH = re.compile("节点(?=在登录时|拒绝|结束|要求|接受|不接受|可能|不再)")
# What belongs to a jump host is said in the ssh config alone.
_OWN = (
    ("the node's SSH options", "the SSH options of the jump host{} in the ssh config"), (" (--identity KEY.pub)", ""),
    ("key file as the node's key", "key file as the IdentityFile of the jump host{} in the ssh config"),
    ("belongs to this node", "belongs to the jump host{}"),
)  # fmt: skip
_OWN_ZH = (
    ("该节点的 SSH 选项", "跳板机{}在 ssh 配置中的 SSH 选项"), ("设为该节点的密钥", "在 ssh 配置中设为跳板机{}的 IdentityFile"), ("属于该节点", "属于跳板机{}"),
)  # fmt: skip


def of_jump_host(words: Text, host_port: str = "") -> Text:
    """The same of a jump host, by its name where `host_port` is given."""
    name, name_zh = (f" {host_port}", f" {host_port} ") if host_port else ("", "")
    en, zh = _OF_NODE.sub(f"the jump host{name}", words.en), _OF_NODE_ZH.sub(f"跳板机{name_zh}", words.zh)
    for ours, theirs in _OWN:
        en = en.replace(ours, theirs.format(name))
    for ours, theirs in _OWN_ZH:
        zh = zh.replace(ours, theirs.format(name_zh))
    return Text(en, zh)
