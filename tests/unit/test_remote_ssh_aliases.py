"""An ssh config as ssh reads it: with `ssh -G`, by ourselves where there is no ssh, and as a list of aliases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.node import Address
from gpulease_gui.remote import ssh_lines
from gpulease_gui.remote.ssh_aliases import ConfigRow, read_aliases
from gpulease_gui.remote.ssh_config import resolve_alias

Write = Callable[..., str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def file(text: str, name: str = "config") -> str:
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return file


def rows(file: str) -> dict[str, ConfigRow]:
    return {row.name or row.place.rsplit("/", 1)[1]: row for row in read_aliases(file, CancelToken())}


# A config a line, and who is asked for.
CONFIGS = {
    "first value": "Host n1\n Port 1\nHost n*\n Port 2\n User ops\nUser late\n",
    "before any host": "User early\nHost n1\n User late\n HostName=203.0.113.9\n",
    "negated": "Host n* !n1\n Port 1\nHost !n2 n?\n Port 3\n",
    "quotes and comments": 'Host "n1" # mine\n HostKeyAlias "rack 7"\n  IdentityFile ~/none # no\n',
    "match all": "Match all\n Port 7\nHost n1\n Port 8\n User ops\n",
    "match host": "Host n1\n HostName gw.example\nMatch host gw.*\n User inner\nMatch originalhost n1\n Port 9\n",
    "jump": "Host n1\n ProxyJump ops@gate:2222,b\n ProxyCommand nc x y\n",
    "no jump": "Host n1\n ProxyJump none\n HostName %h.example\n",
    "known hosts": "Host n1\n UserKnownHostsFile ~/a /b\n CertificateFile /none\n",
    "keyword case": "host n1\n\thostname\t203.0.113.9\n PORT = 2200\n",
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("alias", ["n1", "ops@n1"])
def test_that_our_own_reading_says_what_ssh_says(write, monkeypatch, text, alias):
    file = write(text)
    theirs = resolve_alias(alias, config_file=file)
    monkeypatch.setenv("PATH", "/nowhere")
    assert resolve_alias(alias, config_file=file) == theirs


def test_that_included_files_count_where_they_stand(write, monkeypatch, tmp_path):
    write("Host n1\n Port 5\nHost *\n User inner\n", "part-a")
    file = write(f"Host n1\n User outer\n Include {tmp_path}/part-*\nHost other\n Include {tmp_path}/part-*\n Port 6\n")
    theirs = [resolve_alias(alias, config_file=file).address for alias in ("n1", "n2", "other")]
    monkeypatch.setenv("PATH", "/nowhere")
    assert [resolve_alias(alias, config_file=file).address for alias in ("n1", "n2", "other")] == theirs
    assert theirs[0].port == 5 and theirs[2].port == 6


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("Host n2\n Port 1\nMatch user ops\n Port 2\n", "config:3", "only be judged by an ssh client"),
        ("Match exec true\n Port 2\n", "config:1", "only be judged by an ssh client"),
        ("Match colour blue\n Port 2\n", "config:1", "only be judged by an ssh client"),
        ("Host n1\n CanonicalizeHostname yes\n", "config:2", "canonical"),
        ("Host n1\n HostName \"gw\n", "config:2", "a quote is not closed"),
        ("Include ~/x-%h\n", "config:1", "variables"),
    ],
)
def test_that_ux_16_what_we_cannot_judge_is_refused_by_file_and_line_and_never_applied(write, monkeypatch, text, place, why):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserFacing) as caught:
        resolve_alias("n1", config_file=write(text))
    assert place in caught.value.what and why in caught.value.why


def test_that_ux_16_an_unknown_match_word_changes_no_node_where_ssh_is_asked(write):
    row = rows(write("Match colour blue\n Port 2\nHost n1\n HostName 203.0.113.9\n"))["n1"]
    assert row.target is None and "line 1" in row.error


def test_that_ux_15_hosts_after_match_all_are_listed_with_what_ssh_says(write):
    found = rows(write("Match all\n User ops\nHost a b-* !c\n HostName 203.0.113.9\nHost a d\n Port 2\n"))
    assert list(found) == ["a", "d"]
    assert found["a"].target is not None and found["a"].target.address == Address("203.0.113.9", 2, "ops")
    assert found["d"].place.endswith("config:5")


def test_that_refused_lines_are_named_with_file_and_line_and_the_others_are_read(write, tmp_path):
    file = write(
        f"Include {tmp_path}/config\nHost good -oProxyCommand=x\n Port 2\nHost run\n ProxyCommand nc %h %p\nHost \"open\n"
    )
    found = read_aliases(file, CancelToken())
    # ssh itself can't read a file like this one, so what it says of each alias is its own complaint.
    assert {(row.place.rsplit("/", 1)[1], row.name) for row in found if not row.target} >= {
        ("config:1", ""), ("config:2", "-oProxyCommand=x"), ("config:6", ""),
    }  # fmt: skip
    found = read_aliases(write("Host good\n Port 2\nHost run\n ProxyCommand nc %h %p\n"), CancelToken())
    assert [(row.name, bool(row.target)) for row in found] == [("good", True), ("run", False)]
    assert "ProxyCommand" in found[1].error and found[1].place.endswith("config:3")


def test_that_jump_hosts_of_another_config_are_spelled_out(write):
    file = write("Host n1\n ProxyJump gate\nHost gate\n HostName 203.0.113.7\n User ops\n Port 2200\nHost c\n ProxyJump c\n")
    found = rows(file)
    assert found["n1"].target is not None and found["n1"].target.jump == "ops@203.0.113.7:2200"
    assert "loop" in found["c"].error


def test_that_a_list_that_was_cancelled_ends(write):
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        read_aliases(write("Host a\n"), cancel)


def test_that_a_config_that_is_not_there_names_nobody(tmp_path):
    assert read_aliases(str(tmp_path / "nowhere"), CancelToken()) == ()


def test_that_two_hundred_aliases_are_read_with_each_file_taken_apart_once(write, tmp_path, monkeypatch):
    """Include, Match, patterns, tokens, an alias twice, one that is refused: each is what it is in the file, in its order."""
    inner = "".join(f"Host n{number:03}\n HostName 10.0.0.{number}\n ProxyJump gate{number % 3}\n" for number in range(100))
    write(inner, "inner.conf")
    outer = "".join(f"Host m{number:03} n{number:03}\n HostName %h.example\n" for number in range(100))
    file = write(
        f"Include {tmp_path}/inner.conf\n{outer}Match host 10.0.0.7\n User special\nHost n*\n User ops\nHost m* !m00*\n User %u-x\n"
        "Host gate0 gate1 gate2\n HostName gw.example\n User jump\nHost bad\n ProxyCommand nc %h %p\nHost *\n Port 2200\n"
    )
    parsed: list[str] = []
    usual = ssh_lines.config_line
    monkeypatch.setattr(ssh_lines, "config_line", lambda *words: parsed.append(words[2]) or usual(*words))
    ssh_lines._parsed.cache_clear()
    found = read_aliases(file, CancelToken())
    assert len(parsed) == inner.count("\n") + 1 + (tmp_path / "config").read_text().count("\n") + 1
    assert [row.name for row in found] == [*(f"n{n:03}" for n in range(100)), *(f"m{n:03}" for n in range(100)), "gate0", "gate1", "gate2", "bad"]
    at = {row.name: row.target.address for row in found if row.target}
    assert at["n007"] == Address("10.0.0.7", 2200, "special") and at["n008"] == Address("10.0.0.8", 2200, "ops")
    assert at["m042"].host == "m042.example"
    jumps = {row.name: row.target.jump for row in found if row.target}
    assert (jumps["n007"], jumps["m007"]) == ("jump@gw.example:2200", "")
    (refused,) = [row for row in found if not row.target]
    assert (refused.name, "runs a program" in refused.error) == ("bad", True) and "会运行程序" in refused.error_text.zh
