"""From a node record to a line: jump hosts, known_hosts and certificates through the services and the command line."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.ssh_config import resolve_alias
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, HostKeyQuestion, NodeState, NodeStateChanged
from gpulease_gui.services.key_swap import replace_host_keys
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.pinned_keys import hop_place, pinned_keys
from gpulease_gui.store import nodes
from gpulease_gui.store.hop_keys import list_trusted_hop_keys
from gpulease_gui.store.hostkeys import list_key_decisions, list_trusted_keys
from gpulease_gui.store.records import KeyState
from gpulease_gui.store.workspace import Workspace

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]

OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


def saved(services: Services, server, **changes: object) -> Node:
    node = replace(Node("n1", "node-07", address=server.address, identity_file=server.key_file), **changes)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    with services.workspace.read() as connection:
        assert nodes.get_node(connection, "n1") == node
    return node


def trusted(services: Services, hop: str = "") -> tuple[HostKey, ...]:
    with services.workspace.read() as connection:
        return list_trusted_hop_keys(connection, hop) if hop else list_trusted_keys(connection, "n1")


def known_line(server, names: str, marker: str = "") -> str:
    return f"{marker}{names} {' '.join((server.keys.folder / 'host_ed25519.pub').read_text().split()[:2])}\n"


def refused(services: Services, node: Node) -> NotConnected:
    with pytest.raises(NotConnected) as caught:
        services.links.open(node, CancelToken())
    return caught.value


def test_that_a_jump_hosts_key_is_asked_for_under_its_own_name_and_pinned_by_its_place(services, sshd, make_sshd):
    gate = make_sshd()
    node = saved(services, sshd, jump=str(gate.address))
    place, key = gate.address.host_port, sshd.keys.host_keys()[0]
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    services.links.trust(node, key, "the test")
    assert refused(services, node).why.startswith(f"at jump host {place} (1 of 1): ")
    question = next(event for event in heard if isinstance(event, HostKeyQuestion))
    assert (question.node, question.hop, question.offered[0]) == (node, place, key)
    services.links.trust(node, key, "the test", hop=place)
    services.links.open(node, CancelToken()).line.close()
    assert trusted(services, place) == (key,)
    services.links.replace_key(node, key, "moved", hop=place)
    services.links.trust(node, OTHER, "the test", hop=place)
    assert "has changed" in refused(services, node).why
    assert trusted(services) == (key,)


def test_that_ux_18_a_match_in_known_hosts_is_pinned_with_its_line_and_the_file_stays_as_it_was(services, sshd, home):
    file = home / ".ssh" / "known_hosts"
    text = "# mine\n@odd x y\n" + known_line(sshd, f"[127.0.0.1]:{sshd.port}")
    file.write_text(text)
    node = saved(services, sshd)
    services.links.open(node, CancelToken()).line.close()
    assert trusted(services) == (sshd.keys.host_keys()[0],)
    with services.workspace.read() as connection:
        decision = list_key_decisions(connection, "n1")[0]
    assert (decision.compared_with, decision.by) == (f"known_hosts, {file}:3", "known_hosts")
    file.unlink()
    services.links.open(node, CancelToken()).line.close()
    assert not file.exists()


def test_that_ux_17_a_revoked_key_is_refused_even_when_it_is_pinned(services, sshd, home):
    node = saved(services, sshd)
    services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    (home / ".ssh" / "known_hosts").write_text(known_line(sshd, "*", "@revoked "))
    error = refused(services, node)
    assert error.phase == "host_key"
    assert "@revoked" in error.why and "known_hosts:1" in error.why


def second(services: Services, node: Node, **changes: object) -> Node:
    other = replace(node, id="n2", name="node-08", **changes)
    services.workspace.submit(lambda db: nodes.save_node(db, other)).result()
    return other


def history(services: Services, id_: str) -> list[tuple[HostKey, str, str]]:
    with services.workspace.read() as connection:
        return [(decision.key, str(decision.state), decision.compared_with) for decision in list_key_decisions(connection, id_)]


def test_that_ux_19_a_pin_goes_with_its_node_to_another_address(services, sshd, make_sshd):
    node, moved = saved(services, sshd), make_sshd()
    services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    services.links.open(replace(node, address=moved.address), CancelToken()).line.close()


def test_that_a_second_record_of_a_known_place_is_not_asked_for_the_same_key_and_says_whose_it_is(services, sshd):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    services.links.trust(node, key, "not compared")
    other = second(services, node)
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    services.links.open(other, CancelToken()).line.close()
    told = [event.reason for event in heard if isinstance(event, NodeStateChanged) and event.state is NodeState.CONNECTED]
    assert told == ["node-07 has the same address and this very key: both are one machine"]
    assert not [event for event in heard if isinstance(event, HostKeyQuestion)]
    assert history(services, "n2") == [(key, "trusted", "as for node-07: not compared")]
    assert note_text("as for node-07: not compared") == Text("as for node-07: not compared", "与 node-07 相同：未比对")
    assert history(services, "n1") == [(key, "trusted", "not compared")]
    services.links.open(other, CancelToken()).line.close()
    assert len(history(services, "n2")) == 1


def test_that_another_key_than_that_of_a_known_place_has_changed_for_a_second_record_too(services, sshd):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    services.links.trust(node, OTHER, "the test")
    other = second(services, node)
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    why = refused(services, other).why
    assert "has changed" in why and why.endswith("; the known key is that of node-07, which has the same address")
    (question,) = (event for event in heard if isinstance(event, HostKeyQuestion))
    assert (question.offered, question.pinned) == ((key,), (OTHER,))
    assert [words.en for words in question.others] == ["the known key is that of node-07, which has the same address"]
    # As in ssh, what is replaced is replaced for the place; the first login of either by a password is barred.
    services.links.replace_key(other, OTHER, "board swapped")
    services.links.trust(other, key, "the test")
    assert services.links._replaced == {"n1", "n2"}
    services.links.open(node, CancelToken()).line.close()
    assert history(services, "n1") == [(OTHER, "trusted", "the test"), (key, "trusted", "as for node-08: the test")]


def test_that_a_key_that_was_replaced_for_one_record_of_a_place_is_trusted_for_none(services, sshd):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    other = second(services, node)
    for one in (node, other):
        services.links.trust(one, key, "the test")
    services.links.replace_key(other, key, "stolen")
    assert "not known yet" in refused(services, node).why
    services.links.trust(node, key, "the test")
    services.links.open(other, CancelToken()).line.close()


@pytest.mark.parametrize(
    "other_way",
    [{"jump": "gate"}, {"proxy": "socks5://127.0.0.1:9"}, {"known_hosts": "none"}, {"host_key_alias": "tenant-b"},
     {"ssh_options": "BindInterface vpn0"}, {"address": Address("127.0.0.1", 9)}],
)  # fmt: skip
def test_that_a_known_key_says_nothing_of_the_same_address_behind_another_way(services, sshd, other_way):
    node = saved(services, sshd, address=Address("127.0.0.1", 22, "anna"))
    services.links.trust(node, OTHER, "the test")
    with services.workspace.read() as connection:
        assert pinned_keys(connection, replace(node, id="n2")).keys == (OTHER,)
        assert pinned_keys(connection, replace(node, id="n2", **other_way)).keys == ()
        assert pinned_keys(connection, replace(node, id="n2", host_key_alias="tenant-b", jump="gate")).keys == ()


def test_that_a_host_key_alias_is_a_name_at_any_address_but_not_behind_any_way(services, sshd):
    node = saved(services, sshd, host_key_alias="tenant-a")
    services.links.trust(node, OTHER, "the test")
    with services.workspace.read() as connection:
        elsewhere = replace(node, id="n2", address=Address("198.51.100.7", 2200))
        assert pinned_keys(connection, elsewhere).keys == (OTHER,)
        assert pinned_keys(connection, replace(elsewhere, jump="gate")).keys == ()


def test_that_the_user_s_own_known_hosts_count_before_the_pin_of_another_record(services, sshd, home):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    services.links.trust(node, OTHER, "the test")
    (home / ".ssh" / "known_hosts").write_text(known_line(sshd, f"[127.0.0.1]:{sshd.port}"))
    services.links.open(second(services, node), CancelToken()).line.close()
    assert [(known, by[:11]) for known, _, by in history(services, "n2")] == [(key, "known_hosts")]


def test_that_jump_hosts_of_one_address_behind_different_ways_have_pins_of_their_own(services, sshd):
    node = saved(services, sshd, jump="anna@192.0.2.1,anna@10.0.0.1:2222")
    services.links.trust(node, OTHER, "the test", hop="10.0.0.1:2222")
    assert trusted(services, "10.0.0.1:2222") == ()
    assert trusted(services, "10.0.0.1:2222 via 192.0.2.1:22") == (OTHER,)
    pins = {}
    for jump, proxy in ((node.jump, ""), ("anna@192.0.2.2,anna@10.0.0.1:2222", ""), ("anna@10.0.0.1:2222", ""), (node.jump, "socks5://gw:1080")):
        there = replace(node, jump=jump, proxy=proxy)
        way = services.links._ways.way_to(there, node.address, ())
        pins[jump, proxy] = way.route.hops[-1].trust.pins
    assert list(pins.values()) == [(OTHER,), (), (), ()]
    assert hop_place(replace(node, proxy="socks5://bo@gw:1080"), "10.0.0.1:2222") == "10.0.0.1:2222 via 192.0.2.1:22 via socks5://gw:1080"


def test_that_ux_18b_a_line_without_a_port_does_not_vouch_for_another_port(services, sshd, home):
    (home / ".ssh" / "known_hosts").write_text(known_line(sshd, "127.0.0.1"))
    assert "not known yet" in refused(services, saved(services, sshd)).why


def test_that_ux_17_bad_lines_are_named_when_the_key_stays_unknown(services, sshd, home):
    (home / ".ssh" / "known_hosts").write_text("* ssh-rsa %%%\n" + known_line(sshd, "*", "@cert-authority "))
    assert "known_hosts:1: the key is not base64" in refused(services, saved(services, sshd)).why


@pytest.mark.parametrize(
    ("words", "marks", "why"),
    [
        (["-h", "-n", "rack-7,127.0.0.1"], "@cert-authority", ""),
        (["-h", "-n", "rack-7,127.0.0.?"], "@cert-authority", "it is for another host"),
        (["-h", "-n", "rack-7"], "@cert-authority", "it is for another host"),
        (["-h"], "@cert-authority", "it names no host"),
        (["-n", "127.0.0.1"], "@cert-authority", "it is one for users"),
        (["-h", "-n", "127.0.0.1", "-V", "20200101:20210101"], "@cert-authority", "not valid today"),
        (["-h", "-n", "127.0.0.1"], "@CERT-AUTHORITY", "an unknown marker"),
    ],
)
def test_that_ux_17_a_certificate_of_a_host_counts_as_its_authority_and_its_limits_say(
    services, make_sshd, keys, home, tmp_path, words, marks, why
):  # fmt: skip
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "ca"], check=True)
    (tmp_path / "host.pub").write_bytes((keys.folder / "host_ed25519.pub").read_bytes())
    subprocess.run(["ssh-keygen", "-q", "-s", tmp_path / "ca", "-I", "h", *words, tmp_path / "host.pub"], check=True, capture_output=True)
    server = make_sshd(f"HostCertificate {tmp_path}/host-cert.pub\n")
    authority = " ".join((tmp_path / "ca.pub").read_text().split()[:2])
    (home / ".ssh" / "known_hosts").write_text("".join(f"{mark} [127.0.0.1]:* {authority}\n" for mark in marks.split()))
    node = saved(services, server)
    if why:
        assert why in refused(services, node).why
    else:
        services.links.open(node, CancelToken()).line.close()
        assert trusted(services) == (keys.host_keys()[0],)
        services.links.open(node, CancelToken()).line.close()


def certified(make_sshd, keys, tmp_path, kind="ed25519", *words):
    """A server whose key is certified by an authority of this kind, and the authority's public key."""
    subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", tmp_path / "ca"], check=True)
    (tmp_path / "host.pub").write_bytes((keys.folder / "host_ed25519.pub").read_bytes())
    sign = ["ssh-keygen", "-q", *words, "-s", tmp_path / "ca", "-I", "h", "-h", "-n", "127.0.0.1", tmp_path / "host.pub"]
    subprocess.run(sign, check=True, capture_output=True)
    return make_sshd(f"HostCertificate {tmp_path}/host-cert.pub\n"), " ".join((tmp_path / "ca.pub").read_text().split()[:2])


