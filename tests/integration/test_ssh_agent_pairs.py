"""Does a key that lies in an agent log in as it does with ssh: where its file is of no use, and with a certificate of a file?"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.session import Connector

pytestmark = pytest.mark.sshd


@dataclass(frozen=True)
class Agent:
    """An agent of its own; keys come into it by `hold`."""

    folder: Path
    socket: Path

    def hold(self, key: Path) -> None:
        subprocess.run(["ssh-add", "-q", key], check=True, capture_output=True, env={**os.environ, "SSH_AUTH_SOCK": str(self.socket)})


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Callable[..., bool]) -> Iterator[Agent]:
    process = subprocess.Popen(["ssh-agent", "-D", "-a", tmp_path / "agent"], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    assert until((tmp_path / "agent").exists, 30)
    yield Agent(tmp_path, tmp_path / "agent")
    process.terminate()
    process.wait(60)


def made(folder: Path, name: str, kind: str = "ed25519") -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", folder / name], check=True)
    return folder / name


def signed(folder: Path, key: Path, user: str, name: str) -> Path:
    """A certificate of the authority `ca`, whose key lies in `folder`."""
    (folder / f"{name}.pub").write_bytes(Path(f"{key}.pub").read_bytes())
    words = ["ssh-keygen", "-q", "-s", folder / "ca", "-I", name, "-n", user, folder / f"{name}.pub"]
    subprocess.run(words, check=True, capture_output=True)
    return folder / f"{name}-cert.pub"


def outcome(server, credentials: Credentials) -> str:
    """"" = we are in, else the cause."""
    try:
        Connector().connect(server.address, credentials, server.trust, Deadlines(), CancelToken()).close()
    except ConnectFailed as error:
        return error.cause
    return ""


def shown(server) -> list[str]:
    """What was shown, in its order, once each: certificates by their names, "bare" for keys without one."""
    lines = re.findall(r"(?:Failed|Accepted) publickey for .*", (server.folder / "log").read_text())
    return list(dict.fromkeys(found[1] if (found := re.search(r" ID (\S+) ", line)) else "bare" for line in lines))


@pytest.mark.parametrize("beside", [True, False], ids=["with its public half beside it", "alone"])
def test_that_a_key_that_others_can_read_is_used_where_the_agent_holds_it(sshd, agent, beside):
    key = agent.folder / "key"
    key.write_bytes(sshd.keys.user("id_ed25519").read_bytes())
    if beside:
        (agent.folder / "key.pub").write_bytes(sshd.keys.user("id_ed25519.pub").read_bytes())
    key.chmod(0o600)
    key.chmod(0o644)
    assert outcome(sshd, Credentials(identity_file=str(key))) == "key_open_to_others"
    agent.hold(sshd.keys.user("id_ed25519"))
    assert outcome(sshd, Credentials(identity_file=str(key))) == ""
    assert outcome(sshd, Credentials(identity_file=str(key), agent="none")) == "key_open_to_others"


@pytest.fixture
def guarded(make_sshd, agent):
    """An sshd that trusts an authority, and no bare key of ours."""
    made(agent.folder, "ca")
    return make_sshd(f"LogLevel VERBOSE\nAuthorizedKeysFile none\nTrustedUserCAKeys {agent.folder}/ca.pub\n")


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_that_a_named_certificate_logs_in_with_the_key_that_only_the_agent_holds(guarded, agent, kind):
    key = made(agent.folder, "mine", kind)
    agent.hold(key)
    key.unlink()
    stray = signed(agent.folder, made(agent.folder, "other"), guarded.address.user, "stray")
    nobody = signed(agent.folder, key, "nobody", "nobody")
    mine = signed(agent.folder, key, guarded.address.user, "by-name")
    assert outcome(guarded, Credentials(AuthMethod.AGENT, f"{key}.pub")) == "key_refused"
    named = "\n".join(map(str, (stray, nobody, mine)))
    # By a file that is named, by its fingerprint, and without a choice.
    fingerprint = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], capture_output=True, text=True, check=True).stdout.split()[1]
    for chosen in (f"{key}.pub", fingerprint, ""):
        (guarded.folder / "log").write_text("")
        assert outcome(guarded, Credentials(AuthMethod.AGENT, chosen, certificate_file=named)) == ""
        assert shown(guarded) == ["nobody", "by-name"]


def test_that_a_certificate_beside_the_public_key_is_found_as_ssh_finds_it(guarded, agent):
    key = made(agent.folder, "mine")
    agent.hold(key)
    key.unlink()
    signed(agent.folder, key, guarded.address.user, "beside").rename(agent.folder / "mine-cert.pub")
    assert outcome(guarded, Credentials(AuthMethod.AGENT, f"{key}.pub")) == ""
    assert shown(guarded) == ["beside"]


def test_that_a_locked_key_with_a_certificate_is_used_in_the_agent_and_nobody_is_asked(guarded, agent):
    key = made(agent.folder, "mine")
    agent.hold(key)
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "correct horse", "-f", key], check=True)
    mine = signed(agent.folder, key, guarded.address.user, "by-name")
    assert outcome(guarded, Credentials(identity_file=str(key), certificate_file=str(mine))) == ""
    assert outcome(guarded, Credentials(identity_file=str(key), certificate_file=str(mine), agent="none")) == "key_encrypted"
