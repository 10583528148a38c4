"""Is what is wrong with an ssh config, an address or a proxy told in both languages, and with the line where it stands?"""

from __future__ import annotations

import ast
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.remote.address import parse_jump
from gpulease_gui.remote.known_hosts import revoked_in
from gpulease_gui.remote.pasted_nodes import parse_list, parse_target
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.ssh_aliases import read_aliases
from gpulease_gui.remote.ssh_config import resolve_alias, resolve_jumps
from gpulease_gui.remote.ssh_options import parse_options

REMOTE = Path(__file__).parents[2] / "gpulease_gui" / "remote"
_CHINESE = re.compile("[\u4e00-\u9fff]")

# The second line of a config, and whether ssh itself has to be away for us to be asked.
BROKEN = {
    "ProxyCommand nc %h %p": False, "RefuseConnection not today": True, "Ciphers 3des-cbc": False, "HostKeyAlgorithms ssh-dss": False,
    "PreferredAuthentications gssapi-with-mic": False, "IdentityFile k%x": False, "Match exec true": False, "Include ${HOME}/x": True,
    "Match user ops": True, "Match localuser ops": True, "Match canonical": True, "Match final": True, "Match tagged t": True,
    "CanonicalizeHostname yes": True, "ProxyJump n1": True, "ProxyJump a b": True, "Port 22x": True, "User a b": True, "IdentitiesOnly perhaps": True,
    "MACs none-such": True, "AddressFamily ipx": True, "RequiredRSASize long": True, "UserKnownHostsFile none /x": True, "CanonicalizeHostname perhaps": True,
    "HostName": True, 'User "open': True, "Include config": True,
}  # fmt: skip


def refusal(work: Callable[[], object]) -> UserFacing:
    with pytest.raises(UserFacing) as caught:
        work()
    return caught.value


@pytest.mark.parametrize("line", BROKEN)
def test_that_a_line_that_is_refused_is_told_in_both_languages_with_its_place(tmp_path, monkeypatch, line):
    if BROKEN[line] or shutil.which("ssh") is None:
        monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (tmp_path / ".ssh").mkdir()
    config = tmp_path / ".ssh" / "config"
    config.write_text(f"Host n1\n {line}\n")
    words = refusal(lambda: resolve_alias("n1", config_file=str(config))).whole_text
    assert f"{config}:2" in words.en and f"{config}:2" in words.zh
    assert _CHINESE.search(words.zh) and not _CHINESE.search(words.en)
    rows = [row for row in read_aliases(str(config), CancelToken()) if row.target is None]
    assert rows and all(row.error_text.en == row.error and _CHINESE.search(row.error_text.zh) for row in rows)


@pytest.mark.parametrize("work", [
    lambda: parse_target("ssh -Z 1 host"), lambda: parse_target("ssh host ls"), lambda: parse_target("ssh -p 22"), lambda: parse_target("ssh -p"),
    lambda: parse_target('ssh "x'), lambda: parse_target("a@b@c d"), lambda: parse_target("host:0"), lambda: parse_target("host:"),
    lambda: parse_target("1.2.3"), lambda: parse_target("[::zz]:1"), lambda: parse_target("-x@host"), lambda: parse_jump(",".join("abcdefghi")),
    lambda: parse_proxy("ftp://x"), lambda: parse_proxy("http://me:secret@x"), lambda: parse_options("BindInterface a/b"),
    lambda: parse_options("Nonesuch x"), lambda: parse_options("Ciphers"), lambda: parse_options("AddressFamily x"),
    lambda: parse_options("IdentitiesOnly x"), lambda: parse_options("RequiredRSASize x"), lambda: parse_options("MACs *"),
    lambda: parse_options("IdentityAgent ${NONE_SUCH}").agent, lambda: revoked_in("/nowhere/revoked"),
])  # fmt: skip
def test_that_what_can_not_be_read_is_told_in_both_languages(work):
    words = refusal(work).whole_text
    assert _CHINESE.search(words.zh) and not _CHINESE.search(words.en)


def test_that_a_circle_of_jump_hosts_and_each_bad_line_of_a_list_are_told_in_both_languages(tmp_path):
    (tmp_path / "config").write_text("Host a\n ProxyJump b\nHost b\n ProxyJump a\n")
    circle = refusal(lambda: resolve_jumps("a", config_file=str(tmp_path / "config"))).whole_text
    bad = [line for line in parse_list("a:22\na:22\nb:0\nc,d,e,f,g,h\nhost,colour\n1,2") if line.target is None]
    assert len(bad) == 4
    for words in (circle, *(line.error_text for line in bad)):
        assert _CHINESE.search(words.zh) and not _CHINESE.search(words.en)


@pytest.mark.parametrize("name", ["address", "algorithms", "known_hosts", "proxy", "ssh_aliases", "ssh_config", "ssh_lines", "ssh_options", "ssh_own", "ssh_tokens"])
def test_that_no_error_about_an_ssh_config_has_its_first_words_in_one_language(name):
    calls = [node for node in ast.walk(ast.parse((REMOTE / f"{name}.py").read_text("utf-8"))) if isinstance(node, ast.Call)]
    raised = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id in ("UsageError", "UserFacing")]
    assert [ast.unparse(node) for node in raised if isinstance(node.args[0], ast.Constant | ast.JoinedStr)] == []