def test_that_a_revoked_authority_speaks_against_a_host_whose_bare_key_is_known(services, make_sshd, keys, home, tmp_path):
    server, authority = certified(make_sshd, keys, tmp_path)
    known = known_line(server, f"[127.0.0.1]:{server.port}")
    for lines in (f"@revoked * {authority}\n{known}", f"@revoked * {authority}\n@cert-authority * {authority}\n"):
        (home / ".ssh" / "known_hosts").write_text(lines)
        error = refused(services, saved(services, server))
        assert error.why.startswith("the authority ssh-") and error.why.endswith(f", which signed the host's certificate, is marked @revoked in {home}/.ssh/known_hosts:1")
        assert error.next_text.en.startswith("do not connect; whoever runs the authority has to name the new one") and "CA" in error.next_text.zh
    (home / ".ssh" / "known_hosts").write_text(known)
    services.links.open(saved(services, server), CancelToken()).line.close()


def test_that_a_file_of_revoked_keys_is_heeded_and_one_that_can_not_be_read_lets_nobody_in(services, sshd, home, tmp_path):
    known = known_line(sshd, f"[127.0.0.1]:{sshd.port}")
    (home / ".ssh" / "known_hosts").write_text(known)
    (tmp_path / "revoked").write_text("# stolen\n" + known.split(maxsplit=1)[1])
    node = saved(services, sshd, ssh_options=f"RevokedHostKeys {tmp_path}/revoked")
    assert f"{tmp_path}/revoked:2" in refused(services, node).why
    for content in (None, b"SSHKRL\n\0", b"ssh-ed25519 %%%\n"):
        (tmp_path / "revoked").unlink() if content is None else (tmp_path / "revoked").write_bytes(content)
        with pytest.raises(UserFacing, match="RevokedHostKeys"):
            services.links.open(node, CancelToken())
    (tmp_path / "revoked").write_text("\n")
    services.links.open(node, CancelToken()).line.close()


