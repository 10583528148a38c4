"""Do lists of algorithms, ways and revoked certificates of an ssh config do on a real sshd what they do in ssh?"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.services.composition import Services
from gpulease_gui.services.links import NotConnected
from gpulease_gui.store import nodes

pytestmark = pytest.mark.sshd


def saved(services: Services, server, **changes: object) -> Node:
    node = replace(Node("n1", "node-07", address=server.address, identity_file=server.key_file), **changes)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    return node


def trusting(services: Services, node: Node, server, kind: str = "ssh-ed25519") -> Node:
    services.links.trust(node, next(key for key in server.keys.host_keys() if key.kind == kind), "the test")
    return node


def outcome(services: Services, node: Node) -> str:
    """"" = we are in, else why not."""
    try:
        services.links.open(node, CancelToken()).line.close()
    except NotConnected as error:
        return error.why
    return ""


def test_that_a_host_shows_no_key_but_of_the_types_that_the_config_leaves(services, sshd):
    node = trusting(services, saved(services, sshd), sshd)
    outcomes = {
        words: outcome(services, replace(node, ssh_options=f"HostKeyAlgorithms {words}"))
        for words in ("rsa-sha2-256,ssh-ed25519", "rsa-sha2-256", "ecdsa-sha2-nistp256")
    }
    assert outcomes["rsa-sha2-256,ssh-ed25519"] == ""
    assert "it shows a key of another type: ssh-rsa" in outcomes["rsa-sha2-256"]
    assert outcomes["ecdsa-sha2-nistp256"].endswith("; HostKeyAlgorithms leaves ecdsa-sha2-nistp256")
    trusting(services, node, sshd, "ssh-rsa")
    assert outcome(services, replace(node, ssh_options="HostKeyAlgorithms rsa-sha2-256")) == ""


@pytest.fixture
def signed(keys, tmp_path: Path) -> Path:
    """A folder with the host's key, and its certificate of an RSA authority: serial 7, by the name of h7."""
    for name in ("", ".pub"):
        (tmp_path / f"ca{name}").write_bytes((keys.folder / f"id_rsa{name}").read_bytes())
    (tmp_path / "ca").chmod(0o600)
    (tmp_path / "host.pub").write_bytes((keys.folder / "host_ed25519.pub").read_bytes())
    sign = ["ssh-keygen", "-q", "-t", "rsa-sha2-512", "-s", tmp_path / "ca", "-I", "h7", "-z", "7", "-h", "-n", "127.0.0.1", tmp_path / "host.pub"]
    subprocess.run(sign, check=True, capture_output=True)
    return tmp_path


def certified(make_sshd, home: Path, folder: Path, names: str):
    (home / ".ssh" / "known_hosts").write_text(f"@cert-authority {names} {(folder / 'ca.pub').read_text()}")
    return make_sshd(f"HostCertificate {folder}/host-cert.pub\n")


def test_that_an_authority_signs_only_with_what_the_config_leaves_and_counts_on_every_port_of_its_host(services, make_sshd, home, signed):
    server = certified(make_sshd, home, signed, "127.0.0.1")
    node = saved(services, server)
    for words in ("CASignatureAlgorithms rsa-sha2-256,ssh-ed25519", "CASignatureAlgorithms -rsa-sha2-512"):
        assert "signed it with rsa-sha2-512, which CASignatureAlgorithms leaves out" in outcome(services, replace(node, ssh_options=words))
    assert "not known yet" in outcome(services, replace(node, ssh_options="HostKeyAlgorithms -*cert*"))
    known = home / ".ssh" / "known_hosts"
    lines = known.read_text()
    known.write_text(f"{lines}@revoked 127.0.0.1 {(signed / 'ca.pub').read_text()}")
    assert "is marked @revoked" in outcome(services, node)
    # Another authority for this very port takes nothing from that of the host.
    stranger = (server.keys.folder / "stranger.pub").read_text()
    known.write_text(f"{lines}@cert-authority [127.0.0.1]:{server.port} {stranger}")
    assert outcome(services, replace(node, ssh_options="CASignatureAlgorithms rsa-sha2-512")) == ""


