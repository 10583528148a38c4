"""Which login does a node get for which no key is named?"""

from __future__ import annotations

from contextlib import closing

import pytest

from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.ways import usual_login
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
