"""Which of its keys is a host asked for first? As ssh asks, beside the ssh client and the log of a real sshd."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.remote.ssh_config import resolve_alias
from gpulease_gui.remote.ssh_options import parse_options
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd

_LISTS = (
    "rsa-sha2-512,ssh-ed25519", "ssh-ed25519,rsa-sha2-512", "^rsa-sha2-512", "^rsa*", "-ssh-ed25519*", "-rsa*,ecdsa*", "+ssh-rsa",
    "rsa-sha2-256,ecdsa-sha2-nistp256", "ssh-ed25519-cert-v01@openssh.com,rsa-sha2-512,ssh-ed25519", "",
)  # fmt: skip


@pytest.fixture(scope="module")
def wordy(sshd, tmp_path_factory: pytest.TempPathFactory):
    """An sshd that writes down what was agreed on."""
    server = type(sshd)(sshd.keys, tmp_path_factory.mktemp("wordy"), "LogLevel DEBUG1\n")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def server(wordy):
    (wordy.folder / "log").write_text("")
    return wordy


def agreed(server) -> list[str]:
    """The types that were agreed on, in their order."""
    return re.findall(r"kex: host key algorithm: (\S+)", (server.folder / "log").read_text())


def known(server, home: Path, *kinds: str) -> None:
    lines = [f"[127.0.0.1]:{server.port} {(server.keys.folder / f'host_{kind}.pub').read_text()}" for kind in kinds]
    (home / ".ssh" / "known_hosts").write_text("".join(lines))


def ours(services: Services, server, options: str, id_: str = "n1") -> str:
    """"" = we are in, else why not."""
    node = Node(id_, id_, address=server.address, identity_file=server.key_file, ssh_options=options)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    try:
        services.links.open(node, CancelToken()).line.close()
    except NotConnected as error:
        return error.why
    return ""


def of_config(tmp_path: Path, words: str) -> str:
    (tmp_path / "config").write_text(f"Host n1\n HostName 127.0.0.1\n{f' HostKeyAlgorithms {words}' if words else ''}\n")
    return resolve_alias("n1", config_file=str(tmp_path / "config")).ssh_options


def theirs(server, home: Path, config: Path) -> bool:
    """Whether ssh gets in."""
    options = (f"UserKnownHostsFile={home}/.ssh/known_hosts", "BatchMode=yes", "IdentityAgent=none")
    words = [word for option in options for word in ("-o", option)]
    place = ("-i", server.key_file, "-p", str(server.port), "-l", server.address.user, "n1", "true")
    return subprocess.run(["ssh", "-F", config, *words, *place], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("kind", ["ed25519", "rsa"])
def test_that_a_host_is_asked_for_the_key_that_ssh_asks_for_whatever_type_is_known(services, server, home, tmp_path, kind):
    known(server, home, kind)
    found = {}
    for number, words in enumerate(_LISTS):
        options, before = of_config(tmp_path, words), len(agreed(server))
        inside = theirs(server, home, tmp_path / "config"), ours(services, server, options, f"n{number}") == ""
        # rsa-sha2-512 and rsa-sha2-256 are one key: which of them signs is a matter of taste where no list says so.
        found[words] = inside, [name.partition("-")[0] for name in agreed(server)[before : before + 2]]
    assert {words: same for words, (inside, same) in found.items() if len({*inside}) > 1 or len({*same}) > 1} == {}


def test_that_a_type_that_is_known_and_second_in_the_users_order_is_no_way_in(services, server, home, tmp_path):
    known(server, home, "ed25519")
    why = ours(services, server, of_config(tmp_path, "rsa-sha2-512,ssh-ed25519"))
    assert "known by ssh-ed25519, now it shows a key of another type: ssh-rsa" in why
    services.links.trust(Node("n1", "n1"), server.keys.host_keys()[1], "the test")
    assert ours(services, server, "HostKeyAlgorithms rsa-sha2-512,ssh-ed25519") == ""
    assert agreed(server)[-1] == "rsa-sha2-512"


def test_that_a_fingerprint_and_the_pin_that_comes_of_it_speak_for_the_key_that_they_are_about(services, server, home):
    node = Node("n1", "n1", address=server.address, identity_file=server.key_file, ssh_options="HostKeyAlgorithms rsa-sha2-512,ssh-ed25519")
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    ed25519: HostKey = server.keys.host_keys()[0]
    services.links.open(node, CancelToken(), fingerprints=(ed25519.fingerprint,)).line.close()
    assert ours(services, server, node.ssh_options) == ""
    assert agreed(server) == ["rsa-sha2-512", "ssh-ed25519"] * 2


@pytest.mark.parametrize("path", [None, "/nowhere"], ids=["ssh", "own"])
def test_that_only_what_is_taken_away_or_added_lets_known_types_go_first(tmp_path, monkeypatch, path):
    if path:
        monkeypatch.setenv("PATH", path)
    found = {words: parse_options(of_config(tmp_path, words)) for words in _LISTS}
    assert {words for words, options in found.items() if not options.keeps_order} == {"-ssh-ed25519*", "-rsa*,ecdsa*", "+ssh-rsa", ""}
    assert found["-rsa*,ecdsa*"].host_algorithms == ("ssh-ed25519-cert-v01@openssh.com", "ssh-ed25519")
    assert found["+ssh-rsa"].host_algorithms == ()
