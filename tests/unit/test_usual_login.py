"""Which login does a node get for which no key is named, and how is a secret asked for?"""

from __future__ import annotations

from contextlib import closing

import pytest

from gpulease_gui.cli.question_words import question
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.ways import SecretAsked, usual_login
from gpulease_gui.store.workspace import Workspace


@pytest.mark.parametrize(
    ("options", "login"),
    [
        ("", AuthMethod.AGENT),
        ("IdentitiesOnly no", AuthMethod.AGENT),
        ("IdentitiesOnly yes", AuthMethod.KEY),
        ("IdentityAgent none", AuthMethod.KEY),
        ("PubkeyAuthentication no", AuthMethod.PASSWORD),
    ],
)
def test_that_the_agent_is_asked_only_where_the_ssh_config_lets_it(monkeypatch, options, login):
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/agent")
    assert usual_login(Node("n", "n", Reach.SSH, Address("10.0.0.7"), ssh_options=options)) is login


def test_that_a_user_before_an_alias_is_read_with_the_config_of_the_alias(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "key").write_text("k")
    (home / ".ssh" / "config").write_text(f"Host n7\n HostName 10.0.0.7\n Port 2207\n IdentityFile {home}/.ssh/key\n User other\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", "/nowhere")  # ssh itself takes the home of the password file
    with closing(Workspace.open(tmp_path / "w.db")) as workspace:
        node = node_of(workspace, "ops@n7")
        plain = node_of(workspace, "ops@10.0.0.9:2209")
    assert (node.address, node.identity_file) == (Address("10.0.0.7", 2207, "ops"), f"{home}/.ssh/key")
    assert plain.address == Address("10.0.0.9", 2209, "ops")


@pytest.mark.parametrize("address", ["http://u:p@gate:8080", "http://u%3Ap@gate:8080", "socks5://u%3ap@gate"])
def test_that_a_password_in_a_proxys_address_is_refused_however_it_is_written(address):
    with pytest.raises(UsageError, match="a password stands in the proxy's address"):
        parse_proxy(address)


def test_that_a_nodes_question_is_one_line_of_the_terminal():
    node = Node("n", "n", Reach.SSH, Address("10.0.0.7"))
    asked = SecretAsked("10.0.0.7:22 asks: Code (wait\npassphrase of /root/.ssh/id)")
    assert "\n" not in question(node, asked)


@pytest.mark.parametrize("target", ["sshpass -p Geheim-7 ssh -p 2209 ops@10.0.0.9", "ssh://ops:Geheim-7@10.0.0.9:2209", "主机：10.0.0.9 端口：2209 用户：ops 密码：Geheim-7",
                                    "主机：10.0.0.9，端口：2209，用户：ops，密码：Geheim-7"])  # fmt: skip
def test_that_a_password_on_the_command_line_is_not_used_and_stands_in_no_record(tmp_path, target):
    notes: list[Text] = []
    with closing(Workspace.open(tmp_path / "w.db")) as workspace:
        node = node_of(workspace, target, note=notes.append)
    assert (node.address, node.auth, node.name) == (Address("10.0.0.9", 2209, "ops"), AuthMethod.PASSWORD, "ops@10.0.0.9:2209")
    assert [note.en for note in notes] == ["a password on the command line is not used: it stands in the history of the shell; it is asked for"]
    assert not any(b"Geheim-7" in path.read_bytes() for path in tmp_path.iterdir())
