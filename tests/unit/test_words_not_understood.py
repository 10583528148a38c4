"""What the command line and the form of a node do not understand may be a password: no word of it is repeated."""

from __future__ import annotations

import pytest

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.main import main
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.ssh_options import parse_options

WORD = "Zq7KxVw3Yj"


@pytest.mark.parametrize(("words", "said"), [
    (["verify", "root@127.0.0.1:1", "-pw", WORD], "unrecognized arguments: -p and 1 word"),
    (["verify", "root@127.0.0.1:1", f"-p{WORD}"], "unrecognized arguments: -p"),
    (["verify", "root@127.0.0.1:1", f"--password={WORD}"], "unrecognized arguments: --password"),
    (["verify", "ssh", "-J", f"root:{WORD}@h2", "root@127.0.0.1"], "unrecognized arguments: -J and 2 words"),
    (["verify", f"-oUser=root:{WORD}", "127.0.0.1"], "unrecognized arguments: -o"),
    (["verify", "local", "--seconds", WORD], "argument --seconds: invalid int value: …"),
    (["verify", "local", f"--json={WORD}"], "argument --json: ignored explicit argument …"),
    (["verify", "local", f"--pe={WORD}"], "ambiguous option: --pe… could match --peer, --peer-identity, --peer-address"),
    (["verify", "local", "--level", f"root:{WORD}'@x"], "argument --level: invalid choice: … (choose from "),
    ([f"root:{WORD}@h"], "argument COMMAND: invalid choice: … (choose from "),
    (["verfy", "local"], "argument COMMAND: invalid choice: 'verfy' (choose from "),
    (["verify", "local", "--peer", "root@h", "--peer-address", f"root:{WORD}@x"], "what --peer-address names is no address"),
    (["verify", "local", "--url", f"http://u:{WORD}@h/ x"], "--url: it is no http address"),
])  # fmt: skip
def test_that_a_wrong_call_is_told_without_the_words_that_may_be_a_password(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(words)
    except SystemExit as end:
        code = int(str(end.code))
    shown = capsys.readouterr()
    assert code == Exit.USAGE and said in shown.err and WORD not in shown.out + shown.err


@pytest.mark.parametrize("text", ["http://u:{}@h", "root:{}@h", "pw={}", "ftp://u:{}@h", "socks5://u:{}@h:1", "http://u/{}@h", "http://h:{}", "http://{} x"])
def test_that_a_proxy_that_is_refused_is_told_without_its_words(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_proxy(text.format(WORD))
    assert WORD not in str(caught.value) + caught.value.whole_text.zh + repr(caught.value)


@pytest.mark.parametrize("line", ["pw {}", "pw={}", "Password {}", "User root:{}", "BindAddress root:{}@h x", "AddressFamily {}", "ProxyCommand sshpass -p {} ssh h", "{}", "-J root:{}@h2", "BindInterface {} x", "RequiredRSASize {}", "IdentitiesOnly {}", "Ciphers {}", "MACs ^{}@x"])
def test_that_options_of_a_node_that_are_refused_are_told_without_their_words(line: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(line.format(WORD))
    assert WORD.lower() not in f"{caught.value}{caught.value.whole_text.zh}".lower()


def test_that_an_option_that_ssh_knows_is_named_where_it_is_not_followed() -> None:
    with pytest.raises(UsageError, match="not an ssh option that is followed: 'proxycommand'"):
        parse_options("ProxyCommand nc %h %p")
