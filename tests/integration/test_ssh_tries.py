"""How often does a login knock? Counted in the log of a real sshd, clause by clause."""

from __future__ import annotations

import getpass
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.remote.ssh_aliases import read_aliases
from gpulease_gui.remote.ssh_config import resolve_alias
from gpulease_gui.services.composition import Services
from gpulease_gui.services.config_nodes import nodes_of
from gpulease_gui.services.links import NotConnected
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Six keys that no server knows."""
    folder = tmp_path_factory.mktemp("strangers")
    for number in range(6):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", folder / f"k{number}"], check=True)
    return [folder / f"k{number}" for number in range(6)]


@pytest.fixture
def full_agent(sshd, strangers, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Callable[..., bool]) -> Iterator[Path]:
    """An agent with seven keys, of which the last is one that sshds know."""
    place = tmp_path / "agent"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    monkeypatch.setenv("SSH_AUTH_SOCK", str(place))
    assert until(place.exists, 30)
    for key in (*strangers, sshd.keys.user("id_rsa")):
        subprocess.run(["ssh-add", "-q", key], check=True, capture_output=True)
    yield place
    process.terminate()
    process.wait(60)


@pytest.fixture
def verbose(make_sshd):
    """An sshd that writes down each try."""
    return make_sshd("LogLevel VERBOSE\n")


def fingerprint(key: Path) -> str:
    return subprocess.run(["ssh-keygen", "-lf", key], check=True, capture_output=True, text=True).stdout.split()[1]


def knocks(server) -> list[str]:
    """The keys that were shown, in their order; a way without a key by its name."""
    log = (server.folder / "log").read_text()
    found = re.findall(r"(?:Failed|Accepted) (\S+) for .*?(SHA256:\S+|ssh2$)", log, re.MULTILINE)
    return [key if key.startswith("SHA256:") else way for way, key in found]


def connections(server) -> int:
    """On how many connections somebody was refused."""
    return len(set(re.findall(r"Failed \S+ for .* port (\d+) ssh2", (server.folder / "log").read_text())))


def logged_in(services: Services, server, node: Node) -> str:
    """"" = we are in, else why not."""
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    try:
        services.links.open(node, CancelToken()).line.close()
    except NotConnected as error:
        return error.why
    return ""


def of_config(server, tmp_path: Path, *lines: str) -> Node:
    file = tmp_path / "config"
    file.write_text("\n ".join(["Host n1", "HostName 127.0.0.1", f"Port {server.port}", f"User {getpass.getuser()}", *lines]) + "\n")
    (made,) = nodes_of(read_aliases(str(file), CancelToken()), None, ())
    return made


def test_that_identities_only_tries_exactly_the_set_of_keys_that_is_named_whatever_the_agent_holds(services, verbose, full_agent, strangers, tmp_path):
    node = of_config(verbose, tmp_path, "IdentitiesOnly yes", *(f"IdentityFile {key}" for key in strangers[:2]))
    assert "refuses this key" in logged_in(services, verbose, node)
    assert knocks(verbose) == [fingerprint(key) for key in strangers[:2]]


def test_that_a_chosen_key_of_the_agent_is_the_only_one_that_is_shown(services, verbose, full_agent, strangers):
    node = Node("n1", "n1", address=verbose.address, auth=AuthMethod.AGENT, identity_file=f"{strangers[3]}.pub")
    assert "refuses this key" in logged_in(services, verbose, node)
    assert knocks(verbose) == [fingerprint(strangers[3])]
    assert logged_in(services, verbose, replace(node, identity_file=f"{verbose.keys.user('id_rsa')}.pub")) == ""
    assert knocks(verbose)[1:] == [fingerprint(verbose.keys.user("id_rsa"))]


def test_that_an_agent_without_a_choice_knocks_three_times_and_stops(services, verbose, full_agent, strangers):
    node = Node("n1", "n1", address=verbose.address, auth=AuthMethod.AGENT)
    assert logged_in(services, verbose, node) == "the agent holds 7 keys and the first ones were refused"
    assert knocks(verbose) == [fingerprint(key) for key in strangers[:3]]
    assert connections(verbose) == 1


def test_that_a_refused_key_is_the_end_no_password_and_no_second_call(services, verbose, home, strangers):
    services.links.ask_secret = lambda node, asked: pytest.fail("nobody is asked")
    node = Node("n1", "n1", address=verbose.address, identity_file=str(strangers[0]))
    assert "refuses this key" in logged_in(services, verbose, node)
    assert knocks(verbose) == [fingerprint(strangers[0])]
    assert connections(verbose) == 1


def test_that_named_keys_stop_at_the_first_that_is_taken_and_never_reach_six(services, verbose, home, strangers, tmp_path):
    known = verbose.keys.user("id_ed25519")
    node = of_config(verbose, tmp_path, *(f"IdentityFile {key}" for key in (strangers[0], known, strangers[1])))
    assert logged_in(services, verbose, node) == ""
    assert [key for key in dict.fromkeys(knocks(verbose))] == [fingerprint(strangers[0]), fingerprint(known)]
    many = of_config(verbose, tmp_path, *(f"IdentityFile {key}" for key in (*strangers, known)))
    assert [note.en for note in resolve_alias("n1", config_file=str(tmp_path / "config")).notes] == [
        f"only 5 keys are tried, not {strangers[5]}, {known}"
    ]
    assert "refuses this key" in logged_in(services, verbose, many)
    assert knocks(verbose)[-5:] == [fingerprint(key) for key in strangers[:5]]


def test_that_a_node_that_takes_few_tries_is_told_with_the_keys_that_it_never_judged(services, make_sshd, home, strangers, tmp_path):
    server = make_sshd("MaxAuthTries 2\nLogLevel VERBOSE\n")
    node = of_config(server, tmp_path, *(f"IdentityFile {key}" for key in (*strangers[:2], server.key_file)))
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    assert caught.value.why == (
        f"the node ended the login after it had refused {strangers[0]}; it takes no more tries (MaxAuthTries), "
        f"so not judged: {strangers[1]}, {server.key_file}"
    )
    assert caught.value.next_step.startswith("name the key") and "MaxStartups" not in str(caught.value)


@pytest.fixture
def certify(strangers, tmp_path: Path) -> Callable[[Path, str, str], Path]:
    """`certify(key, id, user)`: a certificate of the authority `ca` for that user."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "ca"], check=True)

    def make(key: Path, name: str, user: str) -> Path:
        (tmp_path / f"{name}.pub").write_bytes(Path(f"{key}.pub").read_bytes())
        sign = ["ssh-keygen", "-q", "-s", tmp_path / "ca", "-I", name, "-n", user, tmp_path / f"{name}.pub"]
        subprocess.run(sign, check=True, capture_output=True)
        return tmp_path / f"{name}-cert.pub"

    return make


