"""Lines of known_hosts that can't be used are said, and the first line of a file that an editor of Windows saved counts."""

from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from gpulease_gui.cli.main import main
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import Event, LinesSkipped
from gpulease_gui.services.links import NotConnected
from gpulease_gui.store import nodes

pytestmark = [pytest.mark.sshd, pytest.mark.usefixtures("home")]


def saved(services: Services, server, name: str = "n1") -> Node:
    node = Node(name, name, address=server.address, identity_file=server.key_file)
    services.workspace.submit(lambda db: nodes.save_node(db, node)).result()
    services.links.trust(node, server.keys.host_keys()[0], "the test")
    return node


def key_of(server) -> str:
    return " ".join((server.keys.folder / "host_ed25519.pub").read_text().split()[:2])


@pytest.mark.parametrize("saved_as", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_that_ux_17_a_mark_before_the_first_line_hides_no_revoked_key(services, sshd, home: Path, saved_as):
    mark = codecs.BOM_UTF16_BE if saved_as == "utf-16-be" else b""
    (home / ".ssh" / "known_hosts").write_bytes(mark + f"@revoked * {key_of(sshd)}\r\n".encode(saved_as))
    with pytest.raises(NotConnected) as caught:
        services.links.open(saved(services, sshd), CancelToken())
    assert "is marked @revoked in" in caught.value.why and caught.value.why.endswith("known_hosts:1")


def test_that_ux_17_bad_lines_are_told_once_by_file_and_line_on_the_command_line_and_in_both_languages(services, sshd, home: Path, tmp_path, capsys):
    file = home / ".ssh" / "known_hosts"
    file.write_text(f"* ssh-rsa %%%\n@odd * {key_of(sshd)}\n")
    heard: list[Event] = []
    services.bus.subscribe(heard.append)
    for name in ("n1", "n2"):
        services.links.open(saved(services, sshd, name), CancelToken()).line.close()
    (told,) = [event.words for event in heard if isinstance(event, LinesSkipped)]
    assert told.en == f"lines that can't be used: {file}:1: the key is not base64; {file}:2: an unknown marker"
    assert told.zh == f"无法使用的行：{file}:1：密钥不是 base64；{file}:2：未知的标记"
    assert main(["verify", "n1", "n2", "--workspace", str(tmp_path / "w.db"), "--only", "trust.clock"]) in (0, 2)
    assert capsys.readouterr().err.count(f"known_hosts: {told.en}\n") == 1