def revoke(folder: Path, text: str, *words: str) -> None:
    (folder / "spec").write_text(text)
    subprocess.run(["ssh-keygen", "-q", "-k", "-f", folder / "krl", *words, folder / "spec"], check=True, capture_output=True)


def test_that_a_list_of_ssh_keygen_revokes_keys_and_certificates_even_of_a_pinned_host(services, make_sshd, home, signed):
    server = certified(make_sshd, home, signed, "[127.0.0.1]:*")
    node = saved(services, server, ssh_options=f"RevokedHostKeys {signed}/krl")
    by_authority = ("-s", str(signed / "ca.pub"))
    refuses = {
        "serial: 7\n": by_authority, "serial: 1-9\n": by_authority, "id: h7\n": by_authority,
        f"key: {(signed / 'host.pub').read_text()}": (), f"sha1: {(signed / 'host.pub').read_text()}": (), f"sha256: {(signed / 'ca.pub').read_text()}": (),
    }  # fmt: skip
    revoke(signed, "serial: 8\nid: h8\n", *by_authority)
    assert outcome(services, node) == ""
    for text, words in refuses.items():
        revoke(signed, text, *words)
        said = outcome(services, node)
        assert said.endswith(f"is marked @revoked in {signed}/krl")
        assert said.startswith("the host's certificate " if words else "the authority " if text.startswith("sha256") else "the host key ")
    (signed / "krl").write_bytes((signed / "krl").read_bytes()[:-1])
    with pytest.raises(UserFacing, match="RevokedHostKeys"):
        services.links.open(node, CancelToken())
    assert outcome(services, replace(node, ssh_options="")) == ""


def test_that_a_certificate_that_a_list_of_keys_revokes_lets_no_host_in(services, make_sshd, home, signed):
    server = certified(make_sshd, home, signed, "127.0.0.1")
    node = trusting(services, saved(services, server), server)
    certificate = signed / "host-cert.pub"
    assert outcome(services, node) == ""
    assert outcome(services, replace(node, ssh_options=f"RevokedHostKeys {certificate}")).endswith(f"is marked @revoked in {certificate}:1")
    known = home / ".ssh" / "known_hosts"
    known.write_text(f"{known.read_text()}@revoked * {certificate.read_text()}")
    assert outcome(services, node).endswith("known_hosts:2")


def test_that_a_key_that_the_config_forbids_by_now_is_shown_to_nobody(services, sshd):
    node = trusting(services, saved(services, sshd), sshd)
    assert outcome(services, node) == ""
    assert outcome(services, replace(node, ssh_options="PubkeyAuthentication no")) != ""


def test_that_a_revoked_authority_speaks_against_a_pinned_host_too(services, make_sshd, home, signed):
    server = certified(make_sshd, home, signed, "*")
    node = trusting(services, saved(services, server), server, "ssh-rsa")
    (home / ".ssh" / "known_hosts").write_text(f"@revoked * {(signed / 'ca.pub').read_text()}")
    # The pinned key is of a type without a certificate: it is asked for first, and nothing speaks against it.
    assert outcome(services, node) == ""
    trusting(services, node, server)
    assert "known_hosts:1" in outcome(services, node)


def test_that_a_key_signs_only_as_the_config_lets_it(services, sshd):
    node = trusting(services, saved(services, sshd), sshd)
    for key, words, works in (
        ("id_ed25519", "ssh-ed25519", True), ("id_ed25519", "rsa-sha2-512", False), ("id_rsa", "rsa-sha2-256", True),
        ("id_rsa", "ssh-ed25519", False), ("id_rsa", "rsa-sha2-512-cert-v01@openssh.com", False),
    ):  # fmt: skip
        file = str(sshd.keys.user(key))
        one = replace(node, identity_file=file, ssh_options=f"PubkeyAcceptedAlgorithms {words}")
        assert outcome(services, one) == ("" if works else f"PubkeyAcceptedAlgorithms of the SSH options leaves nothing to sign with for {file}")


