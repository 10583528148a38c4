"""Whatever stands where the user says that a file is: it is read within bounds, or refused in both languages, and nobody waits."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.remote import named_files
from gpulease_gui.remote.credentials import Credentials, KeyRing, is_encrypted, is_of_no_use
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.key_certificates import blob_in, public_of
from gpulease_gui.remote.known_hosts import keys_for, revoked_in
from gpulease_gui.remote.named_files import OddFile, place_of, read_file, why_unread
from gpulease_gui.remote.ssh_lines import config_files

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="pipes and devices are those of POSIX"), pytest.mark.timeout(20)]

PIPE = Text("it is a pipe, not a file", "它是管道，不是普通文件")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe", 0o600)
    return tmp_path / "pipe"


@pytest.fixture
def huge(tmp_path: Path) -> Path:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(2 * 2**30)  # it takes no room
    (tmp_path / "huge").chmod(0o600)
    return tmp_path / "huge"


def odd(path: str | Path, most: int = 1024) -> Text:
    with pytest.raises(OddFile) as caught:
        read_file(path, most)
    return caught.value.words


def test_that_only_a_regular_file_within_bounds_is_read(tmp_path: Path, pipe: Path, huge: Path) -> None:
    assert odd(pipe) == PIPE
    assert odd("/dev/zero") == Text("it is a device, not a file", "它是设备，不是普通文件")
    assert odd(tmp_path).en == "it is a folder" and odd("a\0b").en == "its name is no file name"
    assert odd(huge) == Text("it has more than 1 KiB", "文件超过 1 KiB")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind(str(tmp_path / "sock"))
        assert odd(tmp_path / "sock").en == "it is a socket, not a file"
    (tmp_path / "good").write_bytes(b"x" * 1024)
    assert read_file(tmp_path / "good", 1024) == b"x" * 1024
    assert read_file(os.devnull, 1024) == b""


def test_that_a_pipe_that_takes_the_files_place_meanwhile_is_not_waited_for(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    regular = os.stat(__file__)
    with monkeypatch.context() as early:
        early.setattr(named_files.os, "stat", lambda path: regular)
        assert odd(pipe) == PIPE


def test_that_no_handle_stays_open_after_a_refusal(tmp_path: Path, huge: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        odd(huge)
        odd("/dev/zero")
    assert len(os.listdir("/proc/self/fd")) == before


def readers() -> Iterator[tuple[str, Callable[[str], object]]]:
    yield "blob_in", blob_in
    yield "public_of", public_of
    yield "is_encrypted", is_encrypted
    yield "is_of_no_use", is_of_no_use


@pytest.mark.parametrize("read", [work for _, work in readers()], ids=[name for name, _ in readers()])
def test_that_a_key_or_certificate_that_is_no_file_says_nothing(read: Callable[[str], object], pipe: Path, huge: Path) -> None:
    for path in (str(pipe), "/dev/zero", str(huge), "a\0b"):
        assert read(path) in (None, False)
    # Of a private key that is not there its public half may name one in the agent.
    assert read("~nobody-of-that-name/key") in ((True,) if read is is_of_no_use else (None, False))


@pytest.mark.parametrize(("name", "why"), [("pipe", "it is a pipe, not a file"), ("huge", "it has more than 64 KiB")])
def test_that_a_key_that_is_no_file_is_refused_by_name(tmp_path: Path, pipe: Path, huge: Path, name: str, why: str) -> None:
    with pytest.raises(ConnectFailed) as caught:
        KeyRing().load("n:22", Credentials(identity_file=str(tmp_path / name)))
    assert (caught.value.cause, caught.value.why) == ("key_unreadable", f"the key file {tmp_path / name} can't be read: {why}")
    assert caught.value.why_text.zh.startswith("无法读取密钥文件")


def test_that_a_certificate_a_config_and_the_known_hosts_are_never_waited_for(tmp_path: Path, pipe: Path, huge: Path) -> None:
    for path, why in ((pipe, "it is a pipe, not a file"), (huge, "it has more than 4 MiB")):
        (line,) = config_files(str(path))[0].items
        assert line.trouble == Text(f"the file can't be read: {why}", line.trouble.zh)  # type: ignore[union-attr]
    (tmp_path / "config").write_text(f"Include {pipe}\nHost n1\n")
    (inner, _) = config_files(str(tmp_path / "config"))[0].items
    assert inner.items[0].trouble is not None  # type: ignore[union-attr]
    assert keys_for("n1", [str(pipe), os.devnull]).skipped == (f"{pipe}: it is a pipe, not a file",)
    assert keys_for("n1", [str(huge)]).skipped == (f"{huge}: it has more than 16 MiB",)
    with pytest.raises(UsageError, match="it is a pipe, not a file; without it no host key can be trusted"):
        revoked_in(str(pipe))


def test_that_a_path_is_taken_as_it_is_pasted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert place_of('"~/a b"') == tmp_path / "a b" and place_of(" '/k' ") == Path("/k") and place_of("~nobody-of-that-name/k") == Path("~nobody-of-that-name/k")
    monkeypatch.setattr(named_files.os, "name", "nt")
    monkeypatch.setattr(named_files.os.path, "expandvars", lambda path: path.replace("%USERPROFILE%", "/home/li"))
    with monkeypatch.context() as away:
        away.setattr(named_files, "Path", str)
        assert place_of("%USERPROFILE%/.ssh/id") == "/home/li/.ssh/id"


@pytest.mark.parametrize("path", [r"C:\Users\li\.ssh\id_rsa", r"~\.ssh\id_rsa", r"%USERPROFILE%\.ssh\id_rsa", r".\key.pem"])
def test_that_a_path_of_windows_is_told_as_one(path: str) -> None:
    with pytest.raises(OSError) as caught:
        read_file(place_of(path), 1024)
    assert why_unread(caught.value, path).en == "No such file or directory; this is a path of Windows"
    assert why_unread(caught.value, "/nowhere").en == "No such file or directory"
    with pytest.raises(ConnectFailed) as refused:
        KeyRing().load("n:22", Credentials(identity_file=path))
    assert "this is a path of Windows" in refused.value.why and "这是 Windows 的路径" in refused.value.why_text.zh
