"""How is a script or a folder sent to a node, with nothing in it that could lead out of its folder there?"""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.task import TaskSize
from gpulease_gui.domain.text import Text, foreign, visible

MOST_BYTES = 256 * 1024 * 1024
MOST_ENTRIES = 20_000
# So large a file goes past tar on the node.
LARGE_BYTES = 8 * 1024 * 1024
_BLOCK = 512
_PIECE = 256 * 1024
_LONGEST = 1000
# The same folder is the same stream; archives of the task's own can't hold times before 1980.
_SAME_TIME = 1_577_836_800
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file or folder: `name` on the node with slashes, `path` here ("" where `content` is it)."""

    name: str
    path: str
    size_bytes: int
    folder: bool = False
    executable: bool = False
    content: bytes = b""

    @property
    def large(self) -> bool:
        """Whether it is worth a program of its own on the node."""
        return bool(self.path) and self.size_bytes >= LARGE_BYTES


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A large file in the stream: so many bytes stand before its content and after it, up to the next one or the end."""

    name: str
    size_bytes: int
    executable: bool
    before_bytes: int
    after_bytes: int


@dataclass(frozen=True, slots=True)
class Pack:
    """What is sent, in order."""

    entries: tuple[Entry, ...]

    @property
    def size(self) -> TaskSize:
        """Bytes of all files, and how many entries there are."""
        return TaskSize(sum(entry.size_bytes for entry in self.entries), len(self.entries))

    @property
    def stream_bytes(self) -> int:
        """The exact length of `blocks` in all."""
        return sum(len(_header(entry)) + _padded(entry.size_bytes) for entry in self.entries) + 2 * _BLOCK

    @property
    def large(self) -> tuple[LargeFile, ...]:
        """The large files; they are the last entries."""
        found = [entry for entry in self.entries if entry.large]
        return tuple(
            LargeFile(entry.name, entry.size_bytes, entry.executable, len(_header(entry)), _after(entry, last=entry is found[-1]))
            for entry in found
        )

    def blocks(self) -> Iterator[bytes]:
        """The tar stream in small pieces, read while it is sent. Raises UsageError for a file that has changed since."""
        for entry in self.entries:
            yield _header(entry)
            if not entry.folder:
                yield from _content(entry)
        yield b"\0" * (2 * _BLOCK)


def pack_text(name: str, content: bytes) -> Pack:
    """One file that the program brings itself."""
    return Pack((Entry(name, "", len(content), content=content),))


def pack_script(path: Path) -> Pack:
    """One script. Raises UsageError for what is no plain file, or too large."""
    found = _stat(path)
    if not stat.S_ISREG(found.st_mode):
        raise UsageError(Text(f"{path} is no plain file", f"{path} 不是普通文件"), next_step=Text("name the script itself, or choose a folder", "请指定脚本本身，或选择文件夹"), at_terminal="name the script itself, or a folder with --folder")
    entry = Entry(_checked(path.name), str(path), found.st_size, executable=True)
    _refuse_too_much(path, [entry])
    return Pack((entry,))


def pack_folder(root: Path) -> Pack:
    """All plain files and folders below `root`, sorted, the large files last, so that the same folder is the same stream.

    Raises UsageError for links, devices, sockets, names with control characters, and for too much.
    """
    if not stat.S_ISDIR(_stat(root).st_mode):
        raise UsageError(Text(f"{root} is no folder", f"{root} 不是文件夹"), next_step=Text("name a folder, or choose a script", "请指定文件夹，或选择脚本"), at_terminal="name a folder, or one file with --script")
    entries: list[Entry] = []
    for entry in _walk(os.path.realpath(root), ""):
        entries.append(entry)
        if len(entries) > MOST_ENTRIES:
            raise UsageError(
                Text(f"{root} holds more than {MOST_ENTRIES:,} files and folders", f"{root} 中的文件和文件夹超过 {MOST_ENTRIES:,} 个"),
                next_step=Text("leave out .git, environments and data", "请排除 .git、虚拟环境和数据"),
            )
    if not any(not entry.folder for entry in entries):
        raise UsageError(Text(f"{root} holds no file", f"{root} 中没有文件"))
    _refuse_too_much(root, entries)
    return Pack(tuple(sorted(entries, key=lambda entry: entry.large)))


