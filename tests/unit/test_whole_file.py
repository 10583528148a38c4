from __future__ import annotations

import pytest

from gpulease_gui.services.exchange import write_private
from gpulease_gui.services.whole_file import whole_file
from gpulease_gui.store.attachments import safe_name


def test_that_ux_29_a_link_planted_at_the_target_is_replaced_and_what_it_leads_to_stays(tmp_path):
    victim, out = tmp_path / "victim", tmp_path / "out.json"
    victim.write_text("mine")
    out.symlink_to(victim)
    (tmp_path / "out.json.part").symlink_to(victim)
    write_private(out, b"new")
    assert (victim.read_text(), out.is_symlink(), out.read_bytes(), out.stat().st_mode & 0o777) == ("mine", False, b"new", 0o600)


def test_that_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(tmp_path):
    out = tmp_path / "out.zip"
    out.write_bytes(b"old")
    with pytest.raises(OSError, match="full"), whole_file(out) as file:
        file.write(b"half")
        raise OSError("full")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("out.zip", b"old")]


@pytest.mark.parametrize(("name", "safe"), [
    ("../../x", "x"), ("/etc/passwd", "passwd"), ("..\\..\\x.pdf", "x.pdf"), ("CON", "_CON"), ("nul.tar.gz", "_nul.tar.gz"),
    ("Com1.txt", "_Com1.txt"), ("console.txt", "console.txt"), ("a\nb\x00.pdf", "ab.pdf"), ("quote.pdf:run.exe", "quote.pdf_run.exe"),
    ("fdp.\u202eexe", "fdp.exe"), ("..", "file"), ("报价 7.xlsx", "报价 7.xlsx"), ("x" * 500 + ".pdf", "x" * 116 + ".pdf"),
])  # fmt: skip
def test_that_ux_29_a_foreign_name_is_rebuilt_from_what_each_system_takes(name, safe):
    assert safe_name(name) == safe
