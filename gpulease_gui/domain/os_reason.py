"""Why did this computer refuse a file or a connection, in both languages?"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from gpulease_gui.domain.text import Text

_WORDS: Mapping[str, str] = {
    "ENOENT": "没有这个文件或文件夹", "EACCES": "没有权限", "EPERM": "系统不允许此操作", "ENOSPC": "磁盘空间不足",
    "EDQUOT": "超出磁盘配额", "EISDIR": "这是一个文件夹", "ENOTDIR": "路径中有一段不是文件夹", "EROFS": "文件系统为只读",
    "EEXIST": "已有同名文件", "ENAMETOOLONG": "名称过长", "EIO": "读写出错", "EMFILE": "打开的文件过多", "ENFILE": "打开的文件过多",
    "EBUSY": "正被占用", "ETXTBSY": "正被占用", "ENOTEMPTY": "文件夹非空", "EFBIG": "文件过大", "ELOOP": "符号链接过多",
    "EINVAL": "系统不接受此名称或操作", "ENODEV": "没有这个设备", "ENXIO": "没有这个设备", "ENOMEM": "内存不足",
    "ESTALE": "网络文件夹已失效", "EXDEV": "不在同一个磁盘上", "EPIPE": "对方已断开", "ETIMEDOUT": "超时",
    "ECONNREFUSED": "对方拒绝连接", "ECONNRESET": "对方重置了连接", "EHOSTUNREACH": "没有到该主机的路由", "ENETUNREACH": "没有到该网络的路由",
    "EHOSTDOWN": "主机不在线", "EADDRNOTAVAIL": "本机没有这个地址", "EPROTO": "协议出错",
}  # fmt: skip
_ZH = {getattr(errno, name): zh for name, zh in _WORDS.items() if hasattr(errno, name)}  # Windows lacks some
# Windows has no words of its own for those of the network.
_BY_WORDS = {os.strerror(code): zh for code, zh in _ZH.items() if os.strerror(code) != os.strerror(-1)}


def os_reason(error: OSError) -> Text:
    """The usual causes in both languages; of any other the words of the system are all there is."""
    said = error.strerror or str(error) or type(error).__name__
    return Text(said, _ZH.get(error.errno or 0, said))


def words_in_chinese(said: str) -> str | None:
    """What the system's own `said` means, where the code is not known any more; None = not one of the usual causes."""
    return _BY_WORDS.get(said)