def _walk(folder: str, prefix: str) -> Iterator[Entry]:
    try:
        with os.scandir(folder) as listing:
            found = sorted(listing, key=lambda one: one.name)
    except OSError as error:
        raise UsageError(Text(f"can't read {visible(folder)}", f"无法读取 {visible(folder)}"), os_reason(error)) from error
    for one in found:
        name = _checked(prefix + one.name)
        about = one.stat(follow_symlinks=False)
        if one.is_symlink() or getattr(one, "is_junction", bool)():
            raise UsageError(
                Text(f"{name} is a link", f"{name} 是链接"), Text("a link could lead out of the folder", "链接可能指向文件夹之外"),
                Text("replace it by what it points to", "请换成它所指向的文件"),
            )  # fmt: skip
        if stat.S_ISDIR(about.st_mode):
            yield Entry(name, one.path, 0, folder=True)
            yield from _walk(one.path, f"{name}/")
        elif stat.S_ISREG(about.st_mode):
            yield Entry(name, one.path, about.st_size, executable=os.name != "posix" or bool(about.st_mode & 0o100))
        else:
            raise UsageError(
                Text(f"{name} is neither a file nor a folder", f"{name} 既不是文件也不是文件夹"), Text("devices, sockets and pipes are not sent", "设备、套接字和管道不会发送"),
                Text("remove it from the folder", "请将其移出文件夹"),
            )  # fmt: skip


def _checked(name: str) -> str:
    """A name that any node can hold. Raises UsageError."""
    if visible(name) != name or any(ord(mark) < 0x20 or mark == "\\" for mark in name):
        shown = visible(name).encode("unicode_escape").decode("ascii")
        raise UsageError(Text(f"the name {shown} holds control characters or a backslash", f"名称 {shown} 含有控制字符或反斜杠"), next_step=Text("rename it", "请改名"))
    if len(name.encode()) > _LONGEST:
        raise UsageError(Text(f"the path {name[:60]}… is longer than {_LONGEST} bytes", f"路径 {name[:60]}… 超过 {_LONGEST} 字节"), next_step=Text("shorten it", "请缩短"))
    return name


def _stat(path: Path) -> os.stat_result:
    try:
        return os.stat(path)
    except (OSError, ValueError) as error:
        raise UsageError(Text(f"can't read {path}", f"无法读取 {path}"), os_reason(error) if isinstance(error, OSError) else foreign(str(error)), Text("check the path", "请检查路径")) from error


def _refuse_too_much(root: Path, entries: list[Entry]) -> None:
    whole = sum(entry.size_bytes for entry in entries)
    if whole <= MOST_BYTES:
        return
    parts: dict[str, int] = {}
    for entry in entries:
        top = entry.name.split("/")[0]
        parts[top] = parts.get(top, 0) + entry.size_bytes
    largest = max(parts, key=lambda name: parts[name])
    raise UsageError(
        Text(f"{root} holds {whole >> 20} MiB; {MOST_BYTES >> 20} MiB are sent at most", f"{root} 共 {whole >> 20} MiB，最多发送 {MOST_BYTES >> 20} MiB"),
        Text(f"the largest part is {largest} with {parts[largest] >> 20} MiB", f"最大的是 {largest}，{parts[largest] >> 20} MiB"),
        Text("leave it out, or let the task load its data by itself", "请将其排除，或由任务自行下载数据"),
    )  # fmt: skip


def _header(entry: Entry) -> bytes:
    about = tarfile.TarInfo(entry.name)
    about.type = tarfile.DIRTYPE if entry.folder else tarfile.REGTYPE
    about.mode = 0o700 if entry.folder or entry.executable else 0o600
    about.size = entry.size_bytes
    about.mtime = _SAME_TIME
    return about.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _padded(size_bytes: int) -> int:
    return -(-size_bytes // _BLOCK) * _BLOCK


def _after(entry: Entry, *, last: bool) -> int:
    return _padded(entry.size_bytes) - entry.size_bytes + (2 * _BLOCK if last else 0)


def _content(entry: Entry) -> Iterator[bytes]:
    sent = 0
    for piece in (_pieces(entry.content) if not entry.path else _file(entry)):
        sent += len(piece)
        if sent > entry.size_bytes:
            raise _changed(entry)
        yield piece
    if sent != entry.size_bytes:
        raise _changed(entry)
    if left := _padded(sent) - sent:
        yield b"\0" * left


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]


def _file(entry: Entry) -> Iterator[bytes]:
    """A file that became a link, or a part of whose path did, is not followed."""
    try:
        if os.path.realpath(entry.path) != os.path.abspath(entry.path) and "/" in entry.name:
            raise _changed(entry)
        number = os.open(entry.path, os.O_RDONLY | _NO_LINKS)
    except OSError as error:
        raise UsageError(Text(f"can't read {entry.name}", f"无法读取 {entry.name}"), os_reason(error)) from error
    with os.fdopen(number, "rb", buffering=0) as file:
        about = os.fstat(number)
        if not stat.S_ISREG(about.st_mode) or about.st_size != entry.size_bytes:
            raise _changed(entry)
        while piece := file.read(_PIECE):
            yield piece


def _changed(entry: Entry) -> UsageError:
    return UsageError(Text(f"{entry.name} has changed while it was sent", f"{entry.name} 在发送时发生变化"), next_step=Text("let nothing write to the folder, then start again", "请确保没有程序写入该文件夹，然后重新开始"))