def test_that_an_rsa_key_signs_with_the_digest_that_is_left(make_sshd, services, keys):
    server = make_sshd("PubkeyAcceptedAlgorithms rsa-sha2-256\n")
    node = trusting(services, saved(services, server, identity_file=str(keys.user("id_rsa"))), server)
    assert outcome(services, replace(node, ssh_options="PubkeyAcceptedAlgorithms rsa-sha2-256")) == ""
    assert "refuses this key" in outcome(services, replace(node, ssh_options="PubkeyAcceptedAlgorithms rsa-sha2-512"))


@pytest.mark.parametrize("name", ["curve25519-sha256", "curve25519-sha256@libssh.org"])
def test_that_a_host_is_reached_that_has_curve25519_by_either_of_its_names_alone(services, make_sshd, name):
    server = make_sshd(f"LogLevel DEBUG1\nKexAlgorithms {name}\n")
    assert outcome(services, trusting(services, saved(services, server), server)) == ""
    assert f"kex: algorithm: {name}\n" in (server.folder / "log").read_text().replace(" [preauth]", "").replace("\r", "")


def test_that_ways_of_logging_in_that_the_config_leaves_out_are_not_used(services, sshd):
    node = trusting(services, saved(services, sshd), sshd)
    assert outcome(services, replace(node, ssh_options="PreferredAuthentications publickey")) == ""
    # As ssh does: the key is not shown, and no password is sent or asked for where the node takes none.
    assert outcome(services, replace(node, ssh_options="PreferredAuthentications password")) == "the node takes neither a password nor answers"
    services.links.ask_secret = lambda node, asked: Secret("x")
    by_password = replace(node, auth=AuthMethod.PASSWORD, ssh_options="PreferredAuthentications publickey")
    assert outcome(services, by_password).endswith("leaves publickey, and password would be needed")


def test_that_the_fifth_of_five_named_keys_logs_in_within_the_tries_that_sshd_has_by_default(services, sshd, tmp_path):
    wrong = [tmp_path / f"wrong-{number}" for number in range(5)]
    for path in wrong:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    node = trusting(services, saved(services, sshd, identity_file="\n".join(map(str, [*wrong[:4], sshd.key_file]))), sshd)
    assert outcome(services, node) == ""
    tried = ", ".join(map(str, wrong))
    six = replace(node, identity_file="\n".join(map(str, [*wrong, sshd.key_file])))
    assert outcome(services, six) == f"the node refuses this key for this user (tried in turn: {tried})"


def test_that_a_connection_agrees_on_nothing_but_what_the_config_leaves(services, make_sshd):
    server = make_sshd("LogLevel DEBUG1\nCiphers aes128-gcm@openssh.com,aes256-ctr\nMACs hmac-sha2-256,hmac-sha2-512\n")
    node = trusting(services, saved(services, server), server)
    words = "Ciphers aes256-ctr\nKexAlgorithms diffie-hellman-group14-sha256,curve25519-sha256\nMACs hmac-sha2-512,hmac-sha2-256"
    assert outcome(services, replace(node, ssh_options=words)) == ""
    log = (server.folder / "log").read_text()
    assert "kex: algorithm: diffie-hellman-group14-sha256" in log
    assert "kex: client->server cipher: aes256-ctr MAC: hmac-sha2-512 compression: none" in log
    assert outcome(services, replace(node, ssh_options="Ciphers aes192-ctr")) == "no common algorithm: cipher; Ciphers leaves aes192-ctr"
    server = make_sshd("KexAlgorithms curve25519-sha256@libssh.org\nMACs hmac-sha2-256\nCiphers aes256-ctr\n")
    node = replace(node, address=server.address)
    for words, why in (("KexAlgorithms ecdh-sha2-nistp521", "key exchange"), ("MACs hmac-sha2-512", "MAC")):
        assert outcome(services, replace(node, ssh_options=words)) == f"no common algorithm: {why}; {words.replace(' ', ' leaves ')}"
