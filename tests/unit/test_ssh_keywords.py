"""Is each keyword of an ssh config followed, or is it said that it is not, or has it nothing to do with us?"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.remote.agreement import Agreeing
from gpulease_gui.remote.algorithms import CIPHERS, DIGESTS, EXCHANGES
from gpulease_gui.remote.ssh_config import resolve_alias, target_of
from gpulease_gui.remote.ssh_keywords import FOLLOWED, MAY_HOLD_SECRETS, SAID, WITHOUT_MEANING, is_classified

DOCS = Path(__file__).parents[2] / "docs" / "ssh.md"
# What this ssh prints only where a config has it.
MORE = """Host *
 RemoteCommand run
 SetEnv A=1
 SendEnv B
 LocalForward 1000 x:1
 RemoteForward 1001 x:1
 DynamicForward 1002
 LocalCommand run
 ControlPath /c
 PKCS11Provider /p
 KnownHostsCommand /k
 BindInterface lo
 BindAddress 127.0.0.1
 HostKeyAlias h
 IdentityAgent none
 CertificateFile /c
 ProxyJump j
 RevokedHostKeys /r
 PreferredAuthentications password
 IgnoreUnknown x
"""
# Every keyword that changes what ssh does, with a value that does.
CHANGED = {
    "RemoteCommand": "nvidia-smi", "SetEnv": "A=1 B=2", "SendEnv": "MINE", "HostbasedAuthentication": "yes", "NoHostAuthenticationForLocalhost": "yes",
    "KnownHostsCommand": "/bin/known", "PKCS11Provider": "/p11", "ControlMaster": "auto", "ControlPath": "/c", "ForwardAgent": "yes", "ForwardX11": "yes",
    "StrictHostKeyChecking": "no", "VerifyHostKeyDNS": "ask", "RekeyLimit": "1G 1h", "ConnectTimeout": "7",
    "ConnectionAttempts": "3", "NumberOfPasswordPrompts": "1", "BatchMode": "yes", "Compression": "yes", "RequestTTY": "force", "SessionType": "none",
    "LocalForward": "1000 x:1", "RemoteForward": "1001 x:1", "DynamicForward": "1002", "Tunnel": "yes", "SecurityKeyProvider": "/sk", "LocalCommand": "run",
    "CheckHostIP": "yes", "GSSAPIAuthentication": "yes", "GSSAPIKeyExchange": "yes",
}  # fmt: skip


def printed(*words: str) -> set[str]:
    done = subprocess.run(["ssh", *words, "-G", "x"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return {line.split(" ", 1)[0].lower() for line in done.stdout.splitlines() if line.strip()}


def test_that_every_keyword_of_this_ssh_is_classified_once(tmp_path):
    (tmp_path / "more").write_text(MORE)
    shown = printed("-F", "none") | printed("-F", str(tmp_path / "more"))
    assert "remotecommand" in shown and len(shown) > 90
    assert [keyword for keyword in sorted(shown) if not is_classified(keyword)] == []
    assert not (set(SAID) & FOLLOWED or set(SAID) & set(WITHOUT_MEANING) or FOLLOWED & set(WITHOUT_MEANING))


def test_that_the_table_of_the_docs_has_each_keyword_where_it_belongs():
    table = {name.lower(): kind for name, kind in re.findall(r"^\| `(\w+)` \| (followed|said|no meaning) \|", DOCS.read_text("utf-8"), re.MULTILINE)}
    wanted = {**dict.fromkeys(FOLLOWED, "followed"), **dict.fromkeys(SAID, "said"), **dict.fromkeys(WITHOUT_MEANING, "no meaning")}
    assert table == wanted


@pytest.mark.parametrize("path", ["", "/nowhere"], ids=["ssh", "own"])
def test_that_what_would_change_something_and_is_not_followed_is_said_by_its_line_and_what_is_done_instead(tmp_path, monkeypatch, path):
    assert {name.lower() for name in CHANGED} == set(SAID)
    if path:
        monkeypatch.setenv("PATH", path)
    file = tmp_path / "config"
    file.write_text("Host n1\n" + "".join(f" {name} {value}\n" for name, value in CHANGED.items()))
    said = {note.en for note in resolve_alias("n1", config_file=str(file)).notes}
    wanted = {
        f"{file}:{number}: {name}{'' if name.lower() in MAY_HOLD_SECRETS else f' {value}'} is not honoured: {SAID[name.lower()].instead.en}" for number, (name, value) in enumerate(CHANGED.items(), 2)
    }
    if not path and "gssapiauthentication" not in printed("-F", "none"):  # an ssh that was built without it
        wanted = {words for words in wanted if ": GSSAPI" not in words}
    assert said == wanted


@pytest.mark.parametrize("path", ["", "/nowhere"], ids=["ssh", "own"])
@pytest.mark.parametrize("line", ["SetEnv TOKEN={}", "LocalCommand login {}", "RemoteCommand login {}", "KnownHostsCommand /k {}"])
def test_that_a_secret_of_the_ssh_config_is_in_no_note(tmp_path, monkeypatch, path, line):
    if path:
        monkeypatch.setenv("PATH", path)
    (tmp_path / "config").write_text(f"Host n1\n {line.format('Zq7Kx')}\n")
    (note,) = resolve_alias("n1", config_file=str(tmp_path / "config")).notes
    assert f"config:2: {line.split()[0]} is not honoured: " in note.en and "Zq7Kx" not in note.en + note.zh


@pytest.mark.parametrize("path", ["", "/nowhere"], ids=["ssh", "own"])
def test_that_nothing_is_said_of_what_a_config_leaves_as_it_is(tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    file = tmp_path / "config"
    file.write_text(
        "Host n1\n ForwardAgent no\n ControlMaster no\n StrictHostKeyChecking yes\n RequestTTY auto\n BatchMode no\n ConnectTimeout none\n"
        " ServerAliveInterval 30\n HashKnownHosts yes\n AddKeysToAgent yes\n Compression no\n"
    )
    assert resolve_alias("n1", config_file=str(file)).notes == ()


def test_that_a_keyword_of_a_newer_ssh_is_said_and_a_refusal_of_the_config_is_one(tmp_path):
    answer = "host n1\nhostname n1\nuser u\nport 22\nfutureswitch yes\n"
    assert [note.en for note in target_of("n1", answer, str(tmp_path / "none")).notes] == [
        "ssh config: futureswitch yes is not honoured: this program does not know it"
    ]
    with pytest.raises(UsageError, match="refuses connections to n1"):
        target_of("n1", answer + "refuseconnection gone to another place\n", str(tmp_path / "none"))


def test_that_what_we_are_able_to_do_of_a_connection_is_what_the_library_offers():
    assert (Agreeing._preferred_ciphers, Agreeing._preferred_kex, Agreeing._preferred_macs) == (CIPHERS, EXCHANGES, DIGESTS)
