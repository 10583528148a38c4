"""Is it said in both languages why this computer refused a file?"""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.said_words import in_both
from gpulease_gui.services.evaluate import write_whole
from gpulease_gui.services.exchange import write_private
from gpulease_gui.services.files_view import read_file

CODES = (errno.ENOENT, errno.EACCES, errno.ENOSPC, errno.EISDIR, errno.EROFS, errno.ENAMETOOLONG)


@pytest.mark.parametrize("code", CODES)
def test_that_the_usual_causes_are_said_in_chinese(code):
    said = os_reason(OSError(code, os.strerror(code)))
    assert said.en == os.strerror(code) and said.zh and not said.zh.isascii()


@pytest.mark.parametrize("code", [*CODES, errno.ECONNRESET, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT, errno.EPIPE])
def test_that_a_cause_has_the_same_chinese_words_where_only_its_english_ones_are_left(code):
    said = os.strerror(code)
    assert in_both(f"IdentityAgent /x: {said}").zh == f"IdentityAgent /x：{os_reason(OSError(code, said)).zh}"
    assert in_both(said) == os_reason(OSError(code, said)) != Text(said, said)


def test_that_another_cause_is_told_in_the_words_of_the_system():
    assert (os_reason(OSError(99999, "odd")).zh, os_reason(OSError("no code")).en, os_reason(OSError()).en) == ("odd", "no code", "OSError")


def test_that_a_file_in_a_folder_that_is_not_there_is_refused_in_chinese(tmp_path: Path):
    gone = tmp_path / "nonexistent" / "x.csv"
    with pytest.raises(UserFacing) as trouble:
        write_whole(gone, b"1")
    assert trouble.value.whole_text.zh == f"无法写入 {gone}。没有这个文件或文件夹。请换一个文件或文件夹"
    assert trouble.value.whole_text.en == f"{gone} can't be written. No such file or directory. Name another file or folder"
    for fails in (lambda: write_private(gone, b"1"), lambda: read_file(gone)):
        with pytest.raises(UserFacing) as trouble:
            fails()
        assert "没有这个文件或文件夹" in trouble.value.whole_text.zh and "No such" not in trouble.value.whole_text.zh
