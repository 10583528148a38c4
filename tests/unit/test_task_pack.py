"""Is just what was measured sent, and can nothing in it lead out of the folder on the node?"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.task import TaskSize
from gpulease_gui.remote import task_pack
from gpulease_gui.remote.task_pack import MOST_BYTES, pack_folder, pack_script, pack_text

KEEPER = Path(__file__).resolve().parents[2] / "gpulease_gui" / "agent" / "task_keeper.py"


def folder_in(place: Path) -> Path:
    root = place / "root"
    (root / "a" / ("deep" * 60)).mkdir(parents=True)
    (root / "train.py").write_bytes(b"print(1)\n")
    (root / "a" / ("deep" * 60) / "数据 .bin").write_bytes(bytes(range(256)) * 5)
    (root / "run.sh").write_bytes(b"#!/bin/sh\n")
    (root / "run.sh").chmod(0o700)
    return root


def test_that_the_stream_is_a_tar_of_the_promised_length_and_always_the_same(tmp_path: Path) -> None:
    pack = pack_folder(folder_in(tmp_path))
    stream = b"".join(pack.blocks())
    assert len(stream) == pack.stream_bytes and pack.size == TaskSize(1299, 5)
    assert max(len(block) for block in pack.blocks()) <= 65536
    os.utime(tmp_path / "root" / "train.py", (1, 1))
    assert b"".join(pack_folder(tmp_path / "root").blocks()) == stream
    with tarfile.open(fileobj=io.BytesIO(stream)) as archive:
        assert {m.name: (m.size, m.mode, m.isdir()) for m in archive} == {
            "a": (0, 0o700, True), f"a/{'deep' * 60}": (0, 0o700, True), f"a/{'deep' * 60}/数据 .bin": (1280, 0o600, False),
            "run.sh": (10, 0o700, False), "train.py": (9, 0o600, False),
        }  # fmt: skip


def test_that_what_is_too_much_is_named_before_anything_is_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = folder_in(tmp_path)
    with (root / "a" / "weights").open("wb") as file:
        file.truncate(MOST_BYTES)
    with pytest.raises(UsageError, match="256 MiB are sent at most") as trouble:
        pack_folder(root)
    assert trouble.value.why == "the largest part is a with 256 MiB"
    (root / "a" / "weights").unlink()
    monkeypatch.setattr(task_pack, "MOST_ENTRIES", 5)
    assert pack_folder(root).size.entries == 5
    (root / "one more").mkdir()
    with pytest.raises(UsageError, match="more than 5 files"):
        pack_folder(root)


def test_that_a_file_that_changes_or_becomes_a_link_meanwhile_is_not_sent(tmp_path: Path) -> None:
    root = folder_in(tmp_path)
    pack = pack_folder(root)
    (root / "train.py").write_bytes(b"print(22)\n")
    with pytest.raises(UsageError, match=r"train\.py has changed"):
        list(pack.blocks())
    (root / "train.py").unlink()
    (root / "train.py").symlink_to("/etc/hostname")
    with pytest.raises(UsageError, match=r"train\.py"):
        list(pack.blocks())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ("deep" * 60)).mkdir()
    (tmp_path / "elsewhere" / ("deep" * 60) / "数据 .bin").write_bytes(b"s" * 1280)
    (root / "a").rename(tmp_path / "old")
    (root / "a").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="has changed"):
        list(pack.blocks())


def test_that_a_script_is_one_plain_file(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text("1")
    assert pack_script(tmp_path / "t.py").size == TaskSize(1, 1)
    for wrong in (tmp_path, Path("/dev/null"), tmp_path / "no"):
        with pytest.raises(UsageError):
            pack_script(wrong)


def test_that_the_keeper_is_read_by_python_3_6_and_imports_nothing_of_ours() -> None:
    tree = ast.parse(KEEPER.read_text("utf-8"), feature_version=(3, 6))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"collections", "ctypes", "os", "signal", "sys", "tarfile", "threading"}


def unpack(stream: bytes, place: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-I", str(KEEPER), "unpack", str(place)], input=stream, capture_output=True, timeout=20)


def test_that_the_node_unpacks_the_stream_without_tar(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir()
    assert unpack(b"".join(pack_folder(folder_in(tmp_path)).blocks()), place).returncode == 0
    assert (place / "a" / ("deep" * 60) / "数据 .bin").read_bytes() == bytes(range(256)) * 5
    assert (place / "run.sh").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("name", "kind"),
    [("../out", tarfile.REGTYPE), ("/tmp/out", tarfile.REGTYPE), ("a/../../out", tarfile.REGTYPE), ("link", tarfile.SYMTYPE),
     ("hard", tarfile.LNKTYPE), ("dev", tarfile.CHRTYPE), ("pipe", tarfile.FIFOTYPE)],
)  # fmt: skip
def test_that_the_node_refuses_what_leads_out_of_the_folder(tmp_path: Path, name: str, kind: bytes) -> None:
    place = tmp_path / "place"
    place.mkdir()
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, "/etc/passwd"
    done = unpack(entry.tobuf() + b"\0" * 1024, place)
    assert done.returncode == 1 and b"refused" in done.stderr
    assert list(place.iterdir()) == [] and not (tmp_path / "out").exists()


def test_that_a_text_of_ours_is_sent_as_it_is() -> None:
    with tarfile.open(fileobj=io.BytesIO(b"".join(pack_text("t.py", b"x" * 513).blocks()))) as archive:
        file = archive.extractfile("t.py")
        assert file is not None and file.read() == b"x" * 513