def test_that_the_systems_files_are_those_that_the_config_names(services, sshd, tmp_path):
    (tmp_path / "all").write_text(known_line(sshd, f"[127.0.0.1]:{sshd.port}"))
    node = saved(services, sshd, ssh_options=f"GlobalKnownHostsFile {tmp_path}/none\nGlobalKnownHostsFile {tmp_path}/all")
    services.links.open(node, CancelToken()).line.close()
    assert trusted(services) == (sshd.keys.host_keys()[0],)


def test_that_a_certificate_signed_with_sha_1_vouches_for_nobody(services, make_sshd, keys, home, tmp_path):
    server, authority = certified(make_sshd, keys, tmp_path, "rsa", "-t", "ssh-rsa")
    (home / ".ssh" / "known_hosts").write_text(f"@cert-authority [127.0.0.1]:* {authority}\n")
    assert "SHA-1" in refused(services, saved(services, server)).why
    sign = ["ssh-keygen", "-q", "-t", "rsa-sha2-512", "-s", tmp_path / "ca", "-I", "h", "-h", "-n", "127.0.0.1", tmp_path / "host.pub"]
    subprocess.run(sign, check=True, capture_output=True)
    again = make_sshd(f"HostCertificate {tmp_path}/host-cert.pub\n")
    services.links.open(saved(services, again), CancelToken()).line.close()


