"""What stands in a file that the user, or a config of theirs, names? Only so much of a regular file is ever read."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text

# What a key, a public key or a certificate may have; the longest of ours has a tenth of it.
KEY_BYTES_MAX = 64 * 1024
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_WINDOWS_PATH = re.compile(r"(?:[A-Za-z]:|~|\.{1,2}|%\w+%)?\\")
_KINDS = (
    (stat.S_ISDIR, Text("it is a folder", "它是文件夹")),
    (stat.S_ISFIFO, Text("it is a pipe, not a file", "它是管道，不是普通文件")),
    (stat.S_ISSOCK, Text("it is a socket, not a file", "它是套接字，不是普通文件")),
    (stat.S_ISCHR, Text("it is a device, not a file", "它是设备，不是普通文件")),
    (stat.S_ISBLK, Text("it is a device, not a file", "它是设备，不是普通文件")),
)


class OddFile(OSError):
    """Something that is not read, though it is there; `words` say why in both languages."""

    def __init__(self, words: Text) -> None:
        super().__init__(0, words.en)
        self.words = words


def place_of(words: str) -> Path:
    """The path that somebody typed or pasted: with ~, in quotes, on Windows with %NAME%, too."""
    path = words.strip().removeprefix("\ufeff")
    if len(path) > 2 and path[0] == path[-1] and path[0] in "\"'":
        path = path[1:-1]
    # Elsewhere a % is a letter of a name.
    return Path(os.path.expanduser(os.path.expandvars(path) if os.name == "nt" else path))


def read_file(path: str | Path, bytes_max: int) -> bytes:
    """All of a regular file; the null device holds nothing.

    Raises OSError, with the system's reason or, as OddFile, with ours: no regular file, or more than `bytes_max`. Never waits
    for whoever might write into a pipe, also one that takes the file's place this very moment.
    """
    try:
        _refuse_odd(os.stat(path))
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a NUL byte
        raise OddFile(Text("its name is no file name", "文件名无效")) from error
    try:
        info = os.fstat(descriptor)
        _refuse_odd(info)
        if _is_null(info):
            return b""
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(bytes_max + 1)
    finally:
        os.close(descriptor)
    if len(content) > bytes_max:
        size = f"{bytes_max // 2**20} MiB" if bytes_max >= 2**20 else f"{bytes_max // 2**10} KiB"
        raise OddFile(Text(f"it has more than {size}", f"文件超过 {size}"))
    return content


def why_unread(error: OSError, path: str | Path = "") -> Text:
    """Why a file was not read, in both languages; that its path is one of Windows is said where this is not Windows."""
    words = error.words if isinstance(error, OddFile) else os_reason(error)
    if os.name != "nt" and isinstance(error, FileNotFoundError) and _WINDOWS_PATH.match(str(path)):
        return Text(f"{words.en}; this is a path of Windows", f"{words.zh}；这是 Windows 的路径")
    return words


def _refuse_odd(info: os.stat_result) -> None:
    if _is_null(info):
        return
    for is_kind, words in _KINDS:
        if is_kind(info.st_mode):
            raise OddFile(words)


def _is_null(info: os.stat_result) -> bool:
    if not stat.S_ISCHR(info.st_mode):
        return False
    try:
        return os.path.samestat(info, os.stat(os.devnull))
    except OSError:
        return False
