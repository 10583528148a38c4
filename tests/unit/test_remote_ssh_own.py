"""Our own reading of an ssh config beside that of the ssh client that is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.ssh_config import target_of
from gpulease_gui.remote.ssh_lines import split_words
from gpulease_gui.remote.ssh_own import own_answer

_KEYWORDS = (
    "Host", '"Host"', "HOST", "HostName", "Port", "User", "IdentityFile", "CertificateFile", "HostKeyAlias", "ProxyJump",
    "UserKnownHostsFile", "Match", "Include", "ProxyCommand", "CanonicalizeHostname", "IdentitiesOnly", "Ciphers", "AddressFamily", "IgnoreUnknown",
    "Nonsense", "PubkeyAuthentication",
)  # fmt: skip
_VALUES = (
    "gpu", "g*", "!gpu", "GPU", "all", "host gpu", "originalhost g*", "10.0.0.1", "x.%h.org", "a%%b", "22", "0", "65536", "abc",
    r"a\b", r"C:\Users\me\k", "~/.ssh/key#1", "# c", '"a b"', "'a b'c", r"a\ b", r'"a\"b"', '"open', "none", "nonesuch", "no",
    "yes", "inet6", "Nonsense", "aes256-ctr", "+aes128-cbc", "host gpu,g* user x", "final all", "exec true", "*.nothing",
    "a b", "ops@gw:2222,b", "gw-%h", "/x /y", "",
)  # fmt: skip
_LINE = st.one_of(
    st.builds(
        lambda before, keyword, sign, value, end: f"{before}{keyword}{sign}{value}{end}",
        st.sampled_from(("", " ", "\t")), st.sampled_from(_KEYWORDS), st.sampled_from((" ", "=", " = ", "\t")),
        st.sampled_from(_VALUES), st.sampled_from(("", " ", "\r", "\f", " # c", "#c", "\x0b", "\x85")),
    ),
    st.sampled_from(("ForwardX11 no", "PKCS11Provider none", "# all", "")),
)  # fmt: skip
Reading = tuple[Target, list[str]]


def read(host: str, answer: str, config: str) -> Reading | None:
    """The target, and the files that are named: of those a target has only what is there."""
    named = [line for line in answer.split("\n") if line.startswith(("identityfile ", "certificatefile "))]
    try:
        return target_of(host, answer, config), sorted(line for line in named if " ~/.ssh/id_" not in line)
    except UserFacing:
        return None


def theirs(host: str, path: str) -> Reading | None:
    done = subprocess.run(["ssh", "-F", path, "-G", host], capture_output=True, check=False)
    return None if done.returncode else read(host, done.stdout.decode("utf-8", "replace"), path)


def ours(host: str, path: str) -> Reading | None:
    try:
        return read(host, own_answer(host, config_file=path), path)
    except UserFacing:
        return None


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no ssh client to compare with")
@given(st.sampled_from(("gpu", "GPU")), st.lists(_LINE, min_size=1, max_size=5))
@example("gpu", [r"User a\b"])
@example("gpu", ["IdentityFile ~/.ssh/key#1", "ForwardX11 no"])
@example("gpu", ['"Host" gpu', "Port 77"])
@example("gpu", ["Host other", "HostName 9.9.9.9\x0b"])
@example("gpu", ["IgnoreUnknown host gpu"])
@settings(max_examples=200, deadline=None, derandomize=True)
def test_that_a_config_is_read_as_ssh_reads_it_or_refused(host, lines):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/config"
        Path(path).write_text("\n".join(lines), "utf-8", newline="")
        own, known = ours(host, path), theirs(host, path)
    assert own is None or own == known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("~/.ssh/key#1 # mine", ("~/.ssh/key#1",)),
        (r"C:\Users\me\k", (r"C:\Users\me\k",)),
        (r"a\\b a\"b a\ b a\qb", (r"a\b", 'a"b', "a b", r"a\qb")),
        (r'"a\ b" x"y z"', (r"a\ b", "xy z")),
        ("a\x0bb\x85c", ("a\x0bb\x85c",)),
        ('"open', None),
        ("# all of it", ()),
    ],
)
def test_that_a_value_is_split_as_ssh_splits_it(text, words):
    assert split_words(text) == words


def test_that_a_port_that_is_none_is_refused_by_file_and_line(tmp_path):
    (tmp_path / "config").write_text("Host gpu\n Port abc\n")
    with pytest.raises(UserFacing) as refused:
        own_answer("gpu", config_file=str(tmp_path / "config"))
    assert (refused.value.what.split(" ")[0], refused.value.why) == (f"{tmp_path}/config:2", "'abc' is no port")


def test_that_keywords_with_digits_and_in_quotes_are_keywords_and_only_a_newline_ends_a_line(tmp_path):
    (tmp_path / "config").write_text('ForwardX11 no\nPKCS11Provider none\n"Host" gpu\n User a\x85Port 7\n', newline="")
    with pytest.raises(UserFacing, match="config:4"):
        own_answer("gpu", config_file=str(tmp_path / "config"))
    (tmp_path / "config").write_text('ForwardX11 no\nPKCS11Provider none\n"Host" gpu\r\n Port 7\r\n', newline="")
    assert target_of("gpu", own_answer("gpu", config_file=str(tmp_path / "config"))).address.port == 7
