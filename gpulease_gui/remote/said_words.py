"""What do the words of the SSH library and of this system say, in both languages?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.os_reason import words_in_chinese
from gpulease_gui.domain.text import Text

# The four reasons of RFC 4254, 5.1, then key exchange, login and channels, as the library words them.
_LIBRARY: Mapping[str, Text] = {
    "Administratively prohibited": Text("its rules forbid it", "对方的规则不允许"),
    "Connect failed": Text("opening it failed there", "对方未能打开"),
    "Unknown channel type": Text("it does not know this kind of channel", "对方不认识此类通道"),
    "Resource shortage": Text("it is short of resources", "对方资源不足"),
    "(unknown code)": Text("it gives no reason that is known", "对方未给出已知的原因"),
    "Incompatible ssh peer (no acceptable kex algorithm)": Text("key exchange", "密钥交换算法"),
    "Incompatible ssh peer (no acceptable host key)": Text("type of host key", "主机密钥类型"),
    "Incompatible ssh server (no acceptable ciphers)": Text("cipher", "加密算法"),
    "Incompatible ssh server (no acceptable macs)": Text("MAC", "消息认证码（MAC）"),
    "Incompatible ssh server (no acceptable compression)": Text("way of compressing, not even none", "压缩方式（连“不压缩”也不支持）"),
    "Timeout opening channel.": Text("no channel was opened in time", "未能及时打开通道"),
    "Unable to open channel.": Text("no channel could be opened", "无法打开通道"),
    "SSH session not active": Text("the connection is over", "连接已结束"),
    "No existing session": Text("the connection is over", "连接已结束"),
    "Authentication failed.": Text("the login failed", "登录失败"),
    "Authentication timeout.": Text("the login took too long", "登录超时"),
    "Channel closed.": Text("the channel was closed", "通道已关闭"),
    "Signature verification (ssh-ed25519) failed.": Text("the host's signature is wrong", "主机签名错误"),
    "the node accepts another service than was asked for": Text("the node accepts another service than was asked for", "节点接受了并未请求的服务"),
    "Mismatched MAC": Text("a packet was changed on the way", "数据包在途中被改动"),
    "No MAC in packet": Text("a packet was changed on the way", "数据包在途中被改动"),
}
# Of looking up names, which has no code of the system, and of our own reading of known_hosts.
_OTHERS: Mapping[str, str] = {
    "Name or service not known": "没有这个名称",
    "No address associated with hostname": "该名称没有地址",
    "Temporary failure in name resolution": "域名服务器无应答",
    "an unknown marker": "未知的标记",
    "no host, key type and key": "缺少主机名、密钥类型或密钥",
    "the key is not base64": "密钥不是 base64",
    "the key is not of the type that the line names": "密钥与所写类型不符",
}


def in_both(said: str) -> Text:
    """The library's or the system's words in both languages; also those after an option and a colon. Others stay as they are: data."""
    known = _LIBRARY.get(said)
    if known is not None:
        return known
    about, colon, rest = said.rpartition(": ")
    zh = _OTHERS.get(rest) or words_in_chinese(rest)
    return Text(said, f"{about}{'：' if colon else ''}{zh}" if zh else said)
