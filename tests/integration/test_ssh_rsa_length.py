"""Does RequiredRSASize end what ssh ends, for keys of hosts and of the user? The RSA keys of the tests have 3072 bits."""

from __future__ import annotations

import getpass
import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.ssh_config import resolve_alias
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd


def outcome(services: Services, server, node: Node) -> tuple[str, str]:
    """("", "") = we are in, else phase and cause."""
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    try:
        services.links.open(node, CancelToken()).line.close()
    except NotConnected as error:
        assert isinstance(error.__cause__, ConnectFailed)
        assert "4096" in error.__cause__.why_text.zh and "RequiredRSASize" in error.why, error.why
        return error.phase, error.__cause__.cause
    return "", ""


@pytest.fixture
def node(services: Services, sshd) -> Node:
    node = Node("n1", "n1", address=sshd.address, identity_file=sshd.key_file)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    for key in sshd.keys.host_keys():
        services.links.trust(node, key, "the test")
    return node


def test_that_a_host_with_a_short_rsa_key_is_refused_and_with_another_type_it_is_not(services, sshd, node):
    of_rsa = "HostKeyAlgorithms rsa-sha2-512\nRequiredRSASize"
    assert outcome(services, sshd, replace(node, ssh_options=f"{of_rsa} 4096")) == ("host_key", "host_key_too_short")
    assert outcome(services, sshd, replace(node, ssh_options=f"{of_rsa} 3072")) == ("", "")
    assert outcome(services, sshd, replace(node, ssh_options="RequiredRSASize 4096")) == ("", "")


def test_that_a_short_rsa_key_of_the_user_is_not_shown_and_the_next_one_is(services, make_sshd, sshd, node):
    server = make_sshd("LogLevel VERBOSE\n")
    long, short = str(sshd.keys.user("id_ed25519")), str(sshd.keys.user("id_rsa"))
    node = replace(node, address=server.address, ssh_options="RequiredRSASize 4096", identity_file=short)
    assert outcome(services, server, node) == ("auth", "key_too_short")
    assert outcome(services, server, replace(node, identity_file=f"{short}\n{long}")) == ("", "")
    shown = re.findall(r"(?:Failed|Accepted|Postponed) publickey for .*? (\S+) SHA256", (server.folder / "log").read_text())
    assert set(shown) == {"ED25519"}


def test_that_a_short_rsa_key_of_the_agent_is_not_shown(services, sshd, node, tmp_path, monkeypatch, until: Callable[..., bool]):
    process = subprocess.Popen(["ssh-agent", "-D", "-a", tmp_path / "agent"], stdout=subprocess.DEVNULL)
    try:
        assert until((tmp_path / "agent").exists, 30)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
        subprocess.run(["ssh-add", "-q", sshd.keys.user("id_rsa")], check=True, capture_output=True, env=dict(os.environ))
        node = replace(node, auth=AuthMethod.AGENT, identity_file="")
        assert outcome(services, sshd, node) == ("", "")
        assert outcome(services, sshd, replace(node, ssh_options="RequiredRSASize 4096")) == ("auth", "key_too_short")
    finally:
        process.terminate()
        process.wait(60)


def test_that_an_unknown_host_is_asked_about_by_the_key_that_is_long_enough(services, sshd, home):
    node = Node("n2", "n2", address=sshd.address, identity_file=sshd.key_file, ssh_options="RequiredRSASize 4096")
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    assert caught.value.offered == sshd.keys.host_keys()[0]


@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["ssh", "own"])
def test_that_the_length_of_a_config_is_taken_over_and_what_is_no_length_is_refused(tmp_path: Path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    config = tmp_path / "config"
    config.write_text(f"Host n1\n RequiredRSASize 4096\n User {getpass.getuser()}\nHost n2\n RequiredRSASize 1024\n")
    assert [resolve_alias(name, config_file=str(config)).ssh_options for name in ("n1", "n2")] == ["RequiredRSASize 4096", ""]
    assert resolve_alias("n1", config_file=str(config)).notes == ()
    config.write_text("Host n1\n RequiredRSASize long\n")
    with pytest.raises(UserFacing, match=r"config[: ](line )?2"):
        resolve_alias("n1", config_file=str(config))