def shown(server) -> list[str]:
    """What was shown, in its order: the names of certificates, "bare" for keys without one."""
    lines = re.findall(r"(?:Failed|Accepted) publickey for .*", (server.folder / "log").read_text())
    return [found[1] if (found := re.search(r" ID (\S+) ", line)) else "bare" for line in lines]


def test_that_each_of_several_certificates_is_shown_with_its_key_before_the_bare_keys(services, make_sshd, home, strangers, certify, tmp_path):
    server = make_sshd(f"LogLevel VERBOSE\nTrustedUserCAKeys {tmp_path}/ca.pub\n")
    user = getpass.getuser()
    first, second, third = (certify(strangers[0], "a", "nobody"), certify(strangers[0], "b", "nobody"), certify(strangers[1], "c", user))
    stray = certify(strangers[5], "stray", user)
    files = [f"CertificateFile {file}" for file in (first, stray, tmp_path / "gone", second, third)]
    node = of_config(server, tmp_path, *(f"IdentityFile {key}" for key in strangers[:2]), *files)
    assert node.certificate_file == f"{first}\n{stray}\n{second}\n{third}"
    assert logged_in(services, server, node) == ""
    assert list(dict.fromkeys(shown(server))) == ["a", "b", "c"]


def test_that_certificates_count_among_the_tries_and_what_is_left_out_is_said(services, make_sshd, home, strangers, certify, tmp_path):
    server = make_sshd(f"LogLevel VERBOSE\nTrustedUserCAKeys {tmp_path}/ca.pub\n")
    files = [certify(key, name, "nobody") for key, name in zip(strangers[:3], "abc", strict=True)]
    node = of_config(
        server, tmp_path, *(f"IdentityFile {key}" for key in strangers[:3]), *(f"CertificateFile {file}" for file in files)
    )
    assert [note.en for note in resolve_alias("n1", config_file=str(tmp_path / "config")).notes] == [f"only 5 keys are tried, not {strangers[2]}"]
    assert logged_in(services, server, node).endswith(f"; not tried, as 5 are the most: {strangers[2]}")
    assert shown(server) == ["a", "b", "c", "bare", "bare"]