def test_that_a_certificate_of_a_stranger_vouches_for_nobody(services, make_sshd, keys, home, tmp_path):
    for name in ("ca", "stranger"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    (tmp_path / "host.pub").write_bytes((keys.folder / "host_ed25519.pub").read_bytes())
    sign = ["ssh-keygen", "-q", "-s", tmp_path / "stranger", "-I", "h", "-h", "-n", "127.0.0.1", tmp_path / "host.pub"]
    subprocess.run(sign, check=True, capture_output=True)
    server = make_sshd(f"HostCertificate {tmp_path}/host-cert.pub\n")
    (home / ".ssh" / "known_hosts").write_text(f"@cert-authority * {(tmp_path / 'ca.pub').read_text()}")
    assert "its authority is not one of known_hosts" in refused(services, saved(services, server)).why


def test_that_a_known_hosts_line_of_another_key_is_a_changed_key(services, sshd, home):
    other = (sshd.keys.folder / "stranger.pub").read_text().split()[1]
    (home / ".ssh" / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} ssh-ed25519 {other}\n")
    assert "known_hosts:1" in refused(services, saved(services, sshd)).why


def test_that_files_and_alias_of_the_record_are_used(services, sshd, tmp_path):
    (tmp_path / "known").write_text(known_line(sshd, "rack-7"))
    node = saved(services, sshd, host_key_alias="rack-7", known_hosts=str(tmp_path / "known"))
    services.links.open(node, CancelToken()).line.close()
    assert trusted(services) == (sshd.keys.host_keys()[0],)


def test_that_a_password_in_a_proxy_is_refused_and_a_bad_one_named(services, sshd):
    assert "it would be saved" in refused(services, saved(services, sshd, proxy="socks5://a:b@gw")).why
    assert "not a proxy" in refused(services, saved(services, sshd, proxy="ftp://gw")).what


def test_that_the_command_line_verifies_over_a_jump_host(sshd, make_sshd, tmp_path):
    gate = make_sshd()
    line = f"ssh -J {gate.address} -p {sshd.port} -i {sshd.key_file} {sshd.address.user}@127.0.0.1"
    words = ["verify", line, "--workspace", str(tmp_path / "cli.db"), "--only", "trust.clock", "--json"]
    words += ["--fingerprint", sshd.keys.host_keys()[0].fingerprint]
    done = subprocess.run(
        [sys.executable, "-m", "gpulease_gui.cli.main", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert '"findings"' in done.stdout, done.stderr
    workspace = Workspace.open(tmp_path / "cli.db")
    with workspace.read() as connection:
        assert list_trusted_hop_keys(connection, gate.address.host_port) == (sshd.keys.host_keys()[0],)
        assert nodes.list_nodes(connection)[0].jump == str(gate.address)
        assert nodes.list_nodes(connection)[0].auth is AuthMethod.KEY
    workspace.close()


def test_that_a_changed_key_is_replaced_only_by_the_fingerprint_that_was_named(services, sshd, make_sshd):
    gate, key, other = make_sshd(), sshd.keys.host_keys()[0], OTHER
    node, place = saved(services, sshd, jump=str(gate.address)), gate.address.host_port
    services.links.trust(node, other, "the test")
    services.links.trust(node, other, "the test", hop=place)
    wrong = replace_host_keys(services.workspace, services.links, node, ("SHA256:" + "B" * 43,), CancelToken())
    assert wrong == (f"nothing was replaced for SHA256:{'B' * 43}: the node shows no changed key like it",)
    assert (trusted(services), trusted(services, place)) == ((other,), (other,))
    named = (key.fingerprint, key.fingerprint)  # the jump host's and the node's
    said = replace_host_keys(services.workspace, services.links, node, named, CancelToken())
    assert [line.split(" replaced")[0] for line in said] == [f"host key of {place}", f"host key of {sshd.address.host_port}"]
    assert (trusted(services), trusted(services, place)) == ((key,), (key,))
    with services.workspace.read() as connection:
        states = [(decision.key, decision.state) for decision in list_key_decisions(connection, node.id)]
    assert states == [(other, KeyState.TRUSTED), (other, KeyState.REPLACED), (key, KeyState.TRUSTED)]


def test_that_the_command_line_replaces_a_changed_key_by_name(services, sshd, tmp_path, capsys):
    node, key = saved(services, sshd), sshd.keys.host_keys()[0]
    services.links.trust(node, OTHER, "the test")
    words = ["verify", "node-07", "--workspace", str(tmp_path / "w.db"), "--only", "trust.clock"]
    assert main(words) == 3
    assert "verify --replace-host-key" in capsys.readouterr().out
    assert main([*words, "--replace-host-key", key.fingerprint]) != 3
    assert trusted(services) == (key,)


def test_that_the_second_of_two_named_keys_logs_in_and_all_refused_ones_are_told(services, sshd, tmp_path):
    wrong = [tmp_path / "wrong-1", tmp_path / "wrong-2"]
    for path in wrong:
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    config = tmp_path / "config"
    config.write_text(
        f"Host gpu\n HostName 127.0.0.1\n Port {sshd.port}\n User {sshd.address.user}\n"
        f" IdentityFile {wrong[0]}\n IdentityFile {sshd.key_file}\n"
    )
    files = resolve_alias("gpu", config_file=str(config)).identity_file
    assert files == f"{wrong[0]}\n{sshd.key_file}"
    node = saved(services, sshd, identity_file=files)
    services.links.trust(node, sshd.keys.host_keys()[0], "the test")
    services.links.open(node, CancelToken()).line.close()
    both = replace(node, identity_file="\n".join(map(str, wrong)))
    assert refused(services, both).why == f"the node refuses this key for this user (tried in turn: {wrong[0]}, {wrong[1]})"
