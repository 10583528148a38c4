"""Which of two jump hosts failed is said everywhere: the window, the command line, its JSON, a task; in both languages."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import replace

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.cli.workload_words import result_lines
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.task import SourceKind, TaskSource, TaskSpec
from gpulease_gui.domain.text import Text
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, HostKeyQuestion, NodeStateChanged
from gpulease_gui.services.fleet_run import FleetRun
from gpulease_gui.services.task_runs import TaskRequest
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]
OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)
NO_FORWARDING = "AllowTcpForwarding no\n"


def closed() -> Address:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        return Address("127.0.0.1", sock.getsockname()[1], "anna")


class Chain:
    """A node behind two jump hosts, all known and all let us in, until a test takes one of it away."""

    def __init__(self, services: Services, server, make_sshd: Callable[..., object], first: str = "", second: str = "") -> None:
        self.services = services
        self.key = server.keys.host_keys()[0]
        self.hops = [make_sshd(first).address, make_sshd(second).address]
        self.node = Node("n1", "node-07", address=server.address, identity_file=server.key_file)
        services.links.trust(self._saved(), self.key, "the test")
        for hop in self.hops:
            services.links.trust(self.node, self.key, "the test", hop=hop.host_port)

    def _saved(self) -> Node:
        self.node = replace(self.node, jump=",".join(map(str, self.hops)))
        self.services.workspace.submit(lambda db: nodes.save_node(db, self.node)).result()
        return self.node

    def leads_to(self, hop: int, place: Address) -> None:
        self.hops[hop] = place
        self.services.links.trust(self._saved(), self.key, "the test", hop=place.host_port)

    def forget(self, hop: int) -> None:
        self.services.links.replace_key(self.node, self.key, "the test", hop=self.hops[hop].host_port)

    def moved(self, node: Address) -> None:
        self.node = replace(self.node, address=node)
        self._saved()


def everywhere(chain: Chain, capsys: pytest.CaptureFixture[str], workspace: str) -> Text:
    """The reason as the window has it; asserts that the fleet, the command line, its JSON and a task say the same."""
    heard: list[Event] = []
    forget = chain.services.bus.subscribe(heard.append)
    fleet = FleetRun(chain.services, [chain.node], lambda connection, node: Request(only=("trust.clock",)))
    fleet.start("the test").job.done.result(30)
    fleet.close()
    told = [event for event in heard if isinstance(event, NodeStateChanged) and event.reason][-1].reason_text
    (line,) = fleet.lines()
    assert line.reason.en.endswith(f": {told.en}") and line.reason.zh.endswith(f"：{told.zh}")
    words = ["verify", "node-07", "--workspace", workspace, "--only", "trust.clock"]
    assert main(words) == 3
    assert capsys.readouterr().out.splitlines()[0].endswith(f"): {told.en}")
    assert main([*words, "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["reason"] == told.en
    spec = TaskSpec("t", TaskSource(SourceKind.LOG, "/tmp/log"))
    task = chain.services.tasks.run(chain.node, TaskRequest(spec), CancelToken())
    assert next(result_lines(task)).endswith(f"): {told.en}") and task.task.reason == told
    forget()
    return told


def at(hop: Address, number: int) -> tuple[str, str]:
    return f"at jump host {hop.host_port} ({number} of 2): ", f"在跳板机 {hop.host_port}（第 {number} 个，共 2 个）："


def test_that_a_jump_host_that_is_closed_is_named_everywhere(services, sshd, make_sshd, tmp_path, capsys):
    for number in (1, 2):
        chain = Chain(services, sshd, make_sshd)
        chain.leads_to(number - 1, closed())
        told = everywhere(chain, capsys, str(tmp_path / "w.db"))
        en, zh = at(chain.hops[number - 1], number)
        beyond = chain.hops[0].host_port
        why = "the connection was refused" if number == 1 else f"the jump host {beyond} does not lead there ("
        assert told.en.startswith(en + why) and told.zh.startswith(zh)


def test_that_a_jump_host_whose_key_is_unknown_or_has_changed_is_named_everywhere(services, sshd, make_sshd, tmp_path, capsys):
    chain = Chain(services, sshd, make_sshd)
    en, zh = at(chain.hops[1], 2)
    chain.forget(1)
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    told = everywhere(chain, capsys, str(tmp_path / "w.db"))
    assert told.en.startswith(f"{en}the host key is not known yet: ssh-ed25519 {chain.key.fingerprint}")
    assert told.zh.startswith(f"{zh}主机密钥尚未登记")
    assert {event.hop for event in heard if isinstance(event, HostKeyQuestion)} == {chain.hops[1].host_port}
    services.links.trust(chain.node, OTHER, "the test", hop=chain.hops[1].host_port)
    told = everywhere(chain, capsys, str(tmp_path / "w.db"))
    assert told.en.startswith(f"{en}the ssh-ed25519 host key has changed from {OTHER.fingerprint}")
    assert told.zh.startswith(f"{zh}ssh-ed25519 主机密钥已由")


def test_that_a_jump_host_that_does_not_let_us_in_is_named_everywhere(services, sshd, make_sshd, keys, tmp_path, capsys):
    chain = Chain(services, sshd, make_sshd, second=f"AuthorizedKeysFile {keys.folder}/stranger.pub\n")
    en, zh = at(chain.hops[1], 2)
    told = everywhere(chain, capsys, str(tmp_path / "w.db"))
    assert told.en == f"{en}the jump host refuses this key for this user"
    assert told.zh == f"{zh}跳板机拒绝该用户使用此密钥"


def test_that_a_jump_host_that_forwards_nothing_is_named_everywhere(services, sshd, make_sshd, tmp_path, capsys):
    chain = Chain(services, sshd, make_sshd, first=NO_FORWARDING)
    first, second = (hop.host_port for hop in chain.hops)
    told = everywhere(chain, capsys, str(tmp_path / "w.db"))
    assert told.en.startswith(f"{at(chain.hops[1], 2)[0]}the jump host {first} does not lead there (")
    last = Chain(services, sshd, make_sshd, second=NO_FORWARDING)
    second = last.hops[1].host_port
    told = everywhere(last, capsys, str(tmp_path / "w.db"))
    assert told.en.startswith(f"the jump host {second} does not lead there (") and told.zh.startswith(f"跳板机 {second} 无法连到该地址")


def test_that_a_node_that_is_closed_behind_its_jump_hosts_is_no_fault_of_them(services, sshd, make_sshd, tmp_path, capsys):
    chain = Chain(services, sshd, make_sshd)
    chain.moved(closed())
    told = everywhere(chain, capsys, str(tmp_path / "w.db"))
    assert told.en.startswith(f"the jump host {chain.hops[1].host_port} does not lead there (") and "at jump host" not in told.en
    chain.moved(sshd.address)
    services.links.replace_key(chain.node, chain.key, "the test")
    assert everywhere(chain, capsys, str(tmp_path / "w.db")).en.startswith("the host key is not known yet")
