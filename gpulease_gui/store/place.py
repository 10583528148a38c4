"""Does this folder suit a database, or is it shared by machines?"""

from __future__ import annotations

import os
import re
from pathlib import Path

from gpulease_gui.domain.text import Text

NETWORK_FILE_SYSTEMS = frozenset(
    ["nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "9p", "afs", "ceph", "lustre", "glusterfs", "fuse.sshfs",
     "fuse.glusterfs", "fuse.davfs", "davfs", "fuse.rclone", "fuse.juicefs", "vboxsf", "fuse.vmhgfs-fuse"]
)  # fmt: skip
_SYNCED = re.compile(r"(onedrive|dropbox|google ?drive|nutstore|坚果云|baidusync|icloud ?drive)", re.IGNORECASE)
_MOUNTS = Path("/proc/self/mounts")


def network_file_system(path: Path, mounts: str | None = None) -> str | None:
    """The name of the network file system that `path` lies on; None on a local disk or where nobody says.

    `mounts` is the text of /proc/self/mounts (read if None). There the write-ahead log can't be shared.
    """
    if str(path).startswith(("\\\\", "//")):
        return "smb"
    kind = _kind_of(path, mounts if mounts is not None else _read_mounts())
    return kind if kind in NETWORK_FILE_SYSTEMS else None


def advice(path: Path, mounts: str | None = None) -> Text | None:
    """What to tell the user about the place of the file; None if it suits."""
    kind = network_file_system(path, mounts)
    if kind:
        return Text(
            f"The workspace lies on a network drive ({kind}): slower, and only one computer may open it at a time. "
            "A copy on a local disk is safer.",
            f"工作区位于网络盘（{kind}）：速度较慢，且同一时间只能由一台电脑打开。建议改存到本地磁盘。",
        )
    if any(_SYNCED.search(part) for part in path.parts):
        return Text(
            "The workspace lies in a folder that another program synchronises, which can damage an open database. "
            "Keep it on a local disk and share exported reports instead.",
            "工作区位于云同步文件夹中，同步程序可能损坏正在使用的数据库。请放在本地磁盘，并以导出的报告共享结果。",
        )
    return None


def _read_mounts() -> str:
    return _MOUNTS.read_text("utf-8", "replace") if _MOUNTS.exists() else ""


def _kind_of(path: Path, mounts: str) -> str | None:
    best, kind = -1, None
    target = os.path.abspath(path)
    for words in (line.split() for line in mounts.splitlines()):
        if len(words) < 3:
            continue
        point = _unescaped(words[1])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        # The last of two mounts on one point is the one in use.
        if inside and len(point) >= best:
            best, kind = len(point), words[2]
    return kind


def _unescaped(word: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), word)
